"""A streamed message ends up as if it had arrived whole, and finished parts aren't parsed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.rendering import markdown, tables
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import PLAIN, Palette

SHARED = Path(__file__).parents[4] / "shared"
COMMONMARK = SHARED / "markdown" / "commonmark.json"
TRANSCRIPTS = SHARED / "agents" / "transcripts"
WIDTH = 40
LONG = 500
"""In characters. Longer texts arrive in this many pieces, not character by character."""
PALETTE = Palette(
    heading_1=Style(bold=True),
    strong=Style(bold=True),
    emphasis=Style(italic=True),
    code_block=Style(bgcolor="blue"),
    syntax_keyword=Style(color="red"),
    syntax_string=Style(color="green"),
)
COMPOSITE = '''# Title

A paragraph with **bold**, *emphasis*, `code` and a [link][later]; 日本語テキスト and 👩‍👩‍👧.
A second line\r
- after it

1. one
1. two

   ```python
   x = 1
   ```
10. ten
> quote
> > deeper
lazy

~~~~ python
def f():
    """for in
    docstring"""

~~~
    return "x"
~~~~
| a | b |
|---|--:|
| 1 | **2** |
Setext
===
    indented

    code

* * *
[later]: https://example.org
"title"
last [^1] <b>
``` unclosed
code'''

PIECES = st.sampled_from(
    [
        "a",
        "b c",
        " ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "    ",
        "\t",
        "```",
        "~~~",
        "| a | b |\n",
        "|--|--|\n",
        "# ",
        "===",
        "---",
        "[x]: /u\n",
        "[x]",
        "'t",
        "**",
        "`",
        "<b>",
        "\\",
        "&amp;",
        "  - ",
    ]
)


def shown(renderer: MarkdownRenderer) -> list[list[Segment]]:
    return [list(strip) for strip in renderer.lines(WIDTH, PALETTE)]


def whole(text: str) -> list[list[Segment]]:
    renderer = MarkdownRenderer(text)
    renderer.finish()
    return shown(renderer)


def streamed(text: str, size: int) -> list[list[Segment]]:
    return streamed_in(text[start : start + size] for start in range(0, len(text), size))


def streamed_in(pieces: Iterable[str]) -> list[list[Segment]]:
    renderer = MarkdownRenderer()
    for piece in pieces:
        renderer.append(piece)
        renderer.line_count(WIDTH)
    renderer.finish()
    return shown(renderer)


@pytest.mark.parametrize("size", [1, 2, 7, 50, 300])
def test_streaming_ends_in_the_same_lines_as_the_whole_text(size: int) -> None:
    assert streamed(COMPOSITE, size) == whole(COMPOSITE)


@given(st.lists(PIECES, max_size=14).map("".join), st.integers(1, 5))
def test_any_markdown_ends_the_same_streamed_as_whole(text: str, size: int) -> None:
    assert streamed(text, size) == whole(text)


# What comes faster than it can be read


SECTIONS = st.sampled_from(
    [
        *(
            "long " * 20,
            "a\n\n",
            "b c\n\nd",
            "\n\n",
            "## e\n\nf",
            "- g\n",
            "- h\n\ni",
            "1. j\n\n2. k\n\nl",
            "> m\n\nn",
            "   o\n\np",
        ),
        *(
            "```\nq\n```\n",
            "```\n\nr\n",
            "```\n",
            "- ```\n\ns",
            "~~~\n\nt",
            "<!--\n\nu",
            "<b>\n\nv",
            "[w]: /x\n\ny [w]",
        ),
        *(
            "| a | b |\n|--|--|\n| c | d |\n\n",
            "    z\n\n",
            "---\n\na",
            "\\\n\nb",
            "`c\n\nd`",
            "**e\n\nf**\n\n",
            "***\n",
        ),
    ]
)


def skipped(pieces: Iterable[str], seen: range = range(0)) -> list[list[Segment]]:
    """A text whose sections are drawn only when these rows come into view, and else at rest."""
    renderer = MarkdownRenderer(skips=True)
    for piece in pieces:
        renderer.append(piece)
        renderer.lines(WIDTH, PALETTE).measure(seen, 0)
    renderer.finish()
    rows = renderer.lines(WIDTH, PALETTE)
    while not rows.is_measured:
        rows.measure_last(0)
    return [list(strip) for strip in rows]


# A long paragraph that ends with an empty line just where it would be broken.
@example(["<!--\n\nu", "b c\n\nd", "long " * 20, "b c\n\nd"], 0, 0)
@given(st.lists(SECTIONS, max_size=12), st.integers(0, 9), st.integers(0, 30))
def test_what_scrolls_by_unseen_ends_in_the_same_lines(pieces: list[str], first: int, count: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "SKIPPED_CHARACTERS", 0)
        patch.setattr(markdown, "MAX_OPEN_CHARACTERS", 60)
        expected = whole("".join(pieces))
        assert skipped(["".join(pieces)]) == expected
        assert skipped(pieces, range(first, first + count)) == expected


def test_only_the_visible_part_of_a_sudden_text_is_parsed(parsed: list[str]) -> None:
    renderer = MarkdownRenderer(
        "".join(f"## Title {number}\n\n- one\n- two\n\n" for number in range(1_000)), skips=True
    )
    rows = renderer.lines(WIDTH, PALETTE)
    assert rows.measure(range(len(rows) - 20, len(rows)), len(rows) - 1) == len(rows) - 1
    assert rows[-1].text.strip() == "• two"
    assert len("".join(parsed)) < 500


def test_the_row_in_view_moves_along_with_what_is_measured_above_and_below_it() -> None:
    wide = "word " * 60
    renderer = MarkdownRenderer("".join(f"Line {number}\n{wide}\n\n" for number in range(30)), skips=True)
    rows = renderer.lines(WIDTH, PALETTE)
    rows.measure(range(50, 60), 0)
    place = next(at for at in range(50, 60) if rows[at].text.startswith("Line"))
    text = rows[place].text
    while not rows.is_measured:
        place = rows.measure_last(place)
        assert rows[place].text == text
    assert place != 50


@pytest.mark.skipif(not COMMONMARK.exists(), reason="the CommonMark examples aren't part of the repository")
def test_every_commonmark_example_ends_the_same_streamed_by_the_character() -> None:
    examples = json.loads(COMMONMARK.read_text(encoding="utf-8"))
    differing = [
        example["example"] for example in examples if streamed(example["markdown"], 1) != whole(example["markdown"])
    ]
    assert differing == []


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recorded sessions aren't part of the repository")
def test_every_recorded_message_ends_the_same_streamed_as_whole() -> None:
    messages = {tuple(recorded_chunks(path)) for path in TRANSCRIPTS.glob("*.ndjson")}
    assert len(messages) > 10
    for chunks in messages:
        text = "".join(chunks)
        expected = whole(text)
        assert streamed_in(chunks) == expected
        assert streamed(text, 1 + len(text) // LONG) == expected, "by the character"


def recorded_chunks(path: Path) -> Iterator[str]:
    """What the agent of a recorded session said, chunk by chunk."""
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line).get("msg")
        params = message.get("params") if isinstance(message, dict) else None
        update = params.get("update") if isinstance(params, dict) else None
        if isinstance(update, dict) and update.get("sessionUpdate") == "agent_message_chunk":
            yield update["content"].get("text", "")


def test_every_prefix_can_be_drawn_at_every_width() -> None:
    for width in (10, 23, 80):
        renderer = MarkdownRenderer()
        for character in COMPOSITE:
            renderer.append(character)
            assert all(strip.cell_length <= width for strip in renderer.lines(width, PLAIN)[-3:])


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the block parser receives, in order."""
    texts: list[str] = []
    parser = markdown.markdown_parser()
    parse = parser.block.parse

    def note(text: str, *rest: object) -> object:
        texts.append(text)
        return parse(text, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(parser.block, "parse", note)
    return texts


def stream_lines(lines: list[str]) -> MarkdownRenderer:
    renderer = MarkdownRenderer()
    for line in lines:
        renderer.append(line)
        renderer.line_count(WIDTH)
    return renderer


@pytest.mark.parametrize("line", ["paragraph\n\n", "- item\n", "# heading\n", "> quote\n\n"])
def test_finished_blocks_and_items_are_not_parsed_again(parsed: list[str], line: str) -> None:
    stream_lines([line] * 100)
    assert max(map(len, parsed)) <= 2 * len(line) + 1
    assert len(parsed) <= 200


def test_an_open_fence_is_never_parsed_as_a_whole(parsed: list[str]) -> None:
    renderer = stream_lines(["```python\n", *["x = 1\n"] * 100])
    assert max(map(len, parsed)) <= len("```python\nx = 1\n")
    assert renderer.line_count(WIDTH) == 101


LONG_BLOCKS = {
    "table": ["| a | b |\n|--|--|\n", *["| one | `two` |\n"] * 3_000],
    "list": ["- item\n"] * 5_000,
    "list within an item": ["- a\n", *["  - item\n"] * 4_000],
    "list in quotes": ["> > 1. a\n", *["> > 2. item\n"] * 3_000],
    "code in a list": ["1. a\n\n   ```py\n", *["   x = 1\n"] * 4_000],
    "table in a list": ["- | a | b |\n  |--|--|\n", *["  | one | two |\n"] * 2_500],
    "paragraph": ["word\n"] * 8_000,
    "line": ["word "] * 8_000,
    "HTML": ["<!--\n", *["text\n\n"] * 5_000],
    "indented code": ["    x = 1\n"] * 4_000,
}


@pytest.mark.parametrize("lines", LONG_BLOCKS.values(), ids=LONG_BLOCKS)
def test_no_refresh_parses_more_than_a_screenful_however_long_the_block(parsed: list[str], lines: list[str]) -> None:
    text = "".join(lines)
    stream_lines([text[start : start + 1_000] for start in range(0, len(text), 1_000)])
    assert max(map(len, parsed)) <= markdown.MAX_OPEN_CHARACTERS + 100
    assert sum(map(len, parsed)) <= 12 * len(text)


@pytest.mark.parametrize("kind", ["table", "list within an item", "code in a list", "table in a list"])
def test_a_line_that_is_added_to_a_long_block_is_parsed_almost_alone(parsed: list[str], kind: str) -> None:
    stream_lines([*LONG_BLOCKS[kind][:500], *LONG_BLOCKS[kind][-100:]])
    assert max(map(len, parsed[-100:])) <= 100


@pytest.mark.parametrize("size", [1, 40])
def test_blocks_that_are_broken_up_end_the_same_streamed_as_whole(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(markdown, "MAX_OPEN_CHARACTERS", 120)
    monkeypatch.setattr(tables, "SAMPLE_CELLS", 6)
    for lines in LONG_BLOCKS.values():
        text = "".join(lines[:40]) + "end\n\n- a\n"
        assert streamed(text, size) == whole(text)


@pytest.mark.parametrize("end", ["\n", "\n\n# End", "\n- end"])
@pytest.mark.parametrize(
    "lines", [LONG_BLOCKS["paragraph"], LONG_BLOCKS["line"], ["*soft*\n", "and\\\n", "hard\n"] * 400]
)
def test_a_long_paragraph_is_broken_for_the_parser_but_not_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], end: str
) -> None:
    text = "".join(lines[:900]).rstrip() + end
    unbroken = words(whole(text))
    monkeypatch.setattr(markdown, "MAX_OPEN_CHARACTERS", 120)
    assert words(whole(text)) == unbroken
    assert words(streamed(text, 40)) == unbroken


