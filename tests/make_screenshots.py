"""Makes the pictures in screenshots/: `python tests/make_screenshots.py`. With --check, only lists outdated ones.

Most are what `acp-tui render` makes of the scripted agent, with what a user would have done; those of
the inspector and of a replay show a recording of it, and `demo` plays one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import escape
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import anyio
from rich.cells import cell_len
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.app import App
from textual.color import Color
from textual.pilot import Pilot
from textual.strip import Strip

from acp_tui.client.sessions.session import Session
from acp_tui.client.worktrees import Worktree
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import TurnUsage, Usage
from acp_tui.conversation.updates import PromptSent, TerminalExit, TurnEnded, TurnFailed, UsageReported
from acp_tui.ui.base.app import FONTS
from acp_tui.ui.kit.themes import LIGHT
from acp_tui.ui.replay.demo_recording import DemoUser, record_demo, without_durations
from acp_tui.ui.replay.panel import RecordedPanel
from acp_tui.ui.replay.player import Speed, Spot, moment_of
from acp_tui.ui.replay.render import View, open_studio, picture_of, timeline_of_demo
from acp_tui.ui.replay.screen import ReplayApp
from acp_tui.ui.replay.timeline import Timeline, open_playable
from acp_tui.ui.tab.screen import SessionScreen
from acp_tui.ui.tab.several import Compared, CompareDialog
from acp_tui.ui.tab.tab import Tab
from acp_tui.workbench.inspect.inspection import inspect_file
from acp_tui.workbench.inspector.screen import InspectApp
from support.folding import ask, call, chunk
from support.screens import RecordedConnection, ScreenApp, new_session, rows, settled
from support.waiting import TEST_LIMIT_S, until

SCREENSHOTS: Final = Path(__file__).parents[1] / "screenshots"
SIZE: Final = (100, 40)
"""Narrow enough to read in a page's width."""
TALL: Final = (100, 50)
"""Tall enough for what belongs together: the diff, the tests, and the plan; the card with the whole diff."""
LOW: Final = (100, 34)
WIDE: Final = (112, 28)
PROMPT: Final = "The tests of durations.py fail. Find out why and fix it."
FILM_SIZE: Final = (80, 26)
CUT_S: Final = 0.3
"""Events within this time are one frame of the film, because it repeats each row that differs."""
END_S: Final = 2.0
"""How long the last frame stays."""
ACTION_S: Final = 1.0
FRAME_S: Final = 0.04
DECISION_S: Final = 2.4
"""Made-up times in a recording: from one frame to the next, and until the user has decided."""
BEGAN: Final = datetime(2026, 11, 21, 9, 30).astimezone().isoformat()
"""Half past nine, in any time zone."""
Pictures = dict[str, str]
"""SVG by name."""


def focus_card(panel: RecordedPanel) -> None:
    """The user goes to the question."""
    panel.screen.set_focus(panel.card)


@dataclass(frozen=True)
class Shot:
    """A picture, and what the user does before it's taken."""

    view: View
    do: Callable[[RecordedPanel], object] = lambda _: None


@dataclass(frozen=True)
class Take:
    """What is played, and the pictures made of it."""

    scenario: str
    prompt: str
    shots: dict[str, Shot]


TAKES: Final = (
    Take(
        "coding",
        PROMPT,
        {
            "coding": Shot(View(Spot(text="8 passed"), TALL), lambda panel: panel.toggle_plan()),
            "permission": Shot(View(Spot(is_question=True), TALL), focus_card),
            "light": Shot(View(size=SIZE, theme=LIGHT.name)),
            "small": Shot(View(Spot(is_question=True), (80, 24)), focus_card),
            "narrow": Shot(View(Spot(is_question=True), (40, 24)), focus_card),
        },
    ),
    Take("terminal", "Update everything, then build.", {"terminal": Shot(View(size=SIZE))}),
    Take(
        "markdown",
        "Show me what you can do with Markdown.",
        {"markdown": Shot(View(size=TALL), lambda panel: panel.view.action_page(-1))},
    ),
)


async def take_all() -> Pictures:
    """Every picture."""
    pictures = {}
    for take in TAKES:
        async with timeline_of_demo(take.scenario, DemoUser((take.prompt,)), SIZE) as timeline:
            for name, shot in take.shots.items():
                pictures[name] = await taken(timeline, shot)
    of_tabs = {"sessions": await take_sessions(), "comparison": await take_comparison()}
    return pictures | await take_recording() | of_tabs | {"demo": await take_film()}


async def taken(timeline: Timeline, shot: Shot) -> str:
    """The picture of this moment, after the user has done something."""
    view = shot.view
    moment = timeline.length if view.at is None else moment_of(timeline, view.at)
    assert moment is not None
    async with open_studio(timeline, view.size, view.theme) as studio:
        await studio.show(moment)
        assert studio.panel is not None
        shot.do(studio.panel)
        await studio.settle()
        return studio.svg


