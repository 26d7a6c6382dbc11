"""Finds where in a film something named is: a number of events, a time, a text, a question."""

from __future__ import annotations

from collections.abc import Iterator

from acp_tui.client.transcript.replay import Step
from acp_tui.client.transcript.replayed_sessions import Touch
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Entry, Failure, Message, OwnCommand, ToolCallEntry
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.ui.recorded.film import Film
from acp_tui.ui.recorded.player import Player
from acp_tui.ui.recorded.spot import Spot


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
                    case TextDiff():
                        yield item.path
                        yield item.new_text
        case OwnCommand(line):
            yield line
        case Failure(message, detail, stderr_tail):
            yield from (message, detail or "", stderr_tail)
        case _:
            pass
