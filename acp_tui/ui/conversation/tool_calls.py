"""Draws tool calls and the user's own commands: a header line, and the content below it, folded if it is long."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import PurePath
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.conversation import QUIET_KINDS, facts, permission_requests, tool_calls, tool_text, value_outline
from acp_tui.conversation.content import Text, is_for_user
from acp_tui.conversation.entries import Decision, OwnCommand, TerminalState, ToolCallEntry
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command, make_visible_path
from acp_tui.conversation.visible.cutting import cut_shown
from acp_tui.ui.conversation.blocks import BlockLines
from acp_tui.ui.conversation.drawing import DrawContext, Indented, Joined, KeptDrawing, folded
from acp_tui.ui.conversation.terminals import TerminalLines, state_of_command
from acp_tui.ui.rendering.diff import Comparisons, roomy_layout
from acp_tui.ui.rendering.links import NO_LINK, to_file, to_page
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import PlainLines, plain_lines
from acp_tui.ui.rendering.wrapping import Gutter, cut, width_cells, wrap


class ToolText:
    """One text. Its lines are cached for the last width and colors."""

    def __init__(self, text: str) -> None:
        parts = tool_text.parts_of(cut_shown(text))
        self._parts = [_finished(part.text) if isinstance(part, tool_text.Markdown) else part.text for part in parts]
        self._drawn: tuple[int, Palette, Sequence[Strip]] | None = None

    def lines(self, width: int, palette: Palette) -> Sequence[Strip]:
        """The text's lines, of at most `width` cells."""
        if self._drawn is None or self._drawn[:2] != (width, palette):
            runs = [
                PlainLines(part, width, palette.text) if isinstance(part, str) else part.lines(width, palette)
                for part in self._parts
            ]
            self._drawn = (width, palette, Joined(*runs))
        return self._drawn[2]


def _finished(markdown: str) -> MarkdownRenderer:
    renderer = MarkdownRenderer(markdown)
    renderer.finish()
    return renderer


KIND_ICONS: Final = {
    "read": "→",
    "edit": "✎",
    "delete": "−",
    "move": "⇄",
    "search": "⌕",
    "execute": "$",
    "think": "∴",
    "fetch": "↓",
    "switch_mode": "⇅",
}
OTHER_ICON: Final = "•"
STATUS_GLYPHS: Final = {
    tool_calls.PENDING: "○",
    tool_calls.IN_PROGRESS: "◐",
    tool_calls.COMPLETED: "✓",
    tool_calls.FAILED: "✗",
    tool_calls.CANCELLED: "⊘",
    tool_calls.UNFINISHED: "⊘",
}
WITHOUT_WORD: Final = frozenset({tool_calls.PENDING, tool_calls.IN_PROGRESS, tool_calls.COMPLETED})

RAIL: Final = "    │ "
MIN_SUBJECT_CELLS: Final = 12
MAX_TOLD: Final = 1_000
"""In characters of a tooltip."""


def is_run_member(entry: object, kinds: Collection[str]) -> bool:
    """Whether a call belongs in a run: it is completed, of a quiet kind, and had no permission request."""
    return (
        isinstance(entry, ToolCallEntry)
        and entry.call.status == tool_calls.COMPLETED
        and entry.call.kind in QUIET_KINDS
        and entry.call.kind in kinds
        and not entry.waiting
        and not entry.decisions
    )


def run_lines(entries: Sequence[ToolCallEntry], context: DrawContext) -> list[Strip]:
    """A run of quiet calls in one line: how many of each kind, and as many of their files as fit."""
    icons = [
        Gutter(f"  {STATUS_GLYPHS[tool_calls.COMPLETED]} ", context.palette.success),
        Gutter(f"{KIND_ICONS.get(entries[0].call.kind, OTHER_ICON)} ", context.palette.muted),
    ]
    width = context.width - len(RAIL) - 2
    words = run_words(entries)
    files = (PurePath(_place_of(entry)).name for entry in entries if entry.call.kind == "read")
    worked_on = make_visible_path(", ".join(dict.fromkeys(filter(None, files))))
    room = width - width_cells(words) - 2
    aside = f"  {cut(worked_on, room)}" if worked_on and room >= MIN_SUBJECT_CELLS else ""
    lines = wrap([(words, context.palette.text), (aside, context.palette.muted)], width)
    return [Strip([*(icons if row == 0 else [Gutter(" " * len(RAIL))]), *line]) for row, line in enumerate(lines)]


