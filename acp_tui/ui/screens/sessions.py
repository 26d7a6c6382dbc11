"""The sessions that an agent keeps, page by page; opening and deleting them is the caller's business."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from acp_tui.client.errors import AgentRefused, ClientError
from acp_tui.ui.screens.session_rows import Listed, session_rows
from acp_tui.ui.widgets.fields.filtered_list import FilteredList
from acp_tui.ui.widgets.fields.frame import Frame, shown, shown_line

EMPTY_PAGES_IN_A_ROW: Final = 20
"""An empty page with a cursor is not the end (R-SESS-9); an agent that sends only such pages gets no more turns."""
KEYS: Final = "Enter open · n new · d delete · a {other} · / search · Esc close"
HERE: Final = "this folder"
EVERYWHERE: Final = "all folders"


LoadPage: TypeAlias = Callable[[str | None, bool], Awaitable[tuple[Sequence[Listed], str | None]]]
"""The page at a cursor, None for the first, and the cursor of the next, None for the end: of the sessions in the folder
that the user works in, or, where the second argument is true, of those everywhere. Raises ClientError."""
Wish: TypeAlias = tuple[Literal["open", "delete", "new"], str]
"""What the user wants, and with which session; "" for a new one."""


class SessionsDialog(ModalScreen[Wish | None]):
    """Lists sessions, and gives what to do with which."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Close", show=False),
        Binding("n", "new", "New session", show=False),
        Binding("d", "delete", "Delete the session", show=False),
        Binding("y", "confirm", "Yes, delete it", show=False),
        Binding("a", "switch_folders", "All folders or this one", show=False),
        Binding("r", "retry", "Load again", show=False),
        Binding("slash", "search", "Search", show=False),
    ]

    def __init__(
        self,
        agent_title: str,
        load_page: LoadPage,
        *,
        current: str = "",
        here: Path | None = None,
        no_delete: str = "",
        no_open: str = "",
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """`current` is the id of the session shown, `here` the folder that the user works in.

        `no_delete` and `no_open` say why that cannot be done.
        """
        super().__init__(classes="dialog")
        self._agent_title = agent_title
        self._load_page = load_page
        self._current = current
        self._here = here
        self._now = now
        self._no_delete, self._no_open = no_delete, no_open
        self._sessions: dict[str, Listed] = {}
        self._cursor: str | None = None
        self._is_everywhere = False
        self._is_at_end = False
        self._has_restarted = False
        self._loading: Worker[None] | None = None
        self._doomed: str | None = None
        """The id of the session that is deleted when the user says yes."""
        self._list = FilteredList(has_search=False, empty="Loading …")
        self._said = Static(classes="dialog-said", markup=False)

    def compose(self) -> ComposeResult:
        """The list, and below it what is going on."""
        title = Content.assemble("Sessions of ", shown_line(self._agent_title))
        yield Frame(title, KEYS.format(other=EVERYWHERE), self._list, self._said)

    def on_mount(self) -> None:
        """Load the first page."""
        self._loading = self._load()

    # Loading

    @work(exclusive=True)
    async def _load(self) -> None:
        self._say("Loading …")
        try:
            await self._load_some()
        except ClientError as error:
            self._fail(error)
        else:
            self._say(self._summary())

    async def _load_some(self) -> None:
        """Load pages until one has something in it."""
        for _ in range(EMPTY_PAGES_IN_A_ROW):
            found = await self._next_page()
            self._is_at_end = self._cursor is None
            if found or self._is_at_end:
                break
        self._show()

    async def _next_page(self) -> bool:
        """Load a page; True where it held sessions. A cursor that is refused leads back to the first page, once."""
        start = self._cursor
        try:
            page, self._cursor = await self._load_page(start, self._is_everywhere)
        except AgentRefused:
            if start is None or self._has_restarted:
                raise
            self._has_restarted = True
            self._sessions.clear()
            page, self._cursor = await self._load_page(None, self._is_everywhere)
        self._sessions |= {session.session_id: session for session in page}
        return bool(page)

    def _show(self) -> None:
        rows = session_rows(
            self._sessions.values(), current=self._current, here=self._here, now=self._now().astimezone()
        )
        elsewhere = "" if self._is_everywhere else " in this folder; a lists those in all folders"
        self._list.show_rows(rows, empty=f"There is no session yet{elsewhere}, n makes one")

    def _fail(self, error: ClientError) -> None:
        if not self._sessions:
            self._list.show_rows((), empty="No session could be listed")
        parts = filter(None, (str(error), error.detail, error.hint))
        self._say(shown("\n".join((*parts, "r: load again")), "$text-error"))

    def _summary(self) -> str:
        found = f"{len(self._sessions)} in {EVERYWHERE if self._is_everywhere else HERE}"
        if self._is_at_end:
            return found if self._sessions else ""
        return f"{found} so far · ↓ at the end loads more"

    def _say(self, what: str | Content) -> None:
        self._said.update(what)

    def on_filtered_list_end_reached(self) -> None:
        """There may be more."""
        self._load_more()

    def action_retry(self) -> None:
        """Load what is missing."""
        self._has_restarted = False
        self._load_more()

    def _load_more(self) -> None:
        is_idle = self._loading is None or self._loading.is_finished
        if is_idle and not self._is_at_end:
            self._loading = self._load()

    def action_switch_folders(self) -> None:
        """List the sessions of all folders, or again of this one; in the middle of a question, only that ends."""
        if self._doomed is not None:
            self._spare()
            return
        self._is_everywhere = not self._is_everywhere
        self._sessions.clear()
        self._cursor, self._is_at_end, self._has_restarted = None, False, False
        self._list.show_rows((), empty="Loading …")
        self.query_one(Frame).show_keys(KEYS.format(other=HERE if self._is_everywhere else EVERYWHERE))
        self._loading = self._load()

    # What the user wants

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """Open it; in the middle of the question whether to delete, only the question ends."""
        if self._doomed is not None:
            self._spare()
        elif self._no_open:
            self._say(shown(self._no_open, "$text-warning"))
        else:
            self.dismiss(("open", message.row.value))

    def action_new(self) -> None:
        """A new session; in the middle of a question about another, only that question ends."""
        if self._doomed is not None:
            self._spare()
        else:
            self.dismiss(("new", ""))

    def action_delete(self) -> None:
        """Ask first."""
        row = self._list.row
        if row is None:
            return
        if self._no_delete:
            self._say(shown(self._no_delete, "$text-warning"))
            return
        self._doomed = row.value
        question = Content.assemble(
            ("Delete “", "$text-warning"),
            shown_line(row.label),
            ("”? y deletes it, n keeps it", "$text-warning"),
        )
        self._say(question)

    def action_confirm(self) -> None:
        """Yes, that one."""
        if self._doomed is not None:
            self.dismiss(("delete", self._doomed))

    def _spare(self) -> None:
        self._doomed = None
        self._say(self._summary())

    def action_search(self) -> None:
        """Narrow the list by what is typed."""
        self._list.search()

    def action_back(self) -> None:
        """Close what is open: the question, the search, the dialog."""
        if self._doomed is not None:
            self._spare()
        elif self._list.is_searching:
            self._list.end_search()
        else:
            self.dismiss(None)
