"""Whole turns with other authors' servers and bridges, over WebSocket and Streamable HTTP on loopback.

`../shared/remote/setup.sh` and `../shared/agents/setup.sh qwen` install them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import pytest
from anyio import to_thread

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message, ToolCallEntry
from support.agents import SDK_AGENT, agent_texts, running, until
from support.hosts import a_user, attached_to
from support.waiting import until as so

PREFIX = Path(os.environ.get("AGENTS_PREFIX", Path.home() / ".cache/acp-agents"))
NODE_PEERS = PREFIX / "npm/remote"
PYTHON_PEERS = PREFIX / "venv/remote/bin"
QWEN = PREFIX / "npm/qwen22/node_modules/@qwen-code/qwen-code/cli.js"
NODE_22 = PREFIX / "npm/node22/node_modules/node/bin/node"
STAND_IN_MODEL = Path(__file__).parents[3] / "shared/agents/stand_in_llm.py"
NODE = shutil.which("node") or "node"
TOKEN = "correct-horse-battery"

over_both = pytest.mark.parametrize("scheme", ["ws", "http"])


def needs(*files: Path) -> pytest.MarkDecorator:
    missing = [str(file) for file in files if not file.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@asynccontextmanager
async def server(
    argv: Sequence[str], log: Path, ready: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[str]:
    """A running server; returns its output once that contains `ready`."""
    with log.open("wb") as printed:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
            cwd=cwd,
            start_new_session=True,
        )
    try:
        await _until_it_says(process, log, ready)
        yield log.read_text("utf-8", "replace")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


async def _until_it_says(process: subprocess.Popen[bytes], log: Path, ready: str) -> None:
    def says() -> bool:
        assert process.poll() is None, f"the server ended: {log.read_text()}"
        return bool(re.search(ready, log.read_text("utf-8", "replace")))

    await so(says, partial(anyio.sleep, 0.02), log.read_text)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def agent_at(url: str, token: str = "", *, shares_files: bool = False) -> AgentCommand:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = read_address(url, headers)
    return AgentCommand("remote", (url,), is_elsewhere=True, shares_files=shares_files, address=address)


async def prompt_allowing(session: Session, text: str = "go") -> None:
    """A turn in which the user allows the only thing asked."""
    waiting = session.conversation.permissions
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, [Text(text)])
        await until(session, lambda: bool(waiting))
        [request] = waiting.values()
        allowing = next(option for option in request.options if option.kind == "allow_once")
        session.answer_permission(request.key, allowing.option_id)


# The official TypeScript SDK


@pytest.fixture
async def ts_server(tmp_path: Path) -> AsyncIterator[int]:
    (tmp_path / "node_modules").symlink_to(NODE_PEERS / "node_modules")
    script = shutil.copy(Path(__file__).parents[1] / "data/ts_server.mjs", tmp_path)
    async with server([NODE, script, TOKEN], tmp_path / "log", r"\d\n") as printed:
        yield int(printed)


needs_ts = needs(NODE_PEERS / "node_modules/@agentclientprotocol/sdk")


@needs_ts
@over_both
async def test_a_turn_with_a_permission_behind_the_typescript_sdk(scheme: str, ts_server: int, tmp_path: Path):
    async with running(agent_at(f"{scheme}://127.0.0.1:{ts_server}/acp", TOKEN)) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await prompt_allowing(session)
    assert "".join(agent_texts(session)) == "".join(f"y{i} " for i in range(500))


@needs_ts
@over_both
async def test_a_session_is_loaded_over_another_connection_with_all_its_history(
    scheme: str, ts_server: int, tmp_path: Path
):
    """Over HTTP, the history arrives on a different stream than the answer that ends it."""
    command = agent_at(f"{scheme}://127.0.0.1:{ts_server}/acp", TOKEN)
    async with running(command) as agent:
        await agent.initialize()
        first = await agent.new_session(tmp_path)
        await prompt_allowing(first)
    async with running(command) as agent:
        await agent.initialize()
        loaded = await agent.load_session(first.session_id, tmp_path)
        kinds = [type(entry) for entry in loaded.conversation.entries]
        assert kinds == [Message, ToolCallEntry, Message]
        assert agent_texts(loaded) == agent_texts(first)
        await prompt_allowing(loaded)
    assert len(agent_texts(loaded)) == 2


@needs_ts
@over_both
async def test_without_its_token_a_server_lets_nobody_in(scheme: str, ts_server: int):
    with pytest.raises(AgentLost, match=r"asks for a token \(HTTP 401\)") as caught:
        async with running(agent_at(f"{scheme}://127.0.0.1:{ts_server}/acp", "wrong")) as agent:
            await agent.initialize()
    assert "token" in caught.value.hint


@needs_ts
@over_both
async def test_a_turn_behind_the_typescript_sdk_goes_on_in_a_host(scheme: str, ts_server: int, tmp_path: Path):
    with a_user() as user:
        settings = user.home / "config" / "acp-tui"
        settings.mkdir(parents=True)
        (settings / "agents.toml").write_text(
            f'[agents.far]\nurl = "{scheme}://127.0.0.1:{ts_server}/acp"\n'
            f'headers = {{ Authorization = "Bearer {TOKEN}" }}\n'
        )
        place = await to_thread.run_sync(user.host, "far")
        async with attached_to(place, "ts-1") as (agent, leaving), anyio.create_task_group() as tasks:
            tasks.start_soon(_send_and_leave, leaving)
            await until(leaving, lambda: bool(leaving.conversation.permissions))
            await agent.stop()
        async with attached_to(place, "ts-1") as (_, session):
            await until(session, lambda: bool(session.conversation.permissions))
            session.answer_permission(next(iter(session.conversation.permissions)), "y")
            await until(session, lambda: session.conversation.is_idle)
            assert "".join(agent_texts(session)) == "".join(f"y{i} " for i in range(500))
        await to_thread.run_sync(user.run, "host", "--stop")


async def _send_and_leave(session: Session) -> None:
    with suppress(AgentLost):
        await session.send_prompt([Text("go")])


@needs(NODE_PEERS / "server.mjs", NODE_PEERS / "sdk_v2_agent.mjs")
@over_both
@pytest.mark.parametrize("version", [1, 2])
async def test_the_typescript_sdk_serves_both_versions_at_one_address(
    scheme: str, version: Literal[1, 2], tmp_path: Path
):
    argv = [NODE, str(NODE_PEERS / "server.mjs"), "0", "--token", TOKEN]
    async with server(argv, tmp_path / "log", r"\d\n") as printed:
        command = agent_at(f"{scheme}://127.0.0.1:{int(printed.split()[0])}/acp", TOKEN)
        await _speaks(replace(command, protocol=version), version, tmp_path)


async def _speaks(command: AgentCommand, version: int, cwd: Path) -> None:
    """A turn with the SDK's agent of both versions; in version 2, it asks a question."""
    async with running(command) as agent:
        await agent.initialize()
        assert agent.protocol_version == version
        session = await agent.new_session(cwd)
        if version == 2:
            await prompt_allowing(session)
        else:
            await session.send_prompt([Text("go")])
        assert session.conversation.last_stop_reason == "end_turn"
        assert agent_texts(session)