def run_words(entries: Sequence[ToolCallEntry]) -> str:
    """A summary of the calls, such as "Read 4 files, searched twice"."""
    parts = []
    for kind in dict.fromkeys(entry.call.kind for entry in entries):
        calls = [entry for entry in entries if entry.call.kind == kind]
        files = {file for file in map(_place_of, calls) if file}
        is_told = kind == "read" and all(map(_place_of, calls))
        parts.append(_COUNTED[kind](len(files) if is_told else len(calls)))
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


_COUNTED: Final[dict[str, Callable[[int], str]]] = {
    "read": lambda count: "read a file" if count == 1 else f"read {count} files",
    "search": lambda count: f"searched {_times(count)}",
    "fetch": lambda count: f"fetched {_times(count)}",
    "think": lambda count: f"thought {_times(count)}",
}


def _place_of(entry: ToolCallEntry) -> str:
    """The file that a call works on; "" if the call doesn't say."""
    return entry.call.locations[0].path if entry.call.locations else ""


class ToolCallDrawing(KeptDrawing):
    def __init__(self, entry: ToolCallEntry) -> None:
        super().__init__()
        self._entry = entry
        self._diffs = Comparisons()
        self._texts: dict[str, ToolText] = {}
        self._is_cut = False
        """Whether the header cuts off what the call works on."""

    def refresh(self) -> bool:
        """Draw again on the next call of `lines`. Returns False if a diff isn't fully compared yet."""
        super().refresh()
        content = self._entry.shown_content
        self._diffs.keep(item for item in content if isinstance(item, tool_calls.TextDiff))
        blocks = (item.block for item in content if isinstance(item, tool_calls.BlockContent))
        shown = {block.text for block in blocks if isinstance(block, Text)}
        self._texts = {text: self._texts[text] for text in shown & self._texts.keys()}
        return self._diffs.advance()

    @property
    def folds(self) -> bool:
        """Whether it has more to show than was drawn, or something to fold again."""
        call = self._entry.call
        if self._is_open or call.untold_name or call.raw_parts or self.cut_text or self._drawn is None:
            return True
        context, lines = self._drawn
        whole = self.whole(context)
        return len(whole) != len(lines) or any(one.text != other.text for one, other in zip(whole, lines, strict=True))

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        width = context.width - len(RAIL) - 2
        call = self._entry.call
        # The permission card shows a call whole while it waits for a decision.
        content = self._entry.shown_content if self._is_open or not self._entry.waiting else ()
        body = [run for item in content for run in self._item(item, context, width)]
        if self._is_open:
            body += self._raw(call, context, width)
        rail = Gutter(RAIL, context.palette.quote_bar)
        return Joined(self._header(context), *(Indented(run, rail) for run in body), self._decisions(context))

    def _header(self, context: DrawContext) -> list[Strip]:
        call, palette = self._entry.call, context.palette
        status = tool_calls.PENDING if self._entry.waiting and call.is_settled else self._entry.shown_status
        glyph = STATUS_GLYPHS.get(status, "◌")
        said = "" if status in WITHOUT_WORD else make_visible_line(self._entry.status_words)
        word = "" if self._entry.waiting else said  # the card says that it waits
        command = tool_text.subject_of(call, context.terminals)
        # A prompt sign would make a command of a title that is none.
        icon = OTHER_ICON if command is not None and command.is_command else KIND_ICONS.get(call.kind, OTHER_ICON)
        icons = [Gutter(f"  {glyph} ", palette.status), Gutter(f"{icon} ", palette.muted)]
        width = context.width - len(RAIL) - 2
        ends = [(f"  {word}", palette.status_word)] if word else []
        named = tool_text.shown_path(call.shown_title, context.cwd)
        title = make_visible_line(named if self._is_open else named[: 2 * MAX_TOLD])
        subject, link = self._subject(context, width - width_cells(title) - sum(len(text) for text, _ in ends))
        asides = [("  ", palette.muted), (subject, palette.muted + link)] if subject else []
        between = "  "
        for place, link in self._places(context).items():
            if place not in call.shown_title + subject:
                asides += [(between, palette.muted), (make_visible_path(place), palette.muted + link)]
                between = ", "
        spans = [(title, palette.text), *asides, *ends]
        # The agent chooses the title, which may be very long. Show it whole only when the call is unfolded.
        lines = wrap(spans, width)
        shown = lines if self._is_open else lines[:2]
        if len(shown) < len(lines) and word:  # its state stays in view
            told, room = wrap(spans[:-1], width), width - 1 - width_cells(ends[0][0])
            if len(told) > 1 and room > 0:
                shown = [told[0], Strip([*told[1].crop(0, room), Segment("…", palette.muted), Segment(*ends[0])])]
        self.cut_text = "" if len(shown) == len(lines) and not self._is_cut else self._told(title, context)
        indent = [Gutter(" " * len(RAIL))]
        return [Strip([*(indent if row else icons), *line]) for row, line in enumerate(shown)]

    def _subject(self, context: DrawContext, room: int) -> tuple[str, Style]:
        """What the call works on or runs, cut to one line, and its link; "" if the title or a diff below says it."""
        self._is_cut = False
        subject = tool_text.subject_of(self._entry.call, context.terminals)
        if subject is None or (subject.is_command and self._entry.waiting):  # the card shows it
            return "", NO_LINK
        link = NO_LINK
        if not subject.is_command:
            link = to_page(subject.text)
            subject = tool_text.ToolSubject(tool_text.shown_path(subject.text, context.cwd))
            named = (*self._diffed(context), *self._places(context))
            if subject.text in named or subject.text in self._entry.call.shown_title:
                return "", NO_LINK
        if self._is_open:
            return subject.visible, link
        shown = cut(subject.visible, max(room - 2, MIN_SUBJECT_CELLS))
        self._is_cut = shown != subject.visible
        return shown, link

    def _told(self, title: str, context: DrawContext) -> str:
        """The full text of the header, without cuts."""
        subject = tool_text.subject_of(self._entry.call, context.terminals)
        words = title if subject is None else f"{title}\n{subject.visible}"
        return words[:MAX_TOLD]

    def _diffed(self, context: DrawContext) -> list[str]:
        return [tool_text.shown_path(path, context.cwd) for path in tool_calls.changed_paths(self._entry.shown_content)]

    def _places(self, context: DrawContext) -> dict[str, Style]:
        """The first places that the call works on, without those that diffs below name, and their links."""
        call, folder = self._entry.call, context.palette.folder
        diffed = self._diffed(context)
        is_below = self._shown(context.folds.diff_lines, context) != 0
        places = {
            tool_text.shown_location(each, context.cwd): to_file(folder, each.path, each.line)
            for each in call.locations[:3]
            if not is_below or tool_text.shown_path(each.path, context.cwd) not in diffed
        }
        if call.kind == "execute":  # that's where commands run anyway
            places.pop(tool_text.HERE, None)
        return places if is_below or places else {path: to_file(folder, path) for path in diffed[:3]}

    def _item(self, item: tool_calls.ToolCallContent, context: DrawContext, width: int) -> list[Sequence[Strip]]:
        match item:
            case tool_calls.TextDiff():
                return self._folded(self._diff(item, context, width), context.folds.diff_lines, context)
            case tool_calls.TerminalContent(terminal_id):
                limit = self._shown(context.folds.terminal_lines, context)
                return terminal_runs(context.terminals.get(terminal_id), context, width, limit)
            case tool_calls.BlockContent(block) if not is_for_user(block):
                return []
            case tool_calls.BlockContent(Text(text)):
                return self._folded(self._text(text).lines(width, context.palette), context.folds.text_lines, context)
            case tool_calls.BlockContent(block) if not self._is_quiet(context):
                return [BlockLines(block, self).lines(context, width, context.palette.muted)]
            case _:
                return [wrap([(tool_text.described(item).label, context.palette.muted)], width)]

    def _diff(self, diff: tool_calls.TextDiff, context: DrawContext, width: int) -> Sequence[Strip]:
        renderer = self._diffs.renderer(diff, context.cwd)
        # While an agent writes a diff bit by bit, keep showing the previous one so that the view doesn't jump.
        shown = renderer if renderer.is_ready else self._diffs.before(diff)
        if shown is None:
            return renderer.waiting_lines(width, context.palette)
        return shown.lines(width, context.palette, roomy_layout(width))

    def _text(self, text: str) -> ToolText:
        if text not in self._texts:
            self._texts[text] = ToolText(text)
        return self._texts[text]

    def _is_quiet(self, context: DrawContext) -> bool:
        call = self._entry.call
        # The reason for a failure is for the user, whatever the kind.
        if self._is_open or call.status == tool_calls.FAILED:
            return False
        return call.kind in context.folds.fold_kinds

    def _shown(self, lines: int, context: DrawContext) -> int | None:
        """How many lines to show if `lines` are shown when folded; None for all."""
        if self._is_open:
            return None
        return 0 if self._is_quiet(context) else lines

    def _folded(self, lines: Sequence[Strip], limit: int, context: DrawContext) -> list[Sequence[Strip]]:
        shown = self._shown(limit, context)
        return [lines] if shown is None else folded(lines, shown, context.palette)

    def _raw(self, call: tool_calls.ToolCall, context: DrawContext, width: int) -> list[Sequence[Strip]]:
        told = make_visible_line(f"tool: {call.untold_name}")
        runs: list[Sequence[Strip]] = [wrap([(told, context.palette.muted)], width)] if call.untold_name else []
        for label, value in call.raw_parts:
            runs.append(
                plain_lines(cut_shown("\n".join(value_outline.value_lines(value, label))), width, context.palette.muted)
            )
        return runs

    def _decisions(self, context: DrawContext) -> list[Strip]:
        lines = []
        for decision in self._entry.decisions:
            text, style = _decision(decision, context.palette)
            for row, line in enumerate(wrap([(text, style)], context.width - len(RAIL) - 2)):
                lines.append(Strip([Gutter("      " if row else "    ╰ ", context.palette.quote_bar), *line]))
        return lines


