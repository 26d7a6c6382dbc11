"""How the app sends to its terminal: frames in parts, questions after them, and nothing of an answer for the shell."""

import asyncio
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Static

from acp_tui.client.desktop import ANSWER, QUESTION, SURE_QUESTION
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.textual_gaps.driver import ROW_LENGTH, SMALL_ROWS, FramePacer, WatchedFile, draw_rows_again
from acp_tui.ui.textual_gaps.flow_control import FlowControl
from acp_tui.ui.textual_gaps.shown_rows import rows_of
from support.screens import settled
from support.terminals import answers_to, process_on_terminal
from support.waiting import LIMIT_S, until

ROOM = 8 * ROW_LENGTH


def test_a_file_writes_everything_and_says_how_much_that_was() -> None:
    reading, writing = os.openpty()
    flow, text = FlowControl(), "né" * 5_000
    got: list[bytes] = []

    def read() -> None:
        while sum(map(len, got)) < len(text.encode()):
            got.append(os.read(reading, 4_096))

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(writing, "w", encoding="utf-8") as terminal:
        flow.note_sent(len(text))
        WatchedFile(terminal, flow).write(text)
        reader.join(timeout=LIMIT_S)
    os.close(reading)
    assert b"".join(got).decode() == text
    assert flow.has_room(0.0, is_small=False)


def test_a_terminal_that_is_gone_takes_nothing_and_stops_nobody() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        os.close(ours)
        WatchedFile(terminal, FlowControl()).write("a frame")  # in Textual's thread, which others wait for


class _Sent(BaseApp):
    """Shows this many rows of text, and stores what it sends."""

    def compose(self) -> ComposeResult:
        yield Static("\n".join(f"row {number}" for number in range(20)))


async def test_a_frame_goes_to_a_slow_terminal_in_parts_and_all_of_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, flow = _Sent(), FlowControl()
    parts: list[set[int]] = []
    sent: list[set[int]] = []
    room = iter([0.0] + [ROOM] * 1_000)
    monkeypatch.setattr(flow, "room", lambda now_s: next(room))
    terminal = SimpleNamespace(flow=flow, has_input_since=lambda at_s: False)
    monkeypatch.setattr(FramePacer, "terminal", terminal)
    monkeypatch.setattr(App, "_display", lambda self, screen, frame: sent.append(rows_of(frame)))
    async with app.run_test(size=(80, 20)) as pilot:
        sent.clear()
        app.screen.refresh()
        while not parts or not app.pacer.has_room(is_small=False):
            await pilot.pause()
            parts = [rows for rows in sent if rows]
    assert max(map(len, parts)) <= max(SMALL_ROWS, ROOM / ROW_LENGTH)
    assert set().union(*parts) == set(range(20))
    assert max(parts[0]) == 19  # the prompt is below


async def test_what_asks_is_sent_whole_and_first(monkeypatch: pytest.MonkeyPatch) -> None:
    app, flow = _Sent(), FlowControl()
    sent: list[set[int]] = []
    terminal = SimpleNamespace(
        flow=flow, has_input_since=lambda at_s: False, question_behind_all=lambda: 1, lag_s=0.0, questions=0
    )
    monkeypatch.setattr(FramePacer, "terminal", terminal)
    monkeypatch.setattr(App, "_display", lambda self, screen, frame: sent.append(rows_of(frame)))
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(flow, "room", lambda now_s: 0.0)
        app.screen.refresh()
        await pilot.pause()
        sent.clear()
        app.pacer.fence.when_shown("question", app.screen.query_one(Static), lambda at_s: None)
        while not (parts := [rows for rows in sent if rows]):
            await pilot.pause()
        assert parts[0] == set(range(20))
        assert not app.pacer.has_room(is_small=False)  # the rest still waits


class _OneRow(BaseApp):
    """Shows a letter."""

    def compose(self) -> ComposeResult:
        yield Static("a")


