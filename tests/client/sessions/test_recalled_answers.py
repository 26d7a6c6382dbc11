"""A session that its agent tells again has what the user ran and allowed, which only acp-tui knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sessions.driver import NOT_TOLD
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import RequestKey, SessionId
from acp_tui.conversation.recall import LESS_TOLD
from acp_tui.conversation.updates import ClientRemark
from support.agents import REPLY, driving
from support.folding import texts

TELLS = """
handshake(agentCapabilities={"loadSession": True})
request = read()
if request["method"] == "session/load":
    update("user_message_chunk", content={"type": "text", "text": "go"})
    update("tool_call", toolCallId="call", title="Delete everything", status="completed")
    say("Done.")
    answer(request)
else:
    answer(request, sessionId="s1")
    prompt = expect("session/prompt")
    ask("allow_once", "reject_once")
    outcome()
    say("Done.")
    end(prompt)
serve_until_closed()
"""
TELLS_LATE = TELLS.replace("    update(", "    answer(request)\n    update(", 1).replace(
    'say("Done.")\n    answer(request)', 'say("Done.")', 1
)
"""As Gemini CLI 0.61.0 does: it answers first."""


@pytest.mark.parametrize("script", [TELLS, TELLS_LATE], ids=["", "late"])
async def test_what_the_user_allowed_and_ran_is_there_each_time_it_is_opened_again(tmp_path: Path, script: str) -> None:
    async with driving(script, tmp_path) as driver:
        left = await driver.begin()
        left.subscribe(lambda _: allow(left))
        await left.send_prompt(REPLY)
        await left.commands.run_to_end("echo mine")
    for _ in range(2):
        async with driving(script, tmp_path) as driver:
            session = await driver.open(left.session_id, tmp_path, lambda _: None)
        assert texts(session.conversation) == [*texts(left.conversation)]
        assert session.conversation.tool_call("call").decisions == left.conversation.tool_call("call").decisions != ()


RESUMES = """
handshake(agentCapabilities={"sessionCapabilities": {"resume": {}}})
request = read()
answer(request, **({} if request["method"] == "session/resume" else {"sessionId": "s1"}))
while True:
    prompt = expect("session/prompt")
    say("Done.")
    end(prompt)
"""


async def test_what_an_agent_does_not_tell_of_a_resumed_session_is_shown_as_recorded(tmp_path: Path) -> None:
    async with driving(RESUMES, tmp_path) as driver:
        session = await driver.begin()
        await session.send_prompt(REPLY)
        await session.commands.run_to_end("echo mine")
    for turns in (1, 2):
        async with driving(RESUMES, tmp_path) as driver:
            session = await driver.open(session.session_id, tmp_path, lambda _: None)
            said = [what for what in texts(session.conversation) if what[0] in ("user", "agent", "OwnCommand")]
            assert said[:3] == [("user", "go"), ("agent", "Done."), ("OwnCommand", "")]
            assert said[3:] == [("user", "go"), ("agent", "Done.")] * (turns - 1)
            assert session.conversation.is_connected
            await session.send_prompt(REPLY)


FORGETS = """
handshake(agentCapabilities={"loadSession": True})
request = read()
if request["method"] == "session/load":
    update("user_message_chunk", content={"type": "text", "text": "go"})
    say("Done.")
    answer(request)
else:
    answer(request, sessionId="s1")
for _ in range(4):
    end(expect("session/prompt"))
serve_until_closed()
"""


@pytest.mark.parametrize(
    ("prompts", "missing"), [(["go"], 0), (["go", "on", "go", "again"], 3), (["go", "/compact"], 0)], ids=str
)
async def test_what_an_agent_no_longer_tells_of_what_was_recorded_is_missed_aloud(
    tmp_path: Path, prompts: list[str], missing: int
) -> None:
    async with driving(FORGETS, tmp_path) as driver:
        session = await driver.begin()
        for prompt in prompts:
            await session.send_prompt([Text(prompt)])
    for _ in range(2):
        async with driving(FORGETS, tmp_path) as driver:
            session = await driver.open(session.session_id, tmp_path, lambda _: None)
        said = [entry for entry in session.conversation.entries if isinstance(entry, ClientRemark)]
        assert said == [ClientRemark(LESS_TOLD.format(missing, session.session_id))] * bool(missing)


async def test_what_a_resumed_session_neither_tells_nor_has_recorded_is_missed_aloud(tmp_path: Path) -> None:
    async with driving(RESUMES, tmp_path) as driver:
        session = await driver.open(SessionId("elsewhere"), tmp_path, lambda _: None)
    assert ClientRemark(NOT_TOLD) in list(session.conversation.entries)


def allow(session: Session) -> None:
    for key in list(session.conversation.permissions):
        session.answer_permission(RequestKey(key), "allow_once")
