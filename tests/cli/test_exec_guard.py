"""What the permission desk accepts as an answer, on a terminal that the test types on."""

from __future__ import annotations

import os
import pty
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.cli import permissions
from acp_tui.cli.permissions import PermissionPrompter
from acp_tui.cli.terminal import GUARD_S, LineTerminal, has_typed
from acp_tui.conversation.tool_calls import ToolCallId
from support.agents import asked, in_session, in_turn, until

CHOICE = "Your choice: "


@dataclass
class Asking:
    """A desk with an open question, and its surroundings."""

    master: int
    slave: int
    session: Any = None
    typed_in_the_guard: list[str] = field(default_factory=list)
    """One piece for each time that the guard waits."""
    slept: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Replaces the guard's time; the user types meanwhile."""
        self.slept.append(seconds)
        if self.typed_in_the_guard:
            os.write(self.master, self.typed_in_the_guard.pop(0).encode())
            while not has_typed(self.slave):  # it has passed through the terminal
                await anyio.lowlevel.checkpoint()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Records when output was held back."""
        self.held.append(True)
        yield
        self.held.append(False)

    async def shows(self, text: str) -> str:
        """What the terminal shows, up to `text`."""
        shown = ""
        while text not in shown:
            await anyio.wait_readable(self.master)
            shown += os.read(self.master, 4096).decode()
        return shown

    def type(self, text: str) -> None:
        """Type it."""
        os.write(self.master, text.encode())


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    master, slave = pty.openpty()
    monkeypatch.setattr(permissions, "open_terminal", lambda: LineTerminal(os.dup(slave)))
    yield Asking(master, slave)
    os.close(master)
    os.close(slave)


@asynccontextmanager
async def asked_at_a_desk(cwd: Path, asking: Asking) -> AsyncIterator[Any]:
    """The agent's end of the connection, once its question waits."""
    async with (
        in_session(cwd) as (session, wire),
        in_turn(session, wire),
        anyio.create_task_group() as tasks,
    ):
        asking.session = session
        desk = PermissionPrompter(session, tasks, lambda _: None, asking.hold, asking.sleep)
        await wire.send(asked(7, "first", "second"))
        await until(session, lambda: bool(session.conversation.permissions))
        session.subscribe(lambda _: desk.check_requests())
        desk.check_requests()
        yield wire


async def test_a_line_typed_while_the_question_appears_answers_nothing(asking: Asking, tmp_path: Path) -> None:
    """R-PERM-9."""
    asking.typed_in_the_guard = ["1\n"]
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        asking.type("2\n")
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "second"
    assert asking.slept == [GUARD_S] * 3, "before the question, behind what was typed, and behind the answer"


async def test_the_end_of_a_line_that_began_too_soon_answers_nothing(asking: Asking, tmp_path: Path) -> None:
    asking.typed_in_the_guard = ["step ", "1\n"]
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        asking.type("".join([*asking.typed_in_the_guard, "2\n"]))
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "second"


@pytest.mark.parametrize("behind", ["2", "and the rest of the text\n", "\n"])
async def test_a_line_with_more_behind_it_is_text_and_answers_nothing(
    asking: Asking, tmp_path: Path, behind: str
) -> None:
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        asking.type(f"1\n{behind}")
        assert "Ignored" in await asking.shows(CHOICE)
        asking.type("2\n")
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "second"


async def test_a_call_that_changed_while_the_user_answered_is_shown_anew(asking: Asking, tmp_path: Path) -> None:
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        report = {"sessionUpdate": "tool_call_update", "toolCallId": "call", "title": "rm -rf ~"}
        params = {"sessionId": "s1", "update": report}
        await wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
        call = asking.session.conversation.tool_call(ToolCallId("call")).call
        await until(asking.session, lambda: call.title == "rm -rf ~")
        asking.type("1\n")
        assert "rm -rf ~" in await asking.shows(CHOICE)
        asking.type("2\n")
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "second"


async def test_lines_behind_one_that_is_no_answer_answer_nothing(asking: Asking, tmp_path: Path) -> None:
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        asking.type("yes\n1\n")
        await asking.shows(CHOICE)
        asking.type("2\n")
        assert (await wire.receive())["result"]["outcome"]["optionId"] == "second"


async def test_other_output_is_held_until_the_question_is_answered(asking: Asking, tmp_path: Path) -> None:
    async with asked_at_a_desk(tmp_path, asking) as wire:
        await asking.shows(CHOICE)
        assert asking.held == [True]
        asking.type("1\n")
        await wire.receive()
    assert asking.held == [True, False]
