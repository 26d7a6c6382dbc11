"""What an agent says of its error reaches the conversation and the caller, in both versions, hosts, and recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import anyio
import pytest

from acp_tui.client.errors import AgentRefused, AuthenticationRequired
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Failure
from acp_tui.conversation.facts import ErrorFacts
from client.hosting.test_attaching import same
from support.agents import REPLY, running, until
from support.hosts import hosted

pytestmark = pytest.mark.anyio

DATA = {"details": "Too many tokens", "reason": "rate_limit", "retryAfter": 30}
BY_ANSWER = f"""
prompt = open_session()
refuse(prompt, -32603, "Not now", {DATA})
serve_until_closed()
"""
BY_STATE = f"""
answer(expect("initialize"), protocolVersion=2, info={{"name": "a", "version": "1"}}, capabilities={{}})
answer(expect("session/new"), sessionId="s1")
prompt = expect("session/prompt")
update("state_update", state="running")
answer(prompt, messageId="m1")
update("state_update", state="idle", stopReason="error", error={{"code": -32603, "message": "Not now", "data": {DATA}}})
serve_until_closed()
"""


def failures(session: Session) -> list[Failure]:
    return [entry for entry in session.conversation.entries if isinstance(entry, Failure)]


@pytest.mark.parametrize("script", [BY_ANSWER, BY_STATE])
async def test_the_time_for_another_try_counts_from_when_the_error_came(script: str, tmp_path: Path) -> None:
    async with running(script) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        session.now = lambda: 1000.0
        with pytest.raises(AgentRefused) as refused:
            await session.send_prompt(REPLY)
        facts = ErrorFacts("rate_limit", retry_after_s=30.0, retry_at=1030.0)
        assert failures(session) == [Failure("Not now", "Too many tokens", said=facts)]
        assert session.conversation.last_failure is not None
        assert (refused.value.code, refused.value.detail) == (-32603, "Too many tokens")
        assert refused.value.hint == "reason: rate_limit\ntry again in 30 s"


SERVERS: Final = json.dumps({"error": {"code": 400, "message": "API key not valid.", "details": [{"@type": "x"}]}})
"""What a model's server answers, which Gemini CLI 0.61.0 passes on."""


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (SERVERS, "API key not valid."),
        (json.dumps({"error": {"message": SERVERS}}), "API key not valid."),
        (json.dumps({"error": {"message": None}}), '{"error": {"message": null}}'),
        ('{"error": "no"}', '{"error": "no"}'),
        ("[" * 9999, "[" * 9999),
    ],
    ids=["once", "twice", "none", "otherwise", "deep"],
)
async def test_what_a_server_answered_in_json_is_told_in_its_words(tmp_path: Path, message: str, shown: str) -> None:
    async with running(f"refuse(open_session(), -32603, {message!r})") as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentRefused) as refused:
            await session.send_prompt(REPLY)
        assert str(refused.value).endswith(shown)
        assert [failure.message for failure in failures(session)] == [shown]


async def test_a_moment_for_another_try_is_also_told_in_seconds(tmp_path: Path) -> None:
    script = """
        handshake()
        refuse(expect("session/new"), -32603, "Not yet", {"retryAfter": "2020-01-01T00:00:00Z"})
        serve_until_closed()
    """
    async with running(script) as agent:
        await agent.initialize()
        with pytest.raises(AgentRefused) as refused:
            await agent.new_session(tmp_path)
        assert refused.value.said == ErrorFacts(retry_after_s=0.0, retry_at=1577836800.0)


async def test_a_login_that_is_needed_names_the_agents_own_methods_first(tmp_path: Path) -> None:
    script = """
        names = ("one", "two", "three")
        handshake(authMethods=[{"id": name, "name": name.title()} for name in names])
        refuse(expect("session/new"), -32000, "Log in", {"authMethods": ["three", "unheard of"]})
        serve_until_closed()
    """
    async with running(script) as agent:
        await agent.initialize()
        with pytest.raises(AuthenticationRequired) as wanted:
            await agent.new_session(tmp_path)
        assert [method.method_id for method in wanted.value.methods] == ["three", "one", "two"]
        assert wanted.value.hint == "its login methods: Three, One, Two"


async def test_everyone_at_a_host_is_told_whoever_sent_the_prompt(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        sender, other = await its.attach("sender"), await its.attach("other")
        for session in (its.session, sender):
            session.now = lambda: 1000.0

        async def send() -> None:
            with pytest.raises(AgentRefused):
                await sender.send_prompt(REPLY)

        tasks.start_soon(send)
        await its.wire.refuse(await its.wire.expect("session/prompt"), -32603, "Not now", DATA)
        for client in (sender, other):
            await until(client, lambda client=client: bool(failures(client)))  # type: ignore[misc]
        late = await its.attach("late")
        facts = ErrorFacts("rate_limit", retry_after_s=30.0, retry_at=1030.0)
        assert [failures(each)[0].said for each in (sender, other, late)] == [facts] * 3
        assert same(its.session, other, late)
