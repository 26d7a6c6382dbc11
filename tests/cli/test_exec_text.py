"""A turn as text: one empty line between messages, however the agent begins them."""

from __future__ import annotations

import pytest

from acp_tui.cli import ExitCode
from acp_tui.cli.exec_output import Streams, TextOutput
from acp_tui.conversation import reducer
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import MessageReplaced, SessionUpdate
from support.folding import agent
from support.folding import call as tool


def never_lost(error: OSError) -> None:
    raise error


@pytest.mark.parametrize(
    "chunks",
    [("One", "Two"), ("One\n", "\n\nTwo"), ("One", "\n", "\n", "Two")],
    ids=["none", "in front", "in chunks of their own"],
)
def test_between_two_messages_there_is_one_empty_line(
    chunks: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    first, *second = chunks
    conversation, output = Conversation(), TextOutput(Streams(never_lost))
    for update in (agent(first), tool("c", title="make", status="failed"), *map(agent, second)):
        output.change(conversation, reducer.apply(conversation, update))
    assert capfd.readouterr().out == "One\n\nTwo"


def replaced(*texts: str) -> tuple[SessionUpdate, ...]:
    return tuple(MessageReplaced("agent", "m", (Text(text),)) for text in texts)


def chunk(text: str) -> SessionUpdate:
    return agent(text, "m")


@pytest.mark.parametrize(
    ("updates", "printed"),
    [
        (replaced("One", "One two", "One two three"), "One two three"),
        ((chunk("One "), chunk("two\n"), *replaced("One two")), "One two\n"),
        ((chunk("half "), *replaced("whole")), "half \n[replaced from “half” on]\nwhole\n"),
        ((chunk("half "), *replaced("who", "whole"), chunk(" end")), "half \n[replaced from “half” on]\nwhole end\n"),
        (replaced("Same\nIs 41.", "Same\nIs 42.\nSure"), "Same\nIs 41.\n[replaced from “Is 41.” on]\nIs 42.\nSure\n"),
        (replaced("Same\nWrong", "Same"), "Same\nWrong\n[taken back from “Wrong” on]\n"),
        ((*replaced("Wrong", ""), chunk("Right")), "Wrong\n[replaced from “Wrong” on]\nRight\n"),
        (replaced("Same\n\n", "Same\nand more"), "Same\n\nand more\n"),
    ],
)
def test_what_is_replaced_is_printed_once_from_where_it_differs(
    updates: tuple[SessionUpdate, ...], printed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    conversation, output = Conversation(), TextOutput(Streams(never_lost))
    for update in updates:
        output.change(conversation, reducer.apply(conversation, update))
    output.finish(None, ExitCode.DONE)
    assert capfd.readouterr().out.rstrip("\n") == printed.rstrip("\n")


def test_a_replaced_message_is_final_when_a_tool_call_begins(capfd: pytest.CaptureFixture[str]) -> None:
    conversation, output = Conversation(), TextOutput(Streams(never_lost))
    for update in (chunk("half "), *replaced("whole"), tool("c", title="make"), chunk(" end"), agent("Next", "n")):
        output.change(conversation, reducer.apply(conversation, update))
    assert capfd.readouterr().out == "half \n[replaced from “half” on]\nwhole end\n\nNext"


def test_a_failed_call_says_why_and_a_call_is_announced_once_when_it_is_known(
    capfd: pytest.CaptureFixture[str],
) -> None:
    conversation, output = Conversation(), TextOutput(Streams(never_lost))
    why = BlockContent(Text("```\n<error>Read it first\x1b[2J</error>\n```"))
    for update in (
        tool("w", title="Write", status="pending", raw_input={}),
        tool("w", title="Write out.txt", raw_input={"content": "x"}),
        tool("w", status="in_progress"),
        tool("w", title="out.txt", status="pending"),
        tool("w", title="Write out.txt", status="failed", content=(why,)),
        tool("r", title="Read", status="failed", raw_output="No such file"),
    ):
        output.change(conversation, reducer.apply(conversation, update))
    assert capfd.readouterr().err.splitlines() == [
        "· pending     Write out.txt",
        "· in progress Write out.txt",
        "· failed      Write out.txt: <error>Read it first␛[2J</error>",
        "· failed      Read: No such file",
    ]
