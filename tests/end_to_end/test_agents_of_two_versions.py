"""Agents of version 2, and one conversation in both versions: the official TypeScript SDK and Codex."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, Message, ToolCallEntry
from acp_tui.conversation.facts import TurnPhase
from acp_tui.conversation.tool_calls import TerminalId, TextDiff, ToolCallId
from support.real_agents import NODE_SDK, command, why_not
from support.recordings import Lead, Led, lead
from support.schema import AGENTS

DATA = Path(__file__).parents[1] / "data"

needs_sdk = pytest.mark.skipif(
    shutil.which("node") is None or not NODE_SDK.exists(),
    reason=f"the TypeScript SDK isn't in {NODE_SDK}, or there is no node",
)


async def led(argv: tuple[str, ...], folder: Path, tour: Any, protocol: Any = None) -> Led:
    """The agent, recorded on this tour in its own project."""
    project = folder / "project"
    project.mkdir()
    spoken = AgentCommand("two", argv, protocol=protocol)
    return await lead(spoken, project, folder / "two.jsonl", tour)


def tiny(folder: Path) -> tuple[str, ...]:
    """The small agent beside the protocol's description, which looks for the SDK in its folder."""
    source = AGENTS / "v2" / "sdk_v2_agent.mjs"
    if not source.exists():
        pytest.skip(f"there is no {source}")
    shutil.copy(source, folder / "agent.mjs")
    (folder / "node_modules").symlink_to(NODE_SDK.parents[1])
    return ("node", str(folder / "agent.mjs"))


def told(conversation: Conversation) -> list[Any]:
    """What a reader sees of the entries, without the IDs that carried them."""
    return [_told(entry) for entry in conversation.entries]


def _told(entry: Entry) -> Any:
    match entry:
        case Message(role):
            return role, entry.text
        case ToolCallEntry(call):
            decisions = [(decision.option_name, decision.option_kind) for decision in entry.decisions]
            return (
                *(call.shown_title, call.kind, call.status, call.content, call.locations, call.raw_input),
                decisions,
            )
        case _:
            return entry


@needs_sdk
async def test_the_same_conversation_gives_the_same_entries_in_both_versions(tmp_path: Path):
    """R2-TURN, R2-MSG, R2-TOOL, R2-DIFF, R2-PERM, R2-PLAN."""
    argv = ("node", str(DATA / "ts_agent_of_two_versions.mjs"), str(NODE_SDK))
    seen: dict[int, Conversation] = {}

    async def tour(lead: Lead) -> None:
        session = await lead.begin()
        await lead.prompt(session, "go")
        assert lead.agent.protocol_version is not None
        seen[lead.agent.protocol_version] = session.conversation

    for version in (1, 2):
        folder = tmp_path / str(version)
        folder.mkdir()
        await led(argv, folder, tour, version)
    one, two = seen[1], seen[2]
    assert told(one) == told(two)
    assert [kind for kind, *_ in told(one)] == ["user", "thought", "Read notes", "Write notes", "agent"]
    for fact in ("plans", "usage", "turn", "last_stop_reason", "unsettled_calls"):
        assert getattr(one, fact) == getattr(two, fact)


