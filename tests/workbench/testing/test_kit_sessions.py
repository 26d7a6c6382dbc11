"""What a test can do with an agent beyond a plain turn."""

import re
from pathlib import Path

import pytest

from acp_tui.conversation.content import ResourceLink
from acp_tui.testing import AgentFailure, StartAgent
from support.agents import our_children, scripted_argv

AGENT = Path(__file__).with_name("example_agent.py")
CANCELLED = """
    prompt = open_session()
    say("on it")
    expect("session/cancel")
    end(prompt, "cancelled")
    serve_until_closed()
"""
MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}],
}


def test_a_turn_can_be_cancelled_when_something_has_happened(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv(CANCELLED))

    running = agent.start_prompt("go")
    running.wait_until(lambda turn: turn.text)
    assert running.turn.stop_reason is None
    agent.session.cancel()

    assert running.finish().stop_reason == "cancelled"


def test_a_turn_that_ends_before_what_was_waited_for_fails_the_test(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("end(open_session()); serve_until_closed()"))

    with pytest.raises(AgentFailure, match="exited before"):
        agent.start_prompt("go").wait_until(lambda turn: turn.tool_calls)


async def test_a_turn_can_be_awaited(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv(CANCELLED))

    running = agent.start_prompt("go")
    running.cancel()

    assert (await running).stop_reason == "cancelled"


def test_a_question_can_be_answered_by_a_cancel(acp_agent: StartAgent) -> None:
    agent = acp_agent(AGENT, files={"notes.md": ""})
    agent.permissions.expect(re.compile("^Edit"), tool="edit").cancel_turn()

    turn = agent.prompt("go")

    assert turn.stop_reason == "cancelled"
    assert [asked.answer for asked in turn.permissions] == [None]


def test_each_expected_question_is_answered_once_in_its_order(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            for _ in range(3):
                ask("allow_once", "reject_once")
                say(outcome() + " ")
            end(prompt)
            serve_until_closed()
        """)
    )
    agent.on_permission("allow_once")
    agent.permissions.expect("Delete").reject()
    agent.permissions.expect().choose("allow_once")

    assert agent.prompt("go").text == "reject_once allow_once allow_once "


def test_the_mode_and_the_commands_are_those_of_the_session(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv(f"""
            handshake()
            answer(expect("session/new"), sessionId="s1", modes={MODES})
            update("available_commands_update", availableCommands=[{{"name": "test", "description": "Run"}}])
            answer(expect("session/set_mode"))
            serve_until_closed()
        """)
    )
    agent.session.wait_until(lambda session: session.commands)

    assert agent.session.mode == "ask"
    agent.session.set_mode("plan")

    assert agent.session.mode == "plan"
    assert [command.name for command in agent.session.commands] == ["test"]


def test_a_loaded_session_has_its_history(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            handshake(agentCapabilities={"loadSession": True})
            load = expect("session/load")
            update("user_message_chunk", session="old", content={"type": "text", "text": "Hello"})
            answer(load)
            serve_until_closed()
        """)
    )

    session = agent.load_session("old")

    assert agent.capabilities.load_session
    assert [update["content"]["text"] for update in session.updates] == ["Hello"]
    assert len(session.conversation.entries) == 1


def test_forms_and_pages_are_answered_as_the_test_says(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            form = {"sessionId": "s1", "mode": "form", "message": "Who?", "requestedSchema": schema}
            send(id=1, method="elicitation/create", params=form)
            say(read()["result"]["content"]["name"])
            page = {"sessionId": "s1", "mode": "url", "message": "Look", "elicitationId": "e", "url": "https://a.example/"}
            send(id=2, method="elicitation/create", params=page)
            say(" " + read()["result"]["action"])
            end(prompt)
            serve_until_closed()
        """)
    )
    agent.elicitations.expect("Who").accept(name="me")
    agent.on_elicitation("decline")

    turn = agent.prompt("go")

    assert turn.messages == ("me", " decline")
    assert [asked.url for asked in turn.elicitations] == [None, "https://a.example/"]


def test_a_prompt_can_have_other_blocks(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv(
            "prompt = open_session(); say(prompt['params']['prompt'][1]['uri']); end(prompt); serve_until_closed()"
        )
    )

    turn = agent.prompt(["Read", ResourceLink("file:///a.py", "a.py")])

    assert turn.text == "file:///a.py"


def test_what_is_outside_of_the_workspace_is_a_question_too(acp_agent: StartAgent, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("42")
    agent = acp_agent(
        scripted_argv(f"""
            prompt = open_session()
            send(id=1, method="fs/read_text_file", params={{"sessionId": "s1", "path": {str(secret)!r}}})
            say("error" if "error" in read() else "read")
            end(prompt)
            serve_until_closed()
        """)
    )
    agent.permissions.expect("outside the workspace").reject()

    turn = agent.prompt("go")

    assert turn.text == "error"
    assert turn.permissions[0].note is not None
    assert turn.tool_calls == ()


def test_the_next_turn_begins_with_nothing_of_the_last(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            update("plan", entries=[{"content": "a", "priority": "high", "status": "pending"}])
            update("agent_thought_chunk", content={"type": "text", "text": "hm"})
            say("one")
            end(prompt)
            prompt = expect("session/prompt")
            say("two")
            end(prompt)
            serve_until_closed()
        """)
    )

    first, second = agent.prompt("1"), agent.prompt("2")

    assert (first.text, first.thoughts, first.plan is None) == ("one", ("hm",), False)
    assert (second.text, second.thoughts, second.plan) == ("two", (), None)
    assert [update["sessionUpdate"] for update in second.updates] == ["agent_message_chunk"]


def test_what_it_says_on_stderr_is_there_line_by_line(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv(
            "handshake(); sys.stderr.write('one\\ntwo\\n'); answer(expect('session/new'), sessionId='s1'); read()"
        ),
        env={"PYTHONUNBUFFERED": "1"},
    )
    agent.new_session()
    agent.stop()

    assert agent.stderr == "one\ntwo"


@pytest.mark.parametrize("fails", [False, True])
def test_no_process_is_left_however_a_call_ended(acp_agent: StartAgent, fails: bool) -> None:
    agent = acp_agent(scripted_argv("handshake(); serve_until_closed()"))
    if fails:
        with pytest.raises(AssertionError):
            agent.load_session("s")

    agent.stop()

    assert our_children() == []
