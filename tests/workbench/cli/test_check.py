"""The printed report of `check`, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.cli.arguments import ChosenAgent
from acp_tui.cli.main import main
from acp_tui.workbench.check import examination
from acp_tui.workbench.check.examination import Examination
from support.agents import scripted_argv
from support.command_line import data_of, given

WRONG = r"""
print("\x1b]0;evil\x07 token=abc12345", flush=True)
handshake(agentInfo={"name": "a\x1b[31m", "version": "1"})
answer(expect("session/new"), sessionId="s1")
while True:
    message = read()
    if message.get("method") == "session/prompt":
        say("hello")
        answer(message, stopReason="end_turn")
    elif "id" in message:
        refuse(message, -32601, "no such method")
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(examination, "QUIET_S", 0.02)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_command_line_is_read() -> None:
    agent = ChosenAgent(argv=("x",))
    assert given("check --prompt hi --timeout 5 --format json -- x") == (
        "check",
        {"agent": agent, "prompt": "hi", "timeout": 5.0, "format": "json"},
    )
    assert given("check --rules") == ("check", {"rules": True, "timeout": 120.0, "format": "text"})


def test_a_broken_rule_is_told_with_its_frame_and_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--", *scripted_argv(WRONG)]) == 1
    out = capsys.readouterr().out
    assert "Errors\n  A-LINE-1    The agent writes only messages to stdout." in out
    assert "1 <- " in out
    assert "Write banners, warnings, and logs to stderr" in out
    assert "https://agentclientprotocol.com/protocol/v1/transports\n" in out
    assert "1 error, 0 warnings, 0 notes." in out
    assert out.endswith("For what each rule says: acp-tui check --rules\n")
    assert "\x1b" not in out
    assert "abc12345" not in out


def test_the_json_form_holds_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "--", *scripted_argv(WRONG)]) == 1
    report = data_of("check", capsys.readouterr().out)
    assert (report["status"], report["failure"]) == (1, None)
    (finding,) = report["findings"]
    assert (finding["rule"], finding["severity"], finding["times"]) == ("A-LINE-1", "error", 1)
    (frame,) = finding["breaches"][0]["frames"]
    assert (frame["index"], frame["direction"]) == (1, "in")
    assert not set(report["looked_at"]) & set(report["not_looked_at"])


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ('handshake()\nrefuse(expect("session/new"), -32000, "Log in")\nserve_until_closed()', 6),
        ("handshake()\nsys.exit(3)", 7),
    ],
)
def test_an_early_end_has_the_status_of_its_reason(
    script: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--", *scripted_argv(script)]) == status
    assert "The check ended early: " in capsys.readouterr().out


def test_what_an_agent_said_before_it_died_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    script = scripted_argv("handshake(); print('no model is set', file=sys.stderr); sys.exit(3)")
    main(["check", "--", *script])
    assert "Its last lines on stderr:\n  no model is set" in capsys.readouterr().out
    main(["check", "--format", "json", "--", *script])
    assert data_of("check", capsys.readouterr().out)["last_words"] == ["no model is set"]


def test_a_command_that_is_not_found_has_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--", "no-such-agent-anywhere"]) == 127
    assert "no-such-agent-anywhere wasn't found" in capsys.readouterr().out


def test_an_interrupted_check_says_so_and_has_its_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def interrupted(examination: Examination) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Examination, "run", interrupted)
    assert main(["check", "--", "agent"]) == 130
    assert "Skipped: the rest: you interrupted it" in capsys.readouterr().out


def test_on_a_terminal_it_is_told_what_is_done(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    main(["check", "--", *scripted_argv(WRONG)])
    assert "... session/new" in capfd.readouterr().err


def test_the_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--rules"]) == 0
    assert "A-RESUME-1  error    Resuming a session replays nothing.\n" in capsys.readouterr().out
    assert main(["check", "--rules", "--format", "json"]) == 0
    rules = data_of("rules", capsys.readouterr().out)
    assert all(rule["advice"] and rule["reference"] for rule in rules)
