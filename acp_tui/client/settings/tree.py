"""Everything you can set in settings.toml, as values, each with default, limits and documentation.

Plain dataclasses: settings are needed before the first frame, and pydantic-core would take 13 ms to load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final, Literal, TypeAlias

from acp_tui.client.settings.setting import setting
from acp_tui.conversation import KINDS, QUIET_KINDS
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """Refuses what meets all that it names: at least one of kind, path and command."""

    kind: str | None = setting(
        None, "The kind of tool call that is refused; without it, every kind.", allowed=KINDS
    )
    path: str | None = setting(
        None,
        "A glob for the files that are refused, as in a `.gitignore`; but `/x` is absolute, `./x` is what begins at a"
        " workspace root, and `{a,b}` stands for either.",
        is_blank_allowed=False,
        is_expanded=True,
    )
    command: str | None = setting(
        None,
        "How the commands begin that are refused, as in `git push`. Options may stand anywhere and in any order or"
        " bundle: `rm -rf` refuses `rm -v -f -r` too. `-f` and `--force` are two. You are asked about a command"
        " that does not tell what it runs.",
        is_blank_allowed=False,
    )
    reason: str = setting("", "Why, in your words; shown where something is refused, to the agent too.")

    @property
    def words(self) -> str:
        """The rule in a line."""
        named = (("kind", self.kind), ("path", self.path), ("command", self.command))
        rule = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{rule}: {self.reason}" if self.reason else rule


OnAskOff: TypeAlias = Literal["on", "ask", "off"]

MAX_FOLDED_LINES: Final = 10_000
"""Below so many nobody looks for what comes next."""

READ_ELSEWHERE: Final[Mapping[str, str]] = {
    "mcp": "MCP servers for every session, each a table `[mcp.NAME]` with a `command` or a `url`."
}
"""Sections of the same file with readers of their own."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """How acp-tui looks."""

    theme: str = setting(
        "",
        "The name of the theme. Empty: acp-tui's own light or dark one, whichever fits the terminal's background, or"
        " the terminal's own colours where it has only sixteen. With NO_COLOR in the environment there are no colours.",
    )
    reduced_motion: bool = setting(False, "Whether nothing is animated, as with TEXTUAL_ANIMATIONS=none.")
    ascii: bool = setting(
        False,
        "Whether lines and icons are drawn in ASCII; they are in any case where the locale is not UTF-8.",
    )
    images: Literal["auto", "kitty", "blocks", "off"] = setting(
        "auto",
        "How pictures are shown: by Kitty's protocol, as blocks of colour, by their names only, or as well as the"
        " terminal can.",
    )
    sidebar: Literal["auto", "on", "off"] = setting(
        "auto",
        "Whether plan, changed files and facts of the session stand beside the conversation; `auto`: from 150 columns"
        " on. Alt+S shows and hides them in any case.",
    )
    plain: bool = setting(
        False,
        "Whether acp-tui prints lines instead of filling the screen, as with --plain: for screen readers and terminals"
        " that cannot be drawn on.",
        applies="next start",
    )
    prompt_marks: bool = setting(
        True,
        "Whether --plain marks your prompts, so that your terminal's own keys jump between them (OSC 133).",
        applies="next start",
    )


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """How much of a conversation is shown before it is unfolded."""

    fold_kinds: tuple[str, ...] = setting(
        QUIET_KINDS,
        "Kinds of tool calls whose content is folded away, unless they fail.",
        allowed=KINDS,
        project="choose",
    )
    diff_lines: int = setting(
        24,
        "How much is shown of a diff.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    text_lines: int = setting(
        6,
        "How much is shown of a text in a tool call.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    prompt_lines: int = setting(
        20,
        "How much is shown of a text in a prompt of yours.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    terminal_lines: int = setting(
        12,
        "How much is shown of a command's output, from its end.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    thoughts: Literal["folded", "open"] = setting(
        "folded", "Whether the agent's thoughts are shown by a line or whole.", project="choose"
    )


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
        applies="next agent",
    )
    trace_context: TraceContext = setting(
        TraceContext(),
        "W3C trace context that is sent with every request to an agent.",
        applies="next agent",
    )
    enter_while_working: Literal["queue", "steer"] = setting(
        "queue",
        "What Enter does with a prompt while the agent works: queue it for after the turn, or send it into the turn"
        " where the agent offers that. Alt+T does the other.",
    )


@dataclass(frozen=True, slots=True)
class Workspace:
    """What agents may have of this machine. None of it allows what would else be asked about (R-PERM-4)."""

    read: OnAskOff = setting(
        "on",
        "Files that an agent reads through acp-tui.",
        fallback="ask",
        project="narrow",
        applies="next agent",
    )
    write: OnAskOff = setting(
        "on",
        "Files that an agent writes through acp-tui.",
        fallback="ask",
        project="narrow",
        applies="next agent",
    )
    terminals: OnAskOff = setting(
        "on",
        "Commands that an agent runs through acp-tui.",
        fallback="ask",
        project="narrow",
        applies="next agent",
    )
    additional_directories: tuple[Path, ...] = setting(
        (),
        "Directories beside the one of the session, for agents which take them.",
        is_expanded=True,
        applies="next agent",
    )


@dataclass(frozen=True, slots=True)
class Changes:
    """How much is kept of files as they were before an agent changed them."""

    max_file_bytes: int = setting(
        1 << 20, "A larger file is not kept.", unit="bytes", minimum=0, applies="next start"
    )
    max_total_bytes: int = setting(
        64 << 20, "How much is kept of all files together.", unit="bytes", minimum=0, applies="next start"
    )
    max_files: int = setting(
        100_000, "How many files are kept.", unit="files", minimum=0, applies="next start"
    )


@dataclass(frozen=True, slots=True)
class TerminalSettings:
    """Commands that agents run in our terminals."""

    output_limit_bytes: int = setting(
        1 << 20,
        "How much of a command's output is kept where the agent names no limit.",
        unit="bytes",
        minimum=1,
        maximum=64 << 20,
        project="narrow",
        applies="next agent",
    )


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What is kept of what the user writes."""

    keep: bool = setting(
        True,
        "Whether prompts that you send, and drafts that you do not, are kept over restarts. A prompt that begins with"
        " a space is not kept.",
        applies="next start",
    )
    max_entries: int = setting(
        10_000,
        "How many prompts are kept.",
        unit="prompts",
        minimum=1,
        maximum=100_000,
        applies="next start",
    )


