"""Wherever a connection breaks, in a message, a permission, or a replay, nothing the agent said is lost.

ACP_TUI_CUTS=1000 cuts that often; by default, a few times.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from acp_tui.cli.terminal import Headless
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentUnreachable
from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver, until_connected
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.facts import Fact
from support.reconnecting import Remembered, RememberingAgent, cut_often
from support.waiting import TEST_LIMIT_S, until

CUTS = int(os.environ.get("ACP_TUI_CUTS", "60"))
CUTS_OF_A_SESSION = {"ws": 6, "http": 18}
"""At most this many TCP connections break; over HTTP, each connection to the agent needs three or more."""
TURNS = 3
RESUME = {"sessionCapabilities": {"resume": {}}}


class User:
    """Prompts, allows what is asked, and continues where the connection broke."""

    def __init__(self, hub: SessionHub, command: AgentCommand, cwd: Path, agent: RememberingAgent) -> None:
        self._agent = agent
        self._hub = hub
        self._command = command
        self._link = FrontEndLink()
        self._driver = SessionDriver(self._link, Headless(pytest.fail).log_in, cwd)
        self.session: Session

    async def begin(self) -> None:
        async def begin() -> Session:
            await self._connect()
            return await self._driver.begin()

        self._use(await until_connected(begin, _at_once))

    async def _connect(self) -> None:
        self._link.agent = None
        agent = await self._hub.start_agent(self._command)
        await agent.initialize()
        self._link.agent = agent

    def _use(self, session: Session) -> None:
        self.session = session
        session.subscribe(self._look)
        self._answer()

    def _look(self, change: Change) -> None:
        if Fact.PERMISSIONS in change.facts:
            self._answer()

    def _answer(self) -> None:
        for key in list(self.session.conversation.permissions):
            self.session.answer_permission(key, "yes")

    async def _go_on(self) -> Session:
        await self._connect()
        return await self._driver.go_on(self.session, lambda error: pytest.fail(str(error)), lambda _: None)

    async def prompt(self, text: str, remembered: Remembered) -> None:
        """Take a turn; return once everything the agent said in it has arrived."""
        waiting: str | None = text
        while waiting is not None:
            with suppress(AgentLost):
                await self.session.send_prompt([Text(waiting)])
            waiting = None
            while not self._has_heard(remembered):
                await until(
                    lambda: self._has_heard(remembered) or not self.session.conversation.is_connected,
                    partial(anyio.sleep, 0),
                    lambda: f"{heard(self.session)[-3:]}\n{remembered.said()[-3:]}\n{self._standing(remembered)}",
                )
                if not self.session.conversation.is_connected:
                    self._use(await until_connected(self._go_on, _at_once))
                    self.session.queue.go_on()
                    queued = self.session.queue.next()
                    waiting = queued.text if queued is not None else None
                    if waiting is not None:  # a patient user: late messages may still arrive
                        await until(lambda: self._agent.connections <= 1, partial(anyio.sleep, 0))
                        waiting = None if ("user", text) in remembered.said() else waiting

    def _standing(self, remembered: Remembered) -> str:
        conversation = self.session.conversation
        entries = [type(entry).__name__ for entry in conversation.entries]
        return f"{remembered.is_working=} {conversation.turn} {conversation.permissions} {entries}"

    def _has_heard(self, remembered: Remembered) -> bool:
        return (
            self.session.conversation.is_connected
            and not remembered.is_working
            and heard(self.session) == remembered.said()
        )


async def _at_once(_: float) -> None:
    await anyio.sleep(0)


def heard(session: Session) -> list[tuple[str, ...]]:
    """Who said what, and each call's outcome, as the user sees it."""
    seen: list[tuple[str, ...]] = []
    for entry in session.conversation.entries:
        match entry:
            case Message():
                text = entry.text
                if seen and seen[-1][0] == entry.role:
                    text = seen.pop()[1] + text
                seen.append((entry.role, text))
            case ToolCallEntry():
                seen.append(("call", entry.call.tool_call_id, entry.call.status))
    return seen


@pytest.mark.parametrize("capabilities", [{"loadSession": True}, {"loadSession": True, **RESUME}])
@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_nothing_is_lost_or_said_twice_wherever_the_connection_breaks(
    scheme: str, capabilities: dict[str, Any], tmp_path: Path
):
    random, cuts, seed = Random(18), 0, 0
    with anyio.fail_after(max(TEST_LIMIT_S, CUTS)):
        while cuts < CUTS:
            seed += 1
            cuts += await _live_through_cuts(random, seed, scheme, capabilities, tmp_path)


async def _live_through_cuts(random: Random, seed: int, scheme: str, capabilities: dict[str, Any], cwd: Path) -> int:
    """A session of a few turns; returns how often it was cut."""
    left = CUTS_OF_A_SESSION[scheme]

    def bytes_until_cut() -> int | None:
        nonlocal left
        left -= 1
        return random.randrange(1, random.choice((600, 3_000, 12_000))) if left >= 0 else None

    async with anyio.create_task_group() as tasks, open_hub() as hub:
        agent = RememberingAgent(tasks, seed, **capabilities)
        async with cut_often(agent, bytes_until_cut, scheme) as (command, proxy):
            user = User(hub, command, cwd, agent)
            await user.begin()
            remembered = agent.sessions[user.session.session_id]
            for turn in range(TURNS):
                await user.prompt(f"prompt {turn}", remembered)
            assert heard(user.session) == remembered.said()
            prompts = "".join(text for role, text, *_ in remembered.said() if role == "user")
            assert prompts == "".join(f"prompt {turn}" for turn in range(TURNS))
            decided = [call_id for call_id, _ in remembered.answers]
            assert decided == [call[1] for call in remembered.said() if call[0] == "call"]
            await hub.aclose()
        tasks.cancel_scope.cancel()
    return proxy.cuts


async def test_trying_again_ends_where_it_is_in_vain():
    attempts: list[int] = []

    async def go_on() -> None:
        attempts.append(1)
        raise AgentUnreachable("nobody", is_temporary=len(attempts) < 4)

    with pytest.raises(AgentUnreachable):
        await until_connected(go_on, _at_once)
    assert len(attempts) == 4
