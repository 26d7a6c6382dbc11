"""Reaching every session of an agent: starting, listing, opening, closing, and deleting."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sessions import driver
from support.desks import SESSION
from support.pages import draft_file, drafts_kept, leave
from support.tabs import OpenTabs

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


async def test_another_session_is_begun_and_shown(open_tabs: OpenTabs) -> None:
    """R-SESS-1, R-SESS-12."""
    script = """
    say("the first")
    answer(expect("session/new"), sessionId="s2")
    update("agent_message_chunk", session="s2", content={"type": "text", "text": "the second"})
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.shows("the first")
        await desk.do("begin_session")
        await desk.shows("the second")
        assert "the first" not in desk.words
        assert len(desk.sent("session/new")) == 2


async def test_another_session_can_be_begun_while_the_agent_starts(open_tabs: OpenTabs, tmp_path: Path) -> None:
    waits = """
    import os, time
    asked = expect("initialize")
    while not os.path.exists("go"):
        time.sleep(0.01)
    answer(asked, protocolVersion=1)
    for number in (1, 2):
        answer(expect("session/new"), sessionId=f"s{number}")
    serve_until_closed()
    """
    async with open_tabs(waits) as desk:
        await desk.do("begin_session")
        assert len(desk.tabs) == 2
        (tmp_path / "go").touch()
        await desk.until(lambda: {tab.session and tab.session.session_id for tab in desk.tabs} == {"s1", "s2"})


