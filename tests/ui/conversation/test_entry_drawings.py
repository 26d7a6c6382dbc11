"""Entries in limited space: labels of blocks, folds, and what is left out."""

from typing import Any

import pytest

from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.tool_calls import BlockContent, ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import (
    CompactionChanged,
    CompactionChunk,
    MessageChunk,
    Role,
    SessionUpdate,
    ToolCallReported,
)
from acp_tui.ui.conversation.blocks import block_label
from support.screens import open_page

FOR_THE_MODEL = Annotations(("assistant",))


@pytest.mark.parametrize(
    ("block", "label"),
    [
        (Text("as it\nis"), "as it␊is"),
        (Image("A" * 16_000, "image/png"), "[image: PNG, 12 KB]"),
        (Image("QQ==", "image/svg+xml", "file:///a%20b.svg"), "[image: SVG, 1 bytes, /a b.svg]"),
        (Image("A" * 1_840_000, "png"), "[image: png, 1.4 MB]"),
        (Audio("A" * 144, "audio/x-wav;rate=8000"), "[audio: WAV, 108 bytes]"),
        (ResourceLink("https://a.example/b", "b"), "[link: b, https://a.example/b]"),
        (ResourceLink("file:///b", "b", "The b", size=18_230), "[link: The b, 18 KB, /b]"),
        (TextResource("file:///a.toml", "x = 1\n"), "[file: /a.toml, 1 line]"),
        (TextResource("memo://1", ""), "[file: memo://1, 0 lines]"),
        (BlobResource("file:///a.z", "QUJD", "application/zlib"), "[file: /a.z, application/zlib, 3 bytes]"),
        (BlobResource("file://host/a", "QUJD"), "[file: file://host/a, 3 bytes]"),
        (UnknownBlock("hologram", {}), "[hologram: a kind of content acp-tui doesn't know]"),
    ],
)
def test_a_block_is_named_by_its_kind_and_what_is_known_of_it(block: ContentBlock, label: str) -> None:
    assert block_label(block) == label


def test_a_label_hides_nothing_that_an_address_was_made_to_hide() -> None:
    assert "⟨U+202E⟩" in block_label(TextResource("file:///a%E2%80%AEb", ""))


@pytest.mark.parametrize("role", ["agent", "user", "thought"])
async def test_on_a_wide_screen_text_is_no_wider_than_120_characters(role: Role) -> None:
    async with open_page(MessageChunk(role, Text("abc " * 60)), size=(200, 30)) as page:
        await page.press("alt+s", "alt+s", "ctrl+o")
        lines = [line for line in page.lines if "abc" in line]
        assert len(lines) > 1
        assert max(line.count("abc") for line in lines) == 30


@pytest.mark.parametrize("role", ["agent", "user", "thought"])
async def test_what_is_not_for_the_user_is_not_drawn(role: Role) -> None:
    said = [
        MessageChunk(role, Text("For ")),
        MessageChunk(role, Text("SECRET", FOR_THE_MODEL)),
        MessageChunk(role, Text("you.")),
    ]
    async with open_page(*said) as page:
        assert "For you." in page.text
        await page.press("ctrl+o")
        assert "SECRET" not in page.text


async def test_a_tool_calls_content_that_is_not_for_the_user_is_not_drawn() -> None:
    blocks = (Text("Two colors"), Text("SECRET", FOR_THE_MODEL))
    async with open_page(_call("completed", *blocks, kind="other")) as page:
        assert "Two colors" in page.text
        await page.press("ctrl+o")
        assert "SECRET" not in page.text


@pytest.mark.parametrize(("status", "is_shown"), [("failed", True), ("completed", False)])
async def test_why_a_call_failed_is_shown_even_where_its_content_is_folded_away_else(
    status: str, is_shown: bool
) -> None:
    reason = Text("\n\n".join(f"reason {number}" for number in range(9)))
    async with open_page(_call(status, reason, kind="read")) as page:
        assert ("reason 1" in page.text) is is_shown
        assert "reason 8" not in page.text


def _call(status: str, *blocks: ContentBlock, kind: str) -> ToolCallReported:
    content: Any = tuple(map(BlockContent, blocks))
    return ToolCallReported(ToolCallPatch(ToolCallId("c"), title="A call", kind=kind, status=status, content=content))


async def test_a_compaction_unfolds_to_its_summary_as_markdown() -> None:
    updates: list[SessionUpdate] = [
        CompactionChanged("c", status="completed", summary=(Text("The user asked "),)),
        CompactionChunk("c", Text("for a **tour**.")),
        CompactionChunk("c", Image("AAAA", "image/png")),
    ]
    async with open_page(*updates) as page:
        assert "▸ context compaction: completed" in page.text
        assert "tour" not in page.text
        for keys in (("tab", "space"), ("space", "ctrl+o")):
            await page.press(*keys)
            assert "▾ context compaction: completed" in page.text
            assert "  The user asked for a tour." in page.text
            assert "  [image: PNG, 3 bytes]" in page.text


async def test_a_compaction_that_has_no_summary_does_not_look_as_if_it_unfolded() -> None:
    async with open_page(CompactionChanged("c", status="in_progress")) as page:
        await page.press("ctrl+o")
        assert "↻ context compaction: in progress" in page.text
