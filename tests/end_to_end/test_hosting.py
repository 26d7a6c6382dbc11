"""Hosts as users run them: processes that outlive terminals and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]
import pytest
from anyio import to_thread

from acp_tui.client.agents.address import Address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentUnreachable
from acp_tui.client.hosting.finding import HostPaths, attached
from acp_tui.client.sessions.access import ALLOW
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import SessionId
from support.agents import REPLY, SDK_AGENT, agent_texts, scripted_argv, until
from support.certificates import authority
from support.host_process import User, a_user, attached_to, process_of
from support.http_served import http_server
from support.on_terminal import all_end, on_terminal
from support.remembering_agent import RememberingAgent
from support.waiting import until as so

pytest.importorskip("websockets", reason="hosts need the extra `remote`")
pytestmark = pytest.mark.anyio

TALKS = """
    handshake()
    answer(expect("session/new"), sessionId="s1")
    say("hello")
    while True:
        prompt = expect("session/prompt")
        say("working")
        ask("allow_once", "reject_once")
        say(f" chosen: {outcome()}")
        end(prompt)
"""
TALKER = scripted_argv(TALKS)
NEWER = scripted_argv("""
    asked = expect("initialize")
    assert asked["params"]["protocolVersion"] == 2
    answer(asked, protocolVersion=2, capabilities={}, info={"name": "newer", "version": "2"})
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    answer(prompt, messageId="u")
    update("state_update", state="running")
    update("user_message", messageId="u", content=prompt["params"]["prompt"])
    update("agent_message", messageId="a", content=[{"type": "text", "text": "as you say"}])
    update("state_update", state="idle", stopReason="end_turn")
    read()
""")
KEEPER = scripted_argv("""
    handshake(agentCapabilities={"loadSession": True})
    opening = read()
    if opening["method"] == "session/load":
        assert opening["params"]["sessionId"] == "kept"
        update("user_message_chunk", content={"type": "text", "text": "hello"}, session="kept")
        update("agent_message_chunk", content={"type": "text", "text": "as before"}, session="kept")
        answer(opening)
    else:
        answer(opening, sessionId="kept")
    prompt = expect("session/prompt")
    update("agent_message_chunk", content={"type": "text", "text": "and now"}, session="kept")
    answer(prompt, stopReason="end_turn")
    serve_until_closed()
""")
MANY = 10_000
FLOODS = f"""
    prompt = open_session()
    for number in range({MANY}):
        say(f"{{number}} ")
        if number % 2:
            update("tool_call", toolCallId=str(number), title="Step", status="completed")
    answer(prompt, stopReason="end_turn")
    say("over")
    read()
