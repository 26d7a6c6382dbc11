"""How much of an entry shows before it is unfolded, according to the settings."""

from __future__ import annotations

from typing import Any, cast

import pytest

from acp_tui.client.sessions.prompt_capabilities import fit
from acp_tui.client.settings.settings import Appearance, ConversationSettings, Settings
from acp_tui.client.terminals.emulator import Line, StyledCells
from acp_tui.conversation.content import Image, ResourceLink, Text, TextResource, with_pastes
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.tool_calls import BlockContent, Location, TerminalContent, TerminalId, TextDiff
from acp_tui.conversation.updates import PromptSent, SessionUpdate
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.conversation.column import drawing_of
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS, DrawContext, Drawing
from acp_tui.ui.rendering.palette import PLAIN
from support.desks import SESSION, OpenDesk
from support.folding import call, fold, prompt, thought

LINES = "\n\n".join(f"line {number}" for number in range(20))
TEXT = BlockContent(Text(LINES))
DIFF = TextDiff("/project/a.py", "".join(f"new {number}\n" for number in range(40)), "")
IMAGE = BlockContent(Image("AAAA", "image/png"))
TERMINAL = TerminalId("t")


def _drawing(*updates: SessionUpdate) -> Drawing:
    drawing = drawing_of(fold(*updates).entries[0])
    while not drawing.refresh():
        pass
    return drawing


class Printed:
    """Replaces terminals' screens: each has printed twenty lines."""

    line_count = 20

    def screen(self, state: TerminalState) -> Printed:
        """The screen of any terminal."""
        return self

    def update(self) -> None:
        """Nothing more is printed."""

    def lines(self, start: int, stop: int) -> list[Line]:
        """Some of its lines."""
        return [[StyledCells(f"line {number}")] for number in range(start, stop)]


def _draw_context(folds: ConversationSettings) -> DrawContext:
    terminals = {TERMINAL: TerminalState(TERMINAL)}
    return DrawContext(80, PLAIN, terminals, cast(Any, Printed()), "/project", folds=folds)


def _shown(drawing: Drawing, folds: ConversationSettings) -> list[str]:
    return [strip.text.rstrip() for strip in drawing.lines(_draw_context(folds))]


def _reported(*content: Any, kind: str = "other", status: str = "completed") -> Drawing:
    locations = (Location("/project/a.py", 7),)
    return _drawing(call("c", title="A call", kind=kind, status=status, content=content, locations=locations))


# By length


@pytest.mark.parametrize("lines", [0, 1, 5])
def test_a_text_shows_as_many_lines_as_are_set(lines: int) -> None:
    _, *body = _shown(_reported(TEXT), ConversationSettings(text_lines=lines))
    assert len(body) == lines + 1
    assert body[-1].startswith("    │ … ")


@pytest.mark.parametrize("lines", [1, 10])
def test_a_diff_shows_as_many_lines_as_are_set(lines: int) -> None:
    _, *body = _shown(_reported(DIFF), ConversationSettings(diff_lines=lines))
    assert "a.py" in body[0]
    assert len(body) == lines + 1


def test_where_no_line_of_a_diff_is_shown_the_call_names_its_file() -> None:
    head, *_ = _shown(_reported(DIFF), ConversationSettings(diff_lines=0))
    assert head == "  ✓ • A call  a.py:7"
    unplaced = _drawing(call("c", title="A call", status="completed", content=(DIFF,)))
    assert _shown(unplaced, ConversationSettings(diff_lines=0))[0] == "  ✓ • A call  a.py"
    assert _shown(unplaced, DEFAULT_FOLDS)[0] == "  ✓ • A call"


def test_a_terminal_shows_as_many_of_its_last_lines_as_are_set() -> None:
    drawing = _drawing(call("c", title="A call", status="in_progress", content=(TerminalContent(TERMINAL),)))
    assert _shown(drawing, ConversationSettings(terminal_lines=2))[1:] == [
        "    │ … 18 more lines",
        "    │ line 18",
        "    │ line 19",
    ]
    assert _shown(drawing, ConversationSettings(("other",)))[1:] == ["    │ … 20 lines"]


def test_what_is_unfolded_is_shown_whole() -> None:
    drawing = _reported(TEXT, DIFF)
    drawing.set_open(True)
    text = "\n".join(_shown(drawing, ConversationSettings(("other",), diff_lines=0, text_lines=0)))
    assert "line 19" in text
    assert "new 39" in text


# Prompts

PASTED = "".join(f"line {number}\n" for number in range(500))


def test_a_long_prompt_shows_its_beginning_and_how_much_more_there_is() -> None:
    drawing = _drawing(prompt(PASTED))
    assert _shown(drawing, DEFAULT_FOLDS) == [
        *(f"▌ line {number}" for number in range(20)),
        "▌ … 480 more lines",
    ]
    assert len(drawing.whole(_draw_context(DEFAULT_FOLDS))) == 500
    assert drawing.toggle()
    assert len(_shown(drawing, DEFAULT_FOLDS)) == 500


def test_a_prompt_that_is_not_long_does_not_fold() -> None:
    drawing = _drawing(prompt("".join(f"line {number}\n" for number in range(21))))
    assert len(_shown(drawing, DEFAULT_FOLDS)) == 21
    assert not drawing.toggle()
    context = _draw_context(DEFAULT_FOLDS)
    assert drawing.whole(context) is drawing.lines(context)


