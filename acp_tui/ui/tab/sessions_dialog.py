"""Sessions: all of them, in tabs, hosts, agents, and recordings, in one list. The dialog itself opens none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

from rich.style import Style
from textual import events, on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.client.line_comments import Comment
from acp_tui.client.sessions.session_history import PastSession, merged
from acp_tui.conversation.facts import RequestKey, SessionId, SessionSummary
from acp_tui.conversation.permission_requests import Rejection
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.dialogs.naming import NameDialog
from acp_tui.ui.dialogs.session_rows import EARLIER, NEEDS_YOU, OpenMode, SessionRow, in_order, row_of, session_rows
from acp_tui.ui.kit.dialog import Dialog, shown, shown_line
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import MOST_ROWS, PickerRow
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.rendering.inline import inline_lines
from acp_tui.ui.rendering.markdown import markdown_parser
from acp_tui.ui.rendering.palette import PLAIN
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.ui.session.panel import SessionPanel
from acp_tui.ui.tab.sessions import HistoryController

EMPTY_PAGES_IN_A_ROW: Final = 20
"""Empty pages with a cursor aren't the end of the list (R-SESS-9), but after this many in a row loading stops."""
Act: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class SessionListing:
    """The sessions that the agent has listed so far."""

    def __init__(self, source: HistoryController, *, is_everywhere: bool) -> None:
        self.sessions: dict[SessionId, SessionSummary] = {}
        self.is_at_end = False
        self._source = source
        self._is_everywhere = is_everywhere
        self._cursor: str | None = None
        self.has_restarted = False
        """A refused cursor led back to the first page."""

    async def load_some(self) -> None:
        """Load pages until one isn't empty. Raises ClientError."""
        for _ in range(EMPTY_PAGES_IN_A_ROW):
            found = await self._next_page()
            self.is_at_end = self._cursor is None
            if found or self.is_at_end:
                break

    async def _next_page(self) -> bool:
        """Load a page. Returns whether it has sessions. A refused cursor leads back to the first page, once."""
        try:
            page = await self._source.page(self._cursor, self._is_everywhere)
        except AgentRefused:
            if self._cursor is None or self.has_restarted:
                raise
            self.has_restarted = True
            page = await self._source.page(None, self._is_everywhere)
            self.sessions.clear()
        self._cursor = page.next_cursor
        self.sessions |= {session.session_id: session for session in page.sessions}
        return bool(page.sessions)


MAX_TITLE_CELLS: Final = 60
"""In a question."""
FOUND: Final = "In the conversations"


class Resized(Message):
    """Posted when the rows are wider, or the question needs other lines or is another one of the same tab."""


class SessionList(FilteredList):
    """The list of sessions. The values of its rows are their keys."""

    rare_rows = "archived ones, too"

    class Sought(Message):
        """Posted when the user searches for other words."""

    def __init__(self, rows: Sequence[PickerRow[str]], *, empty: str) -> None:
        super().__init__(rows, empty=empty)
        self._found: Sequence[PickerRow[str]] = ()
        self._lines: dict[str, str] = {}
        """What was found in the conversations, by session key."""

    @property
    def words(self) -> str:
        return self._search.value.strip() if self.is_mounted else ""

    def on_resize(self, event: events.Resize) -> None:
        self.post_message(Resized())

    def show_found(self, rows: Sequence[PickerRow[str]]) -> None:
        """Add these rows until the search changes."""
        self._found = rows
        self._show_again()

    @property
    def unread(self) -> str:
        """The first row in view whose line in the conversation isn't known yet; "" for none."""
        near = self._list.rows[max(self._list.cursor, 0) :][:MOST_ROWS]
        return next((row.value for row in near if row.group == FOUND and row.value not in self._lines), "")

    def show_line(self, key: str, line: str) -> None:
        """Show this line of the conversation below its row, with its Markdown read."""
        spans = inline_lines(markdown_parser(), line, {}, PLAIN, Style.null())[0]
        self._lines[key] = "".join(text for text, _ in spans)
        self._show_again()

    @on(Input.Changed)
    def _narrow_anew(self) -> None:
        if self._words != self._search.value:
            self._found, self._lines = (), {}
            self.post_message(self.Sought())
        super()._narrow_anew()

    def _matching(self) -> Sequence[PickerRow[str]]:
        by_title = super()._matching()
        shown = {row.value for row in by_title}
        found = [row for row in self._found if row.value not in shown]
        lines = (replace(row, group=FOUND, below=self._lines.get(row.value, "…")) for row in found)
        return [*by_title, *lines]


