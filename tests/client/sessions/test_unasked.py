"""What an agent does through acp-tui without asking, and how that compares with what the user allowed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import create_task_group

from acp_tui.client.sessions.consent import ALLOW, IN_SESSION, NEVER, REFUSE, WHY_UNASKED, WHY_UNLIKE, Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, SessionId
from acp_tui.conversation.tool_calls import TextDiff
from support.agents import Counterpart, in_memory, in_session, in_turn, open_session, shake_hands, until

WRITES = WHY_UNASKED["write"].format(agent="played")
RUNS = WHY_UNASKED["run"].format(agent="played")
UNLIKE = WHY_UNLIKE.format(agent="played", kind="write")
ONCE = (ALLOW.option_id, REFUSE.option_id)
UNASKED = (ALLOW.option_id, IN_SESSION.option_id, REFUSE.option_id, NEVER.option_id)
OFFERED = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Played:
    """The test as the agent and as its user."""

    def __init__(self, session: Session, wire: Counterpart, cwd: Path) -> None:
        self.session, self.wire, self.cwd = session, wire, cwd
        self._number = 0

    async def send(self, method: str, **params: Any) -> int:
        """Send a request of the agent's; return its ID."""
        self._number += 1
        about = {"sessionId": self.session.session_id, **params}
        await self.wire.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": about})
        return self._number

    async def write(self, path: str, content: str) -> int:
        """Write a file of the project."""
        return await self.send("fs/write_text_file", path=str(self.cwd / path), content=content)

    async def run(self, command: str, *args: str, **more: Any) -> int:
        """Run a command."""
        return await self.send("terminal/create", command=command, args=list(args), **more)

    async def report(self, title: str, path: str, *, kind: str) -> None:
        """Tell of a tool call that works on a file of the project."""
        call = {"toolCallId": title, "title": title, "kind": kind, "locations": [{"path": str(self.cwd / path)}]}
        update = {"sessionUpdate": "tool_call", "status": "in_progress", **call}
        told = {"sessionId": self.session.session_id, "update": update}
        await self.wire.send({"jsonrpc": "2.0", "method": "session/update", "params": told})

    async def ask(self, answer: str = "yes", **call: Any) -> None:
        """Ask for permission for a tool call; the user answers."""
        await self.send("session/request_permission", toolCall={"toolCallId": "call", **call}, options=OFFERED)
        request, _ = await self.question()
        self.session.answer_permission(request.key, answer)
        assert (await self.wire.receive())["result"]["outcome"]["optionId"] == answer

    async def ask_edit(self, path: str, old: str | None, new: str, answer: str = "yes") -> None:
        """Ask for permission for a change of a file."""
        diff = {"type": "diff", "path": str(self.cwd / path), "oldText": old, "newText": new}
        await self.ask(answer, title=f"Edit {path}", kind="edit", content=[diff])

    async def ask_run(self, line: str | list[str], answer: str = "yes", **more: Any) -> None:
        """Ask for permission for a command."""
        await self.ask(answer, title="Run it", kind="execute", rawInput={"command": line, **more})

    async def question(self) -> tuple[PermissionRequest, ToolCallEntry]:
        """The oldest waiting question."""
        await until(self.session, lambda: bool(self.session.conversation.permissions))
        request = next(iter(self.session.conversation.permissions.values()))
        return request, self.session.conversation.tool_call(request.tool_call_id)

    async def answer(self, option_id: str) -> tuple[PermissionRequest, ToolCallEntry]:
        """Answer the oldest waiting question."""
        request, entry = await self.question()
        self.session.answer_permission(request.key, option_id)
        return request, entry

    async def is_served(self) -> bool:
        """Whether the next response serves a request, with nobody asked."""
        response = await self.wire.receive()
        assert not self.session.conversation.permissions
        return "result" in response

    async def is_asked_about(self) -> PermissionRequest:
        """Wait for a question of acp-tui's, and refuse it."""
        request, _ = await self.answer(REFUSE.option_id)
        assert "refused" in (await self.wire.receive())["error"]["message"]
        return request


