"""`acp-tui exec` in this process: what it prints where, and every exit status."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_tui.cli import PRECEDENCE, ExitCode, exec_start, permissions, terminal, weightiest
from acp_tui.cli.main import main
from acp_tui.client.agents import catalogue
from acp_tui.client.agents.configured_agents import config_file
from support.agents import our_children, scripted_argv
from support.command_line import lines_of


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask nobody on the terminal the tests may run on."""
    monkeypatch.setattr(permissions, "open_terminal", lambda: None)


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """Fail a test whose turn hangs."""

    def give_up(*_: object) -> None:
        raise TimeoutError("exec didn't end")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(15)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def nothing_is_left_or_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert our_children() == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


class Ran:
    """The results of a call of `exec`."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Calls `exec` with a scripted agent."""

    def call(script: str, *options: str) -> Ran:
        arguments = ["exec", "--cwd", str(tmp_path), "--prompt", "go", *options]
        status = main([*arguments, "--", *scripted_argv(script)])
        return Ran(status, *capfd.readouterr())

    return call


# Both formats


def test_text_is_the_agents_message_and_all_else_is_on_stderr(run: Any):
    script = """
        prompt = open_session()
        update("agent_thought_chunk", content={"type": "text", "text": "hmm"})
        say("one, "); say("two")
        update("tool_call", toolCallId="t", title="Look\\x1b[2J", status="in_progress")
        update("tool_call_update", toolCallId="t", status="completed")
        say("three\\n"); end(prompt); read()
    """
    ran = run(script)
    assert (ran.status, ran.out) == (0, "one, two\n\nthree\n")
    assert ran.err.splitlines()[0].startswith("· in progress Look")
    assert "\x1b" not in ran.err


def test_a_last_line_without_an_end_is_ended(run: Any):
    assert run("prompt = open_session(); say('done'); end(prompt); read()").out == "done\n"


def test_ndjson_is_the_conversation_as_it_changes_and_one_result(run: Any, tmp_path: Path):
    script = """
        prompt = open_session()
        say("one\\ntwo é"); say("!"); update("from_tomorrow", x={"y": None}); end(prompt); read()
    """
    ran = run(script, "--format", "ndjson")
    answer = {"type": "message", "entry": 1, "role": "agent", "parts": [{"type": "text", "text": "one\ntwo é"}]}
    started, asked, *lines = lines_of(ran.out.splitlines())
    assert started["schema"] == "acp-tui/conversation/1"
    assert (started["session_id"], asked["role"]) == ("s1", "user")
    assert lines == [
        {**answer, "notes": []},
        {"type": "message_chunk", "entry": 1, "role": "agent", "text": "!"},
        {
            "type": "unknown",
            "entry": 2,
            "kind": "from_tomorrow",
            "raw": {"sessionUpdate": "from_tomorrow", "x": {"y": None}},
        },
        {
            "type": "result",
            "exit_code": 0,
            "stop_reason": "end_turn",
            "turn": {"type": "turn", "start": 0, "end": 3, "stop_reason": "end_turn"},
        },
    ]
    assert ran.status == 0


def test_raw_ndjson_has_each_frame_of_the_agent_before_what_it_changes(run: Any):
    ran = run('prompt = open_session(); say("one"); end(prompt); read()', "--format", "ndjson", "--raw")
    lines = lines_of(ran.out.splitlines())
    said = next(at for at, line in enumerate(lines) if line.get("role") == "agent")
    assert lines[said - 1]["frame"]["params"]["update"]["content"] == {"type": "text", "text": "one"}
    assert [line["type"] for line in lines].count("frame") == 4


def test_ndjson_ends_with_what_the_turn_used(run: Any):
    script = """
        prompt = open_session()
        update("usage_update", used=10, size=20, cost={"amount": 0.02, "currency": "USD"})
        answer(prompt, stopReason="end_turn", usage={"totalTokens": 9, "inputTokens": 8, "outputTokens": 1}); read()
    """
    *_, result = lines_of(run(script, "--format", "ndjson").out.splitlines())
    assert (result["turn"]["cost"], result["turn"]["currency"]) == (0.02, "USD")
    assert result["turn"]["usage"]["total"] == 9


