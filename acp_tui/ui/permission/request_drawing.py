"""Draws a permission request: the title, the whole subject as its outline tells it, the keys, and the answers."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, islice, takewhile
from typing import Any, Final, NamedTuple, assert_never

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.line_comparison import CONTEXT_LINES
from acp_tui.client.loading_variables import call_warnings
from acp_tui.conversation import UNSET, request_outline
from acp_tui.conversation.facts import WHY_ACTS_ITSELF, PermissionOption
from acp_tui.conversation.permission_requests import kind_word, letters_of, quoted_name
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.conversation.tool_text import NEXT_LINE, PROMPT, shown_path
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.visible.cutting import cut_shown
from acp_tui.ui.conversation.drawing import Joined
from acp_tui.ui.rendering.diff import Comparisons, DiffLayout, DiffRenderer
from acp_tui.ui.rendering.diff_text import SIGNS
from acp_tui.ui.rendering.highlight import CONTINUATION
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.plain import TAB_CELLS, plain_lines
from acp_tui.ui.rendering.wrapping import Gutter, cut, fold, pack, width_cells, wrap
from acp_tui.values import dataclass

MAX_NOTED_LINES: Final = 10_000
"""A field that a diff shows isn't told again; one with more lines than this is."""
MAX_LISTED_FILES: Final = 20
ENOUGH_PATH_CELLS: Final = 4
CHANGE_SIGNS: Final = tuple(f"{SIGNS[kind]} " for kind in ("added", "removed"))


class SeenRows:
    """Tracks which rows of a request were in view, for each way it was drawn. Reading one of them whole is enough."""

    def __init__(self) -> None:
        self._asked: tuple[object, ...] = ()
        self._rows: dict[Hashable, set[int]] = {}
        self._way: Hashable = None
        self._lines: Sequence[Strip] = ()
        """As they were drawn last, in that way."""
        self.is_all_seen = False
        self.wanted = ""
        """The option that the user chose before everything was seen."""
        self.again = ""
        """How to choose it again, such as "press 1 again"."""

    def begin(self, asked: tuple[object, ...]) -> None:
        """Start tracking `asked`. If it differs from before, nothing of it has been seen."""
        if asked != self._asked:
            self._asked, self._rows, self.is_all_seen, self.wanted = asked, {}, False, ""

    def note(self, way: Hashable, rows: range, lines: Sequence[Strip]) -> None:
        """Record that `rows` of `lines`, drawn in this way, are in view."""
        seen = self._seen(way, lines)
        seen.update(rows)
        self.is_all_seen = self.is_all_seen or len(seen) >= len(lines)

    def next_unseen(self, way: Hashable, lines: Sequence[Strip], at: int, but: Collection[int]) -> int:
        """The first row from there on, or else from the top, that hasn't been in view, drawn in this way, `but` these.

        If there is none, the number of lines.
        """
        seen, rows = self._seen(way, lines), chain(range(at, len(lines)), range(at))
        return next((row for row in rows if row not in seen and row not in but), len(lines))

    def _seen(self, way: Hashable, lines: Sequence[Strip]) -> set[int]:
        """The rows seen in this way: at first, the upper ones seen in the last way, as far as they read the same."""
        if way not in self._rows:
            pairs = zip(self._lines, lines, strict=False)
            reads_same = (old.text.rstrip() == new.text.rstrip() for old, new in pairs)
            known = self._rows.get(self._way, set())
            self._rows[way] = {*takewhile(lambda row: row in known and next(reads_same, False), count())}
        self._way, self._lines = way, lines
        return self._rows[way]


@dataclass(frozen=True, slots=True)
class SubjectStyle:
    """How to draw the subject."""

    width: int
    """In cells."""
    palette: Palette
    layout: DiffLayout = "unified"
    shows_raw: bool = False
    context: int | None = CONTEXT_LINES
    """The number of unchanged lines around each change; None for the whole file."""
    raw_hint: str = ""
    """How to see the raw report; "" if there is no way."""


