"""The colors of a draft: what counts as Markdown, a mention, or a command, and what each key costs."""

from __future__ import annotations

import pytest

from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.prompt.draft import MAX_COLORED_LINES, MAX_LINE, LineKinds, Place, spans
from support.screens import open_page
from support.waiting import LINEAR, growth


def shown(line: str, place: Place = "prose") -> list[tuple[str, str]]:
    return [(line[span.start : span.stop], span.style) for span in spans(line, place)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# Title", [("# Title", "heading_1")]),
        ("## Two", [("## Two", "heading_2")]),
        ("##### Five", [("##### Five", "heading")]),
        ("#hashtag", []),
        ("a **bold** word", [("**bold**", "strong")]),
        ("an *oblique* and _slanted_ word", [("*oblique*", "emphasis"), ("_slanted_", "emphasis")]),
        ("2 * 3 * 4 and snake_case_name", []),
        ("**a `b` c**", [("**a `b` c**", "strong"), ("`b`", "code")]),
        ("run ``a ` b`` now", [("``a ` b``", "code")]),
        ("`**not bold**`", [("`**not bold**`", "code")]),
        (r"\*not oblique\*", []),
        ("~~gone~~", [("~~gone~~", "strikethrough")]),
        ("- item", [("-", "list_marker")]),
        ("  12. item", [("12.", "list_marker")]),
        ("- [x] done", [("-", "list_marker"), ("[x]", "task_done")]),
        ("* [ ] open", [("*", "list_marker"), ("[ ]", "task_open")]),
        ("> said", [("> said", "quote")]),
        ("---", [("---", "rule")]),
        ("[a](https://b.c) d", [("[a](https://b.c)", "link")]),
        ("see https://b.c/d?e=f.", [("https://b.c/d?e=f.", "link")]),
        ("why @a.py:2-3?", [("@a.py:2-3", "link")]),
        ('@"a b.py" and me@example.org', [('@"a b.py"', "link")]),
        ("in `@code` not", [("`@code`", "code")]),
        ("/help me", []),
    ],
)
def test_each_thing_has_its_style(line: str, expected: list[tuple[str, str]]) -> None:
    assert shown(line) == expected


def test_a_command_is_one_at_the_drafts_beginning_alone() -> None:
    assert shown("/help me", "first") == [("/help", "syntax_keyword")]
    assert shown("/usr/bin is a path", "first") == []


def test_a_fence_is_open_until_its_like_or_to_the_end() -> None:
    lines = ["a", "```py", "# code", "~~~", "```", "b", "~~~~", "```"]
    places = LineKinds()
    assert [places.place(lines, row) for row in range(len(lines))] == [
        *("first", "fence", "code", "code", "fence", "prose", "fence", "code")
    ]


def test_what_follows_an_edited_line_is_judged_anew() -> None:
    lines = ["a", "b", "c"]
    places = LineKinds()
    assert places.place(lines, 2) == "prose"
    lines[1] = "```"
    places.edited(1)
    assert places.place(lines, 2) == "code"


def test_a_shell_command_is_no_markdown() -> None:
    lines = ["!echo **a**", "# b"]
    assert [LineKinds().place(lines, row) for row in (0, 1)] == ["shell", "shell"]
    assert shown("!echo **a**", "shell") == [("!", "warning")]


def test_beyond_the_limits_nothing_is_colored() -> None:
    assert LineKinds().place(["a"] * (MAX_COLORED_LINES + 1), MAX_COLORED_LINES) is None
    assert shown("**a** " + "b" * MAX_LINE) == []


@pytest.mark.parametrize("piece", ["`", "*", "**a", "_a ", "~~a", "[a](", "@a", "\\", "- ", "> "])
def test_a_line_full_of_openings_comes_to_an_end(piece: str) -> None:
    line = (piece * MAX_LINE)[:MAX_LINE]
    assert all(0 <= start < end <= MAX_LINE for start, end, *_ in spans(line, "prose"))
    assert growth(lambda size: spans.__wrapped__(line[:size], "prose"), MAX_LINE // 2) < LINEAR


async def test_a_key_parses_only_the_line_that_it_changed() -> None:
    async with open_page() as page:
        await page.write("\n".join(f"- item **{number}**" for number in range(8)))
        drawn = [page.prompt.get_line(row) for row in range(8)]
        before = spans.cache_info().misses
        await page.press("x")
        assert page.prompt.get_line(7).plain == f"{drawn[7].plain}x"
        assert spans.cache_info().misses == before + 1


async def test_the_draft_is_shown_in_the_colors_of_the_theme() -> None:
    async with open_page() as page:
        await page.write("a **bold** word")
        palette = palette_for(page.pilot.app.current_theme)
        line = page.prompt.get_line(0)
        assert [(span.start, span.end, span.style) for span in line.spans] == [(2, 10, palette.strong)]