def test_an_update_before_the_session_is_known_is_printed(run: Any):
    script = """
        handshake(); opening = expect("session/new"); say("early")
        answer(opening, sessionId="s1"); prompt = expect("session/prompt"); say("late"); end(prompt); read()
    """
    assert run(script).out == "early\n\nlate\n"


def test_ndjson_tells_an_error_in_the_result(run: Any):
    ran = run("handshake(); print('why', file=sys.stderr); sys.exit(4)", "--format", "ndjson")
    started, result = lines_of(ran.out.splitlines())
    assert (ran.status, result["exit_code"], "session_id" in started) == (7, 7, False)
    assert result["error"]["kind"] == "AgentLost"
    assert "exited with code 4" in result["error"]["message"]
    assert result["error"]["detail"] == "why\n"


def test_an_agent_that_takes_long_to_start_is_waited_for_in_words(run: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(terminal, "PATIENCE_S", 0)
    ran = run("prompt = open_session(); end(prompt); read()")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err.count("waiting for") == 1
    assert "Ctrl+C" in ran.err


def test_an_agent_that_starts_in_time_but_says_nothing_is_told(run: Any):
    ran = run("prompt = open_session(); end(prompt); read()")
    assert (ran.out, ran.err) == ("", "· The agent ended its turn without saying or doing anything.\n")


# The prompt


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_a_usage_error(prompt: str, capfd: pytest.CaptureFixture[str]):
    assert main(["exec", "--prompt", prompt, "--", "no-such-agent"]) == 2
    assert "prompt is empty" in capfd.readouterr().err


def test_the_prompt_is_read_from_stdin(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("two\nlinés".encode())))
    script = "p = open_session(); say(p['params']['prompt'][0]['text']); end(p); read()"
    assert main(["exec", "--", *scripted_argv(script)]) == 0
    assert capfd.readouterr().out == "two\nlinés\n"


ECHO = "p = open_session(); say(p['params']['prompt'][0]['text']); end(p); read()"


