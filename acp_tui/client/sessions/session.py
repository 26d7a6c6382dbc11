"""One session with an agent: its conversation, its prompt, and what the agent may ask of it."""

from __future__ import annotations

import os
import time
from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from anyio import CancelScope, Event, create_task_group, get_cancelled_exc_class, sleep

from acp_tui.client.errors import AgentLost, ClientError, PromptInProgress, SessionClosed, Unsupported
from acp_tui.client.sessions.allowances import Allowances
from acp_tui.client.sessions.client_tools import ClientTools, OwnCommands
from acp_tui.client.sessions.consent import FOR_SESSION, UNATTENDED, Consent, Grant, Policy, Rules
from acp_tui.client.sessions.diff_checks import until_outdated
from acp_tui.client.sessions.elicitations import Elicitations
from acp_tui.client.sessions.prompt_capabilities import fit
from acp_tui.client.sessions.prompt_queue import PromptQueue
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.client.spill import new_conversation
from acp_tui.conversation import QUIET_KINDS, entries, facts, reducer, updates
from acp_tui.conversation.content import ContentBlock, Text
from acp_tui.conversation.conversation import Change, Conversation, SubagentState
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.tool_calls import BlockContent, TerminalId, ToolCall, ToolCallId, ToolCallPatch, changed_paths
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.failures import error_data
from acp_tui.protocol.roles import AgentCapabilities, ElicitationAnswer, Quirks
from acp_tui.rpc import ConnectionLost, ErrorCode, RequestFailed, RpcError
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.agents.mcp_over_acp import LentServer
    from acp_tui.client.sandbox.sandbox import Sandbox
    from acp_tui.client.transcript.recorder import Recorder
    from acp_tui.protocol.connection import Connection

SLOW_COMPARISON_S: Final = 0.2
MAX_REFUSALS: Final = 20
"""Places about which the user is told in one session."""
REFUSAL_BYTES: Final = 1 << 14
"""Of the end of a command's output, where its errors are."""
SILENT: Final = "The agent ended its turn without saying or doing anything."
STILL_COMPARING: Final = "Not compared with the files yet."
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attendance:
    """Who else is attached to a session in a host, as the host says. Its text is untrusted."""

    others: tuple[str, ...] = ()
    """Those who can answer, each in words."""
    watchers: tuple[str, ...] = ()
    """Those who can only watch."""
    is_read_only: bool = False
    """Whether we can only watch."""
    waiting: tuple[str, ...] = ()
    """If we can only watch: the questions that wait for the others, a line each."""


Listener: TypeAlias = Callable[[Change], None]
"""Called on the client's loop after each change. It may only mark what to redraw."""

Unsubscribe: TypeAlias = Callable[[], None]
"""Ends a subscription. Calling it again does nothing."""

Ended: TypeAlias = updates.ToolCallReported | updates.TerminalExited | updates.Disconnected
"""What may say that a sandbox was in its way."""

Explain: TypeAlias = Callable[[RpcError | MalformedMessage], Awaitable[ClientError]]
"""Turns a connection error into one that a user understands."""


@dataclass(eq=False, slots=True)
class _Parked:
    """A permission request, until the agent has its answer."""

    answer: Future[str | None]
    """The ID of the option the user chose; None if cancelled with the turn."""
    is_ours: bool
    """Whether acp-tui itself asks."""
    is_unasked: bool = False
    """Whether it was rejected without asking the user."""
    is_canceled: bool = False
    """Whether the user has cancelled the turn since."""
    shown: ToolCall | None = None
    """The tool call that was allowed, as it was then."""
    seen: Mapping[str, bytes] | None = None
    """The digests of the files that its call was last compared with."""

    @property
    def is_refused(self) -> bool:
        return self.answer.done() and not self.answer.cancelled() and self.answer.result() is None