NoticeChannel: TypeAlias = Literal["desktop", "bell", "osc9", "osc99", "osc777", "command"]


@dataclass(frozen=True, slots=True)
class Notifications:
    """What is told while you look elsewhere, and how."""

    needs_you: tuple[NoticeChannel, ...] = setting(
        ("desktop", "bell", "command"),
        "How it is told that an agent waits for you. `desktop`: the notice that your terminal is known to show, of"
        " `osc9`, `osc99` (kitty) and `osc777`, else a bell; `command`: that of yours.",
    )
    done: tuple[NoticeChannel, ...] = setting(("desktop", "command"), "How the end of a turn is told.")
    failed: tuple[NoticeChannel, ...] = setting(
        ("desktop", "bell", "command"), "How it is told that a turn has failed, or that the agent is gone."
    )
    minimum_turn_s: float = setting(10.0, "The end of a shorter turn is not told.", unit="seconds", minimum=0)
    command: tuple[str, ...] = setting(
        (),
        "A program and its arguments, run without a shell. It finds what happened in ACP_TUI_EVENT (needs_you, done"
        " or failed), ACP_TUI_TITLE, ACP_TUI_TEXT, ACP_TUI_SECONDS and ACP_TUI_CWD, and is ended after 10 seconds.",
        runs_program=True,
    )
    title: bool = setting(True, "Whether the window's title shows how the agents stand.")
    progress: Literal["auto", "on", "off"] = setting(
        "auto",
        "Whether the taskbar shows that an agent works, needs you or failed (OSC 9;4). `auto`: in terminals known"
        " to support it.",
    )


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """What is kept of what agents and acp-tui say to each other."""

    keep: bool = setting(
        True,
        "Whether every run of an agent is recorded, so that its sessions can be found, read and replayed later.",
        applies="next agent",
    )
    max_file_bytes: int = setting(
        64 << 20,
        "How large a recording may become; what comes later is missing in it.",
        unit="bytes",
        minimum=1 << 16,
        applies="next agent",
    )
    max_total_bytes: int = setting(
        1 << 30,
        "How much is kept of all recordings together; the oldest are deleted.",
        unit="bytes",
        minimum=0,
        applies="next agent",
    )
    raw: bool = setting(
        False,
        "Whether secrets are recorded too: tokens of MCP servers and logins, what you fill into forms.",
        applies="next agent",
    )


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The keys that the user chose for a command; which commands and keys there are is known to the screen."""

    command: str
    keys: tuple[str, ...]
    """As the user wrote them; empty for none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole tree; `Settings()` holds the defaults."""

    appearance: Appearance = setting(Appearance(), "How acp-tui looks.")
    conversation: ConversationSettings = setting(
        ConversationSettings(), "How much of a conversation is shown before you unfold it."
    )
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
    history: HistorySettings = setting(
        HistorySettings(), "The prompts that Up, Down and Ctrl+R bring back, and drafts."
    )
    notifications: Notifications = setting(
        Notifications(),
        "What is told while your terminal has not the focus. A terminal that does not report its focus (tmux does with"
        " `focus-events on`) counts as looked at, so nothing is told there.",
    )
    recordings: RecordingSettings = setting(
        RecordingSettings(), "Recordings of what agents and acp-tui say to each other."
    )
    refuse: tuple[RefusalRule, ...] = setting(
        (),
        "Standing rules, each a table `[[refuse]]`: what meets all that a rule names is refused without asking.",
        one_of=("kind", "path", "command"),
        project="add",
        applies="next agent",
    )
    keys: tuple[KeyChoice, ...] = setting(
        (),
        'Keys of your own, each by the name of its command, as in `find = "ctrl+f"`, a list for several, "" for none.'
        " `acp-tui keys` lists the commands; a chosen key counts instead of the usual ones.",
        by_name=True,
    )
