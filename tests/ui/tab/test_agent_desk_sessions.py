"""Reaching every session of an agent: starting, listing, opening, closing, and deleting."""

from __future__ import annotations

import pytest

from acp_tui.client.sessions import driver
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import PastSession
from acp_tui.conversation.facts import SessionId
from support.desks import SESSION, OpenDesk
from support.settling import until_so

LISTING = """
sessions = [{"sessionId": f"old-{n}", "cwd": "/project", "title": f"Earlier {n}"} for n in range(1, 4)]
"""
LOADING = """
handshake(agentCapabilities={"loadSession": True, "sessionCapabilities": {"list": {}, "delete": {}, "close": {}}})
answer(expect("session/new"), sessionId="s1")
"""
RESUMING = """
handshake(agentCapabilities={"sessionCapabilities": {"list": {}, "resume": {}}})
answer(expect("session/new"), sessionId="s1")
"""


async def test_ctrl_n_begins_another_session_and_shows_it(open_desk: OpenDesk) -> None:
    """R-SESS-1, R-SESS-12."""
    script = """
    say("the first")
    answer(expect("session/new"), sessionId="s2")
    update("agent_message_chunk", session="s2", content={"type": "text", "text": "the second"})
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.shows("the first")
        await desk.press("ctrl+n")
        await desk.shows("the second")
        assert "the first" not in desk.text
        assert len(desk.sent("session/new")) == 2


async def test_f3_lists_page_by_page_until_the_screen_is_full(open_desk: OpenDesk) -> None:
    """R-SESS-8, R-SESS-9."""
    script = """
    answer(expect("session/list"), sessions=sessions[:2], nextCursor="more")
    answer(expect("session/list"), sessions=sessions[2:])
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1", "Earlier 2", "Earlier 3", "3 earlier in this project")
        assert [params.get("cursor") for params in desk.sent("session/list")] == [None, "more"]
        await desk.press("escape")
        await desk.hides("Earlier 1")


STATES = """
handshake(agentCapabilities={"loadSession": True, "sessionCapabilities": {"list": {}, "status": {}}})
answer(expect("session/new"), sessionId="s1")
said = {"old-1": {"status": "open", "state": {"state": "running"}}, "old-2": {"status": "saved"}}
def tell():
    answer(expect("session/list"), sessions=sessions)
    for _ in sessions:
        asked = expect("session/status")
        if asked["params"]["sessionId"] in said:
            answer(asked, **said[asked["params"]["sessionId"]])
        else:
            refuse(asked, -32002, "unknown", {"sessionId": asked["params"]["sessionId"]})
tell()
"""


