"""Makes text harmless to the Markdown page around it: the agent's own Markdown, single lines, and code."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from markdown_it import MarkdownIt

from acp_tui.conversation.visible import hidden_characters, make_visible, make_visible_line

if TYPE_CHECKING:
    from markdown_it.token import Token

WEB_OR_MAIL: Final = r"(?i:https?://|mailto:)"
"""A regular expression for the beginning of an address that a page may link to. All others are shown as text."""
_LINKABLE: Final = re.compile(rf"{WEB_OR_MAIL}[^\s<>\\]+", re.ASCII)
_MARKUP: Final = re.compile(r"[\\`*\[|]|(?<!\w)_|_(?!\w)|<(?=[\w/!?])|&(?=#|\w+;)|[~$](?=.*[~$])|#(?=#*$)")
_BLOCK_MARKUP: Final = re.compile(r"^(?:\d+(?=[.)])|(?=[-+=>#]))")
"""What would begin a list, quote, heading, or underline, up to the position for an escaping backslash."""


def literal(text: str) -> str:
    """`text` as a line that reads the same when rendered."""
    line = make_visible_line(text).strip()
    return _BLOCK_MARKUP.sub(r"\g<0>\\", _MARKUP.sub(r"\\\g<0>", line))


def address(uri: str) -> str:
    """A link that shows its target; plain text unless it leads to a page or a person.

    Others could lead to the reader's machine, or to something that runs.
    """
    shown = make_visible_line(uri)
    return f"<{shown}>" if shown == uri and _LINKABLE.fullmatch(uri) else literal(uri)


def fence(text: str, language: str = "") -> str:
    """`text` as a code block that can't end before the text does. `language` is a word of ours, never the agent's."""
    text = make_visible(text)
    ticks = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(text))])
    return f"{ticks}{language}\n{text}\n{ticks}"


LOWEST_HEADING: Final = 6
TAB_CELLS: Final = 4
"""According to CommonMark."""
MAX_PASSES: Final = 8
"""Two or three are enough for realistic text."""

_AUTOLINK: Final = rf"<{WEB_OR_MAIL}[^\s<>`|\\\[\]]+>"
_TARGET: Final = rf"\s*(?:{WEB_OR_MAIL}|{_AUTOLINK})"
_ACTIVE: Final = re.compile(
    r"\\."
    r"|`+"
    rf"|{_AUTOLINK}"
    r"|<(?=[A-Za-z/!?])"
    r"|!(?=\[)"
    # Only a literal web address is a link, so that no scheme can hide in references or escapes.
    rf"|\](?=\((?!{_TARGET})|:(?!{_TARGET}))"
    r"|&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});",
    re.DOTALL,
)
_REMOTE_IMAGE: Final = re.compile(
    r"!\[[^\[\]\\`\n]*(?=\]\(\s*<?https?://(?:[^\s/?#@\\]*@)?([\w.:-]+))", re.ASCII | re.IGNORECASE
)
_TICKS: Final = re.compile("`+")
_TABLE: Final = re.compile(r"\||:-|-:")
_CELL: Final = re.compile(r"(?:\\[^\n]|[^|\n])+")
_LINE_OF_HTML: Final = re.compile(r"\n[ >]*<(?=[A-Za-z/!?])(?!https?://)")


def contained(source: str, heading_shift: int) -> str:
    """`source` made harmless to its surroundings, with headings lowered by `heading_shift` levels."""
    source = _without_tabs(make_visible(source).strip("\n"))
    for _ in range(MAX_PASSES):
        tokens = _parser().parse(source)
        lines = source.split("\n")
        for start, stop in _written(tokens, len(lines)):
            lines[start:stop] = escaped("\n".join(lines[start:stop])).split("\n")
        # An escaped link definition is now a paragraph, which absorbs code below it.
        before, source = source, "\n".join(lines)
        if source == before:
            break
    else:
        return fence(source)
    end = _missing_end(tokens, lines)
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.map:
            _lower(lines, opening.map, opening.markup, content.content, heading_shift)
    return "\n".join([*(line for line in lines if line != _DROPPED), *end])


@cache
def _parser() -> MarkdownIt:
    # Without HTML and tables, both are paragraphs, and `escaped` handles everything inline.
    parser = MarkdownIt("commonmark", {"html": False})
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _without_tabs(source: str) -> str:
    """Replace tabs that may be structure with spaces, so that the structure stays the same inside a quote.

    After "> ", a tab is narrower, so code indented by a tab, or in a list, would no longer be code.
    """
    if "\t" not in source:
        return source
    fences = [token for token in _parser().parse(source) if token.type == "fence" and not token.level]
    code = {line for token in fences for line in range(*(token.map or (0, 0)))}
    lines = enumerate(source.split("\n"))
    return "\n".join(line if at in code else line.expandtabs(TAB_CELLS) for at, line in lines)


def _written(tokens: Sequence[Token], line_count: int) -> Iterator[tuple[int, int]]:
    """The lines that aren't code, by paragraph; line by line if the parser skipped them (too deeply nested)."""
    at = 0
    for token in tokens:
        if token.type in ("inline", "fence", "code_block") and token.map:
            start, stop = token.map
            yield from ((line, line + 1) for line in range(at, start))
            if token.type == "inline":
                yield start, stop
            at = max(at, stop)
    yield from ((line, line + 1) for line in range(at, line_count))


