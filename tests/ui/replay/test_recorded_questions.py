"""A recorded form is drawn, whatever was entered in it."""

import pytest

from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Field,
    FieldAnswer,
    FieldChoice,
    Form,
    MultiChoiceField,
    TextField,
    UnknownField,
)
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.replay.recorded_reply import RecordedReply, recorded_form

LICENCES = (FieldChoice("mit", "MIT"), FieldChoice("mpl", "Mozilla"))


def test_what_was_filled_in_is_told_as_far_as_the_recording_keeps_it() -> None:
    fields = (ChoiceField("a", LICENCES, "Licence"), TextField("b"), TextField("c"))
    values = (FieldAnswer("Licence", "Mozilla\x1b", is_choice=True), FieldAnswer("b", "***"))
    assert told(fields, RecordedReply("accept", 1.0, values)) == [
        "  Licence  Mozilla␛",
        "  b        filled in, masked",
        "  c        left empty",
    ]


@pytest.mark.parametrize("reply", [None, RecordedReply("decline", 1.0)])
def test_what_was_not_sent_is_told_as_it_was_proposed(reply: RecordedReply | None) -> None:
    fields = (
        ChoiceField("a", LICENCES, default="mpl"),
        MultiChoiceField("b", LICENCES, default=("mit", "mpl")),
        BooleanField("c", default=False),
        TextField("d"),
        UnknownField("e", "date", {}),
    )
    assert told(fields, reply) == ["  a  Mozilla", "  b  MIT, Mozilla", "  c  no", "  d  ", "  e  "]


def told(fields: tuple[Field, ...], reply: RecordedReply | None) -> list[str]:
    return recorded_form(Form(RequestKey(1), "?", fields), reply).plain.splitlines()[-len(fields) :]
