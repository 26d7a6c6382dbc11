"""A session that is opened again is in the mode in which it was left, or a line in it says that it isn't."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from acp_tui.client.errors import Unsupported
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.entries import Message
from acp_tui.conversation.updates import ClientRemark
from support.agents import REPLY, driving

FORGETFUL = """
RESUME, LOAD, MODES, REFUSES = {"resume": {}}, True, ["default", "plan", "acceptEdits"], False

def serve():
    sessions = {**RESUME, "fork": {}}
    handshake(agentCapabilities={"loadSession": LOAD, "sessionCapabilities": sessions})
    while True:
        request = read()
        method, params = request["method"], request["params"]
        match method:
            case "session/set_mode" if REFUSES:
                refuse(request, -32603, "not now")
            case "session/set_mode":
                mode = params["modeId"]
                answer(request)
            case "session/prompt":
                words = {"type": "text", "text": f"in {mode}"}
                update("agent_message_chunk", session=params["sessionId"], content=words)
                end(request)
            case _:
                mode = MODES[0]
                known = [{"id": each, "name": each.title()} for each in MODES]
                modes = {"currentModeId": mode, "availableModes": known} if MODES[0] else None
                answer(request, sessionId="s2" if method == "session/fork" else "s1", modes=modes)

"""
"""An agent that opens every session in the first of its modes, and answers each prompt with the mode it is in."""
SERVES = f"{FORGETFUL}\nserve()"
WAYS = ("fork", "resume", "load", "begin", "record")


def last_words(session: Session) -> str:
    entries = session.conversation.entries
    return [entry.text for entry in entries if isinstance(entry, Message) and entry.role == "agent"][-1]


def remarks(session: Session) -> list[str]:
    return [entry.text for entry in session.conversation.entries if isinstance(entry, ClientRemark)]


@asynccontextmanager
async def reopened(way: str, cwd: Path, mode: str, now: str = "") -> AsyncIterator[Session]:
    """A session that was left in a mode, opened again in this way. `now` is what is different in its agent then."""
    can = {"load": "RESUME = {}\n", "begin": "RESUME, LOAD = {}, False\n"}.get(way, "")
    mark = cwd / "ran"
    again = f"import os\nif os.path.exists({str(mark)!r}):\n    {now or 'pass'}\n"
    script = f"{FORGETFUL}{can}{again}serve()"
    async with driving(script, cwd) as driver:
        left = await driver.begin()
        await left.send_prompt(REPLY)
        if mode != "default":
            await left.set_option("mode", mode)
        if way == "fork":
            yield await driver.fork(left, "it")
            return
    mark.touch()
    async with driving(script, cwd) as driver:
        if way == "record":
            yield await driver.open(left.session_id, cwd, lambda _: None)
        else:
            yield await driver.go_on(left, str, lambda _: None)


@pytest.mark.parametrize("way", WAYS)
async def test_the_next_prompt_finds_it_in_the_mode_in_which_it_was_left(way: str, tmp_path: Path) -> None:
    async with reopened(way, tmp_path, "plan") as session:
        await session.send_prompt(REPLY)
        assert last_words(session) == "in plan"
        assert not [remark for remark in remarks(session) if "mode" in remark]
        assert session.start_mode == "plan"


@pytest.mark.parametrize("way", WAYS)
async def test_a_mode_in_which_the_agent_asks_less_is_left_to_the_user(way: str, tmp_path: Path) -> None:
    async with reopened(way, tmp_path, "acceptEdits") as session:
        await session.send_prompt(REPLY)
        assert last_words(session) == "in default"
        assert "The mode is Default; it was Acceptedits (fewer questions)." in remarks(session)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "fork"])
@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("REFUSES = True", "The mode is Default; it was Plan."),
        ("MODES = ['acceptEdits']", "The mode is Acceptedits (fewer questions); it was Plan."),
        ("MODES = ['']", "The agent has no mode now; it was Plan."),
    ],
)
async def test_a_mode_that_cannot_be_set_again_is_named(now: str, said: str, way: str, tmp_path: Path) -> None:
    async with reopened(way, tmp_path, "plan", now) as session:
        assert said in remarks(session)


async def test_one_that_asked_is_set_where_the_agent_now_begins_in_one_that_asks_less(tmp_path: Path) -> None:
    async with reopened("record", tmp_path, "default", "MODES = ['acceptEdits', 'default']") as session:
        await session.send_prompt(REPLY)
        assert last_words(session) == "in default"


async def test_it_stays_known_while_no_agent_can_open_the_session(tmp_path: Path) -> None:
    async with driving(SERVES, tmp_path) as driver:
        left = await driver.begin()
        await left.set_option("mode", "plan")
    with pytest.raises(Exception, match="exited"):
        async with driving("handshake(agentCapabilities={'sessionCapabilities': {'resume': {}}})", tmp_path) as driver:
            await driver.go_on(left, str)
    async with driving(SERVES, tmp_path) as driver:
        session = await driver.go_on(left, str)
        await session.send_prompt(REPLY)
        assert last_words(session) == "in plan"


@pytest.mark.parametrize(("chosen", "mode"), [("default", "default"), ("acceptEdits", "acceptEdits")])
async def test_what_the_user_chooses_for_it_comes_before_the_recorded_mode(
    chosen: str, mode: str, tmp_path: Path
) -> None:
    async with driving(SERVES, tmp_path) as driver:
        left = await driver.begin()
        await left.send_prompt(REPLY)
        await left.set_option("mode", "plan")
    async with driving(SERVES, tmp_path) as driver:
        session = await driver.open(left.session_id, tmp_path, lambda _: None, [("mode", chosen)])
        await session.send_prompt(REPLY)
        assert last_words(session) == f"in {mode}"
        assert not [remark for remark in remarks(session) if "mode" in remark]


async def test_a_choice_that_the_agent_does_not_offer_leaves_the_recorded_mode(tmp_path: Path) -> None:
    async with driving(SERVES, tmp_path) as driver:
        left = await driver.begin()
        await left.send_prompt(REPLY)
        await left.set_option("mode", "plan")
    async with driving(SERVES, tmp_path) as driver:
        with pytest.raises(Unsupported):
            await driver.open(left.session_id, tmp_path, lambda _: None, [("mode", "turbo")])
        [session] = driver.agent.sessions.values()
        await session.send_prompt(REPLY)
        assert last_words(session) == "in plan"
