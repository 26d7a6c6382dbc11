"""What each agent needs besides the session's folders: its login, its sessions, its settings, its variables.

The first rows were measured: each agent ran under `strace` for a session with an edit, a command, and a resumption, and
then in a sandbox with nothing but these. The rows marked as such come from the agents' documentation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import PurePath
from typing import Final

from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Needs:
    """Paths may start with ~ and ${NAME:-default}, and so may values of variables."""

    state: tuple[str, ...] = ()
    """Folders and files it writes. Folders are made."""
    fixed: tuple[str, ...] = ()
    """Parts of its state that say what it runs, also outside a sandbox later, so they're read-only.

    They are made if they're missing: a folder if the name ends with a slash, otherwise a file that says nothing.
    """
    env: tuple[str, ...] = ()
    """Variables it gets from the user's environment; `*` stands for any characters."""
    sets: Mapping[str, str] = field(default_factory=dict)
    """Variables that it gets in a sandbox."""
    note: str = ""
    """What is different for it in a sandbox."""
    is_guessed: bool = False
    """Whether the state is only what programs of its name usually have: nothing is made, and nothing secret opened."""


_MODELS: Final = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "MISTRAL_*", "GROQ_*"),
    *("DEEPSEEK_*", "XAI_*", "OLLAMA_*", "MOONSHOT_*", "HF_TOKEN"),
)
"""The keys and addresses of models, for agents that work with any."""


