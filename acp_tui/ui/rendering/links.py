"""Links to pages and files as styles: the terminal gets them as hyperlinks (OSC 8), and the view opens them.

A target consists of printable ASCII only, whatever an agent wrote, so it can't end the escape sequence around it.
"""

from __future__ import annotations

import os.path
import re
from functools import cache
from socket import gethostname
from typing import Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from acp_tui.conversation.web_address import misleads

NO_LINK: Final = Style.null()
MAX_CHARACTERS: Final = 2_000
"""Terminals drop longer targets, and some drop everything after them."""
_PAGES: Final = ("http://", "https://", "mailto:")
_FILES: Final = "file://"
_KEPT: Final = "!#$%&'()*+,/:;=?@[]~"
"""These characters are part of an address."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!\d)")
_LINE: Final = re.compile(r"(?:#L?|:)(\d{1,7})(?:[:-].*)?$")
# A file's name with a folder before it or a line after it. Other words may look like names: `json.loads`.
_PLACE: Final = re.compile(r"(?=.*(?:/|:\d))/?(?:[\w.@+-]+/)*[\w.@+-]*\.\w{1,10}(?::\d{1,7}){0,2}")


class FilePlace(NamedTuple):
    """A file, and a line of it if known."""

    path: str
    line: int | None


def to_page(address: str) -> Style:
    """The style of text that leads to a web page whose host doesn't mislead, or a mail address; no style for others."""
    is_page = address.startswith(_PAGES) and not misleads(address)
    return _link(quote(address, safe=_KEPT)) if is_page else NO_LINK


def to_file(folder: str, path: str, line: int | None = None) -> Style:
    """The style of text that leads to a file, relative to `folder`; no style if that is ""."""
    if not folder or "\0" in path:
        return NO_LINK
    file = os.path.normpath(f"{folder}/{path}" if not path.startswith("/") else path)
    # With the machine's name, a terminal on another one doesn't open a file of its own.
    return _link(f"{_FILES}{_host()}{quote(file, errors='replace')}{'' if line is None else f'#{line}'}")


def to_target(folder: str, target: str) -> Style:
    """The style for the target of a Markdown link: a page, or a file that may have a line (`a.py#L7`, `a.py:7`)."""
    if target.startswith("#") or not target:
        return NO_LINK
    if _SCHEME.match(target) or target.startswith("//"):
        return to_page(target)
    line = _LINE.search(target)
    path = unquote(target[: line.start()] if line else target.partition("#")[0])
    return to_file(folder, path, int(line[1]) if line else None)


def to_code(folder: str, code: str) -> Style:
    """The style for code in a sentence that looks like a place in a file (`src/a.py`, `a.py:7`)."""
    return to_target(folder, code) if folder and _PLACE.fullmatch(code) else NO_LINK


def _link(target: str) -> Style:
    return Style(link=target) if len(target) <= MAX_CHARACTERS else NO_LINK


@cache
def _host() -> str:
    return quote(gethostname(), safe="")


def file_of(target: str) -> FilePlace | None:
    """The file that a link made here leads to; None if it leads to a page."""
    if not target.startswith(_FILES):
        return None
    parts = urlsplit(target)
    return FilePlace(unquote(parts.path), int(parts.fragment) if parts.fragment else None)


class WithoutLinks(LineFilter):
    """Takes the links out of each drawn line, for those who don't want them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.style is None or segment.style.link is None
            else type(segment)(segment.text, segment.style.update_link(None), segment.control)
            for segment in segments
        ]
