"""Measures what hosts cost in CPU time: to attach to a long session, and to have one between an agent and its client.

    python tests/benchmarks/hosting.py [ENTRIES]    attach
    python tests/benchmarks/hosting.py between      the start and each message, in loops (see README.md)

The host is a process with a scripted agent; times are of the processes (user and system), so a busy machine changes
little. The second shows why a screen's agent isn't in another process from the start: the process that has it becomes
the host (`cli/leaving.py`), which costs a fork.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))

from goals import loop_s

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.hosting.finding import attached
from acp_tui.client.sessions.consent import INTERACTIVE
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import recording_plan
from acp_tui.conversation.facts import SessionId
from support.agents import REPLY, scripted_argv
from support.hosts import User, a_user, process_of

LONG = """
    handshake()
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    for number in range({entries} // 2):
        say(f"## Step {{number}}\\n\\nSome words on what is done here, with `code` and more.\\n" * 3)
        update("tool_call", toolCallId=str(number), title=f"Edit file {{number}}", status="completed",
               content=[{{"type": "diff", "path": "/w/f.py", "oldText": "a\\n" * 20, "newText": "b\\n" * 20}}])
    end(prompt)
    read()
"""
ROUNDS = 5
CHUNKS: Final = 50_000
STREAM: Final = f"""
    prompt = open_session()
    text = {{"type": "text", "text": "a few words "}}
    update = {{"sessionUpdate": "agent_message_chunk", "content": text}}
    params = {{"sessionId": "s1", "update": update}}
    line = json.dumps({{"jsonrpc": "2.0", "method": "session/update", "params": params}})
    for _ in range({CHUNKS}):
        sys.stdout.write(line + "\\n")
    end(prompt)
    read()
"""


async def main(entries: int) -> None:
    """Print the figures."""
    with a_user() as user:
        place = user.host("--", *scripted_argv(LONG.format(entries=entries)))
        process = process_of(place)
        async with open_hub() as hub:
            first = await attached(hub, place.command)
            await first.initialize()
            session = await first.load_session(SessionId("s1"), user.home)
            await session.send_prompt(REPLY)
            print(f"{len(session.conversation.entries)} entries; host: {process.memory_info().rss >> 20} MB")
            await first.stop()
            for _ in range(ROUNDS):
                agent = await attached(hub, place.command)
                await agent.initialize()
                before, hosts_before = time.process_time(), _cpu(process)
                session = await agent.load_session(SessionId("s1"), user.home)
                client, host = time.process_time() - before, _cpu(process) - hosts_before
                print(f"client {client:.2f} s, host {host:.2f} s, together {client + host:.2f} s")
                await agent.stop()


async def between() -> None:
    """Print the ratios."""
    alone, hosted, starts, forks = list[float](), list[float](), list[float](), list[float]()
    for _ in range(ROUNDS):
        for figures, stream in ((alone, _alone), (hosted, _hosted)):
            loop = loop_s()
            with a_user() as user:
                figures.append(await stream(user, starts, loop) / loop)
        begin = time.perf_counter()
        if not (child := os.fork()):
            os._exit(0)
        forks.append(time.perf_counter() - begin)
        os.waitpid(child, 0)
    print(f"{CHUNKS:,} chunks, client alone, recording: {statistics.median(alone):.1f} loops")
    print(f"{CHUNKS:,} chunks, host and client: {statistics.median(hosted):.1f} loops")
    print(f"a message, together / alone: {statistics.median(hosted) / statistics.median(alone):.2f} (bound 1.1)")
    print(f"start of a host until it serves: {statistics.median(starts):.1f} loops")
    print(f"a fork instead: {statistics.median(forks) * 1000:.1f} ms")


Stream = Callable[[User, list[float], float], Awaitable[float]]


async def _alone(user: User, _starts: list[float], _loop: float) -> float:
    os.environ.update({f"XDG_{name}_HOME": str(user.home / name.lower()) for name in ("STATE", "CONFIG")})
    async with open_hub() as hub:
        plan = recording_plan(RecordingSettings(), user.home, lambda _: None)
        command = AgentCommand("alone", scripted_argv(STREAM))
        agent = await hub.start_agent(command, offer=INTERACTIVE, keeps_frames=True, recordings=plan)
        await agent.initialize()
        session = await agent.new_session(user.home)
        before = time.process_time()
        await session.send_prompt(REPLY)
        return time.process_time() - before


async def _hosted(user: User, starts: list[float], loop: float) -> float:
    place = user.host("--", *scripted_argv(STREAM))
    process = process_of(place)
    starts.append(_cpu(process) / loop)
    async with open_hub() as hub:
        agent = await attached(hub, place.command)
        await agent.initialize()
        session = await agent.load_session(SessionId("s1"), user.home)
        before, hosts_before = time.process_time(), _cpu(process)
        await session.send_prompt(REPLY)
        return time.process_time() - before + _cpu(process) - hosts_before


def _cpu(process: object) -> float:
    times = process.cpu_times()  # type: ignore[attr-defined]
    return float(times.user + times.system)


if __name__ == "__main__":
    if sys.argv[1:] == ["between"]:
        anyio.run(between)
        sys.exit()
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
