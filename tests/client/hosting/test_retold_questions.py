"""A host's clients show everything that a local session shows of a question, in both versions of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.cli.permissions import question_text
from acp_tui.client.hosting.finding import OFFER
from acp_tui.conversation.catch_up import patch_of
from acp_tui.conversation.content import OWN_META, Meta, Text, TextResource, UnknownBlock
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.facts import AskedCommand, PermissionOption, PermissionRequest, RequestKey, SessionId
from acp_tui.conversation.permission_requests import shown_state
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCallId,
    ToolCallPatch,
    UnknownContent,
)
from acp_tui.conversation.updates import PermissionAsked, TerminalOpened
from acp_tui.protocol.v1 import encode_updates, inbound
from acp_tui.protocol.v1.inbound import UNPARKED, read_elicitation
from acp_tui.protocol.v2 import encode_updates as encode_updates_v2
from acp_tui.protocol.v2 import inbound as inbound_v2
from acp_tui.ui.permission.request_drawing import SubjectDrawing, SubjectStyle, title_lines
from acp_tui.ui.rendering.palette import PLAIN
from support.agents import notification, request, settle, until
from support.hosts import hosted

KEY = RequestKey(7)
CALL = ToolCallId("c")
TERMINAL = TerminalId("t")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
METAS = st.dictionaries(st.sampled_from(["a", "terminal_info", "é"]), st.integers() | TEXTS, min_size=1, max_size=2)
OPTIONS = st.builds(
    PermissionOption,
    option_id=TEXTS,
    name=TEXTS,
    kind=st.sampled_from(["allow_once", "reject_always", "x"]),
    meta=METAS,
)
BLOCKS = st.builds(BlockContent, st.builds(Text, TEXTS) | st.builds(TextResource, TEXTS, TEXTS), METAS) | st.just(
    BlockContent(UnknownBlock("new", {"type": "new", "is": "unknown"}))
)
CONTENTS = (
    BLOCKS
    | st.builds(TextDiff, st.just("/w/f"), TEXTS, TEXTS, METAS)
    | st.just(TerminalContent(TERMINAL))
    | st.just(UnknownContent("new", {"type": "new", "is": "unknown"}))
)
PATCHES = st.builds(
    ToolCallPatch,
    st.just(CALL),
    title=TEXTS,
    kind=st.sampled_from(["execute", "edit", "new"]),
    status=st.just("pending"),
    content=st.lists(CONTENTS, max_size=3).map(tuple),
    locations=st.lists(st.builds(Location, TEXTS, st.integers(1, 9), METAS), max_size=2).map(tuple),
    raw_input=st.just({"command": "rm -rf build", "cwd": "/w"}) | METAS,
    raw_output=METAS,
    name=TEXTS.filter(bool),
    meta=METAS,
)
GIVEN: dict[str, st.SearchStrategy[Any]] = {
    "key": st.just(KEY),
    "tool_call_id": st.just(CALL),
    "options": st.lists(OPTIONS, min_size=1, max_size=3).map(tuple),
    "meta": METAS,
    "note": TEXTS,
    "title": TEXTS,
    "description": TEXTS,
    "command": st.builds(AskedCommand, TEXTS, TEXTS),
    "more": METAS,
    "is_alone": st.just(True),
    "is_ours": st.just(True),
}
"""A value that isn't the default, for each field."""
REQUESTS = st.builds(PermissionRequest, **GIVEN)
SESSION = SessionId("s")


def on_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value))


def local(asked: PermissionRequest, patch: ToolCallPatch) -> Conversation:
    """A session in which this is asked."""
    conversation = Conversation()
    apply(conversation, TerminalOpened(TERMINAL, "make", "/w"))
    apply(conversation, PermissionAsked(asked, patch))
    return conversation


def attached(host: Conversation, *, reads_question: bool = True, version: int = 1) -> Conversation:
    """The same, as a client of a host has it."""
    asked = host.permissions[KEY]
    patch = patch_of(host.tool_call(asked.tool_call_id).call)
    tells = encode_updates if version == 1 else encode_updates_v2
    told = on_the_wire(tells.permission_request(SESSION, asked, patch, reads_question=reads_question))
    if version == 1:
        session_id, read = inbound.read_permission_request(told)
    else:
        session_id, read = inbound_v2.read_permission_request(told, "question 1")
    read = inbound.with_told(read) if reads_question else read
    assert session_id == SESSION
    return local(replace(read.request, key=KEY), read.patch)


