"""However long a string of an agent is, what leaves the reader is bounded, except texts that are drawn in parts.

Each string of each message is made too long once, in messages made from the schemas of both versions.
"""

from __future__ import annotations

import ast
import copy
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any, Final

import pytest

from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible.cutting import MAX_ITEMS, MAX_LINE, MAX_PASSAGE, MAX_RAW, cut_characters
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.v1 import agent_requests, content, initialize, session, subagents, updates
from acp_tui.protocol.v1 import inbound as v1
from acp_tui.protocol.v2 import inbound as v2
from acp_tui.protocol.v2 import models
from acp_tui.protocol.wire import MAX_EXACT, WireModel
from acp_tui.rpc.messages import MAX_ERROR_CHARACTERS, MAX_ID_CHARACTERS, ErrorResponse, Notification, read_message
from protocol import test_generated_messages as first
from protocol import test_generated_messages_v2 as second
from support.schema import SCHEMA_V2, Messages, needs_schema, schema_v2

LONG: Final = "\u0301" * (MAX_RAW + MAX_PASSAGE)
MESSAGES: Final = 300
MARK: Final = 40
MAX_WORD: Final = 131_072
"""Arguments and addresses, which are used as they are."""
IN_PARTS: Final = frozenset({"text", "data", "blob", "old_text", "new_text", "content"})
"""Texts that are drawn or written in parts, and pictures."""
RAW: Final = ("raw_input", "raw_output", "meta", "raw", "more")
"""Values without a schema, with a limit for all of their texts together."""


