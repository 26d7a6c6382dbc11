"""The README's example, with an agent on the protocol's Python SDK; and the same kit with the scripted agent."""

import sys
from pathlib import Path
from typing import Literal

import pytest

from acp_tui.client.agents.demo_agent import copy_project
from acp_tui.testing import StartAgent
from support.agents import SDK_AGENT


def test_the_agent_edits_only_what_it_may(acp_agent: StartAgent) -> None:
    pytest.importorskip("acp")
    agent = acp_agent(SDK_AGENT, files={"notes.txt": "hello"})
    agent.permissions.expect("Edit notes.txt").allow()

    turn = agent.prompt("Make it louder")

    assert turn.stop_reason == "end_turn"
    assert turn.files_changed == {"notes.txt": "HELLO"}
    turn.assert_tool_call("Edit", kind="edit", status="completed", path="notes.txt")
    turn.assert_diff("notes.txt", old="hello", new="HELLO")
    turn.assert_tool_call(kind="execute", status="completed")
    turn.assert_text_contains("from the shell (0)")
    agent.assert_conformant()


def test_the_agent_leaves_the_file_alone_where_it_may_not_edit_it(acp_agent: StartAgent) -> None:
    pytest.importorskip("acp")
    agent = acp_agent(SDK_AGENT, files={"notes.txt": "hello"})
    agent.on_permission("reject_once")

    turn = agent.prompt("Make it louder")

    assert [asked.title for asked in turn.permissions] == ["Edit notes.txt"]
    assert not turn.files_changed


@pytest.mark.parametrize("version", [1, 2])
def test_the_scripted_agent_fixes_its_bug(acp_agent: StartAgent, tmp_path: Path, version: Literal[1, 2]) -> None:
    project = tmp_path / "project"
    copy_project(project)
    argv = [sys.executable, "-m", "acp_tui.demo", "coding", "--speed", "0"]
    agent = acp_agent(argv, cwd=project, protocol=version)
    agent.on_permission("allow_once")

    turn = agent.prompt("The tests fail. Fix them.")

    assert turn.stop_reason == "end_turn"
    assert turn.plan is not None
    assert turn.plan.completed == len(turn.plan.steps)
    assert agent.protocol_version == version
    assert [asked.title for asked in turn.permissions] == ["Edit durations.py", "Run the tests"]
    turn.assert_diff("durations.py", contains="fullmatch")
    assert "8 passed" in turn.commands[-1].output
    assert list(turn.files_changed) == ["durations.py"]
    agent.assert_conformant(warnings=True)
