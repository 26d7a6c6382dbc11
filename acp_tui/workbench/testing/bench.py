"""The environment for the agents of one test: an event loop in a thread, a hub, folders, and recordings."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

from anyio.from_thread import BlockingPortal, start_blocking_portal

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.private_files import make_private
from acp_tui.client.sessions.consent import Grant, Policy
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.protocol.roles import ClientOffer
from acp_tui.workbench.testing.agent import AcpAgent
from acp_tui.workbench.testing.failures import AgentFailure, AgentNotStarted, failure_of
from acp_tui.workbench.testing.link import SCREEN, Link
from acp_tui.workbench.testing.session import fill

__tracebackhide__ = True  # pytest shows the line of the test instead

TIMEOUT_S: Final = 30.0
OFFER: Final = ClientOffer(elicitation_form=True, elicitation_url=True)
"""Like a user at a screen, except for login in a terminal."""
POLICY: Final = Policy(write=Grant.ON, terminals=Grant.ON)
"""Serves what the agent does in its workspace, whether it asked or not: the test's author wrote what it does."""

Command: TypeAlias = str | Path | Sequence[str | Path]


class StartAgent:
    """The fixture `acp_agent`: call it to start an agent. It has the agents of one test, and ends them."""

    def __init__(self, folder: Path, beside: Path) -> None:
        """`folder` is for files of the agents; `beside` is the test's folder."""
        self.agents: list[AcpAgent] = []
        self.has_failed = False
        """Whether the test has failed. If so, its unanswered questions aren't reported."""
        self._links: list[Link] = []
        self._folder = folder.resolve()
        self._beside = beside
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._hub: SessionHub

    def __call__(
        self,
        command: Command,
        *,
        files: Mapping[str, str | bytes] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout_s: float = TIMEOUT_S,
        offer: ClientOffer = OFFER,
        protocol: Literal[1, 2] | None = None,
    ) -> AcpAgent:
        """Start an agent and initialize the protocol.

        `command` is a command line, a list of words, or a file (a Python file is run by this Python), which is looked
        up in the folder where pytest runs, then next to the test. `files` are written into the workspace: a new folder,
        or `cwd`. The process starts there, but files in its arguments are relative to where pytest runs. `env` is added
        to the environment. `timeout_s` is the default for each call. `offer` is the client's capabilities. `protocol`
        is the only version to speak; None: the newest that the agent supports (`agent.protocol_version`).

        Raises AgentNotStarted, AgentGone, RequestRefused, and TimedOut.
        """
        argv = _argv(self._found(command) if isinstance(command, Path) else command)
        portal = self._open()
        name, number = _name(argv), len(self._links) + 1
        workspace = cwd.resolve() if cwd is not None else self._folder / f"workspace-{number}"
        fill(workspace, files or {})
        link = Link(portal, name, workspace, self._recording(f"{number}-{Path(name).stem[:40]}"), timeout_s)
        plan = RecordingPlan(workspace, file=link.recording, screen=SCREEN)
        start = partial(self._hub.start_agent, AgentCommand(name, argv, env or {}, protocol=protocol))
        try:
            process = link.call(lambda: start(cwd=workspace, offer=offer, tap=link.tap, policy=POLICY, recordings=plan))
        except ClientError as error:
            failure = failure_of(error, during=f"the start of {shlex.join(argv)}")
        else:
            self._links.append(link)
            link.open(process)
            self.agents.append(AcpAgent(link, workspace))
            return self.agents[-1]
        raise failure

    def _found(self, file: Path) -> Path:
        places = [folder / file for folder in dict.fromkeys([Path.cwd(), self._beside])]
        for place in places:
            if place.exists():
                return place
        where = " nor ".join(map(str, places))
        raise AgentNotStarted(
            f"there is no file {where}", advice="To run a program on PATH, pass a string: acp_agent('my-agent --acp')."
        )

    def _recording(self, name: str) -> Path:
        folder = self._folder / "recordings"
        make_private(folder)
        return folder / f"{name}.jsonl"

    def _open(self) -> BlockingPortal:
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
            self._hub = self._stack.enter_context(self._portal.wrap_async_context_manager(open_hub()))
        return self._portal

    def told_of(self, error: BaseException | None) -> list[tuple[str, str]]:
        """Record that the test failed; return what to show below the error, unless the error contains it."""
        self.has_failed = True
        if isinstance(error, AgentFailure):
            return []
        return [(f"agent {link.name}", link.seen()) for link in self._links]

    def close(self) -> list[AgentFailure]:
        """Stop every agent and its resources; return failures that weren't reported."""
        with self._stack:
            if self.has_failed:
                return []
            return [failure for link in self._links if (failure := _untold(link)) is not None]


def _untold(link: Link) -> AgentFailure | None:
    try:
        link.require_answered()
        link.require_asked()
    except AgentFailure as failure:
        return failure
    return None


def _argv(command: Command) -> tuple[str, ...]:
    if isinstance(command, Path):
        runner = (sys.executable,) if command.suffix == ".py" else ()
        return (*runner, str(command.absolute()))
    words = shlex.split(command) if isinstance(command, str) else command
    if not words:
        raise ValueError("the command is empty; name the program to run")
    return tuple(map(str, words))


def _name(argv: Sequence[str]) -> str:
    """The script or module after an interpreter, or the program."""
    program = Path(argv[0]).name
    words = [Path(word).name for word in argv[1:] if not word.startswith("-")]
    has_script = program.startswith(("python", "node", "deno", "bun", "ruby", "npx", "uvx")) and "-c" not in argv
    return words[0] if has_script and words else program
