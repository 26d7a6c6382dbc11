"""Pastes: long ones are one piece in the draft and whole in the prompt; hostile ones are made harmless."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets.text_area import Selection

from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.permission_requests import Rejection
from acp_tui.ui.kit.notice_lines import NoticeLines
from acp_tui.ui.prompt.draft import MAX_OPEN_CHARACTERS, Pastes, can_be_open, cleaned, is_long
from support.pages import open_recalling_page
from support.screens import Page, open_page

LONG = "\n".join(f"line {number}" for number in range(1234))
CHIP = '[pasted 1,234 lines: "line 0" #1]'


async def paste(page: Page, text: str) -> None:
    page.prompt.post_message(Paste(text))
    await page.settled()


def test_ten_lines_or_a_thousand_characters_are_shown() -> None:
    assert not is_long("\n" * 9 + "a")
    assert not is_long("a\n" * 10)
    assert is_long("a\n" * 11)
    assert not is_long("a" * 1000)
    assert is_long("a" * 1001)


def test_a_placeholder_says_how_much_it_stands_for_and_how_it_begins() -> None:
    pastes = Pastes()
    assert pastes.keep("\n\n  the first words of a rather long line\nb") == (
        '[pasted 4 lines: "the first words of a rat…" #1]'
    )
    assert pastes.keep("x" * 1500) == f'[pasted 1,500 characters: "{"x" * 24}…" #2]'


def test_what_is_expanded_can_be_folded_again() -> None:
    pastes = Pastes()
    draft = f"a {pastes.keep(LONG)} b {pastes.keep('y' * 2000)}"
    assert pastes.expand(draft) == f"a {LONG} b {'y' * 2000}"
    assert pastes.fold(pastes.expand(draft)) == draft


def test_a_placeholder_within_a_paste_is_just_text() -> None:
    pastes = Pastes()
    first = pastes.keep(LONG)
    second = pastes.keep(f"{first}\n" * 20)
    assert pastes.expand(second) == f"{first}\n" * 20


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\x1b[201~b\x07", "a␛[201~b␇"),
        ("a\u202eb\u200bc", "a⟨U+202E⟩b⟨U+200B⟩c"),
        ("a\u00a0b\tc", "a b\tc"),
        ("👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_nothing_hidden_or_obeyed_by_a_terminal_comes_into_the_draft(text: str, clean: str) -> None:
    assert cleaned(text) == clean


async def test_a_long_paste_is_one_piece_and_sent_whole() -> None:
    async with open_page() as page:
        await page.write("see ")
        await paste(page, LONG)
        await page.write(" there")
        assert page.draft == f"see {CHIP} there"
        assert CHIP in page.text
        assert page.prompt.draft == f"see {LONG} there"
        await page.press("enter")
        assert page.connection.prompts == [f"see {LONG} there"]


async def test_a_long_paste_stays_one_piece_in_the_conversation_and_on_the_way_back() -> None:
    async with open_recalling_page() as page:
        await paste(page, LONG)
        await page.press("ctrl+j")
        await page.write("Why?")
        await page.press("enter")
        await page.until(lambda: '▸ pasted 1,234 lines: "line 0"' in page.text)
        assert page.connection.prompts == [f"{LONG}\nWhy?"]
        assert "line 1" not in page.text
        await page.press("up")
        assert page.draft == f"{CHIP}\nWhy?"
        assert page.prompt.draft == f"{LONG}\nWhy?"
        await page.press("down")
        assert page.draft == ""
    async with open_recalling_page() as page:  # after a restart
        await page.press("up")
        assert page.draft == f"{CHIP}\nWhy?"
        await page.press("ctrl+u", "ctrl+r")
        await page.until(lambda: 'Why? [pasted 1,234 lines: "line 0"]' in page.text)


async def test_backspace_and_delete_take_a_placeholder_as_one() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.press("backspace")
        assert page.draft == ""
        await page.press("ctrl+z")
        assert page.draft == CHIP
        await page.press("home", "delete")
        assert page.draft == ""


@pytest.mark.parametrize("key", ["up", "ctrl+z"])
async def test_a_paste_that_was_cleared_comes_back_folded(key: str) -> None:
    async with open_recalling_page() as page:
        await page.write("see ")
        await paste(page, LONG)
        await page.press("ctrl+c")
        assert page.draft == ""
        await page.press(key)
        assert page.draft == f"see {CHIP}"
        assert page.prompt.draft == f"see {LONG}"


async def test_a_paste_is_one_step_to_be_undone() -> None:
    async with open_page() as page:
        await page.press("a")
        await paste(page, LONG)
        await page.press("b", "ctrl+z", "ctrl+z")
        assert page.draft == "a"
        await page.press("ctrl+y")
        assert page.prompt.draft == f"a{LONG}"


async def test_the_cursor_goes_over_a_placeholder() -> None:
    async with open_page() as page:
        await page.press("a")
        await paste(page, LONG)
        await page.press("b", "left", "left")
        assert page.prompt.cursor_location == (0, 1)
        await page.press("right")
        assert page.prompt.cursor_location == (0, 1 + len(CHIP))


async def test_a_key_opens_the_paste_beside_the_cursor_and_that_can_be_undone() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.press("alt+o")
        assert page.draft == LONG
        await page.press("alt+o")
        assert page.draft == CHIP
        await page.press("alt+o", "x", "alt+o")
        assert page.draft == f"{CHIP}x"
        await page.press("backspace", "ctrl+z", "ctrl+z")
        assert page.draft == f"{LONG}x"
        assert not page.pilot.app.query(NoticeLines), "what was said wouldn't be true anymore"


async def test_folding_a_paste_keeps_the_cursor_in_its_place_and_the_paste_its_number() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.press("ctrl+z")
        await page.write("aaa  zzz end")
        await page.press(*["left"] * 8)
        await paste(page, LONG)
        await page.press("alt+o", "U", "alt+o", "F")
        assert page.draft == f"aaa {CHIP}UF zzz end"
        await page.press("left", "left", "alt+o", "left", "alt+o", "I")
        assert page.draft == f"aaa {CHIP}IUF zzz end"
        await page.press("end", "alt+o", "E", "alt+o", "home", "alt+o", "H", "alt+o")
        assert page.draft == f"Haaa {CHIP}IUF zzz endE"


@pytest.mark.parametrize("seed", range(4))
async def test_folding_changes_neither_the_text_nor_what_is_selected(seed: int) -> None:
    chance = random.Random(seed)
    pastes = [LONG, f"{LONG}\nmore\n", "\n" * 11 + "x", "y" * 2000, LONG]
    async with open_page() as page:
        prompt, spans = page.prompt, []
        for pasted in chance.sample(pastes, 4):
            prompt.insert(chance.choice(["", "one ", "two\n", "a\n\nb"]))
            spans.append((len(prompt.draft), len(prompt.draft) + len(pasted)))
            prompt.insert_paste(pasted)
        prompt.insert(chance.choice(["", " end", "\n"]))
        whole, chips, times_folded = prompt.draft, page.draft, 0
        while times_folded < 3:
            beside = [
                offset for chip in re.finditer(r"\[pasted .*? #\d\]", page.draft) for offset in chip.span()
            ] or range(len(page.draft) + 1)
            ends = [
                prompt.document.get_location_from_index(chance.choice(places))
                for places in (range(len(page.draft) + 1), beside)
            ]
            prompt.selection = Selection(*ends) if chance.random() < 0.5 else Selection.cursor(ends[1])
            shown, before = page.draft, [len(prompt.written_between((0, 0), end)) for end in prompt.selection]
            await page.press("alt+o")
            assert page.draft != shown
            if "[pasted" not in shown:
                times_folded += 1
                assert page.draft == chips
                before = [next((stop for start, stop in spans if start < at < stop), at) for at in before]
            assert prompt.draft == whole
            assert [len(prompt.written_between((0, 0), end)) for end in prompt.selection] == before


async def test_the_only_paste_is_opened_wherever_the_cursor_is() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.press("ctrl+j", "x", "alt+o")
        assert page.draft == f"{LONG}\nx"


async def test_the_paste_next_to_the_cursor_is_opened() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.press("ctrl+j")
        await paste(page, "y" * 2000)
        await page.press("x", "alt+o")
        assert "Move the cursor next to the paste" in page.text
        await page.press("left", "alt+o")
        assert page.draft == f"{CHIP}\n{'y' * 2000}x"


async def test_a_click_opens_a_paste() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        await page.click("1,234 lines")
        assert page.draft == LONG


async def test_what_is_too_long_to_be_shown_stays_a_placeholder_and_says_what_to_do() -> None:
    async with open_page() as page:
        await paste(page, "x" * (MAX_OPEN_CHARACTERS + 1))
        await page.press("alt+o")
        assert page.draft.startswith("[pasted 200,001 characters")
        assert "This paste is too long to show here. Ctrl+G" in page.text


async def test_copies_queue_and_what_is_pulled_back_hold_the_whole_text() -> None:
    async with open_page() as page:
        await page.send("go")
        await paste(page, LONG)
        page.prompt.select_all()
        assert page.prompt.selected_text == LONG
        await page.press("enter")
        assert [prompt.text for prompt in page.session.queue.prompts] == [LONG]
        await page.press("alt+up")
        assert page.prompt.draft == LONG


async def test_a_draft_that_is_set_is_given_back_as_it_is() -> None:
    async with open_page() as page:
        too_long = "z" * (MAX_OPEN_CHARACTERS + 1)
        for text in ("", "a\nb", LONG, too_long, f"{LONG}\n{too_long}"):
            page.prompt.set_draft(text)
            assert page.prompt.draft == text
            assert can_be_open(page.prompt.text)


async def test_a_reason_for_a_rejection_does_not_lose_the_paste_that_was_put_aside() -> None:
    async with open_page() as page:
        await paste(page, LONG)
        page.prompt.ask_why(Rejection(RequestKey(1), "no", "a call"))
        await page.write("no")
        page.prompt.clear_draft()
        assert page.prompt.draft == LONG


async def test_a_paste_of_the_end_of_a_paste_is_text() -> None:
    async with open_page() as page:
        await paste(page, "a\x1b[201~rm -rf\rb")
        assert page.draft == "a␛[201~rm -rf\nb"
        assert page.connection.prompts == []


# Dropped files


async def test_dropped_files_become_mentions_which_can_be_undone(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "a b.py").touch()
    (tmp_path / "folder").mkdir()
    cases = {
        "{0}/a.py": "@a.py ",
        "'{0}/a b.py' ": '@"a b.py" ',
        "{0}/a\\ b.py {0}/a.py": '@"a b.py" @a.py ',
        "{0}/a b.py": '@"a b.py" ',
        "file://{0}/a%20b.py\r\nfile://{0}/a.py\r\n": '@"a b.py" @a.py ',
        "{0}/folder": "@folder/ ",
    }
    async with open_page() as page:
        page.prompt.cwd = tmp_path
        for dropped, mentions in cases.items():
            text = dropped.format(tmp_path)
            page.prompt.clear_draft()
            await paste(page, text)
            await page.pilot.app.workers.wait_for_complete()
            await page.settled()
            assert page.draft == mentions, dropped
            await page.press("ctrl+z")
            assert page.draft == cleaned(text), dropped


async def test_what_names_no_files_alone_stays_text() -> None:
    async with open_page() as page:
        for text in ("/no/such/file", "/tmp and more words", "a /tmp", "it's"):
            page.prompt.clear_draft()
            await paste(page, text)
            await page.pilot.app.workers.wait_for_complete()
            await page.settled()
            assert page.draft == text


async def test_a_file_dropped_on_a_shell_command_stays_a_path(tmp_path: Path) -> None:
    async with open_page() as page:
        await page.write("!cat ")
        await paste(page, str(tmp_path))
        await page.pilot.app.workers.wait_for_complete()
        assert page.draft == f"!cat {tmp_path}"
