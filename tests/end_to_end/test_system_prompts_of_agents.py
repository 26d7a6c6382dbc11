"""What a real agent tells its model of the user's system prompt. Runs only with LONG_TOURS=1."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from acp_tui.conversation.facts import SessionId
from support.real_agents import LONG_TOURS, PATIENCE_S, WITHIN_S, command, why_not
from support.recordings import Lead, lead

PROMPT: Final = "Answer in the manner of a lighthouse keeper."
MANY: Final = 2_000
"""An agent's own instructions have more characters."""


def asked_of_model(bodies: Path) -> str:
    """What it's told beside the user's words, the last time."""
    body = json.loads(max(bodies.iterdir()).read_text())["body"]
    developer = [item for item in body.get("input", ()) if item.get("role") == "developer"]
    return json.dumps([body.get("instructions"), body.get("system"), developer])


@pytest.mark.skipif(not LONG_TOURS, reason="LONG_TOURS=1 runs the large agents")
@pytest.mark.parametrize(
    ("name", "overrides", "told", "has_its_own"),
    [
        ("claude-current", False, True, True),
        ("claude-current", True, True, False),
        ("codex", False, True, True),
        ("codex", True, False, True),
    ],
)
async def test_the_model_gets_the_system_prompt_in_a_new_and_in_a_continued_session(
    name: str, overrides: bool, told: bool, has_its_own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := why_not(name):
        pytest.skip(reason)
    monkeypatch.setenv("HOME", str(tmp_path))
    project, sessions = tmp_path / "project", list[SessionId]()
    project.mkdir()

    async def first(leading: Lead) -> None:
        session = await leading.begin()
        sessions.append(session.session_id)
        await leading.prompt(session, "HELLO")

    async def continued(leading: Lead) -> None:
        session = await leading.agent.resume_session(sessions[0], project)
        await leading.prompt(leading.attend(session), "HELLO")

    for part in (first, continued):
        bodies = tmp_path / part.__name__
        prompted = replace(command(name, "--bodies", str(bodies)), system_prompt=PROMPT, overrides_prompt=overrides)
        await lead(prompted, project, tmp_path / f"{part.__name__}.jsonl", part, PATIENCE_S, WITHIN_S, WITHIN_S)
        asked = asked_of_model(bodies)
        assert (PROMPT in asked) == told
        assert (len(asked) > MANY) == has_its_own
