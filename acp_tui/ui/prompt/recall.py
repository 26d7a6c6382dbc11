"""Recalls earlier prompts by walking and searching, and the unsent draft. `client.prompts` stores them.

A search is a list above the prompt. The draft stays until the user chooses one of its rows.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, Static

from acp_tui.client.attachments.attach import without_mentions
from acp_tui.client.prompts.history import PastPrompt, PromptHistory, Query
from acp_tui.client.prompts.memory import NO_DRAFT, Draft, DraftKey, PromptMemory
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.sessions.prompt_queue import PastedImage, PromptQueue
from acp_tui.conversation.content import paste_label
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import comments_prompt
from acp_tui.ui.commands.keys import caught_up, keys_in_force
from acp_tui.ui.commands.table import MOVING, bindings_of
from acp_tui.ui.kit.row_list import GAP, MIN_LABEL_CELLS, PickerRow, RowList, short_folder, short_time
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import cut, width_cells
from acp_tui.ui.textual_gaps.fence import fence_of

if TYPE_CHECKING:
    from acp_tui.client.agents.command import AgentCommand
    from acp_tui.client.sessions.session import Session
    from acp_tui.client.sessions.session_history import PastSession

MAX_ROWS: Final = 8
ROWS_AROUND: Final = 14
"""The rows of the screen left for the conversation, the prompt, and the rest."""
BEFORE_MATCH: Final = 8
"""How many characters to show before a match that would otherwise be out of sight."""


class PastRows(RowList):
    """The matches. The latest is at the bottom, next to the prompt."""

    def __init__(self) -> None:
        super().__init__(rows_around=ROWS_AROUND, most_rows=MAX_ROWS)
        self._query = Query("")
        self._here: Path | None = None
        self._now = datetime.now().astimezone()

    def show_prompts(self, found: Sequence[PastPrompt], query: Query, here: Path | None) -> None:
        """Show `found`, latest first. Other folders than `here` are named; None names them all.

        The cursor stays on its prompt while the query stays the same; otherwise it goes to the latest.
        """
        chosen = self.row.value.text if self.row and query == self._query else None
        self._query, self._here = query, here
        self._now = datetime.now().astimezone()
        rows = [PickerRow(prompt, prompt.text) for prompt in reversed(found)]
        texts = [prompt.text for prompt in reversed(found)]
        self.show(rows, texts.index(chosen) if chosen in texts else len(rows) - 1)

    def _row_segments(self, index: int, width: int, palette: Palette) -> list[Segment]:
        prompt: PastPrompt = self.rows[index].value
        label = words_first(prompt)
        lines = label.count("\n")
        more = f" + {lines} line{'s' if lines > 1 else ''}" if lines else ""
        room = width - 2 - width_cells(more)
        aside = self._aside(prompt, room)
        room -= width_cells(aside)
        label = shown_line("\n".join((label, *prompt.pasted)), self._query.pattern, room)
        is_at = index == self.cursor
        return [
            Segment("❯ " if is_at else "  ", palette.accent),
            *_marked(label, self._query.pattern, palette.text + Style(bold=is_at), palette.match),
            Segment(more, palette.muted),
            Segment(" " * (room - width_cells(label)) + aside, palette.muted),
        ]

    def _aside(self, prompt: PastPrompt, room: int) -> str:
        """The time and folder, as far as they fit; the folder first."""
        folder = short_folder(Path(prompt.folder), self._here)
        when = _when(prompt.at, self._now)
        for parts in ((folder, when), (folder,), (when,)):
            aside = "".join(GAP + part for part in parts if part)
            if room - width_cells(aside) >= MIN_LABEL_CELLS:
                return aside
        return ""


def words_first(prompt: PastPrompt) -> str:
    """What the user typed, and the labels of what was pasted."""
    typed = prompt.text
    for text in prompt.pasted:
        typed = typed.replace(text, "", 1)
    first, *others = typed.strip().split("\n")
    labels = (f"[{paste_label(text)}]" for text in prompt.pasted)
    return "\n".join((" ".join(filter(None, (first.strip(), *labels))), *others))


def _when(at: str, now: datetime) -> str:
    """How long ago it was; "" if the file contains no valid time."""
    try:
        return short_time(datetime.fromisoformat(at).astimezone(), now)
    except (ValueError, OverflowError, OSError):
        return ""


def shown_line(text: str, pattern: re.Pattern[str] | None, width: int) -> str:
    """The first line of `text`, cut to `width`. If a later line has the match, that follows the start."""
    first = make_visible_line(text.partition("\n")[0])
    label = cut(first, max(width, 4))
    match = pattern.search(text) if pattern is not None else None
    if match is None or pattern is None or pattern.search(label):
        return label
    before = min(BEFORE_MATCH, width // 6)
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - before)
    found = make_visible_line(text[begin:].partition("\n")[0].strip())
    start = cut(first, max(width // 3, 4))
    return cut(f"{start.removesuffix('…')}… {found}", max(width, 4))


def _marked(label: str, pattern: re.Pattern[str] | None, style: Style, match_style: Style) -> list[Segment]:
    segments, at = [], 0
    for match in pattern.finditer(label) if pattern is not None else ():
        segments += [Segment(label[at : match.start()], style), Segment(match[0], style + match_style)]
        at = match.end()
    return [*segments, Segment(label[at:], style)]


MAX_FOUND: Final = 500
"""With more matches than this, the user types another word."""


class HistorySearch(Vertical):
    """Searches the prompts of one project, or of all. Closing it removes it."""

    DEFAULT_CSS = """
    HistorySearch, HistorySearch > Static { height: auto; }
    HistorySearch Horizontal { height: 1; }
    HistorySearch Input { width: 1fr; }
    HistorySearch Horizontal > Static { width: auto; }
    """

    PLACE: Final = "history"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(place=PLACE),
        *bindings_of(*MOVING, has_priority=True),  # before the field
    ]

    def __init__(self, history: PromptHistory, folder: str, choose: Callable[[str], None]) -> None:
        """`choose` puts a prompt into the draft."""
        super().__init__()
        self._choose = choose
        self._history = history
        self._folder = folder
        self._is_everywhere = False
        self._head = Static(markup=False)
        self._rows = PastRows()
        self._input = Input(compact=True, placeholder="words of an earlier prompt", select_on_focus=False)

    def compose(self) -> ComposeResult:
        """The matches, and below them the query, next to the prompt."""
        yield self._head
        yield self._rows
        with Horizontal():
            yield Static("Search ", markup=False)
            yield self._input

    def on_mount(self) -> None:
        self.screen.set_focus(self._input)  # at once, so that the next key doesn't overtake it
        self.search()

    def search(self) -> None:
        """Show the matches and choose the latest."""
        query = Query(self._input.value)
        found = self._history.find(query, None if self._is_everywhere else self._folder, MAX_FOUND)
        self._rows.show_prompts(found, query, Path(self._folder))
        self._rows.display = bool(found)
        self._show_head()

    @on(Input.Changed)
    def _search_anew(self, event: Input.Changed) -> None:
        event.stop()
        self.search()

    @on(events.Resize)
    def _show_head(self) -> None:
        count = len(self._rows.rows)
        found = f"{count}{'+' if count == MAX_FOUND else ''} found" if count else "nothing found"
        here, there = "this project", "all projects"
        where, other = (there, here) if self._is_everywhere else (here, there)
        heads = [
            f"{found} in {where} · {{history_projects}} {other} · {{history_choose}} uses it · {{dialog_close}} back",
            f"{found} in {where} · {{history_projects}} {other}",
            f"{found} · {{history_projects}} {other}",
        ]
        heads = [keys_in_force(self).hint(head) for head in heads]
        width = self._head.content_size.width or self.app.size.width
        self._head.update(next((head for head in heads if width_cells(head) <= width), heads[-1]))

    # What the user does

    async def action_move(self, step: int) -> None:
        await caught_up(self._input)
        self.search()
        self._rows.move(step)

    def action_page(self, direction: int) -> None:
        self._rows.move_page(direction)

    def action_go_to_end(self, direction: int) -> None:
        self._rows.move(direction * len(self._rows.rows))

    def action_toggle_all(self) -> None:
        self._is_everywhere = not self._is_everywhere
        self.search()

    @on(RowList.Clicked)
    async def action_choose(self) -> None:
        """Put the chosen prompt into the draft. Without matches, the search stays open."""
        await caught_up(self._input)
        self.search()  # the last key may still be on its way from the field
        row = self._rows.row
        if row is not None:
            self.action_close()
            self._choose(row.value.text)

    def action_close(self) -> None:
        """Leave the draft as it is."""
        self.screen.set_focus(next(iter(self.screen.query("#prompt")), None))  # gone already if the screen is going
        self.remove()


class Walk:
    """Walks from the draft to older prompts and back. Changes made on the way are kept until the end of the walk."""

    def __init__(self, draft: str, past: Sequence[str]) -> None:
        """`past` begins with the latest."""
        self._texts = [draft, *past]
        self._sent = ["", *past]
        self._at = 0

    @property
    def text(self) -> str:
        """The text at the current position, with changes from the last visit."""
        return self._texts[self._at]

    @property
    def left(self) -> Sequence[str]:
        """What was written elsewhere than at the current position, and not sent: the draft, and changed prompts."""
        texts = enumerate(zip(self._texts, self._sent, strict=True))
        return [text for at, (text, sent) in texts if at != self._at and text.strip() and text != sent]

    def step(self, text: str, step: int) -> bool:
        """Store `text` and go `step` prompts into the past, or back if negative; return False at the end."""
        to = self._at + step
        if not 0 <= to < len(self._texts):
            return False
        self._texts[self._at] = text
        self._at = to
        return True

    def go_to(self, text: str) -> None:
        """Go to this prompt. If it isn't there, as for one of another project, insert it after the draft."""
        if text not in self._texts[1:]:
            self._texts.insert(1, text)
            self._sent.insert(1, text)
        self._at = self._texts.index(text, 1)