# The official Python SDK


@needs(PYTHON_PEERS / "uvicorn")
@over_both
async def test_a_turn_with_a_permission_behind_the_python_sdk(scheme: str, tmp_path: Path):
    port = free_port()
    app = ["--app-dir", str(NODE_PEERS), "py_server:app", "--port", str(port)]
    async with (
        server([str(PYTHON_PEERS / "uvicorn"), *app], tmp_path / "log", "running on"),
        running(agent_at(f"{scheme}://127.0.0.1:{port}/acp")) as agent,
    ):
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await prompt_allowing(session)
    assert agent_texts(session) == ["echo selected"]


# A real agent


@pytest.fixture
async def qwen(tmp_path: Path) -> AsyncIterator[tuple[int, Path]]:
    """`qwen serve` with a scripted model; its port, and the only folder it works in."""
    home, work, model = tmp_path / "home", tmp_path / "work", free_port()
    (home / ".qwen").mkdir(parents=True)
    work.mkdir()
    (home / ".qwen/settings.json").write_text(
        '{"security":{"auth":{"selectedType":"openai"}},"general":{"disableAutoUpdate":true,'
        '"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"tools":{"approvalMode":"default"}}'
    )
    env = {
        "HOME": str(home),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model}/v1",
        "OPENAI_MODEL": "stand-in",
    }
    port = free_port()
    options = [
        "--port",
        str(port),
        "--hostname",
        "127.0.0.1",
        "--no-web",
        "--workspace",
        str(work),
        "--token",
        TOKEN,
    ]
    async with (
        server(["python3", str(STAND_IN_MODEL), str(model)], tmp_path / "model", "on http", cwd=work),
        server([str(NODE_22), str(QWEN), "serve", *options], tmp_path / "log", "WebSocket transport", env),
    ):
        yield port, work