async def test_f3_shows_what_the_agent_says_of_each_session(open_desk: OpenDesk) -> None:
    async with open_desk(LISTING, STATES, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Earlier 1", "Earlier 2", "Earlier 3", "working")
        asked = await desk.gets("session/status", 3)
        assert [params["sessionId"] for params in asked] == ["old-1", "old-2", "old-3"]
        assert "Working Earlier 1 /project working" in desk.words
        assert not desk.notices


async def test_what_an_agent_has_in_memory_is_opened_from_there(open_desk: OpenDesk) -> None:
    script = """
    answer(expect("session/load"))
    serve_until_closed()
    """
    async with open_desk(LISTING, STATES, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Working Earlier 1 /project working")
        await desk.press("ctrl+home", "enter")
        await desk.gets("session/load")
        await desk.until(lambda: desk.tab.session is not None and desk.shown_session.session_id == "old-1")


async def test_f3_asks_for_the_sessions_of_this_folder_and_a_for_those_of_all(open_desk: OpenDesk) -> None:
    script = """
    answer(expect("session/list"), sessions=sessions[:1])
    answer(expect("session/list"), sessions=sessions)
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        (begun,) = desk.sent("session/new")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1", "1 earlier in this project")
        await desk.press("ctrl+f")
        await desk.shows("Earlier 3", "3 earlier in all projects", "/project")
        assert [params.get("cwd") for params in desk.sent("session/list")] == [begun["cwd"], None]


async def test_a_session_of_the_list_is_loaded_with_its_replay_on_the_screen(open_desk: OpenDesk) -> None:
    """R-SESS-3, R-SESS-4, R-SESS-10."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    load = expect("session/load")
    for kind, text in (("user_message_chunk", "What was it?"), ("agent_message_chunk", "It was this.")):
        update(kind, session="old-2", content={"type": "text", "text": text})
    answer(load)
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 2")
        await desk.press("down", "down", "enter")
        await desk.shows("What was it?", "It was this.")
        assert [params["sessionId"] for params in desk.sent("session/load")] == ["old-2"]


async def test_a_session_is_resumed_where_it_cannot_be_loaded(open_desk: OpenDesk) -> None:
    """R-SESS-6, R-SESS-10."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    answer(expect("session/resume"))
    update("agent_message_chunk", session="old-1", content={"type": "text", "text": "Where were we?"})
    serve_until_closed()
    """
    async with open_desk(LISTING, RESUMING, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1")
        await desk.press("down", "enter")
        await desk.shows("Where were we?")
        assert [params["sessionId"] for params in desk.sent("session/resume")] == ["old-1"]


async def test_a_session_that_is_open_already_is_shown_without_asking_the_agent(open_desk: OpenDesk) -> None:
    script = """
    say("the first")
    answer(expect("session/new"), sessionId="s2")
    answer(expect("session/list"), sessions=[{"sessionId": "s1", "cwd": "/project", "title": "The first one"}])
    serve_until_closed()
    """
    async with open_desk(LOADING, script) as desk:
        await desk.shows("the first")
        await desk.press("ctrl+n")
        await desk.hides("the first")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("1 ● The first one")
        await desk.press("up", "enter")
        await desk.hides("Esc close")
        await desk.shows("the first")
        assert desk.sent("session/load") == []


async def test_deleting_asks_first_and_forgets_the_sessions_name_too(open_desk: OpenDesk) -> None:
    """R-SESS-11."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    answer(expect("session/delete"))
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        marks, past = SessionMarks(), PastSession(desk.tab.link.name, SessionId("old-1"), desk.tab.cwd)
        marks.change(past, name="the secret plan")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("the secret plan")
        await desk.press("down", "ctrl+x")
        await desk.shows("Remove “the secret plan” from this list", "scripted deletes it")
        await desk.press("escape")
        await desk.hides("Remove “the secret plan”")
        assert desk.sent("session/delete") == []
        await desk.press("ctrl+x")
        await desk.shows("Remove “the secret plan”")
        await desk.press("down", "enter")
        await desk.shows("Removed the session.")
        assert desk.sent("session/delete") == [{"sessionId": "old-1"}]
        await until_so(desk.pilot, lambda: marks.all() == {})


async def test_deleting_the_session_on_the_screen_closes_it_and_shows_a_new_one(open_desk: OpenDesk) -> None:
    """R-SESS-11."""
    script = """
    say("the first")
    answer(expect("session/list"), sessions=[{"sessionId": "s1", "cwd": "/project", "title": "The first one"}])
    answer(expect("session/close"))
    answer(expect("session/delete"))
    answer(expect("session/new"), sessionId="s2")
    serve_until_closed()
    """
    async with open_desk(LOADING, script) as desk:
        await desk.shows("the first")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("The first one")
        await desk.press("ctrl+x")
        await desk.shows("Remove “The first one”")
        await desk.press("down", "enter")
        await desk.gets("session/new", times=2)
        await desk.press("escape")
        await desk.hides("the first")
        assert desk.sent("session/close") == desk.sent("session/delete") == [{"sessionId": "s1"}]


async def test_closing_a_session_from_the_palette_shows_a_new_one(open_desk: OpenDesk) -> None:
    """R-SESS-7."""
    script = """
    say("the first")
    answer(expect("session/close"))
    answer(expect("session/new"), sessionId="s2")
    serve_until_closed()
    """
    async with open_desk(LOADING, script) as desk:
        await desk.shows("the first")
        await desk.choose("Close the tab")
        await desk.hides("the first")
        await desk.has_session()
        assert desk.sent("session/close") == [{"sessionId": "s1"}]


async def test_an_agent_that_cannot_list_its_sessions_is_not_asked_to(open_desk: OpenDesk) -> None:
    """R-SESS-8."""
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("None earlier in this project")
        assert desk.sent("session/list") == []


async def test_a_refused_request_is_reported_and_the_session_on_screen_stays(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the agent doesn't say, when asked, whether it has the session."""
    monkeypatch.setattr(driver, "LIST_PATIENCE_S", 0.0)
    script = """
    say("the first")
    answer(expect("session/list"), sessions=sessions)
    refuse(expect("session/load"), -32603, "Its file is gone")
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.shows("the first")
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1")
        await desk.press("down", "enter")
        await desk.shows("is gone", "the first")  # the notice breaks its lines beside the conversation


async def test_what_the_agent_asks_while_it_loads_is_seen_and_answered(open_desk: OpenDesk) -> None:
    script = """
    answer(expect("session/list"), sessions=sessions)
    load = expect("session/load")
    options = [{"optionId": "yes", "name": "Go ahead", "kind": "allow_once"}]
    send(id=9, method="session/request_permission",
         params={"sessionId": "old-1", "toolCall": {"toolCallId": "t", "title": "Look around"}, "options": options})
    answered = read()["result"]["outcome"]["optionId"]
    answer(load)
    update("agent_message_chunk", session="old-1", content={"type": "text", "text": "chosen: " + answered})
    serve_until_closed()
    """
    async with open_desk(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.shows("Earlier 1")
        await desk.press("down", "enter")
        await desk.shows("Look around", "Go ahead")
        await desk.enter_card()
        await desk.press("1")
        await desk.shows("chosen: yes")
