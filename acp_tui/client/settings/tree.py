"""All that can be set in settings.toml, as values, each with its default, limits and documentation.

It reads no file (`reader` does), and no code that uses a setting: leaves are given plain values. Dataclasses and a
small converter do here without pydantic, which would take 60 to 80 ms to load: settings are needed before the first
frame.
"""

# ruff: noqa: RUF009 - `setting` is dataclasses.field with documentation, and the sections are frozen.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Literal, TypeAlias

from acp_tui.client.settings.refusal_rule import RefusalRule
from acp_tui.client.settings.setting import setting

OnAskOff: TypeAlias = Literal["on", "ask", "off"]

READ_ELSEWHERE: Final[Mapping[str, str]] = {
    "mcp": "MCP servers for every session, each a table `[mcp.NAME]` with a `command` or a `url`."
}
"""Sections of the same file with readers of their own."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """How acp-tui looks."""

    theme: str = setting("", "The name of the theme; empty for the one acp-tui comes with.")


@dataclass(frozen=True, slots=True)
class TraceContext:
    """W3C trace context: these three keys are the ones ACP sets aside for it (R-EXT-2)."""

    traceparent: str = setting("", "Trace and parent span; empty: none is sent.", is_expanded=True)
    tracestate: str = setting("", "What vendors add to it; empty: none is sent.", is_expanded=True)
    baggage: str = setting("", "Properties of the trace; empty: none are sent.", is_expanded=True)

    def as_mapping(self) -> dict[str, str]:
        """Those that are set, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How agents are run."""

    start_limit_s: float = setting(
        300.0,
        "How long an agent may take to answer `initialize`; 0: as long as it likes.",
        unit="seconds",
        minimum=0,
    )
    trace_context: TraceContext = setting(
        TraceContext(), "W3C trace context that is sent with every request to an agent."
    )


@dataclass(frozen=True, slots=True)
class Workspace:
    """What agents may have of this machine. None of it allows what would else be asked about (R-PERM-4)."""

    read: OnAskOff = setting("on", "Files that an agent reads through acp-tui.", fallback="ask")
    write: OnAskOff = setting("on", "Files that an agent writes through acp-tui.", fallback="ask")
    terminals: OnAskOff = setting("on", "Commands that an agent runs through acp-tui.", fallback="ask")
    additional_directories: tuple[Path, ...] = setting(
        (), "Directories beside the one of the session, for agents which take them.", is_expanded=True
    )


@dataclass(frozen=True, slots=True)
class Changes:
    """How much is kept of files as they were before an agent changed them."""

    max_file_bytes: int = setting(1 << 20, "A larger file is not kept.", unit="bytes", minimum=0)
    max_total_bytes: int = setting(
        64 << 20, "How much is kept of all files together.", unit="bytes", minimum=0
    )
    max_files: int = setting(100_000, "How many files are kept.", unit="files", minimum=0)


@dataclass(frozen=True, slots=True)
class TerminalSettings:
    """Commands that agents run in our terminals."""

    output_limit_bytes: int = setting(
        1 << 20,
        "How much of a command's output is kept where the agent names no limit.",
        unit="bytes",
        minimum=1,
        maximum=64 << 20,
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole tree; `Settings()` holds the defaults."""

    appearance: Appearance = setting(Appearance(), "How acp-tui looks.")
    agent: AgentSettings = setting(AgentSettings(), "How agents are started and spoken to.")
    workspace: Workspace = setting(
        Workspace(),
        'What agents may have of this machine. With "on" they are asked about outside of the workspace only, with'
        ' "ask" each time; "off" is not offered to them at all.',
    )
    changes: Changes = setting(
        Changes(), "What is kept of files as they were before an agent changed them, for review and revert."
    )
    terminals: TerminalSettings = setting(TerminalSettings(), "The terminals that agents run commands in.")
    refuse: tuple[RefusalRule, ...] = setting(
        (),
        "Standing rules, each a table `[[refuse]]`: what meets all that a rule names is refused without asking.",
        one_of=("kind", "path", "command"),
    )