def piped(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """A pipe as stdin: with this text and closed, or open and silent."""
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    if text is not None:
        os.write(writing, text.encode())
        os.close(writing)


def test_what_is_piped_in_goes_behind_the_prompt(run: Any, monkeypatch: pytest.MonkeyPatch):
    piped(monkeypatch, "-old\n+new\n")
    assert run(ECHO).out == "go\n\n-old\n+new\n"


def test_a_pipe_that_is_closed_and_empty_adds_nothing(run: Any, monkeypatch: pytest.MonkeyPatch):
    piped(monkeypatch, "")
    assert run(ECHO).out == "go\n"


def test_another_process_holding_the_pipe_delays_nothing(run: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exec_start, "STDIN_LIMIT_S", 0)
    piped(monkeypatch, None)
    ran = run(ECHO)
    assert ran.out == "go\n"
    assert "nothing on stdin" in ran.err


def test_where_a_turn_fails_the_agents_stderr_may_say_why(run: Any):
    failing = "p = open_session(); print('\\x1b[31mno quota', file=sys.stderr); end(p, 'refusal'); read()"
    assert "· agent stderr: ␛[31mno quota\n" in run(failing).err


@pytest.mark.parametrize("script", ["sys.exit(0)", "refuse(expect('initialize'), -32601, 'Method not found')"])
def test_a_program_that_is_no_agent_is_suspected_to_be_none(run: Any, script: str):
    assert "is it an ACP agent?" in run(script).err


def test_a_program_that_ends_with_an_error_of_its_own_is_not_suspected(run: Any):
    said = run("print('no such module: acp', file=sys.stderr); sys.exit(1)").err
    assert "no such module: acp" in said
    assert "is it an ACP agent?" not in said


# Exit statuses

TURN = "p = open_session(); "
LOGIN = "handshake(authMethods=[{'id': 'k', 'name': 'API key'}]); "


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        (TURN + "end(p); read()", 0, ""),
        (TURN + "refuse(p, -32603, 'quota', {'details': 'the cause'}); read()", 1, "the cause"),
        (TURN + "end(p, 'of_tomorrow'); read()", 1, "of_tomorrow"),
        ("refuse(expect('initialize'), -32603, 'no quota'); read()", 1, "no quota"),
        (TURN + "end(p, 'refusal'); read()", 3, "refused"),
        (TURN + "end(p, 'max_tokens'); read()", 4, "token limit"),
        (TURN + "end(p, 'max_turn_requests'); read()", 4, "limit of requests"),
        (TURN + "ask('allow_once', 'reject_once'); assert outcome() == 'reject_once'; end(p); read()", 5, "rejected"),
        (LOGIN + "refuse(expect('session/new'), -32000, 'x'); read()", 6, "API key"),
        (TURN + "refuse(p, -32000, 'expired'); read()", 6, "log in"),
        ("sys.exit(3)", 7, "exited with code 3"),
        (TURN + "print('last words', file=sys.stderr); sys.exit(3)", 7, "last words"),
        ("answer(expect('initialize'), protocolVersion=9); read()", 7, "version 9"),
        ("answer(expect('initialize'), protocolVersion='x'); read()", 7, "broke the protocol"),
        ("handshake(); answer(expect('session/new')); read()", 7, "broke the protocol"),
        (TURN + "answer(p); read()", 7, "without a readable reason"),
        (TURN + "end(p, 'cancelled'); read()", 130, "canceled"),
    ],
)  # fmt: skip
def test_each_outcome_has_its_status(run: Any, script: str, status: int, said: str):
    ran = run(script)
    assert (ran.status, ran.out) == (status, ""), ran.err
    assert ran.err.count(said) == 1 or not said
    assert "Traceback" not in ran.err


IN_TWO = """
answer(expect("initialize"), protocolVersion=2, info={"name": "two", "version": "1"})
answer(expect("session/new"), sessionId="s1")
p = expect("session/prompt")
def state(name, **fields): update("state_update", state=name, **fields)
def said(text): update("agent_message_chunk", messageId="a", content={"type": "text", "text": text})
answer(p, messageId="u")
"""


@pytest.mark.parametrize(
    ("script", "status", "out"),
    [
        ("state('running'); said('one '); said('two'); state('idle', stopReason='end_turn'); read()", 0, "one two\n"),
        ("state('idle'); state('running'); said('late'); state('idle', stopReason='refusal'); read()", 3, "late\n"),
        ("state('_odd'); state('idle', stopReason='error', error={'code': -32603, 'message': 'no'}); read()", 1, ""),
        ("state('running'); state('idle', stopReason='error', error={'code': -32000, 'message': 'x'}); read()", 6, ""),
        ("state('running'); said('half'); sys.exit(3)", 7, "half\n"),
    ],
)  # fmt: skip
def test_it_ends_with_the_state_of_an_agent_of_version_2(run: Any, script: str, status: int, out: str):
    """R2-TURN, R2-STATE, R2-ERR: the answer to the prompt doesn't end the turn."""
    ran = run(IN_TWO + script)
    assert (ran.status, ran.out) == (status, out), ran.err


def test_a_command_that_is_not_there_is_127(capfd: pytest.CaptureFixture[str]):
    assert main(["exec", "--prompt", "go", "--", "no-such-agent"]) == 127
    assert "no-such-agent wasn't found" in capfd.readouterr().err


def test_a_command_that_cannot_run_is_126(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "agent").write_text("")
    assert main(["exec", "--prompt", "go", "--", str(tmp_path / "agent")]) == 126
    assert "n't an executable file" in capfd.readouterr().err


