"""Going back to one of the user's prompts: the dialog to choose it and how to go on from there, and doing that."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from anyio import move_on_after
from rich.segment import Segment
from textual import events, on, work
from textual.geometry import Size
from textual.strip import Strip

from acp_tui.client.attachments.attach import without_mentions
from acp_tui.client.changes import ChangedPath, ChangesError
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.catch_up import digest
from acp_tui.conversation.entries import EntryId, pasted_in
from acp_tui.ui.changes.changed_files import change_segments
from acp_tui.ui.changes.follower import FolderChanges, failed, files, summary_of
from acp_tui.ui.commands.keys import keys_of
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.agents import choose_agent
from acp_tui.ui.kit.dialog import Dialog
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.line_view import LineView
from acp_tui.ui.kit.row_list import PickerRow, RowList, aligned, short_time
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.tab.taking_out import first_line, message_text, named_since, prompts_in

if TYPE_CHECKING:
    from acp_tui.ui.tab.tab import Tab

Way: TypeAlias = Literal["here", "fork", "anew", "agent", "files"]
"""How to go on."""

SHORTCUTS: Final[dict[str, tuple[Way, bool]]] = {
    "undo": ("files", False),
    "fork": ("fork", True),
    "handover": ("agent", True),
}
"""What slash commands choose in advance: how to go on, and whether from the session as it is now."""
ONLY_BEFORE: Final = "a new tab, told only what came before"
SUMMARY: Final = "a new tab, told a summary of it"
WAYS: Final[dict[Way, tuple[str, str, str]]] = {
    "here": ("Go on here", "edit it; what came after stays", ""),
    "fork": (
        "Go on in a fork",
        "a new tab; it remembers what came after, too",
        "a new tab; this session stays as it is",
    ),
    "anew": ("Go on in a new session", ONLY_BEFORE, SUMMARY),
    "agent": ("Go on with another agent", ONLY_BEFORE, SUMMARY),
    "files": ("Put the files back", "", ""),
}
"""The label of each, and what it does from a prompt, and from the session as it is now."""
FROM_PROMPT: Final = "choose a prompt for that"
KEYS: Final = "{move_up} {move_down} move · {next_field} how to go on · {list_choose} do it · {dialog_close} close"
READING: Final = "reading the files"
UNKNOWN: Final = "changes unknown"
NOT_NAMED: Final = "maybe not the agent's"
OTHERS: Final = "{count} of these may not be the agent's: {{list_choose}} again puts all of them back"
FIND_LIMIT_S: Final = 0.5
NARROW_CELLS: Final = 60
ROWS_AROUND_FILES: Final = 10
"""The other lines of the dialog on a low screen."""


class SentPrompt(NamedTuple):
    """One of the user's prompts in the session."""

    entry: EntryId
    number: int
    text: str
    """Its first line."""
    age: str = ""
    """How long ago it was sent; "" if that isn't known."""
    knows_files: bool = False
    """Whether the files are known as they were then."""


