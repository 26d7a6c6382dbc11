"""Content and tool calls as lines that can be read aloud: no columns, no colors, everything made visible."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from acp_tui.cli.output import columns
from acp_tui.cli.prerequisites import DUMB_TERMINALS
from acp_tui.client.line_comparison import told_diff
from acp_tui.client.settings.settings import ConversationSettings
from acp_tui.client.terminals.emulator import BARE_LINE_FEEDS, make_emulator
from acp_tui.conversation import UNSET, tool_calls
from acp_tui.conversation.content import is_for_user
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_text import HERE, described, shown_path, subject_of, todos_in_lines, visible_title
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.wording import command_end

ACP_TUI: Final = "acp-tui"
YOU: Final = "you"
THOUGHT: Final = "thought"
TOOL: Final = "tool: "
_LABELS: Final = frozenset(
    {ACP_TUI, YOU, THOUGHT, "agent", "tool", "done", "failed", "plan", "permission needed", "warning"}
)
"""What begins our lines, before a colon. An agent's line that begins with one is indented by a space."""
INDENT: Final = "  "
STATUS_WORDS: Final = {"completed": "done", "in_progress": "running", "pending": "announced"}
NO_LIMIT: Final = 1 << 30
MAX_OUTPUT_LINES: Final = 10_000
"""Lines of a command's output. Reading more line by line makes no sense."""


ALL: Final = ConversationSettings(diff_lines=NO_LIMIT, text_lines=NO_LIMIT, terminal_lines=NO_LIMIT)
"""The settings to print all of a tool call's results with."""


def label_of(title: str) -> str:
    """Return what begins an agent's messages: its title, unless that is one of our labels."""
    title = make_visible_line(title).strip(": ")
    return title if title and title.lower() not in _LABELS else "agent"


def theirs(block: str) -> str:
    """Format a block of an agent's text so that it doesn't look like our lines, and its tables as sentences."""
    lines = make_visible(block).split("\n")
    if not _FENCED.match(block):
        lines = list(_without_tables(lines))
    return "\n".join(f" {line}" if _begins_like_ours(line) else line for line in lines)


def _begins_like_ours(line: str) -> bool:
    label, colon, _ = line.partition(":")
    return bool(colon) and label.lower() in _LABELS


def ours(text: str) -> str:
    """Format a text of our own. Its further lines are indented."""
    return text.replace("\n", f"\n{INDENT}")


def wrapped(text: str) -> str:
    """Break a text's lines between words, with further lines indented. Code and long words stay whole.

    A terminal would break words, which are read aloud or felt in two pieces then; one without a cursor, such as a
    shell in Emacs, wraps as its user wants.
    """
    width = None if os.environ.get("TERM", "") in DUMB_TERMINALS else columns()
    lines, is_code = list[str](), False
    for line in text.split("\n"):
        is_fence = _FENCED.match(line) is not None
        is_code ^= is_fence
        if width is None or len(line) <= width or is_code or is_fence or line.startswith(("    ", "\t")):
            lines.append(line)
        else:
            indent = line[: len(line) - len(line.lstrip(" "))] + INDENT
            lines += textwrap.wrap(
                line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            )
    return "\n".join(lines)


# Tables

_FENCED: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})")
_RULE: Final = re.compile(r":?-+:?")
_CELL_END: Final = re.compile(r"(?<!\\)\|")