class FileRow(NamedTuple):
    """Where the changes of one file begin."""

    row: int
    words: Sequence[tuple[str, Style]]
    """Which file it is, of how many, and how many lines change."""


@dataclass(frozen=True, slots=True)
class DrawnSubject:
    lines: Sequence[Strip] = ()
    needed: int = 0
    """The number of rows, from the first one on, to read before allowing it: not the raw report, nor a last count."""
    hunks: tuple[int, ...] = ()
    files: tuple[FileRow, ...] = ()
    """If several files change: from the first row on, all of them, then each."""
    has_pairs: bool = False
    """Whether lines become others, so that diffs may have two columns."""
    is_whole: bool = True
    """Whether all diffs are compared. If not, draw it again soon."""
    raw: int | None = None
    """The line where the raw report begins, if it's shown."""
    left_out: int = 0
    """The number of characters that no line shows, because they are too many."""
    warning: Sequence[Strip] = ()
    """The row that stays in view of what must not scroll out of it, above a command or change; none without that."""
    command: int | None = None
    """The first row of the first command."""

    def below(self, lines: Sequence[Strip]) -> DrawnSubject:
        """Return a copy with these lines above it."""
        above = len(lines)
        return replace(
            self,
            lines=Joined(lines, self.lines),
            needed=above + self.needed,
            hunks=tuple(above + row for row in self.hunks),
            files=tuple(file._replace(row=above + file.row) if file.row else file for file in self.files),
            raw=None if self.raw is None else above + self.raw,
            command=None if self.command is None else above + self.command,
        )

    def first_changed(self, index: int) -> int:
        """The first added or removed line of the change with this index."""
        start, end = [*self.hunks, len(self.lines)][index : index + 2]
        return next((row for row in range(start, end) if _is_changed(self.lines[row])), start)


class SubjectDrawing:
    """Draws requests. Keeps comparisons, and which rows were in view, between calls."""

    def __init__(self) -> None:
        self._diffs = Comparisons()
        self.seen = SeenRows()
        """Shared by the card and the full screen, for the request drawn last."""

    def draw(self, asked: request_outline.ShownRequest, look: SubjectStyle) -> DrawnSubject:
        """Draw everything the request would do, except diffs not compared yet and text marked as cut."""
        self.seen.begin(asked.state[1:])
        diffs = [item for item in asked.call.shown_content if isinstance(item, TextDiff)]
        self._diffs.keep(diffs)
        is_whole = self._diffs.advance()
        renderers = [self._diffs.renderer(diff, asked.cwd) for diff in diffs]
        has_pairs = any(renderer.is_ready and renderer.diff.has_pairs for renderer in renderers)
        changed = _ChangedFiles(renderers, look.palette)
        outline = request_outline.RequestOutline(asked, call_warnings(asked.call))
        runs: list[Sequence[Strip]] = []
        hunks: list[int] = []
        files: list[FileRow] = []
        length = needed = 0
        warning: Sequence[Strip] = ()
        command: int | None = None
        for part in outline.parts():
            if isinstance(part, TextDiff):
                if changed.are_many and not files:
                    runs.append(changed.rows(look.width))
                    length += len(runs[-1])
                    files.append(FileRow(0, changed.words()))
                lines, changes, rest = self._diff(part, asked.cwd, outline, look)
                hunks += [length + row for row in changes]
                if changed.are_many:
                    files.append(FileRow(length, changed.words(shown_path(part.path, asked.cwd))))
            else:
                lines, rest = _drawn(part, look), 0
                if command is None and isinstance(part, request_outline.CommandToRun):
                    command = length
                if command is None and not (hunks or warning or _may_scroll_out(part)):
                    warning = _first_row(part, lines, look.width)
            runs.append(lines)
            length += len(lines)
            if lines:
                needed = length - rest
        if outline.says_more:
            runs.append(wrap([(look.raw_hint or "also reported: _meta", look.palette.muted)], look.width))
            length = needed = length + len(runs[-1])
        if look.shows_raw:
            runs.append(_raw(asked.call, outline.metas, look))
        lines, raw, left_out = Joined(*runs), length if look.shows_raw else None, outline.left_out
        starts = tuple(hunks), tuple(files)
        return DrawnSubject(lines, needed, *starts, has_pairs, is_whole, raw, left_out, warning, command)

    def _diff(
        self, diff: TextDiff, cwd: str, outline: request_outline.RequestOutline, look: SubjectStyle
    ) -> tuple[Sequence[Strip], tuple[int, ...], int]:
        """The lines of a diff, where its changes begin, and how many lines at its end only count others."""
        renderer = self._diffs.renderer(diff, cwd)
        if not renderer.is_ready:
            return renderer.waiting_lines(look.width, look.palette), (), 0
        lines = renderer.lines(look.width, look.palette, look.layout, look.context)
        outline.left_out += renderer.cut_characters(look.context)
        outline.note_lines(islice(renderer.visible_lines(look.context), MAX_NOTED_LINES))
        first, *others = renderer.hunk_rows or (0,)
        # Show the first change with its file name, if that is near.
        return lines, (first if look.context is None else 0, *others), renderer.rest_rows


