"""Everything an agent reports about a call is on the card, or no allow counts until it has been shown."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from acp_tui.conversation.content import BlobResource, Image, ResourceLink, Text, TextResource, UnknownBlock
from acp_tui.conversation.tool_calls import BlockContent, Location, TextDiff, UnknownContent
from acp_tui.ui.kit.answer_guard import AnswerGuard
from support.folding import ALLOW, REJECT
from support.screens import Page, open_page

CALLS: Final = int(os.environ.get("ACP_TUI_REPORTED_CALLS", "6"))
SIZES: Final = [(80, 24), (100, 30), (120, 40), (60, 20)]
MARK: Final = "EVIL"


def _padding(chance: random.Random) -> str:
    return chance.choice(["", "\n" * 60, " " * 900, "harmless words and more\n" * 40, "a" * 700, "x\n\n" * 30])


def _planted(chance: random.Random) -> str:
    return _padding(chance) + MARK + _padding(chance)


def _raw_input(chance: random.Random) -> Any:
    value: Any = _planted(chance)
    for _ in range(chance.randrange(4)):
        key = chance.choice(["cmd", "script", "args", "command", "env", "steps", "path", "x" * 90])
        value = chance.choice([[value], ["ls", value], {key: value}, {"command": "ls", key: value}])
    if isinstance(value, str) and chance.random() < 0.7:
        value = {chance.choice(["cmd", "script", "description"]): value, "command": chance.choice(["ls", 7])}
    return value


def _call(chance: random.Random) -> dict[str, Any]:
    """A call with the mark in one of its fields, among others."""
    call: dict[str, Any] = {"title": "Do it", "kind": chance.choice(["execute", "edit", "other", "read"])}
    plain = BlockContent(Text("nothing to see here"))
    diff = TextDiff("/project/first.py", "".join(f"line {n}\n" for n in range(chance.choice([2, 60]))), None)
    field = chance.choice(
        [
            "raw_input",
            "raw_input",
            "raw_input",
            "title",
            "kind",
            "name",
            "raw_output",
            "location",
            "diff",
            "block",
        ]
    )
    match field:
        case "raw_input":
            call["raw_input"] = _raw_input(chance)
            if chance.random() < 0.5:
                call["content"] = (chance.choice([plain, diff]),)
        case "title" | "kind" | "name":
            call[field] = _planted(chance)
        case "raw_output":
            call["raw_output"] = _raw_input(chance)
        case "location":
            call["locations"] = (Location("/project/a"), Location(f"/project/{_planted(chance)}"))
        case "diff":
            old = "".join(f"line {n}\n" for n in range(200))
            new = old.replace("line 190\n", f"line 190 {_planted(chance)}\n").replace("line 3\n", "line three\n")
            second = TextDiff("/project/second.py", new, chance.choice([old, None]))
            call["content"] = (diff, second) if chance.random() < 0.6 else (second, plain)
        case "block":
            text = _planted(chance)
            block = chance.choice(
                [
                    Text(text),
                    TextResource("file:///a", text),
                    ResourceLink(f"https://{MARK}.example", "a link"),
                    ResourceLink("https://host.example", "a link", description=text),
                    Image("aGk=", "image/png", f"https://{MARK}.example"),
                    BlobResource(f"file:///{MARK}", "aGk="),
                    UnknownBlock("hologram", {"deep": [{"er": text}]}),
                ]
            )
            call["content"] = (plain, BlockContent(block))
            if chance.random() < 0.2:
                call["content"] = (plain, UnknownContent("hologram", {"deep": [text]}))
    return call


@pytest.mark.parametrize("seed", range(CALLS))
async def test_no_allow_counts_before_what_is_reported_has_been_on_the_screen(seed: int) -> None:
    chance = random.Random(seed)
    size = SIZES[seed % len(SIZES)]
    async with open_page(size=size) as page:
        await page.ask("call", ALLOW, REJECT, **_call(chance))
        await page.enter_card()
        was_seen = _is_on_card(page)
        await page.press("1")
        if page.decisions:
            assert was_seen, page.text
            return
        assert any(why in _words(page) for why in ("ll seen", "shows all", "can't be shown"))
        for _ in range(400):
            was_seen |= _is_on_card(page) or "more characters" in _words(page)
            page.clock.pass_guard()
            await page.press("1")
            if page.decisions:
                break
        assert was_seen, page.text
        assert page.decisions == {"call": ALLOW.option_id}


def _words(page: Page) -> str:
    return " ".join(page.text.split())


def _is_on_card(page: Page) -> bool:
    """Whether the mark can be read in the request, however its lines break."""
    region = page.pilot.app.screen.query_one("AnswerableRequest").region
    rows = [line[region.x : region.right] for line in page.lines[region.y : region.bottom]]
    return MARK in "".join("".join(row.strip("│╭╮╰╯ ↪>+▁▂▃▄▅▆▇█") for row in rows).split())


# What was seen, and what wasn't


LONG = TextDiff("/project/long.py", "".join(f"line {number}\n" for number in range(1, 81)))


async def test_a_request_that_is_all_in_view_is_allowed_by_one_key() -> None:
    async with open_page() as page:
        await page.ask("call", kind="execute", title="ls", raw_input={"command": "ls"})
        await page.enter_card()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_count_of_unchanged_lines_below_the_changes_needs_no_reading() -> None:
    old = [f"line {number}\n" for number in range(1, 41)]
    diff = TextDiff("/project/long.py", "".join(["new\n"] * 8 + old), "".join(old))
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", kind="edit", content=(diff,))
        await page.enter_card()
        assert "line 1" in page.text
        assert "unchanged lines" not in page.text
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


@pytest.mark.parametrize("key", ["1", "y", "enter"])
async def test_a_key_that_allows_reads_on_until_the_end_was_in_view(key: str) -> None:
    async with open_page() as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        seen = set(_words(page).split())
        await page.press(key)
        again = f"press {'Enter' if key == 'enter' else key} again"
        assert f"Not all seen yet: {again} to read on" in _words(page), page.text
        seen.update(_words(page).split())
        while "80" not in seen:
            page.clock.pass_guard()
            await page.press(key)
            assert page.decisions == {}
            seen.update(_words(page).split())
        assert {str(number) for number in range(1, 81)} <= seen
        assert "All seen now" in _words(page)
        await page.press(key)
        assert page.decisions == {}, "the same key at once is no second thought"
        page.clock.pass_guard()
        await page.press(key)
        assert page.decisions == {"call": ALLOW.option_id}


async def test_the_full_screen_goes_on_where_the_card_ended() -> None:
    lines = [f"line {number}" for number in range(1, 20)]
    nearly_fits = TextDiff("/project/short.py", "\n".join(lines))
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", kind="edit", content=(nearly_fits,))
        await page.enter_card()
        assert "line 1 " in page.text
        assert "line 19" not in page.text
        await page.press("y")
        assert "line 19" in page.text
        assert "All seen now: pause 2 s, then press y again to allow it" in _words(page), page.text
        page.clock.pass_guard()
        await page.press("y")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_what_fits_the_whole_screen_needs_no_reading_on() -> None:
    fits = TextDiff("/project/short.py", "".join(f"line {number}\n" for number in range(1, 31)))
    async with open_page(size=(100, 40)) as page:
        await page.ask("call", kind="edit", content=(fits,))
        await page.enter_card()
        await page.press("1")
        assert page.decisions == {}
        assert "All seen now: pause 2 s, then press 1 again to allow it" in _words(page), page.text


@pytest.mark.parametrize("size", [(100, 40), (80, 24), (40, 12)])
async def test_what_was_seen_on_the_full_screen_is_seen_on_the_card(size: tuple[int, int]) -> None:
    fits = TextDiff("/project/short.py", "".join(f"line {number}\n" for number in range(1, 31)))
    async with open_page(size=(100, 40)) as page:
        await page.ask("call", kind="edit", content=(fits,))
        await page.enter_card()
        await page.press("1")
        for _ in range(2):
            await page.press("escape")
            await page.pilot.resize_terminal(*size)
            page.clock.pass_guard()
            assert "ll seen" not in _words(page), page.text
            assert "f full screen" in page.text or "f to see it and answer" in _words(page), page.text
            await page.press("f")
            assert "All seen now: pause 2 s, then press 1 again to allow it" in _words(page), page.text
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


class LateTerminal:
    """Stands for tmux, which says at once that it has something, and later that the user's terminal has it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_hasty: bool = False) -> None:
        """`is_hasty`: no page stands there for long enough before it is left."""
        self._pages: dict[object, Callable[[float], None]] = {}
        self._when_shown = AnswerGuard.when_shown
        monkeypatch.setattr(AnswerGuard, "when_shown", lambda *wanted, **how: self.show(*wanted, **how))
        monkeypatch.setattr(AnswerGuard, "is_awaited", lambda _, what: what in self._pages)
        monkeypatch.setattr(AnswerGuard, "leave", lambda _, what: is_hasty and self._pages.pop(what, None))

    def show(
        self, guard: AnswerGuard, what: object, tell: Callable[[float], None], *, is_same: bool = False, **how: bool
    ) -> None:
        """Tell it of a page later, and of all else now."""
        if is_same:
            self._pages.setdefault(what, tell)
        else:
            self._when_shown(guard, what, tell, **how)

    def has_shown_all(self) -> None:
        """The user's terminal has all pages, one after the other."""
        pages, self._pages = self._pages, {}
        for tell in pages.values():
            tell(time.monotonic())


