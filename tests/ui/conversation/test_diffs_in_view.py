"""Diffs in a conversation: what is compared, in how many steps, and what shows in the meantime."""

from __future__ import annotations

import pytest

from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.ui.rendering import diff as diff_rendering
from acp_tui.ui.rendering.diff import STEPS_AT_ONCE, Comparisons, DiffRenderer
from acp_tui.ui.rendering.diff_model import TextComparison
from acp_tui.ui.rendering.palette import PLAIN
from support.folding import agent, call
from support.screens import Page, open_page

LINES = [f"line {number}\n" for number in range(20_000)]
OLD = "".join(LINES)


def edit(word: str, every: int = 5, path: str = "/project/a.py") -> TextDiff:
    """A long file with many changed lines."""
    new = "".join([f"{word} {at}\n" if at % every == 0 else line for at, line in enumerate(LINES)])
    return TextDiff(path, new, OLD)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[TextComparison]:
    """Grows with each comparison that starts."""
    begun: list[TextComparison] = []

    class Counted(TextComparison):
        def __init__(self, old_text: str, new_text: str) -> None:
            super().__init__(old_text, new_text)
            begun.append(self)

    monkeypatch.setattr(diff_rendering, "TextComparison", Counted)
    return begun


def test_a_long_diff_is_compared_a_few_steps_at_a_time() -> None:
    comparisons = Comparisons()
    comparisons.keep([edit("by steps")])  # a diff of no other test: what is still in memory isn't compared again
    rounds = 1
    while not comparisons.advance():
        rounds += 1
    assert rounds > 10
    assert comparisons.renderer(edit("by steps"), "").steps_made <= rounds * STEPS_AT_ONCE


def test_many_short_diffs_are_compared_in_one_step_each() -> None:
    comparisons = Comparisons()
    diffs = [TextDiff(f"/project/{number}.txt", "b\n", "a\n") for number in range(30)]
    comparisons.keep(diffs)
    rounds = 1
    while not comparisons.advance():
        rounds += 1
    assert rounds == len(diffs) // STEPS_AT_ONCE
    assert sum([comparisons.renderer(diff, "").steps_made for diff in diffs]) == len(diffs)


def test_drawing_makes_no_renderer_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = Comparisons()
    diff = TextDiff("/project/a.txt", "b\n", "a\n")
    comparisons.keep([diff])
    monkeypatch.setattr(diff_rendering, "DiffRenderer", None)
    assert comparisons.renderer(diff, "") is comparisons.renderer(diff, "/project")


def test_the_same_texts_are_compared_once(compared: list[TextComparison]) -> None:
    comparisons = Comparisons()
    for _ in range(3):
        comparisons.keep([TextDiff("/project/once.txt", "compared once\n", "a\n")])
        assert comparisons.advance()
    assert len(compared) == 1


def test_what_is_replaced_meanwhile_is_not_compared_any_further() -> None:
    comparisons = Comparisons()
    comparisons.keep([edit("first")])
    comparisons.advance()
    given_up = comparisons.renderer(edit("first"), "")
    comparisons.keep([edit("second")])
    while not comparisons.advance():
        pass
    assert given_up.steps_made == STEPS_AT_ONCE
    assert not given_up.is_ready


def test_while_the_next_is_compared_the_one_before_stays() -> None:
    comparisons = Comparisons()
    before = TextDiff("/project/a.py", "b\n", "a\n")
    comparisons.keep([before])
    while not comparisons.advance():
        pass
    shown = comparisons.renderer(before, "")
    comparisons.keep([edit("second")])
    assert comparisons.before(edit("second")) is shown
    while not comparisons.advance():
        pass
    assert comparisons.before(edit("second")) is None


async def test_a_long_diff_is_seen_with_its_counts_and_opens() -> None:
    async with open_page(call("a", title="Edit", content=(edit("new"),))) as page:
        assert "+ new 0" in page.text
        assert "more lines" in page.text
        page.view.focus()
        await page.press("space", "home")
        assert "a.py  +4000  -4000" in page.text
        assert page.view.max_top_line > 20_000


async def test_content_that_is_replaced_many_times_is_compared_as_it_is_at_the_end(
    compared: list[TextComparison],
) -> None:
    async with open_page(call("a", title="Edit")) as page:
        for number in range(200):
            page.session.apply(call("a", content=(TextDiff("/project/a.py", f"{number}\n" * 30, "old\n"),)))
        await page.settled()
        assert "+ 199" in page.text
        assert len(compared) == 1


async def test_what_is_read_does_not_move_when_a_diff_above_is_there() -> None:
    sayings = [agent(f"saying {number}", f"m{number}") for number in range(60)]
    async with open_page(call("a", title="Edit"), *sayings) as page:
        page.view.focus()
        await page.press("pageup")
        before, length = _read(page), page.view.max_top_line
        await page.apply(call("a", content=(edit("new"),)))
        assert _read(page) == before
        assert page.view.max_top_line > length + 20


def _read(page: Page) -> list[str]:
    """The text in view, without the scroll bar."""
    return [line.rstrip(" ▐") for line in page.lines[:20]]


def test_one_renderer_draws_what_it_has_drawn_again_at_once() -> None:
    renderer = DiffRenderer("a.txt", "a\n", "b\n")
    assert renderer.lines(80, PLAIN) is renderer.lines(80, PLAIN)
