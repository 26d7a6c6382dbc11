"""What of a conversation stays in the terminal afterwards."""

from __future__ import annotations

from acp_tui.conversation.content import Text
from acp_tui.conversation.updates import MessageChunk, PromptSent, TurnEnded
from support.screens import open_page


async def test_the_last_turn_begins_with_its_prompt_and_of_a_long_one_the_end_stays() -> None:
    said = "\n\n".join(f"line {number}" for number in range(100))
    turns = [PromptSent((Text("first"),)), TurnEnded("end_turn"), PromptSent((Text("second"),))]
    async with open_page(*turns, MessageChunk("agent", Text(said)), TurnEnded("end_turn")) as page:
        whole = [line.text.strip() for line in page.view.last_turn(1000)]
        assert "second" in whole[0]
        assert whole[-1] == "line 99"
        assert not any("first" in line for line in whole)
        assert [line.text.strip() for line in page.view.last_turn(5)] == whole[-5:]
