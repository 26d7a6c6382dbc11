"""Consecutive reads and searches become one line, which unfolds into each of them."""

from __future__ import annotations

from random import Random
from typing import Any, cast

import pytest

from acp_tui.client.settings.settings import ConversationSettings
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import BlockContent, Location
from acp_tui.conversation.updates import SessionUpdate
from acp_tui.ui.conversation.column import Column
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS, DrawContext
from acp_tui.ui.conversation.searching import Searching
from acp_tui.ui.rendering.palette import PLAIN
from support.folding import agent, ask, call, fold


class Shown:
    """A column of 80 cells and what it shows."""

    def __init__(self, conversation: Conversation, folds: ConversationSettings = DEFAULT_FOLDS) -> None:
        context = DrawContext(80, PLAIN, {}, cast(Any, None), "/project", folds=folds)
        self.conversation = conversation
        self.column = Column(lambda: context)
        self.column.show(conversation)

    def hear(self, update: SessionUpdate) -> None:
        """One more update."""
        self.column.mark(apply(self.conversation, update).entries)

    @property
    def lines(self) -> list[str]:
        """What shows; its heights agree with it."""
        assert self.column.read_dirty(lambda: False)
        lines = []
        for index in range(len(self.column.drawings)):
            own = [strip.text.strip() for strip in self.column.lines(index)]
            assert len(own) == self.column.heights.height(index)
            lines += own
        return lines


def read(name: str, **reported: Any) -> SessionUpdate:
    """The agent reads a file."""
    content = (BlockContent(Text(f"content of {name}")),)
    known = {"title": f"Read {name}", "kind": "read", "status": "completed", "content": content}
    return call(name, **{**known, "locations": (Location(f"/project/{name}"),), **reported})


def search(number: int) -> SessionUpdate:
    """The agent searches."""
    return call(f"search-{number}", title=f"Search {number}", kind="search", status="completed")


def test_reads_and_searches_are_told_in_one_line() -> None:
    shown = Shown(fold(read("a.py"), search(1), read("b.py"), search(2), read("a.py")))
    assert shown.lines == ["✓ → Read 2 files, searched twice  a.py, b.py"]


def test_a_single_call_is_told_by_its_title() -> None:
    assert "✓ → Read a.py" in Shown(fold(agent("Hm."), read("a.py"))).lines


@pytest.mark.parametrize(
    "other",
    [
        read("b.py", status="failed"),
        read("b.py", status="in_progress"),
        ask(1, "b.py", title="Read b.py", kind="read"),
        call("b.py", title="Edit b.py", kind="edit", status="completed"),
    ],
)
def test_what_failed_runs_waits_or_changes_something_has_a_line_of_its_own(other: SessionUpdate) -> None:
    shown = Shown(fold(read("1"), read("2"), other, read("3"), read("4")))
    lines = shown.lines
    assert (lines[0], lines[-1]) == ("✓ → Read 2 files  1, 2", "✓ → Read 2 files  3, 4")
    assert any("b.py" in line for line in lines[1:-1])


def test_unfolding_goes_to_each_call_its_content_then_what_is_raw_and_back() -> None:
    shown = Shown(fold(read("a.py", raw_input={"path": "a.py"}), read("b.py")))
    folded = shown.lines
    assert shown.column.toggle(0)
    assert [line for line in shown.lines if line.startswith("✓")] == ["✓ → Read a.py", "✓ → Read b.py"]
    assert shown.column.toggle(0)
    text = "\n".join(shown.lines)
    assert text.index("content of a.py") < text.index("input:")
    assert "not reported" not in text
    assert shown.column.toggle(0)
    assert shown.lines == folded


def test_unfolding_everything_unfolds_runs_and_calls_that_come_then() -> None:
    shown = Shown(fold(read("a.py"), read("b.py")))
    folded = shown.lines
    shown.column.toggle_all()
    shown.hear(read("c.py"))
    assert [line for line in shown.lines if "content of" in line] == [
        "│ content of a.py",
        "│ content of b.py",
        "│ content of c.py",
    ]
    shown.column.toggle_all()
    assert shown.lines == [folded[0].replace("2 files  a.py, b.py", "3 files  a.py, b.py, c.py")]


def test_kinds_that_are_not_folded_make_no_run() -> None:
    shown = Shown(fold(read("a.py"), read("b.py")), ConversationSettings(fold_kinds=()))
    assert "✓ → Read b.py" in shown.lines


def test_what_a_run_hides_is_found_and_unfolded() -> None:
    shown = Shown(fold(read("a.py"), read("b.py"), agent("Done.")))
    folded = shown.lines
    searching = Searching(shown.column, lambda index, query: True)
    searching.begin("content of b.py")
    assert searching.walk((0, 0), lambda: False)
    assert searching.reveal() is not None
    assert any("content of b.py" in line for line in shown.lines)
    searching.begin("nowhere to be found")
    assert shown.lines == folded


@pytest.mark.parametrize("seed", range(50))
def test_however_calls_come_in_the_lines_are_those_of_the_same_calls_at_once(seed: int) -> None:
    random = Random(seed)
    shown = Shown(Conversation())
    for _ in range(30):
        name = f"{random.randrange(12)}.py"
        status = random.choice(["completed", "completed", "completed", "failed", "in_progress"])
        shown.hear(random.choice([read(name, status=status), read(name), search(random.randrange(5))]))
        if random.random() < 0.3:
            assert shown.lines == Shown(shown.conversation).lines
    assert shown.lines == Shown(shown.conversation).lines
