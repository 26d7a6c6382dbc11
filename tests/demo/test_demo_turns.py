"""What a turn of the demo agent does, step by step."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_tui.rpc import RequestFailed

ASKING = """
[[prompt]]
[[prompt.step]]
permission = { id = "fix", title = "Edit a.py" }
[[prompt.step.allowed]]
write = { id = "fix", path = "a.py", content = "new" }
[[prompt.step.rejected]]
say = "as you wish"
"""

RUNNING = """
[[prompt]]
[[prompt.step]]
run = { command = "make", args = ["-k"], env = { CI = "1" } }
[[prompt.step.succeeded]]
say = "built"
[[prompt.step.failed]]
say = "broken"
"""


async def test_a_message_is_streamed_in_pieces_that_join_to_the_text(connect):
    text = "One sentence that is longer than twenty characters."
    async with connect(f'[[prompt]]\nstep = [{{ say = "{text}" }}]') as client:
        await client.open()
        assert await client.prompt() == "end_turn"
        assert client.message() == text
        assert len(client.updates) == 3


async def test_a_prompt_is_answered_by_the_first_turn_that_matches_it(connect):
    turns = """
[[prompt]]
match = "^/?hello"
step = [{ say = "matched {text}" }]
[[prompt]]
step = [{ say = "first " }]
[[prompt]]
step = [{ say = "last " }]
"""
    async with connect(turns) as client:
        await client.open()
        for prompt in ("what", "/HELLO there", "what", "what"):
            await client.prompt(prompt)
        assert client.message() == "first matched /HELLO therelast last "


async def test_a_plan_entry_has_its_mark_and_priority(connect):
    async with connect('[[prompt]]\nstep = [{ plan = ["[x] high: a", "[~] b", "[ ] low: c"] }]') as client:
        await client.open()
        await client.prompt()
        entries = client.updates[0]["entries"]
        assert [entry["status"] for entry in entries] == ["completed", "in_progress", "pending"]
        assert [entry["priority"] for entry in entries] == ["high", "medium", "low"]


async def test_a_diff_is_against_what_was_read_and_its_path_is_absolute(connect):
    turns = """
[[prompt]]
[[prompt.step]]
read = { path = "a.py" }
[[prompt.step]]
tool = { title = "Edit", content = [{ diff = { path = "a.py", new = "b = 2" } }] }
"""
    async with connect(turns) as client:
        client.files["/project/a.py"] = "a = 1"
        await client.open()
        await client.prompt()
        diff = {"type": "diff", "path": "/project/a.py", "oldText": "a = 1", "newText": "b = 2"}
        assert client.updates[-1]["content"] == [diff]


async def test_a_file_that_cannot_be_read_plays_the_missing_branch(connect):
    turns = """
[[prompt]]
[[prompt.step]]
read = { path = "a.py" }
[[prompt.step.missing]]
say = "gone"
[[prompt.step.missing]]
stop = "refusal"
"""
    async with connect(turns) as client:
        await client.open()
        assert await client.prompt() == "refusal"
        assert client.message() == "gone"


async def test_an_allowed_edit_is_written_and_its_tool_call_completed(connect):
    async with connect(ASKING) as client:
        await client.open()
        await client.prompt()
        assert client.files == {"/project/a.py": "new"}
        assert client.updates[-1] == update_of("call-1", status="completed")


async def test_a_rejected_edit_is_not_written_and_its_tool_call_failed(connect):
    async with connect(ASKING) as client:
        client.permission_kind = "reject_once"
        await client.open()
        assert await client.prompt() == "end_turn"
        assert client.files == {}
        assert client.updates[0] == update_of("call-1", status="failed")
        assert client.message() == "as you wish"


async def test_a_permission_answered_cancelled_ends_the_turn_cancelled(connect):
    async with connect(ASKING) as client:
        client.answers["session/request_permission"] = answer({"outcome": {"outcome": "cancelled"}})
        await client.open()
        assert await client.prompt() == "cancelled"


async def test_each_turn_gives_its_tool_calls_fresh_ids(connect):
    async with connect(ASKING) as client:
        await client.open()
        await client.prompt()
        await client.prompt()
        asked = [params["toolCall"] for method, params in client.requests if "permission" in method]
        assert [call["toolCallId"] for call in asked] == ["call-1", "call-2"]


async def test_a_command_runs_in_an_embedded_terminal_that_is_released(connect):
    async with connect(RUNNING) as client:
        await client.open()
        await client.prompt()
        assert client.methods == [
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/output",
            "terminal/release",
        ]
        created = client.params("terminal/create")
        assert (created["command"], created["args"], created["cwd"]) == ("make", ["-k"], "/project")
        assert created["env"] == [{"name": "CI", "value": "1"}]
        assert client.updates[0]["title"] == "make -k"
        assert client.updates[1]["content"] == [{"type": "terminal", "terminalId": "term-1"}]
        assert client.message() == "built"


async def test_a_command_is_told_the_speed_unless_it_is_the_usual_one(connect):
    turns = '[[prompt]]\nstep = [{ run = { command = "make", env = { DEMO_SPEED = "{speed}" } } }]'
    for speed, env in ((1, []), (0, [{"name": "DEMO_SPEED", "value": "0"}])):
        async with connect(turns, speed=speed) as client:
            await client.open()
            await client.prompt()
            assert client.params("terminal/create").get("env", []) == env


async def test_a_failing_command_fails_its_tool_call(connect):
    async with connect(RUNNING) as client:
        client.exit_code = 3
        await client.open()
        await client.prompt()
        assert client.updates[2]["status"] == "failed"
        assert client.updates[2]["rawOutput"]["exitCode"] == 3
        assert client.message() == "broken"


async def test_a_terminal_that_cannot_be_waited_for_is_killed_and_released(connect):
    async def refuse(_: dict[str, Any]) -> Any:
        raise RequestFailed(-32603, "no waiting here")

    async with connect(RUNNING) as client:
        client.answers["terminal/wait_for_exit"] = refuse
        await client.open()
        assert await client.prompt() == "end_turn"
        assert client.methods[-2:] == ["terminal/kill", "terminal/release"]
        assert "no waiting here" in client.message()


async def test_a_turn_can_play_what_another_scenario_would_answer(connect):
    async with connect('[[prompt]]\nplay = "failures"') as client:
        await client.open()
        assert [await client.prompt(), await client.prompt()] == ["refusal", "max_tokens"]


async def test_a_client_without_files_and_terminals_is_told_so(connect):
    turns = """