class Session:
    """A conversation and the ways to act on it.

    Reading is always allowed; `apply` is for the connection and replays.
    """

    now: Callable[[], float | None] = staticmethod(time.time)
    """Seconds since the epoch, for timestamps; None if the time is unknown."""
    cancel_patience_s = 2.0
    """Agents that answer a cancel do so within a second; others, such as gptme, never do."""
    late_patience_s = 0.25
    """After a canceled turn, claude-agent-acp 0.23.1 ends the next one 0.04 s before it asks for permission in it."""
    is_cut_off = False
    """The connection broke. The agent may still be running, and a new connection may reach it."""
    has_missed: bool
    """The connection broke during a turn whose end hasn't been received, so the agent may still be working."""
    why_read_only = ""
    """Why no agent can continue it; "" if one may."""
    recorder: Recorder | None = None
    """Records what isn't in any frame."""
    relay: Callable[[updates.SessionUpdate, Change], None] | None = None
    """Receives each update and its change before the listeners do."""

    def __init__(
        self,
        session_id: facts.SessionId,
        cwd: Path,
        connection: Connection,
        quirks: Quirks,
        explain: Explain,
        *,
        additional_directories: Sequence[Path] = (),
        capabilities: AgentCapabilities | None = None,
        policy: Policy | None = None,
        earlier: Session | None = None,
        conversation: Conversation | None = None,
        keys: Iterator[int] | None = None,
        agent: str = "The agent",
        sandbox: Sandbox | None = None,
        is_boxed: bool = False,
    ) -> None:
        """Create a session.

        From an `earlier` one whose agent is gone, it takes the conversation, the listeners, and the queue.

        With `conversation`, it continues below what was said there. `keys` number its questions; all sessions of an
        agent share them. `agent` is the user's name for the agent, and `sandbox` where it runs. `is_boxed` means
        that it runs in a sandbox, perhaps in one of its host.
        """
        self.session_id = session_id
        self.cwd = cwd
        self.additional_directories = tuple(additional_directories)
        begun = earlier.conversation if earlier is not None else conversation
        self.conversation: Conversation = begun if begun is not None else new_conversation()
        self.queue: PromptQueue = earlier.queue if earlier is not None else PromptQueue()
        """Prompts to send when the turn ends."""
        self.is_closed = False
        self._borrowed: list[LentServer] = []
        """The MCP servers that run here for it."""
        self.attendance: Attendance | None = None
        """Who else is attached; None if no host keeps the session."""
        self.has_missed = earlier is not None and earlier.has_missed
        self.last_mode: facts.SelectOption | None = earlier.last_mode if earlier is not None else None
        """As the agent reported it, or an earlier one if this one hasn't yet."""
        self.start_mode: str | None = None
        """The value it had when the session was open; None if there is none, or the session isn't open yet."""
        self._listeners: dict[object, Listener] = earlier._listeners if earlier is not None else {}
        """By subscription, in the order they subscribed."""
        self.connection = connection
        self._explain = explain
        self._why_silent = quirks.why_silent
        self._capabilities = capabilities or AgentCapabilities()
        self._keys = count(1) if keys is None else keys
        self._parked: dict[facts.RequestKey, _Parked] = {}
        """The permission requests whose answer hasn't been sent."""
        self._first_note = facts.WHY_ACTS_ITSELF if self._capabilities.acts_itself and not is_boxed else ""
        """What the agent's first question says about the agent itself."""
        self._sandbox = sandbox
        self._refused: set[Path] = set()
        """The places about which the user was told that the sandbox refuses them."""
        if sandbox is not None:
            self._first_note = sandbox.unasked_words
        self._turn_over = Event()
        self._failure: updates.TurnFailed | None = None
        """The error the agent reported for the end of the turn."""
        self.questions = Elicitations(self.conversation, self.apply, self._keys, lambda: self.now())
        policy = policy or Policy()
        self._rules = _rules_of(policy, (cwd, *additional_directories))
        self.allowances = Allowances()
        """What the user has allowed the agent. It starts empty, also for a session that continues another."""
        self.allowances.for_session |= dict.fromkeys(policy.unasked, True)
        self._compares = Grant.UNASKED in (policy.write, policy.terminals)
        """Whether it matters what the user allows the agent."""
        consent = Consent(self._ask_for_access, self.apply, self.allowances, agent, self._is_reported)
        self.client_tools = ClientTools(
            cwd,
            additional_directories,
            quirks,
            policy,
            self._rules,
            consent,
            self.apply,
            lambda: self.connection.until_room(),
            sandbox,
        )
        """The files and terminals of this machine that the agent gets."""
        self.commands = OwnCommands(self.client_tools, self.apply)
        """Commands the user runs there."""

    @property
    def is_read_only(self) -> bool:
        return self.attendance is not None and self.attendance.is_read_only

    @property
    def waits_elsewhere(self) -> bool:
        """Whether we watch it while a question waits for others."""
        return self.attendance is not None and bool(self.attendance.waiting)

    def note_attendance(self, attendance: Attendance) -> None:
        """Note who else is attached, and tell the listeners."""
        self.attendance = attendance
        self._tell(Change(facts=(facts.Fact.CONNECTION,)))

    def subscribe(self, listener: Listener) -> Unsubscribe:
        """Call `listener` after each change until the returned function is called.

        Listeners are called in the order they subscribed. If one fails, the others are still called, and its error is
        raised to the caller that made the change. A listener that subscribes during a change isn't called for that
        change.
        """
        subscription = object()
        self._listeners[subscription] = listener

        def unsubscribe() -> None:
            self._listeners.pop(subscription, None)

        return unsubscribe

    def _tell(self, change: Change) -> None:
        failures = []
        for subscription, listener in tuple(self._listeners.items()):
            if subscription in self._listeners:
                try:
                    listener(change)
                except Exception as error:  # noqa: BLE001 - raised after all listeners were called
                    failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise ExceptionGroup("listeners of a session failed", failures)

    def apply(self, update: updates.SessionUpdate) -> None:
        """Change the conversation and call the listeners: for the client's own actions and for the agent's answers."""
        if self.recorder is not None:
            self.recorder.own(self.session_id, update)
        self._change(update)

    def _change(self, update: updates.SessionUpdate) -> None:
        turn = self.conversation.turn
        change = reducer.apply(self.conversation, update)
        if self.conversation.turn is not turn:
            self.allowances.end_turn()
        if isinstance(update, updates.OptionUpdate):
            self.last_mode = facts.mode_of(self.conversation.options) or self.last_mode
        if self.relay is not None:
            self.relay(update, change)
        self._tell(change)
        if self._sandbox is not None and isinstance(update, Ended):
            self._note_refusals(self._sandbox, update)

    def _note_refusals(self, sandbox: Sandbox, ended: Ended) -> None:
        """Say once for each place why the sandbox was in the way of what has ended."""
        cwd = self.cwd
        if isinstance(ended, updates.TerminalExited):
            terminal = self.conversation.terminals.get(ended.terminal_id)
            if terminal is None:
                return
            cwd = Path(terminal.cwd or cwd)
            _, printed = terminal.output.read_from(max(0, terminal.output.end - REFUSAL_BYTES))
            text = printed.decode("utf-8", "replace")
        elif isinstance(ended, updates.Disconnected):
            text = ended.stderr_tail
        else:
            call = self.conversation.tool_call(ended.patch.tool_call_id).call
            if ended.patch.status not in ("completed", "failed"):
                return
            text = "\n".join(_texts_of(call))
        for path, note in (*sandbox.loosened(), *sandbox.refusals(text, cwd)):
            if path not in self._refused and len(self._refused) < MAX_REFUSALS:
                self._refused.add(path)
                self.apply(updates.ClientRemark(note))

    def disconnect(self, reason: str, *, is_fault: bool = True) -> None:
        """Mark the agent as gone. The conversation shows the reason, if there is one."""
        self.apply(updates.Disconnected(reason, is_fault=is_fault))

    def hear(self, update: updates.SessionUpdate) -> None:
        if isinstance(update, updates.StateReported):
            if update.failure is not None:
                update = replace(update, failure=update.failure.heard(self.now()))
            self._failure = update.failure
            self.has_missed = self.has_missed and update.state != "idle"
        self._change(update)

    # What the user does

    async def send_prompt(self, blocks: Sequence[ContentBlock], notes: Sequence[str] = ()) -> None:
        """Run one turn. Returns when it ends; the conversation shows how it ended.

        Content that the agent doesn't accept is sent in the closest form it accepts (R-PROMPT-4), and the message says
        so after `notes`. Raises PromptInProgress, SessionClosed, AgentRefused or AuthenticationRequired if the agent
        answers with an error, and AgentLost if it's gone.
        """
        self._require_open()
        if not self.conversation.is_idle:
            raise PromptInProgress("the agent is still working on the last prompt", hint="wait, or cancel the turn")
        sendable, unlike = fit(blocks, self._capabilities)
        patience_s = self.late_patience_s if self.conversation.last_stop_reason == "cancelled" else 0.0
        self.apply(updates.PromptSent(sendable, (*notes, *unlike), self.connection.accepts_prompts))
        before = _facts_that_answer(self.conversation)
        self._failure = None
        try:
            await self.connection.prompt(self.session_id, sendable, self._prompt_answered)
            await self._until_idle()
        except RpcError as error:
            raise await self._explain(error) from error
        if self.attendance is None and self._was_silent(before):  # a host tells it itself
            turn = self.conversation.turn_start
            if patience_s:
                await sleep(patience_s)
            if turn == self.conversation.turn_start and self._was_silent(before):
                why = self._why_silent if patience_s else ""
                self.apply(updates.ClientRemark(" ".join(filter(None, (SILENT, why)))))

    def _was_silent(self, before: object) -> bool:
        """Whether nothing of the last turn comes from the agent, which changed nothing else either."""
        return before == _facts_that_answer(self.conversation) and _was_silent(self.conversation)

    async def steer(self, blocks: Sequence[ContentBlock], notes: Sequence[str] = ()) -> bool:
        """Send a prompt into the running turn. False if no turn accepted it and it still has to be sent.

        Raises Unsupported, SessionClosed, AgentLost, and AgentRefused if the agent answers with an error.
        """
        self._require_open()
        if not self._capabilities.takes_prompts_at_work:
            raise Unsupported("The agent doesn't accept prompts while it works")
        sendable, unlike = fit(blocks, self._capabilities)
        if not self._capabilities.steering:
            return await self.send_another(sendable, (*notes, *unlike))

        def show() -> None:
            if not self.connection.accepts_prompts:  # otherwise the agent reports it, like every prompt
                self.apply(updates.PromptJoined(sendable, (*notes, *unlike)))

        return await self._ask(self.connection.steer(self.session_id, sendable, show))

    async def send_another(self, sendable: Sequence[ContentBlock], notes: Sequence[str] = ()) -> bool:
        """Send another prompt during the turn; the agent decides when to start it. False if no turn is running.

        If it's cancelled with the turn, its message in the conversation says so.
        """
        if self.conversation.turn is not facts.TurnPhase.RUNNING:
            return False
        self.apply(updates.PromptSent(tuple(sendable), tuple(notes), awaits_id=True))
        await self._ask(self.connection.prompt(self.session_id, sendable, self._prompt_answered))
        return True

    async def _until_idle(self) -> None:
        """Wait for the end of the turn if the agent's answer didn't end it. Raises RpcError if the turn failed."""
        self._turn_over = Event()

        def look(_: Change | None = None) -> None:
            if self.conversation.is_idle:
                self._turn_over.set()

        unsubscribe = self.subscribe(look)
        try:
            look()
            await self._turn_over.wait()
        finally:
            unsubscribe()
        if not self.conversation.is_connected:
            raise ConnectionLost("the agent or its session is gone")
        if self._failure is not None:
            failure, self._failure = self._failure, None
            data = error_data(failure.detail, failure.said)
            raise RequestFailed(failure.code or ErrorCode.INTERNAL_ERROR, failure.message, data)

    def _require_open(self) -> None:
        is_connected = self.conversation.is_connected
        if not is_connected and self.connection.is_lost:
            raise AgentLost("the agent is gone", hint="restart it")
        if self.is_closed or not is_connected:
            raise SessionClosed("the session is closed", hint="open it again, or start a new one")

    def _prompt_answered(self, update: updates.SessionUpdate) -> None:
        if not self.connection.withdraws_questions:
            self._cancel_permissions()
        if isinstance(update, updates.TurnEnded | updates.TurnFailed):
            self.has_missed = False
        if isinstance(update, updates.TurnFailed):
            update = update.heard(self.now())
        elif isinstance(update, updates.PromptRefused) and update.failure is not None:
            update = updates.PromptRefused(update.failure.heard(self.now()))
        self.apply(update)

    def cancel(self) -> None:
        """Ask the agent to stop the turn, and withdraw every open question (R-CANC-1..3, 5, R-ORD-4).

        Without a turn, answer the questions that wait with "cancelled". A host does that, for all who are attached.
        """
        # Another session may be open under the ID of a closed one.
        if self.is_closed or self.conversation.is_cancelling:
            return
        is_idle = self.conversation.is_idle
        if is_idle and not self.connection.offer.is_for_host:
            self._cancel_questions()
            return
        self.connection.cancel(self.session_id)
        if is_idle:
            return
        self.apply(updates.CancelRequested())
        for parked in self._parked.values():
            parked.is_canceled = True
        if not self.connection.withdraws_questions:
            self._cancel_questions()

    async def cancel_tool_call(self, call_id: ToolCallId) -> None:
        """Ask the agent to stop one tool call. The conversation shows when it stopped. Raises Unsupported."""
        self._require_open()
        if call_id not in self.conversation.tool_call_entries:
            raise Unsupported("there is no such tool call")
        call = self.conversation.tool_call(call_id).call
        if call.is_settled or not call.is_cancellable:
            raise Unsupported("the agent can't stop only this tool call")
        await self._ask(self.connection.cancel_tool_call(self.session_id, call_id))

    async def cancel_terminal(self, terminal_id: TerminalId) -> None:
        """Ask the agent to stop the command in one of its terminals. Raises Unsupported."""
        self._require_open()
        terminal = self.conversation.terminals.get(terminal_id)
        if terminal is None or terminal.has_exited or not terminal.is_cancellable:
            raise Unsupported("the agent can't stop only this command")
        await self._ask(self.connection.cancel_terminal(self.session_id, terminal_id))

    def cancel_subagent(self, subagent: SubagentState) -> None:
        """Ask the agent to stop one of its subagents. Raises Unsupported."""
        self._require_open()
        if not subagent.is_cancellable or subagent.conversation.is_idle:
            raise Unsupported("the agent doesn't offer to stop this subagent alone")
        self.connection.cancel(subagent.session_id)

    async def _ask(self, call: Awaitable[T]) -> T:
        """Await a request and turn its errors into client errors."""
        try:
            return await call
        except (RpcError, MalformedMessage) as error:
            raise await self._explain(error) from error

    def answer_permission(self, key: facts.RequestKey, option_id: str) -> None:
        """Pass on the user's choice. This is the only way an agent is ever allowed anything."""
        request = self.conversation.permissions.get(key)
        chosen = [option for option in request.answers if option.option_id == option_id] if request is not None else []
        parked = self._parked.get(key)
        if request is None or parked is None or not chosen:
            return
        if self._compares and not chosen[0].is_rejection:
            parked.shown = replace(self.conversation.tool_call(request.tool_call_id).call)
        self._answer(key, option_id)
        if parked.is_ours and option_id in FOR_SESSION:
            self._answer_the_like(request, option_id)

    def _answer_the_like(self, answered: facts.PermissionRequest, option_id: str) -> None:
        """What the user decided for the session also answers the questions of its kind that wait already."""
        kind = self.conversation.tool_call(answered.tool_call_id).call.kind
        ours = {key for key, parked in self._parked.items() if parked.is_ours}
        for key, request in tuple(self.conversation.permissions.items()):
            is_like = request.options == answered.options and key in ours
            if is_like and self.conversation.tool_call(request.tool_call_id).call.kind == kind:
                self._answer(key, option_id)

    def refuse_unasked(self, key: facts.RequestKey) -> bool:
        """Reject a request once because there's no one to ask. False if the request has no option for that."""
        request, parked = self.conversation.permissions.get(key), self._parked.get(key)
        if request is None or parked is None or request.rejection_once is None:
            return False
        parked.is_unasked = True
        self._answer(key, request.rejection_once.option_id)
        return True

    def _answer(self, key: facts.RequestKey, option_id: str | None, rule: RefusalRule | None = None) -> None:
        parked = self._parked.get(key)
        if parked is not None and not parked.answer.done():
            parked.answer.set_result(option_id)
            self.apply(updates.PermissionAnswered(key, option_id, self.now(), rule.words if rule else None))

    def _cancel_questions(self) -> None:
        self._cancel_permissions()
        self.questions.cancel_all()

    def _cancel_permissions(self) -> None:
        cancelled = [key for key, parked in self._parked.items() if not parked.answer.done()]
        for key in cancelled:
            self._parked[key].answer.set_result(None)
        # The oldest is on the screen. It goes last, so that no other question appears in its place.
        for key in reversed(cancelled):
            self.apply(updates.PermissionAnswered(key, None, self.now()))

    async def rename(self, title: str) -> str:
        """Rename the session, also at the agent if it accepts titles. Returns the resulting title.

        Raises AgentRefused and AgentLost.
        """
        title = " ".join(title.split())
        if self._capabilities.set_title and self.conversation.is_connected and not self.is_closed:
            title = await self._ask(self.connection.set_title(self.session_id, title))
        self.apply(updates.Renamed(title))
        return title

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a mode, a model, or another option of the session.

        Raises Unsupported for an option or value that the agent didn't offer; SessionClosed; AgentRefused; AgentLost.
        """
        self._require_open()
        option = next((option for option in self.conversation.options if option.option_id == option_id), None)
        if isinstance(option, facts.BooleanOption):
            is_offered = isinstance(value, bool)
        else:
            is_offered = option is not None and any(choice.value == value for choice in option.choices)
        if option is None or not is_offered:
            raise Unsupported(f"the session has no option {option_id!r} with the value {value!r}")
        await self._ask(self.connection.set_option(self.session_id, option, value, self.apply))

    # What the agent asks

    def request_permission(self, asked: updates.PermissionAsked) -> Awaitable[str | None]:
        """Park a permission request and show it. Returns the option the user chooses.

        Cancelled immediately if no one can be asked.
        """
        key = self._park()
        request = replace(asked.request, key=key)
        self._change(updates.PermissionAsked(request, asked.patch))
        if self._is_stopping or not request.options:
            self._answer(key, None)
        elif self._first_note:
            note, self._first_note = self._first_note, ""
            self._note(request, note)
            request = self.conversation.permissions[key]
        return self._decision(key, request)

    def _park(self, *, is_ours: bool = False) -> facts.RequestKey:
        key = facts.RequestKey(next(self._keys))
        self._parked[key] = _Parked(get_running_loop().create_future(), is_ours)
        return key

    async def _refuse_by_rule(self, request: facts.PermissionRequest) -> None:
        """Reject the request once if one of the user's rules refuses it. If there's no option for that, add a note."""
        call = self.conversation.tool_call(request.tool_call_id).call
        rule = await self._rules.against_call(call)
        if rule is None and request.command is not None:
            asked = request.command
            rule, _ = await self._rules.against_command(asked.line, (), asked.cwd, ())
        if rule is None:
            return
        rejection = request.rejection_once
        if rejection is not None:
            self._answer(request.key, rejection.option_id, rule)
            return
        note = f"Your rule refuses it ({rule.words}), but the agent has no option to reject it once."
        self._note(request, note)

    async def _follow_files(self, request: facts.PermissionRequest) -> None:
        """While a request waits, note how files differ from what the agent shows, and where parts of files are.

        Both may change at any time.
        """
        call = self.conversation.tool_call(request.tool_call_id).call
        notes: tuple[str, ...] = ()
        while True:
            is_same = partial(_is_still, call, _reported(call))
            async with create_task_group() as waiting:
                # An answer counts after 0.4 s. The card must not look as if nothing were in doubt by then.
                waiting.start_soon(self._note_after, SLOW_COMPARISON_S, request, STILL_COMPARING)
                compared = await self.client_tools.compare(call)
                waiting.cancel_scope.cancel()
            if is_same():
                self._parked[request.key].seen = compared.seen
                self._note(request, *compared.doubts, instead_of=(STILL_COMPARING, *notes))
                notes = compared.doubts
                if {part.item: part for part in compared.parts} != call.places:
                    self.apply(updates.DiffsPlaced(request.tool_call_id, compared.parts))
            await until_outdated(compared, is_same)

    async def _note_after(self, seconds: float, request: facts.PermissionRequest, note: str) -> None:
        await sleep(seconds)
        self._note(request, note)

    def _note(self, request: facts.PermissionRequest, *notes: str, instead_of: Sequence[str] = ()) -> None:
        """Add notes to a request, some of them in place of others. A host's request may come with the same notes."""
        before = self.conversation.permissions.get(request.key, request).note
        lines = [line for line in (before or "").split("\n") if line and line not in instead_of]
        note = "\n".join(dict.fromkeys([*lines, *notes]))
        if note != (before or ""):
            self.apply(updates.PermissionNoted(request.key, note))

    def _is_reported(self, path: Path) -> bool:
        """Whether a tool call of the agent's that isn't over shows what it does with this file, or in this folder."""
        said = self.conversation
        turn = said.entries[said.turn_start or 0 :]
        calls = [one.call for one in turn if isinstance(one, entries.ToolCallEntry)]
        calls = [call for call in calls if not (call.is_settled or call.kind in QUIET_KINDS)]
        if path.is_dir():
            return bool(calls)
        named = {place.path for call in calls for place in call.locations}
        named.update(each for call in calls for each in changed_paths(call.content))
        return str(path) in map(os.path.realpath, named)

    def _ask_for_access(
        self, patch: ToolCallPatch, options: tuple[facts.PermissionOption, ...], why: str
    ) -> Awaitable[str | None]:
        """Ask like a permission request from the agent, but without checking the rules: the caller has done that."""
        key = self._park(is_ours=True)
        request = facts.PermissionRequest(key, patch.tool_call_id, options, note=why, is_ours=True)
        self.apply(updates.PermissionAsked(request, patch))
        if self._is_stopping:
            self._answer(key, None)
        return self._access_decision(key)

    async def _access_decision(self, key: facts.RequestKey) -> str | None:
        parked = self._parked[key]
        answer = await self._decision(key)
        return UNATTENDED if parked.is_unasked else answer

    @property
    def _is_stopping(self) -> bool:
        """Whether the turn was cancelled or the session is closing, so no new question is shown (R-CANC-4).

        An agent that withdraws its questions itself may still ask for work that runs outside the turn.
        """
        is_cancelling = self.conversation.turn is facts.TurnPhase.CANCELLING
        return self.is_closed or (is_cancelling and not self.connection.withdraws_questions)

    async def _decision(self, key: facts.RequestKey, request: facts.PermissionRequest | None = None) -> str | None:
        """The outcome of a request, decided by the user or by a rule.

        A rule takes precedence over any answer. An answer doesn't wait until the files of an agent's `request` are
        checked, because an agent that doesn't read its input can delay that.
        """
        parked = self._parked[key]
        try:
            async with create_task_group() as looking:
                if request is not None:
                    looking.start_soon(self._follow_files, request)
                    await self._refuse_by_rule(request)
                answer = await parked.answer
                looking.cancel_scope.cancel()
            # Before the agent knows the answer, so that it can't lead the paths elsewhere in between.
            if request is not None and (allowed := parked.shown) is not None:
                seen = parked.seen
                if seen is None:  # nobody waited for the comparison
                    seen = (await self.client_tools.compare(allowed)).seen
                await self.allowances.note(allowed, self.client_tools.place_of, seen)
            return answer
        except get_cancelled_exc_class():
            # The agent withdraws requests that cancelling the turn answered while rules or files were being read
            # (R-CANC-3).
            if not parked.is_refused:
                raise
            return None
        finally:
            del self._parked[key]
            # The agent withdrew the request, so the question must not stay on the screen.
            if key in self.conversation.permissions:
                is_by_agent = not self.connection.is_lost
                is_withdrawn = is_by_agent and not parked.is_canceled
                is_passed_on = is_by_agent and self.connection.offer.is_for_host
                self.apply(
                    updates.PermissionAnswered(
                        key, None, self.now(), is_withdrawn=is_withdrawn, is_passed_on=is_passed_on
                    )
                )

    def elicit(self, elicitation: Elicitation) -> Awaitable[ElicitationAnswer]:
        """Park a question and show it. Returns the user's answer; cancelled immediately if no one can be asked."""
        return self.questions.ask(elicitation, is_cancelled=self._is_stopping)

    # Directories and closing

    def move(self, cwd: Path, additional_directories: Sequence[Path]) -> None:
        self.cwd, self.additional_directories = cwd, tuple(additional_directories)
        self.client_tools.move(cwd, additional_directories)
        self.allowances.end_turn()

    def cut_off(self) -> str:
        """Note that the connection broke. Returns what that means for the user, in sentences."""
        self.is_cut_off = True
        self.has_missed = self.has_missed or not self.conversation.is_idle
        lost = ["You won't see what the agent does until you are connected again."] if self.has_missed else []
        if self.conversation.is_asking:
            lost.append("Its question was withdrawn; it may ask again.")
        return " ".join(lost)

    def close(self) -> None:
        """Withdraw every open question and accept no more prompts (R-SESS-7)."""
        self.is_closed = True
        self._turn_over.set()
        self.client_tools.close()
        self._cancel_questions()

    async def aclose(self) -> None:
        """Close the session and end its terminals and MCP servers on the user's machine."""
        self.close()
        await self.client_tools.aclose()
        await end_servers(self.borrow([]))

    def borrow(self, servers: list[LentServer]) -> list[LentServer]:
        """Use these MCP servers, which run here, until the session ends. Returns those it had before."""
        before, self._borrowed = self._borrowed, servers
        for server in servers:
            server.tell(lambda note: self.apply(updates.ClientRemark(note)))
        return before


