"""Text of the agent's on the screen: nothing that a terminal obeys or that misleads a reader gets there raw."""

from collections.abc import Callable

import pytest

from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.facts import (
    BooleanOption,
    Choice,
    PermissionOption,
    PermissionRequest,
    PlanStep,
    RequestKey,
    SelectOption,
    Usage,
)
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCallContent,
    ToolCallId,
    ToolCallPatch,
    UnknownContent,
)
from acp_tui.conversation.updates import (
    CompactionChanged,
    Disconnected,
    MessageChunk,
    NoticeShown,
    OptionsReplaced,
    PermissionAsked,
    PlanReplaced,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
    UsageReported,
)
from acp_tui.conversation.visible import _STAND_INS
from acp_tui.ui.screens.session import SessionScreen
from support.folding import REJECT, agent, call, prompt, thought
from support.screens import Page, open_page, rows

TALL = (120, 400)
HIDDEN = frozenset(map(chr, _STAND_INS))
"""What no row of the screen may hold."""
TEXTS = {
    "every character": "".join(sorted(HIDDEN - set(map(chr, range(0xD800, 0xE000))))),
    "sequences": "tab\tand\nline \x1b[2J \x1b]52;c;aGk=\x07 \x9b31m \r\x08 a\u202eb \u2066c\u2069 d\u200be \ud83d",
}
MARKUP = "[bold]x[/bold]"


def _blocks(text: str) -> tuple[ContentBlock, ...]:
    """One of each kind."""
    return (
        Text(text),
        Image("aGk=", text),
        Audio("aGk=", text),
        ResourceLink(text, text, text),
        TextResource(text, text),
        BlobResource(text, "aGk=", text),
        UnknownBlock(text, {text: text}),
    )


def _markdown(text: str) -> str:
    """The text in every place that Markdown has for it."""
    line = text.replace("\n", " ").replace("\r", " ")
    return (
        f"{text}\n\n# {line}\n\n- {line}\n\n> {line}\n\n*{line}* `{line}` [{line}](https://example.org/{line})\n\n"
        f"| {line} | b |\n|---|---|\n| {line} | c |\n\n<b>{line}</b>\n\n"
        f"```{line}\n{text}\n```\n\n```python\n{text}\n```\n"
    )


def _messages(text: str) -> list[SessionUpdate]:
    roles = ("agent", "user", "thought")
    spoken: list[SessionUpdate] = [
        MessageChunk(role, block, f"{role}-{at}")  # type: ignore[arg-type]
        for role in roles
        for at, block in enumerate(_blocks(text))
    ]
    return [prompt(text), agent(_markdown(text), "markdown"), thought(_markdown(text), "thinking"), *spoken]


def _tool_calls(text: str) -> list[SessionUpdate]:
    terminal = TerminalId(text)
    return [
        TerminalOpened(terminal, text, text, columns=80, rows=10),
        TerminalOutput(terminal, text.encode("utf-8", "replace")),
        call(
            "call",
            title=text,
            kind=text,
            status=text,
            locations=(Location(f"/project/{text}"), Location(text, 3)),
            content=(
                *map(BlockContent, _blocks(text)),
                TextDiff(f"/project/{text}", f"{text}\nsame\n", f"old {text}\nsame\n"),
                TextDiff(text, text),
                TerminalContent(terminal),
                TerminalContent(TerminalId("unknown")),
                UnknownContent(text, text),
            ),
            raw_input={text: [text]},
            raw_output=text,
        ),
        TerminalExited(terminal, None, text),
    ]


def _notes(text: str) -> list[SessionUpdate]:
    return [
        CompactionChanged("c", text, _blocks(text), text),
        UnknownUpdate(text, {text: text}),
        TurnEnded(text),
        TurnFailed(text, text),
    ]


def _facts(text: str) -> list[SessionUpdate]:
    mode = SelectOption("mode", "Mode", "m", (Choice("m", text),), "mode")
    return [
        PlanReplaced(tuple(PlanStep(text, text, status) for status in ("in_progress", "pending", text))),
        OptionsReplaced((mode, BooleanOption("b", text, True, "model"))),
        UsageReported(Usage(1, 2, 3.0, text)),
        NoticeShown(text, text, text),
    ]


def _request(text: str) -> list[SessionUpdate]:
    options = (PermissionOption("a", text, text), PermissionOption("b", text, "allow_once"), REJECT)
    content: tuple[ToolCallContent, ...] = (
        *map(BlockContent, _blocks(text)),
        TextDiff(f"/project/{text}", text, f"{text}\nold\n"),
    )
    return [
        PermissionAsked(
            PermissionRequest(RequestKey(key), ToolCallId(f"asked-{key}"), options),
            ToolCallPatch(ToolCallId(f"asked-{key}"), title=text, content=shown, raw_input={text: text}),
        )
        for key, shown in ((1, content), (2, ()))
    ]


def _raw(page: Page) -> set[str]:
    """The characters on the screen that must not be there; tabs and newlines break a row, too."""
    return {char for row in rows(page.pilot) for char in row.text if char in HIDDEN or char in "\n\t"}


Say = Callable[[str], list[SessionUpdate]]
EVERYTHING: tuple[Say, ...] = (_messages, _tool_calls, _notes, _facts, _request)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("say", EVERYTHING, ids=lambda say: say.__name__.strip("_"))
async def test_nothing_hostile_reaches_the_screen(say: Say, text: str) -> None:
    async with open_page(*say(text), size=TALL) as page:
        await page.emulator_loaded()
        assert _raw(page) == set(), "folded"
        await page.press("ctrl+o", "ctrl+t")
        assert _raw(page) == set(), "open"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_the_loss_of_the_agent_is_told_without_what_is_hostile_in_it(text: str) -> None:
    async with open_page(Disconnected(text, f"{text}\n" * 20), size=TALL) as page:
        assert _raw(page) == set(), "folded"
        await page.press("ctrl+o")
        assert _raw(page) == set(), "open"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_the_agents_title_is_shown_without_what_is_hostile_in_it(text: str) -> None:
    async with open_page(is_shown=False, size=(500, 10)) as page:
        screen = page.pilot.app.screen
        assert isinstance(screen, SessionScreen)
        await screen.show_session(page.session, text)
        await page.settled()
        assert _raw(page) == set()


# Markup


async def test_markup_is_shown_as_it_was_written() -> None:
    # How often each part of it stands on the screen at the least.
    for say, places in ((_messages, 20), (_tool_calls, 15), (_notes, 8), (_facts, 8), (_request, 8)):
        async with open_page(*say(MARKUP), size=TALL) as page:
            await page.emulator_loaded()
            await page.press("ctrl+o", "ctrl+t")
            assert page.text.count(MARKUP) >= places, say.__name__
