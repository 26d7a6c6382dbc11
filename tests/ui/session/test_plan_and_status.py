"""What surrounds the conversation: the plan, the status line, notices, and the modes that Shift+Tab cycles."""

from dataclasses import replace
from typing import Any, ClassVar

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.content import Content
from textual.screen import Screen

from acp_tui.client.errors import AgentRefused
from acp_tui.conversation import reducer
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import (
    BackgroundWork,
    BooleanOption,
    Choice,
    PlanStep,
    RequestKey,
    SelectOption,
    TurnUsage,
    Usage,
)
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import (
    Disconnected,
    MessageChunk,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PermissionAnswered,
    PlanReplaced,
    PromptSent,
    StateReported,
    TurnEnded,
    UsageReported,
)
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.session.status import Work
from acp_tui.ui.session.status_line import STATES, EdgeLine, Status, StatusLine, left_of, line_of
from support.folding import ALLOW, agent, ask, call, thought, user
from support.screens import AGENT, open_page

MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("plan", "Plan first")), "mode")
LOOSE = SelectOption(
    "mode",
    "Mode",
    "default",
    (
        Choice("default", "Default"),
        Choice("autoEdit", "Auto Edit"),
        Choice("yolo", "YOLO", "Auto-approves all tools"),
        Choice("plan", "Plan"),
    ),
    "mode",
)
MODEL = SelectOption("model", "Model", "large", (Choice("large", "Large 4"),), "model")
EFFORT = SelectOption("effort", "Effort", "high", (Choice("high", "Very high"),), "thought_level")


def _plan(*statuses: str) -> PlanReplaced:
    """A plan with steps A, B, C, ... in these statuses."""
    return PlanReplaced(tuple(PlanStep(f"step {chr(65 + at)}", status=status) for at, status in enumerate(statuses)))


STATUSES = ("completed", "in_progress", "pending")

# The plan


async def test_without_a_plan_there_is_no_plan_line() -> None:
    async with open_page() as page:
        assert not page.plan.display


async def test_the_plan_line_advances_with_the_plan() -> None:
    async with open_page(_plan("in_progress", "pending", "pending")) as page:
        assert "Plan 0/3  step A" in page.text
        await page.apply(_plan("completed", "in_progress", "pending"))
        assert "Plan 1/3  step B" in page.text
        await page.apply(_plan("completed", "completed", "pending"))
        assert "Plan 2/3  step C" in page.text


async def test_the_plan_opens_and_folds_by_key_and_by_click() -> None:
    async with open_page(_plan("completed", "in_progress", "pending")) as page:
        for _ in range(2):
            assert "step C" not in page.text
            await page.press("ctrl+t")
            for line in ("✓ step A", "◐ step B", "○ step C"):
                assert line in page.text
            await page.press("ctrl+t")
        await page.click("Plan ")
        assert "○ step C" in page.text


async def test_priorities_are_marked_where_they_are_not_medium() -> None:
    steps = tuple(PlanStep(f"a {priority} step", priority) for priority in ("high", "medium", "low"))
    async with open_page(PlanReplaced(steps)) as page:
        await page.press("ctrl+t")
        for line in ("○ a high step · high\n", "○ a medium step\n", "○ a low step · low\n"):
            assert line in page.text


async def test_a_long_step_is_cut_in_the_plan_line_and_whole_when_it_is_opened() -> None:
    step = PlanStep("word " * 20 + "END")
    async with open_page(PlanReplaced((step,)), size=(60, 20)) as page:
        assert page.plan.size.height == 1
        assert "END" not in page.text
        await page.press("ctrl+t")
        assert "END" in page.text


async def test_a_plan_that_is_done_folds_away_when_the_turn_is_over() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.apply(_plan("completed", "completed"))
        assert "Plan 2/2  all steps are done" in page.text
        await page.end_turn()
        assert not page.plan.display


