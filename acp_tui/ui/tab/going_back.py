"""Going back to one of the user's prompts: the dialog to choose it and how to go on from there, and doing that."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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

Way: TypeAlias = Literal["here", "fork", "anew", "agent", "files", "all"]
"""How to go on. "files" are the agent's, or all if no tool call names any; "all" is for those of others, too."""

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
    "anew": ("Go on in a new session", ONLY_BEFORE, SUMMARY),
    "fork": ("Go on in a fork", "a new tab that remembers what came after", "a new tab; this session stays as it is"),
    "agent": ("Go on with another agent", ONLY_BEFORE, SUMMARY),
    "files": ("Put the agent's files back", "", ""),
}
"""The label of each, and what it does from a prompt, and from the session as it is now."""
FILES: Final = ("files", "all")
ALL_FILES: Final = "Put all files back"
FROM_PROMPT: Final = "choose a prompt for that"
KEYS: Final = "{move_up} {move_down} move · {next_field} how to go on · {list_choose} do it · {dialog_close} close"
READING: Final = "reading the files"
UNKNOWN: Final = "changes unknown"
OTHERS: Final = "may be yours"
ASKS: Final = "{count:,} of these may be yours: {{list_choose}} again puts all back"
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


class ChangedFiles(NamedTuple):
    """What has changed since a prompt."""

    named: list[ChangedPath]
    """The agent's: what a tool call since then names, and nobody changed while it had no turn."""
    unnamed: list[ChangedPath]
    """What a command has changed, or the user."""

    def others(self, way: Way) -> Sequence[ChangedPath]:
        """Those that this way puts back although they may not be the agent's."""
        return self.unnamed if way == "all" or (way == "files" and not self.named) else ()

    def put_back(self, way: Way) -> Sequence[ChangedPath]:
        return (*self.others(way), *self.named) if way in FILES else ()

    def summary(self, way: Way) -> str:
        count = f"{len(self.unnamed):,} " * bool(self.named)
        return summary_of(self.put_back(way)) + f", {count}{OTHERS}" * bool(self.others(way))


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
                source, typed = self._session, self._tab.prompt.draft  # after the command
                title = source.conversation.shown_title or "the session above"
                fork = await self._tab.app.open_tab(
                    self._tab.link, source.cwd, lambda sessions: sessions.fork(source, title)
                )
                if prompt is not None:
                    self._write(fork, self._text(prompt.entry))
                elif typed:
                    fork.prompt.put_before(typed)
                    self._tab.prompt.discard_draft()
            case ("anew", prompt):
                self._write(await self._tab.app.open_tab(self._tab.link, self._session.cwd), self._told(prompt))
            case ("agent", prompt):
                await self._hand_over(prompt)
            case (("files" | "all") as way, SentPrompt() as prompt):
                await self._put_back(prompt, dialog.changed, way)

    # What can be done

    def ways(self, prompt: SentPrompt | None, changed: ChangedFiles | None) -> Sequence[PickerRow[Way]]:
        """The same from each prompt, but for files. `changed` are those since then; None while that isn't known."""
        labels, from_prompt, from_now = zip(*WAYS.values(), strict=True)
        rows = [
            PickerRow(way, label, about, is_disabled_reason=self._why_not(way, prompt, changed))
            for way, label, about in zip(
                WAYS, aligned(labels), from_now if prompt is None else from_prompt, strict=True
            )
        ]
        if changed is not None and any(changed):
            *rows, files = rows
            everything = ALL_FILES.ljust(len(files.label))
            rows += [PickerRow("files", files.label if changed.named else everything, changed.summary("files"))]
            rows += [PickerRow("all", everything, changed.summary("all"))] * all(changed)
        return rows

    def _why_not(self, way: Way, prompt: SentPrompt | None, changed: ChangedFiles | None) -> str:
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
            case "files" if changed is None or not any(changed):
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
        with suppress(ChangesError):
            if self._moments is not None and prompt is not None:
                return await self._moments.changed(prompt.entry, until_next=until_next)
        return None

    async def changed_files(self, prompt: SentPrompt | None) -> ChangedFiles | None:
        """The same since this prompt, by who may have changed them."""
        changed = await self.changed(prompt)
        if changed is None or prompt is None:
            return None
        named: Collection[str] = ()
        if changed and self._moments is not None:
            with suppress(ChangesError):
                later = await self._moments.changed_between_turns(prompt.entry)
                named = named_since(self._session.conversation, prompt.entry, self._session.cwd) - later
        files = ChangedFiles([], [])
        for path, change in sorted(changed.items()):
            (files.named if path in named else files.unnamed).append(change)
        return files

    async def _last_with_changes(self) -> SentPrompt | None:
        """The last prompt since which files have changed; None if there is none, or it isn't found at once."""
        with move_on_after(FIND_LIMIT_S):
            for prompt in self.prompts:
                if await self.changed(prompt):
                    return prompt
        return None

    async def _put_back(self, prompt: SentPrompt, changed: ChangedFiles, way: Way) -> None:
        assert self._moments is not None
        chosen, total = changed.put_back(way), len(changed.put_back("all"))
        failures = await self._moments.put_back(prompt.entry, chosen)
        done = len(chosen) - len(failures)
        undo = self._tab.hint(": {show_changes} {undo_revert} undoes that") if done else ""
        count = f"{done:,} of " * (done < total)
        said = f"Put back {count}{files(total)} as before prompt {prompt.number}{undo}{failed(failures)}"
        self._tab.say(said, severity="warning" if failures else "information")

    # Elsewhere

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
        return min(super().get_content_height(container, viewport, width), self.room - self.left)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        *before, end = super()._row_segments(index, width, palette)
        styles = {"+": palette.success, "-": palette.error}
        parts = re.split(r"(?<= )([+-][\d,]+)", end.text)
        return [*before, *(Segment(part, styles.get(part[:1], end.style)) for part in parts)]


