"""A session with an agent under test. Calls block. Compares the workspace's files before and after a turn."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import ConfigOption, OfferedCommand, Plan, SelectOption, Usage
from acp_tui.workbench.testing.failures import AgentFailure, TimedOut, calls_text, failure_of, quoted
from acp_tui.workbench.testing.link import Link
from acp_tui.workbench.testing.scripted_user import WatchedSession
from acp_tui.workbench.testing.turn import Turn, updates_in

__tracebackhide__ = True  # pytest shows the line of the test instead

CANCEL_GRACE_S: Final = 2.0
"""How long the turn of a failed test may take to be cancelled."""

STILL_RUNS: Final = "It was then canceled but didn't end. Answer session/prompt with a stopReason."

Prompt: TypeAlias = str | Sequence[str | ContentBlock]
"""A text, or a sequence of texts and other blocks."""


class AcpSession:
    """A session, opened by `AcpAgent.new_session` and similar methods."""

    def __init__(self, link: Link, watch: WatchedSession) -> None:
        self._link = link
        self._watch = watch

    # Turns

    def prompt(self, prompt: Prompt, *, timeout_s: float | None = None) -> Turn:
        """Run a turn to its end. Raises Unanswered, NotAsked, RequestRefused, LoginNeeded, AgentGone, and TimedOut."""
        return self.start_prompt(prompt).finish(timeout_s=timeout_s)

    def start_prompt(self, prompt: Prompt) -> RunningTurn:
        """Send a prompt without waiting, so that the test can act during the turn; for example, cancel it."""
        return RunningTurn(self._link, self._watch, prompt)

    def cancel(self) -> None:
        """Cancel the current turn, as a user does. Its prompt must end with "cancelled"."""
        self._link.call(self._session.cancel)

    # Options

    def set_option(self, option_id: str, value: str | bool) -> None:
        """Set an option. Raises NotOffered if the agent doesn't offer the option or value."""
        self._link.ask(f"setting {option_id!r} to {value!r}", lambda: self._session.set_option(option_id, value))

    def set_mode(self, mode: str) -> None:
        """Set the mode, however the protocol carries it."""
        self._set("mode", mode)

    def set_model(self, model: str) -> None:
        """Set the model, however the protocol carries it."""
        self._set("model", model)

    def _set(self, category: str, value: str) -> None:
        option = self._choice(category)
        self.set_option(category if option is None else option.option_id, value)

    @property
    def mode(self) -> str | None:
        """The current mode; None if the agent has no modes."""
        return _value(self._choice("mode"))

    @property
    def model(self) -> str | None:
        """The current model; None if the agent has no models."""
        return _value(self._choice("model"))

    def _choice(self, category: str) -> SelectOption | None:
        selects = [option for option in self.options if isinstance(option, SelectOption)]
        return next((option for option in selects if option.category == category), None)

    # State

    @property
    def _session(self) -> Session:
        return self._watch.session

    @property
    def session_id(self) -> str:
        """The ID given by the agent."""
        return self._session.session_id

    @property
    def conversation(self) -> Conversation:
        """The whole conversation; for a loaded session, with its history. Read-only."""
        return self._session.conversation

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The `update` of every session/update so far, as it was sent."""
        return updates_in(self._link.frames, self.session_id)

    @property
    def options(self) -> tuple[ConfigOption, ...]:
        """The options, including modes and models."""
        return self.conversation.options

    @property
    def commands(self) -> tuple[OfferedCommand, ...]:
        """The agent's slash commands."""
        return self.conversation.commands

    @property
    def plan(self) -> Plan | None:
        """The plan as last reported."""
        return self.conversation.plan

    @property
    def usage(self) -> Usage | None:
        """Context and cost as last reported."""
        return self.conversation.usage

    @property
    def title(self) -> str | None:
        """The title given by the agent."""
        return self.conversation.title

    def wait_until(self, is_so: Callable[[AcpSession], object], *, timeout_s: float | None = None) -> None:
        """Wait until `is_so(session)`, for updates outside of turns, such as commands."""
        _wait_until(self._link, self._watch, lambda: bool(is_so(self)), lambda: False, timeout_s)


