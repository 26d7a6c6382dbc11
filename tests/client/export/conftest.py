"""Fixtures for exports: a session's facts, and a conversation with an entry of every kind."""

import pytest

from acp_tui.client.export.facts import ExportFacts
from acp_tui.conversation.content import (
    Annotations,
    Audio,
    BlobResource,
    Image,
    ResourceLink,
    Text,
    TextResource,
    UnknownBlock,
)
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import PlanStep, RequestKey, Usage
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    UnknownContent,
)
from acp_tui.conversation.updates import (
    CommandRun,
    CompactionChanged,
    Disconnected,
    MessageChunk,
    PermissionAnswered,
    PlanReplaced,
    PromptSent,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
    UsageReported,
)
from support.folding import ALLOW, agent, ask, call, fold, prompt, thought

PNG = "iVBORw0KGgo="


@pytest.fixture
def facts() -> ExportFacts:
    return ExportFacts("Demo Agent", "/project", "s-1", "1.2", "2026-11-21T10:00:00+00:00", "Fix the parser")


@pytest.fixture
def everything() -> Conversation:
    terminal, own = TerminalId("t"), TerminalId("own")
    blocks = (
        Image(PNG, "image/png"),
        Image("PHN2Zy8+", "image/svg+xml"),
        Audio("UklGRg==", "audio/wav"),
        ResourceLink("https://example.org/a", "a page"),
        ResourceLink("javascript:alert(1)", "a trap"),
        TextResource("file:///notes.txt", "noted"),
        BlobResource("file:///data.bin", "AAAA"),
        UnknownBlock("hologram", {"type": "hologram", "beam": 1}),
        Text("for the model only", Annotations(audience=("assistant",))),
    )
    edit = (
        BlockContent(Text("Some *words*.")),
        TextDiff("/project/a.py", "one\nthree\n", "one\ntwo\n"),
        TerminalContent(terminal),
        UnknownContent("dance", {"type": "dance", "steps": 3}),
    )
    return fold(
        PromptSent((Text("Why?\n\nAnd how?"), TextResource("file:///a.py", "one\ntwo\n")), ("Shortened.",)),
        thought("Let me **think**."),
        agent("# Answer\n\nBecause."),
        *(MessageChunk("agent", block, f"m{number}") for number, block in enumerate(blocks)),
        TerminalOpened(terminal, "make test", "/project"),
        TerminalOutput(terminal, b"\x1b[31m1 failed\x1b[0m\r\n"),
        TerminalExited(terminal, 2, None, 1.5),
        ask(1, "c1", title="Edit a.py", kind="edit", locations=(Location("/project/a.py", 2),), content=edit),
        PermissionAnswered(RequestKey(1), ALLOW.option_id, at=1_700_000_000.0, rule="no edits"),
        ask(2, "c2", title="fetch it", kind="fetch", raw_input={"url": "https://example.org"}),
        PermissionAnswered(RequestKey(2), None),
        call("c2", status="failed", raw_output="not found"),
        CommandRun("ls", own),
        TerminalOpened(own, "ls", "/project"),
        TerminalOutput(own, b"a.py\n"),
        CompactionChanged("k", "failed", (Text("In short."),), "no room"),
        TurnEnded("max_tokens"),
        prompt("Go on."),
        TurnFailed("Overloaded", "try later"),
        UnknownUpdate("mood", {"sessionUpdate": "mood", "smile": True}),
        PlanReplaced((PlanStep("Read", "high", "completed"), PlanStep("Write", "medium", "in_progress"))),
        UsageReported(Usage(1200, 8000, 0.5, "USD")),
        Disconnected("Agent exited with code 1", "Traceback\nKeyError: 'x'\n"),
    )
