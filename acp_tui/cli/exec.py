"""`acp-tui exec`: runs one turn without a screen, and prints it as text or as lines of JSON.

The agent's words go to stdout, everything else to stderr. The exit status is the outcome.
"""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup

from acp_tui.cli import OF_STOP_REASON, ExitCode, code_of, weightiest
from acp_tui.cli.arguments import Args
from acp_tui.cli.exec_output import NdjsonOutput, OutputFormat, Streams, TextOutput, stopping
from acp_tui.cli.permissions import PermissionPrompter
from acp_tui.cli.terminal import Headless, SlowStart, say_left_out, say_sandbox
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.attachments.attach import mentions
from acp_tui.client.errors import ClientError, UnknownSession
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import HEADLESS
from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver, additions_for, start_agent
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import warning_if_open
from acp_tui.client.settings.settings import RecordingSettings, Settings
from acp_tui.conversation import content, entries, facts, updates
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.visible import make_visible_line

NOT_KEPT: Final = RecordingSettings(keep=False)
"""A turn in a script is recorded only on request."""
FAILED: Final = {ExitCode.ERROR, ExitCode.REFUSED}
LAST_WORDS: Final = 5
"""How many lines of an agent's stderr to show."""
CANCEL_GRACE_S: Final = 10.0
"""How long a canceled turn may take to end before the agent is ended. A second Ctrl+C ends it immediately."""


def take_turn(command: AgentCommand, prompt: str, settings: Settings, args: Args) -> int:
    async def run() -> int:
        return await _Turn(command, prompt, settings, args).run()

    return anyio.run(run)


