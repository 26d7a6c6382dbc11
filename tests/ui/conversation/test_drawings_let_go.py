"""A long conversation keeps only its latest drawings; older entries look the same when drawn again."""

from __future__ import annotations

import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent, ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import ClientRemark, MessageChunk, SessionUpdate, ToolCallReported
from acp_tui.ui.conversation import column as column_module
from support.screens import open_page

ENTRIES = 120
KEPT = 20


def said(number: int) -> SessionUpdate:
    """Something of every kind."""
    match number % 4:
        case 0:
            return MessageChunk("agent", Text(f"# Title {number}\n\n- `code`\n- **{number}**"), f"m{number}")
        case 1:
            output = BlockContent(Text("".join(f"line {line}\n" for line in range(30))))
            call = ToolCallPatch(ToolCallId(f"c{number}"), f"Run {number}", "execute", "completed", (output,))
            return ToolCallReported(call)
        case 2:
            return MessageChunk("thought", Text(f"Thinking of {number} at length. " * 10), f"t{number}")
        case _:
            return ClientRemark(f"Remark {number}")


@pytest.mark.parametrize("is_all_open", [False, True])
async def test_what_was_let_go_is_drawn_as_before(is_all_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[list[str]]] = []
    for most in (10_000, KEPT):
        monkeypatch.setattr(column_module, "MAX_DRAWN", most)
        async with open_page(*map(said, range(ENTRIES))) as page:
            column = page.view.column
            if is_all_open:
                page.view.toggle_all()
                await page.settled()
            for index in range(ENTRIES):
                column.read(index)
            drawn = [index for index, drawing in enumerate(column.drawings) if drawing is not None]
            assert len(drawn) <= KEPT + 2 or most > KEPT
            heights = [column.heights.height(index) for index in range(ENTRIES)]
            lines = [[line.text for line in column.lines(index)] for index in range(ENTRIES)]
            assert [*map(len, lines)] == heights
            seen.append(lines)
    assert seen[0] == seen[1]


async def test_a_fold_of_the_users_stays_and_a_late_report_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_module, "MAX_DRAWN", KEPT)
    async with open_page(*map(said, range(ENTRIES))) as page:
        column = page.view.column
        folded = len(column.lines(1))
        assert column.toggle(1)
        unfolded = len(column.lines(1))
        for index in range(2, ENTRIES):
            column.lines(index)
        assert (len(column.lines(1)), unfolded > folded) == (unfolded, True)
        await page.apply(MessageChunk("agent", Text("\n\nand more"), "m4"))
        assert any("and more" in line.text for line in column.lines(4))
