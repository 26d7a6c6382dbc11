"""Draws a form or page that an agent asked about, with the user's answer. It can't be filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from textual.content import Content

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
MAX_TITLE_CELLS: Final = 24
MUTED: Final = "$foreground-muted"


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """The answer to a form or page."""

    action: ElicitationAction
    after_s: float
    values: Mapping[str, Any] | None = None
    """The values in the recording; None if there are none."""
    told: tuple[elicitation.FieldAnswer, ...] = ()
    """What the recording keeps of them in words."""
    is_masked: bool = True
    """Whether the recording keeps only that a field was filled in."""


def recorded_form(asked: elicitation.Elicitation, reply: RecordedReply | None) -> Content:
    return Content("\n").join(_lines(asked, reply))


def _lines(asked: elicitation.Elicitation, reply: RecordedReply | None) -> Iterator[Content]:
    yield shown(asked.message, "bold")
    yield Content.styled(_outcome(reply), "$text-warning")
    if isinstance(asked, elicitation.UrlVisit):
        yield Content.styled(make_visible_line(asked.url), "$text-accent")
    else:
        about = " · ".join(filter(None, (asked.title, asked.description)))
        if about:
            yield Content.styled(make_visible_line(about), MUTED)
        yield Content("")
        yield from _fields(asked, reply)


def _fields(form: elicitation.Form, reply: RecordedReply | None) -> Iterator[Content]:
    titles = [Content(_title(each)).truncate(MAX_TITLE_CELLS, ellipsis=True) for each in form.fields]
    width = max((title.cell_length for title in titles), default=0)
    for each, title in zip(form.fields, titles, strict=True):
        yield Content.assemble("  ", title.pad_right(width - title.cell_length + 2), _value(each, reply))


def _title(each: elicitation.Field) -> str:
    return make_visible_line(_name(each)) + (" *" if each.is_required else "")


def _name(each: elicitation.Field) -> str:
    return (None if isinstance(each, elicitation.UnknownField) else each.title) or each.name


def _value(each: elicitation.Field, reply: RecordedReply | None) -> Content:
    """The recorded value, or the default that was shown."""
    if reply is None or reply.values is None:
        default = None if isinstance(each, elicitation.UnknownField) else each.default
        return Content.styled(_said(each, default) if default not in (None, ()) else "", MUTED)
    value = reply.values.get(each.name)
    if value is None:
        return Content.styled("left empty", MUTED)
    if not reply.is_masked or isinstance(value, bool):
        return Content(_said(each, value))
    for told in reply.told:
        if told.is_choice and told.name == _name(each):
            return Content(make_visible_line(told.value))
    return Content.styled(f"{len(value)} chosen" if isinstance(value, list) else "filled in, masked", MUTED)


def _said(each: elicitation.Field, value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_word(each, item) for item in value) or "none"
    return _word(each, value)


def _word(each: elicitation.Field, value: Any) -> str:
    """One value. A recording may contain anything here."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = str(value)
    if isinstance(each, elicitation.ChoiceField | elicitation.MultiChoiceField):
        words = next((choice.title for choice in each.choices if choice.value == value), words)
    return make_visible_line(words)


def _outcome(reply: RecordedReply | None) -> str:
    if reply is None:
        return "unanswered in this recording"
    return f"{ACTIONS[reply.action]} after {reply.after_s:.1f} s"
