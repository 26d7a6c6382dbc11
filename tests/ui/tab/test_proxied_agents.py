"""An agent behind proxies on the screen: its chain in F4, and what each hop said in the inspector."""

from __future__ import annotations

from pathlib import Path

from support.agents import behind
from support.proxies import proxy
from support.screens import open_agent_page

SCRIPT = """
handshake(agentInfo={"name": "inner", "version": "2.0"})
answer(expect("session/new"), sessionId="s1"); say("hello"); serve_until_closed()
"""


async def test_f4_has_the_chain_and_the_inspector_asks_whose_frames_to_show(tmp_path: Path) -> None:
    command = behind(SCRIPT, proxy("named"), proxy("pass"))
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
