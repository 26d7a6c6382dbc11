"""Hosts as users run them: processes that outlive terminals and leave nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
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
from acp_tui.client.errors import AgentRefused, AgentUnreachable, ClientError
from acp_tui.client.hosting import finding
from acp_tui.client.hosting.finding import HostPaths, attached
from acp_tui.client.sessions.consent import ALLOW
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import SessionId
from support.agents import REPLY, SDK_AGENT, agent_texts, scripted_argv, until
from support.command_line import data_of
from support.hosts import User, a_user, attached_to, process_of
from support.processes import all_end
from support.reconnecting import RememberingAgent
from support.servers import authority, http_server
from support.terminals import on_terminal
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
FORGETFUL = scripted_argv("""
    handshake(agentCapabilities={"loadSession": True})
    while True:
        request = read()
        match request["method"]:
            case "session/set_mode":
                mode = request["params"]["modeId"]
                answer(request)
            case "session/prompt":
                words = {"type": "text", "text": f"in {mode}"}
                update("agent_message_chunk", content=words, session="kept")
                answer(request, stopReason="end_turn")
            case _:
                mode = "default"
                known = [{"id": each, "name": each.title()} for each in ("default", "plan")]
                answer(request, sessionId="kept", modes={"currentModeId": mode, "availableModes": known})
""")
MULTIPLE = scripted_argv("""
    handshake(agentInfo={"name": "many", "title": "Many", "version": "1"})
    opened = 0
    while True:
        request = read()
        if request["method"] == "session/new":
            opened += 1
            answer(request, sessionId=f"s{opened}")
        else:
            answer(request, stopReason="end_turn")
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
    listed = data_of("hosts", user.run("hosts", "--format", "json").stdout)
    offered = user.run("completion", "bash", "--", "attach", "").stdout.split()
    assert {*offered} == {each for one in listed for each in (one["host"], one["session_id"])}
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
        await agent.ended.wait()
        assert not agent.may_come_back
        assert "the host has ended" in str(agent.lost)
        assert not session.conversation.is_connected
    assert all_end(family)
    assert not place.socket.exists()


async def test_who_is_attached_does_not_come_back_to_a_host_that_was_killed(user: User) -> None:
    place = user.host("--", *TALKER)
    async with attached_to(place) as (agent, _):
        process_of(place).kill()
        await agent.ended.wait()
    with pytest.raises(AgentUnreachable) as lost:
        await _greet(place.command.argv[0], {})
    assert not lost.value.is_temporary


async def test_a_host_ends_with_its_last_session(user: User) -> None:
    place = user.host("--", *TALKER)
    process = process_of(place)
    async with attached_to(place) as (agent, session):
        await agent.close_session(session)
        await agent.ended.wait()
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


async def test_a_host_runs_the_users_command_for_a_question_that_nobody_sees(user: User) -> None:
    note = user.home / "note"
    settings = user.home / "config" / "acp-tui" / "settings.toml"
    settings.parent.mkdir(parents=True)
    write = "import os, sys; open(sys.argv[1], 'w').write('|'.join([*sys.argv[2:], str(sorted(os.environ.items()))]))"
    command = [sys.executable, "-c", write, str(note), "{event}", "{agent}", "{session}", "{title}", "{cwd}"]
    settings.write_text(f"[notifications]\ncommand = {json.dumps(command)}\n")
    place = user.host("--cwd", str(user.home), "--", *TALKER, ACP_TUI_HOST_TOKEN="token-of-the-user")
    async with attached_to(place) as (_, session), anyio.create_task_group() as tasks:
        tasks.start_soon(session.send_prompt, REPLY)
        await until(session, lambda: bool(session.conversation.permissions))
        assert not note.exists()
        tasks.cancel_scope.cancel()
    await so(lambda: note.exists() and bool(note.read_text()), partial(anyio.sleep, 0.02))
    *told, environ = note.read_text().split("|", 5)
    assert told == ["needs_you", told[1], "s1", "go", str(user.home)]
    assert "needs your decision" in environ
    assert "Delete everything" not in environ
    assert "token-of-the-user" not in environ


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
    assert "the command no-such-agent wasn't found" in done.stderr
    assert done.stdout == ""


