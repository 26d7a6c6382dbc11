"""How pages show a tool's text, and the forms and pages an agent asked for."""

from __future__ import annotations

import json

import pytest

from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import FieldAnswer, Form, UrlVisit
from acp_tui.conversation.facts import RequestKey, TurnUsage, Usage
from acp_tui.conversation.tool_calls import BlockContent
from acp_tui.conversation.updates import (
    ElicitationAction,
    ElicitationAnswered,
    ElicitationAsked,
    TurnEnded,
    UsageReported,
)
from support.folding import call, fold, prompt

FACTS = ExportFacts("Demo Agent", "/project", "s-1")


def tool(text: str) -> Conversation:
    return fold(call("c", title="Run", content=(BlockContent(Text(text)),)))


def answered(action: ElicitationAction = "accept") -> Conversation:
    values = (FieldAnswer("Name", "*Ada*"), FieldAnswer("Word", "***"))
    return fold(
        ElicitationAsked(Form(RequestKey(1), "Who\nsigns?", ())),
        ElicitationAnswered(RequestKey(1), action, 1700000000.0, values if action == "accept" else ()),
        ElicitationAsked(UrlVisit(RequestKey(2), "Look", "e", "https://a.example/x")),
        ElicitationAnswered(RequestKey(2), action),
    )


def markdown(conversation: Conversation) -> str:
    return to_markdown(conversation, FACTS)


def test_a_tools_name_is_told_unless_the_title_says_it() -> None:
    conversation = fold(
        call("c", title="List", kind="execute", name="exec_command", status="completed"),
        call("d", title="write_file a", kind="edit", name="write_file", status="completed"),
    )
    assert "execute · exec_command · completed" in markdown(conversation)
    assert "edit · completed" in markdown(conversation)
    assert '"name":"exec_command"' in "".join(to_jsonl(conversation, FACTS))


def test_what_a_tool_prints_keeps_its_lines() -> None:
    conversation = tool('{\n  "a": "**b** `c`"\n}\n')
    assert '```\n{\n  "a": "**b** `c`"\n}\n```' in markdown(conversation)


def test_markdown_of_a_tool_is_markdown_whose_lines_stay_lines() -> None:
    conversation = tool("## Done\n**two**\nof 3")
    assert "> **two**  \n> of 3" in markdown(conversation)


@pytest.mark.parametrize(
    ("action", "form", "page"),
    [
        ("accept", "you answered", "you opened the page"),
        ("decline", "you declined", "you declined"),
        ("cancel", "canceled without an answer", "canceled without an answer"),
    ],
)
def test_a_question_stands_on_the_page_with_what_became_of_it(action: ElicitationAction, form: str, page: str) -> None:
    conversation = answered(action)
    values = "Name: \\*Ada\\*\n\nWord: \\*\\*\\*\n\n" if action == "accept" else ""
    at = "2023-11-14 22:13:20 UTC"
    assert f"### Question\n\n> Who\n> signs?\n\n{values}{form} · {at}" in markdown(conversation)
    assert f"Page: <https://a.example/x>\n\n{page}\n" in markdown(conversation)


def test_programs_read_a_question_as_it_is() -> None:
    lines = list(to_jsonl(answered(), FACTS))
    assert lines[1] == (
        '{"type":"question","entry":0,"message":"Who\\nsigns?","action":"accept",'
        '"values":[{"name":"Name","value":"*Ada*"},{"name":"Word","value":"***"}],"at":1700000000.0}'
    )
    assert lines[2] == (
        '{"type":"question","entry":1,"message":"Look","action":"accept","url":"https://a.example/x","values":[]}'
    )


def test_every_format_has_the_tokens_and_the_cost_of_each_turn() -> None:
    def costs(amount: float) -> UsageReported:
        return UsageReported(Usage(1000, 200_000, amount, "USD"))

    conversation = fold(
        prompt("one"),
        costs(0.02),
        TurnEnded("end_turn", usage=TurnUsage(240, 200, 40)),
        prompt("two"),
        costs(0.05),
        TurnEnded("end_turn"),
    )
    shown = markdown(conversation).replace("\\", "")  # its escapes
    assert shown.index("240 tokens (200 in, 40 out), $0.02") < shown.index("two") < shown.index("$0.03")
    lines = map(json.loads, to_jsonl(conversation, FACTS))
    turns = [line for line in lines if line.get("type") == "turn"]
    assert [(turn["end"], round(turn["cost"], 2), turn["currency"]) for turn in turns] == [
        (1, 0.02, "USD"),
        (2, 0.03, "USD"),
    ]
    assert turns[0]["usage"]["total"] == 240
