"""How the recordings of real agents in tests/data/recordings look. They contain nothing private.

`python tests/make_recordings.py` records them; `pytest --snapshot-update` with this file updates the pictures.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from acp_tui.conversation.entries import Message
from acp_tui.workbench.redact import RedactOptions, redact
from support.real_agents import NAMES, RECORDINGS
from support.recordings import replayed_whole
from support.screen_checks import LARGE, SMALL, TextPicture, pictured

MAX_BYTES = 150_000
PROMPT_ROWS = 4
"""The frame of the prompt, and the status line below."""
PROMPTS = ["HELLO", "WRITE", "RUN", "PLAN", "ASK"]
PRIVATE = re.compile(r"/tmp|/root\b|/work\b|/Users\b|/home/(?!user\b)|\.cache|acp-agents")

pytest.importorskip("pyghostty", reason="the pictures were taken with its terminals")


@pytest.fixture(params=NAMES)
def recording(request: pytest.FixtureRequest) -> Path:
    return RECORDINGS / f"{request.param}.jsonl"


def test_there_is_one_of_each_agent() -> None:
    assert sorted(path.stem for path in RECORDINGS.iterdir()) == sorted(NAMES)


def test_all_of_it_is_replayed(recording: Path) -> None:
    [conversation] = replayed_whole(recording).conversations.values()
    messages = [entry for entry in conversation.entries if isinstance(entry, Message)]
    assert [message.text for message in messages if message.role == "user"] == PROMPTS
    assert conversation.is_idle
    assert not conversation.permissions
    assert not conversation.unsettled_calls


def test_it_is_small_and_tells_nothing_of_the_machine_that_made_it(recording: Path, tmp_path: Path) -> None:
    text = recording.read_text(encoding="utf-8")
    assert len(text) < MAX_BYTES
    assert PRIVATE.findall(text) == []
    redact(recording, tmp_path / "again.jsonl", RedactOptions(), {}, "hagar")
    assert (tmp_path / "again.jsonl").read_text(encoding="utf-8") == text


async def test_its_end_reads_as_it_did(recording: Path, snapshot: SnapshotAssertion) -> None:
    assert await pictured(recording, SMALL) == snapshot(extension_class=TextPicture)


def words_of(screen: str) -> list[str]:
    """The conversation's words, without what draws it and what is around it."""
    conversation = screen.split("\n")[:-PROMPT_ROWS]
    return re.findall(r"\w+", "\n".join(conversation))


async def test_a_large_screen_shows_the_same_and_what_came_before(recording: Path) -> None:
    small, large = [words_of(await pictured(recording, size)) for size in (SMALL, LARGE)]
    assert large[-len(small) :] == small
    assert len(large) > len(small)