def test_the_order_in_which_statuses_count():
    order = [7, 6, 130, 2, 3, 5, 0]
    assert sorted(map(ExitCode, reversed(order)), key=PRECEDENCE.index) == order
    assert sorted(PRECEDENCE) == sorted(ExitCode)
    assert weightiest(set()) is ExitCode.DONE


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ("sys.exit(1)", 7),
        ("refuse(p, -32000, 'x'); read()", 6),
        ("end(p, 'cancelled'); read()", 130),
        ("refuse(p, -1, 'x'); read()", 1),
        ("end(p, 'refusal'); read()", 3),
        ("end(p, 'max_tokens'); read()", 4),
        ("end(p); read()", 5),
    ],
)
def test_a_rejected_permission_counts_least(run: Any, after: str, status: int):
    assert run(TURN + "ask('reject_once'); outcome(); " + after).status == status


# Permissions without anyone to ask


def test_an_always_option_is_never_taken_unasked_and_the_turn_is_cancelled(run: Any):
    script = """
        p = open_session(); ask("allow_once", "allow_always", "reject_always")
        say(f"{expect('session/cancel')['method']}, then {outcome()}"); end(p, "cancelled"); read()
    """
    ran = run(script)
    assert (ran.status, ran.out) == (130, "session/cancel, then cancelled\n")


def test_a_cancel_that_the_agent_passes_over_still_counts_as_a_rejection(run: Any):
    script = TURN + "ask('allow_once'); expect('session/cancel'); outcome(); end(p); read()"
    assert run(script).status == 5


def test_several_requests_are_each_rejected(run: Any):
    script = """
        p = open_session(); ask("allow_once", "reject_once"); ask("reject_always", "reject_once")
        say(f"{outcome()} {outcome()}"); end(p); read()
    """
    ran = run(script)
    assert (ran.status, ran.out) == (5, "reject_once reject_once\n")


# Known names


@pytest.fixture
def agents_file() -> Path:
    file = config_file()
    file.parent.mkdir(parents=True)
    return file


def test_an_agent_of_the_users_own_file_is_run(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    argv = scripted_argv("import os; p = open_session(); say(os.environ['GREETING']); end(p); read()")
    agents_file.write_text(f'[agents.mine]\ncommand = {json.dumps(argv)}\nenv = {{ GREETING = "hi" }}\n')
    assert main(["exec", "mine", "--prompt", "go"]) == 0
    assert capfd.readouterr().out == "hi\n"


def test_an_unknown_name_is_127_with_the_known_ones(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["exec", "gemni", "--prompt", "go"]) == 127
    assert "gemini" in capfd.readouterr().err


def test_a_broken_file_is_a_usage_error_with_an_example(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    agents_file.write_text("agents = [")
    assert main(["exec", "gemini", "--prompt", "go"]) == 2
    assert "[agents.mine]" in capfd.readouterr().err


# Never a traceback


def test_an_error_of_our_own_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.delenv("ACP_TUI_DEBUG", raising=False)
    monkeypatch.setattr(catalogue, "find_agent", lambda *_: 1 / 0)
    assert main(["exec", "gemini", "--prompt", "go"]) == 1
    err = capfd.readouterr().err
    assert err.startswith("acp-tui: internal error: ZeroDivisionError")
    assert "Traceback" not in err


def test_debugging_shows_where_and_makes_it_visible(monkeypatch: pytest.MonkeyPatch, capsys: Any):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("\x1b]0;title\x07")

    monkeypatch.setenv("ACP_TUI_DEBUG", "1")
    monkeypatch.setattr(catalogue, "find_agent", fail)
    assert main(["exec", "gemini", "--prompt", "go"]) == 1
    told = capsys.readouterr().err
    assert "ZeroDivisionError: ␛]0;title␇" in told
    assert "test_exec_outcomes.py" in told
    assert "\x1b" not in told
