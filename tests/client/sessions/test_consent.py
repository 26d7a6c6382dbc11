"""Files and terminals an agent requests: served, asked about, or refused, according to the user's policy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.sessions.consent import ALLOW, HOW_TO_NARROW, REFUSE, WHY_OUTSIDE, WHY_SETTINGS, Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from support.agents import Counterpart, asked, in_memory, in_session, shake_hands, until

ASK_ALL = Policy(Grant.ASK, Grant.ASK, Grant.ASK)
TRUE = {"command": sys.executable, "args": ["-S", "-c", ""]}


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (tmp_path / "secret").write_text("secret")
    return folder


async def send(wire: Counterpart, method: str, request_id: int = 1, **params: Any) -> None:
    about = {"sessionId": "s1", **params}
    await wire.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": about})


async def question(session: Session) -> tuple[PermissionRequest, ToolCallEntry]:
    """The question the user is asked."""
    await until(session, lambda: bool(session.conversation.permissions))
    [request] = session.conversation.permissions.values()
    return request, session.conversation.tool_call(request.tool_call_id)


async def answer(session: Session, option_id: str) -> ToolCallEntry:
    """How the user answers; returns its place in the conversation."""
    request, entry = await question(session)
    session.answer_permission(request.key, option_id)
    return entry


REQUESTS = [
    ("fs/read_text_file", {"path": "secret"}, "Read "),
    ("fs/write_text_file", {"path": "secret", "content": "changed"}, "Write "),
    ("terminal/create", {**TRUE, "cwd": "."}, "Run "),
]


@pytest.mark.parametrize(("method", "params", "title"), REQUESTS)
async def test_what_lies_outside_is_asked_about_and_refused_where_the_user_says_so(
    cwd: Path, method: str, params: dict[str, Any], title: str
):
    """R-FS-7."""
    params = {name: _below(cwd.parent, name, value) for name, value in params.items()}
    async with in_session(cwd) as (session, wire):
        await send(wire, method, **params)
        entry = await answer(session, REFUSE.option_id)
        refused = await wire.receive()
    assert entry.call.title.startswith(title)
    assert entry.call.title.endswith("(outside the workspace)")
    assert refused["error"]["message"].endswith("the user refused it")
    assert [decision.option_kind for decision in entry.decisions] == ["reject_once"]
    assert entry.call.status == "failed"
    assert (cwd.parent / "secret").read_text() == "secret"


@pytest.mark.parametrize(("method", "params", "title"), REQUESTS)
async def test_what_lies_outside_is_served_once_the_user_allows_it(
    cwd: Path, method: str, params: dict[str, Any], title: str
):
    params = {name: _below(cwd.parent, name, value) for name, value in params.items()}
    async with in_session(cwd) as (session, wire):
        await send(wire, method, **params)
        entry = await answer(session, ALLOW.option_id)
        served = await wire.receive()
        assert "result" in served
        assert (entry.call.status, entry.waiting) == ("completed", 0)
        await send(wire, method, request_id=2, **params)
        request, _ = await question(session)  # once means once
        assert request.note == WHY_OUTSIDE
        session.answer_permission(request.key, REFUSE.option_id)
        assert "error" in await wire.receive()


def _below(folder: Path, name: str, value: Any) -> Any:
    return str(folder / value) if name in ("path", "cwd") else value


async def test_a_link_that_leads_out_is_asked_about_with_where_it_leads(cwd: Path):
    (cwd / "link").symlink_to("../secret")
    async with in_session(cwd) as (session, wire):
        await send(wire, "fs/read_text_file", path=str(cwd / "link"))
        _, entry = await question(session)
        assert entry.call.content == (BlockContent(Text(f"{cwd}/link leads to {cwd.parent}/secret")),)
        assert [location.path for location in entry.call.locations] == [f"{cwd.parent}/secret"]
        await answer(session, REFUSE.option_id)
        assert "error" in await wire.receive()


async def test_a_link_that_is_swapped_while_the_user_thinks_leads_nowhere(cwd: Path):
    (cwd / "link").symlink_to("../secret")
    (cwd.parent / "other").write_text("other")
    async with in_session(cwd) as (session, wire):
        await send(wire, "fs/read_text_file", path=str(cwd / "link"))
        await question(session)
        (cwd / "link").unlink()
        (cwd / "link").symlink_to("../other")
        await answer(session, ALLOW.option_id)
        assert "try again" in (await wire.receive())["error"]["message"]


async def test_a_question_about_a_write_shows_what_would_change(cwd: Path):
    path = str(cwd / "a.txt")
    async with in_session(cwd, policy=ASK_ALL) as (session, wire):
        await send(wire, "fs/write_text_file", path=path, content="two\n")
        entry = await answer(session, ALLOW.option_id)
        assert (await wire.receive())["result"] == {}
    assert entry.call.content == (TextDiff(path, "two\n", "one\n"),)
    assert (entry.call.title, entry.call.kind) == ("Write a.txt", "edit")


async def test_a_question_about_a_write_over_no_text_says_that_it_cannot_show_it(cwd: Path):
    (cwd / "a.txt").write_bytes(b"\0\1")
    async with in_session(cwd, policy=ASK_ALL) as (session, wire):
        await send(wire, "fs/write_text_file", path=str(cwd / "a.txt"), content="two\n")
        entry = await answer(session, REFUSE.option_id)
        await wire.receive()
    assert isinstance(entry.call.content[0], BlockContent)
    assert "the current content can't be shown" in str(entry.call.content[0].block)


async def test_a_question_about_a_command_shows_all_of_it(cwd: Path):
    async with in_session(cwd, policy=ASK_ALL) as (session, wire):
        await send(wire, "terminal/create", command="ls", args=["a b"], env=[{"name": "A", "value": "b"}])
        entry = await answer(session, REFUSE.option_id)
        await wire.receive()
    assert entry.call.title == "Run A=b ls 'a b'"
    assert entry.call.raw_input == {"command": "A=b ls 'a b'", "cwd": str(cwd)}


async def test_nobody_is_asked_in_a_turn_that_is_being_cancelled(cwd: Path):
    """R-CANC-4."""
    async with in_session(cwd, policy=ASK_ALL) as (session, wire):
        await send(wire, "fs/read_text_file", path=str(cwd / "a.txt"))
        request, _ = await question(session)
        assert request.note == WHY_SETTINGS
        session.close()
        assert "withdrawn" in (await wire.receive())["error"]["message"]


async def test_a_question_that_the_agent_takes_back_goes_away(cwd: Path):
    async with in_session(cwd, policy=ASK_ALL) as (session, wire):
        await send(wire, "fs/read_text_file", path=str(cwd / "a.txt"))
        await question(session)
        await wire.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        await until(session, lambda: not session.conversation.permissions)
        [entry] = session.conversation.entries
        assert isinstance(entry, ToolCallEntry)
        assert entry.call.status == "cancelled"


@pytest.mark.parametrize(
    ("policy", "capability"),
    [
        (Policy(read=Grant.OFF), ("fs", "readTextFile")),
        (Policy(write=Grant.OFF), ("fs", "writeTextFile")),
        (Policy(terminals=Grant.OFF), ("terminal",)),
    ],
)
async def test_what_is_off_is_not_advertised(policy: Policy, capability: tuple[str, ...]):
    """R-INIT-4."""
    async with in_memory(policy=policy) as (agent, wire):
        offered = (await shake_hands(agent, wire))["params"]["clientCapabilities"]
    for name in capability:
        offered = offered.get(name, {})
    assert not offered


# Rules


def rule(**named: str) -> Policy:
    refused = RefusalRule(named.get("kind"), named.get("path"), named.get("command"), "because")
    return Policy(write=Grant.ON, terminals=Grant.ON, refuse=(refused,))


@pytest.mark.parametrize(
    ("method", "params", "policy"),
    [
        ("fs/read_text_file", {"path": "a.txt"}, rule(path="*.txt")),
        ("fs/write_text_file", {"path": "a.txt", "content": ""}, rule(kind="edit")),
        ("terminal/create", TRUE, rule(command=Path(sys.executable).name)),
    ],
)
async def test_a_standing_rule_refuses_what_would_be_served_and_says_why(
    cwd: Path, method: str, params: dict[str, Any], policy: Policy
):
    params = {name: _below(cwd, name, value) for name, value in params.items()}
    async with in_session(cwd, policy=policy) as (session, wire):
        await send(wire, method, **params)
        refused = await wire.receive()
        assert session.conversation.permissions == {}
        [entry] = session.conversation.entries
    assert refused["error"]["message"].endswith("a standing rule of the user refuses it: because")
    assert isinstance(entry, ToolCallEntry)
    assert entry.call.status == "failed"
    assert (HOW_TO_NARROW in str(entry.call.content)) is (method == "terminal/create")
    assert (cwd / "a.txt").read_text() == "one\n"


async def test_a_command_is_asked_about_if_its_line_leaves_open_whether_a_rule_covers_it(cwd: Path):
    async with in_session(cwd, policy=rule(command="git push")) as (session, wire):
        await send(wire, "terminal/create", command="a=touch; $a made")
        request, _ = await question(session)
        assert "one of your rules refuses command git push" in (request.note or "")
        await answer(session, REFUSE.option_id)
        assert "error" in await wire.receive()
        await send(wire, "terminal/create", 2, command="touch other; sleep 9")
        assert "result" in await wire.receive()
        assert session.conversation.permissions == {}
    assert not (cwd / "made").exists()


def permission(*options: tuple[str, str]) -> dict[str, Any]:
    request = asked("q")
    request["params"]["toolCall"]["kind"] = "delete"
    request["params"]["options"] = [
        {"optionId": option_id, "name": option_id, "kind": kind} for option_id, kind in options
    ]
    return request


async def test_a_standing_rule_answers_with_the_agents_way_to_refuse_once(cwd: Path):
    """R-PERM-4."""
    async with in_session(cwd, policy=rule(kind="delete")) as (session, wire):
        await wire.send(permission(("yes", "allow_once"), ("never", "reject_always"), ("no", "reject_once")))
        outcome = (await wire.receive())["result"]["outcome"]
        [entry] = session.conversation.entries
    assert outcome == {"outcome": "selected", "optionId": "no"}
    assert isinstance(entry, ToolCallEntry)
    assert [decision.rule for decision in entry.decisions] == ["kind delete: because"]


async def test_without_a_way_to_refuse_once_the_user_is_asked_and_told_of_the_rule(cwd: Path):
    async with in_session(cwd, policy=rule(kind="delete")) as (session, wire):
        await wire.send(permission(("yes", "allow_once"), ("never", "reject_always")))
        await until(session, lambda: any(one.note for one in session.conversation.permissions.values()))
        request, _ = await question(session)
        assert "kind delete: because" in (request.note or "")
        session.answer_permission(request.key, "never")
        await wire.receive()


async def test_what_no_rule_is_against_is_asked_as_ever(cwd: Path):
    async with in_session(cwd, policy=rule(kind="execute")) as (session, wire):
        await wire.send(permission(("yes", "allow_once"), ("no", "reject_once")))
        request, entry = await question(session)
        assert request.note is None
        session.answer_permission(request.key, "yes")
        await wire.receive()
    assert [(decision.rule, decision.at is not None) for decision in entry.decisions] == [(None, True)]
