"""Code that makes lexers run very long, or forever, is shown plain, and nothing waits for its colors.

`ACP_TUI_HOSTILE_CODE=200` tries that many lines with every lexer.
"""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]
from rich.style import Style

from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.ui.rendering import highlight
from acp_tui.ui.rendering.highlight import (
    START,
    Allowance,
    CannotLimit,
    Highlighter,
    OverLimit,
    lex_line,
    run_within,
)
from acp_tui.ui.rendering.palette import NO_STYLE, Palette
from support.folding import agent, call
from support.screens import open_page

ROOT = Path(__file__).parents[3]
WAIT_S = 60
BACKSLASHES = '"' + "\\" * 980
MANY = int(os.environ.get("ACP_TUI_HOSTILE_CODE", "0"))


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fails a test that never ends; only a signal gets through to it."""

    def give_up(*_: object) -> None:
        raise AssertionError("it takes for ever")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WAIT_S * (1 if not MANY else 60))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def allowance(monkeypatch: pytest.MonkeyPatch) -> Allowance:
    """A new budget, so that no test finds a language's used up."""
    fresh = Allowance()
    monkeypatch.setattr(highlight, "allowance", fresh)
    return fresh


@pytest.mark.parametrize("language", ["fish", "scala"])
async def test_a_fence_with_a_line_of_backslashes_is_shown_plain(language: str, allowance: Allowance) -> None:
    async with open_page(agent(f"```{language}\n{BACKSLASHES}\n```\n\nbelow")) as page:
        assert "\\" * 60 in page.text
        assert "below" in page.text
        await page.write("echo")
        assert page.draft == "echo"
    assert allowance.spent == {language}


async def test_a_diff_with_a_line_of_backslashes_is_shown_plain(allowance: Allowance) -> None:
    diff = TextDiff("/project/a.scala", f"{BACKSLASHES}\nval below = 1\n", None)
    async with open_page(call("c1", kind="edit", status="completed", content=(diff,))) as page:
        await page.until(lambda: "val below" in page.text)
    assert allowance.spent == {"scala"}


def test_a_language_that_took_too_long_is_plain_from_then_on_and_others_are_not(allowance: Allowance) -> None:
    palette = Palette(syntax_string=Style(color="green"))
    scala, python = Highlighter("scala"), Highlighter("python")
    for text in (BACKSLASHES, 'val x = "y"', BACKSLASHES):
        scala.append(text)
    python.append("'y'")

    drawn = [scala.spans(number, palette, NO_STYLE) for number in range(3)]

    assert drawn == [[(BACKSLASHES, NO_STYLE)], [('val x = "y"', NO_STYLE)], [(BACKSLASHES, NO_STYLE)]]
    assert allowance.spent == {"scala"}
    assert python.spans(0, palette, NO_STYLE) == [("'y'", Style(color="green"))]


def test_a_lexer_is_stopped_also_where_it_catches_every_exception() -> None:
    attempts: list[type[BaseException]] = []

    def stubborn() -> None:
        while len(attempts) < 3:
            try:
                while True:
                    pass
            except BaseException as error:  # noqa: BLE001 - that is what it is about
                attempts.append(type(error))
        while True:
            pass

    with pytest.raises(OverLimit):
        run_within(0.01, stubborn)
    assert attempts == [OverLimit] * 3


def test_work_in_time_is_left_alone_and_a_late_signal_stops_nothing() -> None:
    assert run_within(10, lambda: "done") == "done"
    signal.raise_signal(signal.SIGVTALRM)


def test_what_cannot_be_stopped_is_not_begun_and_stays_plain() -> None:
    found: list[object] = []

    def elsewhere() -> None:
        found.append(lex_line("python", "return 1", START)[0])
        try:
            run_within(1, lambda: found.append("begun"))
        except CannotLimit:
            found.append("refused")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [[("return 1", None)], "refused"]


def test_a_text_that_opens_ever_more_is_forgotten_instead_of_kept_for_every_line() -> None:
    state = START
    for _ in range(50):
        _, state = lex_line("js+php", "`${" * 300, state)
        assert len(state) <= highlight.MAX_STATES


def test_a_page_deep_in_a_long_block_is_read_from_little_context(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    lex = highlight.lex_line

    def note(language: str, line: str, stack: tuple[str, ...]) -> object:
        read.append(line)
        return lex(language, line, stack)

    monkeypatch.setattr(highlight, "lex_line", note)
    highlighter = Highlighter("python")
    for number in range(20_000):
        highlighter.append(f"x{number:09}")
    for number in range(15_000, 15_040):
        highlighter.spans(number, Palette(), NO_STYLE)
    assert len(read) == highlight.MAX_CHARACTERS_ABOVE // 10 + 40


def test_no_more_languages_are_loaded_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlight, "MAX_LANGUAGES", 2)
    monkeypatch.setattr(highlight, "lexers", {})
    highlight.find_lexer.cache_clear()
    try:
        found = [highlight.find_lexer(name) is not None for name in ("python", "py", "json", "rust", "json")]
    finally:
        highlight.find_lexer.cache_clear()
    assert found == [True, True, True, False, True]


def hostile_line(choice: random.Random) -> str:
    """A piece repeated up to the length limit, sometimes between quotes or brackets."""
    signs = "\\\\\\\"'`({[<$#@/*-=:;., \taAx0_%|&!?~^" + "é"
    piece = "".join(choice.choices(signs, k=choice.randint(1, 4)))
    opening, closing = (
        choice.choice(["", '"', "'", "`", "(", "{", "<", "/*", "#", "${", '"""', "a ", "\\"]),
        "",
    )
    if choice.random() < 0.5:
        closing = choice.choice(["", '"', "x", ")", "}", ">", "*/", "\\"])
    room = highlight.MAX_LINE_CHARACTERS - len(opening) - len(closing)
    return opening + (piece * room)[: choice.choice([room, room // 2, 40])] + closing


@pytest.mark.parametrize("seed", range(MANY or 4))
def test_no_line_keeps_any_lexer_busy_or_loses_its_text(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = random.Random(seed)
    monkeypatch.setattr(highlight, "MAX_LANGUAGES", 1_000)
    languages = sorted(aliases[0] for _, aliases, _, _ in get_all_lexers(plugins=False) if aliases)
    for language in languages if MANY else choice.sample(languages, 8):
        line = hostile_line(choice)
        pieces, _ = lex_line(language, line, START)
        assert "".join([text for text, _ in pieces]) == line, language


def test_there_is_one_way_to_a_lexer() -> None:
    importing = re.compile(r"^\s*(?:from|import) (?:pygments|rich\.syntax|textual\.highlight)\b", re.MULTILINE)
    package = ROOT / "acp_tui"
    found = [str(path.relative_to(package)) for path in package.rglob("*.py") if importing.search(path.read_text())]

    assert found == ["ui/rendering/highlight.py"]


def test_what_another_thread_takes_is_not_held_against_a_language(allowance: Allowance) -> None:
    tries: list[int] = []

    def work() -> tuple[list[tuple[str, str | None]], tuple[str, ...]]:
        tries.append(1)
        if len(tries) == 1:
            raise OverLimit  # the timer, which counts all threads
        return [("x", None)], ("root",)

    assert allowance.run("python", "x", work) == ([("x", None)], ("root",))
    assert allowance.spent == set()