HERE: Final = "this project"
EVERYWHERE: Final = "all projects"
BESIDE_CELLS: Final = 4
"""Beside a row: its mark, and the scroll bar with its gap."""
MOST_LINES: Final = 40
"""Of the dialog with a question; the stylesheet says it, too."""
LINES_BESIDE: Final = 16
"""Beside a list that leaves room for all that may be said below it."""
LIST_SHARE: Final = 4
"""Above a question, one in so many lines of the dialog is the list's, but not fewer than three."""
LINES_AROUND: Final = 6
"""Around the list and the question: the frame, the title, the search line, and what is said."""


class QuestionBelow(PermissionCard):
    """A tab's permission request below the list, with the keys and the guard of the tab's own card."""

    WAY_IN = "{sessions_answer}"
    WRITES_TO = "the search"

    class Answered(Message):
        """Posted when the request that had the focus is gone."""

    @property
    def lines(self) -> int:
        """How many it takes, with its margin; 0 until it has drawn what is asked."""
        is_drawn = self.display and self.body.size.height > 0
        return (self.outer_size.height + self.styles.margin.height) * is_drawn

    def on_resize(self) -> None:
        self.post_message(Resized())

    def note_request(self, asked: ShownRequest | None, *, is_other: bool) -> None:
        if asked is None and self.has_focus_within:
            self.post_message(self.Answered())
        elif is_other and self.asked is not None:
            self.post_message(Resized())
        super().note_request(asked, is_other=is_other)
        self.screen.set_class(asked is not None, "-with-card")


