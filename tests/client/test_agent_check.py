"""What `doctor` finds out about an agent. Each agent is a process that follows a script."""

from __future__ import annotations

from pathlib import Path

import anyio

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.doctor import AgentCheck, CheckResult, Verdict
from acp_tui.client.errors import AgentLost, AgentNotFound, AuthenticationRequired
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.facts import SessionId
from support.agents import our_children, scripted
from support.waiting import LIMIT_S

SESSION = """
handshake()
answer(expect("session/new"), sessionId="s1")
serve_until_closed()
"""


async def _no_servers(_: Agent) -> tuple[()]:
    return ()


async def checked(
    script: str | AgentCommand,
    cwd: Path,
    prompt: str | None = None,
    policy: Policy | None = None,
) -> AgentCheck:
    """A finished check."""
    command = scripted(script) if isinstance(script, str) else script
    check = AgentCheck(command, cwd, policy or Policy(), _no_servers)
    with anyio.fail_after(LIMIT_S):
        await check.run(prompt)
    assert not our_children()
    return check


def found(check: AgentCheck, topic: str) -> CheckResult:
    """Its finding on this topic."""
    (finding,) = (each for each in check.findings if each.topic == topic)
    return finding


def verdicts(check: AgentCheck) -> set[Verdict]:
    return {finding.verdict for finding in check.findings}


async def test_a_good_agent_is_timed_and_nothing_is_wrong(tmp_path: Path):
    check = await checked(SESSION, tmp_path)
    assert check.failure is None
    assert Verdict.WRONG not in verdicts(check)
    topics = [finding.topic for finding in check.findings]
    assert topics[:2] == ["Command", "Found"]
    for step in ("First line", "Initialize", "New session", "End"):
        assert found(check, step).text.endswith(" s")
    assert found(check, "Protocol").text == "ACP 1"
    assert "load session" in found(check, "Lacks").text


async def test_its_session_does_not_stay_in_the_agents_list(tmp_path: Path):
    script = """
    handshake(agentCapabilities={"sessionCapabilities": {"list": {}, "delete": {}}})
    answer(expect("session/new"), sessionId="s1")
    deleted = expect("session/delete")
    open("deleted", "w").write(deleted["params"]["sessionId"])
    answer(deleted)
    serve_until_closed()
    """
    check = await checked(script, tmp_path)
    assert check.failure is None
    assert (tmp_path / "deleted").read_text() == "s1"