@asynccontextmanager
async def playing(cwd: Path, policy: Policy | None = None) -> AsyncIterator[Played]:
    """A session in a turn."""
    async with in_session(cwd, policy=policy) as (session, wire), in_turn(session, wire):
        yield Played(session, wire, cwd)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    return folder


def options(request: PermissionRequest) -> tuple[str, ...]:
    return tuple(option.option_id for option in request.options)


def test_it_is_the_default() -> None:
    assert (Policy().write, Policy().terminals) == (Grant.UNASKED, Grant.UNASKED)
    assert (Settings().workspace.write, Settings().workspace.terminals) == ("ask-if-unasked", "ask-if-unasked")


# Without a permission


async def test_a_write_that_nobody_allowed_is_asked_about_and_not_done_if_refused(cwd: Path):
    async with playing(cwd) as agent:
        await agent.write("a.txt", "changed\n")
        request, entry = await agent.answer(REFUSE.option_id)
        assert "the user refused it" in (await agent.wire.receive())["error"]["message"]
    assert (request.note, options(request)) == (WRITES, UNASKED)
    assert entry.call.content == (TextDiff(str(cwd / "a.txt"), "changed\n", "one\ntwo\nthree\n"),)
    assert (cwd / "a.txt").read_text() == "one\ntwo\nthree\n"


async def test_a_command_that_nobody_allowed_is_asked_about_and_not_run_if_refused(cwd: Path):
    async with playing(cwd) as agent:
        await agent.run("touch", "made")
        request, entry = await agent.answer(REFUSE.option_id)
        assert "the user refused it" in (await agent.wire.receive())["error"]["message"]
    assert (request.note, options(request), entry.call.title) == (RUNS, UNASKED, "Run touch made")
    assert not (cwd / "made").exists()


async def test_once_is_once(cwd: Path):
    async with playing(cwd) as agent:
        for text in ("first\n", "second\n"):
            await agent.write("a.txt", text)
            await agent.answer(ALLOW.option_id)
            assert await agent.is_served()
            assert (cwd / "a.txt").read_text() == text


async def test_one_answer_serves_one_of_two_that_are_the_same(cwd: Path):
    async with playing(cwd) as agent:
        await agent.run("true")
        await agent.run("true")
        await until(agent.session, lambda: len(agent.session.conversation.permissions) == 2)
        await agent.answer(ALLOW.option_id)
        assert "result" in await agent.wire.receive()
        await agent.is_asked_about()


@pytest.mark.parametrize("option", [IN_SESSION, NEVER])
async def test_what_holds_for_the_session_answers_what_waits_of_its_kind(cwd: Path, option: PermissionOption):
    async with playing(cwd) as agent:
        for name in ("1.txt", "2.txt"):
            await agent.write(name, "new\n")
        await agent.run("touch", "3.txt")
        await agent.write(".envrc", "new\n")
        await until(agent.session, lambda: len(agent.session.conversation.permissions) == 4)
        conversation = agent.session.conversation
        first = next(
            key
            for key, one in conversation.permissions.items()
            if conversation.tool_call(one.tool_call_id).call.title.endswith(" 1.txt")
        )
        agent.session.answer_permission(first, option.option_id)
        responses = [await agent.wire.receive() for _ in range(2)]
        assert [option.is_rejection] * 2 == ["error" in response for response in responses]
        assert len(agent.session.conversation.permissions) == 2
        await agent.is_asked_about()
        await agent.is_asked_about()
    assert {path.name for path in cwd.iterdir()} == ({"a.txt"} if option is NEVER else {"a.txt", "1.txt", "2.txt"})