async def test_what_a_host_says_before_it_runs_in_the_background_is_on_stderr(user: User) -> None:
    done = user.run("host", "--", *scripted_argv("sys.exit(3)"))
    assert done.returncode != 0
    assert "exited with code 3" in done.stderr
    assert done.stdout == ""


async def test_three_sessions_of_one_host_are_told_apart(user: User) -> None:
    """By the list, and by what says that a name fits several. Their agent gives them no titles."""
    place = user.host("--cwd", str(user.home), "--", *MULTIPLE)
    async with attached_to(place) as (agent, first):
        sessions = [first, await agent.new_session(Path("/usr")), await agent.new_session(Path("/usr"))]
        for number, session in enumerate(sessions, 1):
            await session.send_prompt((Text(f"task {number}"),))
        listed = await to_thread.run_sync(user.run, "hosts")
        listed_again = await to_thread.run_sync(partial(user.run, "hosts", "--format", "json"))
    name, gap = place.name, " " * len(place.name)
    assert listed.stdout.splitlines() == [
        line
        for number, folder in ((1, user.home), (2, "/usr"), (3, "/usr"))
        for line in (
            f"{name}  s{number}  idle       task {number}",
            f"{gap}  Many · {folder} · open for less than 1 min · 1 attached",
        )
    ]
    assert [(one["title"], one["opened_at"] is not None) for one in data_of("hosts", listed_again.stdout)] == [
        (f"task {number}", True) for number in (1, 2, 3)
    ]
    with on_terminal(user.home, "attach", name) as screen:
        assert screen.wait_for_end() == 1
        assert f"{name!r} matches several sessions" in screen.shown
        assert "s2  idle       task 2" in screen.shown
    with on_terminal(user.home, "attach", "s2") as screen:
        screen.wait_for("task 2")


async def test_a_session_whose_host_was_killed_goes_on_in_another_one(user: User) -> None:
    """The one who quit is told how; the recording knows the agent and the folder."""
    place = user.host("--cwd", str(user.home), "--", *KEEPER)
    with on_terminal(user.home, "attach", place.name) as screen:
        screen.prompt("hello")
        screen.wait_for("and now")
        await so(lambda: "hello" in user.run("sessions", "--all").stdout, partial(anyio.sleep, 0.02))  # it is recorded
        process_of(place).kill()
        screen.wait_for("host gone")
        screen.type("\x11")  # Ctrl+Q
        screen.wait_for("acp-tui host --resume kept")
    with on_terminal(user.home, "host", "--resume", "kept") as started:
        started.wait_for("is hosted: acp-tui attach")  # the user ran its command in this folder
    async with attached_to(place, "kept") as (_, session):
        assert agent_texts(session) == ["as before"]


async def test_a_session_that_another_host_continues_is_in_the_mode_in_which_it_was_left(user: User) -> None:
    """Its agent begins each session in its first mode."""
    place = user.host("--cwd", str(user.home), "--", *FORGETFUL)
    async with attached_to(place, "kept") as (_, session):
        await session.send_prompt(REPLY)
        await session.set_option("mode", "plan")
    user.run("host", "--stop")
    done = user.run("host", "--resume", "kept")
    assert "is hosted: acp-tui attach" in done.stdout, done.stderr
    async with attached_to(place, "kept") as (_, session):
        await session.send_prompt(REPLY)
        assert agent_texts(session)[-1] == "in plan"


async def test_a_state_folder_too_long_for_a_socket_has_its_hosts_in_the_runtime_folder(user: User) -> None:
    state = user.home / ("long" * 20)
    runtime = user.home / "run"
    runtime.mkdir()
    for variables in ({"XDG_RUNTIME_DIR": str(runtime)}, {"XDG_RUNTIME_DIR": ""}):
        variables = {"XDG_STATE_HOME": str(state), **variables}
        started = user.run("host", "--", *TALKER, **variables)
        try:
            assert "is hosted: acp-tui attach" in started.stdout, started.stderr
            (listed,) = data_of("hosts", user.run("hosts", "--format", "json", **variables).stdout)
            assert listed["session_id"] == "s1"
            folder = _socket_folder(runtime if variables["XDG_RUNTIME_DIR"] else Path(f"/tmp/acp-tui-{os.getuid()}"))
            assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        finally:
            user.run("host", "--stop", **variables)
    shutil.rmtree(folder)


