"""Facts beside the entries: plan, commands, options, info, usage, and notices; and rare entries."""

from collections.abc import Sequence

import pytest

from acp_tui.conversation import UNSET, Unset
from acp_tui.conversation.content import Image, Text
from acp_tui.conversation.conversation import MAX_NOTICE_CHARACTERS, MAX_NOTICES, Change
from acp_tui.conversation.entries import Compaction, EntryId
from acp_tui.conversation.facts import (
    BooleanOption,
    Choice,
    ConfigOption,
    Fact,
    OfferedCommand,
    Plan,
    PlanStep,
    SelectOption,
    Usage,
)
from acp_tui.conversation.updates import (
    CommandsReplaced,
    CompactionChanged,
    CompactionChunk,
    InfoChanged,
    NoticeShown,
    OptionChanged,
    OptionsReplaced,
    PlanReplaced,
    Reconnected,
    SessionUpdate,
    UnknownUpdate,
    UsageReported,
)
from support.folding import agent, fold, last_change, texts, user

READ, WRITE, TEST = (PlanStep("read"), PlanStep("write"), PlanStep("test"))


@pytest.mark.parametrize(
    ("update", "fact"),
    [
        (PlanReplaced((READ,)), Fact.PLAN),
        (CommandsReplaced(()), Fact.COMMANDS),
        (OptionsReplaced(()), Fact.OPTIONS),
        (OptionChanged("o", True), Fact.OPTIONS),
        (InfoChanged("title"), Fact.INFO),
        (UsageReported(Usage(1, 2)), Fact.USAGE),
        (NoticeShown("info", "hello"), Fact.NOTICES),
    ],
)
def test_a_fact_touches_itself_and_no_entry(update: SessionUpdate, fact: Fact) -> None:
    assert last_change(agent("a"), update) == Change((), (fact,))
    assert texts(fold(agent("a"), update)) == [("agent", "a")]


# Plan


def test_a_plan_replaces_the_whole_plan() -> None:
    """R-PLAN-1."""
    assert fold(PlanReplaced((READ, WRITE)), PlanReplaced((TEST,))).plan == Plan((TEST,))


def test_an_empty_plan_clears_it() -> None:
    """R-PLAN-1."""
    assert fold(PlanReplaced((READ,)), PlanReplaced(())).plan is None
    assert fold(PlanReplaced(())).plan is None


def test_plans_with_ids_of_their_own_stand_side_by_side() -> None:
    conversation = fold(PlanReplaced((READ,), "a"), PlanReplaced((WRITE,), "b"), PlanReplaced((TEST,), "a"))
    assert conversation.plans == {"a": Plan((TEST,)), "b": Plan((WRITE,))}
    assert conversation.plan == Plan((TEST,))


@pytest.mark.parametrize(
    ("statuses", "completed", "current"),
    [
        (["completed", "in_progress", "pending"], 1, 1),
        (["pending", "pending", "in_progress"], 0, 2),
        (["completed", "pending", "pending"], 1, 1),
        (["completed", "invented", "pending"], 1, 1),
        (["completed", "completed", "completed"], 3, None),
        ([], 0, None),
    ],
)
def test_a_plan_knows_how_far_it_is(statuses: list[str], completed: int, current: int | None) -> None:
    plan = Plan(tuple(PlanStep(f"step {n}", status=status) for n, status in enumerate(statuses)))
    assert plan.completed == completed
    assert plan.current == (None if current is None else plan.steps[current])


# Commands, options


def test_commands_are_replaced_as_a_whole() -> None:
    """R-CMD-1."""
    web, help_ = OfferedCommand("web", "Search", "query"), OfferedCommand("help", "Help")
    assert fold(CommandsReplaced((web,)), CommandsReplaced((help_,))).commands == (help_,)


MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("code", "Code")), source="mode")
MODEL = SelectOption("model", "Model", "big", (Choice("big", "Big"),), category="model")
FAST = BooleanOption("fast", "Fast", False)


def options_after(*changes: OptionChanged) -> tuple[ConfigOption, ...]:
    return fold(OptionsReplaced((MODE, MODEL, FAST)), *changes).options


def test_options_are_replaced_as_a_whole_in_the_agents_order() -> None:
    """R-CFG-6, R-CFG-7, R-CFG-8."""
    assert fold(OptionsReplaced((MODE, FAST)), OptionsReplaced((MODEL, MODE))).options == (MODEL, MODE)


def test_a_changed_option_has_its_new_value_and_the_others_stay() -> None:
    mode, model, fast = options_after(OptionChanged("mode", "code", "mode"), OptionChanged("fast", True))
    assert (mode.value, model, fast.value) == ("code", MODEL, True)


def test_a_value_that_is_no_known_choice_is_kept() -> None:
    """R-MODE-3."""
    assert options_after(OptionChanged("mode", "invented", "mode"))[0].value == "invented"


@pytest.mark.parametrize(
    "change",
    [
        OptionChanged("unknown", "x"),
        OptionChanged("mode", "code"),
        OptionChanged("model", "small", "mode"),
        OptionChanged("model", True),
        OptionChanged("fast", "true"),
    ],
)
def test_a_change_that_fits_no_option_is_ignored(change: OptionChanged) -> None:
    assert options_after(change) == (MODE, MODEL, FAST)


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ("[MODE_UPDATE] code", "code"),
        ("[MODE_UPDATE] invented", "ask"),
        ("[MODE_UPDATE] code and more", "ask"),
        ("I say [MODE_UPDATE] code", "ask"),
        ("[MODE_UPDATE] big", "ask"),
    ],
)
def test_only_an_announcement_of_a_mode_on_offer_is_taken_for_one(said: str, mode: str) -> None:
    conversation = fold(OptionsReplaced((MODE, MODEL, FAST)), agent(said))
    assert conversation.options[0].value == mode
    assert texts(conversation) == ([] if mode == "code" else [("agent", said)])