class GoingBack:
    """The prompts of a session, and what can be done from each; None stands for the session as it is now."""

    def __init__(self, tab: Tab, session: Session) -> None:
        self._tab = tab
        self._session = session
        moments = tab.moments
        self._moments = moments if moments is not None and moments.is_of(session) else None
        entries = prompts_in(session.conversation)
        self.prompts = [self._sent(entry, len(entries) - at) for at, entry in enumerate(entries)]
        """The newest first."""

    def _sent(self, entry: EntryId, number: int) -> SentPrompt:
        sent_at = self._moments.sent_at.get(entry) if self._moments is not None else None
        age = "" if sent_at is None else short_time(sent_at, datetime.now())
        knows_files = self._moments is not None and self._moments.knows(entry)
        return SentPrompt(entry, number, first_line(self._text(entry)), age, knows_files)

    def _text(self, entry: EntryId) -> str:
        return message_text(self._session.conversation, entry)

    async def choose(self, way: Way, *, is_now: bool) -> None:
        """Let the user choose a prompt and how to go on from there, beginning with these, and do it.

        If it can't go on in this way, it begins with the first way that it can. Who wants files back wants no other.
        """
        prompt = None if is_now else next(iter(self.prompts), None)
        if way == "files":
            prompt = await self._last_with_changes() or prompt
        # That no file has changed isn't sure yet: the last changes may not have been noticed.
        can = [row.value for row in self.ways(prompt, None) if row.is_disabled_reason in ("", READING)]
        dialog = GoBackDialog(self, way if way in (*can, "files") or not can else can[0], prompt)
        match await self._tab.ask(dialog):
            case ("here", SentPrompt(entry)):
                self._write(self._tab, self._text(entry))
                self._tab.screen.set_focus(self._tab.prompt)
            case ("fork", prompt):
                typed = self._tab.prompt.draft if prompt is None else ""  # after the command
                fork = await self._fork(prompt)
                if typed:
                    fork.prompt.put_before(typed)
                    self._tab.prompt.discard_draft()
            case ("anew", prompt):
                tab = await self._tab.app.open_tab(self._tab.link, self._session.cwd)
                self._write(tab, self._told(prompt))
            case ("agent", prompt):
                await self._hand_over(prompt)
            case ("files", SentPrompt() as prompt):
                await self._put_back(prompt, dialog.seen)

    # What can be done

    def ways(self, prompt: SentPrompt | None, changed: Mapping[str, ChangedPath] | None) -> Sequence[PickerRow[Way]]:
        """The same from each prompt. `changed` are the files changed since then; None while that isn't known."""
        labels, from_prompt, from_now = zip(*WAYS.values(), strict=True)
        return [
            PickerRow(
                way,
                label,
                summary_of(changed) if way == "files" and changed else about,
                is_disabled_reason=self._why_not(way, prompt, changed),
            )
            for way, label, about in zip(
                WAYS, aligned(labels), from_now if prompt is None else from_prompt, strict=True
            )
        ]

    def _why_not(self, way: Way, prompt: SentPrompt | None, changed: Mapping[str, ChangedPath] | None) -> str:
        """Why that can't be done; "" if it can."""
        agent = self._tab.link.agent
        match way:
            case "here" | "files" if prompt is None:
                return FROM_PROMPT
            case "here" if self._session.is_read_only:
                return "you can only watch this session"
            case "here" if self._tab.prompt.draft:
                return "send or clear your draft first"
            case "fork" if agent is None or agent.lost is not None:
                return "its agent isn't running"
            case "fork" if agent is not None and not agent.capabilities.fork_session:
                return f"{agent.title} can't fork sessions"
            case "anew" if not self._tab.link.can_start:
                return "its agent can't be started here"
            case "files" if prompt is not None and not prompt.knows_files:
                return "acp-tui has no copy from then"
            case "files" if not changed:
                return "no file has changed since" if changed is not None else READING
        return ""

    # Files

    async def catch_up(self) -> None:
        """Wait until all changes can be known."""
        if self._moments is not None:
            with suppress(ChangesError):
                await self._moments.catch_up()

    async def changed(self, prompt: SentPrompt | None, *, until_next: bool = False) -> Mapping[str, ChangedPath] | None:
        """The files changed since this prompt, or until the next one; None if that isn't known."""
        if self._moments is None or prompt is None:
            return None
        with suppress(ChangesError):
            return await self._moments.changed(prompt.entry, until_next=until_next)
        return None

    def remarked(self, prompt: SentPrompt, files: Sequence[ChangedPath]) -> list[tuple[ChangedPath, str]]:
        """Each with a remark if no tool call since the prompt names it: a command changed it, or someone else."""
        named = named_since(self._session.conversation, prompt.entry, self._session.cwd)
        root = os.path.realpath(self._session.cwd)
        return [(each, NOT_NAMED * (f"{root}/{each.path}" not in named)) for each in files]

    async def _last_with_changes(self) -> SentPrompt | None:
        """The last prompt since which files have changed; None if there is none, or it isn't found at once."""
        with move_on_after(FIND_LIMIT_S):
            for prompt in self.prompts:
                if await self.changed(prompt):
                    return prompt
        return None

    async def _put_back(self, prompt: SentPrompt, seen: Mapping[str, ChangedPath]) -> None:
        assert self._moments is not None
        failures = await self._moments.put_back(prompt.entry, [*seen.values()])
        done = len(seen) - len(failures)
        undo = self._tab.hint(": {show_changes} {undo_revert} undoes that") if done else ""
        said = f"Put back {files(done)} as before prompt {prompt.number}{undo}{failed(failures)}"
        self._tab.say(said, severity="warning" if failures else "information")

    # Elsewhere

    async def _fork(self, prompt: SentPrompt | None) -> Tab:
        source = self._session
        title = source.conversation.shown_title or "the session above"
        tab = await self._tab.app.open_tab(self._tab.link, source.cwd, lambda sessions: sessions.fork(source, title))
        if prompt is not None:
            self._write(tab, self._text(prompt.entry))
        return tab

    async def _hand_over(self, prompt: SentPrompt | None) -> None:
        choice = await choose_agent(self._tab.app, "Go on with another agent", last=self._tab.link.name)
        if choice is None:
            return
        if choice.is_in_worktree:
            tab = await self._tab.begin_in_worktree(choice.command)
        else:
            cwd = choice.command.cwd or self._tab.cwd
            tab = await self._tab.app.open_tab(self._tab.app.link_to(choice.command, cwd), cwd)
        if tab is not None:
            self._write(tab, self._told(prompt))

    def _write(self, tab: Tab, text: str) -> None:
        """Put this into a tab's draft, in which pastes are folded as they were in the prompt."""
        for prompt in self.prompts:
            tab.prompt.know_pastes(pasted_in(self._session.conversation.entries[prompt.entry]))
        tab.prompt.put_before(text)

    def _told(self, prompt: SentPrompt | None) -> str:
        """What a session is told that doesn't know this one, and the prompt, as the user wrote it."""
        text = self._text(prompt.entry) if prompt is not None else ""
        if prompt is not None and prompt.number == 1:
            return text
        changes = self._tab.changes
        files = sorted(changes.changes) if prompt is None and changes is not None else ()
        told = digest(self._session.conversation, files, prompt.entry if prompt is not None else None)
        return without_mentions(told) + text  # otherwise an agent could have files of its choice attached


