"""Pictures in a conversation: first a box, then the picture, decoded once and off the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image as Pillow
from textual.app import App
from textual.pilot import Pilot

from acp_tui.conversation.content import Audio, BlobResource, ContentBlock, Image, Text
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import MessageChunk, PromptSent, SessionUpdate
from acp_tui.ui.base.app import picture_of
from acp_tui.ui.conversation import images
from acp_tui.ui.conversation.drawing import DEFAULT_FOLDS
from acp_tui.ui.conversation.images import way_for
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.rendering.ascii import Ascii
from acp_tui.ui.rendering.kitty import PLACEHOLDER
from acp_tui.ui.rendering.pictures import Picture, block_picture
from acp_tui.ui.textual_gaps.driver import FramePacer
from acp_tui.ui.textual_gaps.flow_control import FlowControl
from acp_tui.ui.textual_gaps.shown_rows import LeanUpdate
from support.folding import agent, call, prompt
from support.scenes import chart, encoded, png_header, quarters
from support.screens import Page, ScreenApp, new_session, open_page, settled, show
from support.settling import until_so

PICTURE = encoded(quarters(8))
LABEL = "image: PNG"
PIXELS = "▀▀▀▀▀▀▀▀"


class Decoder:
    """Decodes when told to, and records in which thread and how often it did."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.threads: list[int] = []

    def __call__(self, data: str) -> Picture:
        assert self.go_on.wait(30)
        self.threads.append(threading.get_ident())
        return block_picture(data)


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Decoder]:
    made = Decoder()
    monkeypatch.setattr(images, "block_picture", made)
    yield made
    made.go_on.set()


@pytest.fixture(autouse=True)
def _in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def _image(data: str = PICTURE) -> Image:
    return Image(data, "image/png")


def _says(block: ContentBlock, message_id: str = "m") -> SessionUpdate:
    return MessageChunk("agent", block, message_id)


def _shows(*blocks: ContentBlock, kind: str = "other") -> SessionUpdate:
    content = tuple(map(BlockContent, blocks))
    return call("c", title="Draw", kind=kind, status="completed", content=content)


async def _drawn(page: Page) -> None:
    """Wait until a thread has made all pictures."""
    await page.until(lambda: page.view.is_settled)
    await page.settled()


async def test_a_picture_of_the_users_is_small_until_it_is_unfolded() -> None:
    async with open_page(PromptSent((Text("See"), _image(encoded(quarters(200)))))) as page:
        await _drawn(page)
        assert "200 × 200" in page.text
        assert page.text.count("▀" * 12) == 6
        await page.press("ctrl+o")
        await _drawn(page)
        assert page.text.count("▀" * 40) == 20


# Where pictures show


@pytest.mark.parametrize(
    "update",
    [_says(_image()), PromptSent((Text("Look:"), _image())), _shows(_image())],
    ids=["agent", "user", "tool call"],
)
async def test_a_box_is_shown_until_the_picture_is_there(update: SessionUpdate, decoder: Decoder) -> None:
    async with open_page(is_shown=False) as page:
        page.session.apply(update)
        await page.tab.show(page.session, "Agent")
        await page.until(lambda: f"│ {LABEL}" in page.text)
        assert not page.view.is_settled
        assert PIXELS not in page.text
        decoder.go_on.set()
        await _drawn(page)
        assert page.text.count(PIXELS) == 4
        assert f"│ {LABEL}" not in page.text.replace("    │ image", "")
        assert "8 × 8" in page.text
        assert threading.get_ident() not in decoder.threads


async def test_what_stands_below_is_moved_by_the_picture() -> None:
    async with open_page(_says(_image()), agent("below", "n")) as page:
        await _drawn(page)
        rows = [number for number, line in enumerate(page.lines) if PIXELS in line]
        assert rows == list(range(rows[0], rows[0] + 4))
        assert next(number for number, line in enumerate(page.lines) if "below" in line) > rows[-1]


async def test_a_picture_is_decoded_once_for_many_places_and_frames(decoder: Decoder) -> None:
    decoder.go_on.set()
    async with open_page(_says(_image()), _shows(_image())) as page:
        await _drawn(page)
        for number in range(5):
            await page.apply(agent(f"more {number}", "m"))
        page.pilot.app.theme = LIGHT.name
        await page.settled()
        await page.pilot.resize_terminal(60, 50)
        await _drawn(page)
        assert page.text.count(PIXELS) == 8
        assert len(decoder.threads) == 1


async def test_a_message_that_grows_keeps_the_lines_of_its_picture() -> None:
    async with open_page(_says(Text("Look:")), _says(_image()), _says(Text("and"))) as page:
        await _drawn(page)
        scene = page.view.current_context()
        before = list(page.view.column.drawings[0].lines(scene))
        await page.apply(_says(Text(" more")))
        after = list(page.view.column.drawings[0].lines(scene))
        assert [line is old for line, old in zip(after, before, strict=True)].count(False) == 1