async def test_a_session_of_the_list_is_loaded_with_its_replay_on_the_screen(open_tabs: OpenTabs) -> None:
    """R-SESS-3, R-SESS-4, R-SESS-10."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    load = expect("session/load")
    for kind, text in (("user_message_chunk", "What was it?"), ("agent_message_chunk", "It was this.")):
        update(kind, session="old-2", content={"type": "text", "text": text})
    answer(load)
    serve_until_closed()
    """
    async with open_tabs(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.open_row("Earlier 2")
        await desk.shows("What was it?", "It was this.")
        assert [params["sessionId"] for params in desk.sent("session/load")] == ["old-2"]


LOADS_ONE = """
answer(expect("session/list"), sessions=sessions)
load = expect("session/load")
update("agent_message_chunk", session="old-2", content={"type": "text", "text": "It was this."})
answer(load)
"""
BEGINS_ANOTHER = """
answer(expect("session/new"), sessionId="s2")
serve_until_closed()
"""


async def test_what_is_written_in_an_empty_session_stays_there_when_another_is_opened(open_tabs: OpenTabs) -> None:
    async with open_tabs(LISTING, LOADING, LOADS_ONE, BEGINS_ANOTHER) as desk:
        await desk.has_session()
        await desk.write("for the first")
        await desk.open_row("Earlier 2")
        await desk.shows("It was this.")
        assert [tab.prompt.text for tab in desk.tabs] == ["for the first", ""]


async def test_a_draft_that_only_came_back_waits_for_the_next_empty_session(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    leave("gone", "And lions?", folder=tmp_path)
    in_any_order = """
    answer(expect("session/list"), sessions=sessions)
    for _ in ("session/load", "session/close"):
        message = read()
        if message["method"] == "session/load":
            update("agent_message_chunk", session="old-2", content={"type": "text", "text": "It was this."})
        answer(message)
    """
    listing = LISTING.replace("/project", str(tmp_path))
    async with open_tabs(listing, LOADING, in_any_order, BEGINS_ANOTHER) as desk:
        await desk.until(lambda: desk.draft == "And lions?")
        await desk.open_row("Earlier 2")
        await desk.shows("It was this.")
        await desk.until(lambda: not desk.draft and len(desk.tabs) == 1)
        await desk.do("begin_session")
        await desk.until(lambda: desk.draft == "And lions?")
        assert [tab.prompt.text for tab in desk.tabs] == ["", "And lions?"]


async def test_what_is_written_while_a_session_opens_is_its_draft(open_tabs: OpenTabs, tmp_path: Path) -> None:
    listing = LISTING.replace("/project", str(tmp_path))
    before = leave("old-2", "Before that", folder=tmp_path, is_blank=False)
    async with open_tabs(listing, LOADING, 'answer(expect("session/list"), sessions=sessions)\nread()\nread()') as desk:
        await desk.has_session()
        await desk.open_row("Earlier 2")
        await desk.until(lambda: desk.tab.title == "Earlier 2")
        await desk.write("And this")
        await desk.tab.writing.end()
        assert desk.app.prompt_memory.history.texts_of(str(tmp_path)) == ["Before that"]
    assert drafts_kept() == {before: "And this"}
    assert not draft_file().read()[before].is_blank


async def test_a_session_is_resumed_where_it_cannot_be_loaded(open_tabs: OpenTabs) -> None:
    """R-SESS-6, R-SESS-10."""
    script = """
    answer(expect("session/list"), sessions=sessions)
    answer(expect("session/resume"))
    update("agent_message_chunk", session="old-1", content={"type": "text", "text": "Where were we?"})
    serve_until_closed()
    """
    async with open_tabs(LISTING, RESUMING, script) as desk:
        await desk.has_session()
        await desk.open_row("Earlier 1")
        await desk.shows("Where were we?")
        assert [params["sessionId"] for params in desk.sent("session/resume")] == ["old-1"]


async def test_a_session_that_is_open_already_is_shown_without_asking_the_agent(open_tabs: OpenTabs) -> None:
    script = """
    say("the first")
    answer(expect("session/new"), sessionId="s2")
    answer(expect("session/list"), sessions=[{"sessionId": "s1", "cwd": "/project", "title": "The first one"}])
    serve_until_closed()
    """
    async with open_tabs(LOADING, script) as desk:
        await desk.shows("the first")
        await desk.do("begin_session")
        await desk.hides("the first")
        first, *_ = await desk.rows()
        await desk.tab.actions.history.open(first)
        await desk.shows("the first")
        assert desk.sent("session/load") == []


async def test_closing_a_session_from_the_palette_shows_a_new_one(open_tabs: OpenTabs) -> None:
    """R-SESS-7."""
    script = """
    say("the first")
    answer(expect("session/close"))
    answer(expect("session/new"), sessionId="s2")
    serve_until_closed()
    """
    async with open_tabs(LOADING, script) as desk:
        await desk.shows("the first")
        await desk.do("close_tab")
        await desk.hides("the first")
        await desk.has_session()
        assert desk.sent("session/close") == [{"sessionId": "s1"}]


async def test_an_agent_that_cannot_list_its_sessions_is_not_asked_to(open_tabs: OpenTabs) -> None:
    """R-SESS-8."""
    async with open_tabs(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        assert [row.is_tab for row in await desk.rows()] == [True]
        assert desk.sent("session/list") == []


async def test_a_refused_request_is_reported_and_the_session_on_screen_stays(
    open_tabs: OpenTabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the agent doesn't say, when asked, whether it has the session."""
    monkeypatch.setattr(driver, "LIST_PATIENCE_S", 0.0)
    script = """
    say("the first")
    answer(expect("session/list"), sessions=sessions)
    refuse(expect("session/load"), -32603, "Its file is gone")
    serve_until_closed()
    """
    async with open_tabs(LISTING, LOADING, script) as desk:
        await desk.shows("the first")
        await desk.open_row("Earlier 1")
        await desk.shows("is gone", "the first")


async def test_what_the_agent_asks_while_it_loads_is_seen_and_answered(open_tabs: OpenTabs) -> None:
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
    async with open_tabs(LISTING, LOADING, script) as desk:
        await desk.has_session()
        await desk.open_row("Earlier 1")
        await desk.shows("Look around")
        await desk.decide("Go ahead")
        await desk.shows("chosen: yes")
