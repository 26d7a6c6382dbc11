"""Vim's keys in the prompt do what they do in Vim, and what the prompt's own keys do stays."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from textual.events import Key

from acp_tui.client.settings.settings import KeyChoice, Settings
from support.agents import scripted
from support.pages import use_vim
from support.screens import Page, open_agent_page, open_page

ESC = "\x1b"
CASES = [
    (text, keys)
    for text, commands in {
        "one two-three four": ("0x", "bD", "0dw", "0d2w", "02dw", "0cwX", "02cwX", "$dbP", "0wdiw", "0wdaw", "0wyiwP"),
        "foo(bar, baz) end": ("0wwciwX", "0wwdaw", "0dep", "0xxp", "0yl3p", "$i-", "$a-", "^Ix", "0Ax", "0lC-", "bbdd"),
        "first line\n  second one\nlast": (
            "gg",
            "ggdd",
            "ggddp",
            "ggddP",
            "ggdj",
            "dk",
            "ggdG",
            "kccX",
            "kdd",
            "ggyyjp",
        ),
        "alpha\nbeta\n\ngamma": (
            "ggjwx",
            "ggdwx",
            "gg2ddp",
            "kkox",
            "kkOx",
            "gg$dwx",
            "ggjjyyP",
            "2GA!",
            "ggwdbx",
            "3Gdd",
        ),
        "a.b, c.b, (d.b) e": (
            "0f.x",
            "03f.x",
            "0d4f.",
            "0f.;x",
            "0f.;;,x",
            "0t.;x",
            "0t.;,x",
            "$F.x",
            "$T.x",
            "$T.;x",
            "0df.",
            "0dt.",
            "0d2f,",
            "$dF,",
            "$dT(",
            "0f(ct)X",
            "0ctbX",
            "0dfz",
            "0f d;",
        ),
        "one two three\nfour five six\nseven": (
            "ggx.",
            "gg3x.",
            "ggdw.",
            "ggdw2.",
            "ggdd.",
            "gg0cwX\x1bw.",
            "ggiX-\x1bw.",
            "ggA!\x1bj.",
            "ggonew\x1bj.",
            "ggywP.",
            "ggdfe.",
            "ggvlld",
            "ggvd",
            "ggvex",
            "ggwvbd",
            "ggwvecX",
            "ggvey$p",
            "ggveyjvep",
            "ggVd",
            "ggVjd",
            "ggjVkd",
            "ggVcX",
            "ggVyjp",
            "ggvjd",
            "ggwviwd",
            "ggwvawd",
            "ggvfed",
            "ggvVd",
            "ggVvd",
            "ggvld.",
            "ggVd.",
            "ggvlcX\x1bw.",
            "ggsX\x1bj.",
            "ggSX",
            "ggwX",
            "ggYp",
            "ggv\x1bx",
        ),
        'say "one" and "two \\" x" it\'s \'a\' `k`, ""': (
            *('0di"', '0da"', '0wwci"X', '0fnci"X', '0fnca"X', '0fw2di"', "0di'", "$di`", "0yi`P", '0fwvi"d', '$ci"X'),
            *('0di"w.', '0ci"X\x1bfw.', "0fodi)", "0va'~", "0f'di'"),
        ),
        "call(a, (b c), [d, {e}]) end (f)": (
            *(
                "0fbdi(",
                "0fbda(",
                "0fbd2i(",
                "0fb2dib",
                "0di(",
                "$da)",
                "0fecaBX",
                "0feci{X",
                "0fed2i[",
                "0fedi]",
                "0fbvi)d",
            ),
            *("0fbci(X\x1b0.", "0fbyi(P", "0fb3da(", "0fbva(~"),
        ),
        "if x {\n    one\n    two (a\n  b)\n}\nend": (
            *(
                "ggjdi{",
                "ggjci{X",
                "ggjda{",
                "ggjyiBP",
                "gg3jdi(",
                "gg3jca(X",
                "ggdi{",
                "ggjvi{d",
                "ggjvaBd",
                "gg3jdi{",
            ),
        ),
        "one two\n  three\n\n) four\t\nfive": (
            *(
                "ggJ",
                "gg3J",
                "ggJ.",
                "ggjJ",
                "gg9J",
                "GJ",
                "gg3jJ",
                "ggVjJ",
                "ggvjJ",
                "ggVjjJ.",
                "gg2rX",
                "gg9rX",
                "ggrXl.",
            ),
            *("gg~", "gg3~", "gg9~.", "ggv~", "ggVj~", "ggvjrX", "ggrXw3."),
        ),
    }.items()
    for keys in commands
]


def _in_vim(folder: Path) -> list[str]:
    """What Vim makes of the cases; the cursor begins where it is after the text was written."""
    out = folder / "out"
    lines = ["set nocompatible startofline noautoindent whichwrap="]
    for text, keys in CASES:
        lines += ["%d _", f"call setline(1, {json.dumps(text.splitlines())})", "normal! G$"]
        lines += [
            f"exe {json.dumps(f'normal! {keys}')}",
            f'call writefile([json_encode(getline(1, "$"))], "{out}", "a")',
        ]
    script = folder / "script.vim"
    script.write_text("\n".join([*lines, "qa!"]))
    subprocess.run(["vim", "-u", "NONE", "-i", "NONE", "-es", "-S", str(script)], check=False, timeout=60)
    return ["\n".join(json.loads(line)) for line in out.read_text().splitlines()]


async def _begin(page: Page, text: str) -> None:
    """Write a draft and leave insert mode."""
    page.prompt.set_draft(text)
    await page.press("escape")
    await page.settled()
    assert page.prompt.border_subtitle == "NORMAL"


async def _type(page: Page, text: str) -> None:
    """Press the keys of these characters."""
    for character in text:
        page.pilot.app.post_message(Key("escape" if character == ESC else character, character))
    await page.settled()


@pytest.mark.skipif(shutil.which("vim") is None, reason="compares with Vim")
async def test_commands_leave_the_same_text_as_in_vim(tmp_path: Path) -> None:
    drafts = []
    async with open_page() as page:
        await use_vim(page)
        for text, keys in CASES:
            await _begin(page, text)
            await _type(page, keys)
            drafts.append(page.draft)
            await page.press("escape", "escape", "i")
    differing = [case for case in zip(CASES, drafts, _in_vim(tmp_path), strict=True) if case[1] != case[2]]
    assert not differing


async def test_undo_and_redo_take_one_command_at_a_time() -> None:
    async with open_page() as page:
        await use_vim(page)
        await _begin(page, "one two three")
        await _type(page, "0dwx")
        assert page.draft == "wo three"
        await _type(page, "u")
        assert page.draft == "two three"
        await _type(page, "u")
        assert page.draft == "one two three"
        await page.press("ctrl+r", "ctrl+r")
        assert page.draft == "wo three"


async def test_undo_takes_a_command_with_what_was_written_after_it() -> None:
    async with open_page() as page:
        await use_vim(page)
        await _begin(page, "hello big world")
        await _type(page, f"0ciwHey{ESC}u")
        assert page.draft == "hello big world"
        await page.press("ctrl+r")
        assert page.draft == "Hey big world"
        await _type(page, f"oone{ESC}w.3u")
        assert page.draft == "hello big world"
        await _type(page, f"A and more{ESC}u")
        assert page.draft == "hello big world"


async def test_undo_in_insert_mode_takes_small_steps_and_a_cleared_draft_comes_back() -> None:
    async with open_page() as page:
        await use_vim(page)
        await _type(page, "first")
        await page.press("ctrl+j")
        await _type(page, "second")
        await page.press("ctrl+z")
        assert page.draft == "first\n"
        await page.press("ctrl+c")
        await _type(page, "other")
        assert page.draft == "other"
        await _type(page, f"{ESC}u")
        assert page.draft == "first\n"


EDITS = (
    *("x", "3x", "X", "D", "dd", "2dw", "db", "daw", "p", "P", "2p", "yiwP", "Yp", "vld", "Vd", "viwyvawd"),
    *("xp", "dwwP", ".", "2.", "ywvep", "J", "3J", "~", "2rX", "vjJ", "ve~", "daw2~", "di,"),
)
"""Commands of normal mode, some of them two changes."""
WRITING = ("i", "a", "I", "A", "o", "O", "cw", "ciw", "C", "S", "s", "cc", "vec", "Vc", "c$", "cb")
MOVES = ("h", "l", "j", "k", "w", "b", "0", "$", "gg", "G", "fe")


@pytest.mark.parametrize("seed", range(6))
async def test_undo_leads_through_all_changes_to_the_beginning_and_redo_to_the_end(seed: int) -> None:
    chance = random.Random(seed)
    async with open_page() as page:
        await use_vim(page)
        await _begin(page, "one two three\nfour five six, seven\neight nine")
        drafts = [page.draft]
        for number in range(20):
            await _type(page, chance.choice(MOVES))
            keys = chance.choice(EDITS)
            if chance.random() < 0.5:
                keys = f"{chance.choice(WRITING)}new{number}"
                if chance.random() < 0.5:
                    keys += f" words{ESC}"
                else:
                    await _type(page, keys)
                    await page.press("ctrl+j", "backspace", "left")
                    keys = f"more{ESC}"
            await _type(page, keys)
            assert page.prompt.border_subtitle == "NORMAL"
            drafts.append(page.draft)
        steps = []
        while page.draft != drafts[0]:
            assert len(steps) < 2 * len(drafts)
            steps.append(page.draft)
            await _type(page, "u")
        undone = iter(steps)
        assert all(draft in undone for draft, next_one in pairwise(reversed(drafts)) if draft != next_one)
        await _type(page, "u")
        assert page.draft == drafts[0]
        for draft in reversed(steps):
            await page.press("ctrl+r")
            assert page.draft == draft


async def test_esc_leaves_insert_mode_first_and_then_means_what_it_always_does() -> None:
    async with open_page() as page:
        await use_vim(page)
        assert page.prompt.border_subtitle == "INSERT"
        await page.send("go")
        await page.write("draft")
        await page.press("escape")
        assert page.prompt.border_subtitle == "NORMAL"
        assert page.connection.cancels == 0
        await _type(page, "2d")
        assert page.prompt.border_subtitle == "NORMAL 2d"
        await page.press("escape")
        assert page.prompt.border_subtitle == "NORMAL"
        assert page.draft == "draft"
        await page.press("escape")
        await page.until(lambda: page.connection.cancels == 1)


async def test_the_first_keys_are_vims_too_while_the_agent_has_yet_to_open_a_session(tmp_path: Path) -> None:
    settings = Settings(keys=(KeyChoice("preset", ("vim-prompt",)),))
    async with open_agent_page(scripted("serve_until_closed()"), tmp_path, settings=settings) as page:
        await _type(page, f"hello brave{ESC}0x")
        assert page.draft == "ello brave"
        assert page.prompt.border_subtitle == "NORMAL"


async def test_visual_mode_shows_what_it_selects_until_esc_or_a_click() -> None:
    async with open_page() as page:
        await use_vim(page)
        await _begin(page, "one two")
        await _type(page, "0ve")
        assert (page.prompt.border_subtitle, page.prompt.selected_text) == ("VISUAL", "one")
        await _type(page, "V")
        assert (page.prompt.border_subtitle, page.prompt.selected_text) == ("VISUAL LINE", "one two")
        await _type(page, "DP.o")
        assert (page.prompt.border_subtitle, page.draft) == ("VISUAL LINE", "one two")
        await page.press("escape")
        assert (page.prompt.border_subtitle, page.prompt.selected_text) == ("NORMAL", "")
        await _type(page, "v")
        page.prompt.move_cursor((0, 4))
        await _type(page, "x")
        assert (page.prompt.border_subtitle, page.draft) == ("NORMAL", "one wo")


async def test_a_letter_at_once_after_esc_is_a_command_where_alt_and_it_are_no_key() -> None:
    async with open_page() as page:
        await use_vim(page)
        await page.write("one two")
        await page.press("alt+x")
        assert (page.prompt.border_subtitle, page.draft) == ("NORMAL", "one tw")
        await page.press("A", "alt+circumflex_accent", "x")
        assert page.draft == "ne tw"
        await page.press("A", "alt+b", "z")
        assert page.draft == "ne ztw"


async def test_enter_sends_from_normal_mode_and_the_next_prompt_begins_in_insert_mode() -> None:
    async with open_page() as page:
        await use_vim(page)
        await _begin(page, "go on")
        await page.press("enter")
        await page.settled()
        assert page.draft == ""
        await _type(page, "dd")
        assert page.draft == "dd"


async def test_keys_typed_on_a_card_are_text_even_if_the_prompt_was_in_normal_mode() -> None:
    async with open_page() as page:
        await use_vim(page)
        await page.send("go")
        await page.press("escape")
        await page.ask("call")
        await page.enter_card()
        await page.write("hello")
        assert page.draft == "hello"


async def test_a_folded_paste_is_one_character_to_commands() -> None:
    pasted = "\n".join(f"line {number}" for number in range(40))
    async with open_page() as page:
        await use_vim(page)
        page.prompt.paste(pasted)
        await page.press("escape")
        await _type(page, "0x")
        assert page.draft == ""
        for keys in ("0rX", "0~", "03~", "V~", "0vrX"):
            await _type(page, f"P{keys}")
            assert page.prompt.draft == pasted
            await _type(page, "0x")
        await _type(page, "pP")
        assert page.prompt.draft == pasted + pasted
        assert len(page.draft) < len(pasted)


async def test_without_the_preset_esc_leaves_no_mode() -> None:
    async with open_page() as page:
        await page.until(lambda: page.prompt.editing_mode is not None)
        await page.write("draft")
        await page.press("escape", "x")
        assert page.draft == "draftx"
        assert not page.prompt.border_subtitle
