"""What the demo agent asks the user and sends as extensions, and what it sends only to clients that ask for it."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.rpc import RequestFailed

FORM = """
[[prompt]]
[[prompt.step]]
tool = { id = "call", title = "Ask" }
[[prompt.step]]
[prompt.step.form]
message = "Who are you?"
tool_call = "call"
fields = [
  { name = "who", type = "string", required = true, default = "Ada" },
  { name = "likes", type = "array", values = ["tea", "coffee"] },
  { name = "well", type = "boolean", default = true },
]
[[prompt.step.accepted]]
say = "{answer.who} likes {answer.likes}, is well: {answer.well}"
[[prompt.step.declined]]
say = "declined"
[[prompt.step.cancelled]]
say = "cancelled"
"""
VISIT = """
[[prompt]]
[[prompt.step]]
visit = { id = "page", message = "Please look", url = "https://example.org/" }
[[prompt.step.accepted]]
complete = "page"
"""
REQUEST = """
[[prompt]]
[[prompt.step]]
request = { method = "_demo/ask", params = { of = "{text}" } }
[[prompt.step.answered]]
say = "answered {answer}"
[[prompt.step.refused]]
say = "refused: {answer}"
"""
FOR_SOME = """
[[prompt]]
step = [{ notice = { severity = "info", title = "Look" } }, { compact = { summary = "In short" } }]
"""


def answer(result: Any) -> Any:
    async def give(_: dict[str, Any]) -> Any:
        return result

    return give


async def test_a_form_is_about_its_session_and_tool_call_and_its_answers_can_be_said(connect):
    async with connect(FORM) as client:
        await client.open()
        await client.prompt()
        asked = client.params("elicitation/create")
        assert (asked["mode"], asked["sessionId"], asked["toolCallId"]) == ("form", "demo-1", "call-1")
        assert asked["requestedSchema"] == {
            "type": "object",
            "properties": {
                "who": {"type": "string", "default": "Ada"},
                "likes": {"type": "array", "items": {"type": "string", "enum": ["tea", "coffee"]}},
                "well": {"type": "boolean", "default": True},
            },
            "required": ["who"],
        }
        assert client.message() == "Ada likes none, is well: yes"


@pytest.mark.parametrize(("action", "reply"), [("decline", "declined"), ("cancel", "cancelled")])
async def test_a_form_that_is_not_accepted_leads_along_the_branch_of_the_answer(action, reply, connect):
    async with connect(FORM) as client:
        client.elicitation_action = action
        await client.open()
        await client.prompt()
        assert client.message() == reply


async def test_an_answer_of_no_known_kind_counts_as_cancelled(connect):
    async with connect(FORM) as client:
        client.answers["elicitation/create"] = answer({"action": "shrug"})
        await client.open()
        await client.prompt()
        assert client.message() == "cancelled"


async def test_a_question_of_the_request_names_the_prompt_and_no_session(connect):
    async with connect(FORM.replace('tool_call = "call"', 'scope = "request"')) as client:
        await client.open()
        await client.prompt()
        asked = client.params("elicitation/create")
        # initialize, session/new, session/prompt
        assert (asked["requestId"], "sessionId" in asked, "toolCallId" in asked) == (3, False, False)


async def test_a_page_is_completed_under_the_id_that_it_was_asked_with(connect):
    async with connect(VISIT) as client:
        await client.open()
        await client.prompt()
        page = client.params("elicitation/create")
        assert (page["mode"], page["url"]) == ("url", "https://example.org/")
        assert client.notifications == [
            ("elicitation/complete", {"elicitationId": page["elicitationId"]}),
        ]


async def test_a_page_of_one_session_is_not_that_of_another(connect):
    async with connect(VISIT) as client:
        await client.open()
        await client.new_session()
        await client.prompt()
        await client.prompt(session_id="demo-2")
        assert len({params["elicitationId"] for _, params in client.notifications}) == 2


@pytest.mark.parametrize(("scenario", "what"), [(FORM, "forms"), (VISIT, "pages to visit")])
async def test_a_client_is_asked_only_what_it_offers_to_ask(scenario, what, connect):
    async with connect(scenario) as client:
        await client.open(capabilities={"elicitation": {}})
        assert await client.prompt() == "end_turn"
        assert (client.requests, client.notifications) == ([], [])
        assert f"The client doesn't support {what}" in client.message()


async def test_a_question_that_the_client_cannot_ask_does_not_end_the_turn(connect):
    async def refuse(_: dict[str, Any]) -> Any:
        raise RequestFailed(-32602, "no such field")

    async with connect(FORM) as client:
        client.answers["elicitation/create"] = refuse
        await client.open()
        assert await client.prompt() == "end_turn"
        assert "no such field" in client.message()


async def test_a_request_beyond_the_protocol_leads_along_the_branch_of_the_answer(connect):
    async with connect(REQUEST) as client:
        await client.open()
        await client.prompt("tea")
        client.answers["_demo/ask"] = answer({"color": "green"})
        await client.prompt()
        assert client.params("_demo/ask") == {"of": "tea"}
        assert client.message() == 'refused: Method not foundanswered {"color": "green"}'


async def test_a_notification_beyond_the_protocol_is_sent_as_it_is(connect):
    async with connect('[[prompt]]\nstep = [{ notify = { method = "_demo/tell", params = { a = 1 } } }]') as client:
        await client.open()
        await client.prompt()
        assert client.notifications == [("_demo/tell", {"a": 1})]


async def test_notices_and_compaction_are_told_to_a_client_that_takes_them(connect):
    async with connect(FOR_SOME) as client:
        await client.open()
        await client.prompt()
        assert client.updates == [
            {"sessionUpdate": "notice", "severity": "info", "title": "Look"},
            {"sessionUpdate": "compaction_update", "compactionId": "compaction-1", "status": "in_progress"},
            {
                "sessionUpdate": "compaction_summary_chunk",
                "compactionId": "compaction-1",
                "content": {"type": "text", "text": "In short"},
            },
            {"sessionUpdate": "compaction_update", "compactionId": "compaction-1", "status": "completed"},
        ]


async def test_a_compaction_can_fail(connect):
    async with connect('[[prompt]]\nstep = [{ compact = { summary = "", error = "too long" } }]') as client:
        await client.open()
        await client.prompt()
        assert [(update["status"], update.get("error")) for update in client.updates] == [
            ("in_progress", None),
            ("failed", "too long"),
        ]


async def test_a_notice_is_for_now_and_not_told_again_when_the_session_is_loaded(connect):
    kept = "[sessions]\n[[prompt]]\nstep = [{ notice = { severity = 'error', title = 'now' } }, { say = 'so' }]"
    async with connect(kept) as client:
        await client.open()
        await client.prompt()
        client.updates.clear()
        params = {"sessionId": "demo-1", "cwd": "/project", "mcpServers": []}
        await client.peer.request("session/load", params)
        assert client.kinds() == ["user_message_chunk", "agent_message_chunk"]


async def test_notices_and_compaction_are_kept_from_a_client_that_does_not_take_them(connect):
    async with connect(FOR_SOME) as client:
        await client.open(capabilities={})
        await client.prompt()
        assert set(client.kinds()) == {"agent_message_chunk"}
        assert client.message().count("The client doesn't support") == 2


async def test_a_message_with_an_id_keeps_it_and_the_next_turn_has_another(connect):
    async with connect('[[prompt]]\nstep = [{ say = "a", id = "x" }, { think = "b", id = "x" }]') as client:
        await client.open()
        await client.prompt()
        await client.prompt()
        ids = [update["messageId"] for update in client.updates]
        assert ids == ["message-1", "message-1", "message-2", "message-2"]


async def test_a_command_that_does_not_end_is_killed_and_that_is_success(connect):
    turns = '[[prompt]]\nstep = [{ run = { command = "serve", kill_after_s = 0 } }]'
    async with connect(turns) as client:
        client.exit_code = None
        await client.open()
        await client.prompt()
        assert client.methods == [
            "terminal/create",
            "terminal/kill",
            "terminal/wait_for_exit",
            "terminal/output",
            "terminal/release",
        ]
        assert client.updates[-1]["status"] == "completed"
