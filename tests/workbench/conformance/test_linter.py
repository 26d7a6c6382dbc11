"""The rules applied to whole connections: good ones, hostile ones, and ones seen from the middle."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from acp_tui.rpc import Direction
from acp_tui.rpc.messages import Recent
from acp_tui.workbench.conformance import PROBE, PROBED_SERVER, RULES, Frame, Linter, Severity
from support.linting import Talk, talk_in_turn, talk_of_two, talk_with_session
from support.schema import TRANSCRIPTS, WRONG, Messages, needs_schema

CALL = {"toolCallId": "c1", "title": "Run", "kind": "execute", "status": "pending"}


def good_talk() -> Talk:
    """Everything agents do, done correctly."""
    talk, prompt = talk_in_turn()
    talk.update("tool_call", **CALL)
    talk.request("terminal/create", "a", command="ls", cwd="/w")
    talk.reply("a", terminalId="t1")
    talk.update("tool_call_update", toolCallId="c1", content=[{"type": "terminal", "terminalId": "t1"}])
    talk.request("terminal/release", "b", terminalId="t1")
    talk.reply("b")
    talk.update("tool_call_update", toolCallId="c1", status="completed")
    talk.say("I am fine")
    talk.answer(prompt, stopReason="end_turn")
    load = talk.ask("session/load", sessionId="s1", cwd="/w", mcpServers=[])
    talk.say("how are you?", "user_message_chunk")
    talk.update("tool_call", **CALL)
    talk.say("I am fine")
    talk.answer(load)
    talk.answer(talk.ask("session/list"), sessions=[{"sessionId": "s1", "cwd": "/w"}])
    talk.tell(PROBE)
    talk.refuse(talk.ask(PROBE), -32601)
    talk.answer(talk.ask("session/close", sessionId="s1"))
    return talk


def test_a_good_agent_breaks_no_rule() -> None:
    talk = good_talk()
    talk.end()
    talk.findings += talk.linter.ended(exit_code=0, waited_s=1, had_to_be_terminated=False)
    assert [finding.text for finding in talk.findings] == []
    assert {"A-LOAD-1", "A-LOAD-2", "A-LIST-1", "A-TERM-1", "A-TOOL-2", "A-EXT-5", "A-END-1"} <= (talk.linter.looked_at)


def test_a_rule_without_an_occasion_is_not_looked_at() -> None:
    talk = talk_with_session()
    talk.end()
    assert not {"A-TURN-1", "A-LOAD-1", "A-PERM-2", "A-TERM-1", "A-END-1"} & talk.linter.looked_at


def test_a_finding_names_the_frames_that_broke_the_rule() -> None:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **{**CALL, "status": "completed"})
    talk.update("tool_call_update", toolCallId="c1", status="pending")
    (finding,) = talk.findings
    assert finding.frames == (5, 6)
    assert finding.rule.advice
    assert finding.rule.reference.startswith("https://agentclientprotocol.com/")


def test_a_turn_that_ends_while_the_cancel_is_on_its_way_is_not_wrong() -> None:
    talk, prompt = talk_in_turn()
    talk.say("Done")
    talk.tell("session/cancel", sessionId="s1")
    talk.answer(prompt, stopReason="end_turn")
    assert talk.broken == set()


def test_a_prompt_whose_request_was_cancelled_may_say_so() -> None:
    talk, prompt = talk_in_turn()
    talk.tell("session/cancel", sessionId="s1")
    talk.tell("$/cancel_request", requestId=prompt)
    talk.refuse(prompt, -32800)
    assert talk.broken == set()


def test_a_permission_request_may_be_the_first_to_speak_of_a_call() -> None:
    talk, _ = talk_in_turn()
    options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    talk.request("session/request_permission", toolCall=CALL, options=options)
    talk.reply(900, outcome={"outcome": "selected", "optionId": "no"})
    talk.update("tool_call_update", toolCallId="c1", status="failed")
    assert talk.broken == {"A-PERM-5"}


def test_from_the_middle_on_nobody_is_a_stranger() -> None:
    talk = Talk()
    talk.answer(17, sessionId="s0")
    talk.update("tool_call_update", toolCallId="c9", status="completed")
    talk.say("So it is.")
    prompt = talk.prompt()
    talk.say("I am fine")
    talk.answer(prompt, stopReason="end_turn")
    assert talk.broken == set()


def test_lines_that_only_look_like_a_message_are_single_junk() -> None:
    talk = Talk()
    for line in (b"{", b"  oops", b'{"jsonrpc":"2.0","method":"_x/y"}'):
        talk.line(line)
    assert [finding.frames for finding in talk.findings] == [(0,), (1,)]
    assert talk.broken == {"A-LINE-1"}


def test_an_agent_that_dies_or_stays_is_told() -> None:
    assert [f.rule.rule_id for f in Linter().died("it exited")] == ["A-END-3"]
    stays = Linter().ended(exit_code=None, waited_s=1, had_to_be_terminated=True)
    assert [f.rule.rule_id for f in stays] == ["A-END-1"]
    fails = Linter().ended(exit_code=3, waited_s=1, had_to_be_terminated=False)
    assert [f.rule.rule_id for f in fails] == ["A-END-2"]


def test_what_is_remembered_has_a_limit() -> None:
    recent = Recent[int, int](3)
    for number in range(5):
        recent[number] = number
    assert list(recent) == [2, 3, 4]
    assert recent.may_know(0)
    assert not Recent[int, int](3).may_know(0)


# Anything at all


HOSTILE = {
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "elicitation/create": "CreateElicitationRequest",
    "terminal/create": "CreateTerminalRequest",
    "initialize": "InitializeRequest",
    "session/prompt": "PromptRequest",
    "session/load": "LoadSessionRequest",
    "session/list": "ListSessionsRequest",
    "$/cancel_request": "CancelRequestNotification",
}
ANSWERS = (
    *("InitializeResponse", "NewSessionResponse", "ListSessionsResponse"),
    *("PromptResponse", "CreateTerminalResponse", "RequestPermissionResponse"),
)


@needs_schema
@pytest.mark.parametrize("seed", range(10))
def test_nothing_that_is_sent_makes_it_fail(seed: int) -> None:
    random, messages, talk = Random(seed), Messages(seed), good_talk()
    for _ in range(300):
        request_id = random.choice((*range(1, 20), "a", None, 0.5, []))
        if random.random() < 0.7:
            method = random.choice(list(HOSTILE))
            params = messages.valid(HOSTILE[method]) | {"sessionId": "s1"}
            message = {"id": request_id, "method": method, "params": params}
        else:
            message = {"id": request_id, "result": messages.valid(random.choice(ANSWERS))}
        if random.random() < 0.5:
            del message["id"]
        raw = json.dumps(random.choice((message, messages.broken(message), random.choice(WRONG)))).encode()
        cut = random.randint(0, len(raw)) if random.random() < 0.1 else None
        talk.line(raw[:cut], random.choice((Direction.IN, Direction.OUT)))
    talk.end()
    assert len(talk.broken) > 10


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="no recordings beside the repository")
def test_recorded_agents_break_only_what_they_are_known_for() -> None:
    broken = set()
    for path in TRANSCRIPTS.glob("*.ndjson"):
        linter = Linter()
        for line in path.read_text().splitlines():
            event = json.loads(line)
            raw = json.dumps(event["msg"]) if "msg" in event else event.get("raw", "")
            frame = Frame(Direction(event["dir"]), event["t"], raw.encode())
            broken |= {finding.rule.rule_id for finding in linter.feed(frame)}
    assert broken <= RULES.keys()
    assert broken == {
        *("A-EXT-1", "A-EXT-2", "A-EXT-3"),
        "A-PERM-5",  # Gemini CLI asks before it reports
        "A-RESUME-1",  # fast-agent
        "A-TERM-3",  # Claude Code runs a whole shell line as a program
        "A-TOOL-4",  # Claude Code reports each call twice
        "A-TURN-5",  # prompts for a session that doesn't exist
    }


def test_a_good_agent_of_version_2_breaks_no_rule() -> None:
    """R2-TURN, R2-STATE, R2-LIFE."""
    talk = talk_of_two()
    talk.turn_of_two()
    talk.turn_of_two()
    talk.refuse(talk.ask("session/new", cwd="/w", mcpServers=[{"type": PROBED_SERVER, "name": "x"}]), -32602)
    resume = talk.ask("session/resume", sessionId="s1", cwd="/w", replayFrom={"type": "start"})
    talk.update("user_message", messageId="u", content=[])
    talk.update("state_update", state="idle")
    talk.answer(resume)
    talk.end()
    assert [finding.text for finding in talk.findings] == []
    assert {rule_id for rule_id in RULES if rule_id.startswith("A2-")} - talk.linter.looked_at == {
        "A2-METHOD-1",
        "A2-STATE-3",
    }


@pytest.mark.parametrize(
    "recording", sorted(TRANSCRIPTS.parent.glob("v2/recordings/*.ndjson")), ids=lambda path: path.stem
)
def test_recorded_agents_of_version_2_break_no_rule(recording: Path) -> None:
    linter, findings = Linter(), []
    for line in recording.read_text().splitlines():
        frame = json.loads(line)
        direction = Direction.IN if frame["dir"] == "in" else Direction.OUT
        findings += linter.feed(Frame(direction, frame["t"], json.dumps(frame["msg"]).encode()))
    assert [finding.text for finding in findings if finding.rule.severity is Severity.ERROR] == []
