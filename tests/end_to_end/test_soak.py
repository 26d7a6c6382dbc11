"""A host at night: nobody watches for long, agents go on in ten sessions, and the host needs no more memory for that.

`ACP_TUI_SOAK` is the number of updates, and `ACP_TUI_SOAK_S` how many seconds they take.
"""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.hosting.finding import attached, sessions_at
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import SessionId
from support.agents import REPLY, agent_texts, scripted_argv, until
from support.hosts import a_user, process_of
from support.waiting import LIMIT_S

pytest.importorskip("websockets", reason="hosts need the extra `remote`")
pytestmark = pytest.mark.anyio

UPDATES = int(os.environ.get("ACP_TUI_SOAK", "6000"))
PACE_S = float(os.environ.get("ACP_TUI_SOAK_S", "0")) / UPDATES
SESSIONS = 10
CLIENTS = 3
VISITS = 200
MAX_LEFT_BYTES = 10_000
"""What a client may leave; what it needs while it is attached is three times that."""
MAX_GROWTH = 1.1
"""From a tenth of the way on. The text of all of it is kept."""
# Every tenth update of a session begins a tool call, and another tenth a message.
WORKS = f"""
    import os
    from time import sleep
    handshake()
    for number in range({SESSIONS}):
        answer(expect("session/new"), sessionId=f"s{{number}}")
    prompt = expect("session/prompt")
    file = os.open("said", os.O_WRONLY | os.O_CREAT)
    for number in range({UPDATES}):
        session, step = f"s{{number % {SESSIONS}}}", number // {SESSIONS}
        if step % 10 == 0:
            update("tool_call", session, toolCallId=str(step), title=f"Step {{step}}", status="in_progress")
        elif step % 10 < 4:
            text = {{"type": "text", "text": f"line of the output {{number}}\\n" * 20}}
            update("tool_call_update", session, toolCallId=str(step - step % 10), status="completed",
                   content=[{{"type": "content", "content": text}}])
        else:
            update("agent_message_chunk", session, content={{"type": "text", "text": f"{{step}} "}})
        os.pwrite(file, b"%08d" % number, 0)
        sleep({PACE_S})
    end(prompt)
    serve_until_closed()
"""


async def test_a_night_of_work_leaves_a_hosts_memory_flat_and_nothing_out() -> None:
    with a_user() as user:
        place = user.host("--", *scripted_argv(WORKS))
        process = process_of(place)
        await _begin(place.command, user.home)
        sizes: list[int] = []
        async with anyio.create_task_group() as visits:
            for number in range(CLIENTS):
                visits.start_soon(_visit, place.command, random.Random(number))
            for tenth in range(1, 11):
                await _said(user.home, UPDATES * tenth // 10 - 1)
                sizes.append(process.memory_info().rss)
            visits.cancel_scope.cancel()
        assert max(sizes[1:]) <= sizes[0] * MAX_GROWTH, sizes
        async with open_hub() as hub:
            agent = await _attached(hub, place.command)
            for number in range(SESSIONS):
                session = await agent.load_session(SessionId(f"s{number}"), Path("/"))
                steps = range(UPDATES // SESSIONS)
                await until(session, partial(_has_said, session, steps[-1]))
                said = "".join(agent_texts(session)).split()
                assert said == [str(step) for step in steps if step % 10 >= 4]
                calls = [entry.call for entry in session.conversation.entries if isinstance(entry, ToolCallEntry)]
                assert [call.title for call in calls] == [f"Step {step}" for step in steps if step % 10 == 0]
        assert place.log.read_text() == ""


async def test_clients_that_come_and_go_leave_nothing_in_a_hosts_memory() -> None:
    with a_user() as user:
        place = user.host("--", *scripted_argv("handshake(); answer(read(), sessionId='s1'); serve_until_closed()"))
        process = process_of(place)
        sizes = []
        for _ in range(2):
            for _ in range(VISITS):
                assert await sessions_at(place.command) != []
            sizes.append(process.memory_info().rss)
        assert sizes[1] - sizes[0] < VISITS * MAX_LEFT_BYTES


async def _attached(hub: SessionHub, command: AgentCommand) -> Agent:
    agent = await attached(hub, command)
    await agent.initialize(LIMIT_S)
    return agent


async def _begin(command: AgentCommand, home: Path) -> None:
    """Open the other sessions, have the agent work, and leave."""
    async with open_hub() as hub, anyio.create_task_group() as tasks:
        agent = await _attached(hub, command)
        for _ in range(SESSIONS - 1):
            await agent.new_session(home)
        first = await agent.load_session(SessionId("s0"), home)
        tasks.start_soon(first.send_prompt, REPLY)
        await until(first, lambda: len(first.conversation.entries) > 1)
        tasks.cancel_scope.cancel()


async def _visit(command: AgentCommand, chance: random.Random) -> None:
    """Attach, see some sessions, stay until one of them says more, and leave; again and again."""
    while True:
        async with open_hub() as hub:
            agent = await _attached(hub, command)
            names = chance.sample(range(SESSIONS), chance.randint(1, 3))
            seen = [await agent.load_session(SessionId(f"s{number}"), Path("/")) for number in names]
            heard = len(seen[-1].conversation.entries)
            with anyio.move_on_after(1):
                await until(seen[-1], partial(_has_more, seen[-1], heard))


def _has_said(session: Session, step: int) -> bool:
    return agent_texts(session)[-1].endswith(f" {step} ")


def _has_more(session: Session, heard: int) -> bool:
    return len(session.conversation.entries) > heard


async def _said(home: Path, number: int) -> None:
    file, limit = home / "said", anyio.current_time() + LIMIT_S + UPDATES * PACE_S
    while int(file.read_text()) < number:
        assert anyio.current_time() < limit
        await anyio.sleep(0.05)