async def test_an_agents_own_option_of_that_name_holds_for_nothing(cwd: Path):
    async with playing(cwd) as agent:
        option = {"optionId": IN_SESSION.option_id, "name": IN_SESSION.name, "kind": IN_SESSION.kind}
        call = {"toolCallId": "acp-tui_1", "title": "Write", "kind": "edit"}
        await agent.send("session/request_permission", toolCall=call, options=[option])
        await agent.write("a.txt", "new\n")
        await until(agent.session, lambda: len(agent.session.conversation.permissions) == 2)
        await agent.answer(IN_SESSION.option_id)
        assert (await agent.wire.receive())["result"]["outcome"]["optionId"] == IN_SESSION.option_id
        await agent.is_asked_about()
        assert agent.session.allowances.for_session == {}


@pytest.mark.parametrize("kind", ["write", "run"])
async def test_in_this_session_is_for_its_kind_until_the_session_ends(cwd: Path, kind: str):
    async with playing(cwd) as agent:
        await (agent.write("a.txt", "1\n") if kind == "write" else agent.run("true"))
        await agent.answer(IN_SESSION.option_id)
        assert await agent.is_served()
        for _ in range(2):
            await (agent.write("b.txt", "2\n") if kind == "write" else agent.run("true", "other"))
            assert await agent.is_served()
        await (agent.run("true") if kind == "write" else agent.write("b.txt", "3\n"))
        await agent.is_asked_about()
        assert agent.session.allowances.for_session == {kind: True}


async def test_what_is_allowed_in_this_session_shows_where_no_tool_call_shows_it(cwd: Path):
    async with playing(cwd) as agent:
        await agent.write("a.txt", "1\n")
        await agent.answer(IN_SESSION.option_id)
        assert await agent.is_served()
        await agent.report("Read", "a.txt", kind="read")
        await agent.write("a.txt", "2\n")
        assert await agent.is_served()
        await agent.report("Mine", "b.txt", kind="edit")
        await agent.write("b.txt", "3\n")
        assert await agent.is_served()
        await agent.write("a.txt", "4\n")
        assert await agent.is_served()
        said = [one for one in agent.session.conversation.entries if isinstance(one, ToolCallEntry)]
        assert [(one.call.title, one.call.status) for one in said] == [
            ("Write a.txt", "completed"),
            ("Read", "in_progress"),
            ("Write a.txt", "completed"),
            ("Mine", "in_progress"),
            ("Write a.txt", "completed"),
        ]


@pytest.mark.parametrize("kind", ["write", "run"])
async def test_never_in_this_session_refuses_what_was_not_asked_for_and_nothing_else(cwd: Path, kind: str):
    async with playing(cwd) as agent:
        for _ in range(2):
            await (agent.write("b.txt", "1\n") if kind == "write" else agent.run("touch", "b.txt"))
            if not agent.session.allowances.for_session:
                await agent.answer(NEVER.option_id)
            refused = await agent.wire.receive()
            assert not agent.session.conversation.permissions
        assert "in this session, the user lets it" in refused["error"]["message"]
        shown = agent.session.conversation.entries[-1]
        assert isinstance(shown, ToolCallEntry)
        assert shown.call.status == "failed"
        assert not (cwd / "b.txt").exists()
        if kind == "write":
            await agent.ask_edit("b.txt", None, "asked for\n")
            await agent.write("b.txt", "asked for\n")
        else:
            await agent.ask_run("touch b.txt")
            await agent.run("touch", "b.txt")
        assert await agent.is_served()
        assert agent.session.allowances.for_session == {kind: False}


async def test_what_is_remembered_covers_nothing_that_is_always_asked_about(cwd: Path):
    (cwd.parent / "outside.txt").write_text("mine")
    policy = Policy(unasked=frozenset({"write", "run"}))
    async with playing(cwd, policy) as agent:
        for path in ("../outside.txt", ".git/hooks/pre-commit", ".envrc"):
            await agent.write(path, "changed\n")
            assert options(await agent.is_asked_about()) == ONCE
        for params in ({"cwd": str(cwd.parent)}, {"env": [{"name": "PATH", "value": "/x"}]}):
            await agent.run("true", **params)
            assert options(await agent.is_asked_about()) == ONCE
        await agent.run("LD_PRELOAD=./x.so true")
        assert options(await agent.is_asked_about()) == ONCE
    assert (cwd.parent / "outside.txt").read_text() == "mine"


