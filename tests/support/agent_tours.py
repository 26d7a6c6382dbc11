"""What each real agent does when it is taken through everything once, as a row of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import acp_tui
from acp_tui.client.errors import AgentRefused
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, Message, Question, ToolCallEntry, TurnEnd
from acp_tui.conversation.facts import SessionId
from support.led_sessions import Lead, lead
from support.real_agents import NAMES, PATIENCE_S, WITHIN_S, command

DOCS: Final = Path(acp_tui.__file__).parent / "docs/agents.md"
STEPS: Final = ("Hello", "Edit", "Command", "Plan", "Question", "Cancel", "History", "Continue")
AGENTS: Final = {
    "claude-current": "Claude Agent 0.101.0",
    "claude": "Claude Agent 0.23.1",
    "claude-code": "Claude Code ACP",
    "codex": "Codex ACP",
    "fastagent": "fast-agent",
    "gemini": "Gemini CLI",
    "opencode": "opencode",
    "pysdk": "Python SDK",
    "qwen": "Qwen Code",
    "tssdk": "TypeScript SDK",
}
"""Their names in the table."""
ASKING: Final = {"claude-current": ("mode", "default"), "codex": ("mode", "read-only"), "qwen": ("mode", "default")}
"""The mode in which an agent asks before it edits, where it starts in another."""

assert set(AGENTS) == set(NAMES) - {"fastagent-echo"}


async def tour(name: str, folder: Path) -> tuple[str, ...]:
    """Take an agent through all steps, in a new folder below this one; return a word for each of STEPS."""
    project = folder / "project"
    project.mkdir(parents=True)
    words: list[str] = []
    sessions: list[SessionId] = []

    async def first(leading: Lead) -> None:
        session = await leading.begin()
        sessions.append(session.session_id)
        await _choose(session, *ASKING.get(name, ("", "")))
        for prompt, result in _TURNS.items():
            if prompt == "ASK":
                await _choose(session, "collaboration_mode", "plan")  # in which codex asks
            new = len(session.conversation.entries)
            await leading.prompt(session, prompt, cancels=prompt == "LONG")
            words.append(result(session.conversation, session.conversation.entries[new:]))

    async def told_again(leading: Lead) -> None:
        can = leading.agent.capabilities.load_session
        words.append(await _history(leading, sessions[0], project) if can else "not offered")

    async def continued(leading: Lead) -> None:
        words.append(await _continued(leading, sessions[0], project))

    for number, part in enumerate((first, told_again, continued)):
        recording = folder / f"{number}.jsonl"
        await lead(command(name), project, recording, part, PATIENCE_S, WITHIN_S, WITHIN_S)
    return tuple(words)


async def _choose(session: Session, option_id: str, value: str) -> None:
    if any(option.option_id == option_id for option in session.conversation.options):
        await session.set_option(option_id, value)


def _said(entries: Sequence[Entry]) -> str:
    return "".join(entry.text for entry in entries if isinstance(entry, Message) and entry.role == "agent")


def _greeted(_: Conversation, entries: Sequence[Entry]) -> str:
    return "yes" if "Hello" in _said(entries) else "no"


def _called(_: Conversation, entries: Sequence[Entry]) -> str:
    calls = [entry for entry in entries if isinstance(entry, ToolCallEntry)]
    if not calls or any(entry.call.status != "completed" for entry in calls):
        return "no"
    return "asks" if any(entry.decisions for entry in calls) else "doesn't ask"


def _planned(conversation: Conversation, entries: Sequence[Entry]) -> str:
    if conversation.plan is not None:
        return "plan"
    return "tool call" if any(isinstance(entry, ToolCallEntry) for entry in entries) else "no tool"


def _questioned(_: Conversation, entries: Sequence[Entry]) -> str:
    if any(isinstance(entry, Question) and entry.action == "accept" for entry in entries):
        return "form"
    asked = any(isinstance(entry, ToolCallEntry) and entry.decisions for entry in entries)
    return "permission" if asked else "no tool"


def _canceled(conversation: Conversation, entries: Sequence[Entry]) -> str:
    if not conversation.is_idle:
        return "no"
    return (
        "yes"
        if any(isinstance(entry, TurnEnd) and entry.stop_reason == "cancelled" for entry in entries)
        else "ends first"
    )


_TURNS: Final[dict[str, Callable[[Conversation, Sequence[Entry]], str]]] = {
    "HELLO": _greeted,
    "WRITE": _called,
    "RUNASK": _called,
    "PLAN": _planned,
    "ASK": _questioned,
    "LONG": _canceled,
}


async def _continued(leading: Lead, session_id: SessionId, project: Path) -> str:
    """Whether a new process of the agent's continues the session: without telling its history, where it can."""
    offered = leading.agent.capabilities
    if not (offered.resume_session or offered.load_session):
        return "not offered"
    reopen = leading.agent.resume_session if offered.resume_session else leading.agent.load_session
    try:
        session = leading.attend(await reopen(session_id, project))
    except AgentRefused:
        return "refused"
    new = len(session.conversation.entries)
    await leading.prompt(session, "HELLO")
    return _greeted(session.conversation, session.conversation.entries[new:])


async def _history(leading: Lead, session_id: SessionId, project: Path) -> str:
    """How many of the session's prompts a new process of the agent's still tells."""
    try:
        session = await leading.agent.load_session(session_id, project)
    except AgentRefused:
        return "refused"
    told = {entry.text for entry in session.conversation.entries if isinstance(entry, Message) and entry.role == "user"}
    return f"{sum(any(prompt in text for text in told) for prompt in _TURNS)} of {len(_TURNS)} prompts"


def row(name: str, words: Sequence[str]) -> str:
    """The agent's line in the table of docs/agents.md."""
    return f"| {AGENTS[name]} | {' | '.join(words)} |"


HEAD: Final = f"| Agent | {' | '.join(STEPS)} |"


def rows_in_docs() -> dict[str, str]:
    """The lines of that table, by the agent's name."""
    table = DOCS.read_text(encoding="utf-8").partition(f"{HEAD}\n")[2].partition("\n\n")[0]
    return {line.split("|")[1].strip(): line for line in table.splitlines()[1:]}
