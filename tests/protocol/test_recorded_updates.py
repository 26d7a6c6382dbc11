"""All recorded traffic of real agents can be read."""

from __future__ import annotations

from collections import Counter

import pytest

from acp_tui.conversation.content import UnknownBlock
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import Fact
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.updates import MessageChunk, UnknownUpdate
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.v1 import inbound
from support.schema import TRANSCRIPTS, recorded_messages

pytestmark = pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="no recordings lie beside the repository")


def test_every_recorded_update_is_read_and_none_is_of_an_unknown_kind() -> None:
    """R-LEN-3, R-LEN-4"""
    seen: Counter[str] = Counter()
    for path in TRANSCRIPTS.glob("*.ndjson"):
        for message in recorded_messages(path):
            if message.get("method") != "session/update":
                continue
            seen["all"] += 1
            try:
                _, updates = inbound.read_update(message["params"])
            except MalformedMessage:
                seen["malformed"] += 1
                continue
            seen["unknown"] += any(isinstance(update, UnknownUpdate) for update in updates)
            seen["unknown"] += any(
                isinstance(update, MessageChunk) and isinstance(update.block, UnknownBlock) for update in updates
            )
    assert seen["all"] > 0
    assert (seen["malformed"], seen["unknown"]) == (0, 0)


def test_every_recorded_handshake_new_session_and_permission_request_is_read() -> None:
    read: Counter[str] = Counter()
    for path in TRANSCRIPTS.glob("*.ndjson"):
        asked = {message.get("id"): message.get("method") for message in recorded_messages(path, "out")}
        for message in recorded_messages(path):
            if message.get("method") == "session/request_permission":
                inbound.read_permission_request(message["params"])
                read["permission"] += 1
            if "method" in message or "result" not in message:
                continue
            match asked.get(message["id"]):
                case "initialize":
                    inbound.read_initialize_response(message["result"])
                    read["initialize"] += 1
                case "session/new":
                    inbound.read_new_session(message["result"])
                    read["new"] += 1
                case "session/load" | "session/resume":
                    inbound.read_opened_session(message["result"])
                case "session/prompt":
                    inbound.read_prompt_response(message["result"])
                    read["prompt"] += 1
    assert all(read[kind] for kind in ("permission", "initialize", "new", "prompt"))


def test_geminis_announcement_of_a_mode_changes_the_mode_and_is_no_words_of_its_own() -> None:
    """gemini-cli 0.61.0: "Allow for this session" changes its mode, which it reports in a message."""
    conversation = Conversation()
    setup = next(
        message["result"]
        for message in recorded_messages(TRANSCRIPTS / "gemini-INIT.ndjson")
        if "modes" in message.get("result", {})
    )
    for update in inbound.read_new_session(setup)[1]:
        apply(conversation, update)
    modes = []
    for name in ("WRITE", "EXTRA"):
        for message in recorded_messages(TRANSCRIPTS / f"gemini-{name}.ndjson"):
            if message.get("method") != "session/update":
                continue
            for update in inbound.read_update(message["params"])[1]:
                if Fact.OPTIONS in apply(conversation, update).facts:
                    modes.append(conversation.options[0].value)
    assert modes == ["autoEdit", "default"]
    said = [entry.text for entry in conversation.entries if isinstance(entry, Message)]
    assert said
    assert not any("MODE_UPDATE" in text for text in said)
