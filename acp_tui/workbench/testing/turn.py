"""A turn of an agent under test as plain values, with the commands that it ran, and what can be asserted of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from acp_tui.client.export.tool_calls import unified_diff
from acp_tui.client.terminals.plain_text import plain_text
from acp_tui.client.transcript.frame_log import update_params
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import Plan
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.conversation.visible import make_visible_line
from acp_tui.protocol.conformance import Frame
from acp_tui.values import dataclass
from acp_tui.workbench.testing.answers import AskedElicitation, AskedPermission, Wanted, fits
from acp_tui.workbench.testing.failures import (
    AgentFailure,
    calls_text,
    frames_text,
    paths_of,
    quoted,
    recording_text,
)


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
            raise self._failure(f"the agent did not say {wanted!r}", said, b"agent_message_chunk")

    def assert_thought_contains(self, part: Wanted) -> None:
        """The agent thought this aloud: a part of its thoughts, or a pattern."""
        __tracebackhide__ = True
        thought = "\n".join(self.thoughts)
        if not fits(part, thought):
            wanted = getattr(part, "pattern", part)
            instead = f"What it thought:\n{quoted(thought)}"
            raise self._failure(f"the agent did not think {wanted!r}", instead, b"agent_thought_chunk")

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