class _WayRows(RowList):
    """On a low screen, only the way at the cursor. Otherwise as high from each prompt, so that little moves."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 if self.screen.has_class("-low") else max(len(self.rows), len(WAYS))

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

    def __init__(self, way: Way) -> None:
        self._wanted = way
        """What the user has chosen last, wherever that is there."""
        super().__init__(has_search=False)
        self._list = _WayRows()

    @property
    def way(self) -> Way:
        way: Way = self._wanted if self.row is None else self.row.value
        return way

    def show_ways(self, rows: Sequence[PickerRow[Way]]) -> None:
        """Show those that are possible from here in any session, and what the user has chosen."""
        wanted = FILES if self._wanted in FILES else (self._wanted,)
        self.show_rows(row for row in rows if row.is_disabled_reason != FROM_PROMPT or row.value in wanted)
        self.go_to(self._wanted if any(row.value == self._wanted for row in self.all) else "files")

    def step(self, step: int) -> None:
        """Mark the next way that can be gone, or the one before; after the last one, the first."""
        rows, at = self._list.rows, self._list.cursor
        others = [(at + step * away) % len(rows) for away in range(1, len(rows))]
        self._list.move_to(next((other for other in others if not rows[other].is_disabled_reason), at))
        self._mark()

    def _mark(self) -> None:
        self._wanted = self.way
        self._show_about()

    @on(RowList.Clicked)
    def _mark_clicked(self, event: RowList.Clicked) -> None:
        event.stop()
        event.prevent_default()
        is_again = self.way == self._wanted
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

    The keyboard stays with the list of prompts.
    """

    PLACE: Final = "prompts"
    BINDINGS = bindings_of(place=PLACE)

    def __init__(self, source: GoingBack, way: Way, prompt: SentPrompt | None) -> None:
        """With the cursor on `prompt`, and this way marked."""
        self._source = source
        self._prompt = prompt
        """The prompt that the ways are shown for."""
        self.changed = ChangedFiles([], [])
        """What has changed since the prompt, as shown."""
        self._changed: dict[EntryId, str] = {}
        """What has changed from a prompt to the next one."""
        self._is_stale = asyncio.Event()
        """Set when what is known of changes may no longer be so."""
        self._prompts = PromptList()
        self._ways = WayList(way)
        self._files = FileRows()
        super().__init__("Go back to a prompt", KEYS, self._prompts, self._ways, self._files)

    def on_mount(self) -> None:
        self._prompts.show_rows(self._rows())
        self._prompts.go_to(self._prompt)
        self._show_ways(None)
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
        files = await self._source.changed_files(prompt)
        if prompt == self._prompt:
            self._show_ways(files)
        for each in self._source.prompts:
            if self._is_stale.is_set():
                return
            before = self._changed.get(each.entry)
            if before is None or each == self._source.prompts[0]:  # only the last one's still grow
                changed = await self._source.changed(each, until_next=True)
                now = UNKNOWN * bool(each.age) if changed is None else summary_of(changed.values())
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

    def _show_ways(self, changed: ChangedFiles | None) -> None:
        """Show how to go on from the prompt, since which these files have changed; None while that isn't known."""
        self.changed = changed or ChangedFiles([], [])
        self._ways.show_ways(self._source.ways(self._prompt, changed))

    @on(events.Resize)
    def _show_way(self) -> None:
        """Show what Enter would do, and to which files."""
        files, others = self.changed.put_back(self._ways.way), len(self.changed.others(self._ways.way))
        self._prompts.leave(self._files.show([(each, OTHERS * (at < others)) for at, each in enumerate(files)]))

    def action_choose(self, step: int) -> None:
        """Mark the next way to go on, or the one before."""
        self._ways.step(step)

    @on(FilteredList.Chosen)
    def _take_way(self, message: FilteredList.Chosen) -> None:
        if not isinstance(message.row.value, str):  # a prompt
            self._ways.action_choose()
            return
        way = self._ways.way
        others = len(self.changed.others(way))
        keys, asks = keys_of(self), ASKS.format(count=others)
        if keys is not None and others and keys.asked_again != asks:
            keys.warn_on(self, asks, asks)
        else:
            self.dismiss((way, self._prompt))
