"""`acp-tui exec` as its own process: pipes, signals, and a terminal to ask on."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic
from unittest.mock import ANY

import anyio.lowlevel
import psutil
import pytest

from support.agents import scripted_argv
from support.command_line import lines_of
from support.processes import all_end
from support.terminals import asking
from support.waiting import LIMIT_S, until

ROOT = Path(__file__).parents[2]
# A process session of its own on the given terminal; stdin, stdout, and stderr stay as they are.
ON_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR), termios.TIOCSCTTY, 0)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture(autouse=True)
def no_signal_is_ignored() -> Iterator[None]:
    """exec leaves a signal ignored if it was from the start, as under nohup, under which the tests may run."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)  # a handler isn't inherited
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def exec_argv(script: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "acp_tui", "exec", "-p", "go", *options, "--", *scripted_argv(script)]


@contextmanager
def started(
    argv: list[str], *, stdout: int = subprocess.PIPE, new_session: bool = True, config: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        argv,
        cwd=ROOT,
        env={**os.environ} if config is None else {**os.environ, "XDG_CONFIG_HOME": str(config)},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=new_session,
    )
    # Turns a hang into an end of its output, and so into a failure.
    limit = Timer(LIMIT_S, process.kill)
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Status, stdout, and stderr of a process that ends on its own and leaves nothing."""
    family = psutil.Process(process.pid).children(recursive=True)
    out, err = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in err, err
    assert all_end(family)  # the guardian exits a moment after what it guards
    return process.returncode, out, err


@contextmanager
def named_pipe(path: Path) -> Iterator[int]:
    """A descriptor open for both ends, so that opening either doesn't block."""
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR)
    yield descriptor
    os.close(descriptor)


# Commands


REPLACES = """
answer(expect("initialize"), protocolVersion=2, info={"name": "a", "version": "1"}, capabilities={})
answer(expect("session/new"), sessionId="s1")
prompt = expect("session/prompt")
update("state_update", state="running")
answer(prompt, messageId="m1")
update("agent_message_chunk", messageId="a", content={"type": "text", "text": "Two lines:\\nit is "})
for text in ("41", "42"):
    update("agent_message", messageId="a", content=[{"type": "text", "text": f"Two lines:\\nthis is {text}"}])
update("state_update", state="idle", stopReason="end_turn")
serve_until_closed()
"""


def test_a_message_that_version_two_replaces_goes_into_a_pipe_once() -> None:
    with started(exec_argv(REPLACES)) as process:
        out, err = process.communicate()
    assert out == "Two lines:\nit is \n[replaced from “it is” on]\nthis is 42\n"
    assert (process.returncode, err) == (0, "")


LIMITED = """
prompt = open_session()
refuse(prompt, -32603, "Not now", {"retryAfter": 30, "reason": "rate_limit", "scope": "team", "correlationId": "r"})
serve_until_closed()
"""


def test_an_error_that_says_when_to_try_again_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    with started(exec_argv(LIMITED, "--cwd", str(tmp_path))) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (4, "")
    assert "  reason: rate_limit · scope: team · correlation ID: r\n  try again in 30 s\n" in err


