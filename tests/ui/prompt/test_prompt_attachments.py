"""Files mentioned in a prompt are sent in the form the agent accepts; changes to them are announced below it."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

from support.desks import OpenDesk

PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==")
TAKES_ALL = """
takes = {"image": True, "audio": True, "embeddedContext": True}
handshake(agentCapabilities={"promptCapabilities": takes})
answer(expect("session/new"), sessionId="s1")
"""
TAKES_TEXT = """
handshake()
answer(expect("session/new"), sessionId="s1")
"""
ONE_TURN = """
answer(expect("session/prompt"), stopReason="end_turn")
serve_until_closed()
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "dot.png").write_bytes(PNG)


async def test_lines_of_a_file_and_an_image_go_with_the_prompt(open_desk: OpenDesk, tmp_path: Path) -> None:
    """R-PROMPT-4."""
    async with open_desk(TAKES_ALL, ONE_TURN) as desk:
        await desk.has_session()
        await desk.send("Why @a.py:2-3 and @dot.png?")
        [sent] = await desk.gets("session/prompt")
        text, lines, image = sent["prompt"]
        assert text == {"type": "text", "text": "Why @a.py:2-3 and @dot.png?"}
        assert lines["resource"]["text"] == "two\nthree\n"
        assert lines["resource"]["uri"] == f"{(tmp_path / 'a.py').as_uri()}#L2-L3"
        assert (image["type"], image["mimeType"]) == ("image", "image/png")


async def test_what_the_agent_does_not_take_goes_as_a_link_and_the_prompt_says_so(
    open_desk: OpenDesk,
) -> None:
    """R-PROMPT-4."""
    async with open_desk(TAKES_TEXT, ONE_TURN) as desk:
        await desk.has_session()
        await desk.send("Look at @a.py and @dot.png")
        await desk.shows(
            "! a.py is sent as a link: the agent doesn't accept embedded resources",
            "! dot.png is sent as a link: the agent doesn't accept images",
        )
        [sent] = desk.sent("session/prompt")
        assert [block["type"] for block in sent["prompt"]] == ["text", "resource_link", "resource_link"]


async def test_what_names_no_file_is_just_text(open_desk: OpenDesk) -> None:
    async with open_desk(TAKES_ALL, ONE_TURN) as desk:
        await desk.has_session()
        await desk.send("mail me@example.org about @property")
        [sent] = await desk.gets("session/prompt")
        assert [block["type"] for block in sent["prompt"]] == ["text"]