class _Turn:
    def __init__(self, command: AgentCommand, prompt: str, settings: Settings, args: Args) -> None:
        self._command = command
        self._settings = settings
        self._given = args
        self._continued: facts.SessionId | None = args.session_id
        """The session to continue, or the last one that was recorded; "" if none was."""
        self._cwd: Path = command.cwd or args.cwd
        self._prompt = prompt
        is_text = args.format == "text"
        self._streams = Streams(self._stop_without_stdout, holds_stdout=is_text or sys.stdout.isatty())
        self._output: OutputFormat = (
            TextOutput(self._streams)
            if is_text
            else NdjsonOutput(self._streams, command.name, self._cwd, is_raw=args.raw)
        )
        self._codes: set[ExitCode] = set()
        self._agent: Agent | None = None
        """The agent, once it has answered."""
        self._session: Session | None = None
        self._prompter: PermissionPrompter | None = None
        self._tasks: TaskGroup
        self._scope = anyio.CancelScope()
        self._has_lost_stdout = False

    async def run(self) -> int:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            with anyio.open_signal_receiver(*stopping()) as signals:
                tasks.start_soon(self._watch_signals, signals)
                with self._scope:
                    await self._with_agent()
                if self._scope.cancelled_caught:
                    self._codes.add(ExitCode.CANCELLED)
                tasks.cancel_scope.cancel()
        self._output.finish(self._session, self._code)
        return self._code

    @property
    def _code(self) -> ExitCode:
        """The outcome. If stdout was lost, that is why the turn was canceled."""
        return ExitCode.ERROR if self._has_lost_stdout else weightiest(self._codes)

    async def _watch_signals(self, signals: AsyncIterator[signal.Signals]) -> None:
        async for _ in signals:
            self._codes.add(ExitCode.CANCELLED)
            self._stop()

    def _stop_without_stdout(self, error: OSError) -> None:
        self._has_lost_stdout = True
        self._output.fail(ClientError(f"can't write to stdout: {error.strerror}"))
        self._stop()

    def _stop(self) -> None:
        """Cancel with the protocol first. The second time, or after a timeout, end the agent."""
        if self._session is None or self._scope.deadline != math.inf:
            self._scope.cancel()
            return
        self._output.say("canceling")
        self._scope.deadline = anyio.current_time() + CANCEL_GRACE_S
        self._session.cancel()

    async def _with_agent(self) -> None:
        async with open_hub() as hub:
            try:
                with SlowStart(self._tasks, self._command.name, self._output.say) as start:
                    self._session = await self._open_session(hub, start)
                await self._take_turn(self._session)
            except ClientError as error:
                self._codes.add(code_of(error))
                self._output.fail(error)
            if self._agent is not None and self._codes & FAILED:
                for line in list(self._agent.log)[-LAST_WORDS:]:  # which may explain the failure
                    self._output.say(f"agent stderr: {make_visible_line(line)}")

    async def _open_session(self, hub: SessionHub, start: SlowStart) -> Session:
        say, settings = self._output.say, self._settings
        agent = self._agent = await start_agent(
            hub,
            self._command,
            self._cwd,
            settings,
            HEADLESS,
            say,
            recordings=NOT_KEPT,
            record=self._given.record,
            on_phase=start.note,
            tap=self._output.tap,
            unasked=self._given.allow_unasked,
        )
        say_sandbox(agent, say)
        front = Headless(say)
        added = await additions_for(agent, self._cwd, settings.workspace.additional_directories, front)
        say_left_out(added, say)
        driver = SessionDriver(FrontEndLink(agent, added), front.log_in, self._cwd)
        if self._continued is None:
            return await driver.begin()
        session_id = self._continued if self._given.resume else await self._last(agent, self._continued)
        if told := warning_if_open(session_id, agent.command.name, agent.command.argv):
            say(told)
        try:
            session = await driver.open(session_id, self._cwd, lambda _: None, self._command.options)
        except UnknownSession as error:
            error.hint = "--resume takes an ID, or nothing for the last session; to list them: acp-tui sessions"
            raise
        remarks = list[str]()
        for entry in reversed(session.conversation.entries):
            if not isinstance(entry, updates.ClientRemark):
                break
            remarks.append(entry.text)
        for text in reversed(remarks):
            say(make_visible_line(text))  # only what comes from here on is printed
        return session

    async def _last(self, agent: Agent, recorded: facts.SessionId) -> facts.SessionId:
        """The last session in the folder: the agent knows those that weren't recorded, such as turns like this."""
        listed = await agent.all_sessions(self._cwd) if agent.capabilities.list_sessions else ()
        there = [each for each in listed if each.cwd == self._cwd]
        if there:
            return max(there, key=lambda each: each.updated_at or "").session_id
        if not recorded:
            raise ClientError(
                f"no session with {agent.title} was recorded in {self._cwd}, and it lists none",
                hint="name one with --resume ID, or record a turn with --record FILE",
            )
        return recorded

    async def _take_turn(self, session: Session) -> None:
        assert self._agent is not None
        self._prompter = PermissionPrompter(session, self._tasks, self._output.say, self._streams.held)
        self._output.begin(session, self._agent)
        given = self._given.prompt or ""  # what was piped in isn't the user's own
        if named := dict.fromkeys(given[one.start : one.stop] for one in mentions(given)):
            self._output.say(make_visible_line(f"sent as text, since exec attaches no files: {', '.join(named)}"))
        session.subscribe(self._on_change)
        # What the agent said while the session was opening, but not what an earlier run had.
        count = len(session.conversation.entries)
        earlier = count if self._continued is not None else 0
        self._on_change(Change(tuple(map(entries.EntryId, range(earlier, count))), (facts.Fact.PLAN, facts.Fact.USAGE)))
        try:
            await session.send_prompt([content.Text(self._prompt)])
        finally:
            if self._prompter.has_rejected:
                self._codes.add(ExitCode.PERMISSION_REJECTED)
        conversation = session.conversation
        reason = conversation.last_stop_reason
        self._codes.add(ExitCode.AGENT_LOST if reason is None else OF_STOP_REASON.get(reason, ExitCode.ERROR))
        if reason is None and isinstance(failure := conversation.entries[-1], entries.Failure):
            self._output.say(failure.message)  # the agent's other errors are raised

    def _on_change(self, change: Change) -> None:
        assert self._session is not None
        assert self._prompter is not None
        conversation = self._session.conversation
        self._output.change(conversation, change)
        for entry_id in change.entries:
            if isinstance(entry := conversation.entries[entry_id], entries.ToolCallEntry):
                self._prompter.note_decisions(entry)
        if facts.Fact.PERMISSIONS in change.facts:
            self._prompter.check_requests()
