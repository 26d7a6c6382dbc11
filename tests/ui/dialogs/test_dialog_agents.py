"""Choosing an agent: finding, starting, and copying one, fetching the registry, and the question before a first run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App
from textual.events import Key
from textual.widgets import Input

from acp_tui.client.agents.catalogue import Catalogue, EntrySource, ListedAgent
from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.client.agents.installed import Installable
from acp_tui.client.agents.registry import RegistryUnavailable
from acp_tui.client.agents.remembered import agree, consent_file, is_agreed
from acp_tui.client.errors import AgentStartFailed
from acp_tui.ui.app.agent_start import ready_to_start
from acp_tui.ui.dialogs.agents import NOT_SHOWN, AgentChoice, AgentsScreen, choose_agent
from acp_tui.ui.dialogs.trust import FirstRunDialog
from support.dialogs import NOTHING, open_dialog
from support.screens import open_page
from support.settling import settle, until_so

PACKAGE = AgentCommand(
    "fetched",
    ("npx", "-y", "fetched@1.0.0"),
    {"A": "1"},
    package=Package("npx", "fetched@1.0.0", "1.0.0"),
    is_listed=True,
)
INSTALLED = AgentCommand("here", ("here", "--acp"), is_listed=True)
HERE = ListedAgent(INSTALLED, EntrySource.KNOWN, "Here", "It is installed")
FETCHED = ListedAgent(PACKAGE, EntrySource.REGISTRY, "Fetched", "It comes from the net", "1.0.0")
ABSENT = ListedAgent(
    AgentCommand("absent", ("absent",), is_listed=True),
    EntrySource.KNOWN,
    "Absent",
    obstacle="absent isn't on PATH",
    remedy="npm install -g absent",
)
CATALOGUE = Catalogue((HERE, FETCHED, ABSENT), notes=("agents.toml: something is wrong",))


def screen(catalogue: Catalogue = CATALOGUE, update: Callable[[], object] = lambda: None) -> AgentsScreen:
    return AgentsScreen(lambda: catalogue, update)


async def test_all_agents_are_shown_with_what_runs_and_what_is_wrong() -> None:
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        assert "2 fetched" in page.text
        assert "npx 1.0.0" in page.text
        assert "absent isn't on PATH" in page.text
        assert "$ here --acp" in page.text
        assert "agents.toml: something is wrong" in page.text


async def test_the_agent_that_is_left_is_the_last_of_those_like_it_under_one_heading() -> None:
    used = [replace(agent, is_recent=True) for agent in (HERE, FETCHED)]
    other = replace(HERE, command=replace(INSTALLED, name="other"))
    catalogue = Catalogue((*used, other, ABSENT))
    async with open_dialog(AgentsScreen(lambda: catalogue, lambda: None, last="here")) as page:
        await page.until(lambda: "1 fetched" in page.text)
        places = [page.text.index(text) for text in ("Used last", "1 fetched", "Ready", "2 other", "3 here", "absent")]
        assert places == sorted(places)
        assert page.text.count("Used last") == page.text.count("Ready") == 1


@pytest.mark.parametrize(("is_recent", "is_first"), [(True, True), (True, False), (False, True)])
async def test_who_starts_without_an_agent_reads_how_to_continue_a_session(is_recent: bool, is_first: bool) -> None:
    catalogue = Catalogue((replace(HERE, is_recent=is_recent),))
    async with open_dialog(AgentsScreen(lambda: catalogue, lambda: None, is_first=is_first)) as page:
        await page.until(lambda: "1 here" in page.text)
        assert ("acp-tui --resume, or F3 once an agent runs" in page.words) == (is_recent and is_first)


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (60, 16)])
async def test_the_rows_come_before_what_is_told_of_one(size: tuple[int, int]) -> None:
    agents = [replace(HERE, command=replace(INSTALLED, name=f"agent-{number}")) for number in range(6)]
    async with open_dialog(screen(Catalogue((*agents, ABSENT))), size=size) as page:
        await page.until(lambda: "agent-0" in page.text)
        least = 3 if size[1] == 12 else 6
        assert all(f"{number + 1} agent-{number}" in page.text for number in range(least))
        assert page.lines[-1].strip() == "" or "─" in page.lines[-1]
        await page.press("end")
        assert "Can't run here: absent isn't on" in page.words
        assert "Esc close" in page.text


async def test_a_search_finds_what_is_ready_before_what_would_be_installed() -> None:
    mine = ListedAgent(AgentCommand("my-claude", ("here",), is_listed=True), EntrySource.USER, "My Claude")
    offer = Installable("claude", "npm", "claude-agent", "claude")
    other = ListedAgent(
        AgentCommand("claude", ("claude",), is_listed=True), EntrySource.KNOWN, "Claude", obstacle="none", offer=offer
    )
    async with open_dialog(screen(Catalogue((mine, other)))) as page:
        await page.until(lambda: "1 my-claude" in page.text)
        await page.press(*"claude")
        assert page.text.index("my-claude") < page.text.index("Can be installed")
        await page.press("enter")
        assert page.result == mine


async def test_digits_are_named_as_keys_only_where_they_are_no_part_of_a_search() -> None:
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        assert "Enter or 1-9 start" in page.text
        await page.press("h")
        assert "1-9" not in page.text
        assert "Enter starts" in page.text


async def test_enter_on_an_agent_that_cannot_run_says_why_and_what_to_do() -> None:
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press("ctrl+end", "enter")
        assert page.result is NOTHING
        told = "absent can't run here: absent isn't on PATH. To install it: npm install -g absent"
        await page.until(lambda: told in page.words)


async def test_esc_clears_what_was_typed_before_it_leaves() -> None:
    async with open_dialog(screen()) as page:
        await page.press(*"her", "escape")
        assert page.app.screen.query_one(Input).value == ""
        assert page.result is NOTHING
        await page.press("escape")
        assert page.result is None


async def test_how_old_the_registry_is_is_said() -> None:
    for fetched_at, said in ((None, "F5 fetch the registry"), (1.0, "Includes the agent registry of 19")):
        async with open_dialog(screen(Catalogue((HERE,), fetched_at=fetched_at))) as page:
            await page.until(lambda: "1 here" in page.text)
            assert said in page.text


async def test_several_mistakes_are_counted() -> None:
    async with open_dialog(screen(Catalogue((HERE,), notes=("a", "b")))) as page:
        await page.until(lambda: "2 problems in agents.toml" in page.text)


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("enter",), HERE),
        (("1",), HERE),
        (("2",), FETCHED),
        (("down", "enter"), FETCHED),
        (("f", "e", "enter"), FETCHED),
        (("n", "e", "t", "enter"), FETCHED),
        (("9",), NOTHING),
        (("3",), NOTHING),  # it can't run
        (("f", "1"), NOTHING),  # the text searched for
        (("escape",), None),
    ],
)
async def test_a_key_starts_one(keys: tuple[str, ...], chosen: object) -> None:
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press(*keys)
        assert page.result == chosen


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("f", "t", "2"), NOTHING),
        (("f", "2", "backspace", "enter"), FETCHED),
        (("2", "h", "enter"), FETCHED),
        (("0", "1"), NOTHING),
    ],
)
async def test_a_digit_that_arrives_together_with_other_keys_means_the_same(
    keys: tuple[str, ...], chosen: object
) -> None:
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        for key in keys:
            page.app.post_message(Key(key, key if len(key) == 1 else None))
        await page.settled()
        assert page.result == chosen


@pytest.mark.usefixtures("keys_wait")
async def test_a_digit_means_the_row_that_had_it_when_it_was_pressed() -> None:
    agents, other = [HERE], replace(HERE, command=replace(INSTALLED, name="other"))
    dialog = AgentsScreen(lambda: Catalogue((*agents,)), lambda: agents.insert(0, other))
    async with open_dialog(dialog) as page:
        await page.until(lambda: "1 here" in page.text)
        pressed = Key("1", "1")
        pressed.time -= 10  # it took this long to get here
        await page.press("f5")
        await page.until(lambda: "1 other" in page.text)
        page.app.screen.query_one(Input).post_message(pressed)
        await page.until(lambda: page.app.said == [NOT_SHOWN])
        assert page.result is NOTHING
        await page.press("enter")
        assert page.result == HERE


@pytest.mark.usefixtures("keys_wait")
async def test_what_asks_for_a_digit_again_is_over_with_the_next_key() -> None:
    async with open_page() as page:
        app = page.pilot.app
        app.push_screen(AgentsScreen(lambda: Catalogue((HERE,))))
        await page.until(lambda: "1 here" in page.text)
        pressed = Key("1", "1")
        pressed.time -= 10
        app.screen.query_one(Input).post_message(pressed)
        await page.until(lambda: "Ignored:" in page.text)
        await page.press("down")
        await page.settled()
        assert "Ignored:" not in page.text


async def test_an_agent_that_cannot_run_says_why_and_how_to_install_it_to_be_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda _, text: copied.append(text))
    async with open_dialog(screen()) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press("down", "down")
        assert "Can't run here: absent isn't on PATH" in page.text
        assert "Enter" not in page.text
        assert "To install it: npm install -g absent" in page.text
        await page.press("ctrl+y")
        await page.until(lambda: bool(copied))
        await page.press("up", "ctrl+y")
        await page.until(lambda: len(copied) == 2)
        assert copied == ["npm install -g absent", "npx -y fetched@1.0.0"]


async def test_enter_installs_and_the_line_for_that_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(App, "copy_to_clipboard", lambda _, text: copied.append(text))
    offered = replace(ABSENT, offer=Installable("absent", "npm", "absent", "absent"))
    async with open_dialog(screen(Catalogue((HERE, offered)))) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press("down")
        assert "Enter asks to install it · F5 fetch the registry · Ctrl+Y copy" in page.words
        assert "To install it: acp-tui agents --update absent" in page.text
        await page.press("ctrl+y")
        await page.until(lambda: bool(copied))
        assert copied == ["acp-tui agents --update absent"]
        await page.press(*"nothing")
        assert "Ctrl+Y" not in page.text


async def test_the_registry_is_fetched_by_a_key_and_then_its_agents_are_there() -> None:
    agents = [HERE]

    def read() -> Catalogue:
        return Catalogue(tuple(agents), fetched_at=1.0 if len(agents) > 1 else None)

    async with open_dialog(AgentsScreen(read, lambda: agents.append(FETCHED))) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press("f5")
        await page.until(lambda: "2 fetched" in page.text)
        assert "agent registry of 19" in page.text


async def test_a_registry_that_cannot_be_fetched_is_said_and_the_agents_stay() -> None:
    def fail() -> None:
        raise RegistryUnavailable("it couldn't be fetched: \x1b[31mno", hint="the old one is still in use")

    async with open_dialog(screen(update=fail)) as page:
        await page.until(lambda: "1 here" in page.text)
        await page.press("f5")
        await page.until(lambda: "couldn't be fetched" in page.text)
        assert "still in use" in page.text
        assert "1 here" in page.text
        assert "\x1b" not in page.text


async def test_texts_of_the_registry_are_shown_as_they_are() -> None:
    evil = ListedAgent(PACKAGE, EntrySource.REGISTRY, "[red]a\u202eb[/]", "\x1b]0;x\x07 [link=x]y")
    async with open_dialog(screen(Catalogue((evil,)))) as page:
        await page.until(lambda: "1 fetched" in page.text)
        assert "[red]a" in page.text
        assert "\u202e" not in page.text
        assert "\x1b" not in page.text


# Before a first run


@pytest.mark.parametrize(
    ("keys", "answer"),
    [(("y",), True), (("n",), False), (("enter",), False), (("escape",), False), (("right", "enter"), True)],
)
async def test_only_a_plain_yes_runs_a_package(keys: tuple[str, ...], answer: bool) -> None:
    async with open_dialog(FirstRunDialog(PACKAGE)) as page:
        assert "npx downloads fetched@1.0.0 (version 1.0.0)" in page.words
        assert "npx -y fetched@1.0.0" in page.words
        assert "with A=1" in page.words
        await page.press(*keys)
        assert page.result is answer


class Asking(App[None]):
    """Waits for the user's answer."""

    def __init__(self, command: AgentCommand) -> None:
        super().__init__()
        self._command = command
        self.outcome: Any = NOTHING

    def on_mount(self) -> None:
        self.run_worker(self._ask(), exit_on_error=False)

    async def _ask(self) -> None:
        try:
            self.outcome = await ready_to_start(self, self._command)
        except AgentStartFailed as error:
            self.outcome = str(error)