async def end_servers(servers: Iterable[LentServer]) -> None:
    """End MCP servers that run here, all at the same time: each may take its seconds."""
    with CancelScope(shield=True):
        async with create_task_group() as ending:
            for server in servers:
                ending.start_soon(server.end)


Attend: TypeAlias = Callable[[Session], object]
"""Called with a session that is being opened, before the agent says anything in it."""


def _rules_of(policy: Policy, roots: Sequence[Path]) -> Rules:
    if not policy.refuse:
        return Rules(roots)
    from acp_tui.client.sessions.apply_rules import StandingRules  # its lists of programs take long to load

    return StandingRules(policy.refuse, roots)


def _reported(call: ToolCall) -> tuple[object, ...]:
    """What of a call is compared with files. Reports replace it, and never change it in place."""
    return call.content, call.raw_input, call.locations, call.kind


def _is_still(call: ToolCall, reported: tuple[object, ...]) -> bool:
    return all(map(is_, reported, _reported(call)))


def _texts_of(call: ToolCall) -> Iterator[str]:
    for item in call.content:
        if isinstance(item, BlockContent) and isinstance(item.block, Text):
            yield item.block.text
    if isinstance(call.raw_output, str):
        yield call.raw_output
    elif isinstance(call.raw_output, dict):
        yield from (value for value in call.raw_output.values() if isinstance(value, str))


def _facts_that_answer(said: Conversation) -> object:
    """What an agent may change instead of saying something: in answer to a slash command, for example."""
    return said.notice_count, said.commands, said.options, dict(said.plans), said.background, tuple(said.elicitations)


def _was_silent(said: Conversation) -> bool:
    """Whether the last turn ended like one that is done, but has nothing in it that comes from the agent."""
    of_turn = map(said.entries.__getitem__, range(said.turn_start or 0, len(said.entries)))
    return said.last_stop_reason == "end_turn" and all(
        isinstance(entry, updates.ClientRemark | entries.OwnCommand)
        or (isinstance(entry, entries.Message) and entry.role == "user")
        for entry in of_turn
    )