async def test_an_opened_plan_folds_away_when_it_is_done_and_can_be_opened_again() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.apply(_plan("completed", "in_progress"))
        await page.press("ctrl+t")
        await page.apply(_plan("completed", "completed"))
        assert "✓ step B" in page.text
        await page.end_turn()
        assert not page.plan.display
        await page.press("ctrl+t")
        assert "✓ step B" in page.text


async def test_a_plan_that_the_next_turn_leaves_is_hidden_until_it_is_told_or_opened() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.apply(_plan("completed", "in_progress"))
        await page.end_turn()
        assert "Plan 1/2  step B" in page.text
        await page.send("something else")
        assert not page.plan.display
        await page.press("ctrl+t")
        assert "◐ step B" in page.text
        await page.press("ctrl+t")
        await page.apply(_plan("completed", "in_progress"))
        assert "Plan 1/2  step B" in page.text


async def test_the_line_shows_the_plan_in_progress() -> None:
    waiting, done = (PlanReplaced((PlanStep(f"{word} step", status=word),), word) for word in STATUSES[::2])
    async with open_page(done, waiting) as page:
        assert "▸ Plan 0/1 · 1 more plan  pending step" in page.text
        await page.apply(_plan("completed", "in_progress"))
        assert "▸ Plan 1/2 · 2 more plans  step B" in page.text


async def test_all_plans_are_shown_when_they_are_opened() -> None:
    async with open_page(*(PlanReplaced((PlanStep(f"{word} step", "high", word),), word) for word in STATUSES)) as page:
        await page.press("ctrl+t")
        assert [line.strip() for line in page.text.partition("▾ ")[2].splitlines()[:6]] == [
            *("Plan 0/1  in_progress step", "◐ in_progress step · high"),
            *("Plan 0/1  pending step", "○ pending step · high"),
            *("Plan 1/1  all steps are done", "✓ completed step · high"),
        ]


async def test_plans_fold_away_when_all_of_them_are_done() -> None:
    async with open_page(_plan("completed"), PlanReplaced((PlanStep("other"),), "other")) as page:
        assert "Plan 0/1 · 1 more plan  other" in page.text
        await page.apply(PlanReplaced((PlanStep("other", status="completed"),), "other"))
        assert not page.plan.display


async def test_a_long_plan_is_scrolled_to_its_end() -> None:
    async with open_page(_plan(*["pending"] * 26)) as page:
        await page.press("ctrl+t")
        assert page.plan.size.height == 12
        assert "step Z" not in page.text
        page.plan.focus()
        await page.press(*["pagedown"] * 3)
        assert "step Z" in page.text


async def test_the_lines_of_a_long_step_stand_below_each_other() -> None:
    async with open_page(PlanReplaced((PlanStep("word " * 20 + "END", "high"),)), size=(60, 20)) as page:
        await page.press("ctrl+t")
        at = page.lines.index(f"    ○ {'word ' * 10}".rstrip())
        assert page.lines[at + 1 : at + 3] == [f"      {'word ' * 10}".rstrip(), "      END · high"]


async def test_a_plan_that_was_taken_back_is_gone() -> None:
    async with open_page(_plan("pending")) as page:
        await page.apply(PlanReplaced(()))
        assert not page.plan.display


# The status line


async def test_the_agent_is_named_only_when_a_prompt_can_be_sent() -> None:
    async with open_page(is_shown=False) as page:
        assert page.status.startswith("○ starting")
        assert AGENT not in page.status
    async with open_page() as page:
        assert page.status.startswith(f"● {AGENT}")


async def test_the_states_of_a_session_are_said_in_words() -> None:
    async with open_page() as page:
        await page.send("go")
        assert "working 0:00; Esc cancels" in page.status
        await page.ask("call")
        await page.press("tab", "w")
        assert "needs your decision  " in page.status, "there, it leads back to the card"
        await page.press("escape", "escape")
        assert "needs your decision; Tab answers · Esc cancels" in page.status
        page.clock.now_s += 2
        await page.press("escape")
        assert "canceling" in page.status
        await page.end_turn("cancelled")
        assert page.status.startswith(f"● {AGENT}  ")
        await page.apply(Disconnected("it exited"))
        assert "gone; Alt+R restarts it" in page.status


