"""One check of one agent: starts it, runs the procedure, judges every frame, and ends it. `Report` is the result."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.process import CLOSE_GRACE_S
from acp_tui.client.errors import ClientError, UnsupportedProtocol
from acp_tui.client.sessions.access import Grant, Policy
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import Refusing
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.events import Exited
from acp_tui.client.transcript.plan import RecordingPlan
from acp_tui.client.transcript.reader import RecordingUnreadable, open_recording
from acp_tui.client.transcript.record_to import RecordTo
from acp_tui.protocol.conformance import RULES, Finding, Frame, Linter, Rule, Severity
from acp_tui.protocol.roles import AgentIdentity, ClientOffer
from acp_tui.rpc import Direction
from acp_tui.values import dataclass
from acp_tui.workbench.check.procedure import Plan, Procedure

KEPT_FRAME_BYTES: Final = 2000
KEPT_FRAMES: Final = 100_000
KEPT_LAST_WORDS: Final = 15
KEPT_BREACHES: Final = 100
"""Of one rule: who breaks it more often is known by then."""


@dataclass(slots=True)
class Report:
    """It grows while the agent is checked."""

    identity: AgentIdentity | None = None
    """None: it did not say who it is, or nothing at all."""
    findings: list[Finding] = field(default_factory=list)
    """In the order in which they were made; not all of those that there are very many of."""
    times: Counter[str] = field(default_factory=Counter)
    """How often each rule was broken, by its id."""
    frames: list[Frame] = field(default_factory=list)
    """How each begins; the first ones, where there are very many."""
    looked_at: frozenset[str] = frozenset()
    """The ids of the rules for which there was an occasion."""
    left_out: list[str] = field(default_factory=list)
    """What was not done with the agent, and why."""
    failure: ClientError | None = None
    """What it came to an end by; None: it went to its end."""
    last_words: tuple[str, ...] = ()
    """Where it came to an early end: the last lines on stderr, and what on stdout was no message."""

    def keep(self, frame: Frame) -> None:
        """Remember how a frame begins."""
        if len(self.frames) < KEPT_FRAMES:
            self.frames.append(Frame(frame.direction, frame.at_s, frame.raw[:KEPT_FRAME_BYTES]))

    def add(self, findings: tuple[Finding, ...]) -> None:
        """Count them, and remember the first of each rule."""
        for finding in findings:
            self.times[finding.rule.rule_id] += 1
            if self.times[finding.rule.rule_id] <= KEPT_BREACHES:
                self.findings.append(finding)

    def breaches(self, severity: Severity) -> Iterator[tuple[Rule, list[Finding]]]:
        """The broken rules of one severity, in the order of the table, each with its findings."""
        for rule in RULES:
            found = [finding for finding in self.findings if finding.rule is rule]
            if found and rule.severity is severity:
                yield rule, found

    @property
    def not_looked_at(self) -> tuple[Rule, ...]:
        """The rules without an occasion."""
        return tuple(rule for rule in RULES if rule.rule_id not in self.looked_at)

    @property
    def has_errors(self) -> bool:
        """What makes the agent wrong."""
        return any(finding.rule.severity is Severity.ERROR for finding in self.findings)


OFFER: Final = ClientOffer(elicitation_form=True, elicitation_url=True)
"""As much as nobody's presence allows: an agent shows more of itself to a client that can do more."""
POLICY: Final = Policy(write=Grant.ASK, terminals=Grant.ASK)
"""What it wants to write and to run is asked about, and so refused."""
NOTES: Final = "Notes on keeping bees: feed them in autumn, leave them alone in winter.\n"
_STATUS: Final = re.compile(r"exited with code (\d+)")


class Examination:
    """Made for one run."""

    def __init__(
        self,
        command: AgentCommand,
        plan: Plan,
        record: RecordTo | None = None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_step` is told what is done now; it may hold an agent's words."""
        self.report = Report()
        """What is known so far: also of a run that was cancelled."""
        self._on_step = on_step
        self._command = command
        self._plan = plan
        self._record = record
        self._linter = Linter()
        self._frame_came = anyio.Event()

    async def run(self) -> Report:
        """All of it; takes no longer than the limits of its steps, and raises nothing of the agent's."""
        folder = await to_thread.run_sync(_make_folder)
        try:
            await self._run_in(Path(folder.name).resolve())
        except ClientError as error:
            self.report.failure = error
        finally:
            self.report.looked_at = self._linter.looked_at
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(folder.cleanup)
        return self.report

    async def _run_in(self, folder: Path) -> None:
        record = self._record or RecordTo(folder / "check.jsonl")
        workspace = folder / "workspace"
        recordings = RecordingPlan(workspace, file=record.file, is_file_raw=record.is_raw)
        async with open_hub() as hub:
            agent = await hub.start_agent(
                self._command,
                cwd=workspace,
                offer=OFFER,
                policy=POLICY,
                tap=self._see,
                recordings=recordings,
            )
            is_done = False
            try:
                await self._talk(agent, workspace)
                is_done = True
            finally:
                with anyio.CancelScope(shield=True):
                    # Of a run that was cut short the end says nothing about the agent.
                    await (self._end(agent, record.file) if is_done else agent.stop())

    async def _talk(self, agent: Agent, workspace: Path) -> None:
        async with anyio.create_task_group() as tasks:
            refusing = Refusing(tasks)
            refusing.attend_agent(agent)
            procedure = Procedure(
                agent, workspace, self._plan, refusing, lambda: self._frame_came, self._on_step
            )
            self.report.left_out = procedure.left_out
            try:
                await procedure.run()
            except ClientError as error:
                self.report.failure = error
            finally:
                self.report.identity = agent.identity
            tasks.cancel_scope.cancel()

    def _see(self, direction: Direction, raw: bytes) -> None:
        frame = Frame(direction, time.monotonic(), raw)
        self.report.keep(frame)
        self.report.add(self._linter.feed(frame))
        if direction is Direction.IN:
            self._frame_came.set()
            self._frame_came = anyio.Event()

    async def _end(self, agent: Agent, recording: Path) -> None:
        lost, begin = agent.lost, time.monotonic()
        await agent.stop()
        is_slow = time.monotonic() - begin >= CLOSE_GRACE_S
        if self.report.failure is not None:
            self.report.last_words = tuple(agent.log)[-KEPT_LAST_WORDS:]
        if lost is not None and not isinstance(lost, UnsupportedProtocol):
            self.report.add(self._linter.died(str(lost)))  # and so it owes no answers any more
            return
        self.report.add(self._linter.finish())
        if lost is None:
            how = await to_thread.run_sync(_how_it_exited, recording)
            status = _STATUS.search(how)
            found = self._linter.ended(
                exit_code=int(status[1]) if status else None,
                waited_s=CLOSE_GRACE_S,
                had_to_be_terminated=is_slow,
            )
            self.report.add(found)


def _make_folder() -> tempfile.TemporaryDirectory[str]:
    """With a workspace for the agent in it, and something to read."""
    folder = tempfile.TemporaryDirectory(prefix="acp-tui-check-", ignore_cleanup_errors=True)
    workspace = Path(folder.name) / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text(NOTES)
    return folder


def _how_it_exited(recording: Path) -> str:
    """As the recording's end says it; "" where it does not."""
    try:
        with open_recording(recording) as events:
            return next((event.how for event in events if isinstance(event, Exited)), "")
    except (RecordingUnreadable, OSError):
        return ""