def _missing_end(tokens: Sequence[Token], lines: Sequence[str]) -> list[str]:
    """The line that closes a fence left open at the end. One in a list or a quote ends with it."""
    last = tokens[-1] if tokens else None
    if last is None or last.type != "fence" or last.level or not last.map:
        return []
    start, stop = last.map
    closing = rf" {{0,3}}{last.markup}{last.markup[0]}*[ \t]*"
    return [] if stop - start > 1 and re.fullmatch(closing, lines[stop - 1]) else [last.markup]


_DROPPED: Final = "\0"
"""Never occurs in visible text."""


def _lower(lines: list[str], place: Sequence[int], markup: str, content: str, shift: int) -> None:
    """Lower one heading. An underlined one gets hashes instead, because there are only two levels of those."""
    start, stop = place
    if markup[0] == "#":
        hashes = min(len(markup) + shift, LOWEST_HEADING)
        lines[start] = lines[start].replace(markup, "#" * hashes, 1)
        return
    first = content.split("\n")[0]
    before, found, _ = lines[start].partition(first)
    if found:
        hashes = min({"=": 1, "-": 2}[markup[0]] + shift, LOWEST_HEADING)
        lines[start] = f"{before}{'#' * hashes} {' '.join(content.split())}"
        lines[start + 1 : stop] = [_DROPPED] * (stop - start - 1)


def escaped(text: str) -> str:
    """A paragraph in which everything but plain Markdown is escaped. Code stays unchanged.

    Renderers that support tables look for code in each cell, others in the whole paragraph, so text that isn't code for
    either of them is escaped. HTML at the beginning of a line is escaped, too, because it ends the paragraph before
    code is recognized.
    """
    edits = {found.end() - 1: _Edit("\\") for found in _LINE_OF_HTML.finditer(text)}
    if _TABLE.search(text):
        for cell in _CELL.finditer(text):
            edits |= {cell.start() + at: edit for at, edit in _exposed(cell[0])}
    edits |= _exposed(text)
    pieces: list[str] = []
    start = 0
    for place in sorted(edits):
        pieces += text[start:place], edits[place].text
        start = place + edits[place].replaced
    return "".join([*pieces, text[start:]])


class _Edit(NamedTuple):
    """The text to write at a position, and how many characters it replaces."""

    text: str
    replaced: int = 0


def _exposed(text: str) -> Iterator[tuple[int, _Edit]]:
    """The positions outside code where HTML, an image, a link to elsewhere, or a misleading reference begins."""
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while found := _ACTIVE.search(text, at):
        at = found.end()
        match found[0]:
            case "<" | "]":
                yield found.start(), _Edit("\\")
            case "!":
                yield found.start(), _Edit("image: ", 1)
                if image := _REMOTE_IMAGE.match(text, found.start()):
                    yield image.end(), _Edit(f" ({image[1]})")
            case ticks if ticks[0] == "`":
                at = _end_of_code(runs.get(len(ticks), []), at, len(ticks))
            case reference if reference[0] == "&" and _is_misleading(reference):
                yield found.start(), _Edit("\\")


def _end_of_code(runs: Sequence[int], at: int, length: int) -> int:
    """The end of the code that begins at `at`; `at` itself if nothing closes it."""
    index = bisect_right(runs, at)
    return runs[index] + length if index < len(runs) else at


def _is_misleading(reference: str) -> bool:
    """Whether a character reference stands for a character that `make_visible` would replace."""
    char = html.unescape(reference)
    return not char or not hidden_characters().isdisjoint(char)
