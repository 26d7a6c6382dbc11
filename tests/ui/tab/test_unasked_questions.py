"""An agent that writes and runs without asking, on the screen: the card, its answers, and what F4 shows of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from support.agents import scripted
from support.screens import open_agent_page

RUNS_UNASKED: Final = """
handshake()
answer(expect("session/new"), sessionId="s1")
number = 0
while True:
    prompt = expect("session/prompt")
    number += 1
    send(id=number, method="terminal/create", params={"sessionId": "s1", "command": "touch", "args": [f"made{number}"]})
    while "method" in (response := read()):
        pass
    say("ran it" if "result" in response else "was refused")
    end(prompt)
"""
ASKS: Final = "scripted wants to run this and didn't ask for permission."


@pytest.mark.parametrize(
    ("key", "said", "asks_again", "shown"),
    [
        ("y", "ran it", True, ""),
        ("a", "ran it", False, "runs commands without asking: you allowed it in this session"),
        ("n", "was refused", True, ""),
        ("4", "was refused", False, "what it runs without asking is refused, in this session"),
    ],
)
async def test_the_card_names_the_agent_and_each_answer_does_what_it_says(
    tmp_path: Path, key: str, said: str, asks_again: bool, shown: str
) -> None:
    async with open_agent_page(scripted(RUNS_UNASKED), tmp_path, size=(120, 40)) as page:
        await page.until(lambda: "run a command in" in page.text)
        for turn in (1, 2):
            page.clock.pass_guard()
            await page.press(*"go", "enter")
            if turn == 1 or asks_again:
                await page.until(lambda: ASKS in page.text)
                for words in (
                    "2 a  Allow every command in this session",
                    "4    Refuse every command in this session",
                    f"Run touch made{turn}",
                ):
                    assert words in page.text
                card = page.text[page.text.index(ASKS) :]
                assert "“" not in card, "quotation marks are for an agent's words"
                await page.press("tab")
                page.clock.pass_guard()
                await page.press(key)
            await page.until(lambda turn=turn: page.text.count(said) == turn)  # type: ignore[misc]
            assert ASKS not in page.text
            assert (tmp_path / f"made{turn}").exists() == (said == "ran it")
        await page.press("f4")
        await page.until(lambda: "Esc close" in page.text)
        assert ("f forget what you decided" in page.text) == bool(shown)
        if not shown:
            return
        assert shown in page.text
        await page.press("f")
        assert shown not in page.text
        await page.press("escape")
        page.clock.pass_guard()
        await page.press(*"go", "enter")
        await page.until(lambda: ASKS in page.text)
