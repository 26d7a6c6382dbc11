"""Finds the command or the place of a tool call whose title says no more than the tool's name; it draws nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, ToolCall
from acp_tui.conversation.visible import make_visible_command, make_visible_line, make_visible_path

PROMPT: Final = "$ "
_PLACES: Final = (
    *("url", "uri", "query", "pattern", "regex"),
    *("path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path"),
)
"""What agents call it in their raw input; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about."""

    text: str
    is_command: bool = False

    @property
    def words(self) -> str:
        """It as it was reported, a command behind a prompt."""
        return f"{PROMPT}{self.text}" if self.is_command else self.text

    @property
    def visible(self) -> str:
        """The same in one line in which nothing hides."""
        shown = make_visible_command(self.words) if self.is_command else make_visible_path(self.text)
        return make_visible_line(shown)


def subject_of(call: ToolCall, terminals: Mapping[TerminalId, TerminalState]) -> Subject | None:
    """What is to be said beside the title; None where that says enough, or nothing is reported."""
    if not _is_name(call):
        return None
    subject = _of_terminal(call, terminals) or _of_input(call)
    return None if subject is None or subject.text in call.shown_title else subject


def _is_name(call: ToolCall) -> bool:
    """Whether the title is one word, or what the tool is called."""
    return len(call.shown_title.split()) == 1 or call.shown_title == call.name


def _of_terminal(call: ToolCall, terminals: Mapping[TerminalId, TerminalState]) -> Subject | None:
    for item in call.content:
        state = terminals.get(item.terminal_id) if isinstance(item, TerminalContent) else None
        if state is not None and state.command:
            return Subject(state.command.strip(), is_command=True)
    return None


def _of_input(call: ToolCall) -> Subject | None:
    raw = call.raw_input
    if not isinstance(raw, Mapping):
        return None
    place = next((raw[key].strip() for key in _PLACES if _is_said(raw.get(key))), None)
    # Beside a place, "command" is what an editor does there.
    if (call.kind == "execute" or place is None) and (line := command_line(raw)[0].strip()):
        return Subject(line, is_command=True)
    return None if place is None else Subject(place)


def is_place(name: str) -> bool:
    """Whether agents call a path or an address so in their raw input."""
    return name in _PLACES


def _is_said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def command_line(raw: Mapping[str, Any]) -> tuple[str, set[str]]:
    """The command line and the fields that are in it; "" where the fields are of another shape."""
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
