"""The dialog to go back to a prompt: to which one, and how to go on from there. It does neither itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Literal, Protocol, TypeAlias

from rich.segment import Segment
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size

from acp_tui.conversation.entries import EntryId
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Dialog, Frame
from acp_tui.ui.kit.row_list import PickerRow, RowList, aligned
from acp_tui.ui.rendering.palette import Palette
from acp_tui.values import dataclass

Way: TypeAlias = Literal["here", "fork", "anew", "agent", "files", "show", "copy"]
"""How to go on. `files` shows the changed files, to put them back, and returns to the dialog."""

NARROW_CELLS: Final = 60
KEYS: Final = (
    "{list_above} {list_below} move · {prompts_switch} how to go on · {list_choose} do it · {dialog_close} close"
)


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """One of the user's prompts in the session."""

    entry: EntryId
    number: int
    text: str
    """Its first line."""
    age: str = ""
    """How long ago it was sent; "" if that isn't known."""


class WaysBack(Protocol):
    """The prompts of a session, and what can be done from each; None stands for the session as it is now."""

    prompts: Sequence[SentPrompt]
    """The newest first."""

    def ways(self, prompt: SentPrompt | None, changed: str | None) -> Sequence[PickerRow[Way]]:
        """Always the same ways. `changed` sums up the files changed since; None while that isn't known."""

    async def catch_up(self) -> None:
        """Wait until all changes can be known."""

    async def changed_by(self, prompt: SentPrompt) -> str:
        """A summary of the files changed from this prompt to the next one; "" for none."""

    async def changed_since(self, prompt: SentPrompt) -> str | None:
        """A summary of the files changed since this prompt; "" for none, None if it isn't known."""

    async def put_back(self, prompt: SentPrompt) -> bool:
        """Show the files changed since this prompt, to put them back. Returns whether all of them are."""