def cards(conversation: Conversation) -> Iterator[str]:
    """What the card, its raw report, and the lines of `--plain` say."""
    asked = conversation.permissions[KEY]
    call = conversation.tool_call(asked.tool_call_id).call
    shown = ShownRequest(asked, call, "/w", terminals=conversation.terminals)
    yield "\n".join(strip.text for strip in title_lines(shown, PLAIN, 60))
    for shows_raw in (False, True):
        lines = SubjectDrawing().draw(shown, SubjectStyle(60, PLAIN, shows_raw=shows_raw)).lines
        yield "\n".join(strip.text for strip in lines)
    yield question_text(shown)


def state(conversation: Conversation, meta: Meta | None) -> tuple[object, ...]:
    asked = conversation.permissions[KEY]
    call = conversation.tool_call(asked.tool_call_id).call
    return shown_state(replace(asked, meta=meta), call, conversation.terminals)


def require_equal(here: Conversation, *versions: int) -> None:
    meta = here.permissions[KEY].meta
    for version in versions or (1,):
        there = attached(here, version=version)
        assert there.permissions[KEY].meta == {**(meta or {}), OWN_META: {"key": KEY}}
        assert state(there, meta) == state(here, meta)
        assert list(cards(there)) == list(cards(here))


def test_every_field_of_a_request_is_given_here() -> None:
    assert list(GIVEN) == [field.name for field in fields(PermissionRequest)]


@settings(deadline=None)
@given(REQUESTS, PATCHES)
def test_an_attached_card_says_all_that_a_local_one_says(asked: PermissionRequest, patch: ToolCallPatch) -> None:
    require_equal(local(asked, patch))


@pytest.mark.parametrize("name", [name for name in GIVEN if name not in ("key", "tool_call_id", "options")])
@settings(deadline=None, max_examples=20)
@given(st.data())
def test_one_field_alone_is_on_an_attached_card_too(name: str, data: st.DataObject) -> None:
    bare = PermissionRequest(KEY, CALL, (PermissionOption("y", "Yes", "allow_once"),))
    asked = replace(bare, **{name: data.draw(GIVEN[name])})
    require_equal(local(asked, ToolCallPatch(CALL, "Title")))


SUBJECTS = [
    {"type": "command", "command": "curl x | sh", "cwd": "/elsewhere"},
    {"type": "command", "command": "curl x | sh", "cwd": "/w", "toolCallId": "c", "terminalId": "t"},
    {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Make", "kind": "execute"}},
    {"type": "new", "what": "unknown"},
    None,
]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_question_of_version_two_is_the_same_on_an_attached_card(subject: dict[str, Any] | None) -> None:
    more = {"runsAs": "root", "sandbox": {"network": "all"}, "_meta": {"for": "programs"}}
    params = {
        "sessionId": "s",
        "title": "May I?",
        "description": "To build it.",
        "subject": None if subject is None else {**subject, **more},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        "_meta": {"theirs": 1},
    }
    _, read = inbound_v2.read_permission_request(params, "question 1")
    here = local(replace(read.request, key=KEY), read.patch)
    require_equal(here, 1, 2)
    assert "May I?" in "".join(cards(here))


def test_what_an_agent_has_under_our_key_is_shown_and_is_not_taken_for_the_hosts() -> None:
    forged = {"key": 1, "question": {"note": "Your administrator allows this", "command": {"line": "ls", "cwd": "/"}}}
    asked = PermissionRequest(KEY, CALL, (PermissionOption("y", "Yes", "allow_once"),), {OWN_META: forged})
    there = attached(local(asked, ToolCallPatch(CALL, "Title"))).permissions[KEY]
    assert (there.note, there.command) == (None, None)
    assert there.meta == {OWN_META: {"key": KEY, "meta": forged}}
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [], "_meta": {OWN_META: forged}}
    _, read = inbound.read_permission_request(params)
    assert (read.request.note, read.request.command) == (None, None)


@settings(deadline=None)
@given(REQUESTS, PATCHES)
def test_a_client_that_knows_only_the_protocol_is_told_in_words(asked: PermissionRequest, patch: ToolCallPatch) -> None:
    there = attached(local(asked, patch), reads_question=False)
    first = there.tool_call(CALL).call.content[0]
    assert isinstance(first, BlockContent)
    assert isinstance(first.block, Text)
    assert asked.command is not None
    for text in (asked.note, asked.title, asked.description, asked.command.line, asked.command.cwd):
        assert text is not None
        assert text in first.block.text
    assert all(name in first.block.text for name in asked.more or ())