async def test_mode_model_and_usage_are_shown_as_the_agent_reported_them() -> None:
    usage = UsageReported(Usage(18_432, 200_000, 0.0421, "USD"))
    async with open_page(OptionsReplaced((MODEL, MODE, EFFORT)), usage) as page:
        assert "18k/200k $0.04 · mode: Ask · model: Large 4" in page.status
        assert "Very high" not in page.status
        await page.apply(OptionChanged("mode", "plan"))
        assert "Plan first" in page.status


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(999, 0), "999 ·"),
        (Usage(1_500_000, 2_000_000), "1.5M/2.0M ·"),
        (Usage(101, 200_000), "0.1k/200k ·"),
        (Usage(2, 200_000), "0.1k/200k ·"),
        (Usage(0, 8_000, 3.5, "credits"), "0/8k 3.50 credits"),
        (Usage(5, 10, 0.0, None), "5/10 0.00"),
    ],
    ids=repr,
)
async def test_usage_is_never_made_up(usage: Usage, words: str) -> None:
    async with open_page(UsageReported(usage)) as page:
        assert words in page.status
        assert "%" not in page.status


async def test_work_behind_the_turn_is_counted_beside_it() -> None:
    """R2-STATE."""
    server = BackgroundWork("terminal", "t")
    async with open_page(StateReported("idle", background=(server,))) as page:
        assert page.status.startswith(f"● {AGENT}")
        assert "1 in the background" in page.status
        await page.apply(StateReported("idle", background=()))
        assert "background" not in page.status


async def test_nothing_is_said_of_usage_that_was_not_reported() -> None:
    async with open_page() as page:
        assert page.status.split() == ["●", AGENT, "F1", "help"]


async def test_an_on_off_option_and_a_value_beyond_the_choices_are_shown() -> None:
    fast = BooleanOption("fast", "Fast", True, "model")
    odd = SelectOption("mode", "Mode", "secret", (), "mode")
    async with open_page(OptionsReplaced((fast, odd))) as page:
        assert "mode: secret · Fast: on" in page.status


async def test_another_kind_of_mode_is_beside_the_mode_once_it_is_switched() -> None:
    choices = Choice("default", "Default"), Choice("plan", "Plan")
    usual, left = (SelectOption("how", "How", one.value, choices, "collaboration_mode") for one in choices)
    async with open_page(OptionsReplaced((usual, MODE, MODEL))) as page:
        assert "  mode: Ask · model: Large 4" in page.status
        await page.apply(OptionsReplaced((left, MODE, MODEL)))
        assert "mode: Plan, Ask · model: Large 4 · F1 help" in page.status


async def test_the_status_line_has_the_parts_that_were_chosen_in_their_order() -> None:
    async with open_page(OptionsReplaced((MODEL, MODE)), UsageReported(Usage(5, 10))) as page:
        assert "5/10 · mode: Ask · model: Large 4 · F1 help" in page.status
        tab = page.tab
        chosen = replace(tab.settings.appearance, status=("tokens", "mode"))
        tab.use_settings(replace(tab.settings, appearance=chosen))
        await page.settled()
        assert page.status.endswith("5/10 · mode: Ask · F1 help")
        assert "Large" not in page.status
        tab.use_settings(replace(tab.settings, appearance=replace(chosen, status=())))
        await page.settled()
        assert "Ask" not in page.status
        assert "F1 help" in page.status


