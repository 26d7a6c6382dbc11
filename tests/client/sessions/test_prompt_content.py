"""What the agent receives of a prompt: unsupported blocks are replaced by the next best, and the user is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.conversation.content import (
    Audio,
    BlobResource,
    ContentBlock,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.entries import Message
from support.agents import in_memory, open_session

ALL = {"image": True, "audio": True, "embeddedContext": True}
IMAGE = Image("aGk=", "image/png")
WEB_IMAGE = Image("aGk=", "image/png", "https://a.example/b.png")
AUDIO = Audio("aGk=", "audio/wav")
FILE = TextResource("file:///a/b%20c.py", "print()", "text/x-python")
BUFFER = TextResource("buffer:1", "hello")
BLOB = BlobResource("file:///a/b.bin", "aGk=")


async def sent(cwd: Path, capabilities: Any, *blocks: ContentBlock) -> tuple[list[Any], tuple[str, ...], Any]:
    """The blocks on the wire, what the user is told, and the prompt in the conversation."""
    async with in_memory() as (agent, wire):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.initialize)
            result = {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": capabilities}}
            await wire.answer(await wire.expect("initialize"), result)
        session = await open_session(agent, wire, cwd)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.send_prompt, blocks)
            prompt = await wire.expect("session/prompt")
            await wire.answer(prompt, {"stopReason": "end_turn"})
        entry = session.conversation.entries[0]
        assert isinstance(entry, Message)
        return prompt["params"]["prompt"], entry.notes, entry


async def test_what_the_agent_takes_goes_as_it_is(tmp_path: Path):
    """R-PROMPT-4, R-PROMPT-5."""
    blocks = (Text("see"), ResourceLink("file:///x", "x"), IMAGE, AUDIO, FILE, BLOB)
    written, degraded, _ = await sent(tmp_path, ALL, *blocks)
    assert [block["type"] for block in written] == [
        "text",
        "resource_link",
        "image",
        "audio",
        "resource",
        "resource",
    ]
    assert degraded == ()


@pytest.mark.parametrize(
    ("block", "expected", "note"),
    [
        (IMAGE, {"type": "text", "text": "[image/png: left out]"}, "doesn't accept images"),
        (
            WEB_IMAGE,
            {
                "type": "resource_link",
                "uri": "https://a.example/b.png",
                "name": "b.png",
                "mimeType": "image/png",
            },
            "b.png is sent as a link",
        ),
        (AUDIO, {"type": "text", "text": "[audio/wav: left out]"}, "doesn't accept audio"),
        (
            FILE,
            {
                "type": "resource_link",
                "uri": "file:///a/b%20c.py",
                "name": "b c.py",
                "mimeType": "text/x-python",
            },
            "b c.py is sent as a link",
        ),
        (
            BUFFER,
            {
                "type": "text",
                "text": "buffer:1:\n\nhello",
                "_meta": {"acp_tui": {"label": "file: buffer:1, 1 line"}},
            },
            "buffer:1 is sent as plain text",
        ),
        (
            BLOB,
            {"type": "resource_link", "uri": "file:///a/b.bin", "name": "b.bin"},
            "b.bin is sent as a link",
        ),
        (BlobResource("buffer:2", "aGk="), {"type": "text", "text": "[buffer:2: left out]"}, "is left out"),
        (UnknownBlock("hologram", {}), {"type": "text", "text": "[hologram: left out]"}, "hologram"),
    ],
    ids=["image", "web image", "audio", "file", "buffer", "blob", "blob buffer", "unknown"],
)
async def test_what_the_agent_does_not_take_becomes_the_next_best(
    tmp_path: Path, block: ContentBlock, expected: Any, note: str
):
    """R-PROMPT-4."""
    written, degraded, shown = await sent(tmp_path, {}, Text("see"), block)
    assert written == [{"type": "text", "text": "see"}, expected]
    [told] = degraded
    assert note in told
    assert len(shown.parts) == (1 if expected["type"] == "text" and "_meta" not in expected else 2)


async def test_each_kind_has_its_own_capability(tmp_path: Path):
    """R-INIT-5, R-PROMPT-4."""
    blocks = (IMAGE, AUDIO, BUFFER)
    for name, kind in (("image", "image"), ("audio", "audio"), ("embeddedContext", "resource")):
        written, degraded, _ = await sent(tmp_path, {name: True}, *blocks)
        assert [block["type"] for block in written if block["type"] != "text"] == [kind]
        assert len(degraded) == 2
