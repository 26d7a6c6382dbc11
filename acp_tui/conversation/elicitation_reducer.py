"""What the updates on elicitations change in a Conversation; a part of the reducer, and like it pure state."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from acp_tui.conversation.conversation import NOTHING, Change, Conversation
from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.entries import EntryId, Question
from acp_tui.conversation.facts import Fact
from acp_tui.conversation.updates import ElicitationAnswered, ElicitationAsked, ElicitationCompleted
from acp_tui.conversation.web_address import place_of

CHANGED: Final = Change(facts=(Fact.ELICITATIONS,))


def apply_elicitation(
    conversation: Conversation, update: ElicitationAsked | ElicitationAnswered | ElicitationCompleted
) -> Change:
    """Change `conversation`; what is not known, or answered already, is ignored."""
    match update:
        case ElicitationAsked(elicitation):
            conversation.elicitations[elicitation.key] = elicitation
            return CHANGED
        case ElicitationAnswered():
            return _answered(conversation, update)
        case ElicitationCompleted(elicitation_id):
            return _completed(conversation, elicitation_id)


def forget_elicitations(conversation: Conversation) -> Change:
    """The agent is gone: nobody waits for an answer, and no page will be reported done."""
    if not conversation.elicitations and not conversation.visits:
        return NOTHING
    conversation.elicitations.clear()
    conversation.visits.clear()
    return CHANGED


def _answered(conversation: Conversation, update: ElicitationAnswered) -> Change:
    """What became of it stands in the conversation from here on.

    A page that the user agreed to visit is shown on, unless it was done before (R-ELIC-11).
    """
    elicitation = conversation.elicitations.pop(update.key, None)
    if elicitation is None:
        return NOTHING
    if update.action == "accept" and isinstance(elicitation, UrlVisit) and not elicitation.is_complete:
        conversation.visits[elicitation.elicitation_id] = elicitation
    url = place_of(elicitation.url) if isinstance(elicitation, UrlVisit) else None
    conversation.entries.append(Question(elicitation.message, update.action, url, update.values, update.at))
    conversation.open_message = None  # what the agent says next, it says to this answer
    return Change((EntryId(len(conversation.entries) - 1),), CHANGED.facts)


def _completed(conversation: Conversation, elicitation_id: str) -> Change:
    """The user may not even have agreed yet: the question stays, and says that there is nothing left to do."""
    waiting = [
        elicitation
        for elicitation in conversation.elicitations.values()
        if isinstance(elicitation, UrlVisit)
        and elicitation.elicitation_id == elicitation_id
        and not elicitation.is_complete
    ]
    for visit in waiting:
        conversation.elicitations[visit.key] = replace(visit, is_complete=True)
    visited = conversation.visits.pop(elicitation_id, None)
    return CHANGED if waiting or visited is not None else NOTHING
