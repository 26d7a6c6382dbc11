"""Images and sounds that say nothing, in the place of those that might; it decodes no more than an image's size."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Final

from acp_tui.workbench.redact.texts import bytes_of

GREY: Final = 128
MAX_PIXELS: Final = 50_000_000
_SILENCE: Final = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
    b"\x02\x00\x10\x00data\x00\x00\x00\x00"
)


def blanked(data: str) -> str:
    """A grey image of the same size and format, or silence; both in base64."""
    from PIL import Image, UnidentifiedImageError  # only where somebody asked for it

    try:
        with Image.open(io.BytesIO(bytes_of(data))) as image:
            size, kind = image.size, image.format or "PNG"
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return b64encode(_SILENCE).decode()
    if size[0] * size[1] > MAX_PIXELS:
        size, kind = (1, 1), "PNG"
    blank = io.BytesIO()
    Image.new("L", size, GREY).save(blank, kind)
    return b64encode(blank.getvalue()).decode()