class _Rows(RowList):
    """A list that, on a low screen, shows one row while the other list has the keyboard."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        height = super().get_content_height(container, viewport, width)
        return min(height, 1) if self.screen.has_class("-low") and self.has_class("-idle") else height

    def on_resize(self) -> None:
        self._reveal()


class _PromptRows(_Rows):
    def mark_of(self, index: int) -> str:
        return "  "

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        *before, end = super()._row_segments(index, width, palette)
        if index == self.cursor:
            return [*before, end]
        styles = {"+": palette.success, "-": palette.error}
        parts = re.split(r"(?<= )([+-][\d,]+)", end.text)
        return [*before, *(Segment(part, styles.get(part[:1], end.style)) for part in parts)]


class _WayRows(_Rows):
    def mark_of(self, index: int) -> str:
        if index == self.cursor:
            return "◉ "
        return "  " if self.rows[index].is_disabled_reason else "○ "


class PromptList(FilteredList):
    """The prompts, and the session as it is now."""

    def __init__(self, rows: Sequence[PickerRow[SentPrompt | None]]) -> None:
        super().__init__(rows)
        self._list = _PromptRows(rows_around=18, rows_around_low=9)

    def _fit_about(self) -> None:
        self._about.set_class(bool(self._list.rows), "-blank")

    def on_row_list_clicked(self, event: RowList.Clicked) -> None:
        """A click only moves: how to go on is chosen below."""
        event.stop()
        event.prevent_default()
        self._show_about()


class WayList(FilteredList):
    """How to go on from the prompt."""

    def __init__(self, rows: Sequence[PickerRow[Way]]) -> None:
        super().__init__(rows, has_search=False)
        self._list = _WayRows(rows_around=16, rows_around_low=9)


class GoBackDialog(Dialog[tuple[Way, SentPrompt | None] | None]):
    """Returns how to go on, and from which prompt: None for the session as it is now."""

    PLACE: ClassVar[Place] = "prompts"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    def __init__(self, source: WaysBack, way: Way, prompt: SentPrompt | None) -> None:
        """With the cursor on `prompt`, and this way marked."""
        super().__init__()
        self._source = source
        self._way = way
        self._prompt = prompt
        """The prompt that the ways are shown for."""
        self._changed_by: dict[EntryId, str] = {}
        self._is_stale = asyncio.Event()
        """Set when what is known of changes may no longer be so."""
        self._prompts = PromptList([])
        self._ways = WayList(source.ways(self._prompt, None))

    def compose(self) -> ComposeResult:
        yield Frame(Content("Go back to a prompt"), KEYS, self._prompts, self._ways)

    def on_mount(self) -> None:
        prompt = self._prompt
        self._show_prompts()
        self._prompts.go_to(prompt)
        self._ways.go_to(self._way)
        self.set_focus(None)
        self.action_switch()
        self._follow()

    # What there is

    def _show_prompts(self) -> None:
        self._prompts.show_rows(self._rows())

    def _rows(self) -> Iterator[PickerRow[SentPrompt | None]]:
        prompts, is_narrow = self._source.prompts, self.app.size.width < NARROW_CELLS
        digits = len(str(len(prompts)))
        yield PickerRow(None, f"{'now':>{digits}}  Everything said so far")
        changed = [self._changed_by.get(prompt.entry, "") for prompt in prompts]
        if is_narrow:  # the lines alone, if they are counted
            asides = [re.sub(r"^[\d,]+ files? (?=[+-])", "", each) for each in changed]
        else:
            pairs = zip(changed, aligned([prompt.age for prompt in prompts]), strict=True)
            asides = ["   ".join(filter(None, pair)) for pair in pairs]
        for prompt, aside in zip(prompts, asides, strict=True):
            yield PickerRow(prompt, f"{prompt.number:>{max(digits, 3)}}  {prompt.text}", aside=aside)

    @work
    async def _follow(self) -> None:
        """Keep telling which prompts changed files, and what has changed since the one under the cursor."""
        await self._source.catch_up()
        while True:
            self._is_stale.clear()
            await self._compare()
            await self._is_stale.wait()

    async def _compare(self) -> None:
        prompt = self._prompt
        changed = await self._source.changed_since(prompt) if prompt is not None else None
        if prompt == self._prompt:
            self._ways.show_rows(self._source.ways(prompt, changed))
        for each in self._source.prompts:
            before = self._changed_by.get(each.entry)
            if self._is_stale.is_set():
                return
            if before is None or each == self._source.prompts[0]:  # only what the last one changes may still grow
                self._changed_by[each.entry] = changed_by = await self._source.changed_by(each)
                if changed_by != (before or ""):
                    self._show_prompts()

    def on_folder_changes_changed(self) -> None:
        self._is_stale.set()

    # What the user does

    def on_filtered_list_moved(self) -> None:
        row = self._prompts.row
        if row is not None and row.value != self._prompt:
            self._prompt = row.value
            self._ways.show_rows(self._source.ways(self._prompt, None))
            self._is_stale.set()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for rows in self.query(_Rows):
            rows.set_class(rows.parent not in event.widget.ancestors_with_self, "-idle")
            rows.refresh(layout=True)

    def action_switch(self) -> None:
        """Give the keyboard to the other list."""
        if self._prompts.is_searching:
            self.set_focus(self._ways)
        else:
            self._prompts.search()

    def on_filtered_list_chosen(self) -> None:
        row = self._ways.row
        if row is None or row.is_disabled_reason:
            return
        if row.value == "files" and self._prompt is not None:
            self._put_back(self._prompt)
        else:
            self.dismiss((row.value, self._prompt))

    @work(exclusive=True, group="files")
    async def _put_back(self, prompt: SentPrompt) -> None:
        """Show the files, and come back: once they are all as they were, to go on."""
        if await self._source.put_back(prompt):
            self._ways.go_to("here")
        self._is_stale.set()
