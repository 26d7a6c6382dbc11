"""Everything an agent may send can be read: valid and broken messages made from the schema.

`ACP_TUI_GENERATED_MESSAGES=50000` makes that many, with seeds beyond the first 2,000.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from pydantic_core import SchemaValidator, ValidationError

from acp_tui.conversation import reducer
from acp_tui.conversation.conversation import Conversation
from acp_tui.protocol import MalformedMessage, v1
from acp_tui.protocol.roles import ClientOffer
from acp_tui.protocol.v1 import inbound
from acp_tui.protocol.validators import reader_of
from support.schema import SHARED_MODELS, Messages, as_json, definitions, flaws, needs_schema, without_unknown_keys

pytestmark = needs_schema

COUNT = int(os.environ.get("ACP_TUI_GENERATED_MESSAGES", "2000"))

NAMES = sorted(
    name
    for (_, side, shape), name in definitions().items()
    if (side == "agent") is (shape == "Response") and side != "protocol"
)
"""What an agent sends: requests and notifications for a client, and the results of a client's requests."""
SHARES = {
    "SessionNotification": 24,
    "RequestPermissionRequest": 6,
    "CreateElicitationRequest": 6,
    "InitializeResponse": 4,
}
"""How many more of these than of others, since they vary in more ways."""

OFFER = ClientOffer(elicitation_form=True, elicitation_url=True)


def read_elicitation(params: Any) -> Any:
    """As the connection does, which rejects non-objects first."""
    if not isinstance(params, dict):
        raise MalformedMessage("CreateElicitationRequest", "not an object")
    return inbound.read_elicitation(params, OFFER)


READERS: dict[str, Callable[[Any], Any]] = {
    "SessionNotification": inbound.read_update,
    "RequestPermissionRequest": inbound.read_permission_request,
    "InitializeResponse": inbound.read_initialize_response,
    "NewSessionResponse": inbound.read_new_session,
    "LoadSessionResponse": inbound.read_opened_session,
    "ResumeSessionResponse": inbound.read_opened_session,
    "SetSessionConfigOptionResponse": inbound.read_config_options,
    "PromptResponse": inbound.read_prompt_response,
    "ListSessionsResponse": inbound.read_session_page,
    "CreateElicitationRequest": read_elicitation,
    "CompleteElicitationNotification": inbound.read_completed,
}
"""What turns a message into the client's values, if its model isn't enough."""


@cache
def reader(name: str) -> SchemaValidator:
    """The model of a definition."""
    if name in SHARED_MODELS:
        return reader_of(SHARED_MODELS[name])
    for info in pkgutil.iter_modules(v1.__path__):
        if hasattr(module := importlib.import_module(f"{v1.__name__}.{info.name}"), name):
            return reader_of(getattr(module, name))
    raise LookupError(name)


def read(name: str, value: Any) -> Any:
    """The message as the client reads it. Raises MalformedMessage."""
    if name in READERS:
        return READERS[name](value)
    try:
        return reader(name).validate_python(value)
    except ValidationError as error:
        raise MalformedMessage(name, str(error)) from None


def chosen(index: int) -> str:
    """The name of the message with this number."""
    weighted = [name for name in NAMES for _ in range(SHARES.get(name, 1))]
    return weighted[index % len(weighted)]


def apply(name: str, value: Any, conversation: Conversation) -> None:
    """Let a conversation apply an update."""
    result = read(name, value)
    if name == "SessionNotification":
        for update in result[1]:
            reducer.apply(conversation, update)


def test_the_generator_makes_what_the_schema_allows() -> None:
    for index in range(200):
        name = chosen(index)
        value = Messages(index).valid(name)
        if "x-unknown" not in str(value) and "xUnknown" not in str(value):
            assert flaws(name, value) == []


def test_every_valid_message_is_read_and_written_again_equal() -> None:
    """R-LEN-4, R-RPC-9, R-EXT-2, R-CFG-3: unknown keys, kinds, and `_meta` are no reason to reject anything."""
    conversation = Conversation()
    for index in range(COUNT):
        name, value = chosen(index), Messages(index).valid(chosen(index))
        try:
            apply(name, value, conversation)
            model = reader(name).validate_python(value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message that brought it about is what helps
            pytest.fail(f"{name}, seed {index}: {error!r}\n{value!r}")
        written = as_json(model, value)
        assert without_unknown_keys(written) == without_unknown_keys(value), f"{name}, seed {index}"
        if index % 500 == 0:
            conversation = Conversation()


def test_a_broken_message_is_read_or_said_to_be_malformed_and_nothing_else() -> None:
    """R-LEN-1, R-LEN-2, R-LEN-3"""
    conversation = Conversation()
    for index in range(COUNT):
        messages = Messages(index)
        name = chosen(index)
        broken = messages.broken(messages.valid(name))
        try:
            with suppress(MalformedMessage):
                apply(name, broken, conversation)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message that brought it about is what helps
            pytest.fail(f"{name}, seed {index}: {error!r}\n{broken!r}")
        if index % 500 == 0:
            conversation = Conversation()
