"""What a turn reports besides its text: commands, plan, and thoughts; and its session's model."""

import pytest

from acp_tui.testing import AgentFailure, StartAgent
from support.agents import scripted_argv

RUNS = """
    prompt = open_session()
    send(id=1, method="terminal/create", params={"sessionId": "s1", "command": "echo", "args": ["hi"]})
    terminal = {"sessionId": "s1", "terminalId": read()["result"]["terminalId"]}
    send(id=2, method="terminal/wait_for_exit", params=terminal)
    read()
    send(id=3, method="terminal/release", params=terminal)
    read()
    end(prompt)
    end(expect("session/prompt"))
    serve_until_closed()
"""
PLANS = """
    prompt = open_session()
    update("agent_thought_chunk", content={"type": "text", "text": "First read, "})
    update("agent_thought_chunk", content={"type": "text", "text": "then write."})
    steps = [
        {"content": "Read", "priority": "high", "status": "completed"},
        {"content": "Write", "priority": "low", "status": "pending"},
    ]
    update("plan", entries=steps)
    end(prompt)
    serve_until_closed()
"""
MODEL = {
    "type": "select",
    "id": "engine",
    "name": "Model",
    "category": "model",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
}


def test_a_command_is_known_with_its_end_and_its_output(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv(RUNS))
    (run,) = agent.prompt("go").commands
    assert (run.command, run.exit_code, run.output) == ("echo hi", 0, "hi\n")
    assert agent.prompt("again").commands == ()


def test_plans_and_thoughts_are_known(acp_agent: StartAgent) -> None:
    turn = acp_agent(scripted_argv(PLANS)).prompt("go")
    assert turn.plan is not None
    assert [step.content for step in turn.plan.steps] == ["Read", "Write"]
    assert turn.plan.completed == 1
    assert any("read, then" in thought for thought in turn.thoughts)


def test_the_model_is_set_whatever_its_option_is_called(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv(f"""
            handshake()
            model = {MODEL!r}
            answer(expect("session/new"), sessionId="s1", configOptions=[model])
            answer(expect("session/set_config_option"), configOptions=[{{**model, "currentValue": "large"}}])
            serve_until_closed()
        """)
    )
    assert agent.session.model == "small"

    agent.session.set_model("large")

    assert agent.session.model == "large"


def test_what_comes_when_a_turn_is_over_is_judged_behind_a_stop(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("prompt = open_session(); say('on time'); end(prompt); say('late'); serve_until_closed()")
    )
    session = agent.new_session()
    session.prompt("go")
    session.wait_until(lambda session: "late" in str(session.updates))
    agent.stop()

    agent.assert_conformant(warnings=True)
    with pytest.raises(AgentFailure, match="A-TURN-4"):
        agent.assert_conformant(notes=True)
