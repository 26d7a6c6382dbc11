"""The steps that exercise an agent. Nothing it asks is allowed, and only a model option is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import anyio

from acp_tui.client.errors import AgentLost, AgentRefused, AuthenticationRequired, ClientError
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.driver import Refusing
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import BooleanOption, ConfigOption, Turn
from acp_tui.protocol.conformance import PROBE
from acp_tui.values import dataclass

T = TypeVar("T")

PROMPT: Final = "Say in one sentence what the file notes.txt in this folder is about."
LONG_PROMPT: Final = "Write a LONG story of at least 2,000 words about a lighthouse. Use no tools."
MOST_PAGES: Final = 100
QUIET_S: Final = 0.3
"""So long nothing comes from an agent that has said all."""
QUIET_LIMIT_S: Final = 3.0
CANCEL_AFTER_S: Final = 3.0
"""The turn that is to be cancelled is so when something was heard of it, or then."""
CANCEL_LIMIT_S: Final = 10.0
"""How long a cancelled turn may take to end."""
HARMLESS: Final = frozenset({"model", "model_config", "thought_level"})
"""Categories of options that change nothing of what an agent may do."""
UNKNOWN_LIMIT_S: Final = 10.0
"""To say that a method is not known takes no work."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user wants of a check."""

    prompt: str = PROMPT
    long_prompt: str = LONG_PROMPT
    """For the turn that is cancelled."""
    limit_s: float = 120.0
    """For each step."""


class Procedure:
    """One run with one agent that has been started."""

    def __init__(
        self,
        agent: Agent,
        workspace: Path,
        plan: Plan,
        refusing: Refusing,
        frame_came: Callable[[], anyio.Event],
        on_step: Callable[[str], None],
    ) -> None:
        """`frame_came` gives what is set by the agent's next frame, `on_step` is told what is done now."""
        self.left_out: list[str] = []
        """What was not done, and why."""
        self._agent = agent
        self._workspace = workspace
        self._plan = plan
        self._refusing = refusing
        self._frame_came = frame_came
        self._on_step = on_step

    async def run(self) -> None:
        """All steps. Raises ClientError where none can follow: the agent is gone, or wants a login."""
        await self._required("initialize", self._agent.initialize())
        session = await self._required("session/new", self._agent.new_session(self._workspace))
        self._refusing.attend(session)
        await self._settle()
        await self._set_options(session)
        await self._take_turn(session)
        await self._cancel_turn(session)
        await self._reopen(session)
        await self._ask_unknown()
        await self._end_session(session)

    # Steps

    async def _required(self, what: str, call: Awaitable[T]) -> T:
        self._on_step(what)
        with anyio.move_on_after(self._plan.limit_s):
            return await call
        raise AgentLost(f"{self._agent.title} has not answered {what} within {self._plan.limit_s:g} s")

    async def _step(self, what: str, call: Awaitable[T]) -> T | None:
        """None where it failed, or took too long."""
        with anyio.move_on_after(self._plan.limit_s):
            return await self._try(what, call)
        self.left_out.append(f"{what} was given up after {self._plan.limit_s:g} s")
        return None

    async def _try(self, what: str, call: Awaitable[T]) -> T | None:
        """None where it failed: the frames show it, and the rules say what is wrong with it."""
        self._on_step(what)
        try:
            return await call
        except (AgentLost, AuthenticationRequired):
            raise
        except ClientError as error:
            self.left_out.append(f"{what} failed: {error}")
            return None

    async def _settle(self) -> None:
        """Let the agent finish what it has to say."""
        with anyio.move_on_after(QUIET_LIMIT_S):
            while True:
                came = self._frame_came()
                with anyio.move_on_after(QUIET_S):
                    await came.wait()
                if not came.is_set():
                    return

    async def _set_options(self, session: Session) -> None:
        if not session.conversation.options:
            self.left_out.append("no mode and no option was set: there are none")
        for option in list(session.conversation.options):
            for value in _values_to_set(option):
                await self._step(f"setting {option.name}", session.set_option(option.option_id, value))

    async def _take_turn(self, session: Session) -> None:
        if await self._prompt(session, self._plan.prompt, self._plan.limit_s):
            self.left_out.append(f"the turn was cancelled after {self._plan.limit_s:g} s")

    async def _cancel_turn(self, session: Session) -> None:
        if not await self._prompt(session, self._plan.long_prompt, CANCEL_AFTER_S, cancels_early=True):
            self.left_out.append("no turn was cancelled on purpose: it was over before")

    async def _prompt(
        self, session: Session, text: str, cancel_after_s: float, *, cancels_early: bool = False
    ) -> bool:
        """Take a turn; True where it was cancelled on the way: when its time is up, or when something is heard."""
        heard = self._frame_came() if cancels_early else anyio.Event()
        was_cancelled = False
        failure: ClientError | None = None

        async def cancel() -> None:
            nonlocal was_cancelled
            with anyio.move_on_after(cancel_after_s):
                await heard.wait()
            session.cancel()
            was_cancelled = session.conversation.turn is Turn.CANCELLING
            await anyio.sleep(CANCEL_LIMIT_S)
            self.left_out.append(f"a cancelled turn was given up after {CANCEL_LIMIT_S:g} s")
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel)
            try:
                await self._try("a turn", session.send_prompt([Text(text)]))
            except ClientError as error:
                failure = error  # raised below: a task group would wrap it in a group
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        await self._settle()
        return was_cancelled

    async def _reopen(self, session: Session) -> None:
        agent, place = self._agent, self._workspace
        can = agent.capabilities
        await self._list()
        if can.load_session:
            loaded = await self._step("session/load", agent.load_session(session.session_id, place))
            if loaded is not None:
                self._refusing.attend(loaded)
            await self._settle()
        if can.resume_session:
            await self._step("session/resume", agent.resume_session(session.session_id, place))
            await self._settle()

    async def _list(self) -> None:
        """All pages, of all folders and then of ours."""
        if not self._agent.capabilities.list_sessions:
            return
        for folder in (None, self._workspace):
            page = await self._step("session/list", self._agent.list_sessions(folder))
            for _ in range(MOST_PAGES):
                if page is None or page.next_cursor is None:
                    break
                page = await self._step("session/list", self._agent.list_sessions(folder, page.next_cursor))

    async def _ask_unknown(self) -> None:
        self._on_step("an unknown method")
        self._agent.notify_extension(PROBE, {})
        limit_s = min(UNKNOWN_LIMIT_S, self._plan.limit_s)
        with suppress(AgentRefused, AuthenticationRequired), anyio.move_on_after(limit_s):
            await self._agent.send_extension(PROBE, {})

    async def _end_session(self, session: Session) -> None:
        current = self._agent.sessions.get(session.session_id, session)
        await self._step("session/close", self._agent.close_session(current))
        if self._agent.capabilities.delete_session:
            await self._step("session/delete", self._agent.delete_session(session.session_id))
            await self._list()
        await self._settle()


def _values_to_set(option: ConfigOption) -> tuple[str | bool, ...]:
    """The value that it has; for what is harmless another one before.

    A mode, or an option of which the meaning is not known, may let the agent do more than the user wants.
    """
    if isinstance(option, BooleanOption):
        return (option.value,)
    others = [choice.value for choice in option.choices if choice.value != option.value]
    if option.category in HARMLESS and others:
        return others[0], option.value
    return (option.value,) if any(choice.value == option.value for choice in option.choices) else ()