async def test_while_the_conversation_has_the_keyboard_the_line_has_its_keys() -> None:
    said = user("Hi"), thought("Hm."), agent("Done.")
    async with open_page(OptionsReplaced((MODE, MODEL)), *said, size=(100, 24)) as page:
        assert "mode: Ask" in page.status
        await page.press("tab")
        assert page.status.endswith("↑ ↓ move · Esc back · F1 help"), "a message doesn't fold"
        await page.press("up")
        assert page.status.endswith("↑ ↓ move · Space unfold · Esc back · F1 help")
        await page.press("space")
        assert page.status.endswith("↑ ↓ move · Space fold · Esc back · F1 help")
        await page.press("ctrl+o", "ctrl+o")
        assert page.status.endswith("↑ ↓ move · Space unfold · Esc back · F1 help")
        await page.press("up")
        assert page.status.endswith("↑ ↓ move · Esc back · F1 help"), "and neither does a short prompt"
        await page.press("escape")
        assert "mode: Ask" in page.status


async def test_only_a_call_that_has_more_to_show_is_said_to_unfold() -> None:
    whole, longer = (BlockContent(Text("line\n" * count)) for count in (2, 100))
    calls = call("bare"), call("short", content=(whole,)), call("long", content=(longer,))
    async with open_page(*calls, call("raw", raw_input={"path": "a.py"}), size=(100, 40)) as page:
        await page.press("tab")
        for unfolds in (True, True, False, False):  # from the last one up
            assert ("Space unfold" in page.status) == unfolds, page.text
            await page.press("up")


@pytest.mark.parametrize("state", [state for state, (*_, words) in STATES.items() if "{restart}" in words])
def test_the_key_that_restarts_an_agent_outlasts_the_end_of_its_name(state: str) -> None:
    line = line_of(Status(agent="An agent with a name of many words", state=state, facts=("mode: Ask",)), 40).plain
    assert "; Alt+R" in line
    assert " An" in line
    assert cell_len(line) <= 40


async def test_what_does_not_fit_into_the_status_line_is_left_out_but_the_mode_last() -> None:
    async with open_page(OptionsReplaced((MODE, MODEL)), ask(1, "call"), size=(68, 20)) as page:
        assert page.status == f"▲ {AGENT}  needs your decision; Tab answers    mode: Ask · F1 help"
    usual = Status(agent="A", facts=("101/200k $1", "mode: Ask", "model: Default (recommended)"))
    assert line_of(usual, 70).plain.endswith("101/200k $1 · mode: Ask · model: Default (recommended) · F1 help")
    assert line_of(usual, 60).plain.endswith("101/200k $1 · mode: Ask · F1 help")
    assert line_of(Status(agent="A", facts=("mode: Ask", "model: B", "1/2k")), 32).plain.endswith("k · F1 help")
    assert line_of(Status(agent="A", facts=("mode: Ask", "model: B", "1/2k")), 28).plain.endswith("mode: Ask · F1 help")
    assert line_of(Status(agent="A", facts=("mode: Ask", "model: B", "1/2k")), 18).plain.endswith("  F1 help")


def test_what_is_below_is_said_while_there_is_room_also_in_place_of_the_mode() -> None:
    status = Status(agent="A", below="2 new below: Ctrl+End", facts=("1/2k", "mode: Ask", "model: B"))
    assert line_of(status, 70).plain.endswith(" 2 new below: Ctrl+End · 1/2k · mode: Ask · model: B · F1 help")
    assert line_of(status, 50).plain.endswith(" 2 new below: Ctrl+End · mode: Ask · F1 help")
    assert line_of(status, 40).plain.endswith("   2 new below: Ctrl+End · F1 help")
    work = Work(Conversation(), lambda: 0.0)
    for mode, right in (
        ("mode: Ask", "more below: Ctrl+End · F1 help"),
        ("mode: YOLO (no questions)", "mode: YOLO (no questions) · F1 help"),
    ):
        status = Status("", "acp-tui demo", "working", "more below: Ctrl+End", (mode, "model: B"), work=work)
        assert line_of(status, 80).plain.endswith(f"  {right}")