async def test_another_session_of_the_same_agent_has_its_own(cwd: Path):
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        first, second = [Played(await open_session(agent, wire, cwd, name), wire, cwd) for name in ("s1", "s2")]
        await first.run("true")
        await first.answer(IN_SESSION.option_id)
        assert await first.is_served()
        await first.ask_edit("a.txt", None, "new\n")
        await second.run("true")
        await second.is_asked_about()
        await second.write("a.txt", "new\n")
        await second.is_asked_about()
        await first.write("a.txt", "new\n")
        assert await first.is_served()


async def test_a_session_that_continues_another_starts_with_nothing_allowed(cwd: Path):
    async with in_memory() as (agent, wire):
        await shake_hands(agent, wire)
        session = await open_session(agent, wire, cwd)
        session.allowances.for_session["run"] = True
        async with create_task_group() as tasks:
            tasks.start_soon(lambda: agent.new_session(cwd, earlier=session))
            await wire.answer(await wire.expect("session/new"), {"sessionId": "s2"})
        assert agent.sessions[SessionId("s2")].allowances.for_session == {}


@pytest.mark.parametrize("grant", [Grant.ON, Grant.ASK])
async def test_other_settings_mean_what_they_meant(cwd: Path, grant: Grant):
    async with playing(cwd, Policy(write=grant, terminals=grant)) as agent:
        await agent.ask_edit("a.txt", None, "new\n")
        await agent.write("a.txt", "new\n")
        if grant is Grant.ASK:
            request, _ = await agent.answer(ALLOW.option_id)
            assert options(request) == ONCE
        assert await agent.is_served()


# With a permission


@pytest.mark.parametrize("answer", ["yes", "always"])
async def test_a_write_that_the_user_allowed_goes_through_once(cwd: Path, answer: str):
    """What an agent remembers as "always" is its own promise; acp-tui doesn't know how far that reaches."""
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", "one\ntwo\nthree\n", "one\n2\nthree\n", answer)
        await agent.write("a.txt", "one\n2\nthree\n")
        assert await agent.is_served()
        await agent.write("a.txt", "one\n2\nthree\n")
        assert (await agent.is_asked_about()).note == WRITES
    assert (cwd / "a.txt").read_text() == "one\n2\nthree\n"


@pytest.mark.parametrize(("meanwhile", "is_asked"), [("new\n", False), ("else\n", True)])
async def test_what_the_agent_writes_itself_meanwhile_asks_only_if_it_differs(
    cwd: Path, meanwhile: str, is_asked: bool
):
    """opencode 1.18.33 writes a file itself and through the client, at the same time."""

    async def by_itself(_: object) -> None:
        (cwd / "b.txt").write_text(meanwhile)

    async with playing(cwd) as played:
        played.session.client_tools.before_write = by_itself
        await played.ask_edit("b.txt", "", "new\n")
        await played.write("b.txt", "new\n")
        if is_asked:
            await played.is_asked_about()
        else:
            assert await played.is_served()
    assert (cwd / "b.txt").read_text() == meanwhile


