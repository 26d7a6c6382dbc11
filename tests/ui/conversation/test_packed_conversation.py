"""A conversation with early entries packed on disk looks, searches, copies, and exports like any other."""

from __future__ import annotations

import os
import tempfile
from typing import IO, Any

import pytest
from textual.widgets import Input

from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.markdown import sections
from acp_tui.client.spill import MAX_BYTES, Copies
from acp_tui.conversation import entry_list
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import snapshot
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.ui.conversation import column as column_module
from acp_tui.ui.session.find_bar import FindBar
from support.folding import agent, call, prompt, thought
from support.screens import Page, open_page

ENTRIES = 60


def said(number: int) -> SessionUpdate:
    match number % 5:
        case 0:
            return prompt(f"Question {number}: where is the needle?")
        case 1:
            return agent(f"# Answer {number}\n\n- a `needle`\n- in the hay", f"m{number}")
        case 2:
            lines = "\n".join(f"line {line} of {number}" for line in range(30)) + "\nthe needle"
            output = BlockContent(Text(lines))
            return call(f"c{number}", title=f"Search {number}", kind="search", status="completed", content=(output,))
        case 3:
            return thought(f"Thinking of {number}, and of a needle. " * 8)
        case _:
            diff = TextDiff(f"/project/{number}.py", "new\n", "old\n")
            return call(f"e{number}", title=f"Edit {number}", kind="edit", status="in_progress", content=(diff,))


async def everything_seen(page: Page) -> dict[str, Any]:
    """What users see of it, and what they copy and export."""
    view, seen = page.view, dict[str, Any]()
    await page.apply(call("e4", status="completed", title="Edited late"), agent("\n\nsaid late", "m1"))
    await page.press("f9")
    page.pilot.app.screen.query_one(FindBar).query_one(Input).value = "the needle"
    await page.settled()
    await page.press("up")
    seen["found"] = page.text
    await page.press("escape")
    view.selecting.select_all()
    seen["copied"] = view.selecting.text()
    for key in ("ctrl+up", "ctrl+up"):
        await page.press(key)
    seen["prompts"] = page.text
    view.toggle_all()
    await page.settled()
    view.scroll_to_line(0)
    await page.settled()
    seen["unfolded"] = page.text
    facts = ExportFacts("Agent", "/project", "s")
    seen["exported"] = list(sections(snapshot(page.session.conversation), facts))
    return seen


async def test_it_is_as_one_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for kept in (10_000, 5):
        monkeypatch.setattr(entry_list, "KEPT", kept)
        monkeypatch.setattr(entry_list, "PACKED_AT_ONCE", 3)
        monkeypatch.setattr(column_module, "MAX_DRAWN", kept)
        async with open_page(*map(said, range(ENTRIES))) as page:
            entries = page.session.conversation.entries
            assert (len(entries.recent) < 10) == (kept == 5)
            seen.append(await everything_seen(page))
    for name, whole in seen[0].items():
        assert seen[1][name] == whole, name
    assert "Edited late" in seen[0]["copied"]


async def test_entries_that_were_never_drawn_cache_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_list, "KEPT", 5)
    monkeypatch.setattr(entry_list, "PACKED_AT_ONCE", 5)
    async with open_page() as page:
        for number in range(500):
            page.session.apply(agent("word", f"m{number}"))
        page.view.column.open_to(499)
        entries = page.session.conversation.entries
        assert len(entries.held) <= 10
        await page.settled()


def test_the_file_has_no_name_and_is_the_users_only(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[IO[bytes]] = []
    open_file = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **how: opened.append(open_file(**how)) or opened[-1])
    store = Copies(MAX_BYTES)
    place = store.put(b"said")
    assert store.get(place, 4) == b"said"
    (file,) = opened
    status = os.fstat(file.fileno())
    assert (status.st_nlink, status.st_mode & 0o777) == (0, 0o600)
    del store
    assert file.closed