def _socket_folder(root: Path) -> Path:
    (socket,) = root.rglob("*.sock")
    return socket.parent


async def test_a_folder_of_somebody_else_in_tmp_is_not_used(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = user.home / "tmp"
    folder = shared / "acp-tui" / "hosts"
    folder.mkdir(parents=True)
    monkeypatch.setattr(finding, "SHARED_FOLDER", shared)
    finding.bound("one", folder)[1].close()
    folder.rename(shared / "elsewhere")
    folder.symlink_to(shared / "elsewhere")
    with pytest.raises(ClientError, match="isn't a folder of yours"):
        finding.bound("two", folder)
    folder.unlink()
    folder.mkdir()
    if os.getuid() == 0:
        os.chown(folder, 12345, 12345)
        with pytest.raises(ClientError, match="isn't a folder of yours"):
            finding.bound("two", folder)


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


async def test_who_has_the_token_to_watch_can_only_watch_until_it_is_revoked(user: User) -> None:
    place = user.host("--listen", "127.0.0.1:0", "--", *TALKER)
    shared = user.run("hosts", "--share", place.name).stdout
    (command,) = (line.split() for line in shared.splitlines() if "attach" in line)
    token, address = command[0].partition("=")[2], command[-1]
    assert command[1:-1] == ["acp-tui", "attach", "--read-only"]
    assert stat.S_IMODE(place.watch_token.stat().st_mode) == 0o600
    headers = {"Authorization": f"Bearer {token}"}
    full = {"Authorization": f"Bearer {place.token.read_text()}"}
    async with open_hub() as hub, attached_to(place) as (_, local):
        agents = []
        for one in (headers, full):
            agent = await attached(hub, AgentCommand(address, (address,), is_host=True, address=Address(address, one)))
            await agent.initialize()
            agents.append(agent)
        watched = await agents[0].load_session(SessionId("s1"), Path("/"))
        with pytest.raises(AgentRefused, match="You can only watch here"):
            await watched.send_prompt(REPLY)
        with pytest.raises(AgentRefused, match="You can only watch here"):
            await agents[0].send_extension("_acp_tui/revoke", {})
        revoked = await to_thread.run_sync(user.run, "hosts", "--revoke")
        assert revoked.stdout == f"{place.name} has new tokens. Whoever used the old ones is disconnected.\n"
        for agent in agents:
            await agent.ended.wait()
            assert not agent.may_come_back
            assert "its token was revoked" in str(agent.lost)
        assert local.conversation.is_connected
    for one in (headers, full):
        with pytest.raises(AgentUnreachable):
            await _greet(address, one)
    assert token not in user.run("hosts", "--share").stdout
    await _greet(address, {"Authorization": f"Bearer {place.watch_token.read_text()}"})


async def test_a_host_without_tcp_has_nothing_to_share_or_revoke(user: User) -> None:
    user.host("--", *TALKER)
    assert "attach --read-only" in user.run("hosts", "--share").stderr
    assert user.run("hosts", "--revoke").stdout == "No host has tokens.\n"


async def test_a_qr_code_fits_a_small_terminal_and_says_what_the_line_does(user: User) -> None:
    segno = pytest.importorskip("segno", reason="the extra `qr` isn't installed")
    user.host("--listen", "127.0.0.1:0", "--", *TALKER)
    with on_terminal(user.home, "hosts", "--share") as screen:
        assert screen.wait_for_end() == 0
        shown = screen.written.decode().splitlines()
    (command,) = (line.strip() for line in shown if "attach --read-only" in line)
    code = [line for line in shown if line and set(line) <= set("█▀▄ ")]
    assert len(code) < 24
    assert max(map(len, code)) < 80
    halves = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}
    rows = [[halves[char][half] for char in line] for line in code for half in (0, 1)]
    wanted = [[*row] for row in segno.make(command, error="l", micro=False).matrix_iter(border=2)]
    assert rows[: len(wanted)] == wanted


async def test_beyond_this_machine_it_wants_tls(user: User) -> None:
    done = user.run("host", "--listen", "0.0.0.0:0", "--", *TALKER)
    assert done.returncode != 0
    assert "so it needs TLS" in done.stderr


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
