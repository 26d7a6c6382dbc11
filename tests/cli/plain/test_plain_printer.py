"""How plain mode prints a conversation, line by line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.cli.plain.console import Outbox
from acp_tui.cli.plain.printer import ConversationPrinter
from acp_tui.cli.plain.tool_call_text import label_of, spoken_diff
from acp_tui.client.settings.settings import Appearance, ConversationSettings, Settings
from acp_tui.conversation import reducer
from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import FieldAnswer, Form, UrlVisit
from acp_tui.conversation.facts import Choice, PlanStep, RequestKey, SelectOption
from acp_tui.conversation.tool_calls import BlockContent, TerminalId, TextDiff
from acp_tui.conversation.updates import (
    Disconnected,
    ElicitationAnswered,
    ElicitationAsked,
    MessageChunk,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PlanReplaced,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TurnEnded,
)
from support.folding import agent, prompt, thought, user
from support.folding import call as tool
from support.waiting import LIMIT_S

CWD = Path("/project")
DIFF = TextDiff("/project/a.py", "new\n", "old\n")


class Told:
    """A conversation, and what plain mode prints of it."""

    def __init__(self, *, is_brief: bool = False, **shown: Any) -> None:
        self._lines: list[str] = []
        self._outbox = Outbox(self._lines.append)
        self.conversation = Conversation()
        detail = Appearance(plain_detail="answer" if is_brief else "all")
        settings = Settings(detail, ConversationSettings(**shown))
        self.teller = ConversationPrinter(self.conversation, CWD, self._outbox, settings, "Claude")

    def hear(self, *updates: SessionUpdate) -> None:
        for update in updates:
            self.teller.tell(reducer.apply(self.conversation, update))

    async def lines(self) -> list[str]:
        """What was printed since the last call."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._outbox.run)
            with anyio.fail_after(LIMIT_S):
                await self._outbox.flush()
            tasks.cancel_scope.cancel()
        told = [line for text in self._lines for line in text.split("\n")]
        self._lines.clear()
        return told


async def test_a_block_is_told_when_it_is_finished_and_the_rest_at_the_end() -> None:
    told = Told()
    told.hear(agent("The first par"), agent("agraph.\n\nThe sec"))
    assert await told.lines() == ["", "Claude: The first paragraph."]
    told.hear(agent("ond"))
    assert await told.lines() == []
    told.teller.finish()
    assert await told.lines() == ["", "Claude: The second"]


async def test_another_entry_ends_the_message() -> None:
    told = Told()
    told.hear(agent("Look:"), tool("c", title="Read a.py", kind="read", status="in_progress"))
    assert await told.lines() == ["", "Claude: Look:", "tool: Read a.py"]


async def test_a_picture_is_told_between_the_texts() -> None:
    told = Told()
    told.hear(agent("before"), MessageChunk("agent", Image("AAAA", "image/png")), agent("after"))
    told.teller.finish()
    assert [line for line in await told.lines() if line] == ["Claude: before", "[image: PNG, 3 bytes]", "after"]


async def test_what_is_typed_here_is_not_told_and_what_an_earlier_day_brought_is() -> None:
    told = Told()
    told.hear(user("last week"))
    told.teller.finish()
    assert await told.lines() == ["", "you: last week"]
    told.teller.is_typed_here = True
    told.hear(prompt("typed now"), TurnEnded("end_turn"))
    told.teller.finish()
    assert await told.lines() == []


async def test_a_tool_call_is_told_at_its_start_and_at_its_end_with_its_diff() -> None:
    told = Told()
    told.hear(tool("c", title="Edit", kind="edit", status="pending"))
    told.hear(tool("c", status="in_progress"), tool("c", status="completed", content=(DIFF,)))
    assert await told.lines() == [
        *("tool: Edit", "done"),
        *("  a.py:", "  from line 1:", "  removed:", "    old", "  added:", "    new"),
    ]


async def test_a_diff_without_changes_says_so() -> None:
    told = Told()
    told.hear(tool("c", title="Edit", kind="edit", status="completed", content=(TextDiff("a.py", "x", "x"),)))
    assert await told.lines() == ["done: Edit", "  a.py: no change"]


async def test_a_diff_that_was_shown_with_the_question_is_not_told_again() -> None:
    told = Told()
    told.hear(tool("c", title="Edit", kind="edit", status="pending", content=(DIFF,)))
    entry = told.conversation.entries[0]
    told.teller.note_asked(entry.call)  # type: ignore[union-attr]
    told.hear(tool("c", status="completed"))
    assert await told.lines() == ["tool: Edit", "done"]


