"""What the user folded and unfolded is as it was after a session is resumed."""

from __future__ import annotations

import json
from pathlib import Path

from acp_tui.client.sessions.folds import MAX_FOLDS, MAX_NAME, MAX_SESSIONS, KeptFolds
from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import MessageChunk, SessionUpdate
from acp_tui.ui.conversation.column import fold_name
from support.folding import call, fold, prompt
from support.screens import Page, open_page

LINES = "\n".join(f"line {number}" for number in range(30))


def _said() -> list[SessionUpdate]:
    return [
        prompt("go"),
        MessageChunk("thought", Text("First this.\n\nThen that."), "t"),
        call("r1", title="Read one", kind="read", status="completed"),
        call("r2", title="Read two", kind="read", status="completed"),
        call("e", title="Edit", kind="edit", status="completed", content=(BlockContent(Text(LINES)),)),
    ]


async def _from_the_top(page: Page) -> str:
    await page.settled()
    page.view.action_go_to_end(-1)
    await page.settled()
    return page.text


async def test_a_resumed_session_is_folded_as_it_was_left() -> None:
    async with open_page(*_said()) as page:
        for index in (1, 2, 4):
            page.view.toggle(index)
        folds, left = page.view.column.folds, await _from_the_top(page)
    assert "Then that." in left
    async with open_page(*_said()) as page:
        assert await _from_the_top(page) != left
        page.view.keep_folds(folds)
        assert await _from_the_top(page) == left
        assert page.view.column.folds == folds


async def test_folds_wait_for_entries_that_come_later() -> None:
    entries = fold(*_said()).entries
    async with open_page() as page:
        page.view.keep_folds({fold_name(entries[4]): True, "call other": True})
        await page.apply(*_said())
        assert page.view.column.is_open(4)
        assert page.view.column.folds == {fold_name(entries[4]): True, "call other": True}


def test_folds_are_kept_for_each_session_within_limits(tmp_path: Path) -> None:
    file = tmp_path / "folds.json"
    for number in range(MAX_SESSIONS + 1):
        KeptFolds(f"agent/{number}", file).save({f"call {at}": True for at in range(MAX_FOLDS + 1)})
    assert KeptFolds("agent/0", file).load() == {}
    assert len(KeptFolds("agent/1", file).load()) == MAX_FOLDS
    KeptFolds("agent/1", file).save({"x" * (MAX_NAME + 1): True})
    assert "agent/1" not in json.loads(file.read_text())


def test_a_broken_file_counts_as_untouched(tmp_path: Path) -> None:
    file = tmp_path / "folds.json"
    file.write_text('{"a/s": {"call c": "yes", "call d": true}}')
    assert KeptFolds("a/s", file).load() == {"call d": True}
    file.write_text("[")
    assert KeptFolds("a/s", file).load() == {}
    KeptFolds("a/s", file / "x").save({"call c": True})
