"""Notices, compactions, and questions with an agent on the official TypeScript SDK.

Everything the agent sends has passed the SDK's schema; what it receives from us, it reports back as the SDK understood
it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AuthenticationRequired
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.content import Text
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Elicitation,
    FieldChoice,
    Form,
    FormValues,
    MultiChoiceField,
    NumberField,
    TextField,
    UrlVisit,
)
from acp_tui.conversation.entries import Compaction
from acp_tui.conversation.facts import BooleanOption, TurnPhase
from acp_tui.conversation.updates import ElicitationAction, NoticeShown
from support.agents import agent_texts, running, until

AGENT = Path(__file__).parents[1] / "data" / "ts_agent.mjs"
SDK = Path(os.environ.get("AGENTS_PREFIX", Path.home() / ".cache/acp-agents")) / (
    "npm/sdk/node_modules/@agentclientprotocol/sdk"
)
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(
    NODE is None or not SDK.exists(), reason=f"the TypeScript SDK isn't in {SDK}, or there is no node"
)

FIELDS = (
    TextField("host", "Host", None, True, "alpha", min_length=1, max_length=9, pattern="^[a-z]+$"),
    TextField("contact", format="email"),
    NumberField("replicas", is_required=True, is_integer=True, default=2, minimum=1, maximum=9),
    NumberField("ratio", minimum=0.5, maximum=1),
    BooleanField("dry", description="Change nothing", default=True),
    ChoiceField("tier", (FieldChoice("free", "free"), FieldChoice("paid", "paid"))),
    ChoiceField("region", (FieldChoice("eu", "Europe"), FieldChoice("us", "America"))),
    MultiChoiceField("tags", (FieldChoice("a", "a"), FieldChoice("b", "b")), default=("a",), min_items=1, max_items=2),
    MultiChoiceField("teams", (FieldChoice("x", "Team X"), FieldChoice("y", "Team Y"))),
)
VALUES: FormValues = {
    "host": "bêta",
    "contact": "me@example.org",
    "replicas": 3,
    "ratio": 0.75,
    "dry": False,
    "tier": "paid",
    "region": "eu",
    "tags": ["b", "a"],
    "teams": [],
}
ANSWERS = [
    ("accept", VALUES, {"action": "accept", "content": VALUES}),
    ("decline", None, {"action": "decline"}),
    ("cancel", None, {"action": "cancel"}),
]


@asynccontextmanager
async def _agent() -> AsyncIterator[Agent]:
    command = AgentCommand("ts-agent", (NODE or "node", str(AGENT), str(SDK)))
    async with running(command, INTERACTIVE) as agent:
        await agent.initialize()
        yield agent


@asynccontextmanager
async def _session(cwd: Path) -> AsyncIterator[Session]:
    async with _agent() as agent:
        yield await agent.new_session(cwd)


async def _play(session: Session, scene: str) -> None:
    await session.send_prompt([Text(scene)])


@asynccontextmanager
async def _asked(session: Session, scene: str) -> AsyncIterator[Elicitation]:
    """A scene's open question; after the block, the turn is over."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_play, session, scene)
        await until(session, lambda: bool(session.conversation.elicitations))
        [question] = session.conversation.elicitations.values()
        yield question


def _told(session: Session) -> Any:
    """The agent's last report of what it received."""
    return json.loads(agent_texts(session)[-1])


