"""What waits above the prompt: output and comments for the next one, and prompts queued until the turn ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.widgets import Static

from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import STEPS, bindings_of

if TYPE_CHECKING:
    from acp_tui.client.sessions.prompt_queue import Prompt
    from acp_tui.ui.tab.tab import Tab

MAX_SHOWN: Final = 3
MUTED: Final = "$foreground-muted"
KEYS: Final = (
    "{list_choose} edits · {queue_send_now} sends now · {queue_remove} removes"
    " · {queue_earlier} {queue_later} moves · {dialog_close} back",
    "{list_choose} edits · {queue_send_now} sends now · {queue_remove} removes · {dialog_close} back",
    "{list_choose} edits · {queue_send_now} sends now",
    "{list_choose} edits",
)
WAYS_IN: Final = (
    " · {edit_queue} edits or sends now · {pull_back} takes the last back",
    " · {edit_queue} edits or sends now",
    " · {edit_queue} edits",
    "",
)
SENDING: Final = (" · {queue_send_now} sends now", " or sends now")
"""The parts of these that need an agent."""


class QueueSummary(NamedTuple):
    """What to show. Plain text that the caller has made visible."""

    prompts: tuple[Prompt, ...] = ()
    """The next one first."""
    scheduled: tuple[Prompt, ...] = ()
    """Those that wait for a time."""
    is_held: bool = False
    """They are sent only when the user says so."""
    why_held: str = ""
    outputs: tuple[str, ...] = ()
    """Commands whose output is attached to the next prompt."""
    comments: int = 0
    """How many on lines are."""
    can_send: bool = True
    """The agent is there."""
    can_go_on: bool = True
    """It is idle, too."""
    is_sending: bool = False
    """The first one is being sent."""


class QueueLines(Static, can_focus=True):
    """Hidden while nothing waits. With the focus, one of the prompts is selected."""

    DEFAULT_CSS = "QueueLines { display: none; height: auto; max-height: 7; }"

    PLACE: Final = "queue"
    BINDINGS = bindings_of(*STEPS, place=PLACE)

    def __init__(self, tab: Tab) -> None:
        super().__init__(id="queue", markup=False)
        self._tab = tab
        self._shown = QueueSummary()
        self._selected = 0

    def show(self, waiting: QueueSummary) -> bool:
        """Show `waiting`, and return whether it's news. The selection stays on its prompt, or moves to the next one."""
        if waiting == self._shown:
            return False
        at = self._at
        self._shown = waiting
        if self._keys and self._selected not in self._keys:
            self._selected = self._keys[min(at, len(self._keys) - 1)]
        self.display = bool(self._keys or waiting.outputs or waiting.comments)
        if self.has_focus_within and not self._keys:
            self.screen.set_focus(self._tab.prompt)
        self._draw()
        return True

    def enter(self) -> bool:
        """Take the focus and select the last prompt; return False if none waits."""
        if not self._keys:
            return False
        self._select(len(self._keys) - 1)
        self.screen.set_focus(self)
        return True

    @property
    def _keys(self) -> list[int]:
        return [prompt.key for prompt in self._all]

    @property
    def _all(self) -> tuple[Prompt, ...]:
        return self._shown.prompts + self._shown.scheduled

    @property
    def _at(self) -> int:
        return self._keys.index(self._selected) if self._selected in self._keys else 0

    # What the user does

    def action_move(self, step: int) -> None:
        self._select(self._at + step)

    def _select(self, at: int) -> None:
        self._selected = self._keys[max(0, min(at, len(self._keys) - 1))]
        self._draw()

    def action_close(self) -> None:
        self.screen.set_focus(self._tab.prompt)

    def action_edit(self) -> None:
        self._tab.writing.take(self._selected, is_edited=True)

    def action_remove(self) -> None:
        self._tab.writing.take(self._selected, is_edited=False)

    def action_send_now(self) -> None:
        self._tab.writing.send_now(self._selected)

    def action_send_earlier(self, step: int) -> None:
        self._tab.writing.move(self._selected, step)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            at = offset.y - bool(self._shown.outputs or self._shown.comments) - 1 + self._first  # below the headings
            if self._first <= at < self._last:
                self._select(at)

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._draw()

    # Drawing

    @on(events.Resize)
    def _draw(self) -> None:
        if not self.display:
            return
        width = max(self.content_size.width or self._tab.prompt.content_size.width, 4)  # not laid out: nearly as wide
        lines = [*self._attached_lines(width), *self._queue_lines(width)]
        self.update(Content("\n").join(line.truncate(width, ellipsis=True) for line in lines))

    def _attached_lines(self, width: int) -> Iterator[Content]:
        outputs, comments = self._shown.outputs, self._shown.comments
        what = [f"{comments} comment{'s' * (comments > 1)}"] * bool(comments)
        if outputs:
            what.append(f"output of `{outputs[-1]}`" if len(outputs) == 1 else f"output of {len(outputs)} commands")
        if what:
            # A long command is cut before what can't be guessed, unless little would be left of it.
            rest = " with your next prompt (Backspace removes it)"
            told = Content(f"+ {', '.join(what)}").truncate(max(width - len(rest), 22), ellipsis=True)
            yield (told + rest).stylize(MUTED)

    @property
    def _first(self) -> int:
        """The first prompt shown. The selected one is always shown."""
        return max(0, self._at - MAX_SHOWN + 1) if self.has_focus else 0

    @property
    def _last(self) -> int:
        return min(self._first + MAX_SHOWN, len(self._keys))

    def _queue_lines(self, width: int) -> Iterator[Content]:
        prompts, first, last = self._all, self._first, self._last
        if not prompts:
            return
        yield Content.styled(self._head(width), MUTED)
        for prompt in prompts[first:last]:
            yield self._line(prompt, width)
        hidden = len(prompts) - (last - first)
        if hidden:
            above = f", {first} above" if first else ""
            yield Content.styled(f"    and {hidden} more{above}", MUTED)

    def _head(self, width: int) -> str:
        """The longest heading that fits. With the focus, the keys come first."""
        count = f"{len(self._keys)} queued"

        def hint(keys: str) -> str:
            for part in SENDING if not self._shown.can_send else ():
                keys = keys.replace(part, "")
            return keys_in_force(self).hint(keys)

        if self.has_focus:
            ways = [f"{count}{say} · {hint(keys)}" for keys in KEYS for say in (f", {self._when[0]}", "")]
        else:
            ways = [f"{count}, {say}{hint(keys)}" for say in self._when for keys in WAYS_IN]
        return next((way for way in ways if cell_len(way) <= width), ways[-1])

    @property
    def _when(self) -> tuple[str, ...]:
        """When they are sent, in long and short form."""
        if self._shown.is_sending:
            return ("sending",)
        if self._shown.is_held and self._shown.can_go_on:
            held = f"on hold ({self._shown.why_held})" if self._shown.why_held else "on hold"
            return f"{held}: Enter in an empty prompt sends the next", f"{held}: Enter sends", "on hold: Enter sends"
        if self._shown.is_held:
            return ("on hold",)
        if not self._shown.prompts:
            return ("each at its time",)
        if not self._shown.can_send:
            return ("sent once the session is ready",)
        return ("sent after this turn",)

    def _line(self, prompt: Prompt, width: int) -> Content:
        text = prompt.schedule.words if prompt.schedule is not None else prompt.text
        first, *others = text.strip().splitlines() or ["(no text)"]
        is_selected = self.has_focus and prompt.key == self._selected
        more = f" + {len(others)} line{'s' if len(others) > 1 else ''}" if others else ""
        start = Content(f"  {'❯' if is_selected else '›'} {' '.join(first.split())}")
        line = start.truncate(max(width - len(more), 4), ellipsis=True) + Content.styled(more, MUTED)
        return line.stylize("bold $primary") if is_selected else line
