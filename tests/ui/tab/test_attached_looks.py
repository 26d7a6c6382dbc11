"""A terminal that attaches to a session shows what one that was there all the time shows, line by line."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from acp_tui.client.hosting import extension_methods, finding
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.wording import session_facts
from support.agents import scripted_argv, until
from support.desks import Desk
from support.hosts import Hosted, a_user, attached_to
from support.hosts import hosted as hosted_in_memory
from support.recorded_sessions import Recorded, kept_recordings, scenarios, transcripts
from support.screens import Page, RecordedConnection, ScreenApp, open_agent_page, show

pytestmark = pytest.mark.anyio

SIZE: Final = (100, 50)
CUTS: Final = int(os.environ.get("ACP_TUI_ATTACHES", "12"))
"""How many recorded sessions are cut. From 100 on, those of the demo's scenarios are among them."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Recorded]:
    """The sessions to choose from."""
    played = scenarios(tmp_path_factory.mktemp("scenarios")) if CUTS >= 100 else ()
    return [*kept_recordings(), *transcripts(), *played]


@pytest.mark.parametrize("number", range(CUTS))
async def test_what_is_attached_to_looks_like_what_was_left(
    number: int, recorded: Sequence[Recorded], tmp_path: Path
) -> None:
    chance = random.Random(number)
    session = chance.choice(recorded)
    cut = chance.randint(1, len(session.updates))
    async with hosted_in_memory(tmp_path, version=session.version) as its:
        left, late = await its.connect("left"), await its.connect("late")
        async with screen_of(left, its) as seen:
            for update in session.updates[:cut]:
                its.session.apply(update)
            before = await seen()
        async with screen_of(late, its) as seen:
            after = await seen()
    where = f"{session.name} at {cut} of {len(session.updates)}"
    for name, value in before.items():
        assert after[name] == value, f"{name}: {where}"


@asynccontextmanager
async def screen_of(agent: Agent, its: Hosted) -> AsyncIterator[Callable[[], Awaitable[dict[str, Any]]]]:
    """A screen that attaches with `agent`. What is yielded waits until it has heard all, and returns what it shows."""
    app = ScreenApp()
    async with app.run_test(size=SIZE) as pilot:
        session = await agent.load_session(SessionId(its.session.session_id), its.session.cwd)
        session.now = lambda: None
        await show(pilot, session)
        page = Page(pilot, session, RecordedConnection(), app.clock)

        async def seen() -> dict[str, Any]:
            await until(session, lambda: waiting(session) == waiting(its.session))
            await agent.send_extension(extension_methods.STATUS, {})
            await page.settled()
            await page.emulator_loaded()
            return looks(page, session)

        yield seen


def waiting(session: Session) -> tuple[int, int]:
    """How many questions wait."""
    return len(session.conversation.permissions), len(session.conversation.elicitations)


def looks(page: Page, session: Session) -> dict[str, Any]:
    """All that is on the screen and could be scrolled or unfolded into it, as texts."""
    column, conversation = page.view.column, session.conversation
    entries = []
    for at in range(len(conversation.entries)):
        column.read(at)
        folded, whole = ([line.text.rstrip() for line in lines] for lines in (column.lines(at), column.whole(at)))
        entries.append((column.is_open(at), folded, whole))
    return {
        "screen": page.lines[:-1],  # the status line also says how long a turn took that was seen
        "entries": entries,
        "facts": session_facts(conversation, "Agent", str(session.cwd), None),
        "title": (conversation.title, session.conversation.is_named),
        "commands": conversation.commands,
        "plans": conversation.plans,
    }


# What a tab says of its session's host

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


async def test_it_is_seen_that_a_session_is_hosted_who_is_attached_and_how_to_detach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_user() as user:
        monkeypatch.setenv("XDG_STATE_HOME", str(user.home / "state"))
        place = user.host("--", *TALKER)
        (hosted,) = await finding.sessions_at(place.command)
        async with open_agent_page(place.command, hosted.cwd, opening=hosted.open_in) as page:
            desk = Desk(page.pilot, page.session, page.connection, page.clock)
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
