"""What F4 shows of an agent: what it offers, its login, its system prompt, and its proxies, also in the inspector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.agents import behind, scripted
from support.desks import SESSION, OpenDesk
from support.proxies import proxy
from support.screens import open_agent_page


async def test_f4_tells_what_an_agent_waits_for_that_asks_in_its_own_interface(open_desk: OpenDesk) -> None:
    """Kilo Code 7.4 does with its tool `question`."""
    script = """
    prompt = expect("session/prompt")
    update("tool_call", toolCallId="q", title="question", status="in_progress", rawInput={"questions": [
        {"question": "Which database?", "options": []}
    ]})
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("◐ • question")
        await desk.press("f4")
        await desk.shows("Turn 0:00 · question")
        await desk.press("escape")
        desk.clock.now_s += 40
        await desk.press("f4")
        await desk.shows("silent for 0:40", "acp-tui got no request", "Asks Which database?", "Esc cancels the turn")


async def test_f4_tells_what_the_agent_offers_and_what_it_lacks(open_desk: OpenDesk) -> None:
    script = """
    sys.stderr.write("reading the project\\n")
    sys.stderr.flush()
    handshake(
        agentInfo={"name": "scout", "title": "Scout", "version": "3.1"},
        agentCapabilities={"loadSession": True, "_meta": {"scout.dev/speed": {"warp": 9}}},
        authMethods=[{"id": "tty", "name": "In here", "type": "terminal"}],
    )
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.has_session()
        await desk.press("f4")
        await desk.shows("scout 3.1", "ACP v1", "✓ load a session", "✗ list sessions")
        await desk.press("ctrl+end", "end")
        await desk.shows("In here (in a terminal)", "scout.dev/speed", "reading the project")
        await desk.press("escape")
        await desk.hides("scout 3.1")


async def test_f4_asks_who_is_logged_in_and_follows_it(open_desk: OpenDesk) -> None:
    script = """
    handshake(agentCapabilities={"auth": {"status": {}}})
    answer(expect("session/new"), sessionId="s1")
    accounts = [{"label": "Key", "name": "[b]Ann[/b] \x1b[2J" + "n" * 5000, "active": True}]
    answer(expect("auth/status"), state="authenticated", accounts=accounts)
    expect("_go_on")
    send(method="auth/status_update", params={"state": "unauthenticated"})
    refuse(expect("auth/status"), -32603, "no")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.has_session()
        assert not desk.sent("auth/status"), "it is asked where it is shown"
        await desk.press("f4")
        await desk.shows("Logged in yes: Key ([b]Ann[/b]", "␛[2Jnnn", "n…) in use")
        desk.let_go_on()
        await desk.shows("Logged in no")
        await desk.press("escape", "f4")
        await desk.gets("auth/status", 2)
        await desk.shows("Logged in no")
        assert not desk.notices


SCRIPT = """
handshake(agentInfo={{"name": "inner", "version": "2.0"}}, agentCapabilities={{"sessionCapabilities": {offered}}})
answer(expect("session/new"), sessionId="s1"); say("hello"); serve_until_closed()
"""
NOTE = "The system prompt isn't sent: inner doesn't take one"


@pytest.mark.parametrize(
    ("offered", "overrides", "told"),
    [
        ({"systemPrompt": {}}, False, "Follows the agent's own instructions"),
        ({"systemPrompt": {"mode": {"override": {}}}}, True, "Replaces the agent's own instructions"),
        ({}, False, NOTE),
    ],
)
async def test_f4_shows_the_system_prompt_and_what_becomes_of_it(
    offered: object, overrides: bool, told: str, tmp_path: Path
) -> None:
    command = scripted(SCRIPT.format(offered=offered))
    command = replace(command, system_prompt="Answer like [b]a lighthouse keeper[/b].", overrides_prompt=overrides)
    async with open_agent_page(command, tmp_path, size=(120, 60)) as page:
        await page.until(lambda: "hello" in page.words)
        assert (NOTE in page.words) == (told == NOTE)
        await page.press("f4")
        await page.until(lambda: "Your system prompt" in page.words)
        assert "Answer like [b]a lighthouse keeper[/b]." in page.words
        assert told in page.words


NAMED = """
handshake(agentInfo={"name": "inner", "version": "2.0"})
answer(expect("session/new"), sessionId="s1"); say("hello"); serve_until_closed()
"""


async def test_f4_has_the_chain_and_the_inspector_asks_whose_frames_to_show(tmp_path: Path) -> None:
    command = behind(NAMED, proxy("named"), proxy("pass"))
    async with open_agent_page(command, tmp_path, size=(120, 40)) as page:
        await page.until(lambda: page.status.startswith("● "))
        await page.press("f4")
        await page.until(lambda: "(inner 2.0)" in page.words)
        assert "(scripted-proxy 7.1)" in page.words
        await page.press("escape")
        await page.press("alt+i")
        await page.until(lambda: "Whose frames?" in page.words)
        assert "acp-tui and the chain" in page.words
        await page.press("down", "down", "enter")
        await page.until(lambda: "Inspector · proxy 2" in page.words)
        await page.until(lambda: "proxy/successor initialize" in page.words)
        await page.until(lambda: page.words.count("agent_message_chunk hello") == 2)
