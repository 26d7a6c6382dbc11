"""Choosing who serves an agent's models: what is listed, what is asked for, and what is said of errors."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from acp_tui.client.errors import AgentRefused
from acp_tui.conversation.facts import Provider, ProviderRoute
from acp_tui.ui.dialogs.providers import ProviderDialog, provider_picker
from support.dialogs import NOTHING, open_dialog

MAIN = Provider("main", ("anthropic", "vertex"), False, ProviderRoute("anthropic", "https://a.example"))
NEEDED = Provider("other", ("openai",), True, None)


class Agent:
    """Takes what it is asked for, unless it has an error to answer with."""

    def __init__(self, error: AgentRefused | None = None) -> None:
        self.error = error
        self.asked: list[tuple[ProviderRoute | None, Mapping[str, str]]] = []

    async def change(self, route: ProviderRoute | None, headers: Mapping[str, str]) -> None:
        self.asked.append((route, headers))
        if self.error is not None:
            raise self.error


async def test_the_list_says_of_each_where_it_goes_and_what_it_can_be() -> None:
    async with open_dialog(provider_picker([MAIN, NEEDED])) as page:
        assert "main: anthropic at https://a.example can be anthropic, vertex" in page.words
        assert "other: disabled can be openai · can't be disabled" in page.words
        await page.press("down", "enter")
        assert page.result == NEEDED


async def test_the_address_and_the_headers_are_sent_with_variables_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "the key")
    agent = Agent()
    async with open_dialog(ProviderDialog(MAIN, agent.change)) as page:
        await page.press("2", "tab", "end", *"/v1", "tab")
        await page.write("Authorization: Bearer ${GATEWAY_KEY}\n\nX-Team: a: b")
        assert "the key" not in page.text
        await page.press("ctrl+s")
        assert page.result is True
    headers = {"Authorization": "Bearer the key", "X-Team": "a: b"}
    assert agent.asked == [(ProviderRoute("vertex", "https://a.example/v1"), headers)]


async def test_the_last_choice_disables_it() -> None:
    agent = Agent()
    async with open_dialog(ProviderDialog(MAIN, agent.change)) as page:
        await page.press("3", "enter")
        assert page.result is True
    assert agent.asked == [(None, {})]


async def test_one_that_is_required_cannot_be_disabled() -> None:
    async with open_dialog(ProviderDialog(NEEDED, Agent().change)) as page:
        assert "can't be disabled" in page.words
        assert "Disabled" not in page.words
        await page.press("tab", "enter")
        assert "Choose what it is first" in page.words


@pytest.mark.parametrize(
    ("written", "said"),
    [("X-Key", "Line 1 of the headers"), ("a: b\n: c", "Line 2 of the headers"), ("a: ${NOT_THERE_}", "NOT_THERE_")],
)
async def test_headers_that_cannot_be_read_are_not_sent(written: str, said: str) -> None:
    agent = Agent()
    async with open_dialog(ProviderDialog(MAIN, agent.change)) as page:
        await page.press("tab", "tab")
        await page.write(written)
        await page.press("ctrl+s")
        assert said in page.words
        assert page.result is NOTHING
    assert not agent.asked


async def test_what_the_agent_refuses_is_said_and_what_was_written_stays() -> None:
    agent = Agent(AgentRefused("Agent: no such address", code=-32602, detail="it is [red]unknown"))
    async with open_dialog(ProviderDialog(MAIN, agent.change)) as page:
        await page.press("tab", "end", *"/x", "enter")
        assert "Agent: no such address it is [red]unknown" in page.words
        assert "https://a.example/x" in page.words
        agent.error = None
        await page.press("enter")
        assert page.result is True