def _decision(decision: Decision, palette: Palette) -> tuple[str, Style]:
    words = make_visible_line(permission_requests.decision_words(decision)) + when(decision.at)
    if decision.option_name is None:
        return words, palette.muted
    is_no = decision.rule is not None or decision.option_kind in facts.REJECTIONS
    return words, palette.error if is_no else palette.success


def when(at: float | None) -> str:
    """The time of a decision, as a suffix."""
    return "" if at is None else time.strftime(" · %H:%M:%S", time.localtime(at))


OUTPUT_RAIL: Final = "  │ "
COMMAND_SIGN: Final = "$ "


def terminal_runs(
    state: TerminalState | None, context: DrawContext, width: int, limit: int | None
) -> list[Sequence[Strip]]:
    """The last `limit` lines of the terminal (all if None), and the state of its command."""
    palette = context.palette
    if state is None:
        return [wrap([("the agent shows a terminal that it hasn't opened", palette.muted)], width)]
    screen = context.screens.screen(state)
    if screen is None:
        return [wrap([("…", palette.muted)], width)]
    screen.update()
    lines = TerminalLines(screen, width)
    runs = [lines] if limit is None else folded(lines, limit, palette, keep_end=True)
    return [*runs, *(wrap([span], width) for span in state_of_command(state, palette, context.take_over_key))]


class OwnCommandDrawing(KeptDrawing):
    """The user's own command, on the background of prompts, with its output below."""

    def __init__(self, entry: OwnCommand) -> None:
        super().__init__()
        self._entry = entry

    def _draw(self, context: DrawContext) -> Sequence[Strip]:
        style = context.palette.user
        sign = Segment(COMMAND_SIGN, context.palette.accent + style.background_style)
        line = make_visible_command(self._entry.line)
        heads = [
            Strip([sign, *strip], strip.cell_length + len(COMMAND_SIGN)).adjust_cell_length(context.width, style)
            for strip in plain_lines(line, context.width - len(COMMAND_SIGN) - 2, style)
        ]
        state = context.terminals.get(self._entry.terminal_id)
        width = context.width - len(OUTPUT_RAIL) - 2
        runs = terminal_runs(state, context, width, None if self._is_open else context.folds.terminal_lines)
        if state is not None and not state.has_exited and not state.is_waiting:
            runs.append(wrap([("◐ running", context.palette.accent)], width))
        rail = Gutter(OUTPUT_RAIL, context.palette.quote_bar)
        return Joined(heads, *(Indented(run, rail) for run in runs))
