"""An agent's text on the screen: nothing that a terminal obeys or that misleads a reader gets there raw."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from rich.segment import Segment
from textual.strip import Strip

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
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCall,
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
from acp_tui.conversation.visible import hidden_characters, make_visible
from acp_tui.ui.conversation.column import drawing_of
from acp_tui.ui.conversation.drawing import DrawContext
from acp_tui.ui.permission.request_drawing import SubjectDrawing, SubjectStyle, option_lines, title_lines
from acp_tui.ui.rendering.markdown import MarkdownRenderer
from acp_tui.ui.rendering.palette import PLAIN
from acp_tui.ui.session.status import facts_of
from support.folding import REJECT, agent, call, fold, prompt, thought
from support.screens import Page, open_page, rows

TALL = (120, 400)
FLAG_OF_ENGLAND: Final = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
CORPUS: Final[dict[str, dict[str, str]]] = {
    category: {name: text if isinstance(text, str) else text[0] * text[1] for name, text in texts.items()}
    for category, texts in json.loads((Path(__file__).parents[2] / "data/hostile_strings.json").read_text()).items()
}
"""By category and name; the file stores long ones as a piece and a count."""
TEXTS = {
    "every character": "".join(sorted(hidden_characters() - set(map(chr, range(0xD800, 0xE000))))),
    "sequences": "tab\tand\nline \x1b[2J \x1b]52;c;aGk=\x07 \x9b31m \r\x08 a\u202eb \u2066c\u2069 d\u200be \ud83d",
    "corpus": " ".join(text[:20] for texts in CORPUS.values() for text in texts.values()),
}
MARKUP = "[bold]x[/bold]"
IN_ONE = " ".join((TEXTS["sequences"], TEXTS["corpus"], TEXTS["every character"]))
"""For a page, which costs more than what is on it; without a screen, each text is drawn for itself."""


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
    """The text in every place Markdown has for it."""
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


@cache
def _is_raw(char: str) -> bool:
    """Whether it must not be on the screen; tabs and newlines break a row, too."""
    return (
        char in hidden_characters()
        or char in "\n\t"
        or (make_visible(char).startswith("⟨U+") and not _may_belong(char))
    )


def _may_belong(char: str) -> bool:
    """Whether it is part of ordinary writing in some places."""
    return char in "\u200c\u200d\u1680\u2800\u3000\U000e0100" or "\ufe00" <= char <= "\ufe0f"


def _raw_in(strips: Iterable[Strip]) -> set[str]:
    return set(filter(_is_raw, set().union(*(row.text.replace(FLAG_OF_ENGLAND, "") for row in strips))))


def _raw(page: Page) -> set[str]:
    return _raw_in(rows(page.pilot))


Say = Callable[[str], list[SessionUpdate]]
EVERYTHING: tuple[Say, ...] = (_messages, _tool_calls, _notes, _facts, _request)


@pytest.mark.parametrize("say", EVERYTHING, ids=lambda say: say.__name__.strip("_"))
async def test_nothing_hostile_reaches_the_screen(say: Say) -> None:
    async with open_page(*say(IN_ONE), size=TALL) as page:
        await page.emulator_loaded()
        assert _raw(page) == set(), "folded"
        await page.press_at_once("ctrl+o", "ctrl+t")
        assert _raw(page) == set(), "open"


async def test_the_loss_of_the_agent_is_told_without_what_is_hostile_in_it() -> None:
    async with open_page(Disconnected(IN_ONE, f"{IN_ONE}\n" * 20), size=TALL) as page:
        assert _raw(page) == set(), "folded"
        await page.press("ctrl+o")
        assert _raw(page) == set(), "open"


async def test_the_agents_title_is_shown_without_what_is_hostile_in_it() -> None:
    async with open_page(is_shown=False, size=(500, 10)) as page:
        for name, text in TEXTS.items():
            await page.tab.show(page.session, text)
            await page.settled()
            assert _raw(page) == set(), name


# Markup


async def test_markup_is_shown_as_it_was_written() -> None:
    # The least number of times each part appears on the screen.
    for say, places in ((_messages, 20), (_tool_calls, 15), (_notes, 8), (_facts, 8), (_request, 8)):
        async with open_page(*say(MARKUP), size=TALL) as page:
            await page.emulator_loaded()
            await page.press_at_once("ctrl+o", "ctrl+t")
            assert page.text.count(MARKUP) >= places, say.__name__


# Every string of the corpus in every place, without a screen


def _drawn(*updates: SessionUpdate, width: int = 100) -> Iterator[Strip]:
    """Everything drawn of a conversation: folded and open, and each request as on its card."""
    conversation = fold(*updates)
    context = DrawContext(width, PLAIN, {}, cast(Any, None), "/project")
    for entry in conversation.entries:
        drawing = drawing_of(entry)
        while not drawing.refresh():
            pass
        drawing.close()
        for is_open in (False, True):
            drawing.set_open(is_open)
            yield from drawing.lines(context)
    for update in updates:
        if isinstance(update, PermissionAsked):
            yield from _card(update, width)
    yield from (Strip([Segment(fact)]) for fact in facts_of(conversation))


def _card(update: PermissionAsked, width: int) -> Iterator[Strip]:
    tool_call = ToolCall(update.request.tool_call_id)
    tool_call.apply(update.patch)
    asked = ShownRequest(update.request, tool_call, "/project", 3)
    yield from title_lines(asked, PLAIN, width)
    for shows_raw in (False, True):
        yield from SubjectDrawing().draw(asked, SubjectStyle(width, PLAIN, "unified", shows_raw)).lines
    for lines in option_lines(update.request.options, 1, PLAIN, width):
        yield from lines


def _actions(strip: Strip) -> set[object]:
    """What a click would do: only links whose names the user sees are allowed."""
    styles = [segment.style for segment in strip if segment.style is not None]
    links = {style.link for style in styles if style.link}
    return {link for link in links if not link.startswith(("http://", "https://", "mailto:"))} | {
        str(style.meta) for style in styles if style.meta
    }


DRAWN: Final = {**CORPUS, "in one": TEXTS}


@pytest.mark.parametrize("category", DRAWN)
def test_no_string_of_the_corpus_gets_anywhere_raw_or_becomes_an_action(category: str) -> None:
    for name, text in DRAWN[category].items():
        for say in EVERYTHING:
            strips = [*_drawn(*say(text))]
            assert _raw_in(strips) == set(), (name, say.__name__)
            assert set().union(*map(_actions, strips)) == set(), (name, say.__name__)


@pytest.mark.parametrize("name", CORPUS["markup"])
def test_markup_of_the_corpus_is_drawn_as_it_was_written(name: str) -> None:
    text = CORPUS["markup"][name]
    for say in (_tool_calls, _request):
        drawn = "\n".join(strip.text for strip in _drawn(*say(text), width=400))
        assert drawn.count(text) >= 8, say.__name__


@pytest.mark.parametrize("name", CORPUS["ordinary writing"])
def test_ordinary_writing_of_the_corpus_is_drawn_as_it_was_written(name: str) -> None:
    text = CORPUS["ordinary writing"][name]
    for say in (_messages, _tool_calls, _request):
        drawn = "\n".join(strip.text for strip in _drawn(*say(text), width=400))
        assert drawn.count(text) >= 8, say.__name__


# Where text is split into chunks


@pytest.mark.parametrize("category", sorted(CORPUS.keys() - {"long"}))
def test_a_message_by_the_character_is_made_as_visible_as_a_whole_one(category: str) -> None:
    for name, text in CORPUS[category].items():
        whole, streamed = MarkdownRenderer(text), MarkdownRenderer()
        for char in text:
            streamed.append(char)
        whole.finish()
        streamed.finish()
        assert streamed.source == whole.source or FLAG_OF_ENGLAND in text, name
