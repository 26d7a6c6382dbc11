"""A tab without a screen: what it knows, and what it tells the user."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

from acp_tui.client.errors import AgentNotFound, AgentRefused, ClientError
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.store import RecordingStore
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import Choice, SelectOption
from acp_tui.conversation.updates import Disconnected, OptionsReplaced, SessionUpdate, TurnEnded
from acp_tui.ui.session.status_line import TabState
from acp_tui.ui.tab.agent_link import AgentLink
from acp_tui.ui.tab.reopening import Reopening
from acp_tui.ui.tab.stage import Failed, Live
from acp_tui.ui.tab.tab import Tab
from acp_tui.ui.tab.tabs import MIN_NAME, MORE, fitted
from support.dialogs import recorded
from support.folding import ask, fold, prompt
from support.screens import RecordedConnection, new_session

MODE = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("code", "Code", "Writes files")), "mode")


class LoneTab(Tab):
    """Keeps what it tells the user."""

    panel = None
    others: tuple[Tab, ...] = ()
    """The other tabs of its app."""

    def __init__(self, *updates: SessionUpdate, link: AgentLink | None = None) -> None:
        """It shows a session that has received these updates."""
        super().__init__(link or AgentLink(None, "scripted"), Path("/project"))
        self.connection = RecordedConnection()
        self.told: list[str] = []
        session = new_session(*updates, connection=self.connection)
        self.stage = Live(session)

    @property
    def app(self) -> Any:
        """What has these tabs."""
        return SimpleNamespace(tabs=(self, *self.others))

    def say(self, text: str, **_: Any) -> None:
        """Keep it."""
        self.told.append(text)


# What it knows


def test_before_it_has_a_session_it_is_called_by_its_agent_and_says_how_far_it_is() -> None:
    tab = Tab(AgentLink(None, "scripted"), Path("/project"))
    assert (tab.name(), tab.title, tab.state) == ("scripted", "starting", TabState.STARTING)
    assert (tab.session, tab.conversation, tab.failure) == (None, None, None)


def test_an_earlier_session_has_its_title_while_it_is_opened_and_if_that_fails() -> None:
    past = recorded("a", "Count the \x1bstars")
    tab = Tab(AgentLink(None, "scripted"), opening=Reopening(past, SessionIndex(RecordingStore(Path("/none")))))
    assert tab.name() == "scripted: Count the ␛stars"
    tab.stage = Failed(Conversation(), ClientError("gone"), "")
    assert tab.name() == "scripted: Count the ␛stars"
    tab.stage = Live(new_session(prompt("Count the moons")))
    assert tab.session_title == "Count the moons"


@pytest.mark.parametrize(("reason", "state"), [("end_turn", TabState.DONE), ("cancelled", TabState.IDLE)])
def test_a_turn_between_two_looks_is_news_unless_the_user_canceled_it(reason: str, state: TabState) -> None:
    tells: list[TabState] = []

    class Behind(LoneTab):
        """A tab that isn't in front."""

        @property
        def app(self) -> Any:
            """What notes when it's told."""
            return SimpleNamespace(tabs=SimpleNamespace(front=None, tell=lambda: tells.append(self.state)))

    tab = Behind()
    tab.note_state()
    tab.stage = Live(new_session(prompt("go"), TurnEnded(reason), connection=tab.connection))
    tab.note_state()
    tab.note_state()
    assert tells == [TabState.IDLE, state]


