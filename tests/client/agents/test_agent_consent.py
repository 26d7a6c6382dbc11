"""Consent to packages and recently used agents: private to the user, and harmless to lose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.address import Address
from acp_tui.client.agents.command import DEMO, AgentCommand, Package
from acp_tui.client.agents.remembered import (
    MAX_KEPT,
    agree,
    introduction,
    is_agreed,
    note_run,
    note_used,
    recent_agents,
    what_runs,
)
from acp_tui.client.errors import SettingsError

COMMAND = AgentCommand("some", ("npx", "-y", "some@1.0.0"), {"A": "1"}, package=Package("npx", "some@1.0.0", "1.0.0"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "kept.json"


def test_a_command_without_a_package_needs_no_consent(file: Path):
    assert is_agreed(replace(COMMAND, package=None), file)


def test_consent_is_kept_for_the_user_only(file: Path):
    assert not is_agreed(COMMAND, file)
    agree(COMMAND, file)
    assert is_agreed(COMMAND, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "changed",
    [
        replace(COMMAND, name="other"),
        replace(COMMAND, argv=("npx", "-y", "some@1.0.1")),
        replace(COMMAND, argv=(*COMMAND.argv, "--more")),
        replace(COMMAND, env={"A": "2"}),
        replace(COMMAND, env={**COMMAND.env, "NODE_OPTIONS": "--require=/tmp/x"}),
        replace(COMMAND, package=Package("npx", "some@1.0.0", "1.0.1")),
    ],
)
def test_whatever_changes_is_asked_about_again(file: Path, changed: AgentCommand):
    agree(COMMAND, file)
    assert not is_agreed(changed, file)
    agree(changed, file)
    assert is_agreed(changed, file)
    assert is_agreed(COMMAND, file)


LISTED = AgentCommand("gemini", ("gemini", "--acp"), is_listed=True)
RECORDED = AgentCommand("sh", ("sh", "agent.sh"), recorded_in=Path("/project"), sandbox="read-only")


@pytest.mark.parametrize(
    "changed",
    [
        replace(RECORDED, name="bash"),
        replace(RECORDED, argv=("sh", "agent.sh", "--more")),
        replace(RECORDED, env={"A": "1"}),
        replace(RECORDED, recorded_in=Path("/project/inner")),
        replace(RECORDED, sandbox="off"),
    ],
)
def test_what_a_recording_names_runs_unasked_only_just_as_the_user_ran_it(file: Path, changed: AgentCommand):
    assert not is_agreed(RECORDED, file)
    note_run(AgentCommand("sh", ("sh", "agent.sh")), Path("/project"), "read-only", file)
    assert is_agreed(RECORDED, file)
    assert not is_agreed(changed, file)


def test_another_program_of_the_same_name_is_asked_about(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    agree(RECORDED, file)
    (other := tmp_path / "sh").touch(0o700)
    monkeypatch.setenv("PATH", str(other.parent))
    assert not is_agreed(RECORDED, file)


@pytest.mark.parametrize(
    "command", [LISTED, AgentCommand("wss://host", ("wss://host",), address=Address("wss://host"))]
)
def test_what_is_found_by_its_name_leaves_no_consent(command: AgentCommand, file: Path):
    note_run(command, Path("/project"), "", file)
    assert not file.exists()


def test_the_oldest_consents_to_an_agent_are_forgotten(file: Path):
    for number in range(MAX_KEPT + 1):
        agree(replace(COMMAND, argv=(str(number),)), file)
    assert not is_agreed(replace(COMMAND, argv=("0",)), file)
    assert is_agreed(replace(COMMAND, argv=("1",)), file)


@pytest.mark.parametrize("content", ["", "[]", '{"some": []}', '{"some": 5}', "\x00"])
def test_a_broken_file_counts_as_no_consent_and_is_mended(file: Path, content: str):
    file.parent.mkdir()
    file.write_text(content)
    assert not is_agreed(COMMAND, file)
    agree(COMMAND, file)
    assert is_agreed(COMMAND, file)


def test_consent_that_cannot_be_kept_is_said(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="can't be kept"):
        agree(COMMAND, tmp_path / "file" / "kept.json")


def test_all_that_runs_is_told():
    told = "\n".join(what_runs(COMMAND))
    assert all(part in told for part in ("some@1.0.0", "version 1.0.0", "npx -y some@1.0.0", "A=1"))


def test_the_agent_used_last_is_first(file: Path):
    for name in ("a", "b", "a"):
        note_used(name, file)
    assert recent_agents(file) == ("a", "b")


@pytest.mark.parametrize("content", ["", "{}", "[1, {}]"])
def test_a_broken_list_of_recent_agents_is_ignored(file: Path, content: str):
    file.parent.mkdir()
    file.write_text(content)
    assert recent_agents(file) == ()


def test_a_recent_agent_that_cannot_be_noted_is_nobodys_trouble(tmp_path: Path):
    (tmp_path / "file").touch()
    note_used("a", tmp_path / "file" / "recent.json")
    assert recent_agents(tmp_path / "file" / "recent.json") == ()


def test_a_listed_agent_is_introduced_before_its_first_run_only(file: Path):
    assert introduction(LISTED, file) == "gemini runs: gemini --acp"
    assert introduction(LISTED, file) == ""
    assert recent_agents(file) == ("gemini",)


@pytest.mark.parametrize(
    "command",
    [replace(LISTED, is_listed=False), replace(LISTED, package=COMMAND.package), replace(LISTED, name=DEMO)],
    ids=["typed by the user", "shown when asking for consent", "part of acp-tui"],
)
def test_an_agent_whose_command_needs_no_word_is_not_introduced(command: AgentCommand, file: Path):
    assert introduction(command, file) == ""
