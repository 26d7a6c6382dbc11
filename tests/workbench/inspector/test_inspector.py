"""The inspector on the screen: what it shows, what its keys do, and that only what is in view is drawn."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot

from acp_tui.client.agents.demo_agent import demo_command
from acp_tui.client.settings.settings import Appearance, Settings
from acp_tui.client.transcript.events import Header
from acp_tui.client.transcript.frame_log import FrameLog
from acp_tui.rpc import Direction
from acp_tui.workbench.inspect.inspection import Inspection, inspect_agent
from acp_tui.workbench.inspector import frame_list
from acp_tui.workbench.inspector.rows import title_of
from acp_tui.workbench.inspector.screen import InspectApp, InspectorScreen, clock_at
from support.screens import Shown, open_agent_page
from support.settling import settle
from support.waiting import TEST_LIMIT_S

TOKEN = "abcdef0123456789"
LINES: Sequence[tuple[Direction | None, Any]] = (
    (Direction.OUT, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
    (None, b"loading models\n"),
    (Direction.IN, {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}),
    (Direction.OUT, {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s"}}),
    (Direction.IN, b"Welcome!"),
    (
        Direction.IN,
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "title": "\x1b[31mEdit"}},
        },
    ),
    (Direction.IN, {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "out of tokens"}}),
    (Direction.IN, {"jsonrpc": "2.0", "id": 3, "method": "_demo/ask", "params": {"token": TOKEN}}),
)


class InspectorPage(Shown):
    """The inspector as its user sees it."""

    def __init__(self, pilot: Pilot[Any], inspection: Inspection, log: FrameLog) -> None:
        super().__init__(pilot)
        self.inspection = inspection
        self.log = log

    async def shows(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.text for text in texts))

    @property
    def status(self) -> str:
        return self.text.splitlines()[-1]


@asynccontextmanager
async def inspecting(
    folder: Path, *, size: tuple[int, int] = (120, 40), settings: Settings | None = None
) -> AsyncIterator[InspectorPage]:
    """The inspector for an agent that has sent all of `LINES`."""
    log = FrameLog("agent")
    for direction, line in LINES:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        if direction is None:
            log.stderr(data)
        else:
            log.tap(direction, data)
    inspection = inspect_agent(log)

    class OverAgent(InspectApp):
        def get_default_screen(self) -> InspectorScreen:
            return InspectorScreen(inspection, "agent")

    app = OverAgent(inspection, folder / "none", settings=settings)
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=size, notifications=True) as pilot:
            page = InspectorPage(pilot, inspection, log)
            await page.shows("_demo/ask (3)", "8 frames")
            yield page


# What shows


async def test_it_shows_what_happened_each_way(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.shows(
            "→ initialize (1)",
            "· stderr  loading models",
            "← response to initialize (1) in",
            "!← no message  Welcome!",
            "← tool_call  ␛[31mEdit",
            "response to session/prompt (2) in",
            "_demo/ask (3) waits",
        )


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 24)])
async def test_the_frame_stands_beside_the_list_or_below_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with inspecting(tmp_path, size=size) as page:
        await page.shows('"method": "_demo/ask"')
        line = next(line for line in page.text.splitlines() if '"method": "_demo/ask"' in line)
        assert line.startswith("  ") == (size[0] < 110)


@pytest.mark.parametrize("started_at", ["", "soon", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_clock_here_can_show_is_left_out(started_at: str) -> None:
    assert title_of("a", Header("a", (), started_at=started_at)).plain == "Inspector · a"
    assert clock_at(started_at, 1.0) == ""


def test_a_recording_beyond_the_calendar_shows_no_time() -> None:
    assert clock_at("9999-12-30T00:00:00+00:00", 10 * 86_400.0) == ""


async def test_it_can_be_drawn_in_ascii(tmp_path: Path) -> None:
    async with inspecting(tmp_path, settings=Settings(appearance=Appearance(ascii=True))) as page:
        await page.shows("> initialize (1)")
        assert all(ord(letter) < 128 for letter in page.text if letter != "␛")


# What keys do


async def test_the_frame_under_the_cursor_is_shown_with_the_rules_that_it_breaks(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("up", "up", "up")
        await page.shows("error A-LINE-1: a line isn't JSON", "Write banners, warnings, and logs to")


async def test_a_frame_is_read_with_the_keys_for_moving(tmp_path: Path) -> None:
    async with inspecting(tmp_path, size=(80, 20)) as page:
        await page.shows("from the agent")
        await page.press("tab", "end")
        await page.shows('"token": "***"')
        assert "from the agent" not in page.text
        await page.press("home")
        await page.shows("from the agent")


async def test_it_is_narrowed_while_one_writes(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("slash", *"init")
        await page.shows("1 shown: init")
        assert "session/prompt" not in page.text
        await page.press("enter", "x")
        await page.shows("session/prompt (2)")


async def test_errors_and_broken_rules_are_a_key_away(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("e")
        await page.shows("2 shown: is:error")
        await page.press("e", "l")
        await page.shows("shown: is:lint")


async def test_what_waits_for_an_answer_is_said_and_found(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        assert "_demo/ask waits" in page.status
        await page.press("o")
        await page.shows("1 shown: is:open")
        page.log.tap(Direction.OUT, b'{"jsonrpc":"2.0","id":3,"result":{}}')
        await page.shows("0 shown: is:open")
        assert "waits" not in page.status


async def test_a_key_leads_from_a_request_to_its_answer_and_back(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("home", "p")
        await page.shows("#2 · ", "response to initialize, #0")
        await page.press("p")
        await page.shows("#0 · ")


async def test_the_end_is_followed_until_one_goes_up(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        assert "following" in page.status
        await page.press("up")
        page.log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_late"}')
        await page.shows("9 frames")
        assert "following" not in page.status
        await page.press("end")
        await page.shows("following", "#8 · ")


async def test_help_lists_the_keys(tmp_path: Path) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("f1")
        await page.shows("In the inspector", "Show only some frames")


# What it costs


@pytest.mark.usefixtures("paints")
async def test_a_flood_draws_no_more_than_the_rows_in_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with inspecting(tmp_path, size=(80, 24)) as page:
        drawn: list[int] = []
        draw = frame_list.row_strip
        monkeypatch.setattr(frame_list, "row_strip", lambda row, *rest: drawn.append(row.position) or draw(row, *rest))
        for number in range(5_000):
            page.log.tap(Direction.IN, b'{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}' % number)
        await page.shows("5,008 frames", "_n")
        await page.until(lambda: page.inspection.checked == 5_008)
        assert len(set(drawn)) < 1_000


@pytest.mark.usefixtures("paints")
async def test_what_has_not_changed_is_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with inspecting(tmp_path) as page:
        await page.press("home")
        await page.shows("#0 · ")
        await page.until(lambda: page.inspection.checked == 8)
        await settle(page.pilot)
        drawn: list[int] = []
        draw = frame_list.row_strip
        monkeypatch.setattr(frame_list, "row_strip", lambda row, *rest: drawn.append(row.position) or draw(row, *rest))
        page.log.tap(Direction.IN, b'{"jsonrpc":"2.0","id":1,"method":"_late"}')
        await page.shows("_late")
        assert set(drawn) - {7} == {8}  # the unanswered request counts its seconds


# Its surroundings


async def test_it_opens_over_a_running_agent_with_what_has_passed(tmp_path: Path) -> None:
    async with open_agent_page(demo_command("coding", 0), tmp_path, size=(120, 40)) as page:
        await page.until(lambda: "Write a prompt" in page.text and "● demo" in page.text)
        await page.pilot.press("alt+i")
        await page.until(lambda: "response to session/new" in page.text)
        await page.pilot.press("escape")
        await page.until(lambda: "Write a prompt" in page.text)


@pytest.mark.usefixtures("paints")
async def test_the_session_below_it_draws_nothing_until_it_is_seen_again(tmp_path: Path) -> None:
    async with open_agent_page(demo_command("coding", 0), tmp_path, size=(120, 40)) as page:
        await page.until(lambda: "Write a prompt" in page.text and "● demo" in page.text)
        session = page.pilot.app.screen
        await page.pilot.press("alt+i")
        await page.until(lambda: "response to session/new" in page.text)
        assert not session.is_current
        await page.pilot.press("escape")
        await page.until(lambda: "Write a prompt" in page.text)
        assert session.is_current


async def test_a_session_is_as_low_as_its_window_became_below_it(tmp_path: Path) -> None:
    async with open_agent_page(demo_command("coding", 0), tmp_path, size=(120, 40)) as page:
        await page.until(lambda: "run a command in" in page.text)
        await page.pilot.press("alt+i")
        await page.until(lambda: "response to session/new" in page.text)
        await page.pilot.resize_terminal(120, 12)
        await page.pilot.press("escape")
        await page.until(lambda: "Write a prompt" in page.text)
        await page.until(lambda: "run a command in" not in page.text)