class _PromptRows(RowList):
    """Leaves some of its lines to the files to put back."""

    left = 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        around = self._rows_around_low if self.screen.has_class("-low") else self._rows_around
        room = max(self.app.size.height - around, 3) - self.left
        return min(super().get_content_height(container, viewport, width), room)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        *before, end = super()._row_segments(index, width, palette)
        styles = {"+": palette.success, "-": palette.error}
        parts = re.split(r"(?<= )([+-][\d,]+)", end.text)
        return [*before, *(Segment(part, styles.get(part[:1], end.style)) for part in parts)]


class _WayRows(RowList):
    """On a low screen, only the way at the cursor. Otherwise as high from each prompt, so that nothing moves."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 if self.screen.has_class("-low") else len(WAYS)

    def mark_of(self, index: int) -> str:
        if index == self.cursor:
            return "◉ "
        return "  " if self.rows[index].is_disabled_reason else "○ "


class PromptList(FilteredList):
    def __init__(self) -> None:
        super().__init__()
        self._list: _PromptRows = _PromptRows(rows_around=18, rows_around_low=9)

    def _fit_about(self) -> None:
        self._about.add_class("-blank")

    def leave(self, lines: int) -> None:
        """Leave so many lines to what is below."""
        self._list.left = lines
        self._list.refresh(layout=True)

    @on(RowList.Clicked)
    def _move_to_clicked(self, event: RowList.Clicked) -> None:
        """Only move: how to go on is chosen below."""
        event.stop()
        event.prevent_default()
        self._show_about()


class WayList(FilteredList, can_focus=False):
    """How to go on. The keyboard stays with the prompts. A click marks a way, and a second one does it."""

    def __init__(self, rows: Sequence[PickerRow[Way]], way: Way) -> None:
        self.way = way
        super().__init__(self._fitting(rows), has_search=False)
        self._list = _WayRows()

    def show_ways(self, rows: Sequence[PickerRow[Way]]) -> None:
        self.show_rows(self._fitting(rows))
        self.go_to(self.way)

    def _fitting(self, rows: Sequence[PickerRow[Way]]) -> list[PickerRow[Way]]:
        """Those that are possible from here in any session, and what the user has chosen."""
        return [row for row in rows if row.is_disabled_reason != FROM_PROMPT or row.value == self.way]

    def step(self, step: int) -> None:
        """Mark the next way that can be gone, or the one before; after the last one, the first."""
        rows, at = self._list.rows, self._list.cursor
        others = [(at + step * away) % len(rows) for away in range(1, len(rows))]
        self._list.move_to(next((other for other in others if not rows[other].is_disabled_reason), at))
        self._mark()

    def _mark(self) -> None:
        assert self.row is not None
        self.way = self.row.value
        self._show_about()

    @on(RowList.Clicked)
    def _mark_clicked(self, event: RowList.Clicked) -> None:
        event.stop()
        event.prevent_default()
        is_again = self.row is not None and self.row.value == self.way
        self._mark()
        if is_again:
            self.action_choose()


class FileRows(LineView):
    """The files to put back, as many as there is room for; the wheel shows more."""

    _files: Sequence[tuple[ChangedPath, str]] = ()

    def show(self, files: Sequence[tuple[ChangedPath, str]]) -> int:
        """Show these, each with a remark; return how many lines they take."""
        self._files = files
        self.display = bool(files)
        height = min(len(files), max((self.app.size.height - ROWS_AROUND_FILES) // 2, 2))
        self.styles.height = height
        self.count_lines(len(files))
        return height

    def draw_line(self, line: int, width: int) -> Strip:
        change, remark = self._files[line]
        return Strip(change_segments(change, width, palette_for(self.app.current_theme), remark))


class GoBackDialog(Dialog[tuple[Way, SentPrompt | None] | None]):
    """Returns how to go on, and from which prompt: None for the session as it is now.

    The title says what Enter does. The keyboard stays with the list of prompts.
    """

    PLACE: Final = "prompts"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, source: GoingBack, way: Way, prompt: SentPrompt | None) -> None:
        """With the cursor on `prompt`, and this way marked."""
        self._source = source
        self._prompt = prompt
        """The prompt that the ways are shown for."""
        self.seen: Mapping[str, ChangedPath] = {}
        """What has changed since the prompt, as shown."""
        self._remarked: Sequence[tuple[ChangedPath, str]] | None = None
        """The same with remarks, once they were to be shown."""
        self._changed: dict[EntryId, str] = {}
        """What has changed from a prompt to the next one."""
        self._is_stale = asyncio.Event()
        """Set when what is known of changes may no longer be so."""
        self._prompts = PromptList()
        self._ways = WayList(source.ways(prompt, None), way)
        self._files = FileRows()
        super().__init__("Go back to a prompt", KEYS, self._prompts, self._ways, self._files)

    def on_mount(self) -> None:
        prompt = self._prompt
        self._prompts.show_rows(self._rows())
        self._prompts.go_to(prompt)
        self._ways.go_to(self._ways.way)
        self._prompts.search()
        self._follow()

    def before_key(self, event: events.Key) -> bool:
        """Take text for the draft that was typed before the dialog was there to be seen."""
        return not self.opened.was_shown_before(event) and self.write_key(event)

    def _rows(self) -> Iterator[PickerRow[SentPrompt | None]]:
        prompts = self._source.prompts
        changed = [self._changed.get(prompt.entry, "") for prompt in prompts]
        if self.app.size.width < NARROW_CELLS:  # only the lines, if they are counted
            asides = [re.sub(r"^[\d,]+ files? (?=[+-])", "", each) for each in changed]
        else:
            pairs = zip(changed, aligned([prompt.age for prompt in prompts]), strict=True)
            asides = ["   ".join(filter(None, pair)) for pair in pairs]
        yield PickerRow(None, "now  Everything said so far")
        for prompt, aside in zip(prompts, asides, strict=True):
            yield PickerRow(prompt, f"{prompt.number:>3}  {prompt.text}", aside=aside)

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
        changed = await self._source.changed(prompt)
        if prompt == self._prompt:
            self._show_ways(changed)
        for each in self._source.prompts:
            if self._is_stale.is_set():
                return
            before = self._changed.get(each.entry)
            if before is None or each == self._source.prompts[0]:  # only the last one's still grow
                changed = await self._source.changed(each, until_next=True)
                now = UNKNOWN * bool(each.age) if changed is None else summary_of(changed)
                self._changed[each.entry] = now
                if now != (before or ""):
                    self._prompts.show_rows(self._rows())

    @on(FolderChanges.Changed)
    def _note_changes(self) -> None:
        self._is_stale.set()

    @on(FilteredList.Moved)
    def _show_prompt(self) -> None:
        row = self._prompts.row
        if row is not None and row.value != self._prompt:
            self._prompt = row.value
            self._show_ways(None)
            self._is_stale.set()
        self._show_way()

    def _show_ways(self, changed: Mapping[str, ChangedPath] | None) -> None:
        """Show how to go on from the prompt, since which these files have changed; None while that isn't known."""
        self.seen, self._remarked = changed or {}, None
        self._ways.show_ways(self._source.ways(self._prompt, changed))

    @on(events.Resize)
    def _show_way(self) -> None:
        """Show what Enter would do, and to which files."""
        is_files = self._ways.way == "files"
        if is_files and self._remarked is None and self._prompt is not None:
            files = sorted(self.seen.values(), key=lambda change: change.path)
            self._remarked = self._source.remarked(self._prompt, files)
        self._prompts.leave(self._files.show((self._remarked or ()) if is_files else ()))

    def _is_agreed(self) -> bool:
        """Whether the user knows that not all of the files need be the agent's; the first time, say so."""
        others = sum(bool(remark) for _, remark in self._remarked or ())
        keys, asks = keys_of(self), OTHERS.format(count=others)
        if keys is None or not others or keys.asked_again == asks:
            return True
        keys.warn_on(self, asks, asks)
        return False

    def action_choose(self, step: int) -> None:
        """Mark the next way to go on, or the one before."""
        self._ways.step(step)

    @on(FilteredList.Chosen)
    def _take_way(self, message: FilteredList.Chosen) -> None:
        if isinstance(message.row.value, str):  # a way
            if self._ways.way != "files" or self._is_agreed():
                self.dismiss((self._ways.way, self._prompt))
        else:
            self._ways.action_choose()
