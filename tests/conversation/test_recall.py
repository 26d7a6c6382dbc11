"""What the user answered and ran is put back into a session that its agent tells again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

import pytest

from acp_tui.conversation.content import FILE_SCHEME, ResourceLink, Text, TextResource
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import FieldAnswer, Form
from acp_tui.conversation.entries import ToolCallEntry, TurnEnd
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.recall import recall
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import TerminalId, TextDiff, ToolCallId
from acp_tui.conversation.updates import (
    CancelRequested,
    CommandRun,
    ElicitationAnswered,
    ElicitationAsked,
    MessageReplaced,
    PermissionAnswered,
    PromptSent,
    Reconnected,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TurnEnded,
)
from acp_tui.conversation.wording import stop_words
from support.folding import ALLOW, agent, ask, call, fold, prompt, texts, user

OWN = TerminalId("own")
DIFF = TextDiff("/p/a.py", "x = 2\n", "x = 1\n")
NAMES = (
    "notes.md",
    "my notes.md",
    "a#b.md",
    "50%.md",
    "für.md",
    "a (1).md",
    "[x] y.md",
    "%20.md",
    "it's <b>.md",
    'a "b".md',
    "a",
    "a b",
    "context",
)


def as_opencode(words: str, files: Sequence[TextResource]) -> str:
    """As OpenCode 1.18.33 tells a prompt with files."""
    return words + "".join(f"[{unquote(file.uri.removeprefix(FILE_SCHEME))}]\n{file.text}" for file in files)


def as_claude(words: str, files: Sequence[TextResource]) -> str:
    """As claude-agent-acp 0.23.1 does: what they contain comes after all links."""
    return "".join((words, *map(link, files), *map(context, files)))


def as_codex(words: str, files: Sequence[TextResource]) -> str:
    """As codex-acp 2.6.0 does."""
    return words + "".join(link(file) + context(file) for file in files)


def as_gemini(words: str, files: Sequence[TextResource]) -> str:
    """As Gemini CLI 0.61.0 does."""
    contents = [f"Content from @{file.uri}:\n{file.text}" for file in files]
    prompt = words + "".join(f"@{file.uri}" for file in files)
    return "\n".join((prompt, "--- Content from referenced context ---", *contents))


def link(file: TextResource) -> str:
    return f"[@{file.uri.rpartition('/')[2]}]({file.uri})"


def context(file: TextResource) -> str:
    return f'\n<context ref="{file.uri}">\n{file.text}\n</context>'


def turn(prompt: str, *updates: SessionUpdate) -> tuple[SessionUpdate, ...]:
    return (PromptSent((Text(prompt),)), *updates, TurnEnded("end_turn"))


def answered(key: int, question: str) -> tuple[SessionUpdate, ...]:
    form = Form(RequestKey(key), question, ())
    return ElicitationAsked(form), ElicitationAnswered(form.key, "accept", 1.0, (FieldAnswer("Color", "Blue"),))


def own_command(*end: SessionUpdate) -> tuple[SessionUpdate, ...]:
    return TerminalOpened(OWN, "ls", "/p", True, 80, 24), CommandRun("ls", OWN), *end


def recorded() -> Conversation:
    return fold(
        *turn("Paint", agent("Which color?"), *answered(1, "Color"), agent("Blue it is."), call("t", title="Brush")),
        *own_command(TerminalExited(OWN, 0, None)),
        *turn(
            "Run", ask(2, "u", title="Run it", content=(DIFF,)), PermissionAnswered(RequestKey(2), ALLOW.option_id, 2.0)
        ),
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
    recall(conversation, recorded(), "s1")
    return conversation


def test_answers_commands_and_decisions_come_back_to_where_they_were() -> None:
    conversation = loaded(*LOADED)
    assert texts(conversation) == texts(recorded())
    assert conversation.tool_call("u").decisions == recorded().tool_call("u").decisions != ()
    assert conversation.tool_call("u").shown_content == (DIFF,)
    assert conversation.terminals[OWN] == recorded().terminals[OWN]


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
    apply(conversation, MessageReplaced("agent", "m", (Text("Blue it is. Yes."),)))
    assert ("agent", "Blue it is. Yes.") in texts(conversation)
    assert conversation.tool_call("t").call.title == "Brush again"


def test_a_prompt_may_have_more_around_it_and_a_message_may_be_missing() -> None:
    conversation = loaded(user("<context>x</context>\nPaint"), agent("Blue it is."), user("Run"))
    assert texts(conversation) == texts(recorded())


def test_tool_calls_that_the_agent_does_not_tell_come_back_with_their_decisions() -> None:
    """Like codex-acp 2.6.0, which tells only what was said."""
    conversation = loaded(user("Paint"), agent("Which color?Blue it is."), user("Run"))
    assert texts(conversation) == texts(recorded())
    assert conversation.terminals.keys() == recorded().terminals.keys()
    assert conversation.terminal_entries == recorded().terminal_entries
    assert conversation.turns == recorded().turns != []


def test_a_canceled_turn_is_still_one() -> None:
    was = fold(prompt("Paint"), agent("Wh"), call("t"), CancelRequested(), TurnEnded("cancelled"))
    conversation = fold(user("Paint"))
    recall(conversation, was, "s1")
    assert conversation.entries == was.entries
    assert TurnEnd("cancelled") in conversation.entries


def test_a_turn_that_was_cut_off_says_so_however_it_goes_on() -> None:
    """A half answer doesn't read as a whole one."""
    told, resumed = fold(user("Paint"), agent("Wh")), fold(prompt("Paint"), agent("Wh"))
    recall(told, fold(prompt("Paint"), agent("Wh")), "s1")
    apply(resumed, Reconnected(remembers=True))
    for conversation in (told, resumed):
        assert texts(conversation)[:2] == [("user", "Paint"), ("agent", "Wh")]
        assert conversation.entries[2] == TurnEnd("unfinished")
        assert stop_words("unfinished") == "unfinished: the turn was cut off here"


