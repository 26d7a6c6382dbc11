"""Several plans on the wire: version 1 reads and writes them as version 2 does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acp_tui.conversation.facts import PlanStep
from acp_tui.conversation.updates import PlanReplaced, UnknownUpdate
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer
from acp_tui.protocol.v1 import encode_updates
from acp_tui.protocol.v1 import inbound as v1
from acp_tui.protocol.v1.outbound import initialize_request
from acp_tui.protocol.v2 import inbound as v2
from support.schema import is_valid, needs_schema

READERS = {1: v1.read_update, 2: v2.read_update}
ENTRY = {"content": "test", "priority": "high", "status": "in_progress"}
ITEMS = {"type": "items", "planId": "a", "entries": [ENTRY]}
WORDS = {"type": "markdown", "planId": "b", "content": "# Plan\n\n- [x] one\n* two"}
FILE = {"type": "file", "planId": "f", "uri": "file:///w/plan.md"}
each_version = pytest.mark.parametrize(("version", "read"), READERS.items(), ids=["v1", "v2"])
Read = Callable[[Any], Any]


def _told(**update: Any) -> dict[str, Any]:
    return {"sessionId": "s", "update": update}


@needs_schema
@each_version
@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        (ITEMS, (PlanStep("test", "high", "in_progress"),)),
        (WORDS, (PlanStep("Plan"), PlanStep("one", status="completed"), PlanStep("two"))),
        (FILE, (PlanStep("the plan is in file:///w/plan.md"),)),
    ],
    ids=["items", "markdown", "file"],
)
def test_each_kind_of_plan_is_read_with_its_id(
    version: int, read: Read, plan: dict[str, Any], steps: tuple[PlanStep, ...]
) -> None:
    told = _told(sessionUpdate="plan_update", plan=plan)
    assert is_valid(version, "SessionNotification" if version == 1 else "UpdateSessionNotification", told)
    assert read(told)[1] == (PlanReplaced(steps, plan["planId"]),)


@needs_schema
@each_version
def test_a_plan_is_removed_by_its_id(version: int, read: Read) -> None:
    assert is_valid(version, "PlanRemoved", {"planId": "a"})
    assert read(_told(sessionUpdate="plan_removed", planId="a"))[1] == (PlanReplaced((), "a"),)


@needs_schema
@each_version
@pytest.mark.parametrize(
    "plan",
    [None, "items", {}, {**ITEMS, "planId": 7}, {"type": "markdown", "planId": "b"}, {"type": "file", "planId": "f"}],
    ids=["null", "no object", "empty", "no id", "no words", "no address"],
)
def test_a_plan_that_the_schema_forbids_is_refused(version: int, read: Read, plan: Any) -> None:
    assert not is_valid(version, "PlanUpdate", {"plan": plan})
    with pytest.raises(MalformedMessage):
        read(_told(sessionUpdate="plan_update", plan=plan))


@each_version
def test_bad_entries_are_left_out(version: int, read: Read) -> None:
    plan = {**ITEMS, "entries": [{"content": 1}, ENTRY]}
    (replaced,) = read(_told(sessionUpdate="plan_update", plan=plan))[1]
    assert [step.content for step in replaced.steps] == ["test"]


@each_version
def test_a_kind_of_the_future_replaces_what_the_plan_was(version: int, read: Read) -> None:
    update = {"sessionUpdate": "plan_update", "plan": {"type": "_graph", "planId": "a", "nodes": []}}
    assert read(_told(**update))[1] == (PlanReplaced((), "a"), UnknownUpdate("plan_update", update))


@needs_schema
def test_version_one_is_offered_it() -> None:
    offered = initialize_request(1, ClientOffer())
    assert is_valid(1, "InitializeRequest", offered)
    assert offered["clientCapabilities"]["plan"] == {}


@needs_schema
@pytest.mark.parametrize("steps", [(PlanStep("a", "low", "completed"),), ()], ids=["some", "none"])
@pytest.mark.parametrize("plan_id", ["b", "plan"])
def test_what_version_one_writes_reads_as_the_same(steps: tuple[PlanStep, ...], plan_id: str) -> None:
    replaced = PlanReplaced(steps, plan_id)
    written = encode_updates.update_of(replaced)
    assert written is not None
    assert is_valid(1, "SessionNotification", _told(**written))
    assert v1.read_update(_told(**written))[1] == (replaced,)
