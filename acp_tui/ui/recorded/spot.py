"""How a moment of a recording is named; where that is, is for `moments` to find. Loads nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acp_tui.client.transcript.replay import Step
from acp_tui.client.transcript.replayed_sessions import Touch
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Entry, Failure, Message, OwnCommand, ToolCallEntry
from acp_tui.conversation.tool_calls import BlockContent, FileChange, TextDiff
from acp_tui.ui.recorded.film import Film
from acp_tui.ui.recorded.player import Player
from acp_tui.values import dataclass

QUESTION = "question"
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Spot:
    """A moment of a recording; just one of these is set."""

    events: int | None = None
    """When so many events have happened."""
    seconds: float | None = None
    text: str | None = None
    """When this was said first."""
    is_question: bool = False
    """When the user is asked for a permission first."""

    @property
    def shown(self) -> str:
        """What never came, in words."""
        return f"nothing says {self.text!r}" if self.text is not None else "no permission is asked for"


def read_spot(text: str) -> Spot:
    """120 (events), 12.5s, 1:05, or question. Raises ValueError."""
    if text == QUESTION:
        return Spot(is_question=True)
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = clock.groups()
        return Spot(seconds=int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds))
    if seconds_only := _SECONDS.fullmatch(text):
        return Spot(seconds=float(seconds_only[1]))
    if text.isdecimal():
        return Spot(events=int(text))
    raise ValueError(f"{text!r} is no moment: 120 (events), 12.5s, 1:05, or {QUESTION}")


def moment_of(film: Film, spot: Spot) -> int | None:
    """The moment; None where what it is named after never comes."""
    if spot.events is not None:
        return min(spot.events, film.length)
    if spot.seconds is not None:
        return film.moment_at(spot.seconds)
    player = Player(film)
    while not player.is_at_end:
        if _is_there(player.step(), spot):
            return player.moment
    return None


def _is_there(step: Step, spot: Spot) -> bool:
    if spot.text is None:
        return any(touch.conversation.permissions for touch in step.touched)
    return any(spot.text in said for touch in step.touched for said in _said(touch))


def _said(touch: Touch) -> Iterator[str]:
    """The texts of what was touched."""
    conversation, change = touch.conversation, touch.change
    for entry_id in change.entries:
        yield from _texts(conversation.entries[entry_id])
    if change.terminal is not None:
        yield conversation.terminals[change.terminal].output.read_from(0)[1].decode("utf-8", "replace")
    for request in conversation.permissions.values():
        yield from (option.name for option in request.options)
    for elicitation in conversation.elicitations.values():
        yield elicitation.message
    for plan in conversation.plans.values():
        yield from (step.content for step in plan.steps)


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case Message():
            yield entry.text
        case ToolCallEntry(call):
            yield call.shown_title
            for item in call.content:
                match item:
                    case BlockContent(Text(text)):
                        yield text
                    case FileChange():
                        yield item.words
                    case TextDiff():
                        yield item.path
                        yield item.new_text
        case OwnCommand(line):
            yield line
        case Failure(message, detail, stderr_tail):
            yield from (message, detail or "", stderr_tail)
        case _:
            pass