DRAFT_IS_ASIDE: Final = "↑ brings your earlier draft back"
PAUSE_S: Final = 0.2
"""The draft is saved after this long without typing."""
MAX_OUTPUT: Final = 20_000
"""Characters of each command's output to save with the draft."""


def agent_of(command: AgentCommand | None) -> str:
    """Whom a draft is for if only the agent itself can say its name, and not from the start: its command line."""
    if command is None or command.is_listed or command.is_host:
        return ""
    return shlex.join(Masker({**os.environ, **command.env}).argv(command.argv))


class Recall:
    def __init__(
        self,
        screen: Screen[None],
        prompt: PromptInput,
        memory: PromptMemory,
        cwd: Path,
        agent: Callable[[], str] = str,
        past: PastSession | None = None,
        early: PromptQueue | None = None,
    ) -> None:
        """`cwd` is the folder of the session that will start, unless the `past` one will be opened.

        `agent` returns whom a draft is for. `early` has what is entered before there is a session.
        """
        self._agent = agent
        self._early = early or PromptQueue()
        self._screen = screen
        self._prompt = prompt
        self._memory = memory
        self._is_past = past is not None
        self.place = DraftKey(str(cwd), f"starting-{time.time_ns()}")  # its own, so that nothing replaces it
        if past is not None:
            self.place = DraftKey(str(past.cwd), str(past.session_id))
        memory.shown.add(self.place)
        self._walk: Walk | None = None
        self._put_at: tuple[int, int] | None = None
        """Where the cursor was after an earlier prompt was put into the draft."""
        self.pause: Timer | None = None
        self._changed_s = 0.0
        """When the draft changed last, in monotonic seconds."""
        self._search: HistorySearch | None = None
        self._brought_back = ""
        """The draft that was put into the prompt last because it was there before."""
        self._unseen = ""
        """The same, until a key or paste comes."""
        self._shown_s = 0.0
        """When the terminal had shown it, in monotonic seconds."""
        self._session: Session | None = None
        """The session that the prompt is for."""
        self._switching = asyncio.Lock()
        """Held until a session's draft is back: what waits now must not be taken for it."""

    async def begin(self) -> None:
        """Load earlier prompts, and the draft of the past session that will be opened."""
        self._say(await self._memory.load())
        self._prompt.key_helpers.append(self)
        self._prompt.note_press = self._part_from_unseen
        if self._is_past:
            await self._bring_back(is_new=False)
        self.draft_changed()

    async def show_session(self, session: Session, *, was_sent: bool = False) -> None:
        """Switch to this session and its own draft. What is written in another one stays there.

        A blank session takes over what was left in a blank one of its folder, unless another prompt was begun or, as
        `was_sent` says, sent. What is begun before there is a session is for the first one.
        """
        place = DraftKey(str(session.cwd), str(session.session_id))
        before, before_it = self.place, self._session
        if place == before:
            self._session = session
            return
        if self.left:
            self._prompt.set_draft(self._unsent)
        self._walk = None
        if before_it is None or before_it.conversation is session.conversation:
            self._memory.drafts.put(before, NO_DRAFT)
        else:
            draft, images = self._waiting()
            self._prompt.empty()
            self._memory.drafts.put(before, draft._replace(text=await self._with_files(draft.text, images)))
        self.place, self._session = place, session
        self._memory.leave(before)
        self._memory.shown.add(place)
        async with self._switching:
            await self._bring_back(is_new=session.conversation.is_blank and not (self._prompt.text or was_sent))
        self.draft_changed()

    async def _bring_back(self, *, is_new: bool) -> None:
        """Put the session's own draft into its prompt, or among the earlier prompts if one is being written."""
        place = self.place
        own, others = await self._memory.take(place, self._agent(), is_new=is_new)
        if not own.text or place != self.place or own.text == self._prompt.draft:
            return
        self._prompt.know_pastes(own.pasted)
        if self._prompt.draft:
            self._set_aside(own.text)
            self._screen.notify(DRAFT_IS_ASIDE, markup=False)
            return
        self._prompt.set_draft(own.text)
        self._brought_back = self._prompt.draft
        if (fence := fence_of(self._prompt)) is not None:
            self._unseen = own.text
            fence.when_shown(self, self._prompt, self._note_shown)
        more = f", ↑ has {others} more" if others else ""
        queued = f", with {own.queued} queued prompt{'s' * (own.queued > 1)}" if own.queued else ""
        way = keys_in_force(self._screen).hint("; {interrupt} clears it")
        self._screen.notify(f"Your unsent draft is back{queued}{way}{more}", markup=False)

    @property
    def is_as_brought_back(self) -> bool:
        """Whether the prompt has only what was brought back."""
        return self._prompt.is_blank or (self._prompt.draft == self._brought_back and not self._prompt.images)

    def _note_shown(self, at_s: float) -> None:
        self._shown_s = at_s

    def _set_aside(self, draft: str) -> None:
        """Add a draft to the earlier prompts."""
        pasted = self._prompt.pasted_in(draft)
        self._memory.history.add(draft, self.place.folder, self._agent(), pasted, is_sent=False)

    def _part_from_unseen(self, event: events.Key | events.Paste) -> None:
        """Set the draft aside if it wasn't on the screen at this key or paste."""
        unseen, self._unseen = self._unseen, ""
        fence = fence_of(self._prompt)
        if unseen and fence is not None and (fence.is_awaited(self) or event.time <= self._shown_s):
            self._prompt.set_draft(self._prompt.draft.removeprefix(unseen))
            self._set_aside(unseen)
            self._screen.notify(DRAFT_IS_ASIDE, markup=False)

    def sent(self, text: str) -> None:
        """Add it to the earlier prompts."""
        self._memory.history.add(text, self.place.folder, self._agent(), self._prompt.pasted_in(text))
        self._end_walk()
        self._screen.run_worker(self.keep())

    def _end_walk(self) -> None:
        """Add what was left on the way to the earlier prompts. If the draft is among that, it's the latest then."""
        left, self._walk = self.left, None
        for text in reversed(left):
            self._set_aside(text)
        if left:
            self._prompt.say("↑ brings the draft back")

    @property
    def left(self) -> Sequence[str]:
        """The draft if an earlier prompt is in its place, and earlier prompts that were changed and left."""
        return self._walk.left if self._walk is not None else ()

    @property
    def _unsent(self) -> str:
        """What was left, and after it what is in the prompt, unless that is an earlier prompt as it was."""
        left, written = self.left, self._prompt.whole_draft
        is_unchanged = bool(left) and written in self._memory.history.texts_of(self.place.folder)
        return "\n\n".join(filter(None, (*left, "" if is_unchanged else written)))

    async def dropped(self, text: str, images: Sequence[PastedImage]) -> None:
        self.sent(await self._with_files(text, images))

    async def _with_files(self, text: str, images: Iterable[PastedImage]) -> str:
        return await self._memory.with_pictures(text, [(image.name, image.data) for image in images])

    def _waiting(self) -> tuple[Draft, Sequence[PastedImage]]:
        """The draft, before it what waits - output, queued prompts, and comments on lines - and the images of all."""
        session, comments = self._session, [each.prompt() for each in self._prompt.comments]
        offered = session.commands.offered if session is not None else ()
        queue = session.queue if session is not None else self._early
        queued = (*queue.prompts, *queue.scheduled)
        outputs = (without_mentions(one.told(MAX_OUTPUT).rstrip()) for one in offered)
        before = (*outputs, *(prompt.written for prompt in queued), comments_prompt(comments) if comments else "")
        text = "\n\n".join(filter(None, (*before, self._unsent)))
        is_blank = not (session.conversation.is_begun if session is not None else self._is_past)
        images = (*(image for prompt in queued for image in prompt.images), *self._prompt.images)
        pasted = tuple(self._prompt.pasted_in(text))
        return Draft(text, self._agent(), is_blank, pasted, queued=len(queued)), images

    async def keep(self) -> None:
        """Save the draft with its images, and what waits."""
        async with self._switching:
            place, (draft, images) = self.place, self._waiting()
        self._memory.drafts.put(place, draft._replace(text=await self._with_files(draft.text, images)))
        self._say(await self._memory.write())

    async def end(self) -> None:
        """Save it, and leave it to others."""
        self._memory.leave(self.place)
        await self.keep()

    # While a prompt is written

    def takes_key(self, event: events.Key) -> bool:
        """Recall prompts if Up or Down would leave the draft. If a search is open, close it."""
        search, self._search = self._search, None
        if search is not None and search.is_attached:
            search.action_close()
            return event.key == "escape"
        match event.key:
            case "up":
                return self._may_walk(0) and self._step(1)
            case "down":
                return self._may_walk(self._prompt.wrapped_document.height - 1) and self._step(-1)
            case _:
                return False

    def draft_changed(self) -> None:
        self._changed_s = time.monotonic()
        if self.pause is None:
            self.pause = self._prompt.set_timer(PAUSE_S, self._keep_later)

    def _keep_later(self) -> None:
        """Wait for the rest of the pause if a key came in the meantime. No timer runs otherwise."""
        self.pause = None
        if (left_s := self._changed_s + PAUSE_S - time.monotonic()) > 0:
            self.pause = self._prompt.set_timer(left_s, self._keep_later)
        else:
            self._screen.run_worker(self.keep())

    def _say(self, what: str) -> None:
        if what and self._screen.is_attached:  # otherwise it's being closed
            self._screen.notify(what, severity="warning", markup=False)

    # Walking

    def _may_walk(self, edge_row: int) -> bool:
        """Whether the cursor is in this row, the first or the last one, or where the last step left it."""
        prompt, cursor = self._prompt, self._prompt.cursor_location
        if not prompt.selection.is_empty:
            return False
        if prompt.wrapped_document.location_to_offset(cursor).y == edge_row:
            return True
        return self._walk is not None and cursor == self._put_at and prompt.draft == self._walk.text

    def _step(self, step: int) -> bool:
        """Go to an older prompt, or with -1 to a newer one; return whether the key is handled."""
        if step > 0 and not self._prompt.draft:  # also after a recalled prompt was cleared
            self._end_walk()
        walk = self._walk or self._new_walk()
        if walk is None or (step < 0 and self._walk is None):
            return False
        if walk.step(self._prompt.draft, step):
            self._put(walk)
            return True
        return step > 0

    def _new_walk(self) -> Walk | None:
        past = self._memory.history.texts_of(self.place.folder)
        return Walk(self._prompt.draft, past) if past else None

    def _put(self, walk: Walk) -> None:
        self._walk = walk
        self._prompt.know_pastes(self._memory.history.pasted_in(walk.text))
        self._prompt.set_draft(walk.text)
        self._put_at = self._prompt.cursor_location

    # Searching

    async def search(self) -> None:
        """Open the search, or go to an older match. Prompts that others send in the meantime are included."""
        if self._search is not None and self._search.is_attached:
            await self._search.action_move(-1)
            return
        search = self._search = HistorySearch(self._memory.history, self.place.folder, self.choose)
        await self._screen.mount(search, before="#prompt-frame")
        self._screen.run_worker(self._look_again(search))

    async def _look_again(self, search: HistorySearch) -> None:
        self._say(await self._memory.load())
        if search.is_attached:
            search.search()

    def choose(self, text: str) -> None:
        """Put an earlier prompt into the draft. Down leads back to the previous text."""
        walk = self._walk or self._new_walk() or Walk(self._prompt.draft, ())
        walk.step(self._prompt.draft, 0)
        walk.go_to(text)
        self._put(walk)
