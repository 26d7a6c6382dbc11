"""The capability card: what an agent offers and lacks, and what that means."""

from dataclasses import fields, replace

import pytest

from acp_tui.conversation.facts import AuthMethod
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.dialogs.agent_offers import CAPABILITIES, AgentFacts, CapabilityCard, card_text
from support.dialogs import open_dialog

FACTS = AgentFacts(
    title="The Agent",
    name="agent-acp",
    version="1.2",
    protocol="v1",
    command=("agent", "--acp", "a b"),
    capabilities=AgentCapabilities(load_session=True, meta={"example.org/fork": {"deep": [1] * 40}}),
    auth_methods=(AuthMethod("b", "Browser", "Your subscription"), AuthMethod("t", "Own", None, "terminal")),
    log=tuple(f"line {number}" for number in range(100)),
)


def test_every_capability_has_its_line() -> None:
    told_otherwise = {"meta", "acts_itself", "steering", "more_prompts"}
    names = {field.name for field in fields(AgentCapabilities)} - told_otherwise
    assert set(CAPABILITIES) == names | {"takes_prompts_at_work"}


def test_it_says_what_there_is_and_what_follows_from_what_is_not() -> None:
    text = card_text(FACTS).plain
    for words in (
        "agent-acp 1.2",
        "ACP v1",
        "agent --acp 'a b'",
        "✓ load a session\n",
        "✗ delete a session: sessions can be deleted only with its own tools",
        "· Browser: Your subscription",
        "· Own (in a terminal)",
        '· example.org/fork  {"deep": [1, 1',
        "line 99",
    ):
        assert words in text
    assert "line 79" not in text


async def test_it_scrolls_and_closes() -> None:
    async with open_dialog(CapabilityCard(FACTS), size=(80, 24)) as page:
        assert "The Agent" in page.words
        await page.press("end")
        assert "line 99" in page.words
        await page.press("escape")
        assert page.result is None


@pytest.mark.parametrize("size", [(80, 40), (60, 30), (40, 40)])
async def test_what_does_not_fit_beside_its_label_goes_on_there(size: tuple[int, int]) -> None:
    facts = replace(FACTS, sandbox=(("Only reads", "x " * 60), ("Writes", "y " * 60)))
    async with open_dialog(CapabilityCard(facts), size=size) as page:
        await page.until(lambda: "Only reads x x" in page.text and "Writes     y y" in page.text)
        for value in ("x x", "y y"):
            columns = [row.index(value) for row in page.text.splitlines() if value in row]
            assert len(columns) > 1
            assert len({*columns}) == 1


async def test_what_follows_from_a_missing_capability_goes_on_beside_its_mark() -> None:
    async with open_dialog(CapabilityCard(FACTS), size=(40, 120)) as page:
        await page.until(lambda: "✗ log out: log out with its own" in page.text)
        rows = page.text.splitlines()
        at = next(at for at, row in enumerate(rows) if "✗ log out" in row)
        assert rows[at + 1].index("tools") == rows[at].index("log out")


def test_it_lists_what_the_sandbox_holds() -> None:
    text = card_text(replace(FACTS, sandbox=(("Sandbox", "workspace"), ("Writes", "~/project")))).plain
    assert "Sandbox   workspace\nWrites    ~/project\n" in text


def test_it_shows_the_users_system_prompt_and_what_becomes_of_it() -> None:
    facts = replace(FACTS, system_prompt="Be brief.\nBe kind.", prompt_use="Replaces the agent's own instructions")
    text = card_text(facts).plain
    assert "Your system prompt\nReplaces the agent's own instructions\nBe brief.\nBe kind.\n" in text
    assert "✗ take a system prompt: one in agents.toml isn't sent" in text
    assert "Your system prompt" not in card_text(FACTS).plain


async def test_c_copies_all_of_it_as_text() -> None:
    async with open_dialog(CapabilityCard(FACTS)) as page:
        await page.press("c")
        await page.until(lambda: page.app.clipboard == card_text(FACTS).plain)