def test_what_a_turn_took_makes_room_for_what_changed_the_context_and_the_mode() -> None:
    conversation = Conversation()
    work = Work(conversation, lambda: 0.0)
    reducer.apply(conversation, PromptSent(()))
    work.note_change()
    reducer.apply(conversation, TurnEnded("end_turn", usage=TurnUsage(120_000, 0, 0)))
    work.note_change()
    status = Status(agent="Claude Agent", state="ready", work=work, facts=("mode: Bypass permissions",))
    assert "done in <1 s · 120k tokens" in line_of(status, 80).plain
    for width in (66, 70, 80):
        assert line_of(status, width).plain.endswith("mode: Bypass permissions · F1 help")
        assert "done" in line_of(status, width).plain
    facts = ("1 file +1", "12k/200k $0.05", "mode: Default", "model: Opus", "worktree fix")
    status = Status(agent="Claude Agent", state="ready", work=work, facts=facts)
    for width, words in {
        76: "done in <1 s ~ 12k/200k $0.05 · mode: Default · F1 help",
        92: "done in <1 s ~ 1 file +1 · 12k/200k $0.05 · mode: Default · F1 help",
        106: "done in <1 s · 120k tokens ~ 1 file +1 · 12k/200k $0.05 · mode: Default · F1 help",
        116: "done in <1 s · 120k tokens ~ 1 file +1 · 12k/200k $0.05 · mode: Default · worktree fix · F1 help",
    }.items():
        left, right = words.split(" ~ ")
        assert line_of(status, width).plain.split("  ", 2)[1] == left
        assert line_of(status, width).plain.endswith(f"  {right}")


async def test_the_cost_is_that_of_the_session_and_said_once() -> None:
    async with open_page(UsageReported(Usage(1_000, 200_000, 0.5, "USD"))) as page:
        await page.send("go")
        await page.apply(UsageReported(Usage(2_000, 200_000, 0.75, "USD")))
        await page.end_turn()
        assert "done in" in page.status
        assert "2k/200k $0.75" in page.status
        assert "$0.25" not in page.status


@pytest.mark.parametrize(
    ("cells", "left"),
    [
        (68, "▲ Agent Smith  needs your decision; Tab answers · Esc cancels"),
        (55, "▲ Agent Smith  needs your decision; Tab answers"),
        (51, "▲ Agent Smith  needs your decision; Tab answers"),
        (50, "▲ Agent Smith  needs your decision"),
        (36, "▲ Agent Sm…  needs your decision"),
        (30, "▲ Age…  needs your decisi…"),
    ],
)
def test_in_a_narrow_status_line_the_state_stays_longer_than_the_name(cells: int, left: str) -> None:
    assert left_of(Status(agent="Agent Smith", state="waiting"), cells - 4).plain == left


# Notices


async def test_a_notice_of_the_agent_is_shown_and_is_no_entry() -> None:
    async with open_page() as page:
        await page.apply(NoticeShown("warning", "Rate limit", "in 5 minutes"))
        assert "Rate limit" in page.text
        assert "in 5 minutes" in page.text
        assert page.session.conversation.entries == []


async def test_each_notice_is_shown_once() -> None:
    async with open_page() as page:
        await page.apply(NoticeShown("info", "First"))
        await page.apply(NoticeShown("info", "Second"))
        await page.apply(agent("more"), UsageReported(Usage(1, 2)))
        assert page.text.count("First") == page.text.count("Second") == 1


# Modes


async def test_shift_tab_asks_for_the_next_mode_and_after_the_last_for_the_first() -> None:
    async with open_page(OptionsReplaced((MODE, MODEL))) as page:
        await page.press("shift+tab")
        assert "Plan first" in page.status
        await page.press("shift+tab")
        assert page.connection.options == [("mode", "plan"), ("mode", "ask")]
        assert page.prompt.has_focus


