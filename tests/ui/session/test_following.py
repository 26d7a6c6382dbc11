"""The user's editor follows the agent: a command gets the places that tool calls name."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from acp_tui.client.settings.settings import FollowSettings, Settings
from acp_tui.conversation.tool_calls import Location, TextDiff, ToolCallContent, ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import PromptSent, ToolCallReported
from support.desks import Desk
from support.screens import ScreenApp, new_session, show

Report = Callable[..., None]
NOTE = "import sys; open(sys.argv[1], 'a').write(' '.join(sys.argv[2:]) + chr(10))"


@asynccontextmanager
async def followed(folder: Path, *argv: str) -> AsyncIterator[tuple[Desk, Report]]:
    """A session in the folder whose places go to this command."""
    app, session = ScreenApp(), new_session()
    session.cwd = folder
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await show(pilot, session)
        app.use_settings(Settings(follow=FollowSettings(argv)))
        session.apply(PromptSent(()))

        def report(name: str, *locations: Location, content: tuple[ToolCallContent, ...] = ()) -> None:
            patch = ToolCallPatch(ToolCallId(name), title=name, locations=locations, content=content)
            session.apply(ToolCallReported(patch))

        yield Desk(pilot, session, None, app.clock), report


async def test_each_place_is_shown_with_its_line(tmp_path: Path) -> None:
    seen, file = tmp_path / "seen", str(tmp_path / "a b.py")
    async with followed(tmp_path, sys.executable, "-c", NOTE, str(seen), "+{line}", "{path}") as (desk, report):
        report("read", Location(file, 7))
        await desk.until(lambda: seen.exists() and seen.read_text() == f"+7 {file}\n")
        report("edit", content=(TextDiff(file, "new", "old"),))
        await desk.until(lambda: seen.read_text() == f"+7 {file}\n+1 {file}\n")


async def test_of_places_that_come_fast_only_the_latest_is_shown_and_none_outside(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    async with followed(tmp_path, sys.executable, "-c", NOTE, str(seen), "{line}") as (desk, report):
        for line in range(1, 50):
            report("read", Location(str(tmp_path / "a.py"), line))
        report("other", Location("/etc/passwd", 50))
        report("run", Location(str(tmp_path)))
        await desk.until(lambda: seen.exists() and seen.read_text().split() == ["49"])
        report("last", Location(str(tmp_path / "a.py"), 51))
        await desk.until(lambda: seen.read_text().split() == ["49", "51"])


async def test_a_command_that_fails_is_told_of_once(tmp_path: Path) -> None:
    async with followed(tmp_path, "sh", "-c", "exit 3") as (desk, report):
        for line in (1, 2):
            report("read", Location(str(tmp_path / "a.py"), line))
            await desk.until(lambda: "follow.command: sh ended with status 3" in [one.message for one in desk.notices])
        assert len([one for one in desk.notices if "follow.command" in one.message]) == 1
