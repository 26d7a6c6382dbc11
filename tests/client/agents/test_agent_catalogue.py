"""Which agents can run here, how, and why others can't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_tui.client.agents.catalogue import (
    KNOWN_AGENTS,
    Catalogue,
    CatalogueSources,
    EntrySource,
    ListedAgent,
    find_agent,
    read_catalogue,
    this_platform,
)
from acp_tui.client.agents.remembered import note_used
from acp_tui.client.errors import AgentNotFound, SettingsError
from support.installers import BASE, binary, entry, npx

MakePlace = Callable[..., CatalogueSources]
MINE = '[agents.mine]\ncommand = ["mine"]\n'


def named(catalogue: Catalogue, name: str) -> ListedAgent:
    (agent,) = [agent for agent in catalogue.agents if agent.name == name]
    return agent


# What is chosen (R-REG-7)


def test_a_known_agent_that_is_installed_runs_as_it_is_and_asks_nothing(make_place: MakePlace):
    place = make_place("gemini", "npx", registry=[npx("gemini")])
    gemini = find_agent("gemini", place)
    assert (gemini.command.line, gemini.command.package, gemini.obstacle) == ("gemini --acp", None, "")
    assert named(read_catalogue(place), "gemini") == gemini


def test_a_known_agent_that_is_not_installed_runs_from_the_registry_under_our_name(make_place: MakePlace):
    place = make_place("npx", registry=[npx("claude-acp", "@a/claude@1.2.3", env={"A": "1"})])
    for name in ("claude", "claude-acp"):
        command = find_agent(name, place).ready()
        assert (command.name, command.line) == ("claude", "npx -y @a/claude@1.2.3")
        assert command.env == {"A": "1"}
        assert command.package is not None
        assert command.package.version == "1.2.3"


def test_a_known_agent_that_is_nowhere_says_how_to_install_it(make_place: MakePlace):
    place = make_place(registry=[npx("gemini")])
    gemini = find_agent("gemini", place)
    assert gemini.obstacle == "gemini isn't on PATH, nor is npm"
    assert gemini.remedy == "npm install -g @google/gemini-cli"
    with pytest.raises(AgentNotFound, match="gemini can't run here: gemini isn't on PATH") as failure:
        gemini.ready()
    assert "npm install" in failure.value.hint


def test_the_users_own_entry_goes_before_all_others(make_place: MakePlace):
    place = make_place("gemini", "my-gemini", user='[agents.gemini]\ncommand = ["my-gemini"]\n')
    gemini = named(read_catalogue(place), "gemini")
    assert (gemini.command.argv, gemini.source) == (("my-gemini",), EntrySource.USER)
    assert find_agent("gemini", place).command.argv == ("my-gemini",)


def test_an_installed_program_goes_before_the_registrys_package_and_is_asked_about(
    make_place: MakePlace,
):
    both = {"id": "some", **BASE, "distribution": {**npx()["distribution"], **binary()["distribution"]}}
    command = find_agent("some", make_place("some", "npx", registry=[both])).command
    assert command.line == "some acp"
    assert command.package is not None


def test_without_the_program_the_package_is_run(make_place: MakePlace):
    both = {"id": "some", **BASE, "distribution": {**npx()["distribution"], **binary()["distribution"]}}
    assert find_agent("some", make_place("npx", registry=[both])).command.line == "npx -y some-agent@1.2.3"


# Why not


@pytest.mark.parametrize(
    ("distribution", "programs", "obstacle", "remedy"),
    [
        (npx(), (), "npx isn't on PATH; it comes with Node.js", "nodejs.org"),
        (npx(), ("brew",), "npx isn't on PATH", "brew install node"),
        (entry("some", uvx={"package": "x==1"}), (), "uvx isn't on PATH; it comes with uv", "astral.sh"),
        (binary(), (), "some isn't on PATH", "put some on PATH from https://example.org/some.tar.gz (the"),
        (binary(sha256="ab" * 32), (), "some isn't on PATH", f"(SHA-256 {'ab' * 32})"),
        (binary("some", "darwin-x86_64"), (), "no build for linux-x86_64, only for darwin-x86_64", ""),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_with_what_would_help(
    make_place: MakePlace,
    distribution: dict[str, object],
    programs: tuple[str, ...],
    obstacle: str,
    remedy: str,
):
    some = find_agent("some", make_place(*programs, registry=[distribution]))
    assert obstacle in some.obstacle
    assert remedy in some.remedy


def test_a_program_of_the_users_is_looked_for_where_the_agent_will_be_started(make_place: MakePlace):
    place = make_place("mine", user=f'{MINE}env = {{ PATH = "/nowhere" }}\n')
    assert find_agent("mine", place).obstacle == "mine isn't on PATH"


# Names


def test_an_unknown_name_is_answered_with_the_nearest(make_place: MakePlace):
    place = make_place(user=MINE)
    with pytest.raises(AgentNotFound, match="'gemni'") as failure:
        find_agent("gemni", place)
    assert "did you mean gemini?" in failure.value.hint
    assert str(place.agents_file) in failure.value.hint
    with pytest.raises(AgentNotFound) as failure:
        find_agent("zzzzz", place)
    assert "known: claude, codex, demo" in failure.value.hint


def test_a_folder_instead_of_a_name_is_told_where_it_goes(make_place: MakePlace, tmp_path: Path):
    with pytest.raises(AgentNotFound) as failure:
        find_agent(str(tmp_path), make_place())
    assert f"--cwd {tmp_path}" in failure.value.hint


def test_a_mistake_in_the_users_entry_is_raised_for_that_name_only(make_place: MakePlace):
    place = make_place("codex-acp", user="[agents.gemini]\n")
    with pytest.raises(SettingsError, match=r"agents\.gemini\.command"):
        find_agent("gemini", place)
    assert find_agent("codex", place).command.line == "codex-acp"
    catalogue = read_catalogue(place)
    assert "gemini" not in [agent.name for agent in catalogue.agents]
    assert "agents.gemini.command" in catalogue.notes[0]


def test_a_file_that_cannot_be_read_runs_nothing_lest_it_run_something_else(make_place: MakePlace):
    place = make_place("gemini", user="agents = [")
    with pytest.raises(SettingsError, match="can't be read"):
        find_agent("gemini", place)
    assert named(read_catalogue(place), "gemini")


def test_the_registry_cannot_take_a_name_of_ours(make_place: MakePlace):
    place = make_place("npx", registry=[npx("demo", "evil@1.0.0"), npx("codex", "evil@1.0.0")])
    assert find_agent("demo", place).source is EntrySource.DEMO
    assert find_agent("codex", place).obstacle


def test_the_demo_gets_a_project_of_its_own(make_place: MakePlace):
    command = find_agent("demo", make_place()).ready()
    assert command.cwd is not None
    assert (command.cwd / "durations.py").is_file()


# The list


def test_the_last_used_are_first_then_those_that_can_run_then_those_that_ask(make_place: MakePlace):
    place = make_place("gemini", "qwen", "npx", "mine", user=MINE, registry=[npx("zed"), binary("absent")])
    for name in ("absent", "qwen"):
        note_used(name, place.recent_file)
    names = [agent.name for agent in read_catalogue(place).agents]
    assert names == [
        *("qwen", "absent"),
        *("demo", "gemini", "mine"),
        "zed",
        *("claude", "codex", "fast-agent", "opencode"),
    ]


def test_what_is_wrong_in_the_registry_and_how_old_it_is_is_said(make_place: MakePlace):
    catalogue = read_catalogue(make_place(registry=[entry("bad")]))
    assert catalogue.fetched_at == 1.0
    assert catalogue.registry_notes == ("bad: it doesn't say how to run it",)
    assert read_catalogue(CatalogueSources()).fetched_at is None


def test_every_known_agent_says_how_it_is_installed():
    assert all(agent.install_hint and agent.description for agent in KNOWN_AGENTS.values())


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [("linux", "x86_64", "linux-x86_64"), ("linux", "AMD64", "linux-x86_64"), ("darwin", "arm64", "darwin-aarch64")],
)  # fmt: skip
def test_the_platform_is_spelt_as_in_the_registry(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: str
):
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert this_platform() == expected


KEPT = {
    "claude": "@agentclientprotocol/claude-agent-acp",
    "codex": "@agentclientprotocol/codex-acp",
    "fast-agent": "fast-agent-mcp",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
}
"""The packages that were kept on 27 November 2026, each with releases in the weeks before, at npm or PyPI.

`@zed-industries/claude-agent-acp` has had no release since March. What the registry names for opencode and fast-agent
wasn't there that day.
"""


def test_known_agents_are_installed_from_the_packages_that_are_kept() -> None:
    assert {name: known.install_hint.split()[-1] for name, known in KNOWN_AGENTS.items()} == KEPT