needs_qwen = needs(QWEN, NODE_22, STAND_IN_MODEL)


@contextmanager
def telling_the_end_of(log: Path) -> Iterator[None]:
    """A failure tells what the server wrote last."""
    try:
        yield
    except BaseException as error:
        error.add_note(log.read_text(errors="replace")[-4_000:])
        raise


@needs_qwen
async def test_qwen_serve_stops_when_it_is_cancelled_and_asks_before_it_writes_a_file(qwen: tuple[int, Path]):
    """Over both, since most of the time goes into its start."""
    port, work = qwen
    with telling_the_end_of(work.parent / "log"):
        for scheme in ("ws", "http"):
            async with running(agent_at(f"{scheme}://127.0.0.1:{port}/acp", TOKEN)) as agent:
                await agent.initialize()
                session = await agent.new_session(work)
                waiting = session.conversation.permissions
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(session.send_prompt, [Text("WRITE")])
                    await until(session, lambda waiting=waiting: bool(waiting))
                    session.cancel()
                assert session.conversation.last_stop_reason == "cancelled"
                assert not list(work.rglob("fake_out.txt"))

                session = await agent.new_session(work)
                await prompt_allowing(session, "WRITE")
                [call] = [entry.call for entry in session.conversation.entries if isinstance(entry, ToolCallEntry)]
                assert call.status == "completed"
                [written] = work.rglob("fake_out.txt")
                written.unlink()


# Bridges from stdio


async def _works_as_here(command: AgentCommand, project: Path) -> None:
    (project / "notes.txt").write_text("a note\n")
    async with running(command) as agent:
        await agent.initialize()
        session = await agent.new_session(project)
        await prompt_allowing(session)
    assert (project / "notes.txt").read_text() == "A NOTE\n"
    assert agent_texts(session) == ["edit: yes\ncommand: from the shell (0)"]


@needs(NODE_PEERS / "node_modules/.bin/stdio-to-ws")
async def test_stdio_to_ws_leads_to_an_agent_that_shares_our_files(tmp_path: Path):
    port = free_port()
    bridge = str(NODE_PEERS / "node_modules/.bin/stdio-to-ws")
    async with server([bridge, shlex.join(SDK_AGENT), "--port", str(port)], tmp_path / "log", "listening"):
        await _works_as_here(agent_at(f"ws://127.0.0.1:{port}", shares_files=True), tmp_path)


@needs(PYTHON_PEERS / "acpremote")
async def test_acpremote_leads_to_an_agent_that_shares_our_files(tmp_path: Path):
    port = free_port()
    bridge = [str(PYTHON_PEERS / "acpremote"), "expose", "--port", str(port), "--token-env", "THE_TOKEN"]
    async with server([*bridge, "--", *SDK_AGENT], tmp_path / "log", "Serving", {"THE_TOKEN": TOKEN}):
        command = agent_at(f"ws://127.0.0.1:{port}/acp/ws", TOKEN, shares_files=True)
        await _works_as_here(command, tmp_path)


@needs(NODE_PEERS / "node_modules/.bin/stdio-to-ws", NODE_PEERS / "sdk_v2_agent.mjs")
@pytest.mark.parametrize("version", [1, 2])
async def test_stdio_to_ws_leads_to_agents_of_both_versions(version: Literal[1, 2], tmp_path: Path):
    port = free_port()
    bridge = str(NODE_PEERS / "node_modules/.bin/stdio-to-ws")
    argv = [bridge, shlex.join([NODE, str(NODE_PEERS / "sdk_v2_agent.mjs")]), "--port", str(port)]
    async with server(argv, tmp_path / "log", "listening"):
        command = agent_at(f"ws://127.0.0.1:{port}")
        await _speaks(replace(command, protocol=version), version, tmp_path)


@needs(PYTHON_PEERS / "acpremote", NODE_PEERS / "sdk_v2_agent.mjs")
@pytest.mark.parametrize("version", [1, 2])
async def test_acpremote_leads_to_agents_of_both_versions(version: Literal[1, 2], tmp_path: Path):
    port = free_port()
    bridge = [str(PYTHON_PEERS / "acpremote"), "expose", "--port", str(port), "--token-env", "THE_TOKEN"]
    agent = [NODE, str(NODE_PEERS / "sdk_v2_agent.mjs")]
    async with server([*bridge, "--", *agent], tmp_path / "log", "Serving", {"THE_TOKEN": TOKEN}):
        command = agent_at(f"ws://127.0.0.1:{port}/acp/ws", TOKEN)
        await _speaks(replace(command, protocol=version), version, tmp_path)