@needs_sdk
async def test_the_agent_of_version_2_is_led_through_everything_and_replays_equal(tmp_path: Path):
    """R2-LIFE, R2-TURN, R2-TERM, R2-DIFF, R2-PERM, R2-CANC, R2-CFG."""
    seen: dict[str, Any] = {}

    async def tour(lead: Lead) -> None:
        session = await lead.begin()
        await lead.prompt(session, "run it")
        seen["first"] = told(session.conversation)
        await lead.set_options(session)
        await lead.prompt(session, "again", cancels=True)
        page = await lead.agent.list_sessions()
        seen["listed"] = [one.session_id for one in page.sessions]
        again = lead.attend(await lead.agent.load_session(session.session_id, lead.cwd))
        seen["loaded"] = told(again.conversation)
        seen["live"] = told(session.conversation)
        await lead.agent.close_session(again)
        await lead.agent.delete_session(again.session_id)
        seen["terminal"] = session.conversation.terminals[TerminalId("x")]
        seen["version"], seen["state"] = lead.agent.protocol_version, session.conversation.turn
        seen["id"] = session.session_id

    run = await led(tiny(tmp_path), tmp_path, tour)
    assert (seen["version"], seen["state"]) == (2, TurnPhase.IDLE)
    assert seen["id"] in seen["listed"]
    user, thought, call, reply = seen["first"]
    assert (user, thought) == (("user", "run it"), ("thought", "thinking"))
    assert reply == ("agent", "whole message replaces")
    assert any(isinstance(item, TextDiff) for item in call[3])
    assert "ok\x1b[0m é" in seen["terminal"].output.tail_text()
    # Decisions and canceled turns are known here, but not to the agent.
    assert next(one for one in seen["loaded"] if one[0] != "user") == ("thought", "thinking")
    assert replayed(run.recording) == run.as_recorded


@needs_sdk
async def test_a_turn_that_is_cancelled_while_it_asks_cancels_its_question(tmp_path: Path):
    """R2-CANC."""
    seen: dict[str, Any] = {}

    async def tour(lead: Lead) -> None:
        session = await lead.begin()
        lead.users[session.session_id].cancels_at = 1
        await lead.prompt(session, "run it")
        seen["decisions"] = session.conversation.tool_call(ToolCallId("c")).decisions
        seen["reason"] = session.conversation.last_stop_reason

    await led(tiny(tmp_path), tmp_path, tour)
    assert seen["reason"] == "cancelled"
    assert [(decision.option_name, decision.is_withdrawn) for decision in seen["decisions"]] == [(None, False)]


@pytest.mark.skipif(why_not("codex") is not None, reason=str(why_not("codex")))
async def test_codex_speaks_version_2_and_its_recording_replays_equal(tmp_path: Path):
    """R2-INIT, R2-TURN, R2-MSG, R2-PERM, R2-DIFF, R2-LIFE."""
    seen: dict[str, Any] = {}

    async def tour(lead: Lead) -> None:
        session = await lead.begin()
        for prompt in ("HELLO", "RUNASK", "WRITE", "PLAN"):
            await lead.prompt(session, prompt)
        seen["live"] = told(session.conversation)
        seen["version"] = lead.agent.protocol_version
        seen["usage"] = session.conversation.turn_usage
        user = lead.users[session.session_id]
        user.cancels_at = 1
        await lead.prompt(session, "WRITE")
        seen["reason"] = session.conversation.last_stop_reason
        user.cancels_at = None
        page = await lead.agent.list_sessions()
        seen["is_listed"] = session.session_id in [one.session_id for one in page.sessions]
        again = lead.attend(await lead.agent.load_session(session.session_id, lead.cwd))
        seen["loaded"] = told(again.conversation)
        await lead.agent.close_session(again)

    codex = command("codex")
    project = tmp_path / "project"
    project.mkdir()
    asking = replace(codex, env={**codex.env, "INITIAL_AGENT_MODE": "read-only"})
    run = await lead(asking, project, tmp_path / "codex.jsonl", tour, 10.0, 120.0)
    assert seen["version"] == 2
    assert [one[1] for one in seen["live"] if one[0] == "user"] == ["HELLO", "RUNASK", "WRITE", "PLAN"]
    assert [one[1] for one in seen["loaded"] if one[0] == "user"] == [
        "HELLO",
        "RUNASK",
        "WRITE",
        "PLAN",
        "WRITE",
    ]
    assert (seen["reason"], seen["is_listed"]) == ("cancelled", True)
    assert any(decisions for *_, decisions in seen["live"] if isinstance(decisions, list))
    assert (project / "fake_out.txt").read_text() == "written by fake llm\n"
    assert seen["usage"].total > 0
    assert replayed(run.recording) == run.as_recorded
