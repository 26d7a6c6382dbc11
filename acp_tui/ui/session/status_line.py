"""The line at the bottom: the agent, what it is doing, and other facts.

The words and marks for a session's state are the same for tabs, the sessions dialog, the window's title, and replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from acp_tui.conversation.facts import CAUTIONS
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import NO_MESSAGE, clock
from acp_tui.ui.commands.keymap import DEFAULT_KEYMAP, Keymap
from acp_tui.ui.commands.keys import follow_keys, keys_in_force

if TYPE_CHECKING:
    from acp_tui.conversation.conversation import Conversation
    from acp_tui.ui.session.status import Work


class TabState(Enum):
    """The state of a tab, the most urgent last."""

    STARTING = "starting"
    READ_ONLY = "read-only"
    IDLE = "idle"
    DONE = "done"
    """A turn has ended, and the user hasn't seen it."""
    WORKING = "working"
    FAILED = "failed"
    NEEDS_YOU = "needs you"


MARKS: Final = {
    TabState.STARTING: ("○", "$foreground-muted"),
    TabState.READ_ONLY: ("○", "$foreground-muted"),
    TabState.IDLE: ("●", "$foreground-muted"),
    TabState.DONE: ("✓", "$text-success"),
    TabState.WORKING: ("◐", "$text-accent"),
    TabState.FAILED: ("✗", "$text-error"),
    TabState.NEEDS_YOU: ("▲", "$text-warning"),
}
"""Each mark means the same everywhere. The status line uses them too."""
HOSTED: Final = "⇄"
"""Before the agent of a tab whose session a host keeps."""
FORKED: Final = "↱"
"""Before the agent of a tab whose session is a fork."""
BOXED: Final = ("[", "]")
"""Around an agent that runs in a sandbox."""
MIN_CELLS: Final = 8
"""Titles aren't shortened below this."""
MAX_CELLS: Final = 36


def state_of_tab(conversation: Conversation, *, has_news: bool) -> TabState:
    """The state of a tab with this conversation. `has_news` means that a turn ended unseen."""
    if not conversation.is_connected:
        return TabState.FAILED
    if conversation.is_asking:
        return TabState.NEEDS_YOU
    if not conversation.is_idle:
        return TabState.WORKING
    if has_news and conversation.last_stop_reason != "cancelled":  # the user knows
        return TabState.FAILED if conversation.last_stop_reason is None else TabState.DONE
    return TabState.IDLE


def boxed(agent: str, *, is_boxed: bool) -> str:
    """An agent's name, with the marks of a sandbox if it runs in one. No other name can begin with them."""
    before, behind = BOXED
    return f"{before}{agent}{behind}" if is_boxed else agent.lstrip(f"{before} ")


def tab_label(number: int, state: TabState, name: Callable[[int], str], cells: int, *, is_front: bool) -> Content:
    """A tab in so many cells: its number, its state, and its name, which `name` cuts to the cells that are left.

    If it can't, there is no name.
    """
    mark, style = MARKS[state]
    look = "bold $text on $surface" if is_front else "$foreground-muted"
    before = f" {number} "
    room = cells - label_cells(number)
    told = name(room) if room > 0 else ""
    after = f" {told} " if told and cell_len(told) <= room else " "
    return Content.assemble((before, look), (mark, f"{style} on $surface" if is_front else style), (after, look))


def label_cells(number: int, name: str = "") -> int:
    return cell_len(f" {number} ● {name} ")


