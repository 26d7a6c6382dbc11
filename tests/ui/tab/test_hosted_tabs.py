"""Tabs of sessions that a host keeps: they attach, detach, and return, while the session continues."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio
import pytest

from acp_tui.client.hosting import finding
from acp_tui.client.hosting.finding import HostPaths
from acp_tui.client.settings.settings import SessionSettings
from acp_tui.ui.dialogs.session_rows import HOSTED, NEEDS_YOU
from support.agents import REPLY, scripted, scripted_argv
from support.desks import SESSION
from support.frame_log import FrameLog
from support.hosts import User, a_user, attached_to, process_of
from support.processes import all_end
from support.tabs import TabDesk, tabs_of
from support.waiting import until

pytest.importorskip("websockets", reason="hosts need the extra `remote`")

TALKER = scripted_argv("""
    handshake()
    answer(expect("session/new"), sessionId="s1")
    say("hello")
    prompt = expect("session/prompt")
    ask("allow_once", "reject_once")
    say(f"chosen: {outcome()}")
    end(prompt)
    serve_until_closed()
""")


KEEPER = scripted_argv("""
    handshake(agentCapabilities={"loadSession": True})
    opening = read()
    if opening["method"] == "session/load":
        update("agent_message_chunk", content={"type": "text", "text": "as before"})
        answer(opening)
    else:
        answer(opening, sessionId="s1")
        say("hello")
    prompt = expect("session/prompt")
    say("and now")
    end(prompt)
    serve_until_closed()
""")


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """The user whose hosts the app finds."""
    with a_user() as one:
        monkeypatch.setenv("XDG_STATE_HOME", str(one.home / "state"))
        yield one


@asynccontextmanager
async def attached_desk(place: HostPaths, frame_log: FrameLog) -> AsyncIterator[TabDesk]:
    """A desk whose first tab shows a host's session."""
    (hosted,) = await finding.sessions_at(place.command)
    async with tabs_of(place.command, hosted.cwd, frame_log, opening=hosted.open_in) as desk:
        await desk.shows("hello")
        yield desk


async def turns(place: HostPaths) -> list[str]:
    """The states of the host's sessions."""
    return [hosted.state for hosted in await finding.sessions_at(place.command)]


async def test_a_question_is_answered_behind_a_host_and_a_command_runs_before_it(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.send("go")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        (request,) = desk.shown_session.conversation.permissions.values()
        assert not request.more  # without the host's own process ID
        assert await turns(place) == ["needs you"]
        desk.shown_session.answer_permission(request.key, "reject_once")
        await desk.shows("chosen: reject_once")
        await desk.has_session()
        await desk.send("!echo from $((40 + 2))")
        await desk.until(lambda: desk.queue.outputs)
        (terminal,) = desk.shown_session.conversation.terminals.values()
        await desk.until(lambda: terminal.output.read().strip() == b"from 42")
        async with attached_to(place) as (_, other):
            assert not any("from 42" in str(entry) for entry in other.conversation.entries)


async def test_detaching_leaves_the_session_running(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.do("detach")
        await desk.until(lambda: desk.app.is_over)
    assert await turns(place) == ["idle"]


async def test_quitting_offers_to_leave_the_session_running(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.do("quit")
        await desk.shows("Leave the session running", "Close the session")
        await desk.answer(None)
        assert not desk.app.is_over
        await desk.do("quit")
        await desk.shows("Leave the session running")
        await desk.choose("Leave the session running")
        await desk.until(lambda: desk.app.is_over)
    assert await turns(place) == ["idle"]


async def test_quitting_may_close_the_session_and_with_it_the_host(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    host = process_of(place)
    async with attached_desk(place, frame_log) as desk:
        await desk.do("quit")
        await desk.shows("Close the session")
        await desk.choose("Close the session")
        await desk.until(lambda: desk.app.is_over)
    assert all_end([host])
    assert not place.socket.exists()


async def test_the_sessions_dialog_lists_what_runs_in_hosts_and_shows_it(user: User, frame_log: FrameLog) -> None:
    one, other = user.host("--", *TALKER), user.host("--", *TALKER)
    async with attached_desk(one, frame_log) as desk:
        row = await desk.row("untitled s1")
        assert (row.group, row.state, row.agent) == (HOSTED, "idle", other.name)
        await desk.open_row("untitled s1")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("hello")
        await desk.do("detach")
        await desk.until(lambda: len(desk.tabs) == 1)
        assert not desk.app.is_over
    assert await turns(other) == ["idle"]


async def test_the_sessions_dialog_lists_a_host_that_asks_among_what_needs_you(user: User, frame_log: FrameLog) -> None:
    one, other = user.host("--", *TALKER), user.host("--", *TALKER)
    async with (
        attached_desk(one, frame_log) as desk,
        attached_to(other) as (_, theirs),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(theirs.send_prompt, REPLY)
        await until(lambda: theirs.conversation.permissions, partial(anyio.sleep, 0.02))
        _, row = await desk.rows()
        assert (row.group, row.last, row.agent) == (NEEDS_YOU, "Delete everything", other.name)
        tasks.cancel_scope.cancel()


async def test_a_session_whose_host_was_killed_is_hosted_again_if_the_user_agrees(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--cwd", str(user.home), "--", *KEEPER)
    async with attached_desk(place, frame_log) as desk:
        await desk.send("go")
        await desk.shows("and now")
        process_of(place).kill()
        await desk.shows("host is gone; Alt+R starts one again")
        await desk.restart()
        await desk.shows("Start one again with this session?")
        await desk.answer(True)
        await desk.shows("as before")
        await desk.has_session()
    assert await turns(place) == ["idle"]


async def test_who_only_watches_is_told_so_keeps_the_draft_and_leaves_without_a_question(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--", *TALKER)
    (hosted,) = await finding.sessions_at(place.command)
    watched = hosted.to_watch()
    async with tabs_of(watched.command, hosted.cwd, frame_log, opening=watched.open_in) as desk:
        await desk.shows("hello")
        await desk.send("go")
        assert desk.notices[-1].message == "You can only watch this session. Your draft stays."
        assert desk.draft == "go"
        assert await turns(place) == ["idle"]
        async with attached_to(place) as (_, full), anyio.create_task_group() as tasks:
            tasks.start_soon(full.send_prompt, REPLY)
            await desk.until(lambda: desk.shown_session.waits_elsewhere)
            assert not desk.shown_session.conversation.permissions
            await desk.cancel()
            assert await turns(place) == ["needs you"]
            full.answer_permission(next(iter(full.conversation.permissions)), "reject_once")
            await desk.shows("chosen: reject_once")
        await desk.do("quit")
        await desk.until(lambda: desk.app.is_over)
    assert await turns(place) == ["idle"]


@pytest.mark.parametrize("way", ["detach", "/host"])
async def test_a_session_of_ours_has_no_host_to_leave_it_to(user: User, frame_log: FrameLog, way: str) -> None:
    async with tabs_of(scripted(SESSION + "serve_until_closed()"), user.home, frame_log) as desk:
        await desk.has_session()
        await (desk.do("detach") if way == "detach" else desk.send(way))
        await desk.shows("No host keeps this session. Set sessions.host to ask or always")
        desk.app.settings = replace(desk.app.settings, sessions=SessionSettings(host="ask"))
        await desk.do("detach")
        await desk.shows("No host keeps this session. From the next start on")
