"""What a host tells its clients in our own fields reads back as it was written."""

from __future__ import annotations

import json

import pytest

from acp_tui.client.transcript.extension_updates import TOLD_KINDS, as_fields, from_fields
from acp_tui.conversation.elicitation import (
    ChoiceField,
    FieldChoice,
    Form,
    NumberField,
    TextField,
    UnknownField,
    UrlVisit,
)
from acp_tui.conversation.facts import RequestKey, TurnUsage
from acp_tui.conversation.updates import ElicitationAsked, SessionUpdate, TurnEnded, TurnFailed

FIELDS = (
    TextField("name", max_length=3),
    ChoiceField("color", (FieldChoice("r", "Red"), FieldChoice("g", "Green"))),
    NumberField("share", default=1.5),
    UnknownField("place", "map", {"zoom": 1}),
)


@pytest.mark.parametrize(
    "update",
    [
        ElicitationAsked(Form(RequestKey(1), "Which one?", FIELDS)),
        ElicitationAsked(UrlVisit(RequestKey(2), "Log in", "e", "https://example.org")),
        TurnEnded("end_turn", {"vendor": [1]}, TurnUsage(6, 4, 2)),
        TurnFailed("the agent said no", code=-32000),
    ],
    ids=lambda update: type(update).__name__,
)
def test_an_update_is_read_as_it_was_written(update: SessionUpdate) -> None:
    fields = json.loads(json.dumps(as_fields(update)))
    assert from_fields(TOLD_KINDS[type(update)], fields) == update
