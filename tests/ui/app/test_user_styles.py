"""The user's stylesheets: what they change, what they can't, and how their errors are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.ui.app.settings.follower import UserStyles, problem_in
from acp_tui.widgets import MessageView
from support.folding import agent
from support.screens import Page, open_page

RED = "MessageView { background: #ff0000; }"


def _styles(page: Page, folder: Path, said: list[str]) -> UserStyles:
    return UserStyles(page.pilot.app, folder, said.append)


def _ground(page: Page) -> str:
    return page.pilot.app.screen.query(MessageView).first().styles.background.hex


async def test_a_stylesheet_changes_what_an_entry_lies_on_and_removing_it_changes_it_back(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    async with open_page(agent("hello")) as page:
        styles, file, before = _styles(page, tmp_path, said), tmp_path / "mine.tcss", _ground(page)
        file.write_text(RED)
        styles.use()
        assert _ground(page) == "#FF0000"
        file.unlink()
        styles.use()
        await page.settled()
        assert (_ground(page), said) == (before, [])


async def test_a_file_with_an_error_is_named_with_its_line_and_the_others_are_used(tmp_path: Path) -> None:
    said: list[str] = []
    async with open_page(agent("hello")) as page:
        (tmp_path / "a.tcss").write_text("\n\nMessageView { color: nonsense; }")
        (tmp_path / "b.tcss").write_text(RED)
        _styles(page, tmp_path, said).use()
        assert _ground(page) == "#FF0000"
        assert [f"{tmp_path / 'a.tcss'}:3: " in text for text in said] == [True]


async def test_an_edit_is_seen_at_once(tmp_path: Path) -> None:
    said: list[str] = []
    async with open_page(agent("hello")) as page:
        (tmp_path / "mine.tcss").write_text("MessageView { background: #00ff00; }")
        worker = page.pilot.app.run_worker(_styles(page, tmp_path, said).follow())
        await page.until(lambda: _ground(page) == "#00FF00")
        replaced = tmp_path / "new"

        def is_red() -> bool:
            # Until the folder is watched, an edit goes unnoticed: make it again.
            replaced.write_text(RED)
            replaced.rename(tmp_path / "mine.tcss")
            return _ground(page) == "#FF0000"

        await page.until(is_red)
        worker.cancel()
        assert said == []


@pytest.mark.parametrize(
    "text",
    [
        "PermissionCard { color: red; }",
        "MessageView, PermissionCard { color: red; }",
        "* { color: red; }",
        "Screen MessageView { color: red; }",
        "MessageView { display: none; }",
        "Sidebar { layer: above; offset: 0 5; }",
        "MessageView { &:hover { dock: top; } }",
    ],
)
def test_what_asks_a_question_cannot_be_hidden_moved_or_disguised(text: str) -> None:
    assert "can't be" in problem_in(Path("/mine.tcss"), text, {})


@pytest.mark.parametrize("text", ["{", "MessageView {", "MessageView { color }", "}", "\0"])
def test_what_is_no_stylesheet_is_said_and_never_raised(text: str) -> None:
    assert problem_in(Path("/mine.tcss"), text, {}).startswith("/mine.tcss")
