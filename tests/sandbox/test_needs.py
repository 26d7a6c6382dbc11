"""What agents need in a sandbox: every one has an answer, and what says what it runs later is read-only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.catalogue import KNOWN_AGENTS
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box, make_box
from acp_tui.client.sandbox.needs import NEEDS, Needs, needs_of
from acp_tui.client.settings.settings import WORKSPACE


def _box(home: Path, needs: Needs, program: str = "/usr/bin/true", **environ: str) -> Box:
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    variables = {"HOME": str(home), "PATH": "/usr/bin", **environ}
    box = make_box(WORKSPACE, needs, [project], [program], variables, {})
    box.discard()
    return box


@pytest.mark.parametrize("name", KNOWN_AGENTS)
def test_a_known_agent_has_needs_by_its_name_its_registry_id_and_its_program(name: str) -> None:
    known = KNOWN_AGENTS[name]
    assert NEEDS[name] is NEEDS[known.registry_id] is NEEDS[known.argv[0]]


@pytest.mark.parametrize(
    "argv",
    [
        ["/opt/bin/gemini", "--acp"],
        ["npx", "-y", "@google/gemini-cli@0.61.0", "--acp"],
        ["/usr/bin/env", "gemini", "--acp"],
    ],
)
def test_an_agent_of_the_users_own_name_is_known_by_what_it_runs(argv: list[str]) -> None:
    assert needs_of("mine", argv) is NEEDS["gemini"]
    assert needs_of("codex", argv) is NEEDS["codex"]


def test_what_an_agent_is_told_gives_it_no_login_of_another() -> None:
    assert needs_of("mine", ["mine", "--model", "claude"]) == needs_of("mine")


def test_an_unknown_agent_gets_the_folders_of_its_name_that_exist_and_no_variables(tmp_path: Path) -> None:
    for folder in (".my-agent", ".config/my-agent"):
        (tmp_path / folder).mkdir(parents=True)
    box = _box(tmp_path, needs_of("my-agent"), MY_AGENT_KEY="a secret, if the program is called aws")

    written = {path.relative_to(tmp_path).as_posix() for path in box.listed(Access.WRITABLE)}
    assert written == {"project", ".my-agent", ".config/my-agent"}
    assert not (tmp_path / ".local/share/my-agent").exists()
    assert "MY_AGENT_KEY" not in box.environment


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("ssh", ".ssh"),
        ("aws", ".aws"),
        ("mozilla", ".mozilla"),
        ("gh", ".config/gh"),
        ("google-chrome", ".config/google-chrome"),
        ("config", ".config"),
        ("local", ".local"),
        ("claude", ".claude"),
    ],
)
def test_a_program_with_the_name_of_somebody_elses_folder_does_not_get_it(
    tmp_path: Path, name: str, folder: str
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    guessed = needs_of(name) if name != "claude" else replace(needs_of("other"), state=("~/.claude",))
    box = _box(tmp_path, guessed)

    assert box.listed(Access.WRITABLE) == [tmp_path / "project"]


def test_nothing_is_left_in_the_home_folder_for_the_demo(tmp_path: Path) -> None:
    assert _box(tmp_path, needs_of("demo")).listed(Access.WRITABLE) == [tmp_path / "project"]
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".ssh", "~", "${HOME}"])
def test_a_name_that_is_no_name_of_a_folder_needs_nothing(name: str) -> None:
    assert needs_of(name) == Needs()


def test_what_an_agent_runs_later_is_read_only_even_if_it_was_missing(tmp_path: Path) -> None:
    box = _box(tmp_path, needs_of("claude"))

    settings, hooks = tmp_path / ".claude/settings.json", tmp_path / ".claude/hooks"
    assert box.places[settings] is box.places[hooks] is Access.READABLE
    assert settings.read_text("utf-8") == "{}\n"
    assert hooks.is_dir()
    assert box.access(tmp_path / ".claude/projects/x.jsonl") is Access.WRITABLE


def test_no_agent_could_lead_another_ones_folder_elsewhere() -> None:
    folders = {folder for needs in NEEDS.values() for folder in needs.state}
    assert not [(one, other) for one in folders for other in folders if one.startswith(f"{other}/")]


def test_what_an_agent_runs_later_may_be_no_link(tmp_path: Path) -> None:
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.symlink_to(tmp_path / "kept.json")
    with pytest.raises(OSError, match="is a link, which an agent could replace"):
        _box(tmp_path, needs_of("claude"))


def test_what_an_agent_runs_later_keeps_what_is_in_it(tmp_path: Path) -> None:
    settings = tmp_path / ".codex/config.toml"
    settings.parent.mkdir()
    settings.write_text('model = "mine"\n', "utf-8")

    box = _box(tmp_path, needs_of("codex"))

    assert settings.read_text("utf-8") == 'model = "mine"\n'
    assert box.places[settings] is Access.READABLE


def test_a_variable_moves_an_agents_folder(tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere/claude"
    box = _box(tmp_path, needs_of("claude"), CLAUDE_CONFIG_DIR=str(moved))

    assert box.places[moved] is Access.WRITABLE
    assert box.environment["CLAUDE_CONFIG_DIR"] == str(moved)
    assert not (tmp_path / ".claude").exists()


def test_no_agent_sees_another_ones_login(tmp_path: Path) -> None:
    login = tmp_path / ".codex/auth.json"
    login.parent.mkdir()
    login.write_text("{}", "utf-8")

    assert _box(tmp_path, needs_of("codex")).access(login) is Access.WRITABLE
    assert _box(tmp_path, needs_of("claude")).access(login) is Access.HIDDEN


def test_a_program_of_a_virtual_environment_gets_its_interpreter(tmp_path: Path) -> None:
    environment, python = tmp_path / "tool", tmp_path / "pythons/3.13"
    for folder in (environment / "bin", python / "bin"):
        folder.mkdir(parents=True)
    (python / "bin/python").touch()
    (environment / "bin/python").symlink_to(python / "bin/python")
    (environment / "bin/agent").touch()
    (environment / "pyvenv.cfg").touch()

    box = _box(tmp_path, Needs(), str(environment / "bin/agent"))

    assert box.places[environment] is box.places[python] is Access.READABLE