def words(rows: list[list[Segment]]) -> list[str]:
    return ["".join(segment.text for segment in row) for row in rows]


def test_finished_lines_stay_the_same_objects() -> None:
    renderer = MarkdownRenderer("one\n\ntwo\n\nthree\nfo")
    before = list(renderer.lines(WIDTH, PLAIN))
    renderer.append("ur")
    after = renderer.lines(WIDTH, PLAIN)
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, True, True, True, False]


def test_nothing_is_parsed_where_nothing_has_changed(parsed: list[str]) -> None:
    renderer = MarkdownRenderer("text")
    renderer.line_count(WIDTH)
    parsed.clear()
    renderer.lines(WIDTH, PLAIN)
    assert parsed == []


def test_finish_shows_what_was_held_back() -> None:
    renderer = MarkdownRenderer("text\n\n-")
    renderer.finish()
    assert [strip.text for strip in renderer.lines(WIDTH, PLAIN)] == ["text", "", " • "]


def test_a_finished_message_goes_on_when_text_arrives_late() -> None:
    renderer = MarkdownRenderer("a **b")
    renderer.finish()
    renderer.line_count(WIDTH)
    renderer.append("c**")
    assert [strip.text for strip in renderer.lines(WIDTH, PLAIN)] == ["a bc"]


def test_a_line_end_and_a_character_may_be_split_over_two_chunks() -> None:
    renderer = MarkdownRenderer()
    for chunk in ("a\r", "\n\nb\ud83d", "\ude00"):
        renderer.append(chunk)
        renderer.line_count(WIDTH)
    assert [strip.text for strip in renderer.lines(WIDTH, PLAIN)] == ["a", "", "b😀"]


def test_another_width_palette_or_a_release_draw_the_same_message_again() -> None:
    renderer = MarkdownRenderer(COMPOSITE)
    renderer.finish()
    first = shown(renderer)
    assert renderer.line_count(20) > len(first)
    renderer.lines(WIDTH, PLAIN)
    renderer.release()
    assert shown(renderer) == first
