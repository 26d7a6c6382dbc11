"""Draws a permission request: what the agent wants to do, whole, and the answers it offers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.tool_calls import BlockContent, TextDiff, ToolCall, ToolCallContent
from acp_tui.conversation.unset import UNSET
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.drawings.blocks import block_label
from acp_tui.ui.drawings.drawing import Joined
from acp_tui.ui.drawings.places import shown_location, shown_path
from acp_tui.ui.rendering.diff import DiffRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import plain_lines
from acp_tui.ui.rendering.wrapping import wrap

KIND_WORDS: Final[Mapping[str, str]] = {
    "allow_once": "allows this once",
    "allow_always": "allows this and will not ask again",
    "reject_once": "refuses this once",
    "reject_always": "refuses this and will not ask again",
}


def title_lines(call: ToolCall, waiting: int, palette: Palette, width: int) -> list[Strip]:
    """What it is about; `waiting` is how many requests there are."""
    queue = f"1 of {waiting}  " if waiting > 1 else ""
    spans = [
        ("Permission  ", palette.warning + Style(bold=True)),
        (queue, palette.muted),
        (make_visible_line(call.shown_title), palette.strong),
    ]
    return wrap(spans, width)


def subject_lines(call: ToolCall, cwd: str, palette: Palette, width: int) -> Sequence[Strip]:
    """What would be done: every diff and text whole, or the raw input where there is nothing else."""
    shown = {item.path for item in call.content if isinstance(item, TextDiff)}
    places = [shown_location(location, cwd) for location in call.locations if location.path not in shown]
    runs: list[Sequence[Strip]] = [
        wrap([(f"at {make_visible_line(place)}", palette.muted)], width) for place in places
    ]
    runs += [_content_lines(item, cwd, palette, width) for item in call.content]
    if not call.content:
        runs.append(_input_lines(call, palette, width))
    return Joined(*runs)


def _content_lines(item: ToolCallContent, cwd: str, palette: Palette, width: int) -> Sequence[Strip]:
    match item:
        case TextDiff(path, new_text, old_text):
            return DiffRenderer(shown_path(path, cwd), old_text, new_text).lines(width, palette)
        case BlockContent(block):
            return plain_lines(block_label(block), width, palette.text)
        case _:
            return []


def _input_lines(call: ToolCall, palette: Palette, width: int) -> list[Strip]:
    if call.raw_input is UNSET:
        return wrap([("what it would do exactly is not reported by the agent", palette.muted)], width)
    text = json.dumps(call.raw_input, ensure_ascii=False, indent=2, default=str)
    return plain_lines(make_visible(text), width, palette.code)


def option_lines(
    options: Sequence[PermissionOption], chosen: int | None, palette: Palette, width: int
) -> list[list[Strip]]:
    """The lines of each option: the agent's own name for it, and what its kind means."""
    return [
        _option(number, option, chosen == number, palette, width) for number, option in enumerate(options)
    ]


def _option(
    number: int, option: PermissionOption, is_chosen: bool, palette: Palette, width: int
) -> list[Strip]:
    style = palette.error if option.is_rejection else palette.success
    word = KIND_WORDS.get(
        option.kind, f"of a kind that acp-tui does not know: {make_visible_line(option.kind)}"
    )
    spans = [
        ("❯ " if is_chosen else "  ", palette.accent),
        (f"{number + 1}  ", palette.muted),
        (make_visible_line(option.name), style + Style(bold=is_chosen)),
        (f"  {word}", palette.muted),
    ]
    return wrap(spans, width)
