"""What the user answered and ran is put back into a session that its agent tells again."""

from __future__ import annotations

from acp_tui.conversation.content import Text, TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import FieldAnswer, Form
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.recall import recall
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import (
    CommandRun,
    ElicitationAnswered,
    ElicitationAsked,
    PermissionAnswered,
    PromptSent,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TurnEnded,
)
from support.folding import ALLOW, agent, ask, call, fold, texts, user

OWN = TerminalId("own")


def turn(prompt: str, *updates: SessionUpdate) -> tuple[SessionUpdate, ...]:
    return (PromptSent((Text(prompt),)), *updates, TurnEnded("end_turn"))


def answered(key: int, question: str) -> tuple[SessionUpdate, ...]:
    form = Form(RequestKey(key), question, ())
    return ElicitationAsked(form), ElicitationAnswered(form.key, "accept", 1.0, (FieldAnswer("Color", "Blue"),))


def own_command(*end: SessionUpdate) -> tuple[SessionUpdate, ...]:
    return TerminalOpened(OWN, "ls", "/p", True, 80, 24), CommandRun("ls", OWN), *end


RECORDED = fold(
    *turn("Paint", agent("Which color?"), *answered(1, "Color"), agent("Blue it is."), call("t", title="Brush")),
    *own_command(TerminalExited(OWN, 0, None)),
    *turn("Run", ask(2, "u", title="Run it"), PermissionAnswered(RequestKey(2), ALLOW.option_id, 2.0)),
)
LOADED = (
    user("Paint"),
    agent("Which color?"),
    agent("Blue it is.", "m"),
    call("t", title="Brush"),
    user("Run"),
    call("u"),
)


def loaded(*updates: SessionUpdate) -> Conversation:
    conversation = fold(*updates)
    recall(conversation, RECORDED)
    return conversation


def test_answers_commands_and_decisions_come_back_to_where_they_were() -> None:
    conversation = loaded(*LOADED)
    assert texts(conversation) == texts(RECORDED)
    assert conversation.tool_call("u").decisions == RECORDED.tool_call("u").decisions != ()
    assert conversation.terminals[OWN] == RECORDED.terminals[OWN]


def test_turns_that_the_agent_tells_still_begin_and_end_with_their_entries() -> None:
    conversation = loaded(
        *turn("Paint", agent("Which color?"), agent("Blue it is.", "m"), call("t", title="Brush")),
        *turn("Run", call("u")),
    )
    kinds = [kind for kind, *_ in texts(conversation)]
    assert [turn.start for turn in conversation.turns] == [at for at, kind in enumerate(kinds) if kind == "user"]
    assert conversation.turns[-1].end == len(kinds) > 6


def test_what_comes_later_still_finds_its_entries() -> None:
    conversation = loaded(*LOADED)
    apply(conversation, call("t", title="Brush again"))
    apply(conversation, agent(" Yes.", "m"))
    assert ("agent", "Blue it is. Yes.") in texts(conversation)
    assert conversation.tool_call("t").call.title == "Brush again"


def test_a_prompt_may_have_more_around_it_and_a_message_may_be_missing() -> None:
    conversation = loaded(user("<context>x</context>\nPaint"), agent("Blue it is."), user("Run"))
    assert [kind for kind, _ in texts(conversation)] == ["user", "Question", "agent", "OwnCommand", "user"]


def test_what_belongs_to_a_prompt_that_the_agent_has_forgotten_is_left_out() -> None:
    conversation = loaded(user("Run"), call("u"))
    assert [kind for kind, _ in texts(conversation)] == ["user", "call"]
    assert conversation.tool_call("u").decisions


def test_a_command_before_the_first_prompt_comes_back_before_it() -> None:
    conversation = fold(agent("Welcome"), user("Paint"))
    recall(conversation, fold(*own_command(TerminalExited(OWN, 0, None)), *turn("Paint")))
    assert [kind for kind, _ in texts(conversation)] == ["agent", "OwnCommand", "user"]


def test_a_prompt_whose_attachment_is_told_as_the_users_words_reads_as_it_was_sent() -> None:
    """Like claude-agent-acp 0.23.1 tells the output of a command."""
    output = TextResource("terminal:1", "$ ls\na.txt\n(exit 0)\n")
    recorded = fold(PromptSent((Text("Paint"), output)), TurnEnded("end_turn"))
    conversation = fold(user(f'Paintterminal:1\n<context ref="terminal:1">\n{output.text}\n</context>'))
    recall(conversation, recorded)
    assert texts(conversation) == texts(recorded)


def test_a_prompt_that_is_told_without_its_attachment_stays_as_it_is_told() -> None:
    recorded = fold(PromptSent((Text("Paint"), TextResource("terminal:1", "$ ls\n"))), TurnEnded("end_turn"))
    conversation = fold(user("Paint it red"))
    recall(conversation, recorded)
    assert texts(conversation) == [("user", "Paint it red")]


def test_a_command_that_has_not_ended_is_left_out() -> None:
    conversation = fold(user("Paint"))
    recall(conversation, fold(*turn("Paint"), *own_command()))
    assert texts(conversation) == [("user", "Paint")]
