"""A turn of an agent under test as plain values: what the user was asked and answered, and the commands it ran.

`Turn` has methods to assert on it. Values that a test doesn't mention can be anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

from acp_tui.client.line_comparison import unified_diff
from acp_tui.client.transcript.frame_log import update_params
from acp_tui.conversation.elicitation import Elicitation, Form, FormValues
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionOption, Plan
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.values import dataclass
from acp_tui.workbench.conformance import Frame
from acp_tui.workbench.testing.failures import AgentFailure, calls_text, frames_text, paths_of, quoted, recording_text

__tracebackhide__ = True  # pytest shows the line of the test instead

Wanted: TypeAlias = str | re.Pattern[str] | None
"""A part of a text, or a pattern to find in it; None: any text."""


def fits(wanted: Wanted, text: str) -> bool:
    if wanted is None:
        return True
    return wanted in text if isinstance(wanted, str) else wanted.search(text) is not None


@dataclass(frozen=True, slots=True)
class AskedPermission:
    session_id: str
    tool_call: ToolCall
    """As it was when the agent asked."""
    options: tuple[PermissionOption, ...]
    note: str | None = None
    """Why acp-tui asks, if it isn't the agent that does."""
    chosen: PermissionOption | None = None
    """None: no option was chosen, and the turn was cancelled."""

    @property
    def title(self) -> str:
        """The text that the user reads."""
        return self.tool_call.shown_title

    @property
    def answer(self) -> str | None:
        """The kind of the chosen option."""
        return None if self.chosen is None else self.chosen.kind


@dataclass(frozen=True, slots=True)
class AskedElicitation:
    """A form or page that the user was shown."""

    session_id: str | None
    """None: it belongs to no session."""
    elicitation: Elicitation
    action: ElicitationAction
    values: FormValues | None = None

    @property
    def message(self) -> str:
        """The text that the user reads."""
        return self.elicitation.message

    @property
    def url(self) -> str | None:
        """The page; None for a form. It was never opened."""
        return None if isinstance(self.elicitation, Form) else self.elicitation.url


CANCEL_TURN: Final = ""
"""Used in place of an option."""

A = TypeVar("A")
Asked = TypeVar("Asked", AskedPermission, AskedElicitation)


@dataclass(frozen=True, slots=True)
class AnswerRule(Generic[A]):
    """An answer, and which questions it's for."""

    answer: A
    text: Wanted
    tool: str | None = None
    """Only for tool calls of this kind."""

    def fits(self, text: str, tool: str) -> bool:
        """Whether it answers a question with this text, about a tool call of this kind."""
        return fits(self.text, text) and self.tool in (None, tool)

    def named(self, what: str) -> str:
        """The questions, for a message: "any permission", "the permission 'Edit'"."""
        text = getattr(self.text, "pattern", self.text)
        about = f"any {what}" if text is None else f"the {what} {text!r}"
        return about if self.tool is None else f"{about} (tool kind {self.tool})"


class Answers(Generic[A, Asked]):
    """Answers to single expected questions, and standing answers to every matching question."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        """The questions so far, in order, with their answers."""
        self._expected: list[AnswerRule[A]] = []
        self.standing: list[AnswerRule[A]] = []

    def take(self, text: str, tool: str = "") -> AnswerRule[A] | None:
        """The answer to this question: an expected one, which is used up, or the latest standing one that matches."""
        for rule in self._expected:
            if rule.fits(text, tool):
                self._expected.remove(rule)
                return rule
        return next((rule for rule in reversed(self.standing) if rule.fits(text, tool)), None)

    def take_missing(self) -> list[AnswerRule[A]]:
        """Return the expected questions that didn't come, and stop expecting them."""
        missing, self._expected = self._expected, []
        return missing