# Glyph, style, and words for each state of a session.
STATES: Final = {
    "ready": ("●", "$text-success", ""),
    "working": ("◐", "$text-accent", "working; {cancel} cancels"),
    # Where the key that cancels does something else
    "working_unfocused": ("◐", "$text-accent", "working"),
    "waiting": ("▲", "$text-warning", "needs your decision; {leave_prompt} answers · {cancel} cancels"),
    "waiting_unfocused": ("▲", "$text-warning", "needs your decision; {leave_prompt} answers"),
    "answering": ("▲", "$text-warning", "needs your decision; {field_before} conversation · {interrupt} cancels"),
    # Where Ctrl+C clears what is written first
    "answering_with_draft": ("▲", "$text-warning", "needs your decision; {field_before} conversation"),
    "explaining": ("▲", "$text-warning", "needs your decision"),
    "unheard": ("▲", "$text-warning", "seems to wait for an answer; {show_agent} says more"),
    "commanding": ("◐", "$text-accent", "your command runs; {interrupt} stops it · {take_over} types into it"),
    "cancelling": ("◐", "$text-warning", "canceling"),
    "reconnecting": ("○", "$text-warning", "reconnecting; {restart} tries now"),
    "elsewhere": ("▲", "$text-warning", "waits for someone else"),
    "unhosted": ("✗", "$text-error", "host gone; {restart} starts one again"),
    "closed": ("✗", "$text-error", "session closed; {restart} opens it again"),
    "lost": ("✗", "$text-error", "gone; {restart} restarts it"),
}
AT_WORK: Final = ("working", "working_unfocused", "cancelling")
MOVING: Final = "◐◓◑◒"
"""The rotating glyph of a working agent."""
TURN_S: Final = 0.125
STILL_S: Final = 1.0
"""How often the line is drawn with reduced motion, when only the seconds change."""
TICKS_IN_STILL: Final = round(STILL_S / TURN_S)
MIN_GAP: Final = 2
"""Cells between the left part and the right one."""
MIN_ACTIVITY: Final = 12
"""With fewer cells, what the agent is doing is left out."""
GAPS: Final = 4
"""Cells around the agent's name."""
MIN_LEFT: Final = 16
MIN_NAME: Final = 4
"""The least cells of the agent's name."""


MODE: Final = "mode: "
"""Begins the fact that says what the agent may do without asking."""
WORTH_LEAST: Final = ("model: ", "worktree ")
"""Begin the facts that are missed least."""


class Status(NamedTuple):
    """The content of the line, as plain text that is already safe to show."""

    phase: str = ""
    """How far the agent's start is, shown until there is an agent."""
    agent: str = ""
    """The agent's title, once a prompt can be typed."""
    state: str = "ready"
    """A key of STATES."""
    below: str = ""
    """What is below the rows in view. It is before the facts, but left out after them."""
    facts: tuple[str, ...] = ()
    elsewhere: str = ""
    """What waits for the user in other tabs. It is also on the right, and left out last."""
    work: Work | None = None
    """How long the agent has been working, and on what; None if unknown."""


class EdgeLine(Static):
    """A line of a tab's screen, mostly at its edge. What changes in it is seen under a dialog, too."""

    DEFAULT_CSS = "EdgeLine { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, markup=False)
        self._line = Content()

    def show_line(self, line: Content, *, layout: bool = False) -> None:
        """Draw this line from now on. Without a change, that costs nothing."""
        if line.is_same(self._line):
            return
        self._line = line
        self.update(line, layout=layout)
        for front in self.app.screen_stack[-1:]:  # none is left while the app ends
            if self.is_attached and front.is_modal and front is not self.screen:
                front.refresh(self.region)  # the dialog draws what is under it


class StatusLine(EdgeLine):
    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._status = Status()
        self._timer: Timer | None = None
        self._frames = 0
        self._ticks = 0

    @property
    def is_ticking(self) -> bool:
        """Whether a timer redraws it, because something moves."""
        return self._timer is not None

    def show(self, status: Status) -> None:
        if status != self._status or status.work is not None:
            self._status = status
            self._draw()
        if self.is_mounted:
            self._move()

    def _move(self) -> None:
        """Animate the line while the agent works, and only then."""
        is_moving = self._status.work is not None and self._status.state in AT_WORK
        if self._timer is not None and not is_moving:
            self._timer.stop()
            self._timer = None
        elif self._timer is None and is_moving:
            is_still = self.app.animation_level == "none"
            self._timer = self.set_interval(STILL_S if is_still else TURN_S, self._turn)

    def _turn(self) -> None:
        """Turn the glyph and draw the time; under a dialog, which is drawn with it, once in a second."""
        self._ticks += 1
        is_still = self.app.animation_level == "none"
        if self.screen.is_current or is_still or self._ticks % TICKS_IN_STILL == 0:
            self._frames += not is_still
            self._draw()

    def on_mount(self) -> None:
        follow_keys(self, self._draw)
        self._move()

    @on(events.Resize)
    def _draw(self) -> None:
        self.show_line(line_of(self._status, self.content_size.width, keys_in_force(self), self._frames))