class RunningTurn:
    """A running turn. Call `finish()` to get the turn, or `await` it in async code."""

    def __init__(self, link: Link, watch: WatchedSession, prompt: Prompt) -> None:
        self._link = link
        self._watch = watch
        self._blocks = _blocks(prompt)
        self._text = "\n".join(block.text for block in self._blocks if isinstance(block, Text))
        self._before = contents_of(watch.session.cwd)
        self._error: ClientError | None = None
        self._over = link.call(anyio.Event)
        link.start(self._run)

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        self._watch.begin_turn()
        task_status.started()
        try:
            await self._watch.session.send_prompt(self._blocks)
        except ClientError as error:
            self._error = error
        finally:
            self._over.set()
            self._watch.wake()

    @property
    def turn(self) -> Turn:
        """The turn so far."""
        return self._link.call(self._turn)

    def _turn(self) -> Turn:
        return self._watch.turn(self._text, is_over=self._over.is_set() and self._error is None)

    def wait_until(self, is_so: Callable[[Turn], object], *, timeout_s: float | None = None) -> None:
        """Wait until `is_so(turn)`, with the turn so far. Raises AgentFailure if the turn ends first."""
        _wait_until(self._link, self._watch, lambda: bool(is_so(self._turn())), self._over.is_set, timeout_s)

    def cancel(self) -> None:
        """Cancel the turn, as a user does."""
        self._link.call(self._watch.session.cancel)

    def finish(self, *, timeout_s: float | None = None) -> Turn:
        """Wait for the end of the turn. Raises the same errors as `AcpSession.prompt`."""
        limit_s = self._link.limit_s(timeout_s)
        is_in_time = self._link.call(lambda: self._wait(limit_s))
        self._link.require_answered()
        if not is_in_time:
            raise self._timed_out(limit_s)
        if self._error is not None:
            raise failure_of(self._error, during=f"the turn {self._text!r}", seen=self._link.seen())
        self._link.require_asked(self._done())
        after = contents_of(self._watch.session.cwd)
        turn = replace(self.turn, files_changed=changes_between(self._before, after))
        if turn.stop_reason is None:
            what = f"{self._link.name} answered the turn {self._text!r} without a stop reason"
            advice = 'Answer session/prompt with {"stopReason": "end_turn"}.'
            raise AgentFailure(what, advice=advice, seen=self._link.seen())
        return turn

    def __await__(self) -> Generator[Any, Any, Turn]:
        return to_thread.run_sync(self.finish).__await__()

    async def _wait(self, limit_s: float) -> bool:
        """Wait for the end; return False if it doesn't come in time, after cancelling the turn."""
        with anyio.move_on_after(limit_s):
            await self._over_or_given_up()
        is_in_time = self._over.is_set()
        if not is_in_time:
            self._watch.session.cancel()
            with anyio.move_on_after(CANCEL_GRACE_S):
                await self._over.wait()
        return is_in_time

    async def _over_or_given_up(self) -> None:
        async with anyio.create_task_group() as tasks:

            async def first(event: anyio.Event) -> None:
                await event.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(first, self._over)
            tasks.start_soon(first, self._link.user.has_given_up)

    def _timed_out(self, limit_s: float) -> TimedOut:
        cancelled = "It ended after it was canceled." if self._over.is_set() else STILL_RUNS
        advice = f"{cancelled} If a turn takes longer: timeout_s=...\n{self._done()}"
        what = f"{self._link.name} didn't end the turn {self._text!r} within {limit_s:g} s"
        return TimedOut(what, advice=advice, seen=self._link.seen())

    def _done(self) -> str:
        turn = self.turn
        return f"What it said:\n{quoted(turn.text)}\nIts tool calls:\n{calls_text(turn.tool_calls)}"


def _value(option: SelectOption | None) -> str | None:
    return None if option is None else option.value


def _blocks(prompt: Prompt) -> list[ContentBlock]:
    parts = [prompt] if isinstance(prompt, str) else prompt
    return [Text(part) if isinstance(part, str) else part for part in parts]


def _wait_until(
    link: Link, watch: WatchedSession, is_so: Callable[[], bool], is_over: Callable[[], bool], timeout_s: float | None
) -> None:
    if not link.ask("what the test waits for", lambda: watch.until(is_so, is_over), timeout_s):
        raise AgentFailure(f"{link.name} exited before what the test waits for", seen=link.seen())


LEFT_OUT: Final = frozenset({".git", "__pycache__"})
"""Folders in which programs write at any time."""

Contents = dict[str, bytes]
"""By path relative to the workspace, with slashes."""


def fill(workspace: Path, files: Mapping[str, str | bytes]) -> None:
    """Write these files. Raises ValueError for a path outside the workspace."""
    workspace.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file = Path(os.path.normpath(workspace / name))
        if not file.is_relative_to(workspace):
            raise ValueError(f"files: {name!r} isn't in the workspace; use a relative path")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def contents_of(workspace: Path) -> Contents:
    """Every regular file, except those in `LEFT_OUT`. Links aren't followed."""
    contents: Contents = {}
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        for file in (Path(folder, name) for name in names):
            if file.is_file() and not file.is_symlink():
                contents[file.relative_to(workspace).as_posix()] = file.read_bytes()
    return contents


def changes_between(before: Contents, after: Contents) -> dict[str, str | None]:
    """The files whose content differs, with the current text; None: the file is gone."""
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    return {name: after[name].decode("utf-8", "replace") if name in after else None for name in changed}
