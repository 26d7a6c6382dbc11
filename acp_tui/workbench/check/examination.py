"""Checks one agent: starts it, uses it like a client, applies the rules to every frame, and ends it.

The result is a `CheckReport`. Nothing that the agent asks for is allowed, and no option that affects permissions is
changed.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from anyio import to_thread

from acp_tui.client.agents.command import AgentCommand, Sandboxes
from acp_tui.client.agents.starting import CLOSE_GRACE_S
from acp_tui.client.errors import AgentLost, AgentRefused, AuthenticationRequired, ClientError, UnsupportedProtocol
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.client.sessions.driver import Refusing
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import BooleanOption, ConfigOption, SessionId, TurnPhase
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import AgentIdentity, ClientOffer, SystemPrompt, Workplace
from acp_tui.rpc import Direction, RequestFailed, RpcError
from acp_tui.values import dataclass
from acp_tui.workbench import conformance

T = TypeVar("T")

PROMPT: Final = "Say in one sentence what the file notes.txt in this folder is about."
LONG_PROMPT: Final = "Write a LONG story of at least 2,000 words about a lighthouse. Use no tools."
MAX_PAGES: Final = 100
QUIET_S: Final = 0.3
"""How long an agent must be silent to be considered done."""
QUIET_LIMIT_S: Final = 3.0
CANCEL_AFTER_S: Final = 3.0
"""When to cancel a turn if the agent sends nothing. Otherwise it's cancelled at the first frame."""
CANCEL_LIMIT_S: Final = 10.0
"""The time limit for a cancelled turn to end."""
HARMLESS: Final = frozenset({"model", "model_config", "thought_level"})
"""Categories of options that don't affect what an agent may do."""
UNKNOWN_MODE: Final = "_acp-tui.check"
"""A mode of a system prompt that no agent knows."""
UNKNOWN_LIMIT_S: Final = 10.0
"""Rejecting an unknown method takes no work."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    prompt: str = PROMPT
    long_prompt: str = LONG_PROMPT
    """For the turn to be cancelled."""
    limit_s: float = 120.0
    """For each step."""


def _values_to_set(option: ConfigOption) -> tuple[str | bool, ...]:
    """The values to set: the current one; for a harmless option, another one first.

    A mode or an unknown option may let the agent do more than the user wants.
    """
    if isinstance(option, BooleanOption):
        return (option.value,)
    others = [choice.value for choice in option.choices if choice.value != option.value]
    if option.category in HARMLESS and others:
        return others[0], option.value
    return (option.value,) if any(choice.value == option.value for choice in option.choices) else ()


KEPT_FRAME_BYTES: Final = 2000
KEPT_FRAMES: Final = 100_000
KEPT_LAST_WORDS: Final = 15
KEPT_BREACHES: Final = 100
"""The maximum number of findings per rule."""


@dataclass(slots=True)
class CheckReport:
    """The result, filled in during the check."""

    identity: AgentIdentity | None = None
    """None: the agent didn't identify itself."""
    findings: list[conformance.Finding] = field(default_factory=list)
    """In the order found, limited per rule."""
    times: Counter[str] = field(default_factory=Counter)
    """How often each rule was broken, by its ID."""
    frames: list[conformance.Frame] = field(default_factory=list)
    """The beginning of each frame, up to a maximum number."""
    looked_at: frozenset[str] = frozenset()
    """The IDs of the rules that could be checked."""
    left_out: list[str] = field(default_factory=list)
    failure: ClientError | None = None
    """Why the check ended early; None: it didn't."""
    sandbox: str = ""
    """The sandbox it ran in, and what enforces that; "" for none."""
    last_words: tuple[str, ...] = ()
    """If it ended early: the last lines on stderr, and lines on stdout that weren't messages."""

    def keep(self, frame: conformance.Frame) -> None:
        if len(self.frames) < KEPT_FRAMES:
            self.frames.append(conformance.Frame(frame.direction, frame.at_s, frame.raw[:KEPT_FRAME_BYTES]))

    def add(self, findings: tuple[conformance.Finding, ...]) -> None:
        """Count findings, and store the first ones of each rule."""
        for finding in findings:
            self.times[finding.rule.rule_id] += 1
            if self.times[finding.rule.rule_id] <= KEPT_BREACHES:
                self.findings.append(finding)

    def breaches(self, severity: conformance.Severity) -> Iterator[tuple[conformance.Rule, list[conformance.Finding]]]:
        """The broken rules of one severity, in the order of the table, each with its findings."""
        for rule in conformance.RULES.values():
            found = [finding for finding in self.findings if finding.rule is rule]
            if found and rule.severity is severity:
                yield rule, found

    @property
    def not_looked_at(self) -> tuple[conformance.Rule, ...]:
        return tuple(rule for rule in conformance.RULES.values() if rule.rule_id not in self.looked_at)

    @property
    def has_errors(self) -> bool:
        return any(finding.rule.severity is conformance.Severity.ERROR for finding in self.findings)