# Forms and pages

FIELDS = {
    "text": {
        "type": "string",
        "title": "T",
        "description": "D",
        "default": "d",
        "minLength": 1,
        "maxLength": 9,
        "pattern": "a+",
        "format": "email",
    },
    "number": {"type": "number", "title": "T", "minimum": 0.5, "maximum": 9, "default": 1.5},
    "integer": {"type": "integer", "description": "D", "minimum": 0, "maximum": 9, "default": 1},
    "boolean": {"type": "boolean", "title": "T", "description": "D", "default": False},
    "choice": {
        "type": "string",
        "oneOf": [{"const": "a", "title": "A", "description": "D"}, {"const": "b", "title": "B"}],
        "default": "b",
    },
    "plain choice": {"type": "string", "enum": ["a", "b"]},
    "several": {
        "type": "array",
        "title": "T",
        "description": "D",
        "items": {"anyOf": [{"const": "a", "title": "A", "description": "D"}]},
        "minItems": 0,
        "maxItems": 1,
        "default": ["a"],
    },
    "plain several": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    "unknown": {"type": "new", "title": "T"},
    "unknown several": {"type": "array", "items": {"type": "new"}},
}
SCOPE = {"sessionId": "s", "message": "Who?", "toolCallId": "c", "_meta": {"theirs": 1}}
FORM = {
    **SCOPE,
    "mode": "form",
    "requestedSchema": {
        "type": "object",
        "title": "T",
        "description": "D",
        "properties": FIELDS,
        "required": ["text", "unknown", "undescribed"],
    },
}
PAGE = {**SCOPE, "mode": "url", "url": "https://good.example/", "elicitationId": "e"}


@pytest.mark.parametrize("params", [FORM, PAGE])
def test_a_form_and_a_page_are_the_same_at_a_client(params: Any) -> None:
    session_id, asked = read_elicitation(params, OFFER)
    told = encode_updates.elicitation_request(session_id, replace(asked, key=KEY))
    there_id, there = read_elicitation(on_the_wire(told), OFFER)
    assert there_id == session_id
    assert there.meta == {"theirs": 1, OWN_META: {"key": KEY}}
    assert replace(there, meta=asked.meta, key=UNPARKED) == asked


@pytest.mark.anyio
async def test_a_page_that_is_done_already_is_done_at_a_client_that_attaches_later(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        await its.wire.send(request("f", "elicitation/create", {**PAGE, "sessionId": "s1"}))
        await until(its.session, lambda: bool(its.session.conversation.elicitations))
        await its.wire.send(notification("elicitation/complete", {"elicitationId": "e"}))
        await settle()
        client = await its.attach()
        await until(client, lambda: any(_done(client.conversation)))


def _done(conversation: Conversation) -> list[bool]:
    return [one.is_complete for one in conversation.elicitations.values() if isinstance(one, UrlVisit)]


# In a host


@pytest.mark.anyio
async def test_all_fields_arrive_over_a_connection_and_those_of_our_own_questions(tmp_path: Path) -> None:
    whole = PermissionRequest(
        UNPARKED,
        CALL,
        (PermissionOption("y", "Yes", "allow_once"),),
        {"theirs": 1},
        title="May I?",
        description="A subagent asks: Look",
        command=AskedCommand("make", "/w"),
        more={"runsAs": "root"},
        is_alone=True,
    )
    async with hosted(tmp_path) as its:
        client = await its.attach()
        answer = its.session.request_permission(PermissionAsked(whole, ToolCallPatch(CALL, "Make", raw_input={"a": 1})))
        await its.wire.send(request("w", "fs/write_text_file", {"sessionId": "s1", "path": "/x/y", "content": "z"}))
        await until(client, lambda: len(client.conversation.permissions) == 2)
        here, there = its.session.conversation, client.conversation
        for asked, told in zip(here.permissions.values(), there.permissions.values(), strict=True):
            same = replace(told, key=asked.key, meta=asked.meta)
            assert same == asked
            calls = [one.tool_call(asked.tool_call_id).call for one in (here, there)]
            assert shown_state(same, calls[1], there.terminals) == shown_state(asked, calls[0], here.terminals)
        assert "outside the workspace" in (told.note or "")
        client.answer_permission(next(iter(there.permissions)), "y")
        assert await answer == "y"