async def test_what_the_next_mode_means_is_said_where_the_agent_says_it() -> None:
    code = Choice("code", "Code", "May write [any] file\x1b of this project")
    async with open_page(OptionsReplaced((replace(MODE, choices=(*MODE.choices[:1], code)),))) as page:
        await page.press("shift+tab")
        assert "Code: May write [any] file␛" in page.text
        await page.press("shift+tab")
        assert [notice.message for notice in page.notices] == ["Ask"], "and nothing about the mode before"


async def test_shift_tab_skips_modes_that_ask_less_and_says_where_they_are() -> None:
    async with open_page(OptionsReplaced((LOOSE,))) as page:
        await page.press("shift+tab")
        assert "Skipped, since the agent asks less there: Auto" in page.text
        assert "Edit, YOLO. To choose: F2" in page.text
        assert page.connection.options == [("mode", "plan")]
        await page.press("shift+tab")
        assert page.connection.options == [("mode", "plan"), ("mode", "default")]


async def test_shift_tab_leaves_a_mode_that_asks_less() -> None:
    async with open_page(OptionsReplaced((replace(LOOSE, value="yolo"),))) as page:
        await page.press("shift+tab")
        assert page.connection.options == [("mode", "plan")]


async def test_shift_tab_comes_back_to_the_mode_in_which_the_session_began() -> None:
    async with open_page(OptionsReplaced((replace(LOOSE, value="yolo"),))) as page:
        page.session.start_mode = "yolo"
        for _ in range(3):
            await page.press("shift+tab")
        assert page.connection.options == [("mode", "plan"), ("mode", "default"), ("mode", "yolo")]
        assert "YOLO: Auto-approves all tools" in page.text


async def test_shift_tab_changes_nothing_where_all_other_modes_ask_less() -> None:
    async with open_page(OptionsReplaced((replace(LOOSE, choices=LOOSE.choices[:3]),))) as page:
        await page.press("shift+tab")
        assert "Edit, YOLO. To choose: F2" in page.text
        assert page.connection.options == []


async def test_the_list_of_modes_says_which_ask_less_and_choosing_one_there_enters_it() -> None:
    async with open_page(OptionsReplaced((LOOSE,))) as page:
        await page.press(*"/mode", "enter")
        assert "Auto Edit   fewer questions" in page.text
        assert "YOLO   no questions: Auto-approves all tools" in page.text
        await page.press("down", "down", "enter")
        assert page.connection.options == [("mode", "yolo")]
        assert "mode: YOLO (no questions)" in page.status


@pytest.mark.parametrize(
    ("value", "name", "caution"),
    [
        ("bypassPermissions", "Bypass Permissions", "no questions"),
        ("agent-full-access", "Full access", "no questions"),
        ("https://agentclientprotocol.com/protocol/session-modes#autopilot", "Autopilot", "no questions"),
        ("yolo", "YOLO", "no questions"),
        ("acceptEdits", "Accept edits", "fewer questions"),
        ("auto-edit", "Auto Edit", "fewer questions"),
        ("agent", "Auto review", "fewer questions"),
        ("agent", "Agent", ""),
        ("dontAsk", "Don't Ask", ""),  # it refuses what would be asked
        ("plan", "Plan Mode", ""),
        ("mode-2", "自動", ""),
    ],
)
def test_a_mode_that_asks_less_is_known_by_its_id_or_name(value: str, name: str, caution: str) -> None:
    choice = Choice(value, name)
    assert SelectOption("mode", "Mode", value, (choice,), "mode").caution(choice) == caution
    assert SelectOption("model", "Model", value, (choice,), "model").caution(choice) == ""


def test_another_kind_of_mode_stays_beside_one_that_asks_less_while_there_is_room() -> None:
    status = Status(agent="Codex", facts=("mode: Plan, Full access (no questions)", "model: 5.5"))
    assert line_of(status, 60).plain.endswith("  mode: Plan, Full access (no questions) · F1 help")
    assert line_of(status, 48).plain.endswith("  mode: Plan, Full access (no questions)")
    assert line_of(status, 44).plain.endswith("  no questions")


