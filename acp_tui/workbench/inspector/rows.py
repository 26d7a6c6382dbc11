"""A row of the list: time, direction, content, duration, and size. The list decides which rows to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from acp_tui.client.transcript.events import Header
from acp_tui.client.transcript.frame_log import LineKind
from acp_tui.conversation import wording
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Span, cut, width_cells
from acp_tui.workbench.inspect.index import IndexRow, LineSummary, MessageKind
from acp_tui.workbench.inspect.inspection import Inspection

NARROW_CELLS: Final = 56
"""Below this width, the size is left out and words are shortened."""
ROOMY_CELLS: Final = 100
"""Below this width, the kind of an update is shown without its method, which is always the same."""
ARROWS: Final = {LineKind.IN: "←", LineKind.OUT: "→", LineKind.STDERR: "·", LineKind.NOTE: "·"}


def row_strip(
    row: IndexRow, glimpse: LineSummary, width: int, palette: Palette, waited_s: float | None = None
) -> Strip:
    """Draw a row `width` cells wide. `waited_s` is how long a request has been waiting; None: no response will come."""
    is_narrow = width < NARROW_CELLS
    end = "" if is_narrow else f"{size(row.size):>8}"
    spans = [*_begin(row, palette, is_narrow=is_narrow), *_what(row, glimpse, palette, waited_s, width)]
    return Strip([*_fitted(spans, width - len(end)), Segment(end, palette.muted)])


def margin(palette: Palette, *, is_at_cursor: bool) -> Segment:
    """The cell before each line, which marks the one under the cursor."""
    return Segment("▎" if is_at_cursor else " ", palette.accent)


def _begin(row: IndexRow, palette: Palette, *, is_narrow: bool) -> Iterator[Span]:
    yield f"{row.at_s:6.1f} " if is_narrow else f"{row.at_s:9.3f} ", palette.muted
    yield ("!" if row.has_findings else " "), palette.warning
    yield f"{ARROWS[row.kind]} ", palette.accent if row.kind is LineKind.OUT else palette.success


def _what(row: IndexRow, glimpse: LineSummary, palette: Palette, waited_s: float | None, width: int) -> Iterator[Span]:
    about = make_visible_line(glimpse.about)
    request_id = f" ({make_visible_line(glimpse.request_id)})" if glimpse.request_id else ""
    name = palette.error if row.is_error else palette.strong
    match row.form:
        case MessageKind.REQUEST:
            yield make_visible_line(row.label.method) + request_id, name
            if row.took_s is None:
                yield f" {waits(waited_s)}", palette.warning
            else:
                yield f" {duration(row.took_s)}", palette.muted
        case MessageKind.RESPONSE:
            yield "re " if width < NARROW_CELLS else "response to ", palette.muted
            yield (make_visible_line(row.label.method) or "no request") + request_id, name
            yield "" if row.took_s is None else f" in {duration(row.took_s)}", palette.muted
        case MessageKind.NOTIFICATION:
            yield from _notification(row, name, palette, is_roomy=width >= ROOMY_CELLS)
        case MessageKind.JUNK:
            yield "no message", palette.error if row.kind is LineKind.IN else palette.muted
        case MessageKind.TEXT:
            yield row.kind.value if row.kind is LineKind.STDERR else "", palette.warning
    yield f"  {about}", palette.error if row.is_error else palette.muted


def _notification(row: IndexRow, name: Style, palette: Palette, *, is_roomy: bool) -> Iterator[Span]:
    method, update = map(make_visible_line, row.label)
    if update and is_roomy:
        yield f"{method} ", palette.muted
    yield update or method, name


def _fitted(spans: Iterable[Span], width: int) -> Iterator[Segment]:
    """As much of the spans as fits, padded with blanks."""
    left = width
    for text, style in spans:
        shown = cut(text, left) if left > 1 else text[: max(left, 0)]
        yield Segment(shown, style)
        left -= width_cells(shown)
        if shown != text:
            break
    yield Segment(" " * max(left, 0))


def waits(waited_s: float | None) -> str:
    """How long a request has been waiting for its response, or that none will come."""
    if waited_s is None:
        return "no answer"
    return f"waits {wording.duration(int(waited_s))}" if waited_s >= 1 else "waits"


def duration(seconds: float) -> str:
    """Format as 12 ms, 2.31 s, or 3 min 4 s."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.00095 else "<1 ms"
    return f"{seconds:.2f} s" if seconds < 59.995 else wording.duration(seconds)


def size(size_bytes: int) -> str:
    """Format as 312 B or 1.2 KB."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value, unit = (size_bytes / 1e3, "KB") if size_bytes < 999_500 else (size_bytes / 1e6, "MB")
    return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"


BETWEEN: Final = Content(" · ")


def progress_line(inspection: Inspection, *, follows: bool, keys: str, width: int) -> Content:
    """The status, and the hints in `keys`, separated by semicolons, that fit."""
    parts = [
        Content.styled(make_visible_line(text), style) for text, style in _parts(inspection, follows=follows) if text
    ]
    said = BETWEEN.join(parts)
    for hint in keys.split("; "):
        longer = Content.assemble(said, (f" · {hint}", "$foreground-muted"))
        if longer.cell_length > width:
            break
        said = longer
    return said.truncate(width, ellipsis=True)


def title_of(heading: str, header: Header) -> Content:
    """What is being inspected: its name, agent, and start time."""
    agent = header.agent if header.agent != heading else ""
    began = began_at(header.started_at)
    about = " · ".join(filter(None, (make_visible_line(agent), f"{began:%Y-%m-%d %H:%M}" if began else "")))
    return Content.assemble(
        ("Inspector", "bold"),
        BETWEEN,
        (make_visible_line(heading), "bold"),
        (f" · {about}" if about else "", "$foreground-muted"),
    )


def began_at(started_at: str) -> datetime | None:
    """The local start time; None if unknown."""
    try:
        return datetime.fromisoformat(started_at).astimezone()
    except (ValueError, OverflowError):  # dates close to the limits can't change time zones
        return None


def _parts(inspection: Inspection, *, follows: bool) -> Iterator[tuple[str, str]]:
    lines, gone, checked = inspection.index.end, inspection.source.first, inspection.checked
    yield f"{lines:,} frames" + (", reading" if inspection.has_more else ""), ""
    if gone:
        yield f"the first {gone:,} are only in the recording", "$text-warning"
    if inspection.query:
        yield f"{inspection.count:,} shown: {' '.join(map(str, inspection.query))}", "$text-accent"
    yield _waiting(inspection), "$text-warning"
    if inspection.searched < lines:
        yield f"searched {_percent(inspection.searched, lines)}", ""
    if inspection.notes:
        yield f"{len(inspection.notes):,} break rules", "$text-warning"
    if checked < lines and not follows:
        yield f"rules {_percent(checked, lines)}", ""
    if follows:
        yield "following", "$text-success"
    yield inspection.failure, "$text-error"


def _waiting(inspection: Inspection) -> str:
    """The request waiting longest; for a recording, how many requests have no response."""
    waiting = inspection.index.waiting
    if not waiting:
        return ""
    foremost = inspection.index.row(waiting[0])
    waited_s = inspection.waited_s(foremost)
    if waited_s is None:
        return f"{len(waiting):,} without an answer"
    others = f" and {len(waiting) - 1:,} more" if len(waiting) > 1 else ""
    return f"{foremost.label.method} {waits(waited_s)}{others}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
