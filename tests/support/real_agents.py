"""Real coding agents, installed beside the repository, that run offline against a stand-in for their model's API.

Defines a session with each of them, and how to make its recording fit for sharing. Without these agents, you can still
read and replay what is in tests/data/recordings.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import acp_tui
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentRefused
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Entry, Message, Question, ToolCallEntry, TurnEnd
from acp_tui.conversation.facts import SessionId
from acp_tui.workbench.redact import RedactOptions, redact
from support.recordings import Lead, Led, lead
from support.schema import AGENTS

PREFIX: Final = Path(os.environ.get("AGENTS_PREFIX", Path.home() / ".cache/acp-agents"))
NODE_SDK: Final = PREFIX / "npm/sdk/node_modules/@agentclientprotocol/sdk"
INSTALLED_IN: Final = {
    "claude": "npm/claude-zed",
    "claude-current": "npm/claude-acp",
    "claude-code": "npm/claude-code-acp",
    "codex": "npm/codex-acp2",
    "fastagent": "venv/fastagent",
    "fastagent-echo": "venv/fastagent",
    "gemini": "npm/gemini",
    "opencode": "npm/opencode",
    "pysdk": "",
    "qwen": "npm/qwen22",
    "tssdk": "npm/sdk",
}
NAMES: Final = tuple(INSTALLED_IN)
CURRENT_CLAUDE: Final = "@agentclientprotocol/claude-agent-acp"
"""Its package, which is the maintained one, and which the agents' `setup.sh` doesn't know: `claude` is the old one."""
WITHOUT_A_MODEL: Final = frozenset({"pysdk", "tssdk"})
"""Agents that start quickly."""
RUN: Final = Path(__file__).parents[1] / "data/run_real_agent.py"
"""Beside `run.py`, which knows the other agents."""
RECORDINGS: Final = Path(__file__).parents[1] / "data/recordings"
PATIENCE_S: Final = 60.0
WITHIN_S: Final = 240.0
PROJECT: Final = "/home/user/project"
MAX_TEXT: Final = 300
"""The most to keep of an agent's commands: one sends the text of all its skills, half a megabyte."""


def why_not(name: str) -> str | None:
    """Why the agent can't run here; None if it can."""
    if not AGENTS.is_dir():
        return f"there are no agents in {AGENTS}"
    if not (PREFIX / INSTALLED_IN[name]).is_dir():
        how = f"{AGENTS / 'setup.sh'} {name}"
        if name == "claude-current":
            how = f"npm install --prefix {PREFIX / INSTALLED_IN[name]} {CURRENT_CLAUDE}, and {AGENTS / 'setup.sh'} qwen"
        return f"{name} isn't installed in {PREFIX}: {how}"
    if name == "pysdk" and find_spec("acp") is None:
        return "the Python SDK isn't installed"
    if name == "tssdk" and shutil.which("node") is None:
        return "there is no node"
    return None


def command(name: str, *options: str) -> AgentCommand:
    """How the agent starts; the two small ones have no model. `options` are those of `run_real_agent.py`."""
    argv: tuple[str, ...]
    env: dict[str, str]
    match name:
        case "pysdk":
            argv, env = (sys.executable, str(AGENTS / "py_sdk_agent.py")), {}
        case "tssdk":
            argv, env = ("node", str(AGENTS / "ts_sdk_agent.mjs")), {"ACP_SDK": str(NODE_SDK)}
        case _:
            run = RUN if options or name == "claude-current" else AGENTS / "run.py"
            argv, env = (sys.executable, str(run), name, *options), {"AGENTS_PREFIX": str(PREFIX)}
    return AgentCommand(name, argv, env)


# The tours


async def short_tour(lead: Lead) -> None:
    """One short turn of each kind."""
    session = await lead.begin()
    for prompt in ("HELLO", "WRITE", "RUN", "PLAN"):
        await lead.prompt(session, prompt)
    await _switch(session, "collaboration_mode", "plan")  # in which codex asks with a form
    await lead.prompt(session, "ASK")