def line_of(status: Status, width: int, keymap: Keymap = DEFAULT_KEYMAP, frame: int = 0) -> Content:
    """The whole line. Facts that don't fit are left out from the left, but the model and the worktree first, and at
    last the mode, then what is below the rows in view. The tokens of the last turn make room for all but the first two.

    A mode in which the agent asks less warns, and stays as long as there is room for what it warns of.
    """
    elsewhere = [Content.styled(status.elsewhere, "$text-warning")] if status.elsewhere else []
    taken = elsewhere[0].cell_length + MIN_GAP if elsewhere else 0
    facts = [*filter(None, (status.below, *status.facts)), keymap.hint("{help} help")]
    begins = "" if status.state == "ready" else (MODE, status.below or MODE)
    kept = [fact for fact in facts[:-1] if fact.startswith(begins) and not fact.startswith(WORTH_LEAST)]
    kept_cells = cell_len(" · ".join((*kept, facts[-1]))) + MIN_GAP if kept else 0
    left = left_of(status, max(width - taken, min(MIN_LEFT, width)), keymap, frame, room=width - taken - kept_cells)
    while facts or elsewhere:
        told = (Content.styled(fact, "$text-warning" if _caution(fact) else "$foreground-muted") for fact in facts)
        right = Content.styled(" · ", "$foreground-muted").join((*elsewhere, *told))
        room = width - left.cell_length - right.cell_length
        if room >= MIN_GAP:
            left = left.append(_doing(status, room - MIN_GAP))
            return Content.assemble(left, " " * (width - left.cell_length - right.cell_length), right)
        if not facts:
            break
        facts = _fewer(facts, status.below)
    return left


def _caution(fact: str) -> str:
    """What a fact warns of, if it is a mode in which the agent asks less."""
    is_mode = fact.startswith(MODE)
    return next((each for each in CAUTIONS if fact == each or (is_mode and fact.endswith(f"({each})"))), "")


def _fewer(facts: list[str], below: str) -> list[str]:
    """The facts, the last of which is the key of the help, without the one that is missed least."""
    others = {at: fact for at, fact in enumerate(facts[:-1]) if not _caution(fact)}
    missed = {at: (one == below, one.startswith(MODE), not one.startswith(WORTH_LEAST)) for at, one in others.items()}
    at = min(missed, key=missed.__getitem__, default=None)
    if at is not None:
        return facts[:at] + facts[at + 1 :]
    caution = _caution(facts[0])
    if not caution:
        return facts[1:]
    return facts[:-1] if len(facts) > 1 else [caution] if facts[0] != caution else []


def _doing(status: Status, room: int) -> Content:
    """What the agent is doing, in at most so many cells.

    It is behind all that stands still, and no fact makes room for it, so nothing else moves when it changes.
    """
    work, room = _at_work(status), room - len(" · ")
    if work is None or not work.activity or room < MIN_ACTIVITY:
        return Content("")
    activity = Content(work.activity[: room * 8]).truncate(room, ellipsis=True)
    return Content.styled(f" · {activity}", STATES[status.state][1])


def _at_work(status: Status) -> Work | None:
    """What is known of the running turn; None if there is none, or if its agent waits for an answer."""
    work = status.work
    return work if work is not None and status.state in AT_WORK and work.unheard is None else None


