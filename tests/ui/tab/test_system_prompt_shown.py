"""The user's system prompt on the screen: what F4 says of it, and the note where the agent doesn't take one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.agents import scripted
from support.screens import open_agent_page

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