def test_what_the_agent_tells_before_and_after_the_recorded_turns_stays() -> None:
    around = (user("Elsewhere"), agent("Yes?")), (user("Later"), agent("Sure."))
    conversation = loaded(*around[0], *LOADED, *around[1])
    assert texts(conversation) == [*texts(fold(*around[0])), *texts(recorded()), *texts(fold(*around[1]))]


def test_a_turn_of_which_the_agent_tells_more_stays_with_the_answers_below() -> None:
    conversation = loaded(*LOADED[:4], agent("Done elsewhere."), *LOADED[4:])
    assert texts(conversation)[:6] == [
        *texts(fold(*LOADED[:4], agent("Done elsewhere."))),
        *[text for text in texts(recorded()) if text[0] == "Question"],
    ]


@pytest.mark.parametrize("more", [(), (agent("Done elsewhere."),)], ids=["", "of which the agent tells more"])
def test_a_call_that_is_told_in_another_turn_stays_in_its_own(more: tuple[SessionUpdate, ...]) -> None:
    """Gemini CLI 0.61.0 tells some calls in an earlier turn."""
    conversation = loaded(*LOADED[:4], call("u"), user("Run"), *more)
    assert conversation.tool_call(ToolCallId("u")).decisions == recorded().tool_call(ToolCallId("u")).decisions
    assert texts(conversation) == [*texts(recorded())[:-1], *texts(fold(*more)), texts(recorded())[-1]]


def test_a_call_that_ended_after_the_recording_did_tells_how() -> None:
    conversation = fold(user("Paint"), call("t", status="completed"))
    recall(conversation, fold(prompt("Paint"), call("t", status="in_progress")), "s1")
    assert conversation.tool_call(ToolCallId("t")).call.status == "completed"


def test_prompts_of_the_same_words_belong_to_the_longest_run_of_prompts() -> None:
    was = fold(*turn("Yes", call("a")), *turn("Paint"), *turn("Yes", call("b")), *turn("Run"))
    conversation = fold(user("Yes", "1"), user("Run", "2"))
    recall(conversation, was, "s1")
    assert list(conversation.tool_call_entries) == []
    assert [entry.call.tool_call_id for entry in conversation.entries if isinstance(entry, ToolCallEntry)] == ["b"]


def test_a_prompt_that_was_rewound_is_not_shown() -> None:
    conversation = fold(user("Paint", "1"), user("Other", "2"))
    recall(conversation, fold(*turn("Paint"), *turn("Run", call("u")), *turn("Other")), "s1")
    assert [kind for kind, _ in texts(conversation)] == ["user", "user", "ClientRemark"]


