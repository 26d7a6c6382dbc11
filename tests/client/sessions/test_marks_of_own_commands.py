"""What an agent tells of its own as if the user had typed it is left out, live and from a recording."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.digest import digest_of
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.facts import SessionId
from acp_tui.protocol.roles import Quirks, quirks_of
from support.agents import scripted
from support.folding import texts
from support.waiting import LIMIT_S

CLAUDE = "@zed-industries/claude-agent-acp"
CLAUDE_NOW = "@agentclientprotocol/claude-agent-acp"
COMMAND = (
    "<command-name>/model</command-name>\n            <command-message>model</command-message>\n"
    "            <command-args>default</command-args>"
)
OUTPUT = "<local-command-stdout>Set model to claude-sonnet-4-6</local-command-stdout>"
HISTORY = f"""
handshake(agentInfo={{"name": "NAME", "version": "0.23.1"}}, agentCapabilities={{"loadSession": True}})
load = expect("session/load")
for text in ({COMMAND!r}, {OUTPUT!r}, "Please do HELLO now."):
    update("user_message_chunk", content={{"type": "text", "text": text}})
say("Hello")
answer(load)
serve_until_closed()
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [(CLAUDE, "Please do HELLO now."), ("another-agent", f"{COMMAND}{OUTPUT}Please do HELLO now.")],
)
async def test_marks_of_claudes_earlier_package_are_not_the_users_words(tmp_path: Path, name: str, words: str) -> None:
    """@zed-industries/claude-agent-acp 0.23.1: a loaded session begins with `/model` and what it printed."""
    file = tmp_path / "run.jsonl"
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            script = scripted(dedent(HISTORY).replace("NAME", name))
            agent = await hub.start_agent(script, recordings=RecordingPlan(tmp_path, file=file))
            await agent.initialize()
            session = await agent.load_session(SessionId("s1"), tmp_path)
    assert texts(session.conversation) == [("user", words), ("agent", "Hello")]
    assert replayed(file) == {SessionId("s1"): session.conversation}
    with open_recording(file) as recording:
        [part] = digest_of(recording).parts.values()
    assert part.first_words == words.split("\n")[0]


STOPPED = """
handshake(agentInfo={"name": "NAME", "version": "1"}, agentCapabilities={"loadSession": True})
load = expect("session/load")
update("plan", entries=[{"content": "Look", "priority": "low", "status": "pending"}])
for text in ("Look around.", "[Request interrupted by user]", "Write it."):
    update("user_message_chunk", content={"type": "text", "text": text})
answer(load)
serve_until_closed()
"""


@pytest.mark.parametrize("name", [CLAUDE, CLAUDE_NOW])
async def test_prompts_on_both_sides_of_a_mark_stay_two(tmp_path: Path, name: str) -> None:
    """@agentclientprotocol/claude-agent-acp 0.101.0 and its predecessor: a turn that was stopped before any answer."""
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(scripted(dedent(STOPPED).replace("NAME", name)))
            await agent.initialize()
            session = await agent.load_session(SessionId("s1"), tmp_path)
    assert texts(session.conversation) == [("user", "Look around."), ("user", "Write it.")]
    assert session.conversation.plan is not None


@pytest.mark.parametrize(
    ("words", "are_left_out"),
    [
        (COMMAND, True),
        (f"\n{OUTPUT}\n{COMMAND}\n", True),
        ("<local-command-stdout></local-command-stdout>", True),
        ("<local-command-stderr>no such model</local-command-stderr>", True),
        ("", False),
        ("Hello", False),
        (f"What is {OUTPUT}?", False),
        (f"{COMMAND} and why?", False),
        ("<command-name>/model", False),
        ("<command-name>/model</command-args>", False),
        ("<b>bold</b>", False),
        ("<command-name></command-name>" * 50_000 + "<", False),
        ("<session_context>\nThis is the Gemini CLI.\n</session_context>", True),
        ("<session_context>\nThis is the Gemini CLI.\n</session_context>HELLO", False),
        ("[Function Response: write_file]", True),
        ("[Function Response: write_file] is odd", False),
        ("[Request interrupted by user]", True),
        ("[Request interrupted by user for tool use]", True),
        ("Why [Request interrupted by user]?", False),
    ],
)
def test_only_what_consists_of_marks_is_left_out(words: str, are_left_out: bool) -> None:
    assert quirks_of(CLAUDE).leaves_out(words) is are_left_out
    assert quirks_of("gemini-cli").leaves_out(words) is are_left_out
    assert not Quirks().leaves_out(words)
