"""The agents that are known by name: a short table of ours, and the user's own over it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotFound, SettingsError

KNOWN_AGENTS: Mapping[str, AgentCommand] = {
    agent.name: agent
    for agent in (
        AgentCommand(
            "claude", ("claude-agent-acp",), install_hint="npm install -g @zed-industries/claude-agent-acp"
        ),
        AgentCommand("codex", ("codex-acp",), install_hint="npm install -g @agentclientprotocol/codex-acp"),
        AgentCommand("gemini", ("gemini", "--acp"), install_hint="npm install -g @google/gemini-cli"),
        AgentCommand("opencode", ("opencode", "acp"), install_hint="npm install -g opencode-ai"),
        AgentCommand("qwen", ("qwen", "--acp"), install_hint="npm install -g @qwen-code/qwen-code"),
        AgentCommand("fast-agent", ("fast-agent-acp",), install_hint="uv tool install fast-agent-mcp"),
    )
}

EXAMPLE = """\
[agents.mine]
command = ["my-agent", "--acp"]
env = { MY_AGENT_MODEL = "large" }
"""


def config_file() -> Path:
    """Where the user's own agents stand."""
    import platformdirs  # not needed for a command given whole

    return platformdirs.user_config_path("acp-tui") / "agents.toml"


def all_agents(file: Path) -> dict[str, AgentCommand]:
    """The known agents by name, with those of the user's file. Raises SettingsError where it cannot be used."""
    return {**KNOWN_AGENTS, **_read(file)}


def find_agent(name: str, file: Path) -> AgentCommand:
    """The agent of that name. Raises AgentNotFound, and SettingsError."""
    agents = all_agents(file)
    if name not in agents:
        raise AgentNotFound(
            f"no agent is known by the name {name!r}",
            hint=f"known: {', '.join(sorted(agents))}; any command is an agent: acp-tui run -- COMMAND;"
            f" your own names go into {file}",
        )
    return agents[name]


def _read(file: Path) -> dict[str, AgentCommand]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}", hint=f"mend it or move it away; it looks like:\n{EXAMPLE}"
        ) from error
    agents = content.get("agents", {})
    if not isinstance(agents, dict):
        raise _wrong(file, "agents", "a table")
    return {name: _read_agent(file, name, entry) for name, entry in agents.items()}


def _read_agent(file: Path, name: str, entry: Any) -> AgentCommand:
    if not isinstance(entry, dict):
        raise _wrong(file, f"agents.{name}", "a table")
    argv, env = entry.get("command"), entry.get("env", {})
    if not (isinstance(argv, list) and argv and all(isinstance(word, str) for word in argv)):
        raise _wrong(file, f"agents.{name}.command", "a list of strings, the program first")
    if not (isinstance(env, dict) and all(isinstance(value, str) for value in env.values())):
        raise _wrong(file, f"agents.{name}.env", "a table of strings")
    return AgentCommand(name, tuple(argv), env)


def _wrong(file: Path, key: str, expected: str) -> SettingsError:
    return SettingsError(f"{file}: {key} is not {expected}", hint=f"it looks like:\n{EXAMPLE}")