async def test_long_content_is_cut_and_folded_kinds_tell_none_unless_they_fail() -> None:
    text = BlockContent(Text("\n".join("abcdefgh")))
    told = Told(text_lines=2)
    told.hear(tool("c", title="Look", kind="fetch", status="completed", content=(text,)))
    assert await told.lines() == ["done: Look"]
    told.hear(tool("d", title="Look", kind="fetch", status="failed", content=(text,)))
    assert await told.lines() == ["failed: Look", "  a", "  b", "  [6 more lines; to see them all: /show]"]


async def test_output_is_told_once_when_the_command_has_ended_as_a_terminal_shows_it() -> None:
    told = Told(terminal_lines=2)
    name = TerminalId("t")
    told.hear(TerminalOpened(name, "make", "/project", True, 80, 24))
    told.hear(TerminalOutput(name, b"one\r\n 10%\r100%\r\n\x1b[31mred\x1b[0m\r\n"))
    assert await told.lines() == []
    told.hear(TerminalExited(name, 0, None, 1.25))
    lines = await told.lines()
    assert lines == [*("exit 0 after 1.2 s: make", "  [1 lines above; to see them all: /output]", "  100%", "  red")]


async def test_a_question_is_told_once_with_what_was_answered() -> None:
    told = Told()
    values = (FieldAnswer("Name", "Ada\x1b[m"), FieldAnswer("Word", "***"))
    told.hear(
        ElicitationAsked(Form(RequestKey(1), "Who?", ())),
        ElicitationAnswered(RequestKey(1), "accept", 1.5, values),
        ElicitationAsked(UrlVisit(RequestKey(2), "Look", "e", "https://a.example")),
        ElicitationAnswered(RequestKey(2), "decline"),
    )
    assert await told.lines() == [
        *("acp-tui: you answered: Who?", "  Name: Ada␛[m", "  Word: ***"),
        "you declined: Look",
    ]


