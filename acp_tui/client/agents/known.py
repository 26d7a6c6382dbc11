"""The agents that acp-tui knows by itself: how they are run once they are installed. It does not look for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with a name of ours."""

    name: str
    title: str
    description: str
    argv: tuple[str, ...]
    install_hint: str
    registry_id: str
    """What the agent registry calls it."""


KNOWN_AGENTS: Final[Mapping[str, KnownAgent]] = {
    agent.name: agent
    for agent in (
        KnownAgent(
            "claude",
            "Claude Agent",
            "Anthropic's coding agent",
            ("claude-agent-acp",),
            "npm install -g @zed-industries/claude-agent-acp",
            "claude-acp",
        ),
        KnownAgent(
            "codex",
            "Codex",
            "OpenAI's coding agent",
            ("codex-acp",),
            "npm install -g @agentclientprotocol/codex-acp",
            "codex-acp",
        ),
        KnownAgent(
            "fast-agent",
            "fast-agent",
            "Agents and workflows in Python, for many models",
            ("fast-agent-acp",),
            "uv tool install fast-agent-mcp",
            "fast-agent",
        ),
        KnownAgent(
            "gemini",
            "Gemini CLI",
            "Google's coding agent",
            ("gemini", "--acp"),
            "npm install -g @google/gemini-cli",
            "gemini",
        ),
        KnownAgent(
            "opencode",
            "opencode",
            "An open coding agent for many models",
            ("opencode", "acp"),
            "npm install -g opencode-ai",
            "opencode",
        ),
        KnownAgent(
            "qwen",
            "Qwen Code",
            "Alibaba's coding agent",
            ("qwen", "--acp"),
            "npm install -g @qwen-code/qwen-code",
            "qwen-code",
        ),
    )
}
