"""A line of the list: when, which way, what, how long it took, how large; which there are is the list's matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.transcript.frame_log import Kind
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.row_list import cut
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, width_cells
from acp_tui.workbench.inspect.entry import Form, Glimpse
from acp_tui.workbench.inspect.index import Row

NARROW_CELLS: Final = 56
"""Below, the size and what can be guessed are left out."""
ROOMY_CELLS: Final = 100
"""Below, the kind of an update has to do without its method, which is the same for all."""
ARROWS: Final = {Kind.IN: "←", Kind.OUT: "→", Kind.STDERR: "·", Kind.NOTE: "·"}


def row_strip(
    row: Row, glimpse: Glimpse, width: int, palette: Palette, waited_s: float | None = None
) -> Strip:
    """The row in so many cells; `waited_s` is how long a request is still waiting, None: no answer will come."""
    is_narrow = width < NARROW_CELLS
    end = "" if is_narrow else f"{size(row.size):>8}"
    spans = [
        *_begin(row, palette, is_narrow=is_narrow),
        *_what(row, glimpse, palette, waited_s, width),
    ]
    return Strip([*_fitted(spans, width - len(end)), Segment(end, palette.muted)])


def _begin(row: Row, palette: Palette, *, is_narrow: bool) -> Iterator[Span]:
    yield f"{row.at_s:6.1f} " if is_narrow else f"{row.at_s:9.3f} ", palette.muted
    yield ("!" if row.has_findings else " "), palette.warning
    yield f"{ARROWS[row.kind]} ", palette.accent if row.kind is Kind.OUT else palette.success


def _what(row: Row, glimpse: Glimpse, palette: Palette, waited_s: float | None, width: int) -> Iterator[Span]:
    about = make_visible_line(glimpse.about)
    request_id = f" ({make_visible_line(glimpse.request_id)})" if glimpse.request_id else ""
    name = palette.error if row.is_error else palette.strong
    match row.form:
        case Form.REQUEST:
            yield make_visible_line(row.label.method) + request_id, name
            if row.took_s is None:
                yield f" {waits(waited_s)}", palette.warning
            else:
                yield f" {duration(row.took_s)}", palette.muted
        case Form.RESPONSE:
            yield "re " if width < NARROW_CELLS else "response to ", palette.muted
            yield (make_visible_line(row.label.method) or "nothing that was asked") + request_id, name
            yield "" if row.took_s is None else f" in {duration(row.took_s)}", palette.muted
        case Form.NOTIFICATION:
            yield from _notification(row, name, palette, is_roomy=width >= ROOMY_CELLS)
        case Form.JUNK:
            yield "no message", palette.error if row.kind is Kind.IN else palette.muted
        case Form.TEXT:
            yield row.kind.value if row.kind is Kind.STDERR else "", palette.warning
    yield f"  {about}", palette.error if row.is_error else palette.muted


def _notification(row: Row, name: Style, palette: Palette, *, is_roomy: bool) -> Iterator[Span]:
    method, update = map(make_visible_line, row.label)
    if update and is_roomy:
        yield f"{method} ", palette.muted
    yield update or method, name


def _fitted(spans: Iterable[Span], width: int) -> Iterator[Segment]:
    """So much of the spans as there is room for, and blanks."""
    left = width
    for text, style in spans:
        shown = cut(text, left) if left > 1 else text[: max(left, 0)]
        yield Segment(shown, style)
        left -= width_cells(shown)
        if shown != text:
            break
    yield Segment(" " * max(left, 0))


def waits(waited_s: float | None) -> str:
    """Of a request without an answer: for how long, or that none will come."""
    if waited_s is None:
        return "no answer"
    return f"waits {_whole(int(waited_s))}" if waited_s >= 1 else "waits"


def duration(seconds: float) -> str:
    """As in 12 ms, 2.31 s or 3:04 min."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.00095 else "<1 ms"
    if seconds < 59.995:
        return f"{seconds:.2f} s"
    return _whole(seconds)


def _whole(seconds: float) -> str:
    """As in 12 s or 3:04 min."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"


def size(size_bytes: int) -> str:
    """As in 312 B or 1.2 KB."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value, unit = (size_bytes / 1e3, "KB") if size_bytes < 999_500 else (size_bytes / 1e6, "MB")
    return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
