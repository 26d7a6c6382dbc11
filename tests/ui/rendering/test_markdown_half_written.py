"""A message looks calm while it streams: an unfinished part looks as it will in the end, and nothing jumps."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.ui.rendering.markdown import MarkdownRenderer, MarkdownStream
from acp_tui.ui.rendering.palette import PLAIN

WIDTH = 40
MARKS = set("*_~`[]<>!#|=")


def now(source: str) -> list[str]:
    """What shows after this much of `source` has arrived."""
    return [strip.text.rstrip() for strip in MarkdownRenderer(source).lines(WIDTH, PLAIN)]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("a **bo", ["a bo"]),
        ("a **", ["a"]),
        ("a `co", ["a co"]),
        ("a *b **c", ["a b c"]),
        ("3 * 4 is", ["3 * 4 is"]),
        ("[docs](https://a.exa", ["docs (https://a.exa)"]),
        ("text\n-", ["text"]),
        ("text\n==", ["text"]),
        ("- a\n1", [" • a"]),
        ("| a | b |\n|--", []),
        ("| a | b |\n| --- | -", []),
        ("| a | b |\n|--|--|\n| 1", [" a │ b", "───┼───"]),
        ("| a | b |\n|--|--|\n| 1 |\n", [" a │ b", "───┼───", " 1 │"]),
        ('[docs](https://a.example "tit', ["docs (https://a.example)"]),
        ("[docs](", ["docs"]),
        ("a [do", ["a [do"]),
        ("[a](javascript:x", ["[a](javascript:x"]),
        ("![alt](a.p", ["image: alt (a.p)"]),
        ("a ![al", ["a ![al"]),
        ("*both ***b", ["both b"]),
        ("**a** 2*3", ["a 23"]),
        ("*a **b* c", ["a b c"]),
        ("__a ~~b", ["a b"]),
        ("a <b cla", ["a <b cla"]),
        ("<div cla", ["<div cla"]),
        ("text [^1", ["text [^1"]),
        ("text\n\n[^1]: no", ["text"]),
        ("text\n\n[d", ["text"]),
        ("text\n\n[d](", ["text", "", "d"]),
        ("- [x] ", []),
        ("- [x] a", [" ☑ a"]),
        ("* * ", []),
        ("- a\n  -", [" • a"]),
        ("> a\n> =", ["│ a"]),
        ("- ```py\n  x = [1, 2", [" •  py", "    x = [1, 2"]),
        ("```py\nx\n``", [" py", " x"]),
        ("```py\n", [" py", ""]),
        ("```p", [" p", ""]),
    ],
)
def test_what_is_half_written_looks_as_it_will(source: str, lines: list[str]) -> None:
    assert now(source) == lines


TYPICAL = """\
Here is what I found, in **three** parts, see [the docs](https://docs.example.org/a/long/path "Docs").

A title
=======

| File | Change |
| --- | --- |
| `a.py` | new, with a much longer description |
| b.py | *removed* |

1. First:

   ```python
   def f(x):
       return [x, 1]
   ```

2. Second, with `code` and __strong *both*__ text
   - [ ] open
   - [x] done

   * * *
> Quoted **text**
> - item
>
> ```sh
> ls -l
> ```

Other title
---
See [docs] and ![alt](a.png), 2 * 3 or 2*3, <https://a.example> &amp; <b>HTML</b>.

[docs]: https://docs.example.org

<details>
<summary>More</summary>

- one

- two

</details>
"""


def test_while_a_message_streams_it_never_shrinks_and_finished_lines_never_change() -> None:
    renderer = MarkdownRenderer()
    before: list[str] = []
    for end in range(1, len(TYPICAL) + 1):
        renderer.append(TYPICAL[end - 1])
        after = [strip.text for strip in renderer.lines(WIDTH, PLAIN)]
        assert len(after) >= len(before), TYPICAL[:end]
        changed = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
        assert changed is None or "" not in [line.strip() for line in before[changed:-1]], TYPICAL[:end]
        before = after


def test_only_a_definition_changes_what_is_above_the_block_that_is_written() -> None:
    renderer = MarkdownRenderer()
    seen = []
    for character in "See [docs].\n\n[docs]: /x\n\nend":
        renderer.append(character)
        seen.append(renderer.lines(WIDTH, PLAIN)[0].text if renderer.line_count(WIDTH) else "")
    assert sorted(set(seen[12:])) == ["See [docs].", "See docs (/x)."]


@given(st.text("ab1 \n*_~`[]()<>!#|=-.:", max_size=40))
def test_no_mark_is_shown_more_often_than_it_is_written(text: str) -> None:
    for end in range(1, len(text) + 1):
        written, seen = Counter(text[:end]), Counter("".join(now(text[:end])))
        assert not set(seen - written) & MARKS, text[:end]


@pytest.mark.parametrize("before", ["", "Some text.\n\n", "> ", "# Title\n"])
def test_a_table_is_never_seen_as_what_it_is_written_in(before: str) -> None:
    quote = "> " if before == "> " else ""
    lines = ["| Name | Time |", "|:-----|-----:|", "| a | 1 |", "| b | 2 |"]
    text = before + f"\n{quote}".join(lines) + "\n\nAfter it.\n"
    for end in range(1, len(text)):
        stream = MarkdownStream(60, PLAIN, {})
        stream.settle(text[:end], finished=False)
        stream.draw_open(finished=False)
        shown = "".join(str(row) for row in stream.rows)
        assert "| " not in shown, text[:end]


def test_what_only_begins_like_a_table_is_shown_with_the_next_line() -> None:
    stream = MarkdownStream(60, PLAIN, {})
    stream.settle("| no table\nbut text", finished=False)
    stream.draw_open(finished=False)
    assert "| no table" in "".join(str(row) for row in stream.rows)