class _ChangedFiles:
    """The files that one request changes, with the number of lines as far as they are compared."""

    def __init__(self, diffs: Sequence[DiffRenderer], palette: Palette) -> None:
        self._diffs: dict[str, list[DiffRenderer]] = {}
        for diff in diffs:
            self._diffs.setdefault(diff.path, []).append(diff)
        self._numbers = {path: number for number, path in enumerate(self._diffs, 1)}
        self._palette = palette

    @property
    def are_many(self) -> bool:
        return len(self._diffs) > 1

    def rows(self, width: int) -> list[Strip]:
        """A row for each file, up to a number of them: all are shown below anyway."""
        muted = self._palette.muted
        listed = [(self._counts(diffs), path) for path, diffs in islice(self._diffs.items(), MAX_LISTED_FILES)]
        most = max(_length(counts) for counts, _ in listed)
        rows = [
            one_row([(" " * (most - _length(counts)), muted), *counts, self._name(path)], width)
            for counts, path in listed
        ]
        if rest := len(self._diffs) - len(rows):
            rows += wrap([(f"… {rest:,} more files", muted)], width)
        return rows

    def words(self, path: str = "") -> list[tuple[str, Style]]:
        """Which of the files this is; without a path, how many there are."""
        count, muted = len(self._diffs), self._palette.muted
        if not path:
            everything = [diff for diffs in self._diffs.values() for diff in diffs]
            return [(f"{count:,} files", muted), *self._counts(everything)]
        which = f"file {self._numbers[path]:,} of {count:,}"
        return [(which, muted), *self._counts(self._diffs[path]), self._name(path)]

    def _name(self, path: str) -> tuple[str, Style]:
        return f"  {make_visible_line(make_visible_path(path))}", self._palette.diff_title

    def _counts(self, diffs: Sequence[DiffRenderer]) -> list[tuple[str, Style]]:
        if not all(diff.is_ready for diff in diffs):
            return [("  …", self._palette.muted)]
        added, removed = sum(each.diff.added for each in diffs), sum(each.diff.removed for each in diffs)
        return [(f"  +{added:,}", self._palette.success), (f" -{removed:,}", self._palette.error)]


