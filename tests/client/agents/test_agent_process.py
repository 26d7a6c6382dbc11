"""Agents as real processes: failed starts, stray output, exits, and that none is left behind."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from acp_tui.client.agents import process as process_module
from acp_tui.client.agents import starting
from acp_tui.client.agents.command import AgentCommand, Package
from acp_tui.client.errors import AgentLost, AgentNotFound, AgentNotRunnable
from acp_tui.client.processes.table import row_of
from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.entries import Failure
from acp_tui.conversation.facts import TurnPhase
from support.agents import REPLY, agent_texts, our_children, running, until
from support.processes import WAYS, Left
from support.waiting import LIMIT_S
from support.waiting import until as polled

SAY_WHERE = "import os, sys; print(os.getcwd(), file=sys.stderr)"
SAY_WHERE_IN_NODE = """
const said = [process.cwd(), ...process.argv.slice(2), process.env.npm_config_script_shell || null]
console.error(JSON.stringify(said))
"""
STUBBORN = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process we started outlives its test, not even as a zombie."""
    yield
    assert our_children() == []


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of the shutdown, without their waits."""
    for name in ("CLOSE_GRACE_S", "TERMINATE_GRACE_S"):
        monkeypatch.setattr(starting, name, 0.1)


async def ended(processes: list[psutil.Process]) -> None:
    """Wait until they are gone, or are zombies that others must reap: a killed process takes a moment to die."""
    with anyio.fail_after(LIMIT_S):
        while any(process.is_running() and process.status() != "zombie" for process in processes):
            await anyio.lowlevel.checkpoint()


def program(path: Path, text: str, mode: int = stat.S_IRWXU) -> AgentCommand:
    path.write_text(text)
    path.chmod(mode)
    return AgentCommand("a-program", (str(path),), install_hint="npm install it")


# The start


async def test_a_missing_command_is_reported_with_how_to_install_it():
    with pytest.raises(AgentNotFound, match="no-such-agent wasn't found") as failure:
        async with running(AgentCommand("a", ("no-such-agent",), install_hint="npm install it")):
            pass
    assert failure.value.hint == "install it: npm install it"


async def test_a_file_that_is_not_executable_is_said(tmp_path: Path):
    with pytest.raises(AgentNotRunnable, match="n't an executable file") as failure:
        async with running(program(tmp_path / "agent", "#!/bin/sh\n", stat.S_IRUSR)):
            pass
    assert failure.value.hint.startswith("chmod +x ")


@pytest.mark.parametrize("text", ["#!/no/such/interpreter\n", "no first line"])
async def test_a_program_without_an_interpreter_is_said(tmp_path: Path, text: str):
    with pytest.raises(AgentNotRunnable, match="can't be run") as failure:
        async with running(program(tmp_path / "agent", text)):
            pass
    assert "interpreter" in failure.value.hint


async def test_the_users_environment_reaches_the_agent_and_the_commands_own_over_it(
    monkeypatch: pytest.MonkeyPatch,
):
    """R-TRANS-9."""
    monkeypatch.setenv("FROM_USER", "user")
    monkeypatch.setenv("FROM_BOTH", "user")
    code = 'echo "$FROM_USER $FROM_BOTH" >&2; exit 3'
    command = AgentCommand("sh", ("sh", "-c", code), {"FROM_BOTH": "command"})
    with pytest.raises(AgentLost) as lost:
        async with running(command) as agent:
            await agent.initialize()
    assert lost.value.detail == "user command\n"


async def test_an_exit_before_the_handshake_tells_code_and_stderr():
    """R-TRANS-7."""
    with pytest.raises(AgentLost, match="scripted exited with code 41") as lost:
        async with running("print('no API key', file=sys.stderr); sys.exit(41)") as agent:
            await agent.initialize()
    assert lost.value.detail == "no API key\n"


async def test_an_end_by_a_signal_is_named():
    with pytest.raises(AgentLost, match="was ended by SIGKILL"):
        async with running("import os; os.kill(os.getpid(), 9)") as agent:
            await agent.initialize()


# What it prints


async def test_junk_on_stdout_is_logged_and_harmless(tmp_path: Path):
    """R-TRANS-5, R-TRANS-6."""
    script = r"""
        sys.stdout.buffer.write(b"npm warn old\n[]\n5\nnull\n\n\xff\xfe\n"); sys.stdout.flush()
        prompt = open_session()
        print("{half a message")
        say("hello"); end(prompt); serve_until_closed()
    """
    async with running(script) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
    assert agent_texts(session) == ["hello"]
    assert [line for line in agent.log if "npm warn old" in line]
    assert [line for line in agent.log if "{half a message" in line]


async def test_a_line_over_the_ceiling_ends_that_agent_cleanly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """R-TRANS-4."""
    monkeypatch.setattr("acp_tui.rpc.messages.DEFAULT_MAX_FRAME_BYTES", 10_000)
    async with running("open_session(); say('x' * 20_000); serve_until_closed()") as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentLost, match=r"broke the protocol: .*10,000 bytes"):
            await session.send_prompt(REPLY)
    assert not session.conversation.is_connected


async def test_an_agent_that_asks_and_asks_and_reads_no_answer_is_ended_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_grace: None
):
    monkeypatch.setattr("acp_tui.rpc.peer.MAX_WAITING_BYTES", 100_000)
    monkeypatch.setattr("acp_tui.rpc.peer.UNREAD_LIMIT_S", 0.1)
    async with running("open_session()\nwhile True: send(id=1, method='example/none', params={})") as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentLost, match=r"was ended: it hasn't read 100,\d\d\d bytes that were sent"):
            await session.send_prompt(REPLY)
    assert not session.conversation.is_connected


async def test_an_exit_before_the_handshake_tells_what_was_printed_instead_of_an_answer() -> None:
    with pytest.raises(AgentLost) as caught:
        async with running("print('Please log in first'); sys.exit(3)") as agent:
            await agent.initialize()
    assert caught.value.detail.endswith(": Please log in first")


async def test_one_that_is_given_up_tells_what_it_printed_on_both() -> None:
    program = "print('Log in at', flush=True); print('example.com', file=sys.stderr, flush=True); sys.stdin.read()"
    async with running(program) as agent:
        await polled(lambda: len(agent.log) == 2, anyio.lowlevel.checkpoint)
        lost = agent.give_up("You stopped it")
    assert sorted(line.rpartition(": ")[2] for line in lost.detail.split("\n")) == ["Log in at", "example.com"]


async def test_a_flood_on_stderr_does_not_block_the_agent(tmp_path: Path):
    """R-TRANS-3."""
    script = """
        prompt = open_session()
        sys.stderr.write("x" * 1_000_000 + "\\nthe end\\n"); sys.stderr.flush()
        end(prompt); serve_until_closed()
    """
    async with running(script) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
    assert session.conversation.last_stop_reason == "end_turn"


# Its end


async def test_a_death_in_mid_turn_keeps_the_conversation_and_says_why(tmp_path: Path):
    """R-TRANS-7, R-PROMPT-8."""
    script = """
        open_session(); say("half a sen")
        update("tool_call", toolCallId="t", title="Work", status="in_progress")
        ask("allow_once")
        print("out of memory", file=sys.stderr); sys.exit(9)
    """
    async with running(script) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentLost, match="exited with code 9"):
            await session.send_prompt(REPLY)
        session.cancel()  # too late, and harmless
        with pytest.raises(AgentLost):
            await session.send_prompt(REPLY)
    conversation = session.conversation
    assert agent_texts(session) == ["half a sen"]
    assert conversation.entries[-1] == Failure("scripted exited with code 9", stderr_tail="out of memory\n")
    assert (conversation.turn, conversation.is_connected) == (TurnPhase.IDLE, False)
    assert conversation.permissions == {}
    assert conversation.unsettled_calls == set()


async def test_an_agent_that_stops_listening_is_given_up(tmp_path: Path, short_grace: None):
    script = STUBBORN + "open_session(); os.close(0); say('deaf')\nwhile True:\n    signal.pause()"
    async with running(script) as agent, anyio.create_task_group() as tasks:
        await agent.initialize()
        session = await agent.new_session(tmp_path)

        async def send_prompt() -> None:
            with pytest.raises(AgentLost, match="broke the protocol: the agent closed its input"):
                await session.send_prompt(REPLY)

        tasks.start_soon(send_prompt)
        await until(session, lambda: agent_texts(session) == ["deaf"])
        session.cancel()  # it can no longer be written
    assert session.conversation.turn is TurnPhase.IDLE


async def test_an_agent_that_ends_with_its_input_is_not_signalled(tmp_path: Path):
    """R-TRANS-8."""
    trace = tmp_path / "trace"
    script = f"""
        import signal
        signal.signal(signal.SIGTERM, lambda *_: open({str(trace)!r}, "w").write("signalled"))
        handshake(); sys.stdin.read(); open({str(trace)!r}, "w").write("end of input")
    """
    async with running(script) as agent:
        await agent.initialize()
    assert trace.read_text() == "end of input"
    assert our_children() == []


async def test_an_agent_that_ignores_everything_is_killed_with_its_children(short_grace: None):
    """R-TRANS-8."""
    script = STUBBORN + "if os.fork():\n    handshake()\nwhile True:\n    signal.pause()"
    async with running(script) as agent:
        await agent.initialize()
        family = our_children()
        assert len(family) == 2
    await ended(family)
    assert our_children() == []


async def test_a_child_that_outlives_the_agent_is_killed(short_grace: None):
    script = STUBBORN + "if os.fork():\n    handshake()\n    os._exit(0)\nwhile True:\n    signal.pause()"
    async with running(script) as agent:
        await agent.initialize()
        pids = [process for process in our_children() if process.status() != "zombie"]
    await ended(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, what has left the agent's session isn't found")
@pytest.mark.parametrize("way", WAYS)
async def test_whatever_an_agent_leaves_behind_ends_with_it(tmp_path: Path, short_grace: None, way: str):
    left = Left(tmp_path, way)
    # Not before the handshake: one way stops its parent, which is the agent here.
    script = f"import subprocess; handshake(); subprocess.Popen({left.argv!r}, stdin=subprocess.DEVNULL); read()"
    async with running(script) as agent:
        await agent.initialize()
        assert await anyio.to_thread.run_sync(left.is_up)
    assert left.is_gone()


async def test_no_agent_outlives_a_crash_of_the_body():
    with pytest.raises(ZeroDivisionError):
        async with running("handshake(); serve_until_closed()") as agent:
            await agent.initialize()
            assert len(our_children()) == 1
            raise ZeroDivisionError
    assert our_children() == []


async def test_no_agent_outlives_a_cancelled_body():
    with anyio.move_on_after(0) as scope:
        async with running("serve_until_closed()"):
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert our_children() == []


async def test_the_death_of_one_agent_leaves_the_other_alone(tmp_path: Path):
    async with running("handshake(); sys.exit(1)") as dying, open_hub() as hub:
        await dying.initialize()
        command = AgentCommand("other", (*dying.command.argv[:-1], "end(open_session()); read()"))
        other = await hub.start_agent(command)
        await other.initialize()
        with pytest.raises(AgentLost):
            await dying.new_session(tmp_path)
        session = await other.new_session(tmp_path)
        await session.send_prompt(REPLY)
    assert session.conversation.last_stop_reason == "end_turn"


async def test_an_agent_starts_in_the_folder_where_it_works(tmp_path: Path) -> None:
    heard = await words_of(AgentCommand("a", (sys.executable, "-c", SAY_WHERE)), tmp_path)
    assert heard == [str(tmp_path.resolve())]


async def test_where_that_folder_is_gone_it_starts_where_we_are(tmp_path: Path) -> None:
    heard = await words_of(AgentCommand("a", (sys.executable, "-c", SAY_WHERE)), tmp_path / "gone")
    assert heard == [str(Path.cwd())]


async def test_files_that_were_typed_beside_the_user_are_found_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "agent.py").write_text("import sys; print(*sys.argv[1:], sep='\\n', file=sys.stderr)")
    program(tmp_path / "run", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    monkeypatch.chdir(tmp_path)
    command = AgentCommand("a", ("./run", "agent.py", "run the agent", "--acp"))
    assert await words_of(command, tmp_path / "project") == ["run the agent", "--acp"]


@pytest.mark.skipif(shutil.which("npx") is None, reason="npx isn't installed")
async def test_what_npx_runs_is_not_the_project_s_and_works_in_the_project(home: Path, tmp_path: Path) -> None:
    """Besides the agreed package, the project has one with the same name, and settings for npm."""
    package, project = tmp_path / "package", tmp_path / "a project"
    for folder, says in ((package, SAY_WHERE_IN_NODE), (project / "node_modules" / "packaged", "throw 1")):
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"name": "packaged", "version": "1.0.0", "bin": "cli.js"}')
        (folder / "cli.js").write_text(f"#!/usr/bin/env node\n{says}\n")
    (project / "package.json").write_text('{"dependencies": {"packaged": "1.0.0"}}')
    (project / ".npmrc").write_text("script-shell=/bin/false\n")
    line = ("npx", "-y", "--offline", "--package", str(package), "packaged", "a b", "$HOME")
    heard = await words_of(AgentCommand("packaged", line, runner="npx"), project)
    said = [json.loads(line) for line in heard if line.startswith("[")]
    assert said == [[str(project.resolve()), "a b", "$HOME", None]]


async def words_of(command: AgentCommand, folder: Path) -> list[str]:
    """Its stderr, line by line, until its end."""
    heard = bytearray()
    with anyio.fail_after(LIMIT_S):
        async with process_module.running_agent(command, heard.extend, folder) as process:
            await process.wait_for_end(20)
    return heard.decode().splitlines()


async def test_an_agent_that_was_started_early_is_the_one_that_runs(tmp_path: Path) -> None:
    script = f"import os, pathlib; pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch(); input()"
    command = AgentCommand("early", (sys.executable, "-c", script))
    starting.start_early(command, tmp_path)
    async with process_module.running_agent(command, lambda _: None, tmp_path) as one:
        starting.end_early()  # there is none any more
        async with process_module.running_agent(command, lambda _: None, tmp_path) as other:
            with anyio.fail_after(LIMIT_S):
                while len([*tmp_path.iterdir()]) < 2:
                    await anyio.lowlevel.checkpoint()
            assert {file.name for file in tmp_path.iterdir()} == {str(one.pid), str(other.pid)}


def test_an_agent_that_was_started_early_for_nothing_is_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"import os, pathlib; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); input()"
    starting.start_early(AgentCommand("early", (sys.executable, "-c", script)), tmp_path)
    starting.end_early()
    assert not pid_file.exists() or row_of(int(pid_file.read_text())) is None


def test_what_must_be_agreed_to_is_not_started_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = AgentCommand("early", (sys.executable, "-c", "input()"), package=Package("npx", "early@1", "1"))
    monkeypatch.setattr(starting.guard, "start", lambda *_: pytest.fail("it was started"))
    starting.start_early(command, tmp_path)