class PermissionAnswers(Answers[str, AskedPermission]):
    """Permission requests: `agent.permissions`."""

    def expect(self, title: Wanted = None, *, tool: str | None = None) -> ExpectedPermission:
        """Expect a request before the turn ends. Call a method of the result to set its answer.

        `title` is a part of the tool call's title, or a pattern; `tool` is the tool call's kind.
        """
        return ExpectedPermission(lambda option: self._expected.append(AnswerRule(option, title, tool)))


@dataclass(frozen=True, slots=True)
class ExpectedPermission:
    """Returned by `PermissionAnswers.expect`. The method you call is the answer."""

    _answer: Callable[[str], None]

    def allow(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind allow_once or allow_always."""
        self._answer("allow_always" if always else "allow_once")

    def reject(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind reject_once or reject_always."""
        self._answer("reject_always" if always else "reject_once")

    def choose(self, option: str) -> None:
        """Choose an option by its kind, ID, or name."""
        self._answer(option)

    def cancel_turn(self) -> None:
        """Cancel the turn instead. The agent gets the outcome "cancelled"."""
        self._answer(CANCEL_TURN)


def option_of(options: Sequence[PermissionOption], wanted: str) -> PermissionOption | None:
    """The option with this kind, or this ID, or this name."""
    for name in ("kind", "option_id", "name"):
        for option in options:
            if getattr(option, name) == wanted:
                return option
    return None


@dataclass(frozen=True, slots=True)
class ElicitationReply:
    """An answer to an elicitation."""

    action: ElicitationAction
    values: FormValues | None = None


class ElicitationAnswers(Answers[ElicitationReply, AskedElicitation]):
    """Forms and pages: `agent.elicitations`."""

    def expect(self, message: Wanted = None) -> ExpectedElicitation:
        """Expect a question before the turn ends. Call a method of the result to set its answer."""
        return ExpectedElicitation(lambda reply: self._expected.append(AnswerRule(reply, message)))


@dataclass(frozen=True, slots=True)
class ExpectedElicitation:
    """Returned by `ElicitationAnswers.expect`. The method you call is the answer."""

    _answer: Callable[[ElicitationReply], None]

    def accept(self, **values: str | int | float | bool | list[str]) -> None:
        """Fill in the form, or agree to visit the page (which is never opened)."""
        self._answer(ElicitationReply("accept", dict(values)))

    def decline(self) -> None:
        self._answer(ElicitationReply("decline"))

    def cancel(self) -> None:
        """Close it without an answer."""
        self._answer(ElicitationReply("cancel"))


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """What happened between a prompt and the end of its turn."""

    prompt: str
    """The text of the prompt."""
    session_id: str
    stop_reason: str | None = None
    """None: the turn isn't over."""
    messages: tuple[str, ...] = ()
    """What the agent said, one item per message."""
    thoughts: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    """The reported tool calls, in the order of their first report, in their final state."""
    commands: tuple[RunCommand, ...] = ()
    """The commands it ran in terminals, with their output so far."""
    plan: Plan | None = None
    permissions: tuple[AskedPermission, ...] = ()
    elicitations: tuple[AskedElicitation, ...] = ()
    files_changed: Mapping[str, str | None] = field(default_factory=dict)
    """The changed files of the workspace, with their current text; None: the file is gone.

    Known once the turn is over. Excludes folders named .git or __pycache__.
    """
    frames: tuple[Frame, ...] = ()
    """All frames of the turn, including those of other sessions."""
    workspace: Path = Path()
    recording: Path = Path()

    def __repr__(self) -> str:
        return f"<Turn {self.prompt!r}: {self.stop_reason}, {len(self.tool_calls)} tool calls>"

    @property
    def text(self) -> str:
        """What the agent said, with messages on separate lines."""
        return "\n".join(self.messages)

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The `update` of every session/update of the session, as it was sent."""
        return updates_in(self.frames, self.session_id)

    @property
    def diffs(self) -> list[TextDiff]:
        """The diffs of all tool calls."""
        return [item for call in self.tool_calls for item in call.content if isinstance(item, TextDiff)]

    # What can be asserted

    def assert_tool_call(
        self, title: Wanted = None, *, kind: str | None = None, status: str | None = None, path: str | None = None
    ) -> ToolCall:
        """Assert that there is a matching tool call, and return it.

        `title` is a part of its title or a pattern; `path` is absolute or relative to the workspace.
        """
        for call in self.tool_calls:
            if (
                fits(title, call.shown_title)
                and kind in (None, call.kind)
                and status in (None, call.status)
                and (path is None or any(self._is_same(path, each) for each in paths_of(call)))
            ):
                return call
        raise self._failure(
            _none_with("no tool call", title=title, kind=kind, status=status, path=path),
            f"The tool calls of the turn:\n{calls_text(self.tool_calls)}",
            *_CALL_FRAMES,
        )

    def assert_diff(
        self, path: str, *, old: str | None = None, new: str | None = None, contains: str | None = None
    ) -> TextDiff:
        """Assert that a tool call shows a diff of this file, and return it.

        `old` and `new` are its complete texts; `contains` is a part of the new one.
        """
        for diff in reversed(self.diffs):
            if (
                self._is_same(path, diff.path)
                and old in (None, diff.old_text)
                and new in (None, diff.new_text)
                and (contains is None or contains in diff.new_text)
            ):
                return diff
        what = _none_with(f"no diff of {path!r}", old=old, new=new, contains=contains)
        diffs = [quoted(unified_diff(diff.path, diff.old_text, diff.new_text)) for diff in self.diffs]
        raise self._failure(what, "\n".join(["The diffs of the turn:", *(diffs or ["  none"])]), *_CALL_FRAMES)

    def assert_text_contains(self, part: Wanted) -> None:
        """Assert that the agent said this: a part of its text, or a pattern."""
        if not fits(part, self.text):
            wanted = getattr(part, "pattern", part)
            seen = f"What it said:\n{quoted(self.text)}"
            raise self._failure(f"the agent didn't say {wanted!r}", seen, b"agent_message_chunk")

    def _is_same(self, wanted: str, path: str) -> bool:
        return wanted == path or os.path.normpath(self.workspace / wanted) == os.path.normpath(path)

    def _failure(self, what: str, instead: str, *parts: bytes) -> AgentFailure:
        about = [frame for frame in self.frames if any(part in frame.raw for part in parts)]
        frames = frames_text(about, self.workspace, heading="The frames about that")
        return AgentFailure(
            f"{what} in the turn {self.prompt!r}, which ended with {self.stop_reason}",
            advice=instead,
            seen=f"{frames}\n\n{recording_text(self.recording)}",
        )


def _none_with(what: str, **wanted: Wanted | int) -> str:
    like = [f"{name} {getattr(value, 'pattern', value)!r}" for name, value in wanted.items() if value is not None]
    return f"{what} with {', '.join(like)}" if like else what


_CALL_FRAMES = (b"tool_call", b"request_permission")


def updates_in(frames: Iterable[Frame], session_id: str) -> list[dict[str, Any]]:
    """The updates of a session in these frames, as they were sent."""
    read = (update_params(frame.direction, frame.raw) for frame in frames)
    params = [each for each in read if isinstance(each, dict) and each.get("sessionId") == session_id]
    return [each["update"] for each in params if isinstance(each.get("update"), dict)]


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command in a terminal of the client, or in one of the agent's own that it reports."""

    command: str
    """The whole command line; "" if the agent doesn't report it."""
    output: str
    """Without escape sequences. Lines end with \\n."""
    exit_code: int | None = None
    """None: it's still running, or a signal ended it."""
    signal: str | None = None
    cwd: str | None = None


def run_command(state: TerminalState) -> RunCommand:
    output = plain_text(state.output.read(), is_complete=state.has_exited)
    return RunCommand(state.command or "", output, state.exit_code, state.signal, state.cwd)
