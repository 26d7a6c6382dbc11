"""Agents by name: the shipped table, and the user's own over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.agents.known import EXAMPLE, KNOWN_AGENTS, all_agents, find_agent
from acp_tui.client.errors import AgentNotFound, SettingsError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agents.toml"


def test_the_shipped_names_need_no_file(file: Path):
    assert find_agent("gemini", file).argv == ("gemini", "--acp")
    assert all(agent.install_hint for agent in KNOWN_AGENTS.values())


def test_an_unknown_name_is_said_with_those_that_are_known(file: Path):
    with pytest.raises(AgentNotFound, match="'gemni'") as failure:
        find_agent("gemni", file)
    assert "gemini" in failure.value.hint
    assert str(file) in failure.value.hint


def test_the_example_of_the_hint_is_valid(file: Path):
    file.write_text(EXAMPLE)
    mine = find_agent("mine", file)
    assert (mine.name, mine.argv, mine.env) == (
        "mine",
        ("my-agent", "--acp"),
        {"MY_AGENT_MODEL": "large"},
    )


def test_the_users_agents_stand_beside_and_over_ours(file: Path):
    file.write_text('[agents.gemini]\ncommand = ["my-gemini"]\n')
    agents = all_agents(file)
    assert agents["gemini"].argv == ("my-gemini",)
    assert "claude" in agents


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("agents = [", "cannot be read"),
        ("\xff", "cannot be read"),
        ("agents = 5", "agents is not a table"),
        ("agents.a = 5", "agents.a is not a table"),
        ("[agents.a]", "agents.a.command is not a list of strings"),
        ("[agents.a]\ncommand = []", "agents.a.command is not a list of strings"),
        ('[agents.a]\ncommand = "a b"', "agents.a.command is not a list of strings"),
        ("[agents.a]\ncommand = [1]", "agents.a.command is not a list of strings"),
        ('[agents.a]\ncommand = ["a"]\nenv = []', "agents.a.env is not a table of strings"),
        ('[agents.a]\ncommand = ["a"]\nenv = { A = 1 }', "agents.a.env is not a table of strings"),
    ],
)
def test_each_mistake_in_the_file_is_said_with_an_example(file: Path, content: str, said: str):
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(SettingsError, match=said) as failure:
        find_agent("gemini", file)
    assert str(file) in str(failure.value)
    assert EXAMPLE in failure.value.hint


def test_a_file_that_cannot_be_opened_is_said(file: Path):
    file.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        all_agents(file)
