"""Model providers on the wire, in both versions: what agents list, and what they are asked to do."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from acp_tui.conversation.facts import Provider, ProviderRoute
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.negotiation import read_agreement
from acp_tui.protocol.v1.inbound import read_providers
from support.schema import is_valid, needs_schema

LISTED: dict[str, Any] = {
    "providers": [
        {
            "providerId": "main",
            "supported": ["bedrock", "anthropic", "_own", "of_next_year"],
            "required": True,
            "current": {"apiType": "anthropic", "baseUrl": "http://localhost/anthropic"},
        },
        {"providerId": "openai", "supported": ["openai"], "required": False, "current": None},
        {"providerId": "spare", "supported": [], "required": False},
    ]
}


def _first(**fields: Any) -> dict[str, Any]:
    listed = deepcopy(LISTED)
    listed["providers"][0] |= fields
    return listed


@needs_schema
@pytest.mark.parametrize("version", [1, 2])
def test_listed_providers_are_read_as_the_schema_has_them(version: int) -> None:
    assert is_valid(version, "ListProvidersResponse", LISTED)
    assert read_providers(LISTED) == (
        Provider(
            "main",
            ("bedrock", "anthropic", "_own", "of_next_year"),
            True,
            ProviderRoute("anthropic", "http://localhost/anthropic"),
        ),
        Provider("openai", ("openai",), False, None),
        Provider("spare", (), False, None),
    )


@pytest.mark.parametrize("supported", ["openai", None, [7, {}]])
def test_kinds_that_cannot_be_read_are_left_out(supported: Any) -> None:
    assert read_providers(_first(supported=supported))[0].supported == ()


@needs_schema
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "listed",
    [
        {},
        {"providers": "main"},
        _first(providerId=7),
        _first(required="yes"),
        _first(current={"apiType": "anthropic"}),
        _first(current="anthropic"),
    ],
    ids=["no list", "no array", "no id", "no flag", "no address", "no route"],
)
def test_a_list_that_the_schema_forbids_is_refused(version: int, listed: Any) -> None:
    assert not is_valid(version, "ListProvidersResponse", listed)
    with pytest.raises(MalformedMessage):
        read_providers(listed)


@needs_schema
@pytest.mark.parametrize(
    ("answer", "is_offered"),
    [
        ({"protocolVersion": 1, "agentCapabilities": {"providers": {}}}, True),
        ({"protocolVersion": 1, "agentCapabilities": {"providers": None}}, False),
        ({"protocolVersion": 1, "agentCapabilities": {"providers": True}}, False),
        ({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"providers": {}}}, True),
        ({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}}, False),
    ],
)
def test_an_object_in_the_capabilities_offers_them(answer: dict[str, Any], is_offered: bool) -> None:
    assert read_agreement(answer)[1].capabilities.providers is is_offered
