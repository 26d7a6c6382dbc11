"""A tab with an agent that speaks both versions: shared features work the same.

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
from acp_tui.conversation.entries import TerminalState, ToolCallEntry
from acp_tui.conversation.facts import WHY_ACTS_ITSELF, mode_of
from acp_tui.ui.dialogs.agent_offers import CapabilityCard
from support.frame_log import FrameLog
from support.tabs import TabDesk, tabs_of

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

    def __call__(self, version: Version) -> AbstractAsyncContextManager[TabDesk]: ...


@pytest.fixture
def open_version(tmp_path: Path, frame_log: FrameLog) -> OpenVersion:
    """Opens it on a project with one file."""
    scenario, project = tmp_path / "both.toml", tmp_path / "project"
    scenario.write_text(SCENARIO)
    project.mkdir()
    (project / "a").write_text("1\n")
    argv = (sys.executable, "-m", "acp_tui.demo", str(scenario), "--speed", "0")

    @asynccontextmanager
    async def opened(version: Version) -> AsyncIterator[TabDesk]:
        command = AgentCommand("both", argv, protocol=version)
        # Otherwise acp-tui asks about commands of version 1, which this agent doesn't ask for.
        settings = Settings(workspace=WorkspaceSettings(terminals="on"))
        async with tabs_of(command, project, frame_log, settings) as desk:
            await desk.has_session()
            yield desk

    return opened


def calls(desk: TabDesk) -> list[ToolCallEntry]:
    return [entry for entry in desk.shown_session.conversation.entries if isinstance(entry, ToolCallEntry)]


def terminals(desk: TabDesk) -> list[TerminalState]:
    return [*desk.shown_session.conversation.terminals.values()]


both_versions: Any = pytest.mark.parametrize("version", [1, 2])


@both_versions
async def test_an_edit_is_asked_for_allowed_and_done(open_version: OpenVersion, version: Version) -> None:
    """R2-TURN, R2-PERM, R2-DIFF, R2-FS."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        (request,) = desk.shown_session.conversation.permissions.values()
        assert (request.note == WHY_ACTS_ITSELF) == (version == 2)
        await desk.decide("Allow once")
        await desk.shows("It is **done**.")
        assert [decision.option_name for decision in calls(desk)[0].decisions] == ["Allow once"]
        await desk.has_session()
        assert (desk.shown_session.cwd / "a").read_text() == "2\n"


@both_versions
async def test_a_turn_is_cancelled_while_it_asks(open_version: OpenVersion, version: Version) -> None:
    """R2-CANC: the agent of version 2 withdraws its question itself, because the user canceled."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        await desk.cancel()
        await desk.until(
            lambda: desk.shown_session.conversation.is_idle and not desk.shown_session.conversation.is_asking
        )
        (decision,) = calls(desk)[0].decisions
        assert decision.option_name is None
        assert (desk.shown_session.cwd / "a").read_text() == "1\n"


@both_versions
async def test_a_prompt_that_is_sent_meanwhile_waits_and_its_command_is_shown(
    open_version: OpenVersion, version: Version
) -> None:
    """R2-QUEUE, R2-TERM."""
    async with open_version(version) as desk:
        await desk.send("edit")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        await desk.send("run")
        assert [prompt.text for prompt in desk.queue.prompts] == ["run"]
        await desk.decide("Reject")
        await desk.shows("Then not.", "It has run.")
        (terminal,) = desk.shown_session.conversation.terminals.values()
        await desk.until(lambda: terminal.has_exited)
        assert terminal.output.read().split() == [b"one", b"two"]
        assert terminal.exit_code == 3


async def test_a_prompt_can_be_left_to_the_agent_of_version_2(open_version: OpenVersion) -> None:
    """R2-QUEUE: Alt+T sends it while the turn runs, and the agent uses it when it can."""
    async with open_version(2) as desk:
        await desk.send("edit")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        await desk.write("run")
        await desk.enter(is_other_way=True)
        assert not desk.draft
        assert not desk.shown_session.queue.prompts
        await desk.decide("Reject")
        await desk.shows("Then not.", "It has run.")
        await desk.has_session()


async def test_a_prompt_that_waits_with_the_agent_goes_with_the_turn(open_version: OpenVersion) -> None:
    """R2-QUEUE, R2-CANC."""
    async with open_version(2) as desk:
        await desk.send("edit")
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        await desk.write("run")
        await desk.enter(is_other_way=True)
        assert not desk.draft
        await desk.cancel()
        await desk.shows("The agent didn't take it up.")
        await desk.has_session()
        assert "It has run." not in desk.words


@both_versions
async def test_what_the_version_means_is_said_a_mode_is_set_and_a_failure_is_told(
    open_version: OpenVersion, version: Version
) -> None:
    """R2-INIT, R2-FS, R2-CFG, R2-ERR."""
    async with open_version(version) as desk:
        await desk.do("show_agent")
        facts = (await desk.asks(CapabilityCard)).facts
        assert facts.protocol == f"v{version}"
        assert facts.capabilities.acts_itself == (version == 2)
        await desk.answer(None)
        await desk.do("next_mode")
        await desk.until(lambda: mode_of(desk.shown_session.conversation.options).value == "do")
        await desk.send("fail")
        await desk.shows("out of paper")
        await desk.has_session()


async def test_one_command_is_stopped_and_the_turn_goes_on(open_version: OpenVersion) -> None:
    """R2-CANC1."""
    async with open_version(2) as desk:
        await desk.send("serve")
        await desk.until(lambda: any(b"listening" in one.output.read() for one in terminals(desk)))
        await desk.do("stop_one")
        await desk.shows("It has gone on.")
        assert [one.signal for one in terminals(desk)] == ["SIGTERM"]
        assert "cancelled" not in desk.words