[[prompt]]
step = [
  { read = { path = "a.py" } },
  { write = { path = "a.py", content = "" } },
  { run = { command = "make" } },
]
"""
    async with connect(turns) as client:
        await client.open(capabilities={})
        assert await client.prompt() == "end_turn"
        assert client.requests == []
        said = client.message()
        assert "can't read files" in said
        assert "can't write files" in said
        assert "has no terminal" in said
        assert [update["status"] for update in client.updates if "status" in update].count("failed") == 3


async def test_steps_played_together_wait_at_the_same_time(connect):
    turns = """
[[prompt]]
[[prompt.step]]
together = [{ permission = { title = "a" } }, { permission = { title = "b" } }]
"""
    both_asked = anyio.Event()

    async def when_both_are_asked(params: dict[str, Any]) -> Any:
        if params["toolCall"]["title"] == "b":
            both_asked.set()
        await both_asked.wait()
        return {"outcome": {"outcome": "selected", "optionId": "allow"}}

    async with connect(turns) as client:
        client.answers["session/request_permission"] = when_both_are_asked
        await client.open()
        assert await client.prompt() == "end_turn"


async def test_placeholders_are_filled_but_what_they_bring_is_not_looked_at(connect):
    async with connect('[texts]\na = "{b}"\nb = "!"\n[[prompt]]\nstep = [{ say = "{a} {unknown} {text}" }]') as c:
        await c.open()
        await c.prompt("{cwd}")
        assert c.message() == "{b} {unknown} {cwd}"


async def test_an_error_fault_is_the_answer_to_the_prompt(connect):
    async with connect('[[prompt]]\nstep = [{ fault = "error", code = -1, details = "why" }]') as client:
        await client.open()
        with pytest.raises(RequestFailed) as failed:
            await client.prompt()
        assert (failed.value.code, failed.value.detail) == (-1, "why")


async def test_late_updates_come_after_the_end_of_the_turn(connect):
    turns = """
[[prompt]]
[[prompt.step]]
fault = "late_update"
late = [{ say = "late" }]
"""
    async with connect(turns) as client:
        await client.open()
        seen_at_the_end = await client.peer.request(
            "session/prompt",
            {"sessionId": "demo-1", "prompt": []},
            read=lambda _: list(client.updates),
        )
        assert seen_at_the_end == []
        await client.until(lambda: client.message() == "late")


async def test_junk_does_not_stop_the_turn(connect):
    async with connect('[[prompt]]\nstep = [{ fault = "junk", lines = ["npm warn", "5"] }, { say = "on" }]') as c:
        await c.open()
        assert await c.prompt() == "end_turn"
        assert c.junk == [b"npm warn", b"5"]
        assert c.message() == "on"


async def test_an_unknown_update_is_sent_as_it_is(connect):
    async with connect('[[prompt]]\nstep = [{ fault = "unknown_update" }]') as client:
        await client.open()
        await client.prompt()
        assert client.kinds() == ["telepathy"]


def update_of(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id} | fields


def answer(result: Any) -> Any:
    async def give(_: dict[str, Any]) -> Any:
        return result

    return give