@pytest.mark.parametrize(
    ("width", "right"),
    [(56, "mode: YOLO (no questions) · F1 help"), (40, "mode: YOLO (no questions)"), (30, "no questions"), (20, "")],
)
def test_that_a_mode_asks_nothing_is_said_while_there_is_room(width: int, right: str) -> None:
    line = line_of(Status(agent="Gemini CLI", facts=("Large 4", "mode: YOLO (no questions)")), width)
    assert line.plain.removeprefix("● Gemini CLI").strip() == right
    warns = [line.plain[span.start : span.end] for span in line.spans if span.style == "$text-warning"]
    assert warns == list(filter(None, [right.removesuffix(" · F1 help")]))


async def test_a_mode_that_the_agent_refuses_is_not_shown_and_the_reason_is() -> None:
    async with open_page(OptionsReplaced((MODE,))) as page:
        page.connection.refusal = AgentRefused("Agent: not now", code=-32000)
        await page.press("shift+tab")
        assert "Ask ·" in page.status
        assert "Agent: not now" in page.text


async def test_shift_tab_says_so_where_the_agent_has_no_modes() -> None:
    async with open_page(OptionsReplaced((MODEL,))) as page:
        await page.press("shift+tab")
        assert "This agent has no modes." in page.text
        assert page.connection.options == []


# Names of sessions


@pytest.mark.parametrize(
    ("prompts", "title"),
    [
        (["Fix it\nplease"], "Fix it"),
        (["<context>\nToday is\n</context>Fix it"], "Fix it"),
        (["<context>Today is</context>\n", "Fix it"], "Fix it"),
        (["<b>Fix it"], "<b>Fix it"),
        (["<name>/model</name>\n  <message>model</message>\n<args>opus</args>", "Fix it"], "Fix it"),
        ([], ""),
    ],
)
def test_a_session_is_called_by_the_users_own_first_words(prompts: list[str], title: str) -> None:
    conversation = Conversation()
    for at, prompt in enumerate(prompts):
        reducer.apply(conversation, MessageChunk("user", Text(prompt), str(at)))
    assert conversation.shown_title == title


# What the agent is doing


async def test_while_the_agent_works_the_line_says_for_how_long_and_at_what() -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        page.clock.now_s += 12
        await page.apply(thought("hm"))
        await page.until(lambda: f"{AGENT}  working 0:12; Esc cancels · thinking" in page.status)
        await page.apply(call("t", title="Run the tests", status="in_progress"))
        await page.until(lambda: "working 0:12; Esc cancels · Run the tests" in page.status)
        page.clock.now_s += 60
        await page.apply(call("t", status="completed"), agent("Done."))
        await page.until(lambda: "working 1:12; Esc cancels  " in page.status)
        await page.end_turn()
        assert page.status.startswith(f"● {AGENT}  done in 1 min 12 s")
        await page.send("again")
        assert "done in" not in page.status


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_nothing_in_the_line_moves_while_the_agent_works(width: int) -> None:
    async with open_page(OptionsReplaced((MODE, MODEL)), size=(width, 24)) as page:
        await page.send("go")
        lines = [page.status]
        for update in (thought("hm"), call("t", title="Run " + 9 * "every test ", status="in_progress"), agent("x")):
            await page.apply(update)
            for seconds in (1, 9, 10):
                page.clock.now_s += seconds
                await page.until(lambda: page.status != lines[-1])
                lines.append(page.status)
        assert any("Run every" in line for line in lines) == (width > 80)
    places = [[line.find(part) for part in ("working", "; Esc", "mode:", "model:", "F1 help")] for line in lines]
    assert places == [places[0]] * len(lines)