async def test_a_rejected_write_is_asked_about(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", None, "new\n", "no")
        await agent.write("a.txt", "new\n")
        await agent.is_asked_about()


async def test_a_write_before_its_permission_is_answered_is_asked_about(cwd: Path):
    async with playing(cwd) as agent:
        diff = {"type": "diff", "path": str(cwd / "a.txt"), "newText": "new\n"}
        call = {"toolCallId": "call", "title": "Edit", "kind": "edit", "content": [diff]}
        asked = await agent.send("session/request_permission", toolCall=call, options=OFFERED)
        await agent.write("a.txt", "new\n")
        await until(agent.session, lambda: len(agent.session.conversation.permissions) == 2)
        await agent.answer("yes")
        assert (await agent.wire.receive())["id"] == asked
        await agent.is_asked_about()
        await agent.write("a.txt", "new\n")
        assert await agent.is_served()


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("two", "2", "one\n2\nthree\n"),
        ("two\n", "", "one\nthree\n"),
        ("e", "E", "onE\ntwo\nthrEE\n"),
        ("e", "E", "onE\ntwo\nthree\n"),
        (None, "all of it", "all of it"),
        ("", "all of it", "all of it"),
        ("one\ntwo\nthree", "all of it", "all of it"),
        ("one\r\ntwo", "1\r\n2", "1\n2\nthree\n"),
        (None, "\ufeffone\n", "one\n"),
    ],
)
async def test_a_change_that_gives_what_the_card_showed_goes_through(
    cwd: Path, old: str | None, new: str, written: str
):
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", old, new)
        await agent.write("a.txt", written)
        assert await agent.is_served()


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("two", "2", "one\n2\nthree\nevil\n"),
        ("two", "2", "2"),  # the rest of the file would be gone
        ("two", "2", "one\ntwo\nthree\n"),
        (None, "new\n", "new"),
        (None, "new\n", "New\n"),
        (None, "new\n", "new\n\u200b"),
    ],
)
async def test_a_change_that_gives_anything_else_is_asked_about_with_the_difference(
    cwd: Path, old: str | None, new: str, written: str
):
    path = str(cwd / "a.txt")
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", old, new)
        await agent.write("a.txt", written)
        request, entry = await agent.answer(REFUSE.option_id)
        assert "error" in await agent.wire.receive()
    assert request.note == f"{UNLIKE}\nThis isn't what the agent showed when you allowed it."
    assert options(request) == ONCE
    shown = "one\n2\nthree\n" if old else new
    diffs = [item for item in entry.call.content if isinstance(item, TextDiff)]
    assert diffs == [TextDiff(path, written, shown), TextDiff(path, written, "one\ntwo\nthree\n")]
    assert (cwd / "a.txt").read_text() == "one\ntwo\nthree\n"


SEEN_NOTHING = "The agent showed you nothing of what this replaces, and the file has changed since."