async def take_recording() -> Pictures:
    """The part of a recording to show."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "coding.jsonl")
        await record_demo("coding", DemoUser((PROMPT,)), file, screen=LOW)
        make_timeless(file)
        inspector = InspectApp(inspect_file(file), file)
        with open_playable(file) as recording:
            timeline = Timeline(recording, edit=without_durations)
            replay = ReplayApp(timeline, pace=Speed(speed=0), until=Spot(is_question=True))
            return {
                # To the permission request, then to what precedes and follows it.
                "inspector": await shown(
                    inspector, ("slash", *"request_permission", "enter"), " 2 shown", ("x",), "129 frames"
                ),
                "replay": await shown(replay, (), "chosen after", ("+", "+", "+"), "×1"),
            }


WORKERS: Final = (
    ("Claude", "parser", "Rewrite the parser", (call("p", title="Edit parser.py", kind="edit", status="in_progress"),)),
    (
        "Codex",
        "docs",
        "Document every option",
        (ask(1, "d", title="Run a command", kind="execute", raw_input={"command": "git push --force origin docs"}),),
    ),
    ("Gemini", "speed", "Halve the start time", (TurnEnded("end_turn"),)),
    ("opencode", "tests", "Test the error paths", (call("t", title="Run the tests", kind="execute"),)),
    ("Qwen", "types", "Add types to the API", (TurnFailed("The model is overloaded"),)),
)
"""Agents on worktrees of one repository: name, worktree, prompt, and the last that happened."""


async def take_sessions() -> str:
    """The sessions dialog, with five agents at work on five worktrees."""
    app, connections = ScreenApp(), [RecordedConnection() for _ in WORKERS]
    async with app.run_test(size=WIDE, notifications=False) as pilot:
        sessions = [
            await _open_tab(pilot, agent, Path("/work/durations.worktrees", worktree), prompt, connection)
            for (agent, worktree, prompt, _), connection in zip(WORKERS, connections, strict=True)
        ]
        await app.tabs.go_to(next(iter(app.tabs)))
        await settled(pilot)
        for session, (*_, happened) in zip(sessions, WORKERS, strict=True):
            for update in happened:
                session.apply(update)
        await settled(pilot)
        await pilot.press("f3")
        await until(partial(_is_seen, pilot, "Tab to answer"), pilot.pause, partial(str, "the sessions"))
        await settled(pilot)
        return picture_of(app)


async def _open_tab(pilot: Pilot[Any], agent: str, cwd: Path, prompt: str, connection: RecordedConnection) -> Session:
    """Show a session with this prompt in a tab: in the first one, or in a new one."""
    app = pilot.app
    assert isinstance(app, ScreenApp)
    first = next(iter(app.tabs))
    if first.session is not None:
        await app.tabs.open(Tab(None, cwd, clock=app.clock))
    session = new_session(PromptSent((Text(prompt),)), connection=connection)
    session.cwd = cwd
    screen = app.screen
    assert isinstance(screen, SessionScreen)
    screen.tab.cwd = cwd
    await screen.tab.show(session, agent)
    await settled(pilot)
    return session


CONTENDERS: Final = (
    ("Claude", "All 8 tests pass now.", 83, 0.31, 48_200, "2 files +41 -12", 0),
    ("Codex", "I fixed how hours are read.", 19, 0.12, 21_900, "1 file +9 -3", 1),
    ("opencode", "The parser and its tests are fixed.", 47, 0.09, 63_400, "3 files +58 -20", 0),
)
"""Who got the prompt: last message, seconds after the one before, cost, tokens, changes, exit status of the tests."""


async def take_comparison() -> str:
    """What three agents made of one prompt, on three worktrees."""
    app = ScreenApp()
    async with app.run_test(size=WIDE, notifications=False) as pilot:
        compared = []
        for name, *_, changes, code in CONTENDERS:
            cwd = Path("/work/durations.worktrees", name.lower())
            session = await _open_tab(pilot, name, cwd, PROMPT, RecordedConnection())
            session.apply(UsageReported(Usage(0, 0, 0.0, "USD")))
            setattr(session.commands, "run_to_end", partial(_end, code))  # noqa: B010 - mypy knows the method
            tab = app.tabs.front
            assert tab is not None
            setattr(tab, "changes", SimpleNamespace(summary=partial(str, changes)))  # noqa: B010
            branch = f"acp-tui/{name.lower()}"
            compared.append(Compared(Worktree(str(cwd), str(cwd), "/work/durations", branch, ""), (tab,)))
        for (_, (tab,)), (_, said, seconds, cost, tokens, *_) in zip(compared, CONTENDERS, strict=True):
            app.clock.now_s += seconds
            assert tab.session is not None
            tab.session.apply(chunk("agent", said))
            tab.session.apply(UsageReported(Usage(tokens, 200_000, cost, "USD")))
            tab.session.apply(TurnEnded("end_turn", usage=TurnUsage(tokens, tokens, 0)))
        await app.push_screen(CompareDialog(compared, app.tabs.listeners, "pytest -q", {}))
        await until(partial(_is_seen, pilot, "exit 1"), pilot.pause, partial(str, "the comparison"))
        await until(lambda: not _is_seen(pilot, "running"), pilot.pause, partial(str, "the last test"))
        await settled(pilot)
        return picture_of(app)


async def _end(code: int, _line: str) -> TerminalExit:
    return TerminalExit(code, None)


async def take_film() -> str:
    """The animated picture: a whole turn, at a readable pace."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "coding.jsonl")
        await record_demo("coding", DemoUser((PROMPT,)), file, screen=FILM_SIZE)
        make_timeless(file, pause_s=ACTION_S)
        with open_playable(file) as recording:
            timeline = Timeline(recording, edit=without_durations)
            await anyio.to_thread.run_sync(timeline.read_on)
            async with open_studio(timeline, FILM_SIZE) as studio:
                frames = []
                for at_s, moment in _cuts(timeline.events.times):
                    await studio.show(moment)
                    frames.append(MovingFrame(at_s, tuple(studio.strips)))
                return moving_svg(frames, FILM_SIZE, colors_of(studio.app), frames[-1].at_s + END_S)


