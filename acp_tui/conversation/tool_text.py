"""What a tool call works on, what its content is, and what its text is: output, where every line counts, or Markdown.

Most tools print: shells, searches, JSON. So text is output unless it looks like Markdown. A fence is always Markdown.
The whole text is Markdown if it has an unmistakable mark and one of another kind. Even then, the lines of a paragraph
stay lines. Nothing is drawn here.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple, TypeGuard

from acp_tui.conversation import UNSET, tool_calls
from acp_tui.conversation.content import Text, TextResource, UnknownBlock, block_words, is_for_user, unknown_words
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.visible import collapse_blanks_in_line, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command, make_visible_path
from acp_tui.conversation.visible.cutting import cut_text
from acp_tui.values import dataclass

MAX_REASON: Final = 400
HERE: Final = "."
"""The session's folder."""
PROMPT: Final = "$ "
NEXT_LINE: Final = "> "
"""Begins each further line of a command, so that a second command doesn't look like the end of the first."""
FILE_NAMES: Final = ("path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path")
"""The names agents use in raw input for the file that a tool works on."""
_PLACES: Final = ("url", "uri", "query", "pattern", "regex", *FILE_NAMES)
"""The names agents use in raw input; the first one present counts."""


@dataclass(frozen=True, slots=True)
class ToolSubject:
    text: str
    is_command: bool = False

    @property
    def words(self) -> str:
        """The text as reported; a command after a prompt sign."""
        return f"{PROMPT}{self.text}" if self.is_command else self.text

    @property
    def visible(self) -> str:
        """The same in one line, with hidden characters made visible."""
        shown = make_visible_command(self.words) if self.is_command else make_visible_path(self.text)
        return make_visible_line(shown)


def visible_title(call: tool_calls.ToolCall) -> str:
    """Return a call's title in one line. Look-alike letters are marked in a command; elsewhere they may be intended."""
    title = call.shown_title
    return collapse_blanks_in_line(make_visible_line(make_visible_command(title) if call.kind == "execute" else title))


def subject_of(
    call: tool_calls.ToolCall, terminals: Mapping[tool_calls.TerminalId, TerminalState]
) -> ToolSubject | None:
    """Return what to show besides the title; None if the title says enough, or if nothing is reported."""
    subject = _of_terminal(call, terminals) or _of_input(call)
    if subject is None or subject.text in call.shown_title or not (_is_name(call) or _runs_another(call, subject)):
        return None
    return replace(subject, text=cut_text(subject.text))


def _is_name(call: tool_calls.ToolCall) -> bool:
    return len(call.shown_title.split()) == 1 or call.shown_title == call.name


def _runs_another(call: tool_calls.ToolCall, subject: ToolSubject) -> bool:
    """Whether it runs something else than a shell with what the title says."""
    script = subject.text.removesuffix(shlex.quote(call.shown_title))
    return subject.is_command and call.kind == "execute" and _SHELL.fullmatch(script) is None


def _of_terminal(
    call: tool_calls.ToolCall, terminals: Mapping[tool_calls.TerminalId, TerminalState]
) -> ToolSubject | None:
    for item in call.content:
        state = terminals.get(item.terminal_id) if isinstance(item, tool_calls.TerminalContent) else None
        if state is not None and state.command:
            return ToolSubject(state.command.strip(), is_command=True)
    return None


def _of_input(call: tool_calls.ToolCall) -> ToolSubject | None:
    raw = call.raw_input
    if not isinstance(raw, Mapping):
        return None
    said = (value.strip() for key in _PLACES if isinstance(value := raw.get(key), str))
    place = next(filter(None, said), None)
    # Next to a path or address, "command" is an editor's operation.
    if (call.kind == "execute" or place is None) and (line := command_line(raw)[0].strip()):
        return ToolSubject(line, is_command=True)
    return None if place is None else ToolSubject(place)


def command_line(raw: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the command line and the fields it comes from; "" if the fields have another shape."""
    command, args = raw.get("command"), raw.get("args")
    if _are_words(command):
        return shlex.join(command), {"command"}
    if not isinstance(command, str):
        return "", set()
    if not _are_words(args):
        return command, {"command"}
    return (shlex.join([command, *args]) if args else command), {"command", "args"}


def _are_words(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


_SHELL: Final = re.compile(r"\S*sh -l?c ")
MAX_EXAMINED: Final = 100_000
"""How many characters are searched for marks."""

_DIFF: Final = re.compile(r"^(?:diff --git |@@ -\d|--- \S.*\n\+\+\+ \S)", re.MULTILINE)
_OPENING: Final = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_CLOSING: Final = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})\s*$")
_UNMISTAKABLE: Final = (
    r"(?<![*\w])\*\*[^\s*](?:[^*\n]{0,200}[^\s*])?\*\*(?![*\w])",  # strong
    r"\[[^\[\]\n]{1,200}\]\((?:https?:|[/.#])[^()\s]{0,500}\)",  # link
    r"^ {0,3}\|?[ \t]{0,9}:?-{3,99}:?[ \t]{0,9}\|[-:| \t]{0,500}$",  # second line of a table
)
_OTHERS: Final = (
    r"^#{1,6} \S",  # heading or comment
    r"(?<!`)`[^`\n]{1,200}`(?!`)",  # code
    r"^ {0,3}(?:[-*+]|\d{1,3}[.)]) \S",  # list item
    r"^ {0,3}> \S",  # quote
)
_SOFT_BREAK: Final = re.compile(r"(?<=[^\s\\])[ \t]{0,9}\n(?=[ \t]{0,99}\S)")


@dataclass(frozen=True, slots=True)
class Output:
    """Lines in which every character counts."""

    text: str


@dataclass(frozen=True, slots=True)
class Markdown:
    """CommonMark."""

    text: str


def parts_of(text: str) -> tuple[Output | Markdown, ...]:
    """Split a tool's text into parts, in order. Blank lines alone are dropped."""
    if _is_data(text):
        return (Output(todos_in_lines(text)),)
    parts = tuple(_apart(text.split("\n")))
    if _is_markdown("\n\n".join(part.text for part in parts if isinstance(part, Output))[:MAX_EXAMINED]):
        return (Markdown("\n".join(map(_with_line_breaks, parts))),)
    return parts


TODO_MARKS: Final = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]", "cancelled": "[-]"}
"""By the statuses that agents use in lists of todos."""
_OF_TODOS: Final = {"content", "status", "priority", "id"}