async def test_a_file_that_somebody_made_since_the_card_is_asked_about(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_edit("new.txt", None, "the agent's\n")
        (cwd / "new.txt").write_text("what the user made since\n")
        await agent.write("new.txt", "the agent's\n")
        request, entry = await agent.answer(REFUSE.option_id)
        assert "error" in await agent.wire.receive()
    assert request.note == f"{UNLIKE}\n{SEEN_NOTHING}"
    assert TextDiff(str(cwd / "new.txt"), "the agent's\n", "what the user made since\n") in entry.call.content
    assert (cwd / "new.txt").read_text() == "what the user made since\n"


@pytest.mark.parametrize("raw", [{"content": "new\n"}, {}])
async def test_so_is_a_file_that_the_card_only_named_and_that_changed_since(cwd: Path, raw: dict[str, str]):
    async with playing(cwd) as agent:
        for change, is_served in (("", True), ("typed since\n", False)):
            await agent.ask(title="Write", kind="edit", rawInput={"file_path": str(cwd / "a.txt"), **raw})
            with (cwd / "a.txt").open("a") as file:
                file.write(change)
            await agent.write("a.txt", "new\n")
            if is_served:
                assert await agent.is_served()
            else:
                assert SEEN_NOTHING in ((await agent.is_asked_about()).note or "")


@pytest.mark.parametrize(("path", "old", "new"), [("new.txt", None, "new\n"), ("a.txt", "two\n", "2\n")])
async def test_a_change_that_the_agent_has_made_itself_by_now_is_served_once(
    cwd: Path, path: str, old: str | None, new: str
):
    async with playing(cwd) as agent:
        await agent.ask_edit(path, old, new)
        before = (cwd / path).read_text() if old else ""
        after = before.replace(old or "", new)
        (cwd / path).write_text(after)
        await agent.write(path, after)
        assert await agent.is_served()
        (cwd / path).write_text(before)
        await agent.write(path, after)
        await agent.is_asked_about()


async def test_a_write_of_what_is_there_is_asked_about_if_the_card_showed_another(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", "two\n", "2\n")
        await agent.write("a.txt", (cwd / "a.txt").read_text())
        await agent.is_asked_about()


async def test_what_the_agent_was_allowed_to_write_takes_no_other_permission_away(cwd: Path):
    async with playing(cwd) as agent:
        for text in ("first\n", "second\n"):
            await agent.ask_edit("a.txt", None, text)
        for text in ("first\n", "second\n"):
            await agent.write("a.txt", text)
            assert await agent.is_served()


async def test_a_file_that_changed_since_the_card_is_asked_about(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", "one\ntwo\nthree\n", "one\n2\nthree\n")
        (cwd / "a.txt").write_text("one\ntwo\nthree\nwhat the user typed since\n")
        await agent.write("a.txt", "one\n2\nthree\n")
        request = await agent.is_asked_about()
        assert "isn't what the agent showed" in (request.note or "")
        await agent.write("a.txt", "one\n2\nthree\nwhat the user typed since\n")
        assert await agent.is_served()


async def test_an_old_text_that_is_not_in_the_file_is_told(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", "something else\n", "new\n")
        await agent.write("a.txt", "new\n")
        request = await agent.is_asked_about()
    assert "doesn't contain the old text" in (request.note or "")


async def test_several_changes_of_a_file_are_written_at_once_or_one_by_one(cwd: Path):
    path = str(cwd / "a.txt")
    diffs = [
        {"type": "diff", "path": path, "oldText": old, "newText": new} for old, new in (("one", "1"), ("two", "2"))
    ]
    async with playing(cwd) as agent:
        for writes in (["1\n2\nthree\n"], ["1\ntwo\nthree\n", "1\n2\nthree\n"]):
            (cwd / "a.txt").write_text("one\ntwo\nthree\n")
            await agent.ask(title="Edit", kind="edit", content=diffs)
            for content in writes:
                await agent.write("a.txt", content)
                assert await agent.is_served()
            await agent.write("a.txt", "1\n2\nthree\n")
            await agent.is_asked_about()


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "edit", "locations": ["a.txt"]},
        {"kind": "edit", "rawInput": {"path": "a.txt", "content_length": 4}},
        {"kind": "edit", "rawInput": {"file_path": "a.txt"}},
    ],
)
async def test_where_the_card_showed_no_content_the_file_is_enough(cwd: Path, call: dict[str, Any]):
    if "locations" in call:
        call = {**call, "locations": [{"path": str(cwd / "a.txt")}]}
    async with playing(cwd) as agent:
        await agent.ask(title="Edit", **call)
        await agent.write("a.txt", "anything\n")
        assert await agent.is_served()
        await agent.write("b.txt", "anything\n")
        await agent.is_asked_about()


@pytest.mark.parametrize("kind", ["read", "delete", "move", "execute", "other"])
async def test_a_call_that_names_a_file_and_does_not_edit_lets_nothing_be_written(cwd: Path, kind: str):
    async with playing(cwd) as agent:
        await agent.ask(title="a.txt", kind=kind, locations=[{"path": str(cwd / "a.txt")}], rawInput={"path": "a.txt"})
        await agent.write("a.txt", "anything\n")
        await agent.is_asked_about()


@pytest.mark.parametrize(
    "call",
    [
        {"rawInput": {"path": "a.txt", "body": "#!/bin/sh\nfine\n"}},
        {"rawInput": {"path": "a.txt", "patch": {"hunks": ["-one\n+1"]}}},
        {"rawInput": {"path": "a.txt"}, "content": [{"type": "content", "content": {"type": "text", "text": "a\nb"}}]},
    ],
)
async def test_where_the_card_showed_text_of_another_kind_the_file_is_not_enough(cwd: Path, call: dict[str, Any]):
    async with playing(cwd) as agent:
        await agent.ask(title="Edit", kind="edit", **call)
        await agent.write("a.txt", "anything\n")
        await agent.is_asked_about()


@pytest.mark.parametrize(
    "shown",
    [
        {"content": "new\n"},
        {"old_string": "one\ntwo\nthree\n", "new_string": "new\n"},
        {"edits": [{"oldText": "one\ntwo", "newText": "new"}, {"oldText": "\nthree", "newText": ""}]},
    ],
)
async def test_content_in_the_input_is_compared_too(cwd: Path, shown: dict[str, Any]):
    async with playing(cwd) as agent:
        for content, is_shown in (("other\n", False), ("new\n", True)):
            await agent.ask(title="Edit", kind="edit", rawInput={"path": str(cwd / "a.txt"), **shown})
            await agent.write("a.txt", content)
            if is_shown:
                assert await agent.is_served()
            else:
                await agent.is_asked_about()


async def test_a_link_leads_a_permission_nowhere_else(cwd: Path):
    (cwd / "b.txt").write_text("b")
    (cwd / "link").symlink_to("a.txt")
    async with playing(cwd) as agent:
        await agent.ask_edit("link", None, "new\n")
        (cwd / "link").unlink()
        (cwd / "link").symlink_to("b.txt")
        await agent.write("link", "new\n")
        await agent.is_asked_about()
        await agent.write("a.txt", "new\n")  # that is the file which the link led to when the user allowed it
        assert await agent.is_served()
    assert (cwd / "b.txt").read_text() == "b"


@pytest.mark.parametrize("path", ["A.txt", "b.txt", "sub/a.txt", "a.txt "])
async def test_another_file_is_asked_about(cwd: Path, path: str):
    (cwd / "sub").mkdir()
    async with playing(cwd) as agent:
        await agent.ask_edit("a.txt", None, "new\n")
        await agent.write(path, "new\n")
        assert (await agent.is_asked_about()).note == WRITES
    assert not (cwd / path).exists()


async def test_what_was_allowed_ends_with_its_turn(cwd: Path):
    async with in_session(cwd) as (session, wire):
        async with in_turn(session, wire):
            agent = Played(session, wire, cwd)
            await agent.ask_edit("a.txt", None, "new\n")
            await agent.ask_run("true")
        await until(session, lambda: session.conversation.is_idle)
        await agent.write("a.txt", "new\n")
        await agent.is_asked_about()
        async with in_turn(session, wire):
            await agent.run("true")
            await agent.is_asked_about()


async def test_canceling_takes_back_what_was_allowed(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_run("touch made")
        agent.session.cancel()
        await agent.wire.expect("session/cancel")
        await agent.run("touch", "made")
        assert "withdrawn" in (await agent.wire.receive())["error"]["message"]
    assert not (cwd / "made").exists()


async def test_what_was_allowed_between_turns_holds_until_the_next(cwd: Path):
    async with in_session(cwd) as (session, wire):
        agent = Played(session, wire, cwd)
        await agent.ask_edit("a.txt", None, "new\n")
        await agent.write("a.txt", "new\n")
        assert await agent.is_served()


async def test_a_call_that_changes_once_it_is_allowed_allows_what_it_was(cwd: Path):
    async with playing(cwd) as agent:
        await agent.ask_run("true")
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "call", "rawInput": {"command": "touch made"}}
        note = {"sessionId": "s1", "update": update}
        await agent.wire.send({"jsonrpc": "2.0", "method": "session/update", "params": note})
        await agent.run("touch", "made")
        assert "You allowed another command in this turn: true" in ((await agent.is_asked_about()).note or "")


SAME = [
    ("touch made", "touch", ["made"]),
    ("touch made", "touch made", []),
    ("touch 'made'", "touch", ["made"]),
    (["touch", "made"], "touch", ["made"]),
    (["touch", "made"], "touch made", []),
    ("true && touch made", "true && touch made", []),
    ("true && touch made", "sh", ["-c", "true && touch made"]),
    ("true && touch made", "/bin/bash", ["-lc", "true && touch made"]),
    ("sh -c 'true && touch made'", "true && touch made", []),
    ("sh -c 'true && touch made'", "sh", ["-c", "true && touch made"]),
    (["bash", "-lc", "true; touch made"], "sh", ["-c", "true; touch made"]),
    ("  touch made\n", "touch made", []),
]


@pytest.mark.parametrize(("line", "command", "args"), SAME)
async def test_a_command_that_the_user_allowed_runs_once(
    cwd: Path, line: str | list[str], command: str, args: list[str]
):
    async with playing(cwd) as agent:
        await agent.ask_run(line)
        for is_first in (True, False):
            created = await agent.run(command, *args)
            if not is_first:
                assert (await agent.is_asked_about()).note == RUNS
                break
            response = await agent.wire.receive()
            assert (response["id"], "result" in response) == (created, True)
            await agent.send("terminal/wait_for_exit", **response["result"])
            await agent.wire.receive()
    assert (cwd / "made").exists()


OTHER = [
    ("touch made", "touch", ["made", "too"]),
    ("touch made", "Touch", ["made"]),
    ("touch made", "touch made; true", []),
    ("echo '; touch made'", "echo ; touch made", []),
    ("echo ';' touch made", "echo ; touch made", []),
    (["echo", "$(touch made)"], "echo $(touch made)", []),
    ("echo '$(touch made)'", "echo $(touch made)", []),
    ("rm -f x # made", "rm", ["-f", "x", "#", "made"]),
    ("true && touch made", "true", ["&&", "touch", "made"]),
    ("true", "./sh", ["-c", "true"]),
    ("true", "sh", ["-c", "true", "made"]),
    ("true", "sh", ["-x", "-c", "true"]),
    ("true", "env", ["true"]),
    ("true", "/bin/true", []),
    ("touch 'a b'", "touch", ["a", "b"]),
    ("sh made", "sh", ["-c", "made"]),
    ("touch x", "touch x\u00a0", []),
    ("touch x", "touch x\r", []),
]


@pytest.mark.parametrize(("line", "command", "args"), OTHER)
async def test_a_command_with_other_words_is_asked_about_and_the_allowed_one_is_named(
    cwd: Path, line: str | list[str], command: str, args: list[str]
):
    async with playing(cwd) as agent:
        await agent.ask_run(line)
        await agent.run(command, *args)
        request = await agent.is_asked_about()
    assert f"{UNLIKE.replace('write', 'run')}\nYou allowed another command in this turn: " in (request.note or "")
    assert options(request) == ONCE
    assert not (cwd / "made").exists()


async def test_the_title_is_the_command_where_the_card_shows_no_other(cwd: Path):
    async with playing(cwd) as agent:
        for title in ("`true a`", "Run `true a`", "true a"):
            await agent.ask(title=title, kind="execute")
            await agent.run("true", "a")
            assert await agent.is_served()
        await agent.ask(title="true a", kind="other")
        await agent.run("true", "a")
        await agent.is_asked_about()


async def test_a_command_elsewhere_or_with_variables_that_load_code_is_asked_about(cwd: Path):
    (cwd / "sub").mkdir()
    async with playing(cwd) as agent:
        await agent.ask_run("true")
        await agent.run("true", cwd=str(cwd / "sub"))
        assert f"in another folder: {cwd}" in ((await agent.is_asked_about()).note or "")
        await agent.run("true", env=[{"name": "NODE_OPTIONS", "value": "-r ./x"}])
        assert "variables that decide what runs" in ((await agent.is_asked_about()).note or "")
        for shown, folder in (({"cwd": str(cwd / "sub")}, "sub"), ({"cwd": "sub"}, "sub"), ({}, ".")):
            await agent.ask_run("true", **shown)
            await agent.run("true", cwd=str(cwd / folder), env=[{"name": "CLAUDECODE", "value": "1"}])
            assert await agent.is_served()