async def test_a_picture_that_an_agent_has_read_is_shown_when_its_call_is_opened() -> None:
    async with open_page(_shows(_image(), kind="read")) as page:
        assert f"[{LABEL}" in page.text
        await page.press("ctrl+o")
        await _drawn(page)
        assert page.text.count(PIXELS) == 4


async def test_a_picture_of_a_conversation_that_is_gone_changes_nothing(decoder: Decoder) -> None:
    async with open_page(is_shown=False) as page:
        page.session.apply(_says(_image()))
        await page.tab.show(page.session, "Agent")
        await page.until(lambda: LABEL in page.text)
        page.view.show(new_session(agent("another one")).conversation)
        decoder.go_on.set()
        await _drawn(page)
        assert "another one" in page.text


# Where they don't


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("aGVsbG8=", "not PNG, JPEG, GIF, or WebP"),
        (PICTURE[:80], "its data is corrupt"),
        ("%", "its data isn't base64"),
        (png_header(50_000, 50_000), "50000 × 50000 pixels are too many"),
    ],
)
async def test_a_picture_that_cannot_be_shown_is_a_box_that_says_why(data: str, reason: str) -> None:
    async with open_page(_says(_image(data))) as page:
        await _drawn(page)
        assert f"│ {LABEL}" in page.text
        assert f"│ not shown: {reason}" in page.text


async def test_a_decoder_that_fails_leaves_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> Picture:
        raise MemoryError

    monkeypatch.setattr(images, "block_picture", fail)
    async with open_page(_says(_image())) as page:
        await _drawn(page)
        assert "│ not shown: it can't be decoded" in page.text


async def test_sounds_and_files_are_boxes_with_kind_and_size() -> None:
    sound, file = Audio("aGVsbG8=", "audio/wav"), BlobResource("file:///a/b.z", "aGVsbG8=")
    async with open_page(_says(sound), _says(file)) as page:
        await _drawn(page)
        assert "│ audio: WAV, 5 bytes │" in page.text
        assert "│ file: /a/b.z, 5 bytes │" in page.text


async def test_a_box_in_little_room_has_no_frame_and_no_line_is_too_long() -> None:
    async with open_page(_says(Audio("aGVsbG8=", "audio/wav")), _says(_image()), size=(12, 40)) as page:
        await _drawn(page)
        scene = page.view.current_context()
        lines = page.view.column.drawings[0].lines(scene)
        assert max(line.cell_length for line in lines) <= scene.width


async def test_the_terminals_own_colors_draw_no_picture() -> None:
    async with open_page(_says(_image()), theme="ansi-dark") as page:
        await _drawn(page)
        assert f"│ {LABEL}" in page.text
        assert PIXELS not in page.text
        page.pilot.app.theme = DARK.name
        await _drawn(page)
        assert page.text.count(PIXELS) == 4


async def test_no_colors_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_page(_says(_image())) as page:
        await _drawn(page)
        assert f"│ {LABEL}" in page.text
        assert PIXELS not in page.text


KITTY = {"TERM": "xterm-kitty"}


