"""Tabs of sessions that a host keeps: they attach, detach, and return, while the session continues."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest

from acp_tui.client.hosting import finding
from acp_tui.client.hosting.finding import HostPaths
from acp_tui.ui.app.app import AcpTuiApp
from support.agents import REPLY, scripted, scripted_argv
from support.desks import SESSION, Desk
from support.frame_log import FrameLog
from support.hosts import User, a_user, attached_to, process_of
from support.screens import open_agent_page
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
async def attached_desk(place: HostPaths, frame_log: FrameLog) -> AsyncIterator[Desk]:
    """A desk whose first tab shows a host's session."""
    (hosted,) = await finding.sessions_at(place.command)
    async with open_agent_page(place.command, hosted.cwd, opening=hosted.open_in) as page:
        desk = Desk(page.pilot, page.session, page.connection, page.clock)
        desk.log = frame_log
        await desk.shows("hello")
        yield desk


def is_over(desk: Desk) -> bool:
    """Whether the user has quit."""
    app = desk.pilot.app
    assert isinstance(app, AcpTuiApp)
    return app._exit


async def turns(place: HostPaths) -> list[str]:
    """The states of the host's sessions."""
    return [hosted.state for hosted in await finding.sessions_at(place.command)]


async def test_a_question_is_answered_behind_a_host_and_a_command_runs_before_it(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.send("go")
        await desk.shows("Delete everything", "Allow once")
        assert "what else is reported" not in desk.words  # without the host's own process ID
        assert await turns(place) == ["needs you"]
        await desk.press_slowly("tab", "n")
        await desk.shows("chosen: reject_once")
        await desk.has_session()
        await desk.send("!echo from $((40 + 2))")
        await desk.shows("from 42", "with your next")
        async with attached_to(place) as (_, other):
            assert not any("from 42" in str(entry) for entry in other.conversation.entries)


async def test_detaching_leaves_the_session_running(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.press("alt+q")
        await desk.until(lambda: is_over(desk))
    assert await turns(place) == ["idle"]


async def test_quitting_offers_to_leave_the_session_running(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.press("ctrl+q")
        await desk.shows("Leave the session running", "Close the session")
        await desk.press("escape")
        await desk.hides("Leave the session running")
        assert not is_over(desk)
        await desk.press("ctrl+q")
        await desk.shows("Leave the session running")
        await desk.press("enter")
        await desk.until(lambda: is_over(desk))
    assert await turns(place) == ["idle"]


async def test_quitting_may_close_the_session_and_with_it_the_host(user: User, frame_log: FrameLog) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.press("ctrl+q")
        await desk.shows("Close the session")
        await desk.press("down", "enter")
        await desk.until(lambda: is_over(desk))
    await until(lambda: not place.socket.exists(), partial(anyio.sleep, 0.02))


async def test_the_sessions_dialog_lists_what_runs_in_hosts_and_shows_it(user: User, frame_log: FrameLog) -> None:
    one, other = user.host("--", *TALKER), user.host("--", *TALKER)
    async with attached_desk(one, frame_log) as desk:
        await desk.press("f3")
        await desk.shows("Hosted ⇄ untitled s1 idle " + other.name)
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("hello")
        await desk.press("alt+q")
        await desk.until(lambda: len(desk.tabs) == 1)
        assert not is_over(desk)
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
        await desk.press("f3")
        await desk.shows("Needs you", "Delete everything", other.name)
        tasks.cancel_scope.cancel()


async def test_a_session_whose_host_was_killed_is_hosted_again_if_the_user_agrees(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--cwd", str(user.home), "--", *KEEPER)
    async with attached_desk(place, frame_log) as desk:
        await desk.send("go")
        await desk.shows("and now")
        process_of(place).kill()
        await desk.shows("host gone; Alt+R starts one again")
        await desk.press("alt+r")
        await desk.shows("Start one again with this session?")
        await desk.press_slowly("y")
        await desk.shows("as before", "reconnected")
        await desk.hides("host gone")
    assert await turns(place) == ["idle"]


async def test_it_is_seen_that_a_session_is_hosted_who_is_attached_and_how_to_detach(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--", *TALKER)
    async with attached_desk(place, frame_log) as desk:
        await desk.shows("Alt+Q detaches · hosted · F1 help")
        async with attached_to(place), attached_to(place, is_read_only=True):
            await desk.shows("hosted, 1 other, 1 watching · F1 help")
            await desk.press("f4")
            await desk.shows(
                "Hosted it goes on without this terminal; Alt+Q detaches",
                "Attached acp-tui on this machine",
                "Watching acp-tui on this machine",
            )
            await desk.press("escape")
        await desk.shows("Alt+Q detaches · hosted · F1 help")
        other = user.host("--", *TALKER)
        await desk.press("f3")
        await desk.shows(other.name)
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("2 ● ⇄")


async def test_who_only_watches_is_told_so_keeps_the_draft_and_leaves_without_a_question(
    user: User, frame_log: FrameLog
) -> None:
    place = user.host("--", *TALKER)
    (hosted,) = await finding.sessions_at(place.command)
    watched = hosted.to_watch()
    async with open_agent_page(watched.command, hosted.cwd, opening=watched.open_in) as page:
        desk = Desk(page.pilot, page.session, page.connection, page.clock)
        desk.log = frame_log
        await desk.shows("hello", "read-only")
        await desk.hides("Enter sends it")
        await desk.send("go")
        await desk.shows("You can only watch this session.")
        assert await turns(place) == ["idle"]
        async with attached_to(place) as (_, full), anyio.create_task_group() as tasks:
            tasks.start_soon(full.send_prompt, REPLY)
            await desk.shows("waits for someone else", "read-only, 1 other")
            await desk.hides("Allow once")
            await desk.press("escape")
            assert await turns(place) == ["needs you"]
            full.answer_permission(next(iter(full.conversation.permissions)), "reject_once")
            await desk.shows("chosen: reject_once")
        await desk.press("ctrl+q")
        await desk.until(lambda: is_over(desk))
    assert await turns(place) == ["idle"]


@pytest.mark.parametrize("way", ["alt+q", "/host"])
async def test_a_session_of_ours_has_no_host_to_leave_it_to(user: User, frame_log: FrameLog, way: str) -> None:
    async with open_agent_page(scripted(SESSION + "serve_until_closed()"), user.home) as page:
        desk = Desk(page.pilot, page.session, page.connection, page.clock)
        desk.log = frame_log
        await desk.has_session()
        await (desk.press("alt+q") if way == "alt+q" else desk.send(way))
        await desk.shows("No host keeps this session. Set sessions.host to ask or always")
