"""Draws a form or page that an agent asked about, with the user's answer. It can't be filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from textual.content import Content

from acp_tui.client.secrets.masking import MASK
from acp_tui.client.sessions.elicitations import words_of
from acp_tui.conversation import elicitation
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.dialog import shown
from acp_tui.values import dataclass

ACTIONS: Final[dict[ElicitationAction, str]] = {
    "accept": "accepted",
    "decline": "declined",
    "cancel": "closed without an answer",
}
UNANSWERED: Final = "unanswered in this recording"
MAX_TITLE_CELLS: Final = 24
MUTED: Final = "$foreground-muted"


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """The answer to a form or page."""

    action: ElicitationAction
    after_s: float
    values: tuple[elicitation.FieldAnswer, ...] = ()
    """What the recording keeps of each field that was filled in."""


def recorded_form(asked: elicitation.Elicitation, reply: RecordedReply | None) -> Content:
    return Content("\n").join(_lines(asked, reply))


def _lines(asked: elicitation.Elicitation, reply: RecordedReply | None) -> Iterator[Content]:
    yield shown(asked.message, "bold")
    outcome = f"{ACTIONS[reply.action]} after {reply.after_s:.1f} s" if reply is not None else UNANSWERED
    yield Content.styled(outcome, "$text-warning")
    if isinstance(asked, elicitation.UrlVisit):
        yield Content.styled(make_visible_line(asked.url), "$text-accent")
    else:
        about = " · ".join(filter(None, (asked.title, asked.description)))
        if about:
            yield Content.styled(make_visible_line(about), MUTED)
        yield Content("")
        yield from _fields(asked, reply)


def _fields(form: elicitation.Form, reply: RecordedReply | None) -> Iterator[Content]:
    names = (make_visible_line(_name(each)) + " *" * each.is_required for each in form.fields)
    titles = [Content(name).truncate(MAX_TITLE_CELLS, ellipsis=True) for name in names]
    width = max((title.cell_length for title in titles), default=0)
    for each, title in zip(form.fields, titles, strict=True):
        yield Content.assemble("  ", title.pad_right(width - title.cell_length + 2), _value(each, reply))


def _name(each: elicitation.Field) -> str:
    return (None if isinstance(each, elicitation.UnknownField) else each.title) or each.name


def _value(each: elicitation.Field, reply: RecordedReply | None) -> Content:
    """The recorded value, or the default that was shown."""
    if reply is None or reply.action != "accept":
        default = None if isinstance(each, elicitation.UnknownField) else each.default
        return Content.styled("" if default in (None, ()) else make_visible_line(words_of(each, default)), MUTED)
    kept = next((value.value for value in reply.values if value.name == _name(each)), None)
    if kept is None or kept == MASK:
        return Content.styled("left empty" if kept is None else "filled in, masked", MUTED)
    return Content(make_visible_line(kept))