async def test_the_sdk_reads_what_the_client_offers(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        await _play(session, "capabilities")

    offered = _told(session)
    assert offered["session"] == {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}
    assert offered["elicitation"] == {"form": {}, "url": {}}
    assert offered["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert (offered["terminal"], offered["auth"]) == (True, {"terminal": True})


async def test_notices_of_every_severity_arrive(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        await _play(session, "notices")

    assert session.conversation.notices == [
        NoticeShown("info", "Indexed"),
        NoticeShown("warning", "Quota", "Ten requests are left"),
        NoticeShown("_dire", "Disk full"),
    ]
    assert agent_texts(session) == []


async def test_compactions_arrive_with_their_summaries(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        await _play(session, "compaction")

    compactions = [entry for entry in session.conversation.entries if isinstance(entry, Compaction)]
    assert [(entry.compaction_id, entry.status, _joined(entry), entry.error) for entry in compactions] == [
        ("streamed", "completed", "You asked for tests.", None),
        ("replaced", "completed", "Done", None),
        ("broken", "failed", "", "No model"),
    ]


def _joined(compaction: Compaction) -> str:
    return "".join(block.text for block in compaction.summary if isinstance(block, Text))


async def test_a_form_is_read_as_the_sdk_means_it(tmp_path: Path) -> None:
    async with _session(tmp_path) as session, _asked(session, "form") as form:
        assert isinstance(form, Form)
        assert (form.message, form.title, form.fields) == ("Where to?", "Deployment", FIELDS)
        session.questions.answer(form.key, "decline")


@pytest.mark.parametrize(("action", "values", "told"), ANSWERS, ids=[answer[0] for answer in ANSWERS])
async def test_the_agent_gets_the_users_answer_to_a_form(
    action: ElicitationAction, values: FormValues | None, told: Any, tmp_path: Path
) -> None:
    async with _session(tmp_path) as session, _asked(session, "form") as form:
        session.questions.answer(form.key, action, values)

    assert _told(session) == told
    assert session.conversation.last_stop_reason == "end_turn"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_page_that_is_not_visited_is_forgotten(action: ElicitationAction, tmp_path: Path) -> None:
    async with _session(tmp_path) as session, _asked(session, "visit") as page:
        session.questions.answer(page.key, action)

    assert _told(session) == {"action": action}
    assert not session.conversation.visits


async def test_a_visit_lasts_until_the_agent_calls_that_page_complete(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        async with _asked(session, "visit") as page:
            assert isinstance(page, UrlVisit)
            assert (page.message, page.url) == ("Sign in", "https://example.org/sign-in?code=1")
            session.questions.answer(page.key, "accept")
        assert _told(session) == {"action": "accept"}
        assert list(session.conversation.visits) == ["visit-1"]

        await _play(session, "visited")

    assert not session.conversation.visits


async def test_a_cancel_reaches_the_agent_before_the_answer_to_its_question(tmp_path: Path) -> None:
    """R-CANC-5, R-ORD-4."""
    async with _session(tmp_path) as session, _asked(session, "cancelled"):
        session.cancel()
        assert not session.conversation.elicitations

    assert _told(session) == {"answer": {"action": "cancel"}, "order": ["session/cancel", "an answer"]}
    assert session.conversation.last_stop_reason == "cancelled"


async def test_a_question_that_the_agent_withdraws_is_shown_no_longer(tmp_path: Path) -> None:
    """R-CREQ-2."""
    async with _agent() as agent:
        session = await agent.new_session(tmp_path)
        async with _asked(session, "withdrawn"):
            agent.notify_extension("_test/withdraw", {})
            await until(session, lambda: not session.conversation.elicitations)

    assert _told(session) == {"code": -32800}
    assert session.conversation.turn is TurnPhase.IDLE


async def test_a_login_may_ask_before_there_is_a_session() -> None:
    async with _agent() as agent:
        await _log_in(agent, "accept")
        with pytest.RaisesGroup(AuthenticationRequired):
            await _log_in(agent, "decline")


async def _log_in(agent: Agent, action: ElicitationAction) -> None:
    asked = anyio.Event()
    agent.on_elicitations = asked.set

    async def answer() -> None:
        await asked.wait()
        [key] = agent.elicitations
        agent.questions.answer(key, action, VALUES)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer)
        await agent.authenticate("question")


async def test_an_option_is_switched_on(tmp_path: Path) -> None:
    async with _session(tmp_path) as session:
        assert session.conversation.options == (BooleanOption("verbose", "Verbose", False),)
        await session.set_option("verbose", True)

    assert session.conversation.options == (BooleanOption("verbose", "Verbose", True),)
