"""The last line of the inspector: how many frames there are and are shown, how far the work has come."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from acp_tui.client.inspection.inspection import Inspection
from acp_tui.conversation.visible import make_visible_line


def standing_of(inspection: Inspection, *, follows: bool, keys: str) -> Content:
    """As much as is to be said now; `keys` where there is little."""
    parts = [(text, style) for text, style in _parts(inspection, follows=follows) if text]
    if len(parts) <= 2:
        parts.append((keys, "$foreground-muted"))
    return Content(" · ").join(Content.styled(make_visible_line(text), style) for text, style in parts)


def _parts(inspection: Inspection, *, follows: bool) -> Iterator[tuple[str, str]]:
    now = inspection.standing
    if inspection.is_raw:
        yield "RAW: secrets are shown and kept", "bold $text-error"
    yield f"{now.lines:,} frames" + (", reading" if now.is_reading else ""), ""
    if now.gone:
        yield f"the first {now.gone:,} are gone: they are in the recording", "$text-warning"
    if inspection.query:
        yield f"{now.shown:,} shown: {' '.join(map(str, inspection.query))}", "$text-accent"
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


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