class SessionsDialog(Dialog[Act | None]):
    """Lists sessions. Returns what to do once it is gone, such as opening one, which happens once.

    Answers, renames, marks, and deletes while it stays open.
    """

    PLACE: ClassVar[Place] = "sessions"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)
    only_opens = True

    def __init__(
        self, source: HistoryController, *, here: Path | None = None, now: Callable[[], datetime] = datetime.now
    ) -> None:
        """`here` is the user's folder."""
        self._source = source
        self._here = here
        self._now = now
        self._listing = SessionListing(source, is_everywhere=False)
        self._hosted: Sequence[SessionRow] = ()
        self._in_agents: Sequence[tuple[AgentCommand, Sequence[SessionSummary]]] = ()
        self._recorded: Sequence[PastSession] = ()
        self._found: Sequence[PastSession] = ()
        """Found by the words of the search."""
        self._kept: set[str] = set()
        """The keys of sessions archived here. They stay in their place, where the same key brings them back."""
        self._rows: dict[str, SessionRow] = {}
        """All sessions shown, by key."""
        self._drawn: dict[str, PickerRow[str]] = {}
        """The rows of the list, by key."""
        self._troubles: dict[str, ClientError] = {}
        """What couldn't be listed, and why."""
        self._is_everywhere = False
        self._loading: Worker[None] | None = None
        self._waiting = {"hosts"}
        """What is still loading."""
        self.has_local = asyncio.Event()
        """Set when it lists what is known on this machine."""
        self._looking: Worker[None] | None = None
        self._doing: Worker[None] | None = None
        self._wanted = ""
        """The words to search for in the conversations."""
        self._reading: Worker[None] | None = None
        rows = session_rows(in_order(source.in_tabs()), here=here, now=now().astimezone(), cells=0)
        self._list = SessionList(rows, empty="Loading …")
        self._notice: tuple[str, Content] | None = None
        """What was said of the row with this key."""
        self._asking: SessionPanel | None = None
        """Whose request the card shows."""
        self._card_lines = 0
        """The most that the card has taken while a question waits, so that nothing moves with the cursor."""
        self._card = QuestionBelow(self, clock=source.clock)
        self._said = Static(classes="dialog-said", markup=False)
        super().__init__("Sessions", self._keys, self._list, self._card, self._said)

    def on_mount(self) -> None:
        """Begin at the session in front, or at the first one that needs the user."""
        if next((row.group for row in in_order(self._source.in_tabs())), "") == NEEDS_YOU:
            self._list.action_move(-len(self._source.in_tabs()))
        self._source.listeners.append(self._show)
        self.watch(self._card, "has_focus", self._tell_keys, init=False)
        self.run_worker(self._look_at_hosts())
        self.run_worker(self._ask_agents())
        self._begin()

    def _on_prune(self) -> None:
        """Hear nothing more while everything is still here."""
        self._source.listeners.remove(self._show)
        if self._asking is not None:
            self._asking.body.mirrors.discard(self._card.body.put_up)

    async def _look_at_hosts(self) -> None:
        await self._source.look_at_tabs()
        self._hosted = await self._source.in_hosts()
        self._waiting.discard("hosts")
        self._show()

    async def _ask_agents(self) -> None:
        self._in_agents = await self._source.in_agents()
        self._show()

    # Loading

    def _begin(self) -> None:
        self._troubles.clear()
        self._waiting = {"recorded", *self._waiting & {"hosts"}}
        self._read_recorded()
        self._load_more()

    @work(exclusive=True, group="recorded")
    async def _read_recorded(self) -> None:
        try:
            self._recorded = await self._source.recorded("", self._is_everywhere)
        except ClientError as error:
            self._troubles["recorded"] = error
        self._waiting.discard("recorded")
        self._show()

    @work(exclusive=True, group="listed")
    async def _load(self) -> None:
        """Load what follows, at first until the screen is full. Some agents always promise another page."""
        listing, before = self._listing, -1
        wanted = max(MOST_ROWS, len(listing.sessions) + 1)
        try:
            while before < len(listing.sessions) < wanted and not listing.is_at_end:
                before = len(listing.sessions)
                await listing.load_some()
                self._show()
        except ClientError as error:
            self._troubles["listed"] = error
        self._waiting.discard("listed")
        self._show()
        self._ask_statuses(listing)

    @work(exclusive=True, group="statuses")
    async def _ask_statuses(self, listing: SessionListing) -> None:
        """Show what the agent says of the sessions it has listed, one after the other."""
        with suppress(ClientError):
            for id_, session in tuple(listing.sessions.items()):
                status = await self._source.status(id_) if session.status is None else None
                if status is not None and id_ in listing.sessions:
                    listing.sessions[id_] = replace(session, status=status)
                    self._show()

    def action_retry(self) -> None:
        self._listing.has_restarted = False  # the user retries
        if "recorded" in self._troubles:
            self._begin()
        else:
            self._load_more()

    @on(FilteredList.EndReached)
    def _load_more(self) -> None:
        is_idle = self._loading is None or self._loading.is_finished
        if is_idle and not self._listing.is_at_end:
            self._troubles.pop("listed", None)
            self._waiting.add("listed")
            self._loading = self._load()
            self._say_how_it_stands()

    def action_switch_folders(self) -> None:
        self._is_everywhere = not self._is_everywhere
        self._listing = SessionListing(self._source, is_everywhere=self._is_everywhere)
        self._recorded = self._found = ()
        self._loading = None
        self._begin()
        self._show()
        self._look_for(self._list.words)

    @property
    def _keys(self) -> str:
        """Those that fit the row at the cursor; the help has all. The card tells its own."""
        if self._card.has_focus:
            return "{leave_question} back to the list"
        other, row = HERE if self._is_everywhere else EVERYWHERE, self._row
        fits = ["{list_choose} open"]
        if row is not None and row.is_tab:
            fits.append("{close_tab} close tab")
        elif row is not None and row.past is not None:
            fits.append(f"{{sessions_remove}} {'bring back' if row.is_archived else 'remove'}")
        if row is not None and row.past is not None:
            fits.append(f"{{sessions_rename}} rename · {{sessions_pin}} {'unpin' if row.is_pinned else 'pin'}")
        return " · ".join((*fits, f"{{sessions_folders}} {other}", "{dialog_close} close"))

    def _tell_keys(self) -> None:
        self.frame.foot.keys = self._keys

    # What is shown

    @on(Resized)
    def _show(self) -> None:
        past, command = self._recorded, self._source.command
        if command is not None:
            past = merged(self._listing.sessions.values(), command, past, self._source.agent_title)
        for agent, sessions in self._in_agents:
            past = merged(sessions, agent, past)
        placed = {row.key: row for row in (*self._source.in_tabs(), *self._hosted)}
        hosted = {(row.past.session_id, row.folder): row.key for row in self._hosted if row.past is not None}
        rows = []
        order = {one.key: at for at, one in enumerate(past)}
        marked = self._source.marked(past)
        for one in sorted(marked, key=lambda one: (one.is_archived and one.key not in self._kept, order[one.key])):
            key = self._source.key_in_tabs(one) or hosted.get((one.session_id, one.cwd), "")
            if key in placed:
                placed[key] = _with_past(placed[key], one)
            else:
                rows.append(row_of(one, *self._source.judge(one)))
        shown, before = in_order((*placed.values(), *rows)), self._row
        self._rows = {row.key: row for row in shown}
        self._lay_out(shown)
        drawn = self._draw(shown)
        self._drawn = {row.value: row for row in drawn}
        empty = "Couldn't list any sessions" if self._troubles else "No sessions yet"
        empty = "Loading …" if self._waiting else empty
        self._list.show_rows(drawn, empty=empty)
        if before is not None and before.past is not None and not (before.is_tab or before.key in self._rows):
            id_ = before.past.session_id  # a recording or a host of it is known now
            self._list.go_to(next((row.key for row in shown if row.past and row.past.session_id == id_), ""))
        self._show_found()
        self._say_how_it_stands()
        if self._waiting.isdisjoint({"recorded", "hosts"}):
            self.has_local.set()

    def _lay_out(self, rows: Sequence[SessionRow]) -> None:
        """Share the lines out between the list and the question. If they're few, each row has only one."""
        listed = [row for row in rows if not row.can_be_hidden]
        lines = len(listed) + len({row.group for row in listed})
        both = lines + sum(bool(row.last) for row in listed)
        is_needed = any(row.is_tab and row.group == NEEDS_YOU for row in rows)
        height = min(self.size.height, MOST_LINES)
        is_low = self.has_class("-low")
        beside = LINES_AROUND - is_low - is_needed + self.frame.foot.size.height  # without a title, or a blank line
        room = height - beside - max(height // LIST_SHARE, 3)
        self._card_lines = min(max(self._card_lines, self._card.lines), room) * is_needed
        is_dense = is_low or (is_needed and both > height - beside - self._card_lines)
        lines = lines if is_dense else both
        self.set_class(is_dense, "-dense")
        self.set_class(bool(self._card_lines), "-needed")
        self.set_class(bool(self._card_lines) or lines > min(MOST_ROWS, height - LINES_BESIDE), "-full")
        self.frame.styles.max_height = beside + self._card_lines + max(lines, 3) if self._card_lines else None
        self._card.body.fit(room)

    def _draw(self, rows: Iterable[SessionRow]) -> list[PickerRow[str]]:
        return session_rows(
            rows,
            here=self._here,
            now=self._now().astimezone(),
            cells=self._list.size.width - BESIDE_CELLS,
            is_low=self.has_class("-dense"),
            kept=self._kept,
        )

    def _say_how_it_stands(self) -> None:
        """Show what was said of the row at the cursor, otherwise what is listed so far."""
        if self._notice is not None and self._notice[0] == self._key:
            self._said.update(self._notice[1])
            return
        self._notice = None
        troubles = [shown(_told(error), "$text-error") for error in self._troubles.values()]
        self._said.update(Content("\n").join([*troubles, Content(self._summary())]))

    def _summary(self) -> str:
        number = sum(row.group == EARLIER and not row.can_be_hidden for row in self._rows.values())
        found = f"{number or 'none'} earlier in {EVERYWHERE if self._is_everywhere else HERE}".capitalize()
        if self._waiting:
            return "Loading …"
        if self._troubles:
            return keys_in_force(self).hint("{reload}: load again")
        if self._listing.is_at_end:
            return found
        return f"{found}, and more: ↓ at the end of the list" if number else f"{found} yet: ↓ looks further"

    # Searching conversations

    @on(SessionList.Sought)
    def _look_up(self) -> None:
        """Search the conversations, which takes a moment. Titles are filtered at once."""
        self._found, self._notice = (), None
        self._look_for(self._list.words)
        self._card.guard.note_draft(self._list.words)

    def _look_for(self, words: str) -> None:
        """Search for these words. One search runs at a time; words typed in the meantime are searched next."""
        self._wanted = words
        if words and (self._looking is None or self._looking.is_finished):
            self._looking = self._search()

    @work(group="looking")
    async def _search(self) -> None:
        sought = ("", False)
        while self._wanted and sought != (self._wanted, self._is_everywhere):
            sought = (self._wanted, self._is_everywhere)
            try:
                found = await self._source.recorded(*sought)
            except ClientError as error:
                self._troubles["recorded"] = error
                break
            if sought == (self._wanted, self._is_everywhere):
                self._found = found
                self._show_found()
        self._say_how_it_stands()

    def _show_found(self) -> None:
        """Show found sessions below those that match by title."""
        found: dict[str, SessionRow] = {}
        for one in self._source.marked(self._found):
            key = self._source.key_in_tabs(one) or one.key
            row = self._rows.get(key) or row_of(one, *self._source.judge(one))
            found[key] = row
        # Most are in the list already: a search is shown with each letter.
        drawn = {row.value: row for row in self._draw(row for key, row in found.items() if key not in self._drawn)}
        self._rows |= found
        self._list.show_found([self._drawn.get(key) or drawn[key] for key in found])

    @work(group="lines")
    async def _read_lines(self) -> None:
        """Show the lines that match the search below the sessions in view."""
        while key := self._list.unread:
            words, session = self._list.words, self._rows[key].past
            try:
                line = await self._source.line_with(session, words) if session is not None else ""
            except ClientError as error:
                line = str(error)
            if words == self._list.words:
                self._list.show_line(key, line)

    # The question of the session at the cursor

    @on(FilteredList.Moved)
    def _show_row(self) -> None:
        """Show its keys, what its agent asks, and the lines that match the search."""
        self._tell_keys()
        self._say_how_it_stands()
        self._show_question()
        if self._reading is None or self._reading.is_finished:
            self._reading = self._read_lines()

    def _show_question(self) -> None:
        """Show the request that the panel of its tab shows, and its changes, under the tab's name."""
        row = self._row
        panel = self._source.panel_asking(row.key) if row is not None else None
        if row is not None:
            name = f"{row.mark.strip()} {row.agent}: {row.title}" if row.title else f"{row.mark.strip()} {row.agent}"
            self._card.border_title = shown_line(cut(name, MAX_TITLE_CELLS))
        if panel is self._asking:
            return
        if self._asking is not None:
            self._asking.body.mirrors.discard(self._card.body.put_up)
        self._card.body.put_up(None)
        self._asking = panel
        if panel is not None:
            panel.body.mirrors.add(self._card.body.put_up)
            self._card.body.source = panel.body
            self._card.body.put_up(panel.body.asked)

    def action_answer(self) -> None:
        """Go to the question."""
        self._show_question()  # the key may have overtaken the message that the cursor has moved
        if self._card.display:
            self._card.enter()
        elif (row := self._row) is not None and row.group == NEEDS_YOU:
            self._say(Content(keys_in_force(self).hint("{list_choose} opens it; answer there")))

    @on(QuestionBelow.Answered)
    def _go_to_next_question(self) -> None:
        """Go to the next question that waits. Its answer counts only after a pause."""
        for row in in_order(self._source.in_tabs()):
            panel = self._source.panel_asking(row.key)
            if panel is not None and panel.body.asked is not None:
                self._show()
                self._list.go_to(row.key)
                self._show_question()
                if self._asking is panel:
                    self._card.enter()
                return

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """On the question, no key acts on the list."""
        return self.focused is not self._card or action == "close"

    def answer_request(self, key: RequestKey, option_id: str) -> None:
        if self._asking is not None:
            self._asking.answer_request(key, option_id)

    @property
    def comments(self) -> list[Comment]:
        return self._asking.comments if self._asking is not None else []

    def ask_why(self, rejection: Rejection, typed: str, keys: Sequence[events.Key | events.Paste]) -> None:
        """Let the user write the reason in the session's own prompt."""
        if self._asking is not None:
            self._asking.ask_why(rejection, typed, keys)
            self._open(self._row)

    def write(self, text: str, keys: Sequence[events.Key | events.Paste], *, is_paste: bool) -> None:
        """Put the text into the session's own draft, and go there, as from its own card."""
        if self._asking is not None:
            self._asking.write(text, keys, is_paste=is_paste)
            self._open(self._row)

    def leave(self, *, to_read: bool = False) -> None:
        self._list.search()

    # The user's actions

    @property
    def _key(self) -> str:
        return self._list.row.value if self._list.row is not None else ""

    @property
    def _row(self) -> SessionRow | None:
        return self._rows.get(self._key)

    @on(FilteredList.Chosen)
    def _open_row(self, message: FilteredList.Chosen) -> None:
        row = self._rows[message.row.value]
        if row.state == OpenMode.NONE.value:
            self._say(shown(row.why, "$text-warning"))
        else:
            self._open(row)

    def _open(self, row: SessionRow | None) -> None:
        if row is not None:
            self.dismiss(partial(self._source.open, row))

    def action_new(self) -> None:
        self.dismiss(self._source.begin)

    @property
    def _tab(self) -> str:
        """The key of the tab at the cursor; "" after a notice if there is none."""
        row = self._row
        if row is not None and row.is_tab:
            return row.key
        self._say(shown("It has no tab.", "$text-warning"))
        return ""

    @property
    def _is_busy(self) -> bool:
        """Whether what a key began isn't done: the next one, of a key held down, has no effect."""
        return self._doing is not None and not self._doing.is_finished

    def action_close_tab(self) -> None:
        """Close the tab at the cursor."""
        if (key := self._tab) and not self._is_busy:
            self._doing = self.app.run_worker(self._source.close(key))  # the tab's own work ends with it

    def action_move(self, direction: int) -> None:
        if key := self._tab:
            self._source.move(key, direction)

    async def action_change(self, how: str) -> None:
        """Rename, pin, or remove the session. The dialog stays open. The next keys wait for the field of the name."""
        row = self._row
        if row is None:
            return
        past = row.past
        if past is None:
            self._say(shown("There is no session yet in this tab.", "$text-warning"))
        elif how == "rename":
            name = NameDialog(make_visible_line(past.title), self.focused)
            await self.app.push_screen(name, partial(self._rename, past))
        elif not self._is_busy:
            self._doing = self._change(self._source.pin(past) if how == "pin" else self._remove(past, row))

    def _rename(self, session: PastSession, name: str | None) -> None:
        if name is not None:
            self._change(self._source.rename(session, name))

    @work()
    async def _change(self, change: Coroutine[Any, Any, None]) -> None:
        try:
            await change
        except ClientError as error:
            self._say(shown(_told(error), "$text-error"))
            return
        self._show()

    async def _remove(self, session: PastSession, row: SessionRow) -> None:
        """Take an earlier session off the list: archive it, or delete it, as far as that can be. Or bring it back."""
        if row.is_tab:
            self._say(Content(keys_in_force(self).hint("It's open; {close_tab} closes its tab")))
            return
        if row.state == OpenMode.ELSEWHERE.value:
            self._say(shown(f"It's {row.why or row.state}", "$text-warning"))
            return
        is_deleted: bool | None = False
        title = cut(make_visible_line(session.title or session.session_id), MAX_TITLE_CELLS)
        archived = f"Archived “{title}”. {keys_in_force(self).hint('{sessions_remove} brings it back')}"
        told = "Brought the session back." if session.is_archived else archived
        fate = await self._source.fate(session)
        if fate or (session.is_pinned and not session.is_archived):
            way, what = ("Bring it back", "") if session.is_archived else ("Archive it", "a search finds it")
            all_of_it = " · ".join(("can't be undone", *fate))
            rows = [PickerRow(False, way, what), PickerRow(True, "Delete it", all_of_it, needs_care=True)]
            remove = f"Remove {'the pinned ' * session.is_pinned}“{title}” from this list"
            question = f"“{title}” is archived" if session.is_archived else remove
            is_deleted = await self.app.push_screen_wait(Picker(question, rows[: 1 + bool(fate)], search=False))
        if is_deleted:
            await self._source.delete(session)
            self._listing.sessions.pop(session.session_id, None)
            self._recorded = await self._source.recorded("", self._is_everywhere)
            self._found = [one for one in self._found if one.key != session.key]
            self.notify("Removed the session.")
        elif is_deleted is not None:
            self._kept.add(session.key)
            self._notice = (row.key, Content(told))
            await self._source.archive(session)

    def _say(self, what: Content) -> None:
        """Say it until the cursor is on another row."""
        self._notice = (self._key, what)
        self._say_how_it_stands()


def _with_past(row: SessionRow, found: PastSession) -> SessionRow:
    """A session in a tab or a host, with what is listed or recorded of it."""
    own, title = row.past, row.title or found.title
    if own is None or own.agent == found.agent:
        past = replace(found, agent_title=own.agent_title if own is not None else found.agent_title)
        return replace(row, title=title, past=past)
    return replace(row, title=title, past=replace(own, recorded=found.recorded))


def _told(error: ClientError) -> str:
    return "\n".join(filter(None, (str(error), error.detail, error.hint)))
