"""Plain mode with a remote agent: it reconnects on its own when the connection breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread, to_thread

from support.hosts import a_user
from support.reconnecting import CuttingProxy, RememberingAgent, cut_often
from support.terminals import line_terminal

RESUME = {"sessionCapabilities": {"resume": {}}}


@pytest.mark.parametrize(
    ("scheme", "capabilities", "words"),
    [
        ("ws", RESUME, "the agent restarted here; it knows the conversation above"),
        ("http", {"loadSession": True}, "this is the session so far:"),
    ],
    ids=["resume", "load"],
)
async def test_a_session_goes_on_by_itself_once_there_is_a_connection_again(
    scheme: str, capabilities: dict[str, Any], words: str, tmp_path: Path
) -> None:
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 27, **capabilities)  # it asks nothing
        async with cut_often(agent, lambda: None, scheme) as (command, proxy):
            await to_thread.run_sync(_use, command.name, proxy, agent, words, tmp_path)
        tasks.cancel_scope.cancel()


def _use(url: str, proxy: CuttingProxy, agent: RememberingAgent, words: str, cwd: Path) -> None:
    with line_terminal(url, "--plain", cwd=cwd) as terminal:
        terminal.shows("you: ")
        terminal.type("first\n")
        terminal.shows("word>")
        terminal.shows("\nyou: ")
        from_thread.run_sync(proxy.cut)
        terminal.shows("connecting again; press Ctrl+D to quit")
        terminal.type("second\n")
        terminal.shows("queued until there is a connection; 1 prompt waits")
        terminal.shows(words)
        terminal.shows("1 prompt waits, held back: an empty line sends the next one")
        terminal.shows("you: ")
        terminal.type("\n")
        terminal.shows("sending a queued prompt: second")
        terminal.shows("word>")
        terminal.shows("\nyou: ")
        terminal.type("\x04")
        assert terminal.end() == 0
    (session,) = agent.sessions.values()
    assert [text for role, text, *_ in session.said() if role == "user"] == ["first", "second"]


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_prompt_of_a_script_is_not_sent_again(scheme: str) -> None:
    """It may have been carried out in part, so the script must decide."""
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 1, **RESUME)
        async with cut_often(agent, lambda: None, scheme) as (command, proxy):
            agent.on_prompt = proxy.cut
            with a_user() as user:
                words = ("exec", command.name, "--prompt", "hello", "--cwd", str(user.home))
                done = await to_thread.run_sync(user.run, *words)
        tasks.cancel_scope.cancel()
    assert done.returncode == 7
    assert "the connection broke" in done.stderr
    (session,) = agent.sessions.values()
    assert [text for role, text, *_ in session.said() if role == "user"] == ["hello"]
