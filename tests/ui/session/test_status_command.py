"""A user's command prints a part of the status line, at calm moments, within limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.user_programs import MAX_OUTPUT_BYTES, run_program
from acp_tui.conversation.content import Text
from acp_tui.conversation.updates import PromptSent, Renamed, TurnEnded
from acp_tui.ui.session.user_commands import MAX_CHARACTERS, first_line
from support.desks import Desk
from support.screens import ScreenApp, new_session, show
from support.waiting import LIMIT_S


def _with(argv: Sequence[str]) -> Settings:
    return Settings(appearance=Appearance(status_command=tuple(argv), reduced_motion=True))


@pytest.fixture
def counting(tmp_path: Path) -> list[str]:
    """A command that prints how often it was run, and where."""
    code = (
        "import os, sys; file = open(sys.argv[1], 'a+'); file.write('x'); file.seek(0);"
        "print(); print('run', len(file.read()), os.path.basename(os.getcwd()), os.environ['ACP_TUI_SESSION'])"
    )
    return [sys.executable, "-c", code, str(tmp_path / "runs")]


async def _open(argv: Sequence[str], tmp_path: Path, test: Callable[[Desk, Any], Any]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    app, session = ScreenApp(), new_session()
    session.cwd = folder
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await show(pilot, session)
        desk = Desk(pilot, session, None, app.clock)
        app.use_settings(_with(argv))
        await test(desk, session)


async def _warns(desk: Desk, text: str) -> None:
    await desk.until(lambda: any(text in notice.message for notice in desk.notices))


async def test_the_line_comes_again_when_a_turn_ends(counting: list[str], tmp_path: Path) -> None:
    async def test(desk: Desk, session: Any) -> None:
        await desk.shows("run 1 project s")
        session.apply(PromptSent((Text("go"),)))
        await desk.settled()
        session.apply(TurnEnded("end_turn"))
        await desk.shows("run 2 project s")

    await _open(counting, tmp_path, test)


async def test_the_line_comes_again_when_the_session_is_renamed(counting: list[str], tmp_path: Path) -> None:
    async def test(desk: Desk, session: Any) -> None:
        await desk.shows("run 1 project s")
        session.apply(Renamed("The stars"))
        await desk.shows("run 2 project s")

    await _open(counting, tmp_path, test)


async def test_a_command_that_fails_is_reported_once(tmp_path: Path) -> None:
    async def test(desk: Desk, session: Any) -> None:
        await _warns(desk, "appearance.status_command: sh ended with status 3")

    await _open(["sh", "-c", "echo no; exit 3"], tmp_path, test)


async def test_a_program_in_the_folder_of_the_session_needs_its_full_path(tmp_path: Path) -> None:
    async def test(desk: Desk, session: Any) -> None:
        await _warns(desk, "must be a full path")

    await _open(["./status"], tmp_path, test)


async def test_what_it_prints_is_bounded_in_time_and_size() -> None:
    ran = await run_program(["yes"], {}, LIMIT_S, wants_output=True)
    assert (ran.problem, len(ran.output)) == ("", MAX_OUTPUT_BYTES)
    ran = await run_program(["sh", "-c", "echo a; sleep 60"], {}, 0.2, wants_output=True)
    assert "was ended" in ran.problem


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (b"\n\n  \x1b[31mmain\x1b[0m  \nsecond\n", "main"),
        (b"", ""),
        (b"x" * 500, "x" * (MAX_CHARACTERS - 1) + "…"),
        (b"\x1b]52;c;cm0=\x07a", "a"),
    ],
)
def test_the_first_line_is_shown_without_sequences(output: bytes, line: str) -> None:
    assert first_line(output) == line


def test_hidden_characters_of_the_line_are_made_visible() -> None:
    assert "\u202e" not in first_line("a\u202eb".encode())
