"""A turn of an agent under test as plain values: what its user was asked and answers, the commands that it ran.

`Turn` has what can be asserted of it. What no word of the test fits is left open.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

from acp_tui.client.line_comparison import unified_diff
from acp_tui.client.terminals.plain_text import plain_text
from acp_tui.client.transcript.frame_log import update_params
from acp_tui.conversation.elicitation import Elicitation, Form, FormValues
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import PermissionOption, Plan
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.conversation.visible import make_visible_line
from acp_tui.protocol.conformance import Frame
from acp_tui.values import dataclass
from acp_tui.workbench.testing.failures import (
    AgentFailure,
    calls_text,
    frames_text,
    paths_of,
    quoted,
    recording_text,
)

Wanted: TypeAlias = str | re.Pattern[str] | None
"""A part of a text, or what is to be found in it; None: any text will do."""


def fits(wanted: Wanted, text: str) -> bool:
    """Whether this is the text that is wanted."""
    if wanted is None:
        return True
    return wanted in text if isinstance(wanted, str) else wanted.search(text) is not None


@dataclass(frozen=True, slots=True)
class AskedPermission:
    """A permission request."""

    session_id: str
    tool_call: ToolCall
    """As it was when the agent asked."""
    options: tuple[PermissionOption, ...]
    note: str | None = None
    """Why acp-tui asks, where it is not the agent that does."""
    chosen: PermissionOption | None = None
    """None: nothing was, the turn was cancelled."""

    @property
    def title(self) -> str:
        """What the user reads."""
        return self.tool_call.shown_title

    @property
    def answer(self) -> str | None:
        """The kind of the option that was chosen."""
        return None if self.chosen is None else self.chosen.kind


@dataclass(frozen=True, slots=True)
class AskedElicitation:
    """A form or a page that the user was shown."""

    session_id: str | None
    """None: it belongs to no session."""
    elicitation: Elicitation
    action: ElicitationAction
    values: FormValues | None = None

    @property
    def message(self) -> str:
        """What the user reads."""
        return self.elicitation.message

    @property
    def url(self) -> str | None:
        """The page; None for a form. Nobody has looked at it."""
        return None if isinstance(self.elicitation, Form) else self.elicitation.url


CANCEL_TURN: Final = ""
"""Instead of an option."""

A = TypeVar("A")
Asked = TypeVar("Asked", AskedPermission, AskedElicitation)


@dataclass(frozen=True, slots=True)
class Rule(Generic[A]):
    """An answer, and to which questions."""

    answer: A
    text: Wanted
    tool: str | None = None
    """Of tool calls of this kind only."""

    def fits(self, text: str, tool: str) -> bool:
        """Whether it answers a question with this text, about a tool call of this kind."""
        return fits(self.text, text) and self.tool in (None, tool)

    def named(self, what: str) -> str:
        """The questions, for a message: "any permission", "the permission 'Edit'"."""
        text = getattr(self.text, "pattern", self.text)
        about = f"any {what}" if text is None else f"the {what} {text!r}"
        return about if self.tool is None else f"{about} (tool kind {self.tool})"


class Answers(Generic[A, Asked]):
    """Answers to one question each, which has to be asked, and answers to every question that they fit."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        """What was asked so far, in that order, with what became of it."""
        self._expected: list[Rule[A]] = []
        self._standing: list[Rule[A]] = []
        self._used: list[Rule[A]] = []

    def take(self, text: str, tool: str = "") -> Rule[A] | None:
        """What answers this question: what expects it, which is used up by that, else the latest that fits."""
        for rule in self._expected:
            if rule.fits(text, tool):
                self._expected.remove(rule)
                self._used.append(rule)
                return rule
        return next((rule for rule in reversed(self._standing) if rule.fits(text, tool)), None)

    def has_used(self, text: str, tool: str = "") -> bool:
        """Whether such a question was expected, and came before."""
        return any(rule.fits(text, tool) for rule in self._used)

    def take_missing(self) -> list[Rule[A]]:
        """What was expected and did not come; it is not expected any more."""
        missing, self._expected = self._expected, []
        return missing


class PermissionAnswers(Answers[str, AskedPermission]):
    """Permission requests: `agent.permissions`."""

    def expect(self, title: Wanted = None, *, tool: str | None = None) -> ExpectedPermission:
        """A request that has to come until the turn ends; say behind it how it is answered.

        `title` is a part of the tool call's title, or a pattern; `tool` the tool call's kind.
        """
        return ExpectedPermission(lambda option: self._expected.append(Rule(option, title, tool)))

    def on(self, kind: str, *, title: Wanted = None, tool: str | None = None) -> None:
        """Answer every request that fits, asked for or not, with the option of this kind (or id, or name)."""
        self._standing.append(Rule(kind, title, tool))


@dataclass(frozen=True, slots=True)
class ExpectedPermission:
    """Made by `PermissionAnswers.expect`; what is called here is the answer."""

    _answer: Callable[[str], None]

    def allow(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind allow_once, or allow_always."""
        self._answer("allow_always" if always else "allow_once")

    def reject(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind reject_once, or reject_always."""
        self._answer("reject_always" if always else "reject_once")

    def choose(self, option: str) -> None:
        """Choose an option by its kind, its id or its name."""
        self._answer(option)

    def cancel_turn(self) -> None:
        """Cancel the turn instead; the agent gets the outcome "cancelled"."""
        self._answer(CANCEL_TURN)


def option_of(options: Sequence[PermissionOption], wanted: str) -> PermissionOption | None:
    """The one of this kind, else of this id, else of this name."""
    for name in ("kind", "option_id", "name"):
        for option in options:
            if getattr(option, name) == wanted:
                return option
    return None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to an elicitation."""

    action: ElicitationAction
    values: FormValues | None = None


class ElicitationAnswers(Answers[Reply, AskedElicitation]):
    """Forms and pages: `agent.elicitations`."""

    def expect(self, message: Wanted = None) -> ExpectedElicitation:
        """A question that has to come until the turn ends; say behind it how it is answered."""
        return ExpectedElicitation(lambda reply: self._expected.append(Rule(reply, message)))

    def on(
        self, action: ElicitationAction, values: FormValues | None = None, *, message: Wanted = None
    ) -> None:
        """Answer every question that fits, asked or not; `values` is what a form is filled in with."""
        self._standing.append(Rule(Reply(action, values), message))


@dataclass(frozen=True, slots=True)
class ExpectedElicitation:
    """Made by `ElicitationAnswers.expect`; what is called here is the answer."""

    _answer: Callable[[Reply], None]

    def accept(self, **values: str | int | float | bool | list[str]) -> None:
        """Fill in the form, or agree to visit the page (which nobody does)."""
        self._answer(Reply("accept", dict(values)))

    def decline(self) -> None:
        """Say no."""
        self._answer(Reply("decline"))

    def cancel(self) -> None:
        """Close it without an answer."""
        self._answer(Reply("cancel"))


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """What happened between a prompt and the end of its turn."""

    prompt: str
    """Its text."""
    session_id: str
    stop_reason: str | None = None
    """None: it is not over."""
    messages: tuple[str, ...] = ()
    """What the agent said, each message whole."""
    thoughts: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    """Those that were reported, in the order of their first report, as they were in the end."""
    commands: tuple[RunCommand, ...] = ()
    """Those that it had run in terminals, with what they printed until now."""
    plan: Plan | None = None
    permissions: tuple[AskedPermission, ...] = ()
    elicitations: tuple[AskedElicitation, ...] = ()
    files_changed: Mapping[str, str | None] = field(default_factory=dict)
    """The workspace's files that differ from before, with their text now; None: the file is gone.

    It is known when the turn is over; folders called .git or __pycache__ are left out.
    """
    frames: tuple[Frame, ...] = ()
    """All that passed meanwhile, of other sessions too."""
    workspace: Path = Path()
    recording: Path = Path()

    def __repr__(self) -> str:
        return f"<Turn {self.prompt!r}: {self.stop_reason}, {len(self.tool_calls)} tool calls>"

    @property
    def text(self) -> str:
        """What the agent said, its messages a line apart."""
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
        self,
        title: Wanted = None,
        *,
        kind: str | None = None,
        status: str | None = None,
        path: str | None = None,
    ) -> ToolCall:
        """There is a tool call like this, which is given back.

        `title` is a part of its title or a pattern, `path` is absolute or within the workspace.
        """
        __tracebackhide__ = True
        for call in self.tool_calls:
            if (
                fits(title, call.shown_title)
                and kind in (None, call.kind)
                and status in (None, call.status)
                and (path is None or any(self._is_same(path, each) for each in paths_of(call)))
            ):
                return call
        wanted = {"title": getattr(title, "pattern", title), "kind": kind, "status": status, "path": path}
        like = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value is not None)
        raise self._failure(
            f"no tool call with {like}" if like else "no tool call",
            f"The tool calls of the turn:\n{calls_text(self.tool_calls)}",
            *_CALL_FRAMES,
        )

    def assert_diff(
        self, path: str, *, old: str | None = None, new: str | None = None, contains: str | None = None
    ) -> TextDiff:
        """A tool call shows a diff of this file, which is given back.

        `old` and `new` are its whole texts, `contains` is a part of the new one.
        """
        __tracebackhide__ = True
        for diff in reversed(self.diffs):
            if (
                self._is_same(path, diff.path)
                and old in (None, diff.old_text)
                and new in (None, diff.new_text)
                and (contains is None or contains in diff.new_text)
            ):
                return diff
        wanted = {"old": old, "new": new, "contains": contains}
        like = "".join(f", {name} {value!r}" for name, value in wanted.items() if value is not None)
        raise self._failure(
            f"no diff of {path!r}{like}", f"The diffs of the turn:\n{self._diffs_text()}", *_CALL_FRAMES
        )

    def assert_text_contains(self, part: Wanted) -> None:
        """The agent said this: a part of its text, or a pattern."""
        __tracebackhide__ = True
        if not fits(part, self.text):
            wanted = getattr(part, "pattern", part)
            said = f"What it said:\n{quoted(self.text)}"
            raise self._failure(f"the agent didn't say {wanted!r}", said, b"agent_message_chunk")

    def assert_thought_contains(self, part: Wanted) -> None:
        """The agent thought this aloud: a part of its thoughts, or a pattern."""
        __tracebackhide__ = True
        thought = "\n".join(self.thoughts)
        if not fits(part, thought):
            wanted = getattr(part, "pattern", part)
            instead = f"What it thought:\n{quoted(thought)}"
            raise self._failure(f"the agent didn't think {wanted!r}", instead, b"agent_thought_chunk")

    def assert_plan(self, *steps: str, status: str | None = None) -> Plan:
        """The turn's plan, as last reported, has these steps in this order; gives it back.

        With `status`, such as "completed", each of its steps has that.
        """
        __tracebackhide__ = True
        plan = self.plan or Plan(())
        is_so = not steps or steps == tuple(step.content for step in plan.steps)
        if self.plan is not None and is_so and all(status in (None, step.status) for step in plan.steps):
            return plan
        wanted = ", ".join(map(repr, steps)) or "any steps"
        shown = "\n".join(f"  {step.content!r}: {step.status}" for step in plan.steps) or "  none"
        like = f", all {status!r}" if status is not None else ""
        raise self._failure(f"no plan of {wanted}{like}", f"The plan of the turn:\n{shown}", b'"plan"')

    def assert_command(
        self, command: Wanted = None, *, exit_code: int | None = None, output: Wanted = None
    ) -> RunCommand:
        """The agent had a command like this run, which is given back.

        `command` is a part of its line, `output` of what it printed; either may be a pattern.
        """
        __tracebackhide__ = True
        for run in self.commands:
            if fits(command, run.command) and exit_code in (None, run.exit_code) and fits(output, run.output):
                return run
        wanted = {
            "line": getattr(command, "pattern", command),
            "exit code": exit_code,
            "output": getattr(output, "pattern", output),
        }
        like = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value is not None)
        raise self._failure(
            f"no command with {like}" if like else "no command",
            f"The commands of the turn:\n{commands_text(self.commands)}",
            b"terminal",
        )

    def _is_same(self, wanted: str, path: str) -> bool:
        return wanted == path or os.path.normpath(self.workspace / wanted) == os.path.normpath(path)

    def _diffs_text(self) -> str:
        diffs = [unified_diff(diff.path, diff.old_text, diff.new_text) for diff in self.diffs]
        return "\n".join(map(quoted, diffs)) or "  none"

    def _failure(self, what: str, instead: str, *parts: bytes) -> AgentFailure:
        about = [frame for frame in self.frames if any(part in frame.raw for part in parts)]
        frames = frames_text(about, self.workspace, heading="The frames about that")
        return AgentFailure(
            f"{what} in the turn {self.prompt!r}, which ended with {self.stop_reason}",
            advice=instead,
            seen=f"{frames}\n\n{recording_text(self.recording)}",
        )