def test_what_belongs_to_a_prompt_that_the_agent_has_forgotten_is_left_out() -> None:
    conversation = loaded(user("Run"), call("u"))
    assert [kind for kind, _ in texts(conversation)] == ["user", "call", "ClientRemark"]
    assert conversation.tool_call("u").decisions


def test_a_command_before_the_first_prompt_comes_back_before_it() -> None:
    conversation = fold(agent("Welcome"), user("Paint"))
    recall(conversation, fold(*own_command(TerminalExited(OWN, 0, None)), *turn("Paint")), "s1")
    assert [kind for kind, _ in texts(conversation)] == ["agent", "OwnCommand", "user"]


def test_a_prompt_whose_attachment_is_told_as_the_users_words_reads_as_it_was_sent() -> None:
    """Like claude-agent-acp 0.23.1 tells the output of a command."""
    output = TextResource("terminal:1", "$ ls\na.txt\n(exit 0)\n")
    was = fold(PromptSent((Text("Paint"), output)), TurnEnded("end_turn"))
    conversation = fold(user(f'Paintterminal:1\n<context ref="terminal:1">\n{output.text}\n</context>'))
    recall(conversation, was, "s1")
    assert texts(conversation) == texts(was)


@pytest.mark.parametrize("agent_writes", [as_opencode, as_claude, as_codex, as_gemini])
@pytest.mark.parametrize(
    "names", [*((name,) for name in NAMES), NAMES, NAMES[::-1]], ids=[*NAMES, "all", "all the other way round"]
)
def test_a_prompt_is_found_again_whatever_its_files_are_called(
    agent_writes: Callable[[str, Sequence[TextResource]], str], names: Sequence[str]
) -> None:
    files = [TextResource(PurePosixPath("/p/docs", name).as_uri(), f"This is {name}.\n") for name in names]
    words = "Read " + " ".join(f'@"docs/{name}"' for name in names)
    was = fold(PromptSent((Text(words), *files)), call("t"), TurnEnded("end_turn"))
    conversation = fold(user(agent_writes(words, files)), call("t"))
    recall(conversation, was, "s1")
    assert conversation.entries == was.entries


@pytest.mark.parametrize(
    "told",
    [
        "[/p/a b.md:2]\nThis\nThat\n",
        '[@a%20b.md#L2-L3](file:///p/a%20b.md#L2-L3)\n<context ref="file:///p/a%20b.md#L2-L3">\nThis\nThat\n\n</context>',
    ],
    ids=["OpenCode 1.18.33", "codex-acp 2.6.0"],
)
def test_a_prompt_with_some_lines_of_a_file_is_found_again(told: str) -> None:
    lines = TextResource("file:///p/a%20b.md#L2-L3", "This\nThat\n")
    was = fold(PromptSent((Text('Read @"a b.md":2-3'), lines)), TurnEnded("end_turn"))
    conversation = fold(user(f'Read @"a b.md":2-3{told}'))
    recall(conversation, was, "s1")
    assert conversation.entries == was.entries


def test_a_prompt_with_a_folder_is_found_again() -> None:
    """Like codex-acp 2.6.0 tells it."""
    was = fold(PromptSent((Text("List"), ResourceLink("file:///p/my%20docs/", "my docs"))), TurnEnded("end_turn"))
    conversation = fold(user("List[@my docs](file:///p/my%20docs/)"))
    recall(conversation, was, "s1")
    assert conversation.entries == was.entries


def test_a_prompt_that_is_told_without_its_attachment_stays_as_it_is_told() -> None:
    was = fold(PromptSent((Text("Paint"), TextResource("terminal:1", "$ ls\n"))), TurnEnded("end_turn"))
    conversation = fold(user("Paint it red"))
    recall(conversation, was, "s1")
    assert texts(conversation) == [("user", "Paint it red")]


def test_a_command_that_had_not_ended_counts_as_ended() -> None:
    conversation = fold(user("Paint"))
    recall(conversation, fold(*turn("Paint"), *own_command()), "s1")
    assert texts(conversation) == [("user", "Paint"), ("OwnCommand", "")]
    assert conversation.own_command is None
