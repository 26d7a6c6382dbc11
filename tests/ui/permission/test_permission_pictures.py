"""Pictures of the permission card and its full screen. `--snapshot-update` updates them: look at each."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from textual.pilot import Pilot

from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import TextDiff, ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import PermissionAsked, SessionUpdate
from acp_tui.ui.kit.themes import DARK, LIGHT
from support.folding import ask
from support.scenes import EDIT, LONG_DIFF
from support.screens import ScreenApp, new_session, settled, show

ODD_ENDS: Final = TextDiff(
    "/project/odd.py",
    '\tname = "日本語"\n' + "a comment that goes on and on, " * 5 + "\nsame\nnew\nlast",
    '\tname = "中文"\r\n' + "a comment that went on and on, " * 5 + "\nsame\nlast\n",
)
COMMAND: Final = {"command": ["bash", "-lc", "make\nrm -rf build"], "cwd": "/elsewhere", "timeout": 60}
MANY: Final = tuple(
    PermissionOption(f"o{number}", f"Way {number}" + ", in more words than have room here" * (number % 4 == 0), kind)
    for number, kind in enumerate(["allow_once"] * 10 + ["reject_once"] * 2, 1)
)
COMMAND_REQUEST: Final = ask(1, "run", title="Run a script", kind="execute", raw_input=COMMAND)
DIFFS_REQUEST: Final = ask(
    1, "edit", title="Edit three files", kind="edit", content=(ODD_ENDS, EDIT, LONG_DIFF), raw_input={"of": 3}
)
MANY_REQUEST: Final = PermissionAsked(
    PermissionRequest(RequestKey(1), ToolCallId("many"), MANY),
    ToolCallPatch(ToolCallId("many"), title="Edit durations.py", content=(EDIT,)),
)
SIZES: Final = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def _matches(compare: Compare, asked: SessionUpdate, keys: tuple[str, ...], size: str, theme: str = DARK.name) -> bool:
    async def show_request(pilot: Pilot[Any]) -> None:
        await show(pilot, new_session(asked))
        await pilot.press(*keys)
        await settled(pilot)

    return compare(ScreenApp(theme=theme), terminal_size=SIZES[size], run_before=show_request)


@pytest.mark.parametrize(("size", "theme"), [*((size, DARK.name) for size in SIZES), ("80x24", LIGHT.name)])
def test_the_full_screen_looks_as_it_did(size: str, theme: str, snap_compare: Compare) -> None:
    assert _matches(snap_compare, DIFFS_REQUEST, ("tab", "f"), size, theme)


def test_the_full_screen_looks_as_it_did_in_the_terminals_own_colors(snap_compare: Compare) -> None:
    assert _matches(snap_compare, DIFFS_REQUEST, ("tab", "f"), "120x40", "ansi-dark")


def test_the_full_screen_with_the_raw_report_looks_as_it_did(snap_compare: Compare) -> None:
    assert _matches(snap_compare, COMMAND_REQUEST, ("tab", "f", "r"), "80x24", LIGHT.name)


def test_a_command_looks_as_it_did(snap_compare: Compare) -> None:
    assert _matches(snap_compare, COMMAND_REQUEST, ("tab",), "80x24")


def test_many_options_look_as_they_did(snap_compare: Compare) -> None:
    assert _matches(snap_compare, MANY_REQUEST, ("tab", "up"), "80x24")


def test_a_key_that_came_too_early_looks_as_it_did(snap_compare: Compare) -> None:
    assert _matches(snap_compare, COMMAND_REQUEST, ("tab", "1"), "80x24", LIGHT.name)