@pytest.mark.parametrize(
    ("wanted", "environ", "color_system", "way"),
    [
        ("auto", {}, "truecolor", "sixel"),
        ("auto", {}, "256", "sixel"),
        ("auto", {}, "standard", "off"),
        ("auto", {}, None, "off"),
        ("auto", KITTY, "truecolor", "kitty"),
        ("auto", KITTY, "256", "sixel"),
        ("auto", KITTY, None, "off"),
        ("kitty", {}, "truecolor", "kitty"),
        ("kitty", {}, "256", "blocks"),
        ("blocks", KITTY, "truecolor", "blocks"),
        ("blocks", {}, "truecolor", "blocks"),
        ("sixel", KITTY, "truecolor", "sixel"),
        ("sixel", {}, "standard", "off"),
        ("auto", {"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, "truecolor", "blocks"),
        ("auto", {"TERM": "screen.xterm-256color"}, "256", "blocks"),
        ("sixel", {"ZELLIJ": "0"}, "truecolor", "blocks"),
        ("off", KITTY, "truecolor", "off"),
    ],
)
def test_the_best_way_is_taken_that_the_terminal_has_and_the_user_wants(
    wanted: Any, environ: dict[str, str], color_system: str | None, way: str
) -> None:
    assert way_for(wanted, environ, color_system) == way


# In terminals that draw them

GRAPHIC = "\x1bP0;1q"


class DrawingTerminal:
    """A terminal with graphics, which takes whatever it is sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, draws_sixel: bool = True) -> None:
        self.draws_sixel = draws_sixel
        self.flow = FlowControl()
        self.cell: tuple[int, int] | None = (10, 20)
        self.frames: list[str] = []

        def display(app: App[Any], _: object, frame: Any) -> None:
            if isinstance(frame, LeanUpdate):
                self.frames.append(frame.render_segments(app.console))

        monkeypatch.setattr(FramePacer, "terminal", self)
        monkeypatch.setattr(FramePacer, "cell_size", lambda _: self.cell)
        monkeypatch.setattr(App, "_display", display)

    def has_input_since(self, _: float) -> bool:
        return False

    def takes_graphics(self) -> bool:
        return any(GRAPHIC in frame for frame in self.frames)


@pytest.mark.usefixtures("paints")
async def test_a_terminal_with_graphics_draws_pictures_and_a_saved_screen_has_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = DrawingTerminal(monkeypatch)
    async with open_page(_says(_image(encoded(quarters(60))))) as page:
        await page.until(terminal.takes_graphics)
        await _drawn(page)
        saved = picture_of(page.pilot.app)
        assert "▀" in saved
        assert PLACEHOLDER not in saved
        assert "\x1b" not in saved
        assert "▀▀▀▀▀█" in page.text


@pytest.mark.usefixtures("paints")
async def test_a_dialog_over_a_picture_dims_it_and_leaves_it_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = DrawingTerminal(monkeypatch)
    async with open_page(_says(_image(encoded(quarters(60)))), size=(140, 40)) as page:
        await page.until(terminal.takes_graphics)
        await _drawn(page)
        terminal.frames.clear()
        await page.press("f1")
        await page.until(lambda: "▀" in "".join(terminal.frames))
        assert not terminal.takes_graphics()
        await page.press("escape")
        await page.until(terminal.takes_graphics)


@pytest.mark.parametrize(
    ("wanted", "draws_sixel", "cell"), [("auto", False, (10, 20)), ("auto", True, None), ("sixel", True, None)]
)
@pytest.mark.usefixtures("paints")
async def test_other_terminals_get_blocks(
    wanted: Any, draws_sixel: bool, cell: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = DrawingTerminal(monkeypatch, draws_sixel=draws_sixel)
    terminal.cell = cell
    async with open_page(agent("Look:", "a")) as page:
        page.view.show_as(DEFAULT_FOLDS, wanted)
        await page.apply(_says(_image()))
        await page.until(lambda: PIXELS in page.text)
        await _drawn(page)
        assert not terminal.takes_graphics()


@pytest.mark.usefixtures("paints")
async def test_who_wants_graphics_gets_them_from_a_terminal_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = DrawingTerminal(monkeypatch, draws_sixel=False)
    async with open_page(agent("Look:", "a")) as page:
        page.view.show_as(DEFAULT_FOLDS, "sixel")
        await page.apply(_says(_image()))
        await page.until(terminal.takes_graphics)


HOSTILE = f"{GRAPHIC}#1;2;100;0;0#1~\x1b\\ {PLACEHOLDER}\u0305\u0305"


@pytest.mark.usefixtures("paints")
async def test_no_text_of_an_agent_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = DrawingTerminal(monkeypatch)
    async with open_page(agent(f"{HOSTILE} end of it", "m"), _shows(Text(HOSTILE))) as page:
        await page.until(lambda: "end of it" in "".join(terminal.frames))
        await _drawn(page)
        assert not terminal.takes_graphics()


# Pictures of them: `--snapshot-update` updates them; look at each


@pytest.mark.parametrize("theme", [DARK.name, LIGHT.name])
@pytest.mark.parametrize("size", [(80, 60), (30, 60)], ids=["wide", "narrow"])
def test_pictures_look_as_they_did(theme: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    async def show_pictures(pilot: Pilot[Any]) -> None:
        photograph = encoded(Pillow.merge("RGB", [Pillow.linear_gradient("L").resize((160, 60))] * 3))
        updates = (
            PromptSent((Text("Make it like this:"), Image(encoded(chart()), "image/png"))),
            agent("Here it is:", "m"),
            _says(_image(photograph)),
            _says(Text("and how it sounds:")),
            _says(Audio("aGVsbG8=", "audio/wav")),
            _says(_image("aGVsbG8=")),
            _shows(Text("Drawn:"), _image(encoded(chart()))),
            prompt("Thanks"),
        )
        await show(pilot, new_session(*updates))
        await until_so(pilot, lambda: images_are_there(pilot))
        await settled(pilot)

    assert snap_compare(ScreenApp(theme=theme), terminal_size=size, run_before=show_pictures)


def images_are_there(pilot: Pilot[Any]) -> bool:
    """Whether no picture is being made."""
    return all(view.is_settled for view in pilot.app.screen.query("ConversationView").results())


async def test_where_only_ascii_is_shown_pictures_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScreenApp, "get_line_filters", lambda _app: [Ascii()])
    async with open_page(_says(_image())) as page:
        await _drawn(page)
        assert LABEL in page.text
        assert PIXELS not in page.text
        monkeypatch.undo()
        page.view.show_as(DEFAULT_FOLDS, "auto")
        await page.until(lambda: PIXELS in page.text)
