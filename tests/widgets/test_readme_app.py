"""The app in `acp_tui/docs/authors.md`: a live agent inside someone else's Textual app."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.ui.kit.commenting import CommentDialog
from acp_tui.ui.permission.full_request import RequestScreen
from acp_tui.widgets import (
    AgentCommand,
    MessageView,
    PermissionCard,
    SessionView,
    ToolCallView,
    open_hub,
)
from support.settling import until_so

DOC = Path(__file__).parents[2] / "acp_tui/docs/authors.md"


def _example() -> ModuleType:
    blocks = re.findall(r"```python\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    (source,) = (block for block in blocks if "acp_tui.widgets" in block)
    module = ModuleType("documented_app")
    exec(compile(source, DOC.name, "exec"), vars(module))
    return module


async def _shown(pilot: Pilot[Any], kind: type[Any]) -> None:
    await until_so(pilot, lambda: bool(pilot.app.query(kind)))


async def test_the_documented_app_shows_a_turn_and_asks_its_user(tmp_path: Path, monkeypatch: Any) -> None:
    project = tmp_path / "project"
    copy_project(project)
    monkeypatch.chdir(project)
    argv = (sys.executable, "-m", "acp_tui.demo", "coding", "--speed", "0")
    posted: list[Message] = []
    async with open_hub() as hub:
        app = _example().Notes(hub, AgentCommand("demo", argv))
        async with app.run_test(size=(100, 40), message_hook=posted.append) as pilot:
            view = app.query_one(SessionView)
            await until_so(pilot, lambda: view.session is not None)
            field = app.query_one(Input)
            await pilot.press(*"Fix it", "enter")
            card = app.query_one(PermissionCard)
            await until_so(pilot, lambda: card in app.screen.focus_chain)
            assert field.has_focus, "the card takes the keyboard from nobody who writes"
            while not card.has_focus:  # once the user pauses, it takes the keyboard by itself
                await pilot.press("shift+tab")
            await _shown(pilot, MessageView)
            await _shown(pilot, ToolCallView)
            # Only the user answers: they comment on a line, leave the card, and it still asks.
            await pilot.press("f")
            while not isinstance(app.screen, CommentDialog):  # the first one selects a line
                await pilot.press("m")
            await pilot.press(*"Why?", "enter")
            await until_so(pilot, lambda: isinstance(app.screen, RequestScreen))
            await pilot.press("escape")
            await until_so(pilot, lambda: card.has_focus)
            await pilot.press("escape")
            await until_so(pilot, lambda: not card.has_focus)
            (comments,) = {message.text for message in posted if isinstance(message, SessionView.Typed)}
            assert comments.startswith("Comments on lines:")
            assert comments.endswith("Why?")
            assert card.display
            assert view.session is not None
            assert len(view.session.conversation.permissions) == 1
