"""Measures what it costs to attach to a long session: CPU seconds of the host and of its client, separately.

Run it as `python tests/benchmarks/hosting.py [ENTRIES]`. The host is a process with a scripted agent; times are of the
processes (user and system), so a busy machine changes little.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))

from acp_tui.client.hosting.finding import attached
from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.facts import SessionId
from support.agents import REPLY, scripted_argv
from support.host_process import a_user, process_of

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


def _cpu(process: object) -> float:
    times = process.cpu_times()  # type: ignore[attr-defined]
    return float(times.user + times.system)


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
