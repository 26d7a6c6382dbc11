"""What is told in version 2 is read as the same again, and is valid by the schema, whatever version it came in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from acp_tui.conversation import UNSET
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import FileChange, HunkStart, TextDiff, ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import SessionUpdate, ToolCallReported, UnknownUpdate
from acp_tui.protocol.v2 import encode_updates, inbound
from conversation.test_replay_equality import EVERY_KIND
from support.recorded_sessions import Recorded, kept_recordings, transcripts
from support.schema import SCHEMA_V2, schema_v2


@cache
def recorded() -> list[Recorded]:
    return [*kept_recordings(), *transcripts()]


def read(said: dict[str, Any]) -> tuple[SessionUpdate, ...]:
    return inbound.read_update({"sessionId": "s", "update": said})[1]


def test_what_an_agent_of_version_two_said_is_read_as_the_same() -> None:
    updates = [update for each in recorded() if each.version == 2 for update in each.updates]
    sayings = [(update, list(encode_updates.updates_of(update))) for update in updates]
    checked = [(update, said) for update, said in sayings if said]
    for update, said in checked:
        again = [each for one in said for each in read(one)]
        assert again == [update] or again == list(_each_alone(update)), update
    assert len({type(update) for update, _ in checked}) >= 8


def _each_alone(update: SessionUpdate) -> Iterator[SessionUpdate]:
    """A report of several items as those of one each."""
    for item in getattr(update, "content", ()):
        yield type(update)(update.tool_call_id, (item,))  # type: ignore[union-attr, call-arg, arg-type]


@pytest.mark.parametrize("name", ["exec_command", None, "", "\x1b[31m"])
def test_a_tools_name_and_its_removal_are_read_as_the_same(name: str | None) -> None:
    update = ToolCallReported(ToolCallPatch(ToolCallId("c"), name=name))
    (said,) = encode_updates.updates_of(update)
    assert (said["name"], read(said)) == (name, (update,))


@pytest.mark.parametrize("name", [5, [], {}])
def test_a_malformed_name_leaves_the_name_and_the_rest_of_the_report(name: Any) -> None:
    """R-LEN-1, R-POST-1"""
    said = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "name": name}
    (update,) = read(said)
    assert isinstance(update, ToolCallReported)
    assert (update.patch.title, update.patch.name) == ("T", UNSET)


PARTS = (HunkStart(0, 3, 0, 3), HunkStart(2, 90, 1, 89))


@pytest.mark.parametrize(
    "item",
    [
        TextDiff("/w/new", "a\n--- b\n+++ c\n"),
        TextDiff("/w/gone", "", "a\nb"),
        TextDiff("/w/a b", "1\n3\n", "1\n2\n3", hunks=PARTS),
        TextDiff("/w/form\x0cfeed", "x\x0cy\r\nz", "\u2028\n", hunks=(HunkStart(0, 1, 0, 1),)),
        FileChange("move", "/w/b", "/w/a", "text"),
        FileChange("modify", "/w/picture.png", None, "binary"),
    ],
)
def test_a_change_of_a_file_is_read_as_the_same(item: TextDiff | FileChange) -> None:
    update = ToolCallReported(ToolCallPatch(ToolCallId("c"), content=(item,)))
    (said,) = encode_updates.updates_of(update)
    assert read(said) == (update,)


@pytest.mark.skipif(not SCHEMA_V2.exists(), reason="the protocol's schema isn't beside the repository")
def test_all_that_any_client_is_told_is_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = {"$ref": "#/$defs/UpdateSessionNotification", "$defs": schema_v2()["$defs"]}
    validator = jsonschema.Draft202012Validator(schema)
    seen = set()
    for updates in ([*EVERY_KIND], *(each.updates for each in recorded())):
        conversation = Conversation()
        for update in updates:
            change = apply(conversation, update)
            if isinstance(update, UnknownUpdate):
                continue
            for said in encode_updates.told_in(conversation, update, change):
                seen.add(said["sessionUpdate"])
                errors = [each.message for each in validator.iter_errors({"sessionId": "s", "update": said})]
                assert not errors, said
    assert len(seen) >= 14