def todos_in_lines(text: str) -> str:
    """Return a list of todos in JSON, which opencode's tool returns, with a line for each; any other text unchanged."""
    if text[:100].lstrip()[:1] != "[" or len(text) > MAX_EXAMINED:
        return text
    try:
        todos = json.loads(text)
        if not all(one.keys() <= _OF_TODOS for one in todos):
            return text
        lines = [f"{TODO_MARKS[one['status']]} {' '.join(one['content'].split())}" for one in todos]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return text
    return "\n".join(lines) or text


def _is_data(text: str) -> bool:
    """Whether it's JSON, XML, or a diff, whose contents may look like anything."""
    ends = text[:100].lstrip()[:1] + text[-100:].rstrip()[-1:]
    return ends in ("{}", "[]", "<>") or _DIFF.search(text, 0, MAX_EXAMINED) is not None


def _is_markdown(text: str) -> bool:
    """Whether it has two kinds of marks, at least one of them unmistakable."""
    found = sum(_has(mark, text) for mark in _UNMISTAKABLE)
    return found > 1 or (found == 1 and any(_has(mark, text) for mark in _OTHERS))


def _has(mark: str, text: str) -> bool:
    return re.search(mark, text, re.MULTILINE) is not None


def _apart(lines: list[str]) -> Iterator[Output | Markdown]:
    """Yield the fences and the text between them."""
    start = at = 0
    while at < len(lines):
        opening = _OPENING.match(lines[at])
        if opening is None:
            at += 1
            continue
        yield from _output(lines[start:at])
        start, at = at, _behind_fence(lines, at + 1, opening["fence"])
        yield Markdown("\n".join(lines[start:at]))
        start = at
    yield from _output(lines[start:])


def _output(lines: list[str]) -> Iterator[Output]:
    if any(map(str.strip, lines)):
        yield Output("\n".join(lines))


def _behind_fence(lines: list[str], at: int, opened_by: str) -> int:
    """Return the number of the line after the closing fence, or the end if nothing closes it."""
    for number in range(at, len(lines)):
        closing = _CLOSING.match(lines[number])
        if closing is not None and closing["fence"].startswith(opened_by):
            return number + 1
    return len(lines)


def _with_line_breaks(part: Output | Markdown) -> str:
    return part.text if isinstance(part, Markdown) else _SOFT_BREAK.sub("  \n", part.text)


# Paths


def shown_path(path: str, cwd: str) -> str:
    """Return a path relative to the session's folder if it's inside, "." for the folder itself, or else unchanged."""
    if cwd and path.rstrip("/") == cwd.rstrip("/"):
        return HERE
    inside = path.removeprefix(cwd.rstrip("/") + "/") if cwd else path
    # With dots it may lead outside again, so it's shown in full.
    return path if ".." in inside.split("/") else inside


def shown_location(location: tool_calls.Location, cwd: str) -> str:
    path = shown_path(location.path, cwd)
    return path if location.line is None else f"{path}:{location.line}"


# Content

_NOT_READ: Final = frozenset({"data", "blob", "annotations", "meta"})
"""Fields of blocks to leave out: bytes, and metadata for programs."""


class Described(NamedTuple):
    """Content in words."""

    label: str
    """What it is, in one visible line; "" for a text, which speaks for itself."""
    text: str | None = None
    """Its text, if it has one."""
    facts: Any = UNSET
    """What the label leaves out: a decoded JSON value, reported field by field; UNSET for nothing."""
    is_known: bool = True


def failure_words(call: tool_calls.ToolCall) -> str:
    """Return the first line of what a call says, which has failed; "" if it says nothing."""
    blocks = (item for item in call.shown_content if isinstance(item, tool_calls.BlockContent))
    texts = [described(block).text or "" for block in blocks if is_for_user(block.block)]
    if not any(texts) and isinstance(call.raw_output, str):
        texts = [call.raw_output]
    lines = (line for text in texts for line in text.splitlines() if line.strip() and _OPENING.match(line) is None)
    return make_visible_line(cut_text(next(lines, "").strip(), MAX_REASON))


def described(item: tool_calls.BlockContent | tool_calls.FileChange | tool_calls.UnknownContent) -> Described:
    """Describe content other than diffs and terminals."""
    match item:
        case tool_calls.FileChange():
            return Described(make_visible_path(item.words))
        case tool_calls.BlockContent(Text(text)):
            return Described("", text)
        case tool_calls.BlockContent(UnknownBlock(kind, raw)) | tool_calls.UnknownContent(kind, raw):
            return Described(make_visible_line(unknown_words(kind)), facts=raw, is_known=False)
        case tool_calls.BlockContent(TextResource(text=text) as block):
            return Described(make_visible_line(block_words(block)), text)
        case tool_calls.BlockContent(block):
            label = block_words(block)
            left = {each.name: getattr(block, each.name) for each in fields(block) if each.name not in _NOT_READ}
            more = {name: value for name, value in left.items() if isinstance(value, str) and value not in label}
            return Described(make_visible_line(label), facts=more or UNSET)