def test_the_result_and_the_recording_have_what_the_agent_said_of_its_error(tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    with started(exec_argv(LIMITED, "--format", "ndjson", "--record", str(kept))) as process:
        *_, result = lines_of(process.communicate()[0].splitlines())
    said = {"reason": "rate_limit", "scope": "team", "correlation_id": "r", "retry_after_s": 30.0}
    error = {"kind": "AgentRefused", "message": ANY, "said": {**said, "retry_at": ANY, "auth_methods": []}}
    assert (result["exit_code"], result["error"]) == (4, error)
    subprocess.run(
        [sys.executable, "-m", "acp_tui", "render", str(kept), "-o", str(tmp_path / "kept.txt")],
        cwd=ROOT,
        capture_output=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert "reason: rate_limit · scope: team · correlation ID: r" in (tmp_path / "kept.txt").read_text()
    assert "try again in 30 s" in (tmp_path / "kept.txt").read_text()


def test_a_command_that_asks_its_terminal_for_the_cursor_is_answered() -> None:
    """Nobody sees that terminal, but the program would wait for the answer."""
    pytest.importorskip("pyghostty")
    program = asking(b"ab\x1b[6n", until=b"R")
    script = f"""
        p = open_session()
        send(id=1, method="terminal/create", params={{
            "sessionId": "s1", "command": {sys.executable!r}, "args": ["-S", "-c", {program!r}]}})
        terminal = {{"sessionId": "s1", "terminalId": read()["result"]["terminalId"]}}
        send(id=2, method="terminal/wait_for_exit", params=terminal); read()
        send(id=3, method="terminal/output", params=terminal)
        say(read()["result"]["output"]); end(p); serve_until_closed()
    """
    with started(exec_argv(script, "--allow-unasked", "run")) as process:
        status, out, err = ended(process)
    assert (status, out.split()) == (0, ["ab", "got", b"\x1b[1;3R".hex()]), err


# Pipes


@pytest.mark.parametrize("output_format", ["text", "ndjson"])
def test_a_reader_that_leaves_cancels_the_turn(output_format: str):
    script = """
        import select
        p = open_session()
        while not select.select([0], [], [], 0)[0]:
            say("more\\n")
        expect("session/cancel"); end(p, "cancelled"); serve_until_closed()
    """
    with started(exec_argv(script, "--format", output_format)) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        status, _, err = ended(process)
    assert status == 1, "its output was cut off"
    assert "canceling" in err
    assert "acp-tui: can't write to stdout: Broken pipe" in err
    assert "BrokenPipe" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("stop_reason", ["cancelled", "end_turn"])
def test_a_full_disk_is_an_error_and_cancels_the_turn(stop_reason: str):
    script = f"p = open_session(); say('one'); expect('session/cancel'); end(p, {stop_reason!r}); read()"
    with Path("/dev/full").open("w") as full, started(exec_argv(script), stdout=full.fileno()) as process:
        status, _, err = ended(process)
    assert status == 1
    assert "acp-tui: can't write to stdout: No space left" in err


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_by_the_protocol_first(number: signal.Signals):
    script = """
        p = open_session(); say("working\\n")
        say("saw " + expect("session/cancel")["method"]); end(p, "cancelled"); serve_until_closed()
    """
    with started(exec_argv(script)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        assert ended(process)[:2] == (130, "saw session/cancel\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_it_also_while_nothing_reads_what_it_writes(number: signal.Signals, tmp_path: Path):
    script = "open_session(); say('x' * 500_000); serve_until_closed()"
    ours, theirs = os.pipe()
    try:
        with started(exec_argv(script, "--format", "ndjson"), stdout=theirs) as process:
            await until(lambda: not select.select([], [theirs], [], 0)[1], anyio.lowlevel.checkpoint)
            process.send_signal(number)
            assert ended(process)[0] == 130
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_second_interrupt_ends_an_agent_that_passes_over_the_first():
    script = "open_session(); say('working\\n'); expect('session/cancel'); say('no\\n'); serve_until_closed()"
    with started(exec_argv(script)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "no\n"
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130


def test_an_interrupt_before_there_is_a_session_ends_at_once(tmp_path: Path):
    reached = tmp_path / "reached"
    script = f"expect('initialize'); open({str(reached)!r}, 'w').write('x'); serve_until_closed()"
    with named_pipe(reached) as pipe, started(exec_argv(script)) as process:
        assert select.select([pipe], [], [], LIMIT_S)[0]
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130


# A terminal


class Terminal:
    """The user's side of a terminal."""

    def __init__(self, master: int, device: str) -> None:
        self._master = master
        self.device = device
        self._shown = b""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> str:
        """What was shown, up to and including `text`."""
        deadline = monotonic() + LIMIT_S
        while text.encode() not in self._shown:
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - monotonic()))
            assert ready, self._shown
            self._shown += os.read(self._master, 4096)
        before, _, self._shown = self._shown.partition(text.encode())
        return before.decode() + text


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    master, slave = pty.openpty()
    yield Terminal(master, os.ttyname(slave))
    os.close(slave)
    os.close(master)


@contextmanager
def asked(terminal: Terminal, script: str, config: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """`exec` on that terminal, with stdin and stdout elsewhere."""
    launcher = [sys.executable, "-I", "-S", "-c", ON_TERMINAL, terminal.device]
    with started([*launcher, *exec_argv(script)], new_session=False, config=config) as process:
        yield process


CHOICE = "Your choice: "
ASK = "p = open_session(); ask('allow_once', 'reject_once'); say(outcome()); end(p); read()"


def test_the_user_is_asked_on_the_terminal_and_the_number_is_the_answer(terminal: Terminal):
    with asked(terminal, ASK) as process:
        question = terminal.wait_for(CHOICE)
        terminal.type("1\n")
        assert ended(process)[:2] == (0, "allow_once\n")
    assert "Permission needed: Delete everything" in question
    assert "the agent didn't say exactly what this does" in question
    assert "  2 n  Reject once  “reject_once”" in question


def test_a_rejection_on_the_terminal_is_status_5(terminal: Terminal):
    with asked(terminal, ASK) as process:
        terminal.wait_for(CHOICE)
        terminal.type("2\n")
        assert ended(process)[:2] == (5, "reject_once\n")


def test_what_is_no_number_of_an_option_is_asked_again(terminal: Terminal):
    with asked(terminal, ASK) as process:
        for answer in ("", "0", "3", "yes", "1 2", "¹"):
            terminal.wait_for(CHOICE)
            terminal.type(f"{answer}\n")
        terminal.wait_for(CHOICE)
        terminal.type("2\n")
        assert ended(process)[0] == 5


def test_what_was_typed_before_the_question_does_not_answer_it(terminal: Terminal):
    """R-PERM-9."""
    terminal.type("1\n1")
    with asked(terminal, ASK) as process:
        terminal.wait_for(CHOICE)
        terminal.type("2\n")
        assert ended(process)[:2] == (5, "reject_once\n")


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl+C", "Ctrl+D"])
def test_the_turn_is_cancelled_at_the_question(terminal: Terminal, key: str):
    script = """
        p = open_session(); ask("allow_once", "reject_once")
        say(expect("session/cancel")["method"] + ", " + outcome()); end(p, "cancelled"); read()
    """
    with asked(terminal, script) as process:
        terminal.wait_for(CHOICE)
        terminal.type(key)
        assert ended(process)[:2] == (130, "session/cancel, cancelled\n")


def test_a_withdrawn_question_makes_room_for_the_next(terminal: Terminal, tmp_path: Path):
    script = f"""
        p = open_session(); first = ask("allow_once", "reject_once"); ask("reject_once", "reject_always")
        open({str(tmp_path / "shown")!r}).readline()
        send(method="$/cancel_request", params={{"requestId": first}})
        assert read()["error"]["code"] == -32800
        say(outcome()); end(p); read()
    """
    with named_pipe(tmp_path / "shown") as pipe, asked(terminal, script) as process:
        terminal.wait_for(CHOICE)
        os.write(pipe, b"\n")
        terminal.wait_for("no longer needed")
        terminal.wait_for(CHOICE)
        terminal.type("1\n")
        assert ended(process)[:2] == (5, "reject_once\n")


def test_a_rule_that_cannot_refuse_once_is_told_before_the_question(terminal: Terminal, tmp_path: Path):
    (tmp_path / "acp-tui").mkdir()
    (tmp_path / "acp-tui" / "settings.toml").write_text("[[refuse]]\nkind = 'other'\n")
    script = "p = open_session(); ask('allow_once', 'reject_always'); say(outcome()); end(p); read()"
    with asked(terminal, script, config=tmp_path) as process:
        question = terminal.wait_for(CHOICE)
        terminal.type("2\n")
        assert ended(process)[:2] == (5, "reject_always\n")
    assert "Your rule refuses it" in question.partition("The agent asks")[0]


def test_nothing_else_is_printed_behind_a_question(terminal: Terminal, tmp_path: Path):
    script = f"""
        p = open_session(); ask("allow_once", "reject_once")
        open({str(tmp_path / "shown")!r}).readline()
        update("tool_call", toolCallId="t", title="Edit config.toml", status="failed"); say("never mind")
        send(id=99, method="fs/none", params={{}}); read()
        open({str(tmp_path / "told")!r}, "w").write("x"); outcome(); end(p); read()
    """
    shown, told = named_pipe(tmp_path / "shown"), named_pipe(tmp_path / "told")
    with shown as question_shown, told as all_told, asked(terminal, script) as process:
        terminal.wait_for(CHOICE)
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == "· pending     Delete everything\n"
        os.write(question_shown, b"\n")
        assert select.select([all_told], [], [], LIMIT_S)[0]
        assert select.select([process.stderr, process.stdout], [], [], 0)[0] == []
        terminal.type("1\n")
        _, out, err = ended(process)
    assert out == "never mind\n"
    assert "failed      Edit config.toml" in err