def left_of(
    status: Status, width: int, keymap: Keymap = DEFAULT_KEYMAP, frame: int = 0, *, room: int | None = None
) -> Content:
    """The agent and its state, in at most `width` cells.

    If it doesn't fit, the keys go first, the last before the others, then part of the agent's name. The key that
    restarts it stays, since nothing else says it. What is said of the last turn, and of a second key, is shortened to
    `room` cells, so that facts stay in view, such as a mode in which the agent asks nothing.
    """
    if not status.agent:
        return Content.styled(f"○ {status.phase}", "$foreground-muted").truncate(width, ellipsis=True)
    work = _at_work(status)
    is_unheard = status.state in AT_WORK and status.work is not None and work is None
    glyph, style, words = STATES["unheard" if is_unheard else status.state]
    words, _, key = (keymap.hint(words), "", "") if "{restart}" in words else keymap.hint(words).partition(";")
    silence = ""
    if status.work is not None and status.state == "ready":
        words = _shortened(status.work.ended, (width if room is None else room) - cell_len(status.agent) - GAPS)
    elif work is not None:
        glyph, words = MOVING[frame % len(MOVING)], f"{words} {clock(work.took_s)}"
        # The turn's time is said already.
        was_heard = work.took_s - work.silent_s >= 1
        silence = (f" · {work.silence}" if was_heard else " · silent") if work.silence else ""
    for told, most in ((key, width if room is None else room), (key.partition(" · ")[0], width)):
        whole = _who_and_what(glyph, style, status.agent, f"{words};{told}{silence}" if told else f"{words}{silence}")
        if whole.cell_length <= most:
            return whole
    words += silence
    name = Content(status.agent).truncate(max(width - len(words) - GAPS, MIN_NAME), ellipsis=True)
    return _who_and_what(glyph, style, name.plain, words).truncate(width, ellipsis=True)


def _shortened(words: str, room: int) -> str:
    """As many of the parts as fit, at least the first."""
    parts = words.split(" · ")
    while len(parts) > 1 and cell_len(" · ".join(parts)) > room:
        parts.pop()
    return " · ".join(parts)


def _who_and_what(glyph: str, style: str, agent: str, words: str) -> Content:
    return Content.assemble((f"{glyph} ", style), (agent, "bold"), (f"  {words}" if words else "", style))


PATIENCE_S: Final = 3
"""The seconds are shown after this time."""
SILENCE_S: Final = 5
"""After this time, what the agent has said otherwise is shown."""
MAX_SAID: Final = 5
FIRST_PHASE: Final = "starting"


class StartingLine(EdgeLine):
    """A line about the start, below the name that the welcome starts with too."""

    DEFAULT_CSS = "StartingLine { height: auto; }"

    def __init__(self, agent: str, now: Callable[[], float], log: Callable[[], Iterable[str] | None] = tuple) -> None:
        """`agent` is safe to show on one line; `now` returns seconds.

        `log` returns the lines of the agent that aren't messages, or None if there is no agent to stop.
        """
        super().__init__()
        self._agent = agent
        self._now = now
        self._since = now()
        self._phase = FIRST_PHASE
        self._log = log
        self.offers_to_stop = False
        """Whether it says how to stop the agent, which has said something else than it should, or nothing for long."""

    def on_mount(self) -> None:
        """Count the seconds until it is removed."""
        self.set_interval(1, self.tell)
        self.tell()

    def show_phase(self, phase: str) -> None:
        self._phase = phase
        self.tell()

    def tell(self) -> None:
        if self.is_attached and self.screen in self.app.screen_stack[:-1]:
            self._since = self._now()  # the user is asked something, such as to log in
        seconds = int(self._now() - self._since)
        phase = "" if self._phase == FIRST_PHASE else self._phase
        took = clock(seconds) if seconds >= PATIENCE_S else ""
        told = " · ".join(filter(None, (f"Starting {self._agent}", phase, took)))
        log = self._log()
        lines = list(log or ())[-MAX_SAID:]
        is_odd = seconds >= SILENCE_S or any(line.startswith(NO_MESSAGE) for line in lines)
        self.offers_to_stop = is_odd and log is not None
        parts: list[Content | tuple[str, str] | str] = [("acp-tui\n", "bold $text-accent"), told]
        if self.offers_to_stop:
            said = lines or ["It has printed nothing."]
            parts.append(keys_in_force(self).hint(" · {cancel} stops it"))
            parts += [(f"\n  {make_visible_line(line)}", "$foreground-muted") for line in said]
        self.show_line(Content.assemble(*parts), layout=True)
