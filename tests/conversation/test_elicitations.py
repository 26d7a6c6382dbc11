"""Elicitations in a conversation: open, accepted, and finished ones."""

from acp_tui.conversation.conversation import NOTHING, Change
from acp_tui.conversation.elicitation import Elicitation, FieldAnswer, Form, UrlVisit
from acp_tui.conversation.entries import EntryId, Question
from acp_tui.conversation.facts import Fact, RequestKey
from acp_tui.conversation.updates import (
    Disconnected,
    ElicitationAction,
    ElicitationAnswered,
    ElicitationAsked,
    ElicitationCompleted,
)
from support.folding import agent, fold, last_change, texts

CHANGED = Change(facts=(Fact.ELICITATIONS,))


def form(key: int) -> Elicitation:
    return Form(RequestKey(key), "Who?", ())


def visit(key: int, elicitation_id: str = "e") -> Elicitation:
    return UrlVisit(RequestKey(key), "Look", elicitation_id, "https://a.example")


def answered(key: int, action: ElicitationAction) -> ElicitationAnswered:
    return ElicitationAnswered(RequestKey(key), action)


def test_questions_wait_oldest_first_and_are_answered_in_any_order() -> None:
    asked = [ElicitationAsked(form(3)), ElicitationAsked(visit(1)), ElicitationAsked(form(2))]
    assert list(fold(*asked).elicitations) == [3, 1, 2]
    assert last_change(*asked) == CHANGED
    assert list(fold(*asked, answered(1, "decline")).elicitations) == [3, 2]


def test_an_answer_stands_in_the_conversation_above_what_the_agent_says_to_it() -> None:
    values = (FieldAnswer("Name", "Ada"),)
    updates = (
        agent("I ask."),
        ElicitationAsked(form(1)),
        ElicitationAnswered(RequestKey(1), "accept", 1.5, values),
        agent("Thanks."),
    )
    conversation = fold(*updates)
    assert texts(conversation) == [("agent", "I ask."), ("Question", ""), ("agent", "Thanks.")]
    assert conversation.entries[1] == Question("Who?", "accept", None, values, 1.5)
    assert last_change(*updates[:-1]) == Change((EntryId(1),), (Fact.ELICITATIONS,))


def test_an_answer_to_what_does_not_wait_does_nothing() -> None:
    """R-CREQ-4."""
    assert last_change(ElicitationAsked(form(1)), answered(1, "cancel"), answered(1, "accept")) == NOTHING


def test_only_a_page_that_the_user_agreed_to_visit_is_kept() -> None:
    """R-ELIC-11."""
    for action in ("decline", "cancel"):
        assert fold(ElicitationAsked(visit(1)), answered(1, action)).visits == {}  # type: ignore[arg-type]
    assert fold(ElicitationAsked(form(1)), answered(1, "accept")).visits == {}
    assert fold(ElicitationAsked(visit(1)), answered(1, "accept")).visits == {"e": visit(1)}


def test_a_completed_page_is_gone_and_completing_it_again_does_nothing() -> None:
    """R-ELIC-12."""
    visited = (ElicitationAsked(visit(1)), answered(1, "accept"), ElicitationCompleted("e"))
    assert fold(*visited).visits == {}
    assert last_change(*visited) == CHANGED
    assert last_change(*visited, ElicitationCompleted("e")) == NOTHING
    assert last_change(ElicitationCompleted("unknown")) == NOTHING


def test_a_page_completed_while_it_is_asked_about_is_marked_so() -> None:
    updates = (ElicitationAsked(visit(1)), ElicitationAsked(visit(2, "other")), ElicitationCompleted("e"))
    marks = [getattr(question, "is_complete", None) for question in fold(*updates).elicitations.values()]
    assert marks == [True, False]
    assert last_change(*updates) == CHANGED
    assert last_change(*updates, ElicitationCompleted("e")) == NOTHING


def test_the_loss_of_the_agent_forgets_questions_and_pages() -> None:
    """R-TRANS-7."""
    updates = (
        ElicitationAsked(form(1)),
        ElicitationAsked(visit(2)),
        answered(2, "accept"),
        Disconnected("gone"),
    )
    conversation = fold(*updates)
    assert (conversation.elicitations, conversation.visits) == ({}, {})
    assert Fact.ELICITATIONS in last_change(*updates).facts


def test_an_answered_field_that_asks_has_no_second_mark() -> None:
    assert [FieldAnswer(name, "Red").words for name in ("Color", "Which color?", "Color:")] == [
        "Color: Red",
        "Which color? Red",
        "Color: Red",
    ]
