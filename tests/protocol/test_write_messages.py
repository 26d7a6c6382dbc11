"""What a client sends, validated against the official schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.facts import HttpServer, StdioServer
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer, Workplace
from acp_tui.protocol.v1 import content, inbound_content, outbound
from acp_tui.protocol.v1.session import (
    SetSessionConfigOptionRequest,
)
from acp_tui.protocol.validators import reader_of
from acp_tui.protocol.wire import decode
from support.schema import needs_schema, schema_v1

NOTED = Annotations(("user", "assistant"), "2026-01-01T00:00:00Z", 0.5, {"k": 1})
BLOCKS: list[ContentBlock] = [
    Text("hi"),
    Text("hi", NOTED, {"k": 1}),
    Image("aa", "image/png", "file:///a.png", NOTED),
    Audio("aa", "audio/wav"),
    ResourceLink("file:///a", "a"),
    ResourceLink("file:///a", "a", "A", "the a", "text/plain", 3, NOTED, {"k": 1}),
    TextResource("file:///a", "text"),
    TextResource("file:///a", "text", "text/plain", NOTED, {"k": 1}, {"inner": 1}),
    BlobResource("file:///a", "aa", "application/pdf"),
]


def assert_valid(name: str, value: Any) -> None:
    # Without validating the schema itself, which takes half a second.
    schema = {"$ref": f"#/$defs/{name}", "$defs": schema_v1()["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(value)


@needs_schema
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_is_written_as_the_schema_requires(block: ContentBlock) -> None:
    """R-CONT-1 to R-CONT-5"""
    written = outbound.content_block(block)
    assert None not in written.values()
    assert_valid("ContentBlock", written)
    assert_valid("PromptRequest", {"sessionId": "s", "prompt": [written]})


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_that_was_written_reads_as_the_same(block: ContentBlock) -> None:
    written = outbound.content_block(block)
    assert inbound_content.read_block(reader_of(content.ContentBlock).validate_python(written)) == block


def test_a_block_of_an_unknown_kind_is_not_sent() -> None:
    with pytest.raises(ValueError, match="hologram"):
        outbound.content_block(UnknownBlock("hologram", {}))


@needs_schema
def test_the_handshake_says_what_the_client_serves() -> None:
    """R-INIT-2, R-INIT-6"""
    offer = ClientOffer(read_text_file=True, write_text_file=False, terminal=True)
    written = outbound.initialize_request(1, offer)
    assert_valid("InitializeRequest", written)
    capabilities = written["clientCapabilities"]
    assert capabilities["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert capabilities["terminal"] is True
    assert capabilities["session"] == {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}
    assert not {"elicitation", "auth"} & capabilities.keys()


@needs_schema
def test_everything_that_can_be_offered_is_written_as_the_schema_wants_it() -> None:
    """R-INIT-6"""
    offer = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)
    written = outbound.initialize_request(1, offer)
    assert_valid("InitializeRequest", written)
    capabilities = written["clientCapabilities"]
    assert capabilities["elicitation"] == {"form": {}, "url": {}}
    assert capabilities["auth"] == {"terminal": True}


@needs_schema
def test_a_workplace_fits_the_schema_for_each_way_to_open_a_session() -> None:
    """R-SESS-1, R-SESS-3, R-SESS-6, R-DIR-1, R-MCP-1, R-MCP-2"""
    stdio = StdioServer("a", "/a", ("-x",), (("A", "1"),))
    http = HttpServer("sse", "b", "https://b", (("H", "2"),))
    workplace = Workplace(Path("/w"), (Path("/x"),), (stdio, http))
    servers = [
        {"name": "a", "command": "/a", "args": ["-x"], "env": [{"name": "A", "value": "1"}]},
        {"type": "sse", "name": "b", "url": "https://b", "headers": [{"name": "H", "value": "2"}]},
    ]
    place = {"cwd": "/w", "additionalDirectories": ["/x"], "mcpServers": servers}
    params = outbound.new_session(workplace)
    assert params == place
    assert_valid("NewSessionRequest", params)
    for name in ("LoadSessionRequest", "ResumeSessionRequest"):
        assert_valid(name, {"sessionId": "s", **params})
    assert outbound.new_session(Workplace(Path("/w"))) == {"cwd": "/w", "mcpServers": []}


def test_a_workplace_has_absolute_paths_only() -> None:
    """R-SESS-2"""
    with pytest.raises(ValueError, match="absolute"):
        Workplace(Path("/w"), (Path("x"),))


@needs_schema
@pytest.mark.parametrize("source", ["mode", "model", "config"])
def test_an_option_is_set_by_the_method_of_its_source(source: str) -> None:
    """R-CFG-7, R-MODE-1, R-OLD-1"""
    method, request = outbound.set_option("s", "o", source, "v")
    assert (
        method
        == {
            "mode": "session/set_mode",
            "model": "session/set_model",
            "config": "session/set_config_option",
        }[source]
    )
    wire = dict(request)
    assert wire.pop("sessionId") == "s"
    assert "type" not in wire
    assert "v" in wire.values()


def test_a_boolean_value_cannot_be_set_without_its_type() -> None:
    """R-CFG-7"""
    with pytest.raises(MalformedMessage, match="boolean"):
        decode(SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", "value": True})


@needs_schema
def test_a_boolean_value_is_set_with_its_type() -> None:
    """R-CFG-7"""
    method, params = outbound.set_option("s", "c", "config", True)
    assert (method, params["type"], params["value"]) == ("session/set_config_option", "boolean", True)
    assert_valid("SetSessionConfigOptionRequest", params)