def _cuts(times: Sequence[float]) -> Iterator[tuple[float, int]]:
    """Which moment to show at which time of the film. The last is the end."""
    pace, film_s, cut_s = Speed(), 0.0, 0.0
    for moment, (before_s, at_s) in enumerate(pairwise((times[0], *times))):
        film_s += pace.wait_s(at_s - before_s)
        if film_s - cut_s >= CUT_S:
            yield cut_s, moment  # before this event
            cut_s = film_s
    yield cut_s, len(times)


def make_timeless(file: Path, pause_s: float = 0.0) -> None:
    """Give a recording's frames times that are the same on every machine.

    There is a pause before and after a command's output, which becomes one piece, since its pieces differ each time.
    """
    header, *events = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    now, lines = 0.0, [{**header, "started_at": BEGAN}]
    output = ""
    for event in events:
        if event["type"] == "terminal_output":
            output += event["text"]
            continue
        if event["type"] == "terminal_exited":
            named = {name: event[name] for name in ("session", "terminal_id")}
            now += pause_s
            lines.append({"t": round(now, 3), "type": "terminal_output", **named, "text": output})
            now, output = now + pause_s, ""
        lines.append({**event, "t": round(now, 3)})
        if event["type"] in ("in", "out"):
            is_question = event["frame"].get("method") == "session/request_permission"
            now += DECISION_S if is_question else FRAME_S
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


async def shown(app: App[Any], *steps: tuple[str, ...] | str) -> str:
    """The picture of an app after these steps: keys to press, and what must show before the next."""
    with anyio.fail_after(TEST_LIMIT_S):
        async with app.run_test(size=LOW, notifications=False) as pilot:
            for step in steps:
                if isinstance(step, tuple):
                    await settled(pilot)
                    await pilot.press(*step)
                    continue
                is_seen = partial(_is_seen, pilot, step)
                await until(is_seen, pilot.pause, partial(str, step))
            await settled(pilot)
            return picture_of(app)


def _is_seen(pilot: Pilot[Any], text: str) -> bool:
    return any(text in row.text for row in rows(pilot))


# The film, an animated SVG of painted screens: it plays in browsers without a script


SVG_CELL: Final = 12.2
ROW: Final = 24.4
BASELINE: Final = 18.6
MARGIN: Final = 12

Span: TypeAlias = tuple[float, float]
"""Start and end in seconds."""


@dataclass(frozen=True, slots=True)
class MovingFrame:
    """A screen, and when it appears."""

    at_s: float
    strips: Sequence[Strip]


def moving_svg(frames: Sequence[MovingFrame], size: tuple[int, int], theme: TerminalTheme, end_s: float) -> str:
    """Return the animated picture; `end_s` is when it starts over."""
    columns, rows = size
    width, height = columns * SVG_CELL + 2 * MARGIN, rows * ROW + 2 * MARGIN
    classes: dict[str, str] = {}
    spans: defaultdict[Span, list[str]] = defaultdict(list)
    for y in range(rows):
        for span, strip in _stretches(frames, y, end_s):
            spans[span].append("".join(_drawn(strip, y, theme, classes)))
    groups = []
    for index, (span, drawn) in enumerate(spans.items()):
        moves = "" if span == (0.0, end_s) else f' class="t{index}"'
        groups.append(f"<g{moves}>{''.join(drawn)}</g>")
    style = "\n".join((*_style_sheet(classes), *_animations(list(spans), end_s)))
    background = theme.background_color.hex
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">\n<style>\n{style}\n</style>\n'
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{background}"/>\n'
        f'<g transform="translate({MARGIN},{MARGIN})">\n' + "\n".join(groups) + "\n</g>\n</svg>\n"
    )