def one_row(spans: Sequence[tuple[str, Style]], width: int) -> Strip:
    """The spans in one row. If they are too long, the middle of the last one is left out: paths differ at their end."""
    *others, (last, style) = spans
    room = max(width - sum(width_cells(text) for text, _ in others), ENOUGH_PATH_CELLS)
    if width_cells(last) > room:
        begin, end = cut(last, room // 3), last[-room:]
        while width_cells(begin + end) > room:
            end = end[1:]
        last = begin + end
    return Strip.join(wrap([*others, (last, style)], width)[:1])


def _length(spans: Sequence[tuple[str, Style]]) -> int:
    return sum(len(text) for text, _ in spans)


def _may_scroll_out(part: request_outline.RequestPart) -> bool:
    """Whether this may be above what is in view first: it says nothing about what is asked."""
    if isinstance(part, request_outline.Remark):
        return part == (make_visible(WHY_ACTS_ITSELF), "note")
    return isinstance(part, request_outline.Row) and part.label in request_outline.REASON_LABELS


def _first_row(part: request_outline.RequestPart, lines: Sequence[Strip], width: int) -> list[Strip]:
    """The first row of a part. Of a sentence with a path at its end, all words are in it."""
    sentence = part.text.partition("\n")[0] if isinstance(part, request_outline.Remark) else ""
    words, colon, path = sentence.rpartition(": ")
    if not colon or width_cells(words + colon) + ENOUGH_PATH_CELLS > width:
        return shortened([*lines, *lines[-1:]], 2, width)[:1]
    style = next(iter(lines[0])).style or Style.null()
    return [one_row([(words + colon, style), (path, style)], width)]


def _drawn(part: request_outline.RequestPart, look: SubjectStyle) -> list[Strip]:
    """The lines of a part that isn't a diff."""
    palette, width = look.palette, look.width
    match part:
        case request_outline.Heading():
            return []  # it has rows of its own, above the subject
        case request_outline.Remark(text, tone):
            styles = {"plain": palette.text, "strong": palette.strong, "muted": palette.muted}
            return plain_lines(text, width, styles.get(tone, palette.warning))
        case request_outline.CommandToRun(lines, cwd):
            where = wrap([(f"in {cwd}", palette.muted)], width) if cwd is not None else []
            return [*_command_rows(lines, look), *where]
        case request_outline.Passage(text, ""):
            return plain_lines(text, width, palette.text)
        case request_outline.Passage(text, label):
            # A line of the text must not look like another field.
            bar = Segment("│ ", palette.muted)
            rows = plain_lines(text, width - 2, palette.code)
            return [*plain_lines(label, width, palette.muted), *(Strip([bar, *row]) for row in rows)]
        case request_outline.Row(label, text):
            return wrap([(label, palette.muted), (text.expandtabs(TAB_CELLS), palette.code)], width)
        case TextDiff():
            raise AssertionError("compared above")
        case _:
            assert_never(part)


def _command_rows(lines: Sequence[str], look: SubjectStyle) -> Iterator[Strip]:
    """A block with the whole command. Folding drops nothing."""
    style = look.palette.code_block
    room = max(look.width - len(PROMPT), 1)
    for number, line in enumerate(lines):
        text = line.expandtabs(TAB_CELLS)
        for index, part in enumerate(fold(text, room)):
            sign = CONTINUATION if index else NEXT_LINE if number else PROMPT
            shown = text[part.start : part.stop] + " " * (room - part.cells)
            yield Strip([Segment(sign, style + look.palette.code_label), Segment(shown, style)])


def _is_changed(line: Strip) -> bool:
    """Whether this is an added or removed line of a diff: the sign comes first, or right after the line numbers."""
    before: Segment | None = None
    for segment in line:
        if segment.text in CHANGE_SIGNS and (before is None or isinstance(before, Gutter)):
            return True
        before = segment
    return False


def changed_file(asked: request_outline.ShownRequest) -> str:
    """The path of what is changed; "" if it's no file, or several: which one is in view has its own row."""
    paths = {item.path for item in asked.call.content if isinstance(item, TextDiff)}
    return make_visible_path(shown_path(paths.pop(), asked.cwd)) if len(paths) == 1 else ""


def _raw(call: ToolCall, metas: dict[str, Any], look: SubjectStyle) -> list[Strip]:
    lines: list[Strip] = []
    for label, value in (("input", call.raw_input), ("output", call.raw_output), ("_meta", metas or UNSET)):
        if value is not UNSET:
            text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
            lines += wrap([(f"raw {label}:", look.palette.muted)], look.width)
            lines += plain_lines(cut_shown(text), look.width, look.palette.code)
    return lines or wrap([("the agent reports nothing else", look.palette.muted)], look.width)


# What surrounds the subject

MAX_NUMBER: Final = 9
"""Options after this one have no number."""
KEYS_CELLS: Final = len("❯ 1 y  ")
GAP_CELLS: Final = 2
ENOUGH_NAME_CELLS: Final = 20
"""If less room is left, the agent's names have no column of their own."""
ROOMY_CELLS: Final = 50


def title_lines(asked: request_outline.ShownRequest, palette: Palette, width: int, *, file: str = "") -> list[Strip]:
    """The subject, the number of waiting requests, and first the file if the title doesn't name it."""
    title = asked.title
    spans = [
        ("Permission  ", palette.warning + Style(bold=True)),
        (asked.place and f"{asked.place}  ", palette.muted),
        (f"{file}  " if posixpath.basename(file) not in title else "", palette.diff_title),
        (title, palette.strong),
    ]
    lines = wrap(spans, width)
    # If space is scarce, the frame must say what it is.
    return lines if len(lines) == 1 or width >= ROOMY_CELLS else wrap(spans[1:], width)


def with_place(row: Strip, place: str, style: Style, width: int) -> Strip:
    """Add which rows are in view at the end of this row, if there is room."""
    room = width - row.cell_length
    return Strip.join([row, Strip([Segment(place.rjust(room), style)])]) if room > len(place) else row


def shortened(lines: Sequence[Strip], rows: int, width: int) -> list[Strip]:
    """At most `rows` of these lines: the first ones and the last, with a mark if some are left out."""
    if len(lines) <= rows:
        return list(lines)
    last = [lines[-1]] if rows > 1 else []
    above = lines[: rows - len(last)]
    if not above:
        return []
    mark = Strip([Segment(" …")], 2)
    return [*above[:-1], Strip.join([above[-1].crop(0, max(width - 2, 0)), mark]), *last]


def option_lines(
    answers: Sequence[PermissionOption], chosen: int | None, palette: Palette, width: int
) -> list[list[Strip]]:
    """The lines of each answer: its keys, our word for its kind, and the agent's names in a column.

    Text from an agent never appears in the columns before the names.
    """
    names_from = KEYS_CELLS + max((width_cells(kind_word(option)) for option in answers), default=0) + GAP_CELLS
    if width - names_from < ENOUGH_NAME_CELLS:
        names_from = 0  # they continue after the word, and hang below it
    return [
        _option(answers, number, letter, chosen == number, palette, width, names_from)
        for number, letter in enumerate(letters_of(answers))
    ]


def _option(
    answers: Sequence[PermissionOption],
    index: int,
    letter: str,
    is_chosen: bool,
    palette: Palette,
    width: int,
    names_from: int,
) -> list[Strip]:
    option = answers[index]
    number = f"{index + 1}" if index < MAX_NUMBER else "·"
    style = _style_of(option, palette) + Style(bold=is_chosen)
    head = [Segment("❯ " if is_chosen else "  ", palette.accent), Segment(f"{number} {letter or ' '}  ", palette.muted)]
    word = kind_word(option)
    is_only = sum(kind_word(other) == word for other in answers) == 1  # else its name alone tells it from the others
    name = (quoted_name(option), palette.muted if is_only else Style())
    if names_from:
        head += [Segment(word, style), Segment(" " * (names_from - KEYS_CELLS - width_cells(word)))]
        indent, lines = names_from, wrap([name], width - names_from)
    else:
        lines = wrap([(word, style), ("  ", style), name], width - KEYS_CELLS - GAP_CELLS)
        indent = KEYS_CELLS + GAP_CELLS
    below = [Segment(" " * indent)]
    return [Strip([*(below if row else head), *line]) for row, line in enumerate(lines)]


def _style_of(option: PermissionOption, palette: Palette) -> Style:
    """Once and always must not look alike, nor must yes and no."""
    match option.counts_as:
        case "allow_once":
            return palette.success
        case "reject_once":
            return palette.error
        case "reject_always":
            return palette.error + Style(underline=True)
        case _:
            return palette.warning


def keys_lines(keys: Sequence[str], style: Style, width: int) -> list[Strip]:
    """Keys and what they do, as many in a line as fit. Breaks between keys if possible."""
    return [strip for line in pack(keys, width) for strip in wrap([(line, style)], width)]
