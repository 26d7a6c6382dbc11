"""Writes a conversation as one HTML page that needs nothing beside it; what stands on it is decided in `outline`.

No script, no style but the page's own, nothing loaded from anywhere: a content security policy says so to the browser
as well. Everything from outside is made visible and escaped; Markdown is rendered by `html_prose`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final, assert_never

from acp_tui.client.export.outline import ExportFacts, header_rows, heading, sections
from acp_tui.client.export.parts import (
    Code,
    Folded,
    Link,
    Note,
    Part,
    Picture,
    Prose,
    Section,
    Steps,
    Typed,
    is_linkable,
)
from acp_tui.client.export.tool_calls import PlainText
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.visible import make_visible, make_visible_line

PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Not SVG: it is a document that can hold scripts and load things."""
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DIFF_CLASSES: Final = {"+": "added", "-": "removed", "@": "hunk", "\\": "hunk"}


def to_html(conversation: Conversation, facts: ExportFacts, plain_text: PlainText) -> str:
    """The page, whole."""
    return "".join(_page(conversation, facts, plain_text))


def _page(conversation: Conversation, facts: ExportFacts, plain_text: PlainText) -> Iterator[str]:
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    policy = _POLICY.format(digest=b64encode(sha256(style.encode()).digest()).decode())
    title = _line(heading(conversation, facts))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<dl>\n"
    )
    for name, value in header_rows(facts):
        yield f"<dt>{name}</dt><dd>{_line(value)}</dd>\n"
    yield "</dl>\n</header>\n<main>\n"
    for section in sections(conversation, facts, plain_text):
        yield from _section(section)
    yield "</main>\n</body>\n</html>\n"


def _section(section: Section) -> Iterator[str]:
    title = f"<h2>{_line(section.title)}</h2>"
    yield f'<section class="{section.kind}">\n'
    if section.is_folded:
        yield f"<details>\n<summary>{title}</summary>\n{_parts(section.parts)}</details>\n"
    else:
        yield f"{title}\n{_parts(section.parts)}"
    yield "</section>\n"


def _parts(parts: Iterable[Part]) -> str:
    return "".join(f"{_part(part)}\n" for part in parts)


def _part(part: Part) -> str:
    match part:
        case Prose(text):
            from acp_tui.client.export.html_prose import render  # loads the Markdown parser

            return f'<div class="prose">{render(text)}</div>'
        case Typed(text):
            return f'<div class="typed">{_text(text)}</div>'
        case Code(text, language):
            return f"<pre><code>{_diff(text) if language == 'diff' else _text(text)}</code></pre>"
        case Note(text, is_problem):
            return f'<p class="{"problem" if is_problem else "note"}">{_line(text)}</p>'
        case Picture():
            return _picture(part)
        case Link(label, uri):
            return f'<p class="note">{_line(label)}: {_address(uri)}</p>'
        case Folded(title, parts):
            return f"<details>\n<summary>{_line(title)}</summary>\n{_parts(parts)}</details>"
        case Steps(steps):
            items = (f"<li>{'☑' if is_done else '☐'} {_line(text)}</li>\n" for is_done, text in steps)
            return f'<ul class="steps">\n{"".join(items)}</ul>'
        case _:
            assert_never(part)


def _diff(text: str) -> str:
    """The lines of a diff, marked by what they begin with; the two that name the file are neither of them changes."""
    lines = text.split("\n")
    marked = [f'<span class="hunk">{_text(line)}</span>' for line in lines[:2]]
    for line in lines[2:]:
        shown = _text(line)
        kind = _DIFF_CLASSES.get(line[:1])
        marked.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
    return "\n".join(marked)


def _picture(picture: Picture) -> str:
    data = "".join(picture.data.split())
    if picture.mime_type not in PICTURE_TYPES or not _BASE64.fullmatch(data):
        return f'<p class="note">{_line(picture.label)}</p>'
    return f'<img src="data:{picture.mime_type};base64,{data}" alt="{_line(picture.label)}">'


def _address(uri: str) -> str:
    """A link that shows where it leads, or the text where that is nothing to click on."""
    shown = _line(uri)
    if make_visible_line(uri) != uri or not is_linkable(uri):
        return shown
    return f'<a class="bare" rel="noopener noreferrer" href="{shown}">{shown}</a>'


def _text(text: str) -> str:
    return escape(make_visible(text))


def _line(text: str) -> str:
    return escape(make_visible_line(text))
