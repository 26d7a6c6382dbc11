"""What was left in tabs is offered until the user opens it again or is done with it, whatever comes in between."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_tui.client.sessions.session_history import MAX_LEFT, left_in, remember_left

_names = count(1)


class Running:
    """One acp-tui: its tabs, and what of the earlier ones its user is done with."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tabs: list[str] = []
        self.done: frozenset[str] = frozenset()

    def note(self) -> None:
        """What acp-tui does whenever other sessions are in its tabs, and when it quits."""
        self.done |= {*self.tabs}
        remember_left(self._folder, lambda: (self.tabs, self.done))


class TabsOfAFolder(RuleBasedStateMachine):
    """A user who opens, closes, quits, and kills. `wanted` is what this user expects to be offered, or has open."""

    @initialize()
    def start_for_the_first_time(self) -> None:
        self.folder = Path(f"/project-{next(_names)}")
        self.wanted: list[str] = []
        self.running = Running(self.folder)

    @property
    def _offered(self) -> list[str]:
        return [one for one in self.wanted if one not in self.running.tabs]

    @rule(is_fork=st.booleans())
    def say_something_in_a_new_tab_or_fork_one(self, is_fork: bool) -> None:
        running = self.running
        assume(len(self.wanted) < MAX_LEFT and (running.tabs or not is_fork))
        if not running.tabs and len(self._offered) == 1:
            self.wanted.clear()  # a single tab was never offered as more than a recent session
        running.tabs.append(f"session-{next(_names)}")
        self.wanted.append(running.tabs[-1])
        running.note()

    @precondition(lambda self: self.running.tabs)
    @rule(at=st.integers(0, MAX_LEFT))
    def close_a_tab(self, at: int) -> None:
        self.wanted.remove(self.running.tabs.pop(at % len(self.running.tabs)))
        self.running.note()

    @rule(is_killed=st.booleans())
    def quit_or_get_killed_and_start_again(self, is_killed: bool) -> None:
        if not is_killed:
            self.running.note()
        self.running = Running(self.folder)

    @precondition(lambda self: self._offered)
    @rule(at=st.integers(0, MAX_LEFT))
    def resume_one(self, at: int) -> None:
        self.running.tabs.append(self._offered[at % len(self._offered)])
        self.running.note()

    @precondition(lambda self: self._offered)
    @rule()
    def open_all_of_them(self) -> None:
        self.running.tabs += self._offered
        self.running.note()

    @precondition(lambda self: self._offered)
    @rule()
    def say_something_else_where_they_are_offered(self) -> None:
        self.running.done |= {*self._offered}
        self.running.tabs.append(f"session-{next(_names)}")
        self.wanted = [*self.running.tabs]
        self.running.note()

    @invariant()
    def nothing_is_forgotten_and_nothing_comes_back(self) -> None:
        assert sorted(left_in(self.folder)) == sorted(self.wanted)


TestTabsOfAFolder = TabsOfAFolder.TestCase
TestTabsOfAFolder.settings = settings(stateful_step_count=30)


def test_of_many_only_the_last_ones_stay_unless_more_are_open() -> None:
    folder = Path("/project")
    many = [f"session-{number}" for number in range(2 * MAX_LEFT)]
    for at, one in enumerate(many[1:], 1):
        remember_left(folder, lambda ids=many[at - 1 : at + 1]: (ids, ()))  # type: ignore[misc]  # mypy infers no types of defaults
        assert one in left_in(folder)
    assert left_in(folder) == many[-MAX_LEFT:]
    remember_left(folder, lambda: (many, ()))
    assert left_in(folder) == many
