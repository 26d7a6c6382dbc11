"""Small pictures, made on demand, as base64."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw

RED: Final = (200, 30, 40)
GREEN: Final = (30, 160, 60)
BLUE: Final = (40, 70, 210)
WHITE: Final = (240, 240, 240)


def encoded(image: Image.Image, form: str = "PNG") -> str:
    """The picture in this format; WebP is lossless."""
    file = BytesIO()
    image.save(file, form, lossless=True) if form == "WEBP" else image.save(file, form)
    return b64encode(file.getvalue()).decode("ascii")


def quarters(side: int = 2) -> Image.Image:
    """Red and green above, blue and white below."""
    small = Image.new("RGB", (2, 2))
    small.putdata([RED, GREEN, BLUE, WHITE])
    return small.resize((side, side), Image.Resampling.NEAREST)


def chart() -> Image.Image:
    """Bars and a disc on a transparent background, 64 by 36 pixels."""
    image = Image.new("RGBA", (64, 36), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    for number, (height, color) in enumerate(((12, BLUE), (20, GREEN), (16, RED), (30, BLUE))):
        draw.rectangle((4 + number * 15, 36 - height, 13 + number * 15, 35), fill=color)
    draw.ellipse((20, 2, 31, 13), fill=(230, 180, 40))
    return image


def png_header(width: int, height: int) -> str:
    """A PNG file that claims this size but contains no pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for chunk in (header, b"IDAT" + zlib.compress(bytes(100)), b"IEND"):
        data += struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return b64encode(data).decode("ascii")