async def test_the_time_that_the_user_took_to_answer_is_not_the_agents() -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        page.clock.now_s += 5
        await page.ask("call", ALLOW)
        page.clock.now_s += 1_700
        assert page.tab.panel is not None
        assert page.tab.panel.work.took_s == 5
        await page.apply(PermissionAnswered(RequestKey(1), ALLOW.option_id))
        page.clock.now_s += 3
        await page.end_turn()
        assert page.status.startswith(f"● {AGENT}  done in 8 s")


async def test_each_turn_tells_its_time_and_only_tokens_that_are_counted() -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        await page.apply(TurnEnded("end_turn", usage=TurnUsage(12_000, 10_000, 2_000)))
        await page.until(lambda: page.status.startswith(f"● {AGENT}  done in <1 s · 12k tokens"))
        await page.send("again")
        await page.apply(TurnEnded("end_turn", usage=TurnUsage(0, 0, 0)))
        await page.until(lambda: "working" not in page.status)
        assert page.status.startswith(f"● {AGENT}  done in <1 s ")
        assert "tokens" not in page.status


async def test_silence_is_said_after_half_a_minute() -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        page.clock.now_s += 31
        await page.until(lambda: "working 0:31; Esc cancels · silent" in page.status)
        await page.apply(agent("here I am"))
        await page.until(lambda: "working 0:31; Esc cancels  " in page.status)
        page.clock.now_s += 40
        await page.until(lambda: "working 1:11; Esc cancels · silent for 0:40" in page.status)


@pytest.mark.parametrize(
    "asks",
    [
        {"title": "question"},
        {"title": "Asking", "name": "ask_user"},
        {"title": "Colors", "raw_input": {"questions": [{"question": "Which?"}]}},
        {"title": "Color", "raw_input": {"question": "Which?"}},
    ],
)
async def test_an_agent_that_waits_for_an_answer_to_what_it_never_asked_is_told_of(asks: dict[str, Any]) -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        await page.apply(call("q", status="in_progress", **asks))
        await page.until(lambda: "working" in page.status)
        page.clock.now_s += 31
        await page.until(lambda: "seems to wait for an answer; F4 says more" in page.status)
        await page.apply(call("q", status="completed"))
        await page.until(lambda: "working 0:31" in page.status)


@pytest.mark.parametrize(
    "works",
    [
        {"title": "Look for the question", "raw_input": {"query": "question"}},
        {"title": "Run", "raw_input": {"questions": []}},
        {"title": "Run", "raw_input": ["question"]},
    ],
)
async def test_a_long_tool_call_that_asks_nothing_is_only_silent(works: dict[str, Any]) -> None:
    async with open_page(size=(120, 24)) as page:
        await page.send("go")
        await page.apply(call("t", status="in_progress", **works))
        page.clock.now_s += 31
        await page.until(lambda: "· silent" in page.status)


async def test_no_timer_runs_while_nothing_moves() -> None:
    async with open_page() as page:
        line = page.pilot.app.screen.query_one(StatusLine)
        assert not line.is_ticking
        await page.send("go")
        assert line.is_ticking
        await page.end_turn("cancelled")
        assert not line.is_ticking


async def test_a_line_that_has_left_the_screen_takes_news_under_a_dialog() -> None:
    async with open_page() as page:
        line = page.pilot.app.screen.query_one(StatusLine)
        await line.remove()
        await page.pilot.app.push_screen(HelpScreen())
        line.show(Status(agent=AGENT))


class _SaysLast(EdgeLine):
    def on_unmount(self) -> None:
        self.show_line(Content("the last word"))


class _Tab(Screen[None]):
    def compose(self) -> ComposeResult:
        yield _SaysLast()


class _Tabs(App[None]):
    MODES: ClassVar = {"front": _Tab, "behind": _Tab}

    async def on_mount(self) -> None:
        for mode in ("front", "behind", "front"):
            await self.switch_mode(mode)


async def test_a_line_of_a_tab_behind_may_change_while_the_app_ends() -> None:
    async with _Tabs().run_test() as pilot:
        await pilot.pause()