def _below(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


def _xdg(name: str) -> tuple[str, ...]:
    """Where a program of this name keeps its files. Its cache isn't among them: a sandbox has one of its own."""
    return (
        f"${{XDG_CONFIG_HOME:-~/.config}}/{name}",
        f"${{XDG_DATA_HOME:-~/.local/share}}/{name}",
        f"${{XDG_STATE_HOME:-~/.local/state}}/{name}",
    )


# Measured: claude-agent-acp 0.23.1 and claude-code-acp 0.16.2
_CLAUDE_HOME: Final = "${CLAUDE_CONFIG_DIR:-~/.claude}"
_CLAUDE: Final = Needs(
    state=(_CLAUDE_HOME,),
    fixed=_below(
        _CLAUDE_HOME, *("settings.json", "settings.local.json", "hooks/", "plugins/", "skills/", "commands/", "agents/")
    ),
    env=(
        "ANTHROPIC_*",
        "CLAUDE_*",
        "DISABLE_*",
        "MAX_THINKING_TOKENS",
        "API_TIMEOUT_MS",
        "BASH_*",
        "MCP_*",
        "IS_SANDBOX",
    ),
    # Without it, Claude keeps its settings in ~/.claude.json, which it replaces and locks by making files next to it;
    # for what it can't write, it waits without end. On macOS, the name of its login in the keychain depends on it.
    sets={"DISABLE_AUTOUPDATER": "1", **({} if sys.platform == "darwin" else {"CLAUDE_CONFIG_DIR": _CLAUDE_HOME})},
    note="Claude doesn't get the MCP servers in ~/.claude.json. With its own sandbox on, its commands fail.",
)

# Measured: codex-acp 2.6.0
_CODEX_HOME: Final = "${CODEX_HOME:-~/.codex}"
_CODEX: Final = Needs(
    state=(_CODEX_HOME,),
    fixed=_below(
        _CODEX_HOME,
        *("config.toml", "hooks.json", ".env", "environments.toml", "rules/", "prompts/", "agents/", "plugins/"),
    ),
    env=("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*", "MODEL_PROVIDER", "NO_BROWSER"),
    sets={"INITIAL_AGENT_MODE": "agent-full-access"},
    note="Codex's own sandbox can't start in this one, so it's off. Codex asks for nothing that this one allows.",
)

# Measured: gemini-cli 0.61.0
_GEMINI_HOME: Final = "${GEMINI_CLI_HOME:-~}/.gemini"
_GEMINI: Final = Needs(
    state=(_GEMINI_HOME,),
    fixed=_below(
        _GEMINI_HOME,
        *("settings.json", ".env", "trustedFolders.json", "trusted_hooks.json"),
        *("policies/", "extensions/", "commands/", "agents/", "skills/", "hooks/"),
    ),
    env=("GEMINI_*", "GOOGLE_*", "CLOUD_SHELL", "NO_BROWSER"),
    sets={"GEMINI_SANDBOX": "false"},
    note="Gemini's own sandbox is off.",
)

# Measured: qwen-code 0.24.4
_QWEN_HOME: Final = "${QWEN_HOME:-~/.qwen}"
_QWEN: Final = Needs(
    state=(_QWEN_HOME,),
    fixed=_below(
        _QWEN_HOME, *("settings.json", ".env", "trustedFolders.json", "commands/", "agents/", "skills/", "hooks/")
    ),
    env=("QWEN_*", "DASHSCOPE_*", "BAILIAN_*", *_MODELS),
    sets={"QWEN_SANDBOX": "false", "GEMINI_SANDBOX": "false"},
    note="Qwen's own sandbox is off.",
)

# Measured: opencode 1.18.33
_OPENCODE_SETTINGS, *_OPENCODE_STATE = _xdg("opencode")
_OPENCODE: Final = Needs(
    state=(_OPENCODE_SETTINGS, *_OPENCODE_STATE),
    fixed=_below(
        _OPENCODE_SETTINGS,
        *("opencode.json", "opencode.jsonc", "config.json"),
        *("plugin/", "plugins/", "tool/", "tools/", "command/", "commands/", "agent/", "agents/"),
    ),
    env=("OPENCODE_*", *_MODELS),
    sets={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
)

# Measured: fast-agent 0.10.46. It keeps its sessions in the session's folder.
_FAST_AGENT: Final = Needs(
    state=("${FAST_AGENT_HOME:-~/.fast-agent}",),
    fixed=_below("${FAST_AGENT_HOME:-~/.fast-agent}", "plugins/", "agent-cards/", "tool-cards/"),
    env=("FAST_AGENT_*", "GENERIC_*", *_MODELS),
)


def _documented(folder: str, *env: str, also: tuple[str, ...] = ()) -> Needs:
    """Needs as the agent's documentation names them: nobody has tried it in a sandbox."""
    return Needs((folder, *also), env=env)


NEEDS: Final[Mapping[str, Needs]] = {
    **dict.fromkeys(("claude", "claude-acp", "claude-agent-acp", "claude-code", "claude-code-acp"), _CLAUDE),
    **dict.fromkeys(("codex", "codex-acp"), _CODEX),
    **dict.fromkeys(("fast-agent", "fast-agent-acp", "fast-agent-mcp"), _FAST_AGENT),
    **dict.fromkeys(("gemini", "gemini-cli"), _GEMINI),
    **dict.fromkeys(("opencode", "opencode-ai"), _OPENCODE),
    **dict.fromkeys(("qwen", "qwen-code"), _QWEN),
    "demo": Needs(),
    # From their documentation, or from what such programs usually have; not tried
    "amp-acp": Needs(_xdg("amp"), env=("AMP_*",)),
    # Its folder is in Gemini's: a Gemini in a sandbox could lead it elsewhere if it had only that.
    "antigravity": replace(_GEMINI, env=(*_GEMINI.env, "ANTIGRAVITY_*"), note=""),
    "auggie": _documented("~/.augment", "AUGMENT_*"),
    "autohand": _documented("~/.autohand", "AUTOHAND_*"),
    "cline": _documented("${CLINE_DIR:-~/.cline}", "CLINE_*", *_MODELS),
    "codebuddy-code": _documented("${CODEBUDDY_CONFIG_DIR:-~/.codebuddy}", "CODEBUDDY_*"),
    "cursor": _documented(
        "${CURSOR_CONFIG_DIR:-~/.cursor}", "CURSOR_*", also=("${XDG_CONFIG_HOME:-~/.config}/cursor",)
    ),
    "deepagents": _documented("~/.deepagents", *_MODELS),
    "dirac": _documented("${DIRAC_DIR:-~/.dirac}", "DIRAC_*", *_MODELS),
    "factory-droid": _documented("~/.factory", "FACTORY_*", "DROID_*"),
    "github-copilot-cli": _documented("${COPILOT_HOME:-~/.copilot}", "COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"),
    "goose": Needs(_xdg("goose"), env=("GOOSE_*", *_MODELS), sets={"GOOSE_DISABLE_KEYRING": "1"}),
    "grok-build": _documented("~/.grok", "GROK_*", "XAI_*"),
    "junie": _documented("~/.junie", "JUNIE_*"),
    "kilo": Needs(_xdg("kilo"), env=("KILO_*", *_MODELS)),
    "kimi": _documented("${KIMI_SHARE_DIR:-~/.kimi}", "KIMI_*", "MOONSHOT_*"),
    "mistral-vibe": _documented("${VIBE_HOME:-~/.vibe}", "VIBE_*", "MISTRAL_*"),
    "pi-acp": _documented("~/.pi", "PI_*", *_MODELS),
    "qoder": _documented("~/.qoder", "QODER_*"),
    "stakpak": _documented("~/.stakpak", "STAKPAK_*"),
    "vtcode": _documented("~/.vtcode", "VTCODE_*", *_MODELS),
}


_RUNNERS: Final = frozenset({"npx", "bunx", "uvx", "env"})


def needs_of(name: str, argv: Sequence[str] = ()) -> Needs:
    """The needs of an agent with this name or, if that says nothing, of the program or package that its command names.

    One that isn't known gets the folders that programs of its name have, if they exist and are nobody else's. It gets
    no variables: a program can have any name, and they may be keys.
    """
    return NEEDS.get(name) or NEEDS.get(_program(argv)) or _by_name(name)


def _program(argv: Sequence[str]) -> str:
    """What a command runs, such as `gemini-cli` for `npx -y @google/gemini-cli@0.61.0`. Its arguments say nothing."""
    words = iter(argv)
    program = PurePath(next(words, "")).name
    if program in _RUNNERS:
        program = next((word for word in words if not word.startswith("-")), "")
    return re.split(r"[@=]", PurePath(program).name)[0]


def _by_name(name: str) -> Needs:
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        return Needs()
    return Needs((f"~/.{name}", *_xdg(name)), is_guessed=True)