async def _outcome(command: AgentCommand, *keys: str) -> Any:
    app = Asking(command)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
    return app.outcome


async def test_a_yes_is_kept_and_a_no_starts_nothing() -> None:
    assert await _outcome(PACKAGE, "n") == "fetched wasn't started, because you didn't agree to run it"
    assert not is_agreed(PACKAGE, consent_file())
    assert (await _outcome(PACKAGE, "y")).argv == PACKAGE.argv
    assert is_agreed(PACKAGE, consent_file())


async def test_what_was_agreed_to_is_not_asked_again() -> None:
    agree(PACKAGE, consent_file())
    assert (await _outcome(PACKAGE)).package is None


class Choosing(Asking):
    """Lets the user choose an agent."""

    async def _ask(self) -> None:
        self.outcome = await choose_agent(self)


async def test_who_does_not_agree_is_back_at_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_tui.ui.dialogs.agents.AgentsScreen", lambda **_: screen())
    app = Choosing(PACKAGE)
    async with app.run_test() as pilot:
        for key, until in (("2", FirstRunDialog), ("n", AgentsScreen), ("1", None)):
            await settle(pilot)
            await pilot.press(key)
            if until is not None:
                await until_so(pilot, lambda until=until: isinstance(app.screen, until))  # type: ignore[misc]
        await app.workers.wait_for_complete()
    assert app.outcome == AgentChoice(HERE.command)