async def test_a_session_that_its_agent_cannot_delete_is_archived_in_our_list(tmp_path: Path):
    script = """
    handshake(agentCapabilities={"sessionCapabilities": {"list": {}}})
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    check = await checked(script, tmp_path)
    assert check.failure is None
    listed = [PastSession(scripted("").name, SessionId(each), tmp_path, is_listed=True) for each in ("s1", "s2")]
    assert [(one.session_id, one.is_archived) for one in SessionMarks().marked(listed)] == [("s2", False), ("s1", True)]


async def test_who_is_logged_in_is_told_without_a_name(tmp_path: Path):
    script = """
    handshake(agentCapabilities={"auth": {"status": {}}})
    answer(expect("session/new"), sessionId="s1")
    accounts = [{"label": "Claude Max", "email": "ann@example.org", "active": True}]
    answer(expect("auth/status"), state="authenticated", accounts=accounts)
    serve_until_closed()
    """
    check = await checked(script, tmp_path)
    assert found(check, "Logged in").text == "yes: Claude Max in use"


async def test_an_agent_that_does_not_answer_who_is_logged_in_is_not_waited_for(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("acp_tui.client.doctor.CANCEL_LIMIT_S", 0.01)
    script = """
    handshake(agentCapabilities={"auth": {"status": {}}})
    answer(expect("session/new"), sessionId="s1")
    expect("auth/status")
    serve_until_closed()
    """
    check = await checked(script, tmp_path)
    assert check.failure is None
    assert not [finding for finding in check.findings if finding.topic == "Logged in"]


async def test_what_is_no_message_on_stdout_is_shown(tmp_path: Path):
    check = await checked('print("Welcome!", flush=True)' + SESSION, tmp_path)
    stdout = found(check, "Stdout")
    assert stdout.verdict is Verdict.NOTE
    assert stdout.lines[0].endswith("Welcome!")


async def test_a_wanted_login_is_wrong_and_its_ways_are_named(tmp_path: Path):
    check = await checked(
        """
        handshake(authMethods=[{"id": "key", "name": "By key"}])
        refuse(expect("session/new"), -32000, "Authentication required")
        serve_until_closed()
        """,
        tmp_path,
    )
    assert isinstance(check.failure, AuthenticationRequired)
    assert found(check, "Login").verdict is Verdict.WRONG
    assert "By key (key)" in found(check, "Login").hint


async def test_a_death_is_told_with_the_end_of_stderr(tmp_path: Path):
    check = await checked('import sys\nsys.stderr.write("no such model\\n")\nsys.exit(3)', tmp_path)
    assert isinstance(check.failure, AgentLost)
    assert "exited with code 3" in found(check, "Failed").text
    assert [finding.topic for finding in check.findings[-2:]] == ["Failed", "Stderr"]
    stderr = found(check, "Stderr")
    assert (stderr.verdict, stderr.text, stderr.lines) == (
        Verdict.NOTE,
        "the agent printed 1 line",
        ("no such model",),
    )


async def test_a_missing_command_is_told(tmp_path: Path):
    check = await checked(AgentCommand("nope", ("no-such-agent-anywhere",)), tmp_path)
    assert isinstance(check.failure, AgentNotFound)
    assert found(check, "Failed").verdict is Verdict.WRONG


async def test_an_agent_that_does_not_answer_is_given_up_and_ended(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("acp_tui.client.doctor.START_LIMIT_S", 0.2)
    check = await checked('expect("initialize")\nexpect("never")', tmp_path)
    assert isinstance(check.failure, AgentLost)
    assert "hasn't answered within 0.2 s" in found(check, "Failed").text


async def test_a_session_that_is_never_opened_is_given_up(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("acp_tui.client.doctor.START_LIMIT_S", 0.5)
    check = await checked('handshake()\nexpect("session/new")\nexpect("never")', tmp_path)
    assert "didn't open a session" in found(check, "Failed").text


ASKING = """
prompt = open_session()
ask({kinds})
say("decided: " + outcome())
end(prompt)
serve_until_closed()
"""


async def test_a_permission_is_rejected_once_as_the_agent_offers_it(tmp_path: Path):
    check = await checked(ASKING.format(kinds='"allow_once", "reject_always", "reject_once"'), tmp_path, "hi")
    assert found(check, "Reply").text == "decided: reject_once"
    assert "1 requested and rejected" in found(check, "Permissions").text


async def test_a_turn_is_cancelled_where_nothing_but_that_refuses(tmp_path: Path):
    script = """
    prompt = open_session()
    ask("allow_once", "reject_always")
    expect("session/cancel")
    end(prompt, "cancelled")
    serve_until_closed()
    """
    check = await checked(script, tmp_path, "hi")
    assert found(check, "Turn").text.endswith("cancelled")


async def test_a_turn_without_an_end_is_cancelled_and_given_up(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("acp_tui.client.doctor.TURN_LIMIT_S", 1)
    monkeypatch.setattr("acp_tui.client.doctor.CANCEL_LIMIT_S", 0.2)
    check = await checked("open_session()\nserve_until_closed()", tmp_path, "hi")
    assert "didn't end" in found(check, "Failed").text


def test_what_the_user_turned_off_stays_off(tmp_path: Path):
    policy = Policy(read=Grant.OFF, write=Grant.OFF, terminals=Grant.ON)
    check = AgentCheck(scripted(SESSION), tmp_path, policy, _no_servers)
    assert (check.policy.read, check.policy.write, check.policy.terminals) == (
        Grant.OFF,
        Grant.OFF,
        Grant.ASK,
    )
