"""The whole app with an agent that speaks both versions: shared features look and work the same.

The rest covers what only version 2 has: the agent withdraws a question, and a single command is stopped.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.settings.settings import Settings, WorkspaceSettings
from acp_tui.conversation.facts import WHY_ACTS_ITSELF
from support.desks import Desk
from support.screens import open_agent_page

Version = Literal[1, 2]

SCENARIO = """
description = "for tests"

[session.modes]
current = "ask"
available = [{ id = "ask", name = "Ask" }, { id = "do", name = "Do it" }]

[[prompt]]
match = "edit"
[[prompt.step]]
think = "hm"
[[prompt.step]]
tool = { id = "e", title = "Edit it", kind = "edit", content = [{ diff = { path = "a", old = "1\\n", new = "2\\n" } }] }
[[prompt.step]]
permission = { id = "e", title = "Edit it" }
[[prompt.step.allowed]]
write = { id = "e", path = "a", content = "2\\n" }
[[prompt.step.allowed]]
say = "It is **done**."
[[prompt.step.rejected]]
say = "Then not."

[[prompt]]
match = "run"
[[prompt.step]]
run = { command = "sh", args = ["-c", "echo one; echo two; exit 3"], title = "Run it" }
[[prompt.step]]
say = "It has run."

[[prompt]]
match = "serve"
[[prompt.step]]
run = { command = "sh", args = ["-c", "echo listening; exec sleep 600"], title = "Serve" }
[[prompt.step]]
say = "It has gone on."

[[prompt]]
match = "fail"
[[prompt.step]]
fault = "error"
details = "out of paper"
"""


class OpenVersion(Protocol):
    """Opens the app with the agent, in one version."""

    def __call__(self, version: Version) -> AbstractAsyncContextManager[Desk]: ...


@pytest.fixture
def open_version(tmp_path: Path) -> OpenVersion:
    """Opens it on a project with one file."""
    scenario, project = tmp_path / "both.toml", tmp_path / "project"
    scenario.write_text(SCENARIO)
    project.mkdir()
    (project / "a").write_text("1\n")
    argv = (sys.executable, "-m", "acp_tui.demo", str(scenario), "--speed", "0")

    @asynccontextmanager
    async def opened(version: Version) -> AsyncIterator[Desk]:
        command = AgentCommand("both", argv, protocol=version)
        # Otherwise acp-tui asks about commands of version 1, which this agent doesn't ask for.
        settings = Settings(workspace=WorkspaceSettings(terminals="on"))
        async with open_agent_page(command, project, size=(100, 40), settings=settings) as page:
            desk = Desk(page.pilot, page.session, page.connection, page.clock)
            await desk.has_session()
            yield desk

    return opened


both_versions: Any = pytest.mark.parametrize("version", [1, 2])


@both_versions
async def test_an_edit_is_asked_for_allowed_and_done(open_version: OpenVersion, version: Version) -> None:
    """R2-TURN, R2-PERM, R2-DIFF, R2-FS."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.shows("Permission", "Edit it", "1 y Allow once")
        first_words = " ".join(WHY_ACTS_ITSELF.split()[:6])
        assert (first_words in desk.words) == (version == 2)
        await desk.press_slowly("tab", "y")
        await desk.shows("It is done.", "you chose: Allow once")
        await desk.has_session()
        assert (desk.shown_session.cwd / "a").read_text() == "2\n"


@both_versions
async def test_a_turn_is_cancelled_while_it_asks(open_version: OpenVersion, version: Version) -> None:
    """R2-CANC: the agent of version 2 withdraws its question itself, because the user canceled."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.shows("Permission")
        await desk.press("escape")
        await desk.has_session()
        assert "1 y Allow once" not in desk.words
        await desk.shows("permission: canceled")
        assert (desk.shown_session.cwd / "a").read_text() == "1\n"


@both_versions
async def test_a_prompt_that_is_sent_meanwhile_waits_and_its_command_is_shown(
    open_version: OpenVersion, version: Version
) -> None:
    """R2-QUEUE, R2-TERM."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.shows("Permission")
        await desk.send("run")
        await desk.shows("1 queued")
        await desk.press_slowly("tab", "n")
        await desk.shows("Then not.", "It has run.")
        await desk.emulator_loaded()
        rows = [line.partition("│ ")[2] for line in desk.lines if line.startswith("    │ ")]
        *_, one, two, end = rows
        assert (one, two, end[:6]) == ("one", "two", "exit 3")


async def test_a_prompt_can_be_left_to_the_agent_of_version_2(open_version: OpenVersion) -> None:
    """R2-QUEUE: Alt+T sends it while the turn runs, and the agent uses it when it can."""
    async with open_version(2) as desk:
        await desk.send("edit")
        await desk.shows("Permission")
        await desk.write("run")
        await desk.press("alt+t")
        await desk.until(lambda: not desk.draft)
        assert not desk.shown_session.queue.prompts
        await desk.press_slowly("tab", "n")
        await desk.shows("Then not.", "It has run.")
        await desk.has_session()


async def test_a_prompt_that_waits_with_the_agent_goes_with_the_turn(open_version: OpenVersion) -> None:
    """R2-QUEUE, R2-CANC."""
    async with open_version(2) as desk:
        await desk.send("edit")
        await desk.shows("Permission")
        await desk.write("run")
        await desk.press("alt+t")
        await desk.until(lambda: not desk.draft)
        await desk.press("escape")
        await desk.shows("The agent didn't take it up.")
        await desk.has_session()
        assert "It has run." not in desk.words


@both_versions
async def test_f4_says_what_the_version_means_a_mode_is_set_and_a_failure_is_told(
    open_version: OpenVersion, version: Version
) -> None:
    """R2-INIT, R2-FS, R2-CFG, R2-ERR."""
    async with open_version(version) as desk:
        await desk.press("f4")
        await desk.shows(f"ACP v{version}")
        assert ("runs commands itself" in desk.words) == (version == 2)
        await desk.press("escape")
        assert "mode: Ask" in desk.status
        await desk.press("shift+tab")
        await desk.shows("mode: Do it")
        await desk.send("fail")
        await desk.shows("out of paper")
        await desk.has_session()


async def test_delete_stops_one_command_and_the_turn_goes_on(open_version: OpenVersion) -> None:
    """R2-CANC1."""
    async with open_version(2) as desk:
        await desk.send("serve")
        await desk.until(lambda: "│ listening" in desk.text)  # the command says it before it runs
        desk.view.focus()
        await desk.settled()
        await desk.press("end", "delete")
        await desk.shows("It has gone on.", "ended by SIGTERM")
        assert "cancelled" not in desk.words
