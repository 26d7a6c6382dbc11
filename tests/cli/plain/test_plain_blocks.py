"""How growing text is split into finished blocks."""

from __future__ import annotations

import pytest

from acp_tui.cli.plain.printer import Blocks

TEXT = """\
A paragraph
of two lines.

- a list
- of two

```python
x = 1

y = 2
```
Right behind it.

  ~~~
  ```
  ~~~

The end"""
BLOCKS = [
    "A paragraph\nof two lines.",
    "- a list\n- of two",
    "```python\nx = 1\n\ny = 2\n```",
    "Right behind it.",
    "  ~~~\n  ```\n  ~~~",
    "The end",
]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_blocks_are_the_same_however_the_text_comes(size: int) -> None:
    blocks = Blocks()
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    assert [block for piece in pieces for block in blocks.add(piece)] + list(blocks.rest()) == BLOCKS


def test_nothing_is_given_before_it_is_finished() -> None:
    blocks = Blocks()
    assert list(blocks.add("half a par")) == []
    assert list(blocks.add("agraph.\n")) == []
    assert list(blocks.add("\nnext")) == ["half a paragraph."]


def test_a_fence_that_never_ends_is_given_with_the_rest() -> None:
    blocks = Blocks()
    assert list(blocks.add("```\ncode\n\nmore")) == []
    assert list(blocks.rest()) == ["```\ncode\n\nmore"]


def test_a_fence_in_a_list_is_one() -> None:
    blocks = Blocks()
    assert list(blocks.add("1. ```sh\n   a\n\n   b\n   ```\n")) == ["1. ```sh\n   a\n\n   b\n   ```"]