async def test_what_the_terminal_has_yet_to_show_is_not_called_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page(size=(100, 40)) as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        await page.press("1")
        assert "Not all seen yet" in _words(page), page.text
        LateTerminal(monkeypatch)
        await page.pilot.resize_terminal(100, 130)
        await page.until(lambda: "line 80" in page.text and "You haven't seen" not in _words(page))
        assert page.decisions == {}


@pytest.mark.parametrize("key", ["1", "pagedown"])
async def test_pages_count_that_the_terminal_shows_after_others_came(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    async with open_page(size=(100, 30)) as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        terminal = LateTerminal(monkeypatch)
        await page.press("f")
        for _ in range(9):
            page.clock.pass_guard()
            await page.press(key)
        await page.until(lambda: "line 80" in page.text)
        page.clock.pass_guard()
        await page.press("1")
        assert "line 80" in page.text, "it doesn't lead back to what is on its way"
        assert page.decisions == {}, "it wasn't shown yet"
        terminal.has_shown_all()
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_where_pages_went_by_too_fast_it_says_so_and_goes_on_at_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_page(size=(100, 30)) as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        LateTerminal(monkeypatch, is_hasty=True)
        await page.press("f", "y")
        assert "Not all seen yet: press y again to read on" in _words(page), page.text
        for _ in range(2):
            await page.press("y")
        await page.until(lambda: "line 80" in page.text)
        await page.until(lambda: "Pages went by too fast or were skipped: press y again to read on" in _words(page))
        await page.press("y")
        assert "line 80" not in page.text
        assert "Pages went by too fast or were skipped: press y again to read on" in _words(page), page.text
        await page.press("y")
        assert "Not all seen yet: press y again to read on" in _words(page), page.text
        assert page.decisions == {}


async def test_a_card_that_is_too_small_says_where_to_read_on() -> None:
    async with open_page(size=(100, 40)) as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        await page.press("1", "escape")
        assert "Not all seen yet" in _words(page), page.text
        await page.pilot.resize_terminal(40, 10)
        await page.until(lambda: "f to see it and answer" in _words(page))


async def test_what_was_paged_through_is_allowed_by_one_key() -> None:
    async with open_page() as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        await page.press(*["pagedown"] * 12)
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_what_changes_has_not_been_in_view() -> None:
    async with open_page() as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        await page.press(*["pagedown"] * 12)
        changed = TextDiff("/project/long.py", LONG.new_text + "rm -rf /\n")
        await page.ask("call", kind="edit", content=(changed,))
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {}


async def test_a_rejection_never_asks_for_more() -> None:
    async with open_page() as page:
        await page.ask("call", kind="edit", content=(LONG,))
        await page.enter_card()
        await page.press("2")
        assert page.decisions == {"call": REJECT.option_id}
