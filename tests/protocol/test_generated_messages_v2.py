"""Everything an agent of version 2 may send can be read: valid and broken messages made from its schema.

`ACP_TUI_GENERATED_MESSAGES=20000` makes that many of each, with seeds beyond the first 1,000.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.updates import UnknownUpdate
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer
from acp_tui.protocol.v1.inbound import read_completed, read_session_page
from acp_tui.protocol.v1.inbound import read_elicitation as read_question
from acp_tui.protocol.v2 import inbound
from support.schema import SCHEMA_V2, UNKNOWN_VALUE, Messages, schema_v2

pytestmark = pytest.mark.skipif(not SCHEMA_V2.exists(), reason="the schema of version 2 isn't beside the repository")

COUNT = int(os.environ.get("ACP_TUI_GENERATED_MESSAGES", "1000"))
OFFER = ClientOffer(elicitation_form=True, elicitation_url=True)


def read_elicitation(params: Any) -> Any:
    """As the connection does, which rejects non-objects first."""
    if not isinstance(params, dict):
        raise MalformedMessage("CreateElicitationRequest", "not an object")
    return read_question(params, OFFER)


READERS: dict[str, Callable[[Any], Any]] = {
    "UpdateSessionNotification": inbound.read_update,
    "RequestPermissionRequest": lambda params: inbound.read_permission_request(params, "question"),
    "CreateElicitationRequest": read_elicitation,
    "CompleteElicitationNotification": read_completed,
    "InitializeResponse": inbound.read_initialize_response,
    "NewSessionResponse": inbound.read_new_session,
    "ResumeSessionResponse": inbound.read_opened_session,
    "SetSessionConfigOptionResponse": inbound.read_config_options,
    "PromptResponse": inbound.read_prompt_answer,
    "ListSessionsResponse": read_session_page,
}
WEIGHTED = ["UpdateSessionNotification"] * 24 + ["RequestPermissionRequest"] * 6 + sorted(READERS)


def hear(name: str, value: Any, conversation: Conversation) -> None:
    """Read a message; let a conversation apply an update."""
    result = READERS[name](value)
    if name == "UpdateSessionNotification":
        for update in result[1]:
            reducer.apply(conversation, update)


def made(index: int) -> tuple[str, Any, Messages]:
    """The message with this number."""
    messages = Messages(index, schema_v2()["$defs"])
    name = WEIGHTED[index % len(WEIGHTED)]
    return name, messages.valid(name), messages


def test_every_valid_message_of_version_2_is_read() -> None:
    """R2-INIT, R2-MSG, R2-TOOL, R2-META: unknown keys, kinds, and `_meta` are no reason to reject anything."""
    conversation = Conversation()
    for index in range(COUNT):
        name, value, _ = made(index)
        try:
            hear(name, value, conversation)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message that brought it about is what helps
            pytest.fail(f"{name}, seed {index}: {error!r}\n{value!r}")
        if index % 500 == 0:
            conversation = Conversation()


def test_a_broken_message_of_version_2_is_read_or_malformed_and_nothing_else() -> None:
    conversation = Conversation()
    for index in range(COUNT):
        name, value, messages = made(index)
        broken = messages.broken(value)
        try:
            with suppress(MalformedMessage):
                hear(name, broken, conversation)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message that brought it about is what helps
            pytest.fail(f"{name}, seed {index}: {error!r}\n{broken!r}")
        if index % 500 == 0:
            conversation = Conversation()


def test_an_update_of_an_unknown_kind_is_kept_whole() -> None:
    update = {"sessionUpdate": UNKNOWN_VALUE, "more": [1]}
    assert inbound.read_update({"sessionId": "s", "update": update}) == (
        "s",
        (UnknownUpdate(UNKNOWN_VALUE, update),),
    )
