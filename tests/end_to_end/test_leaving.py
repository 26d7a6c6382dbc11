"""With `sessions.host`, a screen can be left: its sessions go on in a host, in the middle of whatever they do."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial

import anyio
import psutil  # type: ignore[import-untyped]
import pytest

from acp_tui.client.hosting.finding import HostPaths
from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.store import RecordingStore
from support.agents import agent_texts, scripted_argv, until
from support.command_line import data_of
from support.hosts import User, a_user, attached_to
from support.processes import all_end, below
from support.terminals import OnTerminal, on_terminal
from support.waiting import until as so

pytest.importorskip("websockets", reason="hosts need the extra `remote`")
pytestmark = pytest.mark.anyio

ALT_Q, CTRL_Q, ENTER, DOWN = "\x1bq", "\x11", "\r", "\x1b[B"
SENT = "correct horse battery"
DRAFT = "what I was about to say"
# It talks until somebody allows it to end.
TALKS = scripted_argv("""
    from threading import Thread
    from time import sleep
    prompt = open_session()
    say("working\\n\\n")
    asked = ask("allow_once", "reject_once")
    chosen = []
    Thread(target=lambda: chosen.append(outcome()), daemon=True).start()
    number = 0
    while not chosen:
        number += 1
        say(f"{number} ")
        sleep(0.01)
    say(f"chosen: {chosen[0]}")
    end(prompt)
    serve_until_closed()