OFFER: Final = ClientOffer(elicitation_form=True, elicitation_url=True)
"""As much as possible without a user: an agent shows more to a client with more capabilities."""
POLICY: Final = Policy(write=Grant.ASK, terminals=Grant.ASK)
"""Writes and commands are asked about, and so refused."""
NOTES: Final = "Notes on keeping bees: feed them in autumn, leave them alone in winter.\n"
_STATUS: Final = re.compile(r"exited with code (\d+)")


class Examination:
    def __init__(
        self,
        command: AgentCommand,
        plan: CheckPlan,
        record: RecordTo | None = None,
        on_step: Callable[[str], None] = lambda _: None,
        sandboxes: Sandboxes | None = None,
    ) -> None:
        """`on_step` is called with each step, which may contain text from the agent. `sandboxes` are the user's."""
        self.report = CheckReport()
        """The findings so far, even if the run is cancelled."""
        self._on_step = on_step
        self._command = command
        self._plan = plan
        self._record = record
        self._policy = replace(POLICY, sandboxes=sandboxes or Sandboxes())
        self._linter = conformance.Linter()
        self._hops = [(hop.name, conformance.Linter()) for hop in (*command.proxy_commands, command)]
        self._frame_came = anyio.Event()
        """Set by the agent's next frame."""
        self._agent: Agent
        self._workspace: Path
        self._refusing: Refusing

    async def run(self) -> CheckReport:
        """Run the whole check. Takes at most the limits of its steps, and raises no errors caused by the agent."""
        folder = await to_thread.run_sync(_make_folder)
        try:
            await self._run_in(Path(folder.name).resolve())
        except ClientError as error:
            self.report.failure = error
        finally:
            of_hops = frozenset[str]().union(*(linter.looked_at for _, linter in self._hops))
            self.report.looked_at = self._linter.looked_at | {
                each for each in of_hops if each.startswith(conformance.OF_HOPS)
            }
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(folder.cleanup)
        return self.report

    async def _run_in(self, folder: Path) -> None:
        record, workspace = self._record, folder / "workspace"
        recordings = None if record is None else RecordingPlan(workspace, file=record.file, is_file_raw=record.is_raw)
        async with open_hub() as hub:
            agent = await hub.start_agent(
                self._command,
                cwd=workspace,
                offer=OFFER,
                policy=self._policy,
                tap=self._see,
                hop_tap=self._see_hop,
                recordings=recordings,
            )
            self.report.sandbox = agent.sandbox.named if agent.sandbox is not None else ""
            is_done = False
            try:
                await self._talk(agent, workspace)
                is_done = True
            finally:
                with anyio.CancelScope(shield=True):
                    # After an aborted run, the exit says nothing about the agent.
                    await (self._end(agent) if is_done else agent.stop())

    async def _talk(self, agent: Agent, workspace: Path) -> None:
        async with anyio.create_task_group() as tasks:
            self._agent, self._workspace, self._refusing = agent, workspace, Refusing(tasks)
            self._refusing.attend_agent(agent)
            try:
                await self._take_steps()
            except ClientError as error:
                self.report.failure = error
            finally:
                self.report.identity = agent.identity
            tasks.cancel_scope.cancel()

    def _see(self, direction: Direction, raw: bytes) -> None:
        frame = conformance.Frame(direction, time.monotonic(), raw)
        self.report.keep(frame)
        self.report.add(self._linter.feed(frame))
        if direction is Direction.IN:
            self._frame_came.set()
            self._frame_came = anyio.Event()

    def _see_hop(self, position: int, direction: Direction, raw: bytes) -> None:
        """Check what a proxy says, or the agent behind it, for what the client doesn't see of it."""
        name, linter = self._hops[position]
        found = linter.feed(conformance.Frame(direction, time.monotonic(), raw))
        self.report.add(
            tuple(
                conformance.Finding(
                    finding.rule, f"{name}: {finding.text}", ()
                )  # its frames aren't those of the report
                for finding in found
                if finding.rule.rule_id.startswith(conformance.OF_HOPS)
            )
        )

    async def _end(self, agent: Agent) -> None:
        lost, begin = agent.lost, time.monotonic()
        await agent.stop()
        is_slow = time.monotonic() - begin >= CLOSE_GRACE_S
        if self.report.failure is not None:
            self.report.last_words = tuple(agent.log)[-KEPT_LAST_WORDS:]
        if lost is not None and not isinstance(lost, UnsupportedProtocol):
            self.report.add(self._linter.died(str(lost)))  # so its missing responses don't count
            return
        self.report.add(self._linter.finish())
        if lost is None:
            status = _STATUS.search(agent.how_it_ended)
            found = self._linter.ended(
                exit_code=int(status[1]) if status else None, waited_s=CLOSE_GRACE_S, had_to_be_terminated=is_slow
            )
            self.report.add(found)

    async def _take_steps(self) -> None:
        """Take all steps. Raises ClientError if none can follow: the agent has exited or requires a login."""
        await self._required("initialize", self._agent.initialize())
        session = await self._required("session/new", self._agent.new_session(self._workspace))
        self._refusing.attend(session)
        await self._settle()
        await self._try_system_prompts()
        await self._set_options(session)
        if await self._prompt(session, self._plan.prompt, self._plan.limit_s):
            self.report.left_out.append(f"the turn was canceled after {self._plan.limit_s:g} s")
        if not await self._prompt(session, self._plan.long_prompt, CANCEL_AFTER_S, cancels_early=True):
            self.report.left_out.append("no turn was canceled on purpose: it was already over")
        await self._reopen(session)
        if self._agent.capabilities.providers:
            await self._step("providers/list", self._agent.list_providers())
        if self._agent.protocol_version == 2:
            await self._give_unknown_server()
        await self._ask_unknown()
        await self._end_session(session)

    # Steps

    async def _required(self, what: str, call: Awaitable[T]) -> T:
        self._on_step(what)
        with anyio.move_on_after(self._plan.limit_s):
            return await call
        raise AgentLost(f"{self._agent.title} didn't answer {what} within {self._plan.limit_s:g} s")

    async def _step(self, what: str, call: Awaitable[T]) -> T | None:
        """Run a step; return None if it fails or takes too long."""
        with anyio.move_on_after(self._plan.limit_s):
            return await self._try(what, call)
        self.report.left_out.append(f"{what} took longer than {self._plan.limit_s:g} s")
        return None

    async def _try(self, what: str, call: Awaitable[T]) -> T | None:
        """Run a step; return None if it fails. The rules judge the frames."""
        self._on_step(what)
        try:
            return await call
        except (AgentLost, AuthenticationRequired):
            raise
        except ClientError as error:
            self.report.left_out.append(f"{what} failed: {error}")
            return None

    async def _settle(self) -> None:
        """Wait until the agent is silent."""
        with anyio.move_on_after(QUIET_LIMIT_S):
            while True:
                came = self._frame_came
                with anyio.move_on_after(QUIET_S):
                    await came.wait()
                if not came.is_set():
                    return

    async def _try_system_prompts(self) -> None:
        """Open a session with a system prompt in each mode that the agent advertises, and in one that there isn't."""
        modes = sorted(self._agent.capabilities.system_prompt)
        connection = self._agent.connection
        for mode in (*modes, UNKNOWN_MODE) if modes else ():
            prompt = SystemPrompt("Answer briefly.", mode)  # type: ignore[arg-type] # one that isn't known, too
            self._on_step(f"session/new with a system prompt ({mode})")
            # The rules judge the answer; an agent that is lost is noticed in the next step.
            with suppress(RpcError, MalformedMessage), anyio.move_on_after(self._plan.limit_s):
                place = Workplace(self._workspace, system_prompt=prompt)
                session_id = await connection.new_session(place, lambda session_id, _: session_id)
                if self._agent.capabilities.close_session:
                    await connection.close_session(session_id)

    async def _set_options(self, session: Session) -> None:
        if not session.conversation.options:
            self.report.left_out.append("no mode or option was set: there are none")
        for option in list(session.conversation.options):
            for value in _values_to_set(option):
                await self._step(f"setting {option.name}", session.set_option(option.option_id, value))

    async def _prompt(self, session: Session, text: str, cancel_after_s: float, *, cancels_early: bool = False) -> bool:
        """Run a turn; return True if it was cancelled, at its time limit or when the first frame arrives."""
        heard = self._frame_came if cancels_early else anyio.Event()
        was_cancelled = False
        failure: ClientError | None = None

        async def cancel() -> None:
            nonlocal was_cancelled
            with anyio.move_on_after(cancel_after_s):
                await heard.wait()
            session.cancel()
            was_cancelled = session.conversation.turn is TurnPhase.CANCELLING
            await anyio.sleep(CANCEL_LIMIT_S)
            self.report.left_out.append(f"a canceled turn took longer than {CANCEL_LIMIT_S:g} s")
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel)
            try:
                await self._try("a turn", session.send_prompt([Text(text)]))
            except ClientError as error:
                failure = error  # raised below, because a task group would wrap it in a group
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        await self._settle()
        return was_cancelled

    async def _reopen(self, session: Session) -> None:
        agent, place = self._agent, self._workspace
        can = agent.capabilities
        await self._list()
        await self._ask_statuses(session)
        if can.load_session:
            loaded = await self._step("session/load", agent.load_session(session.session_id, place))
            if loaded is not None:
                self._refusing.attend(loaded)
            await self._settle()
        if can.resume_session:
            await self._step("session/resume", agent.resume_session(session.session_id, place))
            await self._settle()

    async def _ask_statuses(self, session: Session) -> None:
        agent = self._agent
        for session_id in (
            (session.session_id, SessionId(conformance.NOBODYS)) if agent.capabilities.session_status else ()
        ):
            await self._step("session/status", agent.session_status(session_id))
        if agent.capabilities.auth_status:
            await self._step("auth/status", agent.ask_auth_status())

    async def _list(self) -> None:
        """List all pages, of all folders and then of ours."""
        if not self._agent.capabilities.list_sessions:
            return
        for folder in (None, self._workspace):
            page = await self._step("session/list", self._agent.list_sessions(folder))
            for _ in range(MAX_PAGES):
                if page is None or page.next_cursor is None:
                    break
                page = await self._step("session/list", self._agent.list_sessions(folder, page.next_cursor))

    async def _ask_unknown(self) -> None:
        self._on_step("an unknown method")
        self._agent.notify_extension(conformance.PROBE, {})
        limit_s = min(UNKNOWN_LIMIT_S, self._plan.limit_s)
        with suppress(AgentRefused, AuthenticationRequired), anyio.move_on_after(limit_s):
            await self._agent.send_extension(conformance.PROBE, {})

    async def _give_unknown_server(self) -> None:
        """Open a session with an MCP server of an unknown type, which agents of version 2 have to refuse."""
        self._on_step("an unknown kind of MCP server")
        params = {"cwd": str(self._workspace), "mcpServers": [{"type": conformance.PROBED_SERVER, "name": "check"}]}
        peer = self._agent.connection.peer
        with suppress(RequestFailed), anyio.move_on_after(self._plan.limit_s):
            opened: Any = await peer.request("session/new", params)
            if isinstance(opened, dict) and "sessionId" in opened:
                await peer.request("session/close", {"sessionId": opened["sessionId"]})

    async def _end_session(self, session: Session) -> None:
        current = self._agent.sessions.get(session.session_id, session)
        await self._step("session/close", self._agent.close_session(current))
        if self._agent.capabilities.delete_session:
            await self._step("session/delete", self._agent.delete_session(session.session_id))
            await self._list()
        await self._settle()


def _make_folder() -> tempfile.TemporaryDirectory[str]:
    """Create a folder with a workspace for the agent and a file to read."""
    folder = tempfile.TemporaryDirectory(prefix="acp-tui-check-", ignore_cleanup_errors=True)
    workspace = Path(folder.name) / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text(NOTES)
    return folder