@pytest.mark.parametrize("width", [12, 40, 60, 80, 120])
@pytest.mark.parametrize("count", [2, 5, 10, 20])
@pytest.mark.parametrize(
    "titles",
    [("Fix the parser " * 9,), ("Same",), ("",), ("星を数える" * 4,), ("x", "", "星を数える", "Fix the printer")],
)
@pytest.mark.parametrize("are_worktrees", [False, True])
def test_the_labels_never_exceed_the_bar_and_have_the_tab_in_front(
    width: int, count: int, titles: tuple[str, ...], are_worktrees: bool
) -> None:
    named = [titles[at % len(titles)] for at in range(count)]
    tabs = [LoneTab(*([prompt(title)] if title else [])) for title in named]
    for at, tab in enumerate(tabs):
        tab.cwd = Path(f"/project.worktrees/claude-agent-{at}" if are_worktrees else "/project")
    for front in range(count):
        first, labels = fitted(tabs, front, width)
        left_out = (first > 0) + (first + len(labels) < count)
        assert sum(label.cell_length for label in labels) + left_out * len(MORE) <= width
        assert labels[front - first].plain.startswith(f" {front + 1} ")
        if width >= 40:
            names = [label.plain[len(f" {at} ● ") : -1] for at, label in enumerate(labels, first + 1)]
            assert names[front - first]
            assert all(cell_len(name) >= MIN_NAME - 1 or not name.endswith("…") for name in names)


def line_of(tabs: list[LoneTab], front: int, width: int) -> str:
    _, labels = fitted(tabs, front, width)
    return "".join(label.plain for label in labels).strip()


def test_worktrees_of_one_beginning_keep_what_tells_them_apart() -> None:
    tabs = [LoneTab() for _ in range(3)]
    for tab, worktree in zip(tabs, ("claude-agent", "claude-agent-2", "codex"), strict=True):
        tab.cwd = Path("/project.worktrees", worktree)
    assert line_of(tabs, 2, 52) == "1 ● cla…agent  2 ● claude-…2  3 ● scripted: codex"


def test_six_tabs_of_one_agent_are_told_apart_on_a_narrow_screen() -> None:
    titles = ("Add a button to save", "Add a button to load", "Add a dark mode", "Explain it", "Fix CI", "Count stars")
    tabs = [LoneTab(prompt(title)) for title in titles]
    for width, line in (
        (200, "  ".join(f"{number} ◐ scripted: {title}" for number, title in enumerate(titles, 1))),
        (100, "1 ◐ scripted: Add a button to save  2 ◐ Ad…load  3 ◐ …dark …  4 ◐ Explai…  5 ◐ Fix CI  6 ◐ Count …"),
        (80, "1 ◐ scripted: Add a button to save  2 ◐  3 ◐  4 ◐  5 ◐  6 ◐"),
        (60, "1 ◐ Add a button to save  2 ◐  3 ◐  4 ◐  5 ◐  6 ◐"),
    ):
        assert line_of(tabs, 0, width) == line


@pytest.mark.parametrize("front", range(5))
def test_of_five_tabs_of_one_agent_that_in_front_is_whole(front: int) -> None:
    titles = ("Fix the login", "Find out why the printer stops", "Say what changed", "Explain it", "Add a dark mode")
    tabs = [LoneTab(prompt(title)) for title in titles]
    line = line_of(tabs, front, 80)
    assert f"scripted: {titles[front]}" in line or f"◐ {titles[front]}  " in f"{line}  "


def test_what_needs_the_user_comes_next_and_forks_are_marked() -> None:
    tabs = [
        LoneTab(prompt("Fix the login page")),
        LoneTab(prompt("Write a test"), ask(1, "c")),
        LoneTab(prompt("Say what changed")),
    ]
    tabs[2].conversation.is_fork = True
    for width, line in (
        (70, "1 ◐ Fix the login page  2 ▲ Write a test  3 ◐ ↱ Say what changed"),
        (60, "1 ◐ Fix the login page  2 ▲ Write a test  3 ◐ ↱ Say what …"),
        (50, "1 ◐ Fix the login page  2 ▲ Write a test  3 ◐ ↱"),
    ):
        assert line_of(tabs, 0, width) == line


def test_a_title_that_fits_nowhere_leaves_the_others_their_names() -> None:
    tabs = [LoneTab(prompt("word " * 40)), LoneTab(prompt("Explain it")), LoneTab(prompt("Fix CI"))]
    assert line_of(tabs, 0, 60) == f"1 ◐ {'word ' * 5}word…  2 ◐ Expla…  3 ◐ Fix CI"