""")


@pytest.fixture
def user() -> Iterator[User]:
    with a_user() as one:
        yield one


def choose(user: User, host: str) -> None:
    """Set `sessions.host`."""
    settings = user.home / "config/acp-tui/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"sessions.host = '{host}'\n")


def at_work(screen: OnTerminal) -> list[psutil.Process]:
    """Everything that runs for a session that works and has a question."""
    screen.prompt("go")
    screen.wait_for("Permission")
    return below(screen.process)


async def answered(user: User) -> str:
    """What the agent says once somebody has attached to the only host and answered; the host is stopped then."""
    hosts = user.home / "state/acp-tui/hosts"
    await so(lambda: data_of("hosts", user.run("hosts", "--format", "json").stdout), partial(anyio.sleep, 0.02))
    (socket,) = hosts.glob("*.sock")
    async with attached_to(HostPaths(socket.stem, socket.parent)) as (agent, session):
        await until(session, lambda: bool(session.conversation.permissions))
        session.answer_permission(next(iter(session.conversation.permissions)), "reject_once")
        await until(session, lambda: session.conversation.is_idle)
        said = agent_texts(session)[-1]
        await agent.send_extension("_acp_tui/stop", {})
        await agent.ended.wait()
    log = HostPaths(socket.stem, socket.parent).log
    assert log.read_text() == ""
    return said


def recorded(user: User) -> str:
    """What the agent said, as it is in the only recording, which has no half line."""
    (file,) = RecordingStore(user.home / "state/acp-tui/recordings").files()
    with open_recording(file) as recording:
        messages = [json.loads(event.data) for event in recording if isinstance(event, Frame)]
        assert (recording.problems, recording.half_line) == ([], b"")
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    return "".join(update["content"]["text"] for update in updates)


async def assert_it_went_on(user: User, family: list[psutil.Process]) -> None:
    """The same agent has said everything once, the question was still there, and then nothing is left."""
    said = await answered(user)
    *numbers, chosen, how = said.removeprefix("working").split()
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert (chosen, how) == ("chosen:", "reject_once")
    assert all_end(family)
    assert recorded(user).split() == ["working", *said.removeprefix("working").split()]


def detach(screen: OnTerminal) -> None:
    screen.type(ALT_Q)
    assert screen.wait_for_end() == 0
    assert screen.is_as_before()
    assert b"is hosted: acp-tui attach" in screen.written


def quit_and_leave(screen: OnTerminal) -> None:
    screen.type(CTRL_Q)
    screen.wait_for("Leave the session running")
    screen.type(ENTER)
    assert screen.wait_for_end() == 0
    assert screen.is_as_before()


def close_window(screen: OnTerminal) -> None:
    screen.close_window()
    assert all_end([psutil.Process(screen.process.pid)])


def kill_what_the_shell_started(screen: OnTerminal) -> None:
    screen.process.kill()
    assert screen.wait_for_end() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("host", "leave"),
    [("ask", detach), ("ask", quit_and_leave), ("always", close_window), ("always", kill_what_the_shell_started)],
)
async def test_a_turn_and_its_question_go_on_without_the_screen(
    user: User, host: str, leave: Callable[[OnTerminal], None]
) -> None:
    choose(user, host)
    with on_terminal(user.home, "--", *TALKS) as screen:
        family = at_work(screen)
        leave(screen)
    await assert_it_went_on(user, family)


async def test_who_watches_what_goes_on_sees_no_secret_that_the_agent_was_sent_before(user: User) -> None:
    choose(user, "always")
    settings = user.home / "config/acp-tui/settings.toml"
    settings.write_text(f"{settings.read_text()}[mcp.tool]\ncommand = 'true'\nenv = {{ API_KEY = '{SENT}' }}\n")
    tells = f"prompt = open_session(); say({SENT!r}); end(prompt); serve_until_closed()"
    with on_terminal(user.home, "--", *scripted_argv(tells)) as screen:
        screen.prompt("go")
        screen.wait_for(SENT)
        family = below(screen.process)
        detach(screen)
    (socket,) = (user.home / "state/acp-tui/hosts").glob("*.sock")
    place = HostPaths(socket.stem, socket.parent)
    async with attached_to(place, is_read_only=True) as (_, watched):
        assert agent_texts(watched) == ["***"]
    async with attached_to(place) as (agent, session):
        assert agent_texts(session) == [SENT]
        await agent.send_extension("_acp_tui/stop", {})
        await agent.ended.wait()
    assert all_end(family)


async def test_moved_into_a_host_it_is_shown_again_and_survives_its_screen(user: User) -> None:
    choose(user, "ask")
    with on_terminal(user.home, "--", *TALKS) as screen:
        family = at_work(screen)
        screen.type("\x1b")  # from the card to the prompt
        screen.type("/host\r")
        screen.until(lambda: screen.written.count(b"\x1b[?1049h") == 2)  # another screen
        screen.wait_for("Permission")
        assert "attach" in psutil.Process(screen.process.pid).cmdline()
        screen.process.kill()
        screen.wait_for_end()
    await assert_it_went_on(user, family)


def test_a_draft_comes_back_with_the_session(user: User) -> None:
    choose(user, "ask")
    with on_terminal(user.home, "--", *scripted_argv("open_session(); serve_until_closed()")) as screen:
        screen.wait_for("●")
        screen.type(DRAFT)
        drafts = user.home / "state/acp-tui/drafts.json"
        screen.until(lambda: drafts.exists() and DRAFT in drafts.read_text())
        detach(screen)
    with on_terminal(user.home, "attach") as screen:
        screen.wait_for(DRAFT)


def test_who_closes_the_session_at_the_end_leaves_nothing(user: User) -> None:
    choose(user, "ask")
    with on_terminal(user.home, "--", *TALKS) as screen:
        family = at_work(screen)
        screen.type(CTRL_Q)
        screen.wait_for("Leave the session running")
        screen.type(DOWN + ENTER)
        assert screen.wait_for_end() == 0
        assert all_end(family)
    assert [*(user.home / "state/acp-tui").glob("hosts/*.sock")] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_what_the_shell_waits_for_ends_all_unless_it_shall_go_on(
    user: User, number: signal.Signals
) -> None:
    choose(user, "ask")
    with on_terminal(user.home, "--", *TALKS) as screen:
        family = at_work(screen)
        screen.process.send_signal(number)
        assert screen.wait_for_end() == 0
        assert screen.is_as_before()
        assert all_end(family)


def test_a_killed_screen_leaves_nothing_but_a_whole_recording(user: User) -> None:
    choose(user, "always")
    with on_terminal(user.home, "--", *TALKS) as screen:
        family = at_work(screen)
        (screens,) = psutil.Process(screen.process.pid).children()
        screens.kill()
        assert screen.wait_for_end() == -signal.SIGKILL
        assert all_end(family)
    assert recorded(user).startswith("working")


def test_a_stopped_screen_gives_the_shell_its_terminal_until_it_is_continued(user: User) -> None:
    choose(user, "ask")
    with on_terminal(user.home, "--", *TALKS) as screen:
        at_work(screen)
        parent = psutil.Process(screen.process.pid)
        (child,) = parent.children()
        child.suspend()
        screen.until(lambda: parent.status() == psutil.STATUS_STOPPED)
        os.killpg(os.getpgid(parent.pid), signal.SIGCONT)  # as a shell does
        screen.until(lambda: {parent.status(), child.status()} <= {psutil.STATUS_RUNNING, psutil.STATUS_SLEEPING})
        screen.type(CTRL_Q)
        screen.wait_for("Leave the session running")


def test_without_the_setting_nothing_waits_for_the_screen(user: User) -> None:
    with on_terminal(user.home, "--", *scripted_argv("open_session(); serve_until_closed()")) as screen:
        screen.wait_for("●")
        (guardian,) = psutil.Process(screen.process.pid).children()
        assert "guardian" in " ".join(guardian.cmdline())
