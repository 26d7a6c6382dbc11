"""What an examination does with an agent, and what it finds. Each agent is a process that follows a script."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost, AgentNotFound, AuthenticationRequired
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.lines import open_recording
from acp_tui.workbench.check import examination
from acp_tui.workbench.check.examination import CheckPlan, CheckReport, Examination
from support.agents import behind, our_children, scripted
from support.proxies import proxy
from support.waiting import LIMIT_S

REFUSING = """
while True:
    message = read()
    if "id" in message:
        refuse(message, -32601, "no such method")
"""
BEHAVING = (
    """
handshake(agentInfo={"name": "good", "version": "1"})
answer(expect("session/new"), sessionId="s1")
prompt = expect("session/prompt")
say("It is about bees.")
answer(prompt, stopReason="end_turn")
prompt = expect("session/prompt")
say("Once upon a time")
expect("session/cancel")
answer(prompt, stopReason="cancelled")
"""
    + REFUSING
)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "QUIET_S", 0.02)


async def examined(
    script: str | AgentCommand, limit_s: float = 20, record: RecordTo | None = None, prompt: str = "hi"
) -> CheckReport:
    """The report of a finished examination."""
    command = scripted(script) if isinstance(script, str) else script
    with anyio.fail_after(LIMIT_S):
        report = await Examination(command, CheckPlan(prompt, limit_s=limit_s), record).run()
    assert not our_children()
    return report


def broken(report: CheckReport) -> set[str]:
    """The IDs of the broken rules."""
    return {finding.rule.rule_id for finding in report.findings}


async def test_an_agent_that_behaves_breaks_nothing() -> None:
    report = await examined(BEHAVING)
    assert report.failure is None
    assert [finding.text for finding in report.findings] == []
    assert report.identity is not None
    assert {"A-TURN-2", "A-EXT-4", "A-EXT-5", "A-END-1", "A-END-2"} <= report.looked_at


async def test_what_could_not_be_looked_at_is_not_called_kept() -> None:
    report = await examined(BEHAVING)
    assert {"A-LOAD-1", "A-MODE-1", "A-PERM-2"} <= {rule.rule_id for rule in report.not_looked_at}
    assert "no mode or option was set: there are none" in report.left_out


TAKING_PROMPTS = """
handshake(agentInfo={"name": "good", "version": "1"}, agentCapabilities={"sessionCapabilities": {
    "systemPrompt": {"mode": {"override": {}}}}})
answer(expect("session/new"), sessionId="s1")
for number, mode in enumerate(("append", "override", "_acp-tui.check")):
    opening = expect("session/new")
    assert opening["params"]["systemPrompt"]["mode"] == mode
    if mode in KNOWN:
        answer(opening, sessionId=f"p{number}")
    else:
        refuse(opening, -32602, "no such mode")
