"""An agent under test: a real process behind the real client. Calls block, so tests may be `def` or `async def`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.elicitation import FormValues
from acp_tui.conversation.facts import AuthMethod, SessionId, SessionPage
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity, McpServer
from acp_tui.workbench.conformance import Finding, Frame, Linter, Severity
from acp_tui.workbench.testing import turn
from acp_tui.workbench.testing.failures import AgentFailure, frames_text, recording_text
from acp_tui.workbench.testing.link import Link
from acp_tui.workbench.testing.scripted_user import WatchedSession
from acp_tui.workbench.testing.session import AcpSession, Prompt, RunningTurn

__tracebackhide__ = True  # pytest shows the line of the test instead


class AcpAgent:
    """Created and ended by the fixture `acp_agent`. Every call may raise TimedOut and AgentGone."""

    def __init__(self, link: Link, workspace: Path) -> None:
        self.workspace = workspace
        """The folder of its sessions."""
        self._link = link
        self._session: AcpSession | None = None

    def __repr__(self) -> str:
        return f"<AcpAgent {self._link.name}>"

    # Turns, in the most recently opened session

    @property
    def session(self) -> AcpSession:
        """The most recently opened session; a new one if there isn't one."""
        return self._session or self.new_session()

    def prompt(self, prompt: Prompt, *, timeout_s: float | None = None) -> turn.Turn:
        """Run a turn to its end; see `AcpSession.prompt`."""
        return self.session.prompt(prompt, timeout_s=timeout_s)

    def start_prompt(self, prompt: Prompt) -> RunningTurn:
        """Send a prompt without waiting, so that the test can act during the turn; for example, cancel it."""
        return self.session.start_prompt(prompt)

    # The user's answers

    @property
    def permissions(self) -> turn.PermissionAnswers:
        """The permission requests, and how to answer them."""
        return self._link.user.permissions

    @property
    def elicitations(self) -> turn.ElicitationAnswers:
        """The forms and pages, and how to answer them."""
        return self._link.user.elicitations

    def on_permission(self, kind: str, *, title: turn.Wanted = None, tool: str | None = None) -> None:
        """Answer every matching permission request with the option of this kind, such as "allow_once".

        `title` is a part of the tool call's title, or a pattern; `tool` is the tool call's kind.
        """
        self.permissions.standing.append(turn.AnswerRule(kind, title, tool))

    def on_elicitation(
        self, action: ElicitationAction, values: FormValues | None = None, *, message: turn.Wanted = None
    ) -> None:
        """Answer every matching form or page: "accept" (a form, with these values), "decline", or "cancel"."""
        self.elicitations.standing.append(turn.AnswerRule(turn.ElicitationReply(action, values), message))

    # Sessions

    def new_session(
        self,
        *,
        cwd: Path | None = None,
        mcp_servers: Sequence[McpServer] = (),
        additional_directories: Sequence[Path] = (),
    ) -> AcpSession:
        """Open a session in the workspace, or in `cwd`. The agent's own methods use it from now on."""

        async def open_it(watch: WatchedSession) -> Session:
            return await self._link.agent.new_session(
                cwd or self.workspace,
                watch.attend,
                mcp_servers=mcp_servers,
                additional_directories=additional_directories,
            )

        return self._open("a new session (session/new)", open_it)

    def load_session(self, session_id: str, *, cwd: Path | None = None) -> AcpSession:
        """Load a stored session of the agent. Its history is in `updates` and `conversation`."""
        return self._reopen("session/load", self._link.agent.load_session, session_id, cwd)

    def resume_session(self, session_id: str, *, cwd: Path | None = None) -> AcpSession:
        """Resume a stored session of the agent, without its history."""
        return self._reopen("session/resume", self._link.agent.resume_session, session_id, cwd)

    def _reopen(
        self,
        method: str,
        call: Callable[[SessionId, Path, Callable[[Session], None]], Awaitable[Session]],
        session_id: str,
        cwd: Path | None,
    ) -> AcpSession:
        known, place = SessionId(session_id), cwd or self.workspace
        what = f"the session {session_id!r} ({method})"
        return self._open(what, lambda watch: call(known, place, watch.attend))

    def _open(self, what: str, call: Callable[[WatchedSession], Awaitable[Session]]) -> AcpSession:
        watch = self._link.watch()
        watch.session = self._link.ask(what, lambda: call(watch))
        self._session = AcpSession(self._link, watch)
        return self._session

    def list_sessions(self, *, cwd: Path | None = None, cursor: str | None = None) -> SessionPage:
        """A page of the sessions that the agent knows."""
        call = self._link.agent.list_sessions
        return self._link.ask("the list of sessions (session/list)", lambda: call(cwd, cursor))

    def delete_session(self, session_id: str) -> None:
        """Delete a session. If it's open, it's closed first."""
        call, known = self._link.agent.delete_session, SessionId(session_id)
        self._link.ask(f"the end of {session_id!r} (session/delete)", lambda: call(known))

    # Login and extensions

    def authenticate(self, method_id: str) -> None:
        """Log in with one of `auth_methods`. Raises NotOffered if it isn't offered, or if it requires a terminal."""
        call = self._link.agent.authenticate
        self._link.ask(f"the login {method_id!r} (authenticate)", lambda: call(method_id))

    def logout(self) -> None:
        self._link.ask("the logout", self._link.agent.logout)

    def send_extension(self, method: str, params: Any) -> Any:
        """Send an extension request, whose name begins with "_"; return its result unchanged."""
        call = self._link.agent.send_extension
        return self._link.ask(f"the extension {method}", lambda: call(method, params))

    def stop(self) -> None:
        """Stop the agent and wait. The fixture does so too."""
        self._link.call(self._link.agent.stop)

    # What the agent reports, and what was observed

    @property
    def identity(self) -> AgentIdentity | None:
        """Its name and version, if it reports them."""
        return self._link.agent.identity

    @property
    def protocol_version(self) -> int | None:
        """The negotiated version of ACP."""
        return self._link.agent.protocol_version

    @property
    def capabilities(self) -> AgentCapabilities:
        return self._link.agent.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        return self._link.agent.auth_methods

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Every line on its stdin and stdout so far. `frame.value()` returns the JSON."""
        return tuple(self._link.frames)

    @property
    def stderr(self) -> str:
        """Its stderr so far, in whole lines. Secrets are masked as in the recording."""
        return self._link.stderr()

    @property
    def recording(self) -> Path:
        """The recording so far. `acp-tui replay` shows it."""
        self._link.recorded_events()
        return self._link.recording

    # Conformance

    def findings(self) -> list[Finding]:
        """The protocol rules it has broken so far, as `acp-tui check` reports them."""
        linter = Linter()
        return [finding for frame in self.frames for finding in linter.feed(frame)]

    def assert_conformant(self, *, warnings: bool = False, notes: bool = False) -> None:
        """Assert that it has broken no rule of the protocol so far; with `warnings` or `notes`, includes these too.

        Frames that it sends after a turn may not have arrived. Call `stop` first to miss nothing.
        """
        is_counted = {Severity.ERROR: True, Severity.WARNING: warnings, Severity.NOTE: notes}
        found = [finding for finding in self.findings() if is_counted[finding.rule.severity]]
        if found:
            count = "a rule" if len(found) == 1 else f"{len(found)} rules"
            raise AgentFailure(
                f"{self._link.name} breaks {count} of the protocol",
                advice="\n\n".join(map(self._told, found)),
                seen=recording_text(self.recording),
            )

    def _told(self, finding: Finding) -> str:
        rule, frames = finding.rule, self.frames
        return "\n".join(
            [
                f"{rule.rule_id} ({rule.severity.value}): {rule.sentence}",
                f"  {finding.text}",
                f"  {rule.advice}",
                f"  {rule.reference}",
                frames_text([frames[index] for index in finding.frames], self.workspace, heading="Its frames"),
            ]
        )
