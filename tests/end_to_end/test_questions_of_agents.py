"""How many questions acp-tui adds to those of each real agent, and the table of that in docs/authors.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import acp_tui
from acp_tui.client.sessions.consent import Policy
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import ToolCallEntry
from support.agents import SERVING
from support.real_agents import PATIENCE_S, TITLES, WITHIN_S, command, why_not
from support.recordings import Lead, lead

TURNS: Final = ("HELLO", "WRITE", "RUN", "PLAN")
NOT_ASKED: Final = {"pysdk": (0, 0, 1, 0), "qwen": (0, 1, 0, 0), "tssdk": (0, 0, 1, 0)}
"""What acp-tui asks about in each of these turns, because these agents don't; about the others', nothing."""


def asked_by_us(conversation: Conversation) -> int:
    """How many questions are acp-tui's own."""
    entries = (entry for entry in conversation.entries if isinstance(entry, ToolCallEntry))
    return sum(len(entry.decisions) for entry in entries if entry.call.tool_call_id.startswith("acp-tui_"))


@pytest.mark.parametrize("name", TITLES)
async def test_acp_tui_asks_only_about_what_the_agent_did_not_ask_for(name: str, tmp_path: Path):
    if reason := why_not(name):
        pytest.skip(reason)
    counts: dict[Policy, list[int]] = {}
    for policy in (SERVING, Policy()):
        project = tmp_path / str(len(counts))
        project.mkdir()

        async def tour(led: Lead, policy: Policy = policy) -> None:
            session = await led.begin()
            for turn in TURNS:
                before = asked_by_us(session.conversation)
                await led.prompt(session, turn)
                counts.setdefault(policy, []).append(asked_by_us(session.conversation) - before)

        recording = tmp_path / f"{project.name}.jsonl"
        await lead(command(name), project, recording, tour, PATIENCE_S, WITHIN_S, WITHIN_S, policy=policy)
    assert counts[SERVING] == [0, 0, 0, 0]
    assert tuple(counts[Policy()]) == NOT_ASKED.get(name, (0, 0, 0, 0))


@pytest.mark.parametrize("name", TITLES)
def test_the_table_in_the_docs_has_these_numbers(name: str) -> None:
    docs = (Path(acp_tui.__file__).parent / "docs/authors.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {re.escape(TITLES[name])} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", docs, re.MULTILINE)
    assert row is not None
    assert tuple(map(int, row.groups())) == NOT_ASKED.get(name, (0, 0, 0, 0))
