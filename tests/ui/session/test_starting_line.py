"""What an empty tab shows while its agent starts."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.screen import ModalScreen

from acp_tui.ui.session.status_line import StartingLine
from support.desks import SESSION, Desk, OpenDesk

IDLE = "serve_until_closed()"


class Starting(App[None]):
    """Only the line, at a time set by the test."""

    now = 10.0

    def compose(self) -> ComposeResult:
        yield StartingLine("demo", lambda: self.now, lambda: ())


async def test_it_names_the_agent_and_its_phase_and_after_a_while_how_long_it_takes() -> None:
    app = Starting()
    async with app.run_test():
        line = app.query_one(StartingLine)
        assert str(line.content) == "acp-tui\nStarting demo"
        line.show_phase("initializing")
        assert str(line.content) == "acp-tui\nStarting demo · initializing"
        app.now += 4.2
        line.tell()
        assert str(line.content) == "acp-tui\nStarting demo · initializing · 0:04"


@pytest.mark.parametrize("phase", ["", "opening a session"])
async def test_the_time_in_which_the_user_is_asked_something_does_not_count(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Starting()
    async with app.run_test():
        line = app.query_one(StartingLine)
        line.show_phase(phase)
        app.now += 60.0
        line.tell()
        assert "It has printed nothing." in str(line.content)
        dialog, drawn = ModalScreen[None](), list[object]()
        await app.push_screen(dialog)
        monkeypatch.setattr(dialog, "refresh", lambda *regions, **_: drawn.extend(regions))
        app.now += 60.0
        line.tell()
        assert line.region in drawn, "it is seen under the dialog"
        assert str(line.content).endswith(f"Starting demo{' · ' * bool(phase)}{phase}")
        app.pop_screen()
        line.show_phase("initializing")
        app.now += 4.2
        line.tell()
        assert str(line.content) == "acp-tui\nStarting demo · initializing · 0:04"


async def test_it_may_be_told_more_when_it_is_gone() -> None:
    app = Starting()
    async with app.run_test():
        line = app.query_one(StartingLine)
        await line.remove()
        line.show_phase("starting")


async def test_it_stands_there_until_there_is_a_session(open_desk: OpenDesk) -> None:
    async with open_desk('expect("initialize")', IDLE) as desk:
        await desk.shows("Starting scripted · initializing")
        row = _row_of_the_name(desk)
    async with open_desk(SESSION, IDLE) as desk:
        await desk.has_session()
        assert "Starting" not in desk.text
        assert not desk.pilot.app.screen.query(StartingLine)
        assert _row_of_the_name(desk) == row, "the name moves when the session begins"


def _row_of_the_name(desk: Desk) -> int:
    return next(at for at, line in enumerate(desk.lines) if "acp-tui" in line)


async def test_what_is_no_message_is_shown_at_once_and_escape_stops_the_agent(open_desk: OpenDesk) -> None:
    junk = 'sys.stdout.write("Welcome \\x1b[31mto me\\n"); sys.stdout.flush(); sys.stdin.read()'
    async with open_desk(f"import sys; {junk}", IDLE) as desk:
        await desk.shows("(not JSON): Welcome")
        assert "to me" in desk.text
        assert "Esc stops it" in desk.text
        await desk.press("escape")
        await desk.shows("You stopped scripted while it started")


async def test_a_question_without_a_line_end_is_shown_too(open_desk: OpenDesk) -> None:
    junk = 'sys.stdout.write("Log in? [y/N] "); sys.stdout.flush(); sys.stdin.read()'
    async with open_desk(f"import sys; {junk}", IDLE) as desk:
        await desk.shows("Log in? [y/N]")
        await desk.press("escape")
        await desk.shows("You stopped scripted while it started")
        assert "Log in? [y/N]" in desk.text


async def test_escape_also_stops_an_agent_that_opens_no_session(open_desk: OpenDesk) -> None:
    script = 'sys.stdout.write("Wait\\n"); handshake(); expect("session/new"); serve_until_closed()'
    async with open_desk(f"import sys; {script}", IDLE) as desk:
        await desk.shows("opening a session")
        await desk.shows("Esc stops it")
        await desk.press("escape")
        await desk.shows("while it started")


async def test_silence_is_told_after_a_few_seconds() -> None:
    app = Starting()
    async with app.run_test():
        line = app.query_one(StartingLine)
        app.now += 4.9
        line.tell()
        assert not line.offers_to_stop
        app.now += 0.1
        line.tell()
        assert str(line.content).endswith(" · 0:05 · Esc stops it\n  It has printed nothing.")