def test_the_tabs_beside_that_in_front_are_shown_if_few_fit() -> None:
    tabs = [LoneTab() for _ in range(20)]
    shown = [(first, len(labels)) for first, labels in (fitted(tabs, front, 40) for front in (0, 10, 19))]
    assert shown == [(0, 5), (8, 4), (16, 4)]


def test_in_a_narrow_tab_is_what_tells_it_from_others() -> None:
    tab = LoneTab(prompt("Count the stars"))
    assert tab.name() == "scripted: Count the stars"
    assert tab.name(20) == "scripted: Count the…"
    assert tab.name(12) == "scripted"
    assert tab.name(12, is_alone=False) == "Count the s…"
    tab.cwd = Path("/project.worktrees/sky")
    assert tab.name() == "scripted: sky: Count the stars"
    assert tab.name(20) == "sky: Count the stars"
    assert tab.name(8) == "sky"
    tab.cwd = Path("/project.worktrees/scripted-2")
    assert tab.name() == "scripted: Count the stars"
    tab.others = (LoneTab(),)
    assert tab.name() == "scripted 2: Count the stars"
    tab.agent_title = tab.others[0].agent_title = "Star Agent"
    tab.cwd = Path("/project.worktrees/Star-Agent-3")
    assert tab.name() == "Star Agent 3: Count the stars"
    tab.cwd = Path("/project.worktrees/Star-Agent")
    assert tab.name() == "Star Agent 1: Count the stars"


def test_a_command_without_a_name_of_its_own_is_called_as_its_agent() -> None:
    tab = LoneTab(prompt("Count the stars"))
    tab.agent_title = "Star Agent"
    assert tab.name() == "Star Agent: Count the stars"


@pytest.mark.parametrize(
    ("updates", "state"),
    [
        ((), TabState.IDLE),
        ((prompt("Go"),), TabState.WORKING),
        ((prompt("Go"), ask(1, "c")), TabState.NEEDS_YOU),
        ((prompt("Go"), TurnEnded("end_turn")), TabState.IDLE),
        ((Disconnected("gone"),), TabState.FAILED),
    ],
)
def test_its_state_is_that_of_its_session(updates: tuple[SessionUpdate, ...], state: TabState) -> None:
    assert LoneTab(*updates).state is state


def test_a_tab_without_a_session_says_why() -> None:
    tab, error = LoneTab(), AgentNotFound("no-such-agent")
    tab.stage = Failed(fold(Disconnected("gone")), error, "try again")
    assert (tab.session, tab.failure, tab.phase, tab.state) == (None, error, "try again", TabState.FAILED)


# What it tells the user


async def test_the_next_mode_is_asked_for_and_what_it_means_is_told() -> None:
    tab = LoneTab(OptionsReplaced((MODE,)))
    await tab.agent.next_mode()
    assert tab.connection.options == [("mode", "code")]
    assert tab.told == ["Code: Writes files"]


async def test_a_mode_that_the_agent_refuses_leaves_the_old_one() -> None:
    tab = LoneTab(OptionsReplaced((MODE,)))
    tab.connection.refusal = AgentRefused("Agent: Not in this project", code=-32603)
    with pytest.raises(AgentRefused):
        await tab.agent.next_mode()
    assert [option.value for option in tab.session.conversation.options] == ["ask"]
    assert tab.told == []


async def test_an_agent_without_modes_has_no_next_one() -> None:
    tab = LoneTab()
    await tab.agent.next_mode()
    assert tab.told == ["This agent has no modes."]


async def test_before_any_prompt_there_is_none_to_go_back_to() -> None:
    tab = LoneTab()
    await tab.actions.go_back("undo")
    assert tab.told == ["There is no prompt to go back to yet."]
