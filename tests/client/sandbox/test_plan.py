"""Which sandbox an agent runs in: its own, else that of the settings; and none that doesn't exist."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from acp_tui.client.agents.address import read_address
from acp_tui.client.agents.command import AgentCommand, Sandboxes, sandboxes_of
from acp_tui.client.agents.starting import sandboxed
from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.sandbox import sandbox
from acp_tui.client.sandbox.engines import Engine
from acp_tui.client.settings.reader import read_settings
from acp_tui.client.settings.settings import READ_ONLY, WORKSPACE, SandboxProfile

SETTINGS = """
[agent]
sandbox = "workspace"

[sandbox.offline]
network = false
writable = [".", "~/out"]
"""


def settings(tmp_path: Path, text: str = SETTINGS) -> Sandboxes:
    file = tmp_path / "settings.toml"
    file.write_text(text, "utf-8")
    read = read_settings(file, {"HOME": "/home/u"})
    assert not read.problems
    return sandboxes_of(read.settings)


@pytest.mark.parametrize(
    ("own", "expected"), [("", WORKSPACE), ("read-only", READ_ONLY), ("off", None)], ids=["none", "read-only", "off"]
)
def test_an_agents_own_sandbox_goes_before_that_of_the_settings(
    tmp_path: Path, own: str, expected: SandboxProfile | None
) -> None:
    plan = AgentCommand("a", ("a",), sandbox=own).planned_in(settings(tmp_path))
    assert (plan and plan.profile) == expected


def test_a_sandbox_of_ones_own_is_known_by_its_name(tmp_path: Path) -> None:
    plan = AgentCommand("a", ("a",), sandbox="offline").planned_in(settings(tmp_path))
    assert plan is not None
    assert plan.profile == SandboxProfile("offline", writable=(".", "/home/u/out"), network=False)


def test_without_a_word_there_is_no_sandbox() -> None:
    assert AgentCommand("a", ("a",)).planned_in(Sandboxes()) is None


def test_a_sandbox_that_does_not_exist_starts_nothing() -> None:
    with pytest.raises(AgentNotRunnable, match="no sandbox named 'wrokspace'"):
        AgentCommand("a", ("a",), sandbox="wrokspace").planned_in(Sandboxes())


def test_an_additional_directory_that_is_missing_keeps_no_agent_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "engine_for", lambda _: Engine("bubblewrap"))
    folders = tuple(Path(os.path.realpath(tmp_path)) / name for name in ("project", "notes", "missing"))
    for folder in folders[:2]:
        folder.mkdir()
    plan = AgentCommand("a", ("a",)).planned_in(Sandboxes("workspace", directories=folders[1:]))
    made = sandboxed(AgentCommand("a", (sys.executable,)), folders[0], plan)
    assert made is not None
    made.box.discard()
    assert made.box.folders == folders[:2]


def test_an_agent_elsewhere_cannot_be_put_in_one_and_that_is_said() -> None:
    address = AgentCommand("a", ("wss://a",), address=read_address("wss://a"), sandbox="workspace")
    wrapped = AgentCommand("a", ("docker", "a"), is_elsewhere=True, sandbox="workspace")
    for command in (address, wrapped):
        with pytest.raises(AgentNotRunnable, match="runs elsewhere"):
            command.planned_in(Sandboxes())


@pytest.mark.parametrize(
    "wrong",
    ["[sandbox]\noffline = true", "[sandbox.offline]\nhidden = [1]", "[sandbox.offline]\nnetwork = 'no'"],
)
def test_with_a_mistake_in_a_sandbox_acp_tui_does_not_start(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(wrong, "utf-8")
    assert read_settings(file, {}).rule_problems


def test_no_table_of_the_settings_makes_read_only_writable(tmp_path: Path) -> None:
    with pytest.raises(AgentNotRunnable, match="read-only"):
        AgentCommand("a", ("a",), sandbox="read-only").planned_in(
            settings(tmp_path, "[sandbox.read-only]\nenv = ['X']")
        )