"""
MAX_MB = 100


@pytest.fixture
def user() -> Iterator[User]:
    with a_user() as one:
        yield one


async def test_a_session_goes_on_after_its_terminal_was_killed(user: User, tmp_path: Path) -> None:
    place = user.host("--", *TALKER)
    with on_terminal(user.home, "attach", place.name) as screen:
        screen.wait_for("hello")
        screen.prompt("go")
        screen.wait_for("Permission")
        screen.process.kill()
        screen.wait_for_end()
    listed = json.loads(user.run("hosts", "--format", "json").stdout)
    assert [(one["session_id"], one["turn"], one["waiting"]) for one in listed] == [
        ("s1", "running", ["Delete everything"])
    ]
    async with attached_to(place) as (_, session):
        await until(session, lambda: bool(session.conversation.permissions))
        session.answer_permission(next(iter(session.conversation.permissions)), "reject_once")
        await until(session, lambda: session.conversation.is_idle)
        assert agent_texts(session)[-1].endswith(" chosen: reject_once")


async def test_a_host_outlives_its_terminal_and_who_is_attached_hears_of_its_end(user: User) -> None:
    place = user.host("--", *TALKER)
    process = process_of(place)
    family = [process, *process.children(recursive=True)]
    assert os.getsid(process.pid) == process.pid
    process.send_signal(signal.SIGHUP)
    async with attached_to(place) as (agent, session):
        assert agent_texts(session) == ["hello"]
        stopped = await to_thread.run_sync(user.run, "host", "--stop", place.name)
        assert stopped.stdout == f"{place.name} is stopped.\n"
        await agent.ended()
        assert not agent.may_come_back
        assert "the host has ended" in str(agent.lost)
        assert not session.conversation.is_connected
    assert all_end(family)
    assert not place.socket.exists()


async def test_who_is_attached_does_not_come_back_to_a_host_that_was_killed(user: User) -> None:
    place = user.host("--", *TALKER)
    async with attached_to(place) as (agent, _):
        process_of(place).kill()
        await agent.ended()
    with pytest.raises(AgentUnreachable) as lost:
        await _greet(place.command.argv[0], {})
    assert not lost.value.is_temporary


async def test_a_host_ends_with_its_last_session(user: User) -> None:
    place = user.host("--", *TALKER)
    process = process_of(place)
    async with attached_to(place) as (agent, session):
        await agent.close_session(session)
        await agent.ended()
    assert all_end([process])
    assert user.run("hosts").stdout == "No hosted sessions. To host one: acp-tui host AGENT\n"


async def test_a_killed_host_leaves_nothing_but_a_whole_recording(user: User) -> None:
    place = user.host("--", *TALKER)
    process = process_of(place)
    family = [process, *process.children(recursive=True)]
    async with attached_to(place) as (_, session), anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, REPLY)
        await until(session, lambda: bool(session.conversation.permissions))
        recordings = user.home / "state" / "acp-tui" / "recordings"
        await so(lambda: b"request_permission" in _written(recordings), partial(anyio.sleep, 0.02))
        # Before the prompt is given up here, which would tell the agent, and that something more.
        process.kill()
        assert all_end(family)
        tasks.cancel_scope.cancel()
    (recording,) = recordings.glob("**/*.jsonl")
    said = replayed(recording)[SessionId("s1")]
    assert [entry.text for entry in said.entries if getattr(entry, "role", "") == "agent"] == [
        "hello",
        "working",
    ]
    assert user.run("hosts").stdout.startswith("No hosted sessions")
    assert not place.socket.exists()


def _written(recordings: Path) -> bytes:
    return b"".join(file.read_bytes() for file in recordings.glob("**/*.jsonl"))


async def test_updates_that_nobody_sees_are_kept_in_little_memory(user: User) -> None:
    place = user.host("--", *scripted_argv(FLOODS))
    process = process_of(place)
    async with attached_to(place) as (agent, session):
        with anyio.move_on_after(0.5):
            await session.send_prompt(REPLY)
        await agent.stop()
    recordings = user.home / "state" / "acp-tui" / "recordings"
    await so(lambda: b'"over"' in _written(recordings), partial(anyio.sleep, 0.02))
    async with attached_to(place) as (_, session):
        await until(session, lambda: agent_texts(session)[-1:] == ["over"])
        numbers = "".join(agent_texts(session)).removesuffix("over").split()
        assert numbers == [str(number) for number in range(MANY)]
    assert process.memory_info().rss < MAX_MB << 20


async def test_the_sdks_agent_is_hosted(user: User) -> None:
    pytest.importorskip("acp")
    (user.home / "notes.txt").write_text("hello")
    place = user.host("--cwd", str(user.home), "--", *SDK_AGENT)
    async with attached_to(place, "sdk-1") as (_, session), anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, REPLY)
        for option_id in ("yes", ALLOW.option_id):  # it asks before it edits, but not before it runs a command
            await until(session, lambda: bool(session.conversation.permissions))
            [key] = session.conversation.permissions
            session.answer_permission(key, option_id)
        await until(session, lambda: session.conversation.is_idle)
        assert agent_texts(session)[-1] == "edit: yes\ncommand: from the shell (0)"
    assert (user.home / "notes.txt").read_text() == "HELLO"


async def test_a_session_of_a_terminal_is_moved_into_a_host(user: User) -> None:
    """It is quit there and loaded here; terminals that attach see all of it."""
    done = user.run("exec", "--prompt", "hello", "--record", "run.jsonl", "--", *KEEPER)
    assert done.returncode == 0, done.stderr
    place = user.host("--resume=kept", "--", *KEEPER)
    async with attached_to(place, "kept") as (_, session):
        said = [entry.text for entry in session.conversation.entries if isinstance(entry, Message)]
        assert said == ["hello", "as before"]
        await session.send_prompt(REPLY)
        assert agent_texts(session)[-1] == "and now"


async def test_a_session_that_nobody_kept_is_not_hosted(user: User) -> None:
    done = user.run("host", "--resume", "--", *TALKER)
    assert done.returncode != 0
    assert "no session with" in done.stderr + done.stdout


async def test_an_agent_that_speaks_only_version_two_is_hosted(user: User) -> None:
    place = user.host("--", *NEWER)
    async with attached_to(place) as (agent, session):
        assert agent.protocol_version == 2
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["as you say"]
    async with attached_to(place) as (_, late):
        messages = [entry.text for entry in late.conversation.entries if isinstance(entry, Message)]
        assert messages == ["go", "as you say"]


async def test_an_agent_that_cannot_start_is_told_at_once(user: User) -> None:
    done = user.run("host", "--", "no-such-agent")
    assert done.returncode == 127
    assert "the command no-such-agent wasn't found" in done.stdout


# Who may attach


async def test_another_user_reads_nothing_and_cannot_attach_whatever_the_rights(
    user: User,
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    place = user.host("--listen", "127.0.0.1:0", "--", *TALKER)
    knock = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "s.sendall(b'GET / HTTP/1.1\\r\\nHost: x\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n');"
        "print(s.recv(4096).split(b'\\r\\n')[0].decode())"
    )
    assert "PermissionError" in _as_nobody(knock, place.socket)
    token = place.token.read_text()
    user.home.chmod(0o755)
    (recording,) = (user.home / "state" / "acp-tui" / "recordings").glob("**/*.jsonl")
    for file in (place.token, place.log, recording):
        assert "PermissionError" in _as_nobody("import sys; print(open(sys.argv[1]).read())", file)
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not any(token in word for words in commands for word in words)
    for folder in (place.socket, *list(place.socket.parents)[:4]):
        folder.chmod(0o777)
    assert _as_nobody(knock, place.socket) == "HTTP/1.1 403 Forbidden\n"


def _as_nobody(code: str, path: Path) -> str:
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-I", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    return done.stdout + done.stderr


async def test_attaching_over_tcp_requires_the_token(user: User) -> None:
    place = user.host("--listen", "127.0.0.1:0", "--", *TALKER)
    url = await _address_of(place)
    for headers in ({}, {"Authorization": "Bearer guessed"}):
        with pytest.raises(AgentUnreachable, match="401"):
            await _greet(url, headers)
    await _greet(url, {"Authorization": f"Bearer {place.token.read_text()}"})


async def _address_of(place: HostPaths) -> str:
    async with attached_to(place) as (agent, _):
        status = await agent.send_extension("_acp_tui/status", {})
        return str(status["listens"][1])


async def _greet(url: str, headers: dict[str, str]) -> None:
    async with open_hub() as hub:
        command = AgentCommand("host", (url,), address=Address(url, headers), is_host=True)
        agent = await attached(hub, command)
        await agent.initialize()


async def test_beyond_this_machine_it_wants_tls(user: User) -> None:
    done = user.run("host", "--listen", "0.0.0.0:0", "--", *TALKER)
    assert done.returncode != 0
    assert "so it needs TLS" in done.stdout


async def test_attaching_over_tls_requires_the_token_and_a_trusted_host(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = authority(tmp_path)
    certificate, key = ca.issue("IP:127.0.0.1")
    sealed = ("--tls-cert", str(certificate), "--tls-key", str(key))
    place = user.host("--listen", "127.0.0.1:0", *sealed, "--", *TALKER, ACP_TUI_HOST_TOKEN="of my own")
    assert place.token.read_text() == "of my own"
    assert place.token.stat().st_mode & 0o777 == 0o600
    url = await _address_of(place)
    assert url.startswith("wss://")
    with pytest.raises(AgentUnreachable, match="can't be trusted"):
        await _greet(url, {"Authorization": "Bearer of my own"})
    monkeypatch.setenv("SSL_CERT_FILE", str(ca.certificate))
    with pytest.raises(AgentUnreachable, match="401"):
        await _greet(url, {"Authorization": "Bearer guessed"})
    await _greet(url, {"Authorization": "Bearer of my own"})
    monkeypatch.setenv("ACP_TUI_HOST_TOKEN", "of my own")
    with on_terminal(user.home, "attach", url) as screen:
        screen.wait_for("hello")
        commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
        assert not any("of my own" in word for words in commands for word in words)


async def test_an_agent_at_an_address_is_hosted_too(user: User) -> None:
    async with anyio.create_task_group() as tasks:
        agent = RememberingAgent(tasks, 27)  # it asks nothing
        async with http_server(agent.serve) as command:
            place = await to_thread.run_sync(user.host, command.name)
            async with attached_to(place) as (_, session):
                await session.send_prompt(REPLY)
                await until(session, lambda: session.conversation.is_idle)
                assert "".join(agent_texts(session)).startswith("<1 word")
            await to_thread.run_sync(user.run, "host", "--stop")
        tasks.cancel_scope.cancel()
