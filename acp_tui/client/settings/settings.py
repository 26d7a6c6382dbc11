"""All settings of settings.toml as values, each with a default, limits, and documentation.

These are plain dataclasses because the first frame needs the settings, and loading pydantic-core would take 13 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from acp_tui.client.settings.setting import setting
from acp_tui.conversation import KINDS, QUIET_KINDS
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """Refuses what matches all its conditions, at least one of kind, path, and command."""

    kind: str | None = setting(None, "The kind of tool call to refuse; without it, every kind.", allowed=KINDS)
    path: str | None = setting(
        None,
        "A glob for the files to refuse, as in a `.gitignore`, except that `/x` is absolute,"
        " `./x` starts at a workspace root, and `{a,b}` matches either.",
        is_blank_allowed=False,
        is_expanded=True,
    )
    command: str | None = setting(
        None,
        "The program and words of commands to refuse, such as `git push`. A line that has them anywhere is refused,"
        " in any quotes and even in a text; more words make the rule narrower. Options match in any order or"
        " bundle: `rm -rf` refuses `rm -v -f -r` too; `-f` and `--force` are different options. You are asked about"
        " a line that isn't literal.",
        is_blank_allowed=False,
    )
    reason: str = setting("", "The reason, in your words. You and the agent see it when something is refused.")

    @property
    def words(self) -> str:
        named = (("kind", self.kind), ("path", self.path), ("command", self.command))
        rule = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{rule}: {self.reason}" if self.reason else rule


OnAskOff: TypeAlias = Literal["on", "ask", "off"]
UpToUnasked: TypeAlias = Literal["on", "ask-if-unasked", "ask", "off"]
"""From most to least, so that a project can only choose a later one than the user's."""

MAX_FOLDED_LINES: Final = 10_000
"""With more folded lines, no one would look for what comes next."""

READ_ELSEWHERE: Final[Mapping[str, str]] = {
    "mcp": "MCP servers for every session, each a table `[mcp.NAME]` with a `command` or a `url`."
}
"""Sections of the same file that other modules read."""


StatusPart: TypeAlias = Literal["background", "pages", "changes", "tokens", "command", "host", "mode", "model"]
STATUS_PARTS: Final[tuple[StatusPart, ...]] = get_args(StatusPart)


@dataclass(frozen=True, slots=True)
class Appearance:
    theme: str = setting(
        "",
        "The name of the theme. Empty: acp-tui's light or dark one, to match the terminal's"
        " background, or the terminal's own colors if it has only sixteen. If NO_COLOR is set,"
        " there are no colors.",
    )
    reduced_motion: bool = setting(False, "Whether to turn off animation, as with TEXTUAL_ANIMATIONS=none.")
    ascii: bool = setting(
        False, "Whether to draw lines and icons in ASCII. acp-tui always does if the locale isn't UTF-8."
    )
    images: Literal["auto", "kitty", "sixel", "blocks", "off"] = setting(
        "auto",
        "How to show pictures: with Kitty's protocol, as sixel graphics, as colored blocks, by name only, or as well as"
        " the terminal can.",
    )
    sidebar: Literal["auto", "on", "off"] = setting(
        "auto",
        "Whether the plan, changed files, and session details appear next to the conversation;"
        " `auto`: from 150 columns. Alt+S always shows and hides them.",
    )
    plain: bool = setting(
        False,
        "Whether acp-tui prints lines instead of filling the screen, as with --plain: for screen"
        " readers and simple terminals.",
        applies="next start",
    )
    plain_detail: Literal["all", "answer"] = setting(
        "all",
        "What those lines say of a turn: `all`, or only questions, failures, and, when the turn has ended, the agent's"
        " last message (`answer`).",
        applies="next start",
    )
    status: tuple[StatusPart, ...] = setting(
        STATUS_PARTS,
        "What the status line shows on its right, in this order: work in the background, pages you"
        " opened for the agent, changed files, tokens and cost, what `status_command` prints, if a"
        " host keeps the session, that and who else is attached, and the agent's mode and model. If"
        " there is too little room, the model goes first, then a worktree's name, then those on the left,"
        " and the mode last. What it shows, the sidebar doesn't, and it leaves out files that the sidebar lists.",
    )
    status_command: tuple[str, ...] = setting(
        (),
        "A program and its arguments, run without a shell in the session's folder; the status line"
        " shows the first line it prints. It runs when a session opens, a turn ends, or the title"
        " changes. ACP_TUI_CWD, ACP_TUI_SESSION, ACP_TUI_AGENT, ACP_TUI_TITLE, ACP_TUI_MODEL,"
        " ACP_TUI_TOKENS, and ACP_TUI_COST tell it about the session. It is stopped after 5 seconds.",
        runs_program=True,
    )
    scrollback: bool = setting(
        True, "Whether the last turn stays in the terminal after acp-tui exits, so that it can be read and scrolled to."
    )
    links: bool = setting(
        True,
        "Whether files and addresses in conversations are links (OSC 8). Ctrl+click opens a file in"
        " your editor and a page in your browser, if your terminal doesn't do it itself.",
    )


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """How much of a conversation is shown before it's unfolded."""

    fold_kinds: tuple[str, ...] = setting(
        QUIET_KINDS, "Kinds of tool calls to fold unless they fail.", allowed=KINDS, project="choose"
    )
    diff_lines: int = setting(
        24, "How much of a diff to show.", unit="lines", minimum=0, maximum=MAX_FOLDED_LINES, project="choose"
    )
    text_lines: int = setting(
        6,
        "How much of a tool call's text to show.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    terminal_lines: int = setting(
        12,
        "How much of a command's output to show, from its end.",
        unit="lines",
        minimum=0,
        maximum=MAX_FOLDED_LINES,
        project="choose",
    )
    thoughts: Literal["folded", "open"] = setting(
        "folded", "Whether to show the agent's thoughts as one line or whole.", project="choose"
    )