# Info, usage, notices


def test_info_that_is_absent_stays_and_null_clears() -> None:
    """R-INFO-1."""
    info = InfoChanged("A title", "2026-11-01T10:00:00Z")
    for change, expected in (
        (InfoChanged(), ("A title", "2026-11-01T10:00:00Z")),
        (InfoChanged(title="Other"), ("Other", "2026-11-01T10:00:00Z")),
        (InfoChanged(title=None), (None, "2026-11-01T10:00:00Z")),
        (InfoChanged(updated_at=None), ("A title", None)),
    ):
        conversation = fold(info, change)
        assert (conversation.title, conversation.updated_at) == expected


def test_unset_is_one_value_that_names_itself() -> None:
    assert UNSET is Unset.UNSET
    assert repr(UNSET) == "UNSET"


def test_usage_is_a_snapshot() -> None:
    """R-USAGE-1, R-POST-4: it may be odd, and a cost that isn't repeated is removed."""
    odd = Usage(used=200, size=0, cost_amount=1.5, cost_currency="credits")
    assert fold(UsageReported(Usage(1, 2)), UsageReported(odd)).usage == odd
    assert fold(UsageReported(odd), UsageReported(Usage(1, 2))).usage == Usage(1, 2)


def test_the_latest_notices_are_kept_and_no_more() -> None:
    """R-POST-2."""
    notices = fold(*(NoticeShown("info", str(n), "why") for n in range(MAX_NOTICES + 7))).notices
    assert len(notices) == MAX_NOTICES
    assert (notices[0], notices[-1]) == (
        NoticeShown("info", "7", "why"),
        NoticeShown("info", str(MAX_NOTICES + 6), "why"),
    )


def test_a_notice_may_be_repeated() -> None:
    assert len(fold(NoticeShown("warning", "hot"), NoticeShown("warning", "hot")).notices) == 2


# Compaction


def test_a_compaction_is_changed_where_it_was_first_seen() -> None:
    """R-POST-3."""
    updates = (CompactionChanged("c"), agent("a"), CompactionChanged("c", "completed", (Text("short"),)))
    conversation = fold(*updates)
    assert conversation.entries[0] == Compaction("c", "completed", [Text("short")])
    assert len(conversation.entries) == 2
    assert last_change(*updates) == Change((EntryId(0),))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (CompactionChanged("c"), Compaction("c", "failed", [Text("s")], "why")),
        (CompactionChanged("c", status="completed"), Compaction("c", "completed", [Text("s")], "why")),
        (CompactionChanged("c", summary=()), Compaction("c", "failed", [], "why")),
        (CompactionChanged("c", error=None), Compaction("c", "failed", [Text("s")], None)),
    ],
)
def test_a_compactions_absent_fields_stay_and_null_or_nothing_clears(
    change: CompactionChanged, expected: Compaction
) -> None:
    assert fold(CompactionChanged("c", "failed", (Text("s"),), "why"), change).entries == [expected]


def test_a_piece_of_a_summary_is_appended_and_begins_an_unknown_compaction() -> None:
    image = Image("aGk=", "image/png")
    conversation = fold(CompactionChunk("c", Text("a")), CompactionChunk("c", image), CompactionChunk("d", image))
    assert conversation.entries == [
        Compaction("c", "in_progress", [Text("a"), image]),
        Compaction("d", "in_progress", [image]),
    ]
    assert last_change(CompactionChunk("c", image), CompactionChunk("c", image)) == Change((EntryId(0),))


# Unknown


def test_an_unknown_update_is_kept_whole_where_it_came() -> None:
    """R-LEN-4, R-UNS-1."""
    raw = {"sessionUpdate": "hologram_update", "beams": 3}
    conversation = fold(agent("a"), UnknownUpdate("hologram_update", raw), agent("b"))
    assert conversation.entries[1] == UnknownUpdate("hologram_update", raw)
    assert last_change(agent("a"), UnknownUpdate("k", raw)) == Change((EntryId(1),))


def test_notices_are_bounded_in_bytes_too() -> None:
    long = "x" * (MAX_NOTICE_CHARACTERS + 1)
    kept = fold(*(NoticeShown("info", long, long) for _ in range(MAX_NOTICES + 7))).notices
    assert {(len(notice.title), len(notice.description or "")) for notice in kept} == {
        (MAX_NOTICE_CHARACTERS, MAX_NOTICE_CHARACTERS)
    }


FORKED = Reconnected(remembers=True, forked_from="its parent")


@pytest.mark.parametrize(
    ("updates", "is_begun"),
    [
        ((), False),
        ((user("hello"),), True),
        ((Reconnected(remembers=True),), True),  # resumed: the agent tells nothing of it
        ((user("hello"), FORKED), False),
        ((user("hello"), FORKED, Reconnected(remembers=True)), False),
        ((FORKED, user("hello")), True),
        ((user("hello"), Reconnected(remembers=False)), False),
    ],
)
def test_a_session_has_begun_once_something_was_said_in_it(updates: Sequence[SessionUpdate], is_begun: bool) -> None:
    assert fold(*updates).is_begun == is_begun