async def long_tour(lead: Lead) -> None:
    """The same, after a session whose long turn is canceled and which is loaded again at the end."""
    session = await lead.begin()
    await lead.prompt(session, "LONG", cancels=True)
    await short_tour(lead)
    if lead.agent.capabilities.load_session:
        with suppress(AgentRefused):  # one agent hasn't saved it yet
            lead.attend(await lead.agent.load_session(session.session_id, lead.cwd))


async def _switch(session: Session, option_id: str, value: str) -> None:
    if any(option.option_id == option_id for option in session.conversation.options):
        await session.set_option(option_id, value)


LONG_TOURS: Final = bool(os.environ.get("LONG_TOURS"))
USUAL_TOUR: Final = long_tour if LONG_TOURS else short_tour


async def lead_agent(name: str, folder: Path, tour: Any = USUAL_TOUR) -> Led:
    """Record the agent in a project below this folder."""
    project = folder / "project"
    project.mkdir(parents=True)
    return await lead(command(name), project, folder / f"{name}.jsonl", tour, PATIENCE_S, WITHIN_S)


# What can be shared of it


def given_away(recording: Path) -> Path:
    """The recording without places, names, and unneeded parts, made by `acp-tui redact` in the same folder."""
    plain, out = recording.with_suffix(".plain.jsonl"), recording.with_suffix(".given_away.jsonl")
    with recording.open(encoding="utf-8") as lines:
        plain.write_text("".join(_tidied(line, recording.parent / "project") for line in lines), encoding="utf-8")
    redact(plain, out, RedactOptions(), os.environ, socket.gethostname())
    return out


def version_in(recording: Path) -> str:
    """The version the agent reports."""
    said = re.search(
        r'"result":.*?"(?:agentInfo|info)":\{[^}]*"version":"([^"]*)"', recording.read_text(encoding="utf-8")
    )
    return said[1] if said else ""


def _tidied(line: str, project: Path) -> str:
    for place, name in _places(project):
        line = line.replace(place, name)
    if '"available_commands_update"' not in line:
        return line
    return json.dumps(_shortened(json.loads(line)), ensure_ascii=False, separators=(",", ":")) + "\n"


def _places(project: Path) -> Iterator[tuple[str, str]]:
    """Paths on this machine, and neutral ones for them."""
    yield str(project), PROJECT
    yield str(project.resolve()), PROJECT
    yield (
        str(project).removeprefix("/"),
        PROJECT.removeprefix("/"),
    )  # as an agent reports it that uses / as its folder
    yield str(project).replace("/", "-"), PROJECT.replace("/", "-")
    yield str(PREFIX), "/opt/agents"
    yield str(AGENTS), "/opt/agents"
    yield str(RUN.parent), "/opt/agents"
    yield sys.executable, "python3"


def _shortened(value: Any) -> Any:
    match value:
        case str():
            return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + "…"
        case list():
            return list(map(_shortened, value))
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case _:
            return value


# What each does when it is taken through everything once, as a row of a table

DOCS: Final = Path(acp_tui.__file__).parent / "docs/authors.md"
STEPS: Final = ("Hello", "Edit", "Command", "Plan", "Question", "Cancel", "History", "Continue")
TITLES: Final = {
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

assert set(TITLES) == set(NAMES) - {"fastagent-echo"}


async def tour(name: str, folder: Path) -> tuple[str, ...]:
    """Take an agent through all steps, in a new folder below this one; return a word for each of STEPS."""
    project = folder / "project"
    project.mkdir(parents=True)
    words: list[str] = []
    sessions: list[SessionId] = []

    async def first(leading: Lead) -> None:
        session = await leading.begin()
        sessions.append(session.session_id)
        await _switch(session, *ASKING.get(name, ("", "")))
        for prompt, result in _TURNS.items():
            if prompt == "ASK":
                await _switch(session, "collaboration_mode", "plan")  # in which codex asks
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
    """The agent's line in the table of docs/authors.md."""
    return f"| {TITLES[name]} | {' | '.join(words)} |"


HEAD: Final = f"| Agent | {' | '.join(STEPS)} |"


def rows_in_docs() -> dict[str, str]:
    """The lines of that table, by the agent's name."""
    table = DOCS.read_text(encoding="utf-8").partition(f"{HEAD}\n")[2].partition("\n\n")[0]
    return {line.split("|")[1].strip(): line for line in table.splitlines()[1:]}