"""


@pytest.mark.parametrize(
    ("known", "found"),
    [
        (["append", "override"], set()),
        (["append"], {"A-PROMPT-1"}),
        (["append", "override", "_acp-tui.check"], {"A-PROMPT-2"}),
    ],
)
async def test_a_system_prompt_is_tried_in_each_mode_and_in_one_that_there_is_not(
    known: list[str], found: set[str]
) -> None:
    turns = BEHAVING.partition('sessionId="s1")')[2]
    report = await examined(f"KNOWN = {known}\n{TAKING_PROMPTS}{turns}")
    assert report.failure is None
    assert broken(report) == found
    assert {"A-PROMPT-1", "A-PROMPT-2"} <= report.looked_at


async def test_an_agent_that_breaks_rules_is_found_out() -> None:
    report = await examined("""
        print("Welcome!", flush=True)
        handshake()
        answer(expect("session/new"), sessionId="s1")
        prompt = expect("session/prompt")
        update("tool_call", toolCallId="c", title="Read", locations=[{"path": "notes.txt"}])
        answer(prompt, stopReason="end_turn")
        while True:
            message = read()
            if "id" in message:
                answer(message, stopReason="end_turn")
    """)
    assert {"A-LINE-1", "A-INIT-3", "A-PATH-1", "A-TOOL-3", "A-EXT-4"} <= broken(report)
    assert report.has_errors
    junk = next(finding for finding in report.findings if finding.rule.rule_id == "A-LINE-1")
    assert report.frames[junk.frames[0]].raw == b"Welcome!"


async def test_a_permission_is_rejected_once() -> None:
    report = await examined(
        dedent("""
            prompt = open_session()
            ask("allow_once", "reject_always", "reject_once")
            say("decided: " + outcome())
            end(prompt)
        """)
        + REFUSING
    )
    assert any(b"decided: reject_once" in frame.raw for frame in report.frames)


async def test_without_a_way_to_reject_the_turn_is_cancelled() -> None:
    report = await examined(
        dedent("""
            prompt = open_session()
            ask("allow_once")
            expect("session/cancel")
            answer(prompt, stopReason="cancelled")
        """)
        + REFUSING
    )
    assert "A-PERM-3" in broken(report)
    assert not any(b'"selected"' in frame.raw for frame in report.frames)


async def test_a_form_is_declined() -> None:
    report = await examined(
        dedent("""
            prompt = open_session()
            form = {"type": "object", "properties": {"name": {"type": "string"}}}
            send(id=1, method="elicitation/create", params={
                "sessionId": "s1", "mode": "form", "message": "Who?", "requestedSchema": form})
            say(read()["result"]["action"])
            end(prompt)
        """)
        + REFUSING
    )
    assert any(b'"decline"' in frame.raw and b"update" in frame.raw for frame in report.frames)


async def test_a_chain_of_proxies_that_behave_breaks_nothing() -> None:
    report = await examined(behind(BEHAVING, proxy("pass"), proxy("named")))
    assert (report.failure, [finding.text for finding in report.findings]) == (None, [])
    assert {"A-PROXY-1", "A-PROXY-2", "A-PROXY-3", "A-TURN-2"} <= report.looked_at


@pytest.mark.parametrize(("way", "rule_id"), [("early", "A-PROXY-1"), ("newer", "A-PROXY-2")])
async def test_a_proxy_with_a_handshake_of_its_own_breaks_a_rule(way: str, rule_id: str) -> None:
    report = await examined(behind(BEHAVING, proxy("pass"), proxy(way)))
    assert rule_id in broken(report)
    assert str(report.failure).startswith("proxy 2 (")


async def test_what_a_proxy_breaks_unseen_by_the_client_is_told_with_its_name() -> None:
    report = await examined(behind(BEHAVING, proxy("junk")))
    assert {"A-LINE-1", "A-RPC-5", "A-PROXY-3"} <= broken(report)
    assert all(finding.text.startswith("proxy 1 (") for finding in report.findings)


async def test_a_wanted_login_ends_the_check_and_the_rest_is_not_looked_at() -> None:
    report = await examined("""
        handshake(authMethods=[{"id": "key", "name": "By key"}])
        refuse(expect("session/new"), -32000, "Authentication required")
        serve_until_closed()
    """)
    assert isinstance(report.failure, AuthenticationRequired)
    assert "A-TURN-1" not in report.looked_at
    assert not report.has_errors


async def test_a_turn_without_an_end_is_cancelled_and_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "CANCEL_LIMIT_S", 0.05)
    report = await examined("open_session()\nserve_until_closed()", limit_s=0.3)
    assert "A-TURN-1" in broken(report)
    assert "the turn was canceled after 0.3 s" in report.left_out


async def test_an_agent_that_says_nothing_is_given_up() -> None:
    report = await examined('expect("never")', limit_s=0.3)
    assert isinstance(report.failure, AgentLost)
    assert broken(report) == {"A-RPC-10"}


async def test_a_death_in_a_turn_is_an_error() -> None:
    report = await examined("open_session()\nsys.exit(3)")
    assert isinstance(report.failure, AgentLost)
    assert broken(report) == {"A-INIT-3", "A-END-3"}


async def test_what_is_offered_and_not_there_is_one_finding() -> None:
    script = BEHAVING.replace("handshake(", 'handshake(agentCapabilities={"loadSession": True}, ')
    assert broken(await examined(script)) == {"A-CAP-2"}


async def test_an_agent_that_is_silent_at_what_it_does_not_know_is_told_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examination, "UNKNOWN_LIMIT_S", 0.1)
    report = await examined(BEHAVING.removesuffix(REFUSING) + "serve_until_closed()")
    assert "A-RPC-10" in broken(report)


async def test_each_step_is_told_as_it_begins() -> None:
    steps: list[str] = []
    with anyio.fail_after(LIMIT_S):
        await Examination(scripted(BEHAVING), CheckPlan("hi"), on_step=steps.append).run()
    assert steps[:3] == ["initialize", "session/new", "a turn"]
    assert steps[-1] == "session/close"


async def test_what_was_found_before_an_interruption_is_kept() -> None:
    with anyio.CancelScope() as scope:
        examination = Examination(
            scripted("print('junk', flush=True)\n" + BEHAVING),
            CheckPlan("hi"),
            on_step=lambda what: scope.cancel() if what == "a turn" else None,
        )
        await examination.run()
    report = examination.report
    assert broken(report) == {"A-LINE-1"}
    assert report.identity is not None
    assert not our_children()


async def test_an_agent_that_stays_when_its_stdin_is_closed_is_told() -> None:
    report = await examined(
        BEHAVING.replace("while True:", "import signal, time\nwhile True:").replace(
            "    message = read()",
            "    line = sys.stdin.readline()\n    if not line:\n        time.sleep(60)\n    message = json.loads(line)",
        )
    )
    assert broken(report) == {"A-END-1"}


async def test_a_missing_command_is_told() -> None:
    report = await examined(AgentCommand("nope", ("no-such-agent-anywhere",)))
    assert isinstance(report.failure, AgentNotFound)
    assert report.looked_at == frozenset()


async def test_all_that_passed_can_be_recorded(tmp_path: Path) -> None:
    report = await examined(BEHAVING, record=RecordTo(tmp_path / "check.jsonl"))
    with open_recording(tmp_path / "check.jsonl") as recording:
        assert sum(hasattr(event, "direction") for event in recording) == len(report.frames)


@pytest.mark.parametrize("scenario", ["coding", "sessions", "session_updates", "elicitations", "content"])
async def test_the_demo_agent_breaks_nothing(scenario: str) -> None:
    argv = (sys.executable, "-m", "acp_tui.demo", scenario, "--speed", "0")
    report = await examined(AgentCommand("demo", argv))
    assert [finding.text for finding in report.findings] == []
    assert report.failure is None
