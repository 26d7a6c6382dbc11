"""A recorded form is drawn, whatever was entered in it."""

from typing import Any

import pytest

from acp_tui.conversation.elicitation import (
    ChoiceField,
    Field,
    FieldAnswer,
    FieldChoice,
    Form,
    MultiChoiceField,
    TextField,
)
from acp_tui.conversation.facts import RequestKey
from acp_tui.ui.replay.recorded_reply import RecordedReply, recorded_form

LICENCES = (FieldChoice("mit", "MIT"), FieldChoice("mpl", "Mozilla"))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (TextField("a"), {"b": [1]}, "{'b': [1]}"),
        (ChoiceField("a", LICENCES), {"b": 1}, "{'b': 1}"),
        (ChoiceField("a", LICENCES), "mpl", "Mozilla"),
        (MultiChoiceField("a", LICENCES), [["mit"], "mit"], "['mit'], MIT"),
        (MultiChoiceField("a", LICENCES), [], "none"),
    ],
)
def test_a_value_of_any_form_is_told(field: Field, value: Any, words: str) -> None:
    reply = RecordedReply("accept", 1.0, {field.name: value}, is_masked=False)
    assert recorded_form(Form(RequestKey(1), "?", (field,)), reply).plain.endswith(f"a  {words}")


def test_a_choice_is_told_in_words_where_the_answer_is_masked() -> None:
    fields = (ChoiceField("a", LICENCES, "Licence"), ChoiceField("b", LICENCES))
    told = (FieldAnswer("Licence", "Mozilla", is_choice=True), FieldAnswer("b", "***"))
    reply = RecordedReply("accept", 1.0, {"a": "***", "b": "***"}, told)
    lines = recorded_form(Form(RequestKey(1), "?", fields), reply).plain.splitlines()
    assert lines[-2:] == ["  Licence  Mozilla", "  b        filled in, masked"]