def test_what_is_to_be_known_of_a_prompt_is_not_folded_away() -> None:
    drawing = _drawing(PromptSent((Text(PASTED),), ("a.png was left out",)))
    assert _shown(drawing, DEFAULT_FOLDS)[-2:] == ["▌ … 480 more lines", "▌ ! a.png was left out"]


def test_what_was_pasted_is_a_line_between_what_was_typed() -> None:
    drawing = _drawing(PromptSent((with_pastes(f"Why?\n{PASTED}\nIn short", [PASTED]),)))
    assert _shown(drawing, DEFAULT_FOLDS) == ["▌ Why?", '▌ ▸ pasted 500 lines: "line 0"', "▌ In short"]
    assert drawing.toggle()
    assert _shown(drawing, DEFAULT_FOLDS)[:3] == ["▌ Why?", '▌ ▾ pasted 500 lines: "line 0"', "▌ line 0"]
    assert len(_shown(drawing, DEFAULT_FOLDS)) == 503


OUTPUT = TextResource("terminal:1", "$ ls -a\n.git\na.py\n(exit code 0)\n", "text/plain")


@pytest.mark.parametrize("takes_resources", [True, False])
def test_output_that_goes_along_is_named_by_its_command(takes_resources: bool) -> None:
    blocks, _ = fit((Text("See"), OUTPUT), AgentCapabilities(embedded_context=takes_resources))
    drawing = _drawing(PromptSent(blocks))
    assert _shown(drawing, DEFAULT_FOLDS) == ["▌ See", "▌ ▸ output of ls -a"]
    assert drawing.toggle()
    assert "▌ .git" in _shown(drawing, DEFAULT_FOLDS)


def test_files_of_a_prompt_in_the_folder_have_short_names() -> None:
    source, other = TextResource("file:///project/src/a.py", "x\n"), ResourceLink("file:///etc/hosts", "hosts")
    drawing = _drawing(PromptSent((Text("See"), source, other)))
    assert _shown(drawing, DEFAULT_FOLDS) == ["▌ See", "▌ ▸ file: src/a.py, 1 line", "▌ [link: hosts, /etc/hosts]"]


# By kind


def test_content_of_a_folded_kind_is_folded_away_whatever_it_is() -> None:
    head, *body = _shown(_reported(TEXT, DIFF, IMAGE, kind="edit"), ConversationSettings(("edit",)))
    assert head == "  ✓ ✎ A call  a.py:7"
    assert [line.split()[1] for line in body] == ["…", "…", "[image:"]


def test_a_kind_that_is_not_folded_any_more_shows_its_content() -> None:
    assert "line 0" in "\n".join(_shown(_reported(TEXT, kind="read"), ConversationSettings(())))
    assert "line 0" not in "\n".join(_shown(_reported(TEXT, kind="read"), DEFAULT_FOLDS))


def test_a_call_that_failed_shows_why_whatever_is_folded() -> None:
    drawing = _reported(TEXT, kind="read", status="failed")
    assert "line 0" in "\n".join(_shown(drawing, DEFAULT_FOLDS))


# Thoughts

OPEN = ConversationSettings(thoughts="open")


def test_a_thought_is_one_line_until_it_is_opened() -> None:
    drawing = _drawing(thought("one\ntwo\nthree"))
    assert _shown(drawing, DEFAULT_FOLDS) == ["  ▸ one …"]
    drawing.toggle()
    assert _shown(drawing, DEFAULT_FOLDS) == ["  ▾ one", "    two", "    three"]


def test_the_line_of_a_folded_thought_is_read_as_markdown() -> None:
    drawing = _drawing(thought("**A plan** for `a.py`, *at last\n\n- one"))
    assert _shown(drawing, DEFAULT_FOLDS) == ["  ▸ A plan for a.py, at last …"]


def test_where_thoughts_are_open_each_can_be_shut_and_opened_again() -> None:
    drawing = _drawing(thought("one\ntwo\nthree"))
    assert len(_shown(drawing, OPEN)) == 3
    drawing.toggle()
    assert _shown(drawing, OPEN) == ["  ▸ one …"]
    drawing.toggle()
    assert len(_shown(drawing, OPEN)) == 3


def test_where_thoughts_are_open_folding_everything_again_leaves_them_as_set() -> None:
    drawing = _drawing(thought("one\ntwo\nthree"))
    _shown(drawing, OPEN)
    drawing.toggle()
    for is_open in (True, False):
        drawing.set_open(is_open)
        assert len(_shown(drawing, OPEN)) == 3


# From the settings to the screen


async def test_the_conversation_is_folded_as_the_settings_say(open_desk: OpenDesk) -> None:
    script = """
    update("agent_thought_chunk", content={"type": "text", "text": "one\\ntwo\\nthree"})
    text = "\\n\\n".join(f"line {number}" for number in range(20))
    call = {"status": "completed", "content": [{"type": "content", "content": {"type": "text", "text": text}}]}
    for kind in ("other", "edit"):
        call |= {"sessionUpdate": "tool_call", "toolCallId": kind, "title": f"Call {kind}", "kind": kind}
        send(method="session/update", params={"sessionId": "s1", "update": call})
    serve_until_closed()
    """
    settings = Settings(
        appearance=Appearance(images="off"),
        conversation=ConversationSettings(fold_kinds=("edit",), text_lines=3, thoughts="open"),
    )
    async with open_desk(SESSION, script, settings=settings) as desk:
        await desk.shows("two three", "line 1 … 36 more lines", "✎ Call edit … 39 lines")
        assert desk.view.images == "off"
