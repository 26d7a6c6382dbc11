"""The line where the user types what to find, what to show, or where to go. The screen interprets it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, Static

from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.naming import ExportDialog
from acp_tui.ui.kit.frame import Frame, shown_line
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.workbench.inspect import Inspection
from acp_tui.workbench.inspect.index import FrameIndex, IndexRow
from acp_tui.workbench.inspect.search import DIRECTIONS, STATES, Field, Query, Term
from acp_tui.workbench.inspect.source import save_frames


class QueryMode(Enum):
    """What is asked for: its label, and what can be typed."""

    FIND = ("Find", "a text")
    FILTER = ("Show only", 'method:prompt -kind:chunk session:… dir:in is:error is:lint "words"')
    GO = ("Go to", "120 for a frame, 12.5s or 1:05 for a time")


class _Field(Input):
    """An input whose text doesn't trigger a layout and a full redraw with each letter."""

    virtual_size = Reactive(Size(0, 0))


class QueryBar(Horizontal):
    """One line, hidden until something is asked for."""

    DEFAULT_CSS = """
    QueryBar { height: 1; display: none; }
    QueryBar Input { width: 1fr; min-width: 24; }
    QueryBar Static { width: auto; height: 1; }
    """
    PLACE: ClassVar[Place] = "query"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    class Changed(Message):
        def __init__(self, mode: QueryMode, text: str) -> None:
            super().__init__()
            self.mode = mode
            self.text = text

    class Done(Changed):
        """The user submitted the text."""

    class Closed(Message):
        """The user closed the line."""

        def __init__(self, mode: QueryMode) -> None:
            super().__init__()
            self.mode = mode

    def __init__(self) -> None:
        super().__init__()
        self.mode = QueryMode.FIND
        self._label = Static(markup=False)
        self._field = _Field(compact=True, select_on_focus=False)
        self._field.cursor_blink = False  # it would redraw while nothing happens
        self._said = ""
        self._wrong = Static(classes="query-invalid", markup=False)

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._field
        yield self._wrong

    @property
    def is_shown(self) -> bool:
        return bool(self.display)

    def ask(self, mode: QueryMode, text: str = "") -> None:
        label, placeholder = mode.value
        self.mode, self.display = mode, True
        self._label.update(f"{label}: ")
        field = self._field
        field.placeholder = placeholder
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.say("")
        self.screen.set_focus(field)  # at once, because the next key may be on its way

    def say(self, wrong: str) -> None:
        """Show what is wrong; "" for nothing."""
        if wrong != self._said:
            self._said = wrong
            self._wrong.update(f"  {wrong}" if wrong else "")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.mode, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Done(self.mode, event.value))

    def action_close(self) -> None:
        self.display = False
        self.post_message(self.Closed(self.mode))


MASKED = "Known secrets are masked. Look at it before you share it."
RAW = "SECRETS ARE NOT MASKED, because you pressed R."


class SaveDialog(ExportDialog):
    """Writes all frames shown, as a recording. Returns the file, or None."""

    def __init__(self, inspection: Inspection, folder: Path) -> None:
        super().__init__(folder, "frames.jsonl", self._write_frames)
        self._inspection = inspection

    async def _write_frames(self, path: Path, is_replaced: bool) -> None:
        header, lines = self._inspection.source.header, self._inspection.shown_lines()
        is_raw = self._inspection.is_raw and header.is_raw
        await save_frames(path, header, lines, is_raw=is_raw, overwrite=is_replaced)

    def compose(self) -> ComposeResult:
        self._said.display = False
        is_raw = self._inspection.is_raw
        about = shown_line(RAW if is_raw else MASKED, "$text-error" if is_raw else "")
        title = shown_line(f"Write {self._inspection.count:,} frames to a file")
        keys, field = "Enter write · {dialog_close} close", Input(self._proposed, id="file")
        yield Frame(title, keys, field, Static(about, markup=False), self._said)


_ABOUT = {
    "in": "from the agent",
    "out": "to the agent",
    "stderr": "the agent's stderr",
    "note": "side information",
    "open": "requests without an answer",
    "error": "errors, and lines that aren't messages",
    "lint": "a broken rule of the protocol",
    "junk": "lines that aren't messages",
}


def choices(index: FrameIndex, query: Query) -> list[PickerRow[Term]]:
    return [PickerRow(term, str(term), about, group, is_current=term in query) for group, term, about in _terms(index)]


def _terms(index: FrameIndex) -> Iterator[tuple[str, Term, str]]:
    kinds: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    for label, count in zip(index.labels.values, index.labels.counts, strict=True):
        kinds[label.update] += count
        methods[label.method] += count
    yield from _of("kind", "Kinds of updates", kinds)
    yield from _of("method", "Methods", methods)
    yield from _of("session", "Sessions", Counter(dict(zip(index.sessions.values, index.sessions.counts, strict=True))))
    yield from (("Direction", Term("dir", value), _ABOUT[value]) for value in DIRECTIONS)
    yield from (("What it is", Term("is", value), _ABOUT.get(value, "")) for value in STATES)


def _of(field: Field, group: str, counts: Counter[str]) -> Iterator[tuple[str, Term, str]]:
    for value, count in counts.most_common():
        if value:
            yield group, Term(field, value.lower()), f"{count:,}"


def like(row: IndexRow) -> Term:
    if row.label.update:
        return Term("kind", row.label.update.lower())
    if row.label.method:
        return Term("method", row.label.method.lower())
    return Term("dir", row.kind.value)