_CALL_FRAMES = (b"tool_call", b"request_permission")


def updates_in(frames: Iterable[Frame], session_id: str) -> list[dict[str, Any]]:
    """The updates of a session among these frames, as they were sent."""
    read = (update_params(frame.direction, frame.raw) for frame in frames)
    params = [each for each in read if isinstance(each, dict) and each.get("sessionId") == session_id]
    return [each["update"] for each in params if isinstance(each.get("update"), dict)]


SHOWN_OUTPUT_LINES = 10


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command in a terminal: of the client, or of the agent's own where it reports one."""

    command: str
    """The whole line; "" where the agent does not say it."""
    output: str
    """Without escape sequences, lines end with \\n."""
    exit_code: int | None = None
    """None: it still runs, or ended by a signal."""
    signal: str | None = None
    cwd: str | None = None


def run_command(state: TerminalState) -> RunCommand:
    """As it is now."""
    output = plain_text(state.output.read(), is_complete=state.has_exited)
    return RunCommand(state.command or "", output, state.exit_code, state.signal, state.cwd)


def commands_text(commands: Iterable[RunCommand]) -> str:
    """Commands with their ends and the last of their output."""
    return "\n".join(map(_command_text, commands)) or "  none"


def _command_text(run: RunCommand) -> str:
    end = f"signal {run.signal}" if run.signal is not None else f"exit code {run.exit_code}"
    output = quoted(quoted(run.output, SHOWN_OUTPUT_LINES))
    return f"  {make_visible_line(run.command)!r}: {end}\n{output}"