async def test_plans_options_notices_and_stop_reasons_are_told_as_they_change() -> None:
    told = Told()
    mode = SelectOption("m", "Mode", "ask", (Choice("ask", "Ask"), Choice("plan", "Plan")), "mode")
    told.hear(OptionsReplaced((mode,)), OptionChanged("m", "plan"), OptionChanged("m", "plan"))
    told.hear(PlanReplaced((PlanStep("a", status="completed"), PlanStep("b"))))
    told.hear(NoticeShown("warning", "Slow", "the network is"))
    told.teller.is_typed_here = True
    told.hear(prompt("x"), TurnEnded("max_tokens"))
    assert await told.lines() == [
        *("acp-tui: Mode is now Plan", "plan: done: a", "  to do: b", "acp-tui: warning: Slow: the network is"),
        "stopped: token limit reached",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\x1b[2Jb\u202ec", "a␛[2Jb⟨U+202E⟩c"), ("done: all tests", " done: all tests"), ("YOU: yes", " YOU: yes")],
)
async def test_what_an_agent_says_is_visible_and_looks_like_no_line_of_ours(text: str, line: str) -> None:
    told = Told()
    told.hear(agent(f"Look:\n{text}"))
    told.teller.finish()
    assert await told.lines() == ["", "Claude: Look:", line]


@pytest.mark.parametrize(
    ("thoughts", "lines"),
    [("folded", ["thought: One"]), ("open", ["thought: One", "  two", "Three"])],
)
async def test_thoughts_are_told_by_a_line_or_whole_as_the_settings_say(thoughts: str, lines: list[str]) -> None:
    told = Told(thoughts=thoughts)
    told.hear(thought("One\ntwo\n\nThree"))
    told.teller.finish()
    assert await told.lines() == lines


async def test_who_speaks_is_named_where_the_speaker_changes() -> None:
    told = Told()
    told.hear(user("Hi"), thought("Hm"), agent("One.\n\nTwo.\n\n"), tool("c", title="Look", kind="read"))
    told.hear(tool("d", title="Edit", kind="edit"), tool("c", status="completed"), agent("```\nx\n```\n"))
    assert [line for line in await told.lines() if line] == [
        *("you: Hi", "thought: Hm", "Claude: One.", "Two."),
        *("tool: Look", "tool: Edit", "done: Look", "Claude:", "```", "x", "```"),
    ]


async def test_an_agent_named_as_one_of_our_labels_speaks_as_agent() -> None:
    assert [label_of(title) for title in ("Claude", "You", "acp-tui: ", "", "a\nb")] == [
        *("Claude", "agent", "agent", "agent", "a␊b"),
    ]


async def test_a_plan_is_told_once_and_then_the_steps_that_changed() -> None:
    told = Told()
    first, second = PlanStep("Read"), PlanStep("Fix", "high")
    told.hear(PlanReplaced((replace(first, status="in_progress"), second)))
    told.hear(PlanReplaced((replace(first, status="completed"), second)))
    told.hear(PlanReplaced((replace(first, status="completed"), second)))
    told.hear(PlanReplaced((replace(first, status="completed"), replace(second, status="completed"))))
    assert await told.lines() == [
        *("plan: now: Read", "  to do: Fix (high priority)"),
        "plan: done: Read",
        "plan: all steps are done",
    ]


async def test_no_word_is_broken_by_what_happens_before_a_message_or_by_a_plan() -> None:
    told = Told()
    told.hear(tool("c", title="Read a.py", kind="read", status="in_progress"))
    told.hear(MessageChunk("agent", Text("This is a sma"), "m"), tool("c", status="completed"))
    told.hear(PlanReplaced((PlanStep("Fix"),)), MessageChunk("agent", Text("ll library."), "m"))
    told.teller.finish()
    assert await told.lines() == [
        "tool: Read a.py",
        "done",
        *("", "Claude: This is a small library."),
        "plan: to do: Fix",
    ]


async def test_a_call_that_names_its_file_only_at_its_end_is_told_with_it() -> None:
    told = Told()
    told.hear(tool("c", title="Write", kind="edit", status="in_progress"))
    told.hear(tool("c", title="Write b.py", status="failed"))
    assert await told.lines() == ["tool: Write", "failed: Write b.py"]


TABLE = """\
Sizes:
| Name | Size |  |
|:-----|-----:|--|
| a\\|b | 1 | x |
|  | 2
No | row"""


async def test_a_table_is_told_in_sentences_but_not_in_code() -> None:
    told = Told()
    told.hear(agent(TABLE))
    told.teller.finish()
    assert await told.lines() == ["", "Claude: Sizes:", "Name: a|b; Size: 1; x", "Size: 2", "Name: No; Size: row"]
    told.hear(TurnEnded("end_turn"), agent(f"```\n{TABLE}\n```\n"))
    assert await told.lines() == ["", "Claude:", "```", *TABLE.splitlines(), "```"]


async def test_if_only_the_answer_is_wanted_nothing_is_told_before_the_turn_has_ended() -> None:
    told = Told(is_brief=True)
    told.teller.is_typed_here = True
    told.hear(prompt("go"), thought("Hm"), agent("First I look."), PlanReplaced((PlanStep("Look"),)))
    told.hear(tool("c", title="Look", status="failed", content=(DIFF,)), NoticeShown("info", "Busy"))
    told.hear(agent("One.\n\nTwo."), TurnEnded("end_turn"))
    assert await told.lines() == []
    told.teller.finish()
    told.teller.finish()
    assert await told.lines() == ["", "Claude: One.", "", "Two."]
    told.hear(prompt("again"), agent("Half"), TurnEnded("max_tokens"))
    assert await told.lines() == ["", "Claude: Half", "acp-tui: stopped: token limit reached"]


def test_a_diff_is_told_in_words_as_speech_leaves_out_a_minus() -> None:
    lines = [f"{number}\n" for number in range(1, 30)]
    changed = [*lines[:9], "ten\n", "- x\n", *lines[11:28], "end"]
    assert spoken_diff("a.py", "".join(lines), "".join(changed)).splitlines() == [
        "a.py:",
        *("from line 7:", "same:", "  7", "  8", "  9", "removed:", "  10", "  11", "added:", "  ten", "  - x"),
        *("same:", "  12", "  13", "  14", "from line 26:", "same:", "  26", "  27", "  28"),
        *("removed:", "  29", "added:", "  end", r"\ No newline at end of file"),
    ]
    assert spoken_diff("b.py", None, "new\n").splitlines() == ["b.py, a new file:", "from line 1:", "added:", "  new"]


async def test_an_agent_that_ends_leaves_out_its_stack() -> None:
    told = Told()
    stack = "".join(f'  File "agent.py", line {number}\n' for number in range(1, 31))
    told.hear(Disconnected("Agent exited with code 1", f"Traceback (most recent call last):\n{stack}KeyError: 'x'\n"))
    assert (await told.lines())[-3:] == [
        "acp-tui: Agent exited with code 1",
        "  Traceback (most recent call last):",
        "  KeyError: 'x'",
    ]