def with_a_long_string(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with each of its strings and keys replaced once, and where."""
    for path in paths_of(value):
        made = copy.deepcopy(value)
        inner = made
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = LONG
        yield ".".join(map(str, path)), made


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str) and key not in ("sessionUpdate", "type", "mode"):
            yield (*path, key)
        yield from paths_of(item, (*path, key))


def strings_of(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Each string of a value read from the wire, with the name of its field."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, WireModel):
        for key, item in vars(value).items():
            yield from strings_of(item, key)
    elif is_dataclass(value):
        for each in fields(value):
            yield from strings_of(getattr(value, each.name), each.name)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings_of(key, name)
            yield from strings_of(item, name if name.endswith(RAW) else str(key))
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from strings_of(item, name)


def check(read: Callable[[Any], Any], message: Any, seen: Counter[str]) -> None:
    for place, long in with_a_long_string(message):
        try:
            result = read(long)
        except MalformedMessage as error:
            seen["malformed"] += 1
            assert len(str(error)) < MAX_LINE, place
            continue
        for name, text in strings_of(result):
            if name.endswith(RAW):
                assert len(text) <= MAX_RAW + MARK, place
            elif name not in IN_PARTS:
                assert len(text) <= MAX_WORD + MARK, (place, name)
                assert len(text) <= max(MAX_LINE, MAX_PASSAGE) + MARK or not cut_characters(text), (place, name)
            seen["cut"] += bool(cut_characters(text))


def without_a_limit(module: ModuleType) -> Iterator[str]:
    """The fields, and the types that fields share, that name a type whose strings have no limit."""
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            kind = node.value if ast.unparse(node.annotation) == "TypeAlias" else node.annotation
            names = {part.id for part in ast.walk(kind or tree) if isinstance(part, ast.Name)}
            if names & {"str", "Any"}:
                yield ast.unparse(node)


@pytest.mark.parametrize("module", [agent_requests, content, initialize, session, subagents, updates, models])
def test_each_field_of_a_model_says_how_long_its_strings_may_be(module: ModuleType) -> None:
    assert list(without_a_limit(module)) == []


@needs_schema
def test_each_string_of_version_1_is_bounded_once_it_is_read() -> None:
    seen: Counter[str] = Counter()
    for index in range(MESSAGES):
        name = first.chosen(index)
        check(lambda value, name=name: first.read(name, value), Messages(index).valid(name), seen)
    assert seen["cut"] > MESSAGES
    assert seen["malformed"] > MESSAGES // 4


@pytest.mark.skipif(not SCHEMA_V2.exists(), reason="the schema of version 2 isn't beside the repository")
def test_each_string_of_version_2_is_bounded_once_it_is_read() -> None:
    seen: Counter[str] = Counter()
    definitions = schema_v2()["$defs"]
    for index in range(MESSAGES):
        name = second.WEIGHTED[index % len(second.WEIGHTED)]
        check(second.READERS[name], Messages(index, definitions).valid(name), seen)
    assert seen["cut"] > MESSAGES
    assert seen["malformed"] > MESSAGES // 4


def update(kind: str, **given: Any) -> dict[str, Any]:
    return {"sessionId": "s1", "update": {"sessionUpdate": kind, **given}}


def test_a_title_is_cut_with_a_mark_and_a_message_is_whole() -> None:
    conversation = Conversation()
    block = {"type": "content", "content": {"type": "text", "text": LONG}}
    for params in (
        update("tool_call", toolCallId="1", title=LONG, content=[block]),
        update("agent_message_chunk", content={"type": "text", "text": LONG}),
    ):
        for each in v1.read_update(params)[1]:
            reducer.apply(conversation, each)
    call = conversation.tool_call("1").call  # type: ignore[arg-type]

    assert cut_characters(call.title) == len(LONG) - MAX_LINE
    assert sorted(len(text) for _, text in strings_of(call))[-1] == len(LONG)
    assert conversation.entries[-1].text == LONG  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["sessionId", "messageId", "toolCallId"])
def test_an_id_is_never_another_one(name: str) -> None:
    kind = "tool_call" if name == "toolCallId" else "agent_message_chunk"
    rest = {"title": "x"} if name == "toolCallId" else {"content": {"type": "text", "text": "x", "x": 1}}
    whole = {"sessionId": "s1", "update": {"sessionUpdate": kind, "toolCallId": "1", **rest}}
    for length, is_kept in ((MAX_EXACT, True), (MAX_EXACT + 1, False)):
        said = copy.deepcopy(whole)
        (said if name == "sessionId" else said["update"])[name] = "i" * length
        try:
            read = v1.read_update(said)
        except MalformedMessage:
            assert not is_kept
        else:
            assert (("i" * length) in {text for _, text in strings_of(read)}) == is_kept
            assert is_kept or name == "messageId", "a chunk without an ID is one of the message before"


def test_a_plan_in_markdown_is_cut_line_by_line_before_it_is_read() -> None:
    """A line of blanks took time by the square of its length."""
    plan = {"type": "markdown", "planId": "p", "content": f"- [x] done\n{' ' * 2_000_000}\n- {LONG}"}
    ((_, (replaced,))) = v2.read_update(update("plan_update", plan=plan))
    assert [len(step.content) <= MAX_LINE + MARK for step in replaced.steps] == [True] * 3  # type: ignore[union-attr]


MANY: Final = 45_000
LISTS: Final = {
    "content": {"type": "content", "content": {"type": "text", "text": "one"}},
    "locations": {"path": "/work/a.py"},
}


@pytest.mark.parametrize(("kind", "read"), [("tool_call", v1.read_update), ("tool_call_update", v2.read_update)])
@pytest.mark.parametrize("name", LISTS)
def test_the_items_of_a_list_are_cut_with_a_mark(kind: str, read: Callable[[Any], Any], name: str) -> None:
    conversation = Conversation()
    for each in read(update(kind, toolCallId="1", title="x", **{name: [LISTS[name]] * MANY}))[1]:
        reducer.apply(conversation, each)
    items = getattr(conversation.tool_call("1").call, name)  # type: ignore[arg-type]

    assert len(items) == MAX_ITEMS + 1
    rest = json.dumps([LISTS[name]] * (MANY - MAX_ITEMS), separators=(",", ":"))
    assert max(cut_characters(text) for _, text in strings_of(items[-1])) == len(rest)


@pytest.mark.parametrize(
    ("read", "plan"),
    [
        (v1.read_update, lambda steps: update("plan", entries=steps)),
        (v2.read_update, lambda steps: update("plan_update", plan={"type": "items", "planId": "p", "entries": steps})),
    ],
)
def test_the_steps_of_a_plan_are_cut_with_a_mark(read: Callable[[Any], Any], plan: Callable[[Any], Any]) -> None:
    ((_, (replaced,))) = read(plan([{"content": "step", "priority": "low", "status": "pending"}] * MANY))
    assert len(replaced.steps) == MAX_ITEMS + 1
    assert cut_characters(replaced.steps[-1].content) > MANY


def test_commands_beyond_the_first_thousand_are_dropped() -> None:
    commands = [{"name": f"do-{number}", "description": "x"} for number in range(MANY)]
    ((_, (replaced,))) = v1.read_update(update("available_commands_update", availableCommands=commands))
    assert len(replaced.commands) == MAX_ITEMS  # type: ignore[union-attr]


def test_the_files_of_a_patch_are_cut_and_its_text_is_there() -> None:
    one = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    diff = {"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": one * (MAX_ITEMS - 1)}}
    ((_, (reported,))) = v2.read_update(update("tool_call_update", toolCallId="1", content=[diff]))
    assert len(reported.patch.content) == MAX_ITEMS - 1  # type: ignore[union-attr]

    diff["patch"] = {"format": "git_patch", "text": one * 2 * MAX_ITEMS}
    ((_, (reported,))) = v2.read_update(update("tool_call_update", toolCallId="1", content=[diff]))
    *_, whole = reported.patch.content  # type: ignore[union-attr]
    assert len(reported.patch.content) == MAX_ITEMS + 1  # type: ignore[union-attr]
    assert one * 2 * MAX_ITEMS in dict(strings_of(whole)).values()


def test_a_method_and_an_error_are_cut() -> None:
    notification = read_message(f'{{"method":"_{"m" * 100_000}"}}'.encode())
    error = {"code": 1, "message": "e" * 99_999, "data": "d" * 99_999}
    failure = read_message(json.dumps({"id": 1, "error": error}).encode())

    assert isinstance(notification, Notification)
    assert len(notification.method) == MAX_ID_CHARACTERS + 1
    assert isinstance(failure, ErrorResponse)
    assert len(failure.error.message) == len(failure.error.detail or "") == MAX_ERROR_CHARACTERS + 1
