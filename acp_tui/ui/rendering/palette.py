"""The styles that text is drawn in. The theme provides their colors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rich.style import Style

from acp_tui.values import dataclass

NO_STYLE: Final = Style.null()
# These must show over every other style, and without colors too.
SELECTION: Final = Style(reverse=True)
MATCH: Final = Style(underline=True, bold=True)
MATCH_AT: Final = Style(reverse=True, bold=True)


@dataclass(frozen=True, slots=True)
class Palette:
    """One style for each thing that can be drawn; every field may be empty.

    Drawing again with the same palette object reuses everything drawn, so make one per theme and keep it.
    """

    dark: bool = True
    """Whether the styles are meant for a dark background."""
    folder: str = ""
    """Where paths start that text links to; with "", it links to web pages only."""

    text: Style = NO_STYLE
    muted: Style = NO_STYLE
    """Secondary text: labels, link targets, and line numbers."""
    accent: Style = NO_STYLE
    success: Style = NO_STYLE
    warning: Style = NO_STYLE
    error: Style = NO_STYLE
    status: Style = NO_STYLE
    """The icon for a tool call's status. styles/conversation.tcss defines the colors."""
    status_word: Style = NO_STYLE
    """The word after it, if there is one."""
    user: Style = NO_STYLE
    thought: Style = NO_STYLE

    selection: Style = SELECTION
    """Applied over selected text."""
    match: Style = MATCH
    """Applied over search matches."""
    match_at: Style = MATCH_AT

    heading_1: Style = NO_STYLE
    heading_2: Style = NO_STYLE
    heading: Style = NO_STYLE
    """Headings of level 3 and deeper."""
    strong: Style = NO_STYLE
    emphasis: Style = NO_STYLE
    strikethrough: Style = NO_STYLE
    code: Style = NO_STYLE
    """Code within a sentence."""
    code_block: Style = NO_STYLE
    """The panel of a code block; its background fills the width."""
    code_label: Style = NO_STYLE
    """The language of a code block, applied over `code_block`."""
    link: Style = NO_STYLE
    quote: Style = NO_STYLE
    quote_bar: Style = NO_STYLE
    list_marker: Style = NO_STYLE
    task_done: Style = NO_STYLE
    task_open: Style = NO_STYLE
    table_header: Style = NO_STYLE
    table_border: Style = NO_STYLE
    rule: Style = NO_STYLE

    diff_title: Style = NO_STYLE
    diff_hunk: Style = NO_STYLE
    diff_context: Style = NO_STYLE
    diff_number: Style = NO_STYLE
    diff_added: Style = NO_STYLE
    diff_added_word: Style = NO_STYLE
    """The changed part of a changed line, applied over `diff_added`."""
    diff_removed: Style = NO_STYLE
    diff_removed_word: Style = NO_STYLE

    syntax_keyword: Style = NO_STYLE
    syntax_string: Style = NO_STYLE
    syntax_comment: Style = NO_STYLE
    syntax_number: Style = NO_STYLE
    syntax_function: Style = NO_STYLE
    syntax_type: Style = NO_STYLE
    syntax_builtin: Style = NO_STYLE
    syntax_decorator: Style = NO_STYLE
    syntax_tag: Style = NO_STYLE
    syntax_operator: Style = NO_STYLE
    syntax_inserted: Style = NO_STYLE
    syntax_deleted: Style = NO_STYLE
    syntax_error: Style = NO_STYLE

    def with_styles(self, styles: Mapping[str, Style]) -> Palette:
        changes: dict[str, Any] = dict(styles)
        return replace(self, **changes)


PLAIN: Final = Palette()
"""No colors and no attributes: for tests, exports, and NO_COLOR."""