def _stretches(frames: Sequence[MovingFrame], y: int, end_s: float) -> Iterator[tuple[Span, Strip]]:
    """The successive contents of a row, each with its time span."""
    since_s, strip = 0.0, frames[0].strips[y]
    for frame in frames[1:]:
        if frame.strips[y] != strip:
            yield (since_s, frame.at_s), strip
            since_s, strip = frame.at_s, frame.strips[y]
    yield (since_s, end_s), strip


def _drawn(strip: Strip, y: int, theme: TerminalTheme, classes: dict[str, str]) -> Iterator[str]:
    x, background = 0, theme.background_color.hex
    for text, style, _ in strip:
        cells, style = cell_len(text), style or Style()
        fill, ink, look = _colors(style, theme)
        left, width = x * SVG_CELL, cells * SVG_CELL
        if fill != background:
            yield f'<rect x="{left:g}" y="{y * ROW:g}" width="{width:g}" height="{ROW + 0.3:g}" fill="{fill}"/>'
        if visible := text.strip():
            start = left + cell_len(text[: len(text) - len(text.lstrip())]) * SVG_CELL
            name = classes.setdefault(f"fill:{ink}{look}", f"c{len(classes)}")
            length, base = cell_len(visible) * SVG_CELL, y * ROW + BASELINE
            content = escape(visible, quote=False).replace(" ", "\N{NO-BREAK SPACE}")
            yield f'<text class="{name}" x="{start:g}" y="{base:g}" textLength="{length:g}">{content}</text>'
        x += cells


def _colors(style: Style, theme: TerminalTheme) -> tuple[str, str, str]:
    """The background color, the text color, and further text styles, as CSS."""
    ink = theme.foreground_color if style.color is None else style.color.get_truecolor(theme)
    fill = theme.background_color if style.bgcolor is None else style.bgcolor.get_truecolor(theme)
    if style.reverse:
        ink, fill = fill, ink
    look = ";font-weight:bold" if style.bold else ""
    look += ";font-style:italic" if style.italic else ""
    look += ";text-decoration:underline" if style.underline else ""
    look += ";text-decoration:line-through" if style.strike else ""
    return fill.hex, ink.hex, look


def _style_sheet(classes: dict[str, str]) -> Iterator[str]:
    yield f"text{{font:20px {FONTS};white-space:pre}}"
    yield from (f".{name}{{{css}}}" for css, name in classes.items())


def _animations(spans: Sequence[Span], end_s: float) -> Iterator[str]:
    for index, (start_s, stop_s) in enumerate(spans):
        if (start_s, stop_s) == (0.0, end_s):
            continue
        hidden, visible = "visibility:hidden", "visibility:visible"
        start, stop = (f"{100 * at_s / end_s:.4g}%" for at_s in (start_s, stop_s))
        before = "" if start == "0%" else f"0%{{{hidden}}}"
        behind = "" if stop_s == end_s else f"{stop}{{{hidden}}}"
        last = visible if stop_s == end_s else hidden
        yield f"@keyframes k{index}{{{before}{start}{{{visible}}}{behind}}}"
        yield f".t{index}{{{last};animation:k{index} {end_s:g}s step-end infinite}}"
    yield "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"


def colors_of(app: App[object]) -> TerminalTheme:
    """The color values of the app's theme, with the screen's background."""
    background = Color.parse(app.theme_variables["background"]).rgb
    foreground = Color.parse(app.theme_variables["foreground"]).rgb
    ansi = app.ansi_theme.ansi_colors
    return TerminalTheme(background, foreground, [ansi[number] for number in range(16)])


def stale(pictures: Pictures) -> list[str]:
    """The names of pictures that differ from those in screenshots/, or exist only there."""
    kept = {path.stem: path.read_text(encoding="utf-8") for path in SCREENSHOTS.glob("*.svg")}
    return sorted(name for name in kept | pictures if kept.get(name) != pictures.get(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make or check the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description="Take the pictures in screenshots/.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where some are stale")
    is_check = parser.parse_args(arguments).check
    pictures = asyncio.run(take_all())
    names = stale(pictures)
    for name in names:
        sys.stdout.write(f"{name}.svg {'is stale' if is_check else 'is written'}\n")
        if not is_check and name in pictures:
            (SCREENSHOTS / f"{name}.svg").write_text(pictures[name], encoding="utf-8")
    return 1 if is_check and names else 0


if __name__ == "__main__":
    sys.exit(main())
