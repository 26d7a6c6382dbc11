"""Readline's keys in the prompt, the user's editor, and a very long draft."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets.text_area import Document

from support.screens import open_page

READLINE = (
    (("ctrl+a", "X"), "Xone two-three"),
    (("home", "ctrl+e", "X"), "one two-threeX"),
    (("ctrl+a", "ctrl+k"), ""),
    (("ctrl+u",), ""),
    (("ctrl+w",), "one "),
    (("alt+backspace",), "one two-"),
    (("alt+b", "alt+b", "X"), "one Xtwo-three"),
    (("ctrl+a", "alt+f", "X"), "oneX two-three"),
    (("ctrl+a", "alt+d"), " two-three"),
    (("ctrl+a", "ctrl+d"), "ne two-three"),
    (("ctrl+w", "ctrl+y", "ctrl+y"), "one two-threetwo-three"),
    (("ctrl+w", "ctrl+w", "ctrl+y"), "one two-three"),
    (("ctrl+a", "alt+d", "alt+d", "ctrl+e", "ctrl+y"), "-threeone two"),
    (("ctrl+w", "X", "ctrl+w", "ctrl+y"), "one X"),
    (("ctrl+u", "ctrl+z"), "one two-three"),
    (("ctrl+u", "ctrl+z", "ctrl+y"), ""),
    (("X", "ctrl+w", "ctrl+z", "ctrl+z", "ctrl+y"), "one two-threeX"),
    (("ctrl+x",), "one two-three"),
    (("shift+left", "shift+left", "ctrl+x", "ctrl+x"), "one two-thr"),
)


async def test_readlines_keys_do_what_they_do_there() -> None:
    async with open_page() as page:
        for keys, left in READLINE:
            page.prompt.clear_draft()
            await page.write("one two-three")
            await page.press(*keys)
            assert page.draft == left, keys


async def test_keys_act_in_the_order_in_which_they_were_typed() -> None:
    async with open_page() as page:
        for key in ("a", "ctrl+j", "b", "left", "c", "ctrl+a", "d"):
            page.pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await page.settled()
        assert page.draft == "a\ndcb"


async def test_killing_at_a_lines_end_joins_it_with_the_next() -> None:
    async with open_page() as page:
        await page.write("one\ntwo")
        await page.press("up", "ctrl+e", "ctrl+k")
        assert page.draft == "onetwo"


async def test_ctrl_d_quits_from_an_empty_prompt_alone() -> None:
    async with open_page() as page:
        await page.press("a", "ctrl+a", "ctrl+d")
        assert page.draft == ""
        assert page.pilot.app.return_code is None
        await page.pilot.press("ctrl+d")
        assert page.pilot.app.return_code == 0


async def test_esc_twice_goes_back_to_a_prompt_to_edit_it() -> None:
    async with open_page() as page:
        for text in ("first try", "second try"):
            await page.send(text)
            await page.end_turn()
        await page.press("escape")
        page.clock.now_s += 2
        await page.press("escape")
        assert "Go back to a prompt" not in page.text
        await page.press("escape")
        await page.until(lambda: "Go back to a prompt" in page.text)
        await page.press("down", "enter")
        await page.until(lambda: page.draft == "first try")


async def test_a_backslash_at_the_end_makes_a_new_line_unless_it_is_escaped() -> None:
    cases = {"one\\": "one\n", "one\\\\": "", "\\": "\n", "!ls \\": "!ls \n"}
    async with open_page() as page:
        for written, then in cases.items():
            page.prompt.clear_draft()
            await page.write(written)
            await page.press("enter")
            assert page.draft == then, written


async def test_undo_brings_back_a_draft_that_ctrl_c_dropped() -> None:
    async with open_page() as page:
        await page.write("my precious draft")
        await page.press("ctrl+c", "ctrl+z")
        assert page.draft == "my precious draft"


async def test_the_terminals_cursor_is_where_the_caret_is() -> None:
    async with open_page() as page:
        await page.write("日本\nab")
        app, corner = page.pilot.app, page.prompt.content_region
        assert app.cursor_position == (corner.x + 2, corner.y + 1)
        await page.press("up")
        assert app.cursor_position == (corner.x + 2, corner.y)
        await page.press("end")
        assert app.cursor_position == (corner.x + 4, corner.y)


# The user's editor


@pytest.fixture
def edit_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A script that replaces an editor: its text runs with the file as $1."""
    script = tmp_path / "editor.sh"
    monkeypatch.setenv("VISUAL", f"sh {script}")
    return script


async def test_what_the_editor_makes_of_the_draft_is_the_draft(edit_with: Path, tmp_path: Path) -> None:
    edit_with.write_text(f'stat -c "%a %n" "$1" >{tmp_path}/seen; printf " more\\n" >>"$1"')
    async with open_page() as page:
        page.pilot.app.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await page.write("a draft")
        await page.press("ctrl+g")
        await page.until(lambda: page.draft == "a draft more")
        mode, name = (tmp_path / "seen").read_text().split()
        assert (mode, Path(name).suffix) == ("600", ".md")
        assert not Path(name).parent.exists()
        await page.press("ctrl+z")
        assert page.draft == "a draft"


async def test_the_editor_gets_long_pastes_whole_and_they_come_back_as_they_were(edit_with: Path) -> None:
    edit_with.write_text('sed -i "1s/see/look at/" "$1"')
    async with open_page() as page:
        page.pilot.app.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await page.write("see ")
        page.prompt.paste("x\n" * 500)
        before = page.draft
        await page.press("ctrl+g")
        await page.until(lambda: page.draft == before.replace("see", "look at"))


async def test_an_editor_that_fails_leaves_the_draft_and_says_so(edit_with: Path) -> None:
    edit_with.write_text('echo spoiled >"$1"; exit 3')
    async with open_page() as page:
        page.pilot.app.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await page.write("a draft")
        await page.press("ctrl+g")
        # Not on the screen: where the notice breaks its line depends on the folder's name.
        await page.until(lambda: any("ended with status 3." in notice.message for notice in page.notices))
        assert page.draft == "a draft"


# A very long draft


async def test_in_a_very_long_draft_a_key_joins_the_lines_once_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page() as page:
        page.prompt.load_text(("word " * 16 + "\n") * 2_500)
        page.prompt.move_cursor(page.prompt.document.end)
        await page.settled()
        joined: list[int] = []

        def text(document: Document) -> str:
            joined.append(document.line_count)
            return "\n".join(document.lines)

        monkeypatch.setattr(Document, "text", property(text))
        await page.press("x")
        assert len(joined) <= 1
        assert page.draft.endswith("\nx")
