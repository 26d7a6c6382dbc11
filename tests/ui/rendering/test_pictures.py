"""Pictures become lines: which pixels show where, how large, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode
from io import BytesIO

import pytest
from PIL import Image
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from acp_tui.ui.rendering import pictures
from acp_tui.ui.rendering.pictures import MAX_COLUMNS, MAX_ROWS, NotAPicture, block_picture, fit
from support.scenes import BLUE, GREEN, RED, WHITE, encoded, png_header, quarters


def _style(color: tuple[int, int, int], ground: tuple[int, int, int] | None = None) -> Style:
    return Style.from_color(Color.from_rgb(*color), Color.from_rgb(*ground) if ground else None)


def _measured(data: str, width: int) -> tuple[int, int]:
    """Columns and rows."""
    lines = block_picture(data).lines(width)
    (columns,) = {line.cell_length for line in lines}
    assert all(sum(segment.cell_length for segment in line) == columns for line in lines)
    return columns, len(lines)


# What shows


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP"])
def test_two_pixels_stand_one_above_the_other_in_a_cell(form: str) -> None:
    (line,) = block_picture(encoded(quarters(), form)).lines(80)
    assert list(line) == [Segment("▀", _style(RED, BLUE)), Segment("▀", _style(GREEN, WHITE))]


def test_a_jpeg_is_shown_as_far_as_its_format_keeps_colors() -> None:
    (line,) = block_picture(encoded(Image.new("RGB", (2, 2), RED), "JPEG")).lines(80)
    (segment,) = line
    assert segment.style is not None
    assert segment.style.color is not None
    triplet = segment.style.color.get_truecolor()
    assert all(abs(is_ - was) < 4 for is_, was in zip(triplet, RED, strict=True))


def test_cells_of_the_same_colors_are_one_segment() -> None:
    (line,) = block_picture(encoded(Image.new("RGB", (30, 2), RED))).lines(80)
    assert list(line) == [Segment("▀" * 30, _style(RED, RED))]


def test_the_background_is_seen_through_clear_pixels() -> None:
    image = Image.new("RGBA", (3, 2), (0, 0, 0, 0))
    image.putpixel((0, 0), (*RED, 255))
    image.putpixel((1, 1), (*BLUE, 255))
    (line,) = block_picture(encoded(image)).lines(80)
    assert list(line) == [Segment("▀", _style(RED)), Segment("▄", _style(BLUE)), Segment(" ")]


def test_below_an_odd_number_of_pixels_is_the_background() -> None:
    lines = block_picture(encoded(Image.new("RGB", (1, 3), RED))).lines(80)
    assert [list(line) for line in lines] == [[Segment("▀", _style(RED, RED))], [Segment("▀", _style(RED))]]


def test_a_photograph_is_turned_as_its_camera_was_held() -> None:
    image = Image.new("RGB", (8, 4), RED)
    exif = image.getexif()
    exif[0x0112] = 6
    file = BytesIO()
    image.save(file, "JPEG", exif=exif)
    picture = block_picture(b64encode(file.getvalue()).decode())
    assert (picture.size, len(picture.lines(80)), picture.lines(80)[0].cell_length) == ((4, 8), 4, 4)


def test_sixteen_bits_of_grey_are_not_all_white() -> None:
    (line,) = block_picture(encoded(Image.new("I;16", (1, 2), 0x4000))).lines(80)
    assert list(line) == [Segment("▀", _style((64, 64, 64), (64, 64, 64)))]


def test_an_animation_shows_its_first_picture() -> None:
    file = BytesIO()
    first, second = Image.new("RGB", (2, 2), RED), Image.new("RGB", (2, 2), BLUE)
    first.save(file, "GIF", save_all=True, append_images=[second])
    (line,) = block_picture(b64encode(file.getvalue()).decode()).lines(80)
    assert list(line) == [Segment("▀▀", _style(RED, RED))]


# How large


@pytest.mark.parametrize(
    ("size", "width", "cells"),
    [
        ((16, 8), 80, (16, 4)),
        ((1, 1), 80, (1, 1)),
        ((160, 90), 80, (71, 20)),
        ((160, 90), 10, (10, 3)),
        ((4_000, 20), 80, (80, 1)),
        ((20, 4_000), 80, (1, MAX_ROWS)),
        ((4_000, 1_000), 1_000, (MAX_COLUMNS, 15)),
        ((100, 100), 0, (1, 1)),
    ],
    ids=["as it is", "a dot", "to the rows", "narrow", "wide", "tall", "large", "no room"],
)
def test_a_picture_is_made_smaller_in_proportion_and_never_larger(
    size: tuple[int, int], width: int, cells: tuple[int, int]
) -> None:
    assert _measured(encoded(Image.new("RGB", size, RED)), width) == cells


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (1_920, 1_080), (3, 100_000), (100_000, 3)])
@pytest.mark.parametrize("room", [(1, 1), (2, 40), (10, 40), (77, 40), (120, 40)])
def test_what_fits_is_never_larger_than_the_room(size: tuple[int, int], room: tuple[int, int]) -> None:
    width, height = fit(size, room)
    assert 1 <= width <= min(size[0], room[0])
    assert 1 <= height <= min(size[1], room[1])


def test_the_same_width_gives_the_same_lines() -> None:
    picture = block_picture(encoded(quarters(40)))
    lines = picture.lines(30)
    assert picture.lines(20) is not lines
    assert picture.lines(30) is lines
    assert picture.lines(30)[0] is lines[0]


# What is refused


def _refusal(data: str) -> str:
    with pytest.raises(NotAPicture) as refused:
        block_picture(data)
    return str(refused.value)


def test_a_bomb_is_refused_by_its_header() -> None:
    assert _refusal(png_header(50_000, 50_000)) == "50000 × 50000 pixels are too many"


def test_more_bytes_than_are_decoded_are_refused_unseen() -> None:
    assert _refusal("A" * (pictures.MAX_BYTES // 3 * 4 + 4)) == "it is larger than 20 MB"


@pytest.mark.parametrize("data", ["aGVsbG8=", "", encoded(quarters(), "BMP"), encoded(quarters(), "TIFF")])
def test_other_formats_are_refused(data: str) -> None:
    assert _refusal(data) == "not PNG, JPEG, GIF, or WebP"


@pytest.mark.parametrize("data", ["n't base64!", "é", "a", "iVBORw0KGgo\n="])
def test_what_is_not_base64_is_refused(data: str) -> None:
    assert _refusal(data) == "its data isn't base64"


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_ends_too_early_is_refused(form: str) -> None:
    whole = encoded(Image.effect_noise((60, 60), 80).convert("RGB"), form)
    half = whole[: len(whole) // 8 * 4]
    assert _refusal(half) in ("its data is corrupt", "not PNG, JPEG, GIF, or WebP")


def test_data_that_its_header_does_not_keep_its_word_on_is_refused() -> None:
    assert _refusal(png_header(40, 40)) == "its data is corrupt"


# What it costs


def test_the_decoder_is_not_loaded_before_there_is_a_picture() -> None:
    program = (
        "import sys, acp_tui.ui.rendering.pictures, acp_tui.ui.rendering.kitty, acp_tui.ui.conversation.images\n"
        "print([name for name in sys.modules if name.startswith('PIL')])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_only_the_rows_that_are_looked_at_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    row = pictures.row_of
    monkeypatch.setattr(pictures, "row_of", lambda *pixels: made.append(1) or row(*pixels))
    lines = block_picture(encoded(quarters(40))).lines(80)
    assert (len(lines), lines[3], lines[3]) == (20, lines[3], lines[3])
    assert len(made) == 1
