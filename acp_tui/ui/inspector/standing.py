"""The last line of the inspector: how many frames there are and are shown, how far the work has come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from textual.content import Content

from acp_tui.client.transcript.events import Header
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.inspector.rows import waits
from acp_tui.workbench.inspect.inspection import Inspection, Standing

BETWEEN: Final = Content(" · ")


def standing_of(inspection: Inspection, *, follows: bool, keys: str, width: int) -> Content:
    """What is to be said now, and of the hints in `keys`, which stand between semicolons, those that have room."""
    parts = [
        Content.styled(make_visible_line(text), style)
        for text, style in _parts(inspection, follows=follows)
        if text
    ]
    said = BETWEEN.join(parts)
    for hint in keys.split("; "):
        longer = Content.assemble(said, (f" · {hint}", "$foreground-muted"))
        if longer.cell_length > width:
            break
        said = longer
    return said.truncate(width, ellipsis=True)


def title_of(heading: str, header: Header) -> Content:
    """What is looked at: its name, whose it is, and when it began."""
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
    """By the clock here; None where it is not known."""
    try:
        return datetime.fromisoformat(started_at).astimezone()
    except (ValueError, OverflowError):  # the first and the last days have no other time zones
        return None


def _parts(inspection: Inspection, *, follows: bool) -> Iterator[tuple[str, str]]:
    now = inspection.standing
    if inspection.is_raw:
        yield "RAW: secrets are shown and kept", "bold $text-error"
    yield f"{now.lines:,} frames" + (", reading" if now.is_reading else ""), ""
    if now.gone:
        yield f"the first {now.gone:,} are gone: they are in the recording", "$text-warning"
    if inspection.query:
        yield f"{now.shown:,} shown: {' '.join(map(str, inspection.query))}", "$text-accent"
    yield _waiting(inspection, now), "$text-warning"
    if now.found is not None:
        yield f"{now.found:,} found", "$text-accent"
    if now.searched < inspection.index.end:
        yield f"searched {_percent(now.searched, now.lines)}", ""
    if now.breaches:
        yield f"{now.breaches:,} break rules", "$text-warning"
    if now.checked < now.lines and not follows:
        yield f"rules {_percent(now.checked, now.lines)}", ""
    if follows:
        yield "following", "$text-success"
    yield inspection.failure, "$text-error"


def _waiting(inspection: Inspection, now: Standing) -> str:
    """Which request waits for its answer; in a recording how many have none."""
    if now.foremost is None:
        return ""
    waited_s = inspection.waited_s(now.foremost)
    if waited_s is None:
        return f"{now.waiting:,} without an answer"
    others = f" and {now.waiting - 1:,} more" if now.waiting > 1 else ""
    return f"{now.foremost.label.method} {waits(waited_s)}{others}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