@dataclass(frozen=True, slots=True)
class TraceContext:
    """What a trace is found by: the three keys that ACP reserves for W3C trace context, and `requestId` (R-EXT-2)."""

    traceparent: str = setting("", "Trace and parent span; empty: none is sent.", is_expanded=True)
    tracestate: str = setting("", "Vendor-specific trace data; empty: none is sent.", is_expanded=True)
    baggage: str = setting("", "Properties of the trace; empty: none are sent.", is_expanded=True)
    request_id: str = setting(
        "", "What the work belongs to, such as a job's ID; sent as `requestId`. Empty: none is sent.", is_expanded=True
    )

    def as_mapping(self) -> dict[str, str]:
        values = {each.name.replace("request_id", "requestId"): getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class AgentSettings:
    start_limit_s: float = setting(
        300.0,
        "How long an agent may take to answer `initialize`; 0: no limit.",
        unit="seconds",
        minimum=0,
        applies="next agent",
    )
    enter_while_working: Literal["queue", "steer"] = setting(
        "queue",
        "What Enter does with a prompt while the agent works: queue it until the turn ends, or"
        " send it into the turn if the agent supports that. Alt+T does the other.",
    )
    sandbox: str = setting(
        "off",
        "The sandbox that agents run in: `off`, `read-only`, `workspace`, or one of your own.",
        is_blank_allowed=False,
        applies="next agent",
    )
    trace_context: TraceContext = setting(
        TraceContext(), "W3C trace context to send with every request to an agent.", applies="next agent"
    )


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """What agents get of this machine.

    None of it allows anything that the user would otherwise be asked about (R-PERM-4).
    """

    read: OnAskOff = setting(
        "on", "Files an agent reads through acp-tui.", fallback="ask", project="narrow", applies="next agent"
    )
    write: UpToUnasked = setting(
        "ask-if-unasked",
        "Files an agent writes through acp-tui.",
        fallback="ask",
        project="narrow",
        applies="next agent",
    )
    terminals: UpToUnasked = setting(
        "ask-if-unasked",
        "Commands an agent runs through acp-tui.",
        fallback="ask",
        project="narrow",
        applies="next agent",
    )
    additional_directories: tuple[Path, ...] = setting(
        (),
        "Folders in addition to the session's, for agents that support them.",
        is_expanded=True,
        applies="next agent",
    )


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What is kept of the user's input."""

    keep: bool = setting(
        True,
        "Whether to keep sent prompts and unsent drafts across restarts. A prompt that starts with a space isn't kept.",
        applies="next start",
    )


NoticeChannel: TypeAlias = Literal["desktop", "bell", "osc9", "osc99", "osc777", "command"]


@dataclass(frozen=True, slots=True)
class Notifications:
    """What the user is notified about while looking elsewhere, and how.

    No notice says what a question is about, or can answer it (R-PERM-4).
    """

    needs_you: tuple[NoticeChannel, ...] = setting(
        ("desktop", "bell", "command"),
        "How to notify you that an agent needs you. `desktop`: the notification your terminal"
        " supports (`osc9`, `osc99` for kitty, or `osc777`), or a bell; `command`: your own"
        " command. With `--plain`, `desktop` is a bell, too.",
    )
    done: tuple[NoticeChannel, ...] = setting(("desktop", "command"), "How to notify you that a turn ended.")
    failed: tuple[NoticeChannel, ...] = setting(
        ("desktop", "bell", "command"), "How to notify you that a turn failed or the agent is gone."
    )
    minimum_turn_s: float = setting(10.0, "Shorter turns end without a notification.", unit="seconds", minimum=0)
    command: tuple[str, ...] = setting(
        (),
        "A program and its arguments, run without a shell, also by a host for sessions that no"
        " terminal shows. ACP_TUI_EVENT (needs_you, done, or failed), ACP_TUI_AGENT,"
        " ACP_TUI_SESSION (its ID), ACP_TUI_TITLE, ACP_TUI_CWD, ACP_TUI_TEXT, and"
        " ACP_TUI_SECONDS tell it what happened; an argument that is {event}, {agent}, {session},"
        " {title}, {cwd}, or {text} is replaced. It is stopped after 10 seconds.",
        runs_program=True,
    )
    title: bool = setting(True, "Whether the window's title shows the agents' state.")


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """What is kept of what agents and acp-tui send each other."""

    keep: bool = setting(
        True,
        "Whether to record every run of an agent, so that you can find, read, and replay its sessions later.",
        applies="next agent",
    )
    max_total_bytes: int = setting(
        1 << 30,
        "How much to keep of all recordings together; the oldest are deleted.",
        unit="bytes",
        minimum=0,
        applies="next agent",
    )


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """What shows the files that agents work on."""

    command: tuple[str, ...] = setting(
        (),
        "A program and its arguments, run without a shell in the session's folder when a tool call of the session in"
        " front names a file there: `{path}` and `{line}` in it stand for the place. At most twice a second, and only"
        " for the latest place. It is stopped after 5 seconds.",
        runs_program=True,
    )


@dataclass(frozen=True, slots=True)
class SessionSettings:
    host: Literal["always", "ask", "never"] = setting(
        "never",
        "Whether sessions can go on in a host when you leave the screen with Alt+Q: `ask` also asks when you quit while"
        " an agent works; `always` also goes on if the terminal closes.",
        applies="next start",
    )


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The keys that the user chose for a command. Only the screen knows which commands and keys exist."""

    command: str
    keys: tuple[str, ...]
    """As the user wrote them; empty for none."""


@dataclass(frozen=True, slots=True)
class SandboxProfile:
    """A sandbox that agents can run in, by its name."""

    name: str = ""
    writable: tuple[str, ...] = setting(
        (".",),
        "The files and folders it may write; `.` stands for the session's folders.",
        is_blank_allowed=False,
        is_expanded=True,
    )
    readable: tuple[str, ...] = setting(
        (),
        "What it may read in your home folder, besides what it needs itself.",
        is_blank_allowed=False,
        is_expanded=True,
    )
    hidden: tuple[str, ...] = setting(
        (), "What it must not see, wherever that is.", is_blank_allowed=False, is_expanded=True
    )
    network: bool = setting(True, "Whether it has a network. Most agents reach their model through it.")
    hosts: tuple[str, ...] = setting((), "With the engine `srt`, the only hosts it can reach.", is_blank_allowed=False)
    env: tuple[str, ...] = setting(
        (), "The names of further variables it gets; `*` stands for any characters.", is_blank_allowed=False
    )
    engine: Literal["auto", "bubblewrap", "landlock", "seatbelt", "srt"] = setting(
        "auto",
        "What enforces it. `auto`: bubblewrap, or Landlock where the system refuses bubblewrap; on macOS, seatbelt.",
    )


READ_ONLY: Final = SandboxProfile("read-only", writable=())
WORKSPACE: Final = SandboxProfile("workspace")
NO_SANDBOX: Final = "off"


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole tree. `Settings()` contains the defaults."""

    appearance: Appearance = setting(Appearance(), "How acp-tui looks.")
    conversation: ConversationSettings = setting(
        ConversationSettings(), "How much of a conversation to show before you unfold it."
    )
    agent: AgentSettings = setting(AgentSettings(), "How acp-tui starts and talks to agents.")
    workspace: WorkspaceSettings = setting(
        WorkspaceSettings(),
        'What agents may use on this machine. With "on", acp-tui asks only about things'
        ' outside the workspace; with "ask-if-unasked", also about what the agent didn\'t ask you for;'
        ' with "ask", every time; "off" isn\'t offered to agents at all.',
    )
    history: HistorySettings = setting(HistorySettings(), "Earlier prompts (Up, Down, Ctrl+R) and drafts.")
    notifications: Notifications = setting(
        Notifications(),
        "When your terminal is unfocused, acp-tui notifies you. A terminal that doesn't report"
        " focus (tmux needs `focus-events on`) counts as focused, so you get no notifications"
        " there.",
    )
    recordings: RecordingSettings = setting(
        RecordingSettings(), "Recordings of what agents and acp-tui say to each other."
    )
    follow: FollowSettings = setting(FollowSettings(), "Your editor follows the agent.")
    sessions: SessionSettings = setting(SessionSettings(), "What becomes of sessions without the terminal.")
    refuse: tuple[RefusalRule, ...] = setting(
        (),
        "Rules, each a table `[[refuse]]`. A request that matches everything in a rule is refused without asking.",
        one_of=("kind", "path", "command"),
        project="add",
        applies="next agent",
    )
    sandbox: tuple[SandboxProfile, ...] = setting(
        (),
        "Your own sandboxes, each a table `[sandbox.NAME]`. What isn't in it is as in the sandbox `workspace`.",
        by_name=True,
        applies="next agent",
    )
    keys: tuple[KeyChoice, ...] = setting(
        (),
        'Your own keys, by command, as in `find = "ctrl+f"`; a list for several, "" for'
        " none. `acp-tui keys` lists the commands. Your keys replace the default ones."
        ' `preset = "vim"` gives lists and texts the keys of Vim.',
        by_name=True,
    )