def _without_tables(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, with a line for each row of a Markdown table instead: its cells, each after its header."""
    headers: list[str] = []
    rows = iter(zip(lines, [*lines[1:], ""], strict=True))
    for line, below in rows:
        if headers and "|" in line:
            pairs = zip(headers, _cells(line), strict=False)
            yield "; ".join(f"{header}: {cell}" if header else cell for header, cell in pairs if cell)
            continue
        headers = _cells(line) if "|" in line and "|" in below else []
        rules = _cells(below)
        if headers and len(headers) == len(rules) and all(map(_RULE.fullmatch, rules)):
            next(rows)
        else:
            headers = []
            yield line


def _cells(row: str) -> list[str]:
    row = row.strip().removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(row)]


def about(call: tool_calls.ToolCall, terminals: Mapping[tool_calls.TerminalId, TerminalState]) -> str:
    """Return what a call runs or works on, to add to a title that doesn't say it; "" otherwise."""
    subject = subject_of(call, terminals)
    return "" if subject is None else f": {subject.visible}"


def place_of(call: tool_calls.ToolCall, cwd: str) -> str:
    """Return a call's place in brackets, to add to the title; "" if unknown or already in the title."""
    location = next(iter(call.locations), None)
    path = shown_path(location.path, cwd) if location is not None else ""
    if location is None or path in call.shown_title or (call.kind == "execute" and path == HERE):
        return ""
    line = "" if location.line is None else f", line {location.line}"
    return f" ({make_visible_path(path)}{line})"


def result_of(call: tool_calls.ToolCall, shown: ConversationSettings, cwd: str) -> str:
    """Return a call's result without its terminals, which are printed separately. May take a second."""
    lines = [line for item in call.shown_content for line in _content(item, shown, cwd)]
    if call.status == tool_calls.FAILED and not call.content and call.raw_output is not UNSET:
        output = json.dumps(call.raw_output, ensure_ascii=False, default=str)
        lines = _limited(make_visible(output).split("\n"), shown.text_lines)
    return "\n".join(f"{INDENT}{line}" for line in lines)


def _content(item: tool_calls.ToolCallContent, shown: ConversationSettings, cwd: str) -> Iterator[str]:
    match item:
        case tool_calls.TextDiff(path, new, old):
            told = spoken_diff(shown_path(path, cwd), old, new, item.parts)
            yield from _limited(told.split("\n"), shown.diff_lines)
        case tool_calls.TerminalContent():
            pass
        case _:
            yield from _limited(content_text(item).split("\n"), shown.text_lines)


_SIGNS: Final = {" ": "same:", "-": "removed:", "+": "added:"}
_HUNK: Final = re.compile(r"@@ -\d+,\d+ \+(\d+),")


def spoken_diff(path: str, old_text: str | None, new_text: str, parts: Sequence[tool_calls.HunkStart] = ()) -> str:
    """Return a change in words, since speech leaves out a minus. `old_text` None means that the file is new."""
    name, *lines = told_diff(path, old_text, new_text, parts).split("\n")
    if not lines:
        return name  # no change
    words = [f"{make_visible_line(path)}{', a new file' if old_text is None else ''}:"]
    last = ""
    for line in lines[1:]:
        sign = line[:1]
        if sign == "@":
            found = _HUNK.match(line)
            words.append(f"from line {found[1]}:" if found is not None else "a part:")
        elif sign in _SIGNS and sign != last:
            words.append(_SIGNS[sign])
        if sign != "@":
            words.append(f"{INDENT}{line[1:]}" if sign in _SIGNS else line)
        last = sign
    return "\n".join(words)


def _limited(lines: list[str], most: int) -> list[str]:
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"[{more:,} more lines; to see them all: /show]"]


def content_text(item: tool_calls.BlockContent | tool_calls.FileChange | tool_calls.UnknownContent) -> str:
    """Describe content other than diffs and terminals; "" if it isn't meant for the user."""
    if isinstance(item, tool_calls.BlockContent) and not is_for_user(item.block):
        return ""
    said = described(item)
    raw = None if said.is_known else json.dumps(said.facts, ensure_ascii=False, indent=2, default=str)
    return make_visible("\n".join(filter(None, (said.label, todos_in_lines(said.text or ""), raw))))


def output_of(state: TerminalState, shown: ConversationSettings, call: tool_calls.ToolCall | None = None) -> str:
    """Return a command's output, shortened to its end, and how it ended. Takes a while.

    `call` is the call that shows it: an agent's own terminal may not report what it runs.
    """
    lines = _printed(state)
    left_out = max(len(lines) - shown.terminal_lines, 0)
    name = visible_title(call) if call is not None and state.command is None else command_of(state)
    end = make_visible_line(command_end(state, " after "))
    head = ours(f"{end}: {name}")
    above = [f"[{left_out:,} lines above; to see them all: /output]"] if left_out else []
    return "\n".join([head, *(f"{INDENT}{line}" for line in (*above, *lines[left_out:]))])


def _printed(state: TerminalState) -> list[str]:
    """Return the lines as a terminal would show them, without overwritten text."""
    emulator = make_emulator(state.columns, state.rows, MAX_OUTPUT_LINES)
    try:
        emulator.feed((b"" if state.is_ours else BARE_LINE_FEEDS) + state.output.read())
        text = "\n".join("".join(segment.text for segment in line).rstrip() for line in emulator.lines())
    finally:
        emulator.close()
    return make_visible(text.strip("\n")).split("\n") if text.strip() else []


def command_of(state: TerminalState) -> str:
    return make_visible_line(state.command or "an unreported command")