@pytest.mark.parametrize("has_typed", [False, True])
async def test_without_room_only_what_may_be_an_echo_is_sent(monkeypatch: pytest.MonkeyPatch, has_typed: bool) -> None:
    app, flow = _OneRow(), FlowControl()
    sent: list[set[int]] = []
    terminal = SimpleNamespace(flow=flow, has_input_since=lambda at_s: has_typed)
    monkeypatch.setattr(FramePacer, "terminal", terminal)
    monkeypatch.setattr(App, "_display", lambda self, screen, frame: sent.append(rows_of(frame)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        sent.clear()
        monkeypatch.setattr(flow, "room", lambda now_s: 0.0)
        app.screen.query_one(Static).update("b", layout=False)
        await settled(pilot)
        assert [rows for rows in sent if rows] == ([{0}] if has_typed else [])


ENDS_ON_KEY = """
import sys
from textual.widgets import Label
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.textual_gaps.flow_control import FlowControl

def waited_for(flow):
    print("waiting", file=sys.__stderr__, flush=True)
    return 1_000

FlowControl.last_answer_s = property(waited_for)

class Demo(BaseApp):
    def compose(self):
        yield Label("begun")

    def on_key(self, event):
        if event.key == "q":
            self.exit()
        else:
            self.query_one(Label).update(f"pressed {event.key}")

Demo().run()
"""


def test_a_terminal_is_asked_after_each_frame_and_the_end_waits_for_its_last_answer(tmp_path: Path) -> None:
    command = (sys.executable, "-c", ENDS_ON_KEY)
    with process_on_terminal([], os.environ, tmp_path, command=command) as screen:

        def questions() -> int:
            return screen.said.count(SURE_QUESTION.encode()) + screen.said.count(QUESTION.encode())

        screen.until(lambda: b"begun" in screen.said)
        assert questions() == 1
        screen.type(answers_to(screen.said))
        screen.type("a")
        screen.until(lambda: b"pressed a" in screen.said and questions() > 1)
        screen.type("q")
        screen.until(lambda: b"waiting" in screen.said)
        answered = 1
        while True:
            screen.type(ANSWER * (owed := questions() - answered))
            answered += owed
            if not screen.read():
                break
        assert screen.process.wait(LIMIT_S) == 0


def test_a_terminal_that_answers_nothing_is_asked_once_and_not_waited_for(tmp_path: Path) -> None:
    command = (sys.executable, "-c", ENDS_ON_KEY)
    with process_on_terminal([], os.environ, tmp_path, command=command) as screen:
        screen.until(lambda: b"begun" in screen.said)
        screen.type("a")
        screen.until(lambda: b"pressed a" in screen.said)
        screen.type("q")
        assert screen.end() == 0
        assert (screen.said.count(SURE_QUESTION.encode()), screen.said.count(QUESTION.encode())) == (1, 0)


def test_the_end_resets_mouse_reports_and_leaves_the_screen_of_the_shell(tmp_path: Path) -> None:
    command = (sys.executable, "-c", ENDS_ON_KEY)
    with process_on_terminal([], os.environ, tmp_path, command=command) as screen:
        screen.until(lambda: b"begun" in screen.said)
        screen.type("\x1b[?2048;2$y")  # it can report the size as input, and the mouse in pixels
        screen.until(lambda: b"\x1b[?1016h" in screen.said)
        screen.type("q")
        assert screen.end() == 0
        assert screen.said.rfind(b"\x1b[?1016l") > screen.said.rfind(b"\x1b[?1016h")
        assert b"\x1b[J" not in screen.said.partition(b"\x1b[?1049l")[2]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that Textual sends to the terminal: none during a batch."""
    rows: list[int] = []

    def display(self: App[None], screen: Screen[None], frame: RenderableType | None) -> None:
        if not self._batch_count:
            rows.extend(rows_of(frame))

    monkeypatch.setattr(App, "_display", display)
    return rows


async def test_a_frame_that_a_batch_drops_is_drawn_when_the_batch_ends(drawn: list[int]) -> None:
    app = _Sent()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        with app.batch_update():
            drawn.clear()
            draw_rows_again(app.screen, range(20))
            assert drawn == []
        await until(lambda: {*drawn} == {*range(20)}, _turn)


async def test_what_changes_during_a_batch_is_drawn_when_it_ends(drawn: list[int]) -> None:
    app = _Sent()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        drawn.clear()
        with app.batch_update():
            app.query_one(Static).refresh(Region(0, 3, 80, 1))
            for _ in range(20):
                await _turn()
            assert drawn == []
        await until(lambda: 3 in drawn, _turn)


async def _turn() -> None:
    """Let the event loop go around, without a message for any widget."""
    await asyncio.sleep(0)
