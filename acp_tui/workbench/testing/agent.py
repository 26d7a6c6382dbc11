"""An agent under test: a real process behind the real client. Calls block, so tests may be `def` or `async def`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.elicitation import FormValues
from acp_tui.conversation.facts import SessionId, SessionPage
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.protocol.conformance import Finding, Frame, Linter, Severity
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity, AuthMethod, McpServer
from acp_tui.workbench.testing.attending import Watch
from acp_tui.workbench.testing.failures import AgentFailure, frames_text, recording_text
from acp_tui.workbench.testing.link import Link
from acp_tui.workbench.testing.session import AcpSession, Prompt, RunningTurn
from acp_tui.workbench.testing.turn import ElicitationAnswers, PermissionAnswers, Turn, Wanted


class AcpAgent:
    """Made by the fixture `acp_agent`, which also ends it. Every call may raise TimedOut and AgentGone."""

    def __init__(self, link: Link, workspace: Path) -> None:
        self.workspace = workspace
        """The folder of its sessions."""
        self._link = link
        self._session: AcpSession | None = None

    def __repr__(self) -> str:
        return f"<AcpAgent {self._link.name}>"

    # Turns, in the session that was opened last

    @property
    def session(self) -> AcpSession:
        """The session that was opened last; a new one where there is none."""
        __tracebackhide__ = True
        return self._session or self.new_session()

    def prompt(self, prompt: Prompt, *, timeout_s: float | None = None) -> Turn:
        """Take a turn to its end; see `AcpSession.prompt`."""
        __tracebackhide__ = True
        return self.session.prompt(prompt, timeout_s=timeout_s)

    def start_prompt(self, prompt: Prompt) -> RunningTurn:
        """Send a prompt and do not wait: for what has to happen during a turn, such as a cancel."""
        __tracebackhide__ = True
        return self.session.start_prompt(prompt)

    def cancel(self) -> None:
        """Cancel the turn that runs, as a user does."""
        __tracebackhide__ = True
        self.session.cancel()

    def set_mode(self, mode: str, *, timeout_s: float | None = None) -> None:
        """Set the session's mode. Raises NotOffered."""
        __tracebackhide__ = True
        self.session.set_mode(mode, timeout_s=timeout_s)

    def set_model(self, model: str, *, timeout_s: float | None = None) -> None:
        """Set the session's model. Raises NotOffered."""
        __tracebackhide__ = True
        self.session.set_model(model, timeout_s=timeout_s)

    def set_option(self, option_id: str, value: str | bool, *, timeout_s: float | None = None) -> None:
        """Set an option of the session. Raises NotOffered."""
        __tracebackhide__ = True
        self.session.set_option(option_id, value, timeout_s=timeout_s)

    # What its user answers

    @property
    def permissions(self) -> PermissionAnswers:
        """How permission requests are answered, and which there were."""
        return self._link.attendant.permissions

    @property
    def elicitations(self) -> ElicitationAnswers:
        """How forms and pages are answered, and which there were."""
        return self._link.attendant.elicitations

    def on_permission(self, kind: str, *, title: Wanted = None, tool: str | None = None) -> None:
        """Answer every permission request that fits with the option of this kind, such as "allow_once".

        `title` is a part of the tool call's title, or a pattern; `tool` the tool call's kind.
        """
        self.permissions.on(kind, title=title, tool=tool)

    def on_elicitation(
        self, action: ElicitationAction, values: FormValues | None = None, *, message: Wanted = None
    ) -> None:
        """Answer every form or page that fits: "accept" (a form: with these values), "decline" or "cancel"."""
        self.elicitations.on(action, values, message=message)

    # Sessions

    def new_session(
        self,
        *,
        cwd: Path | None = None,
        mcp_servers: Sequence[McpServer] = (),
        additional_directories: Sequence[Path] = (),
        timeout_s: float | None = None,
    ) -> AcpSession:
        """Open a session in the workspace, or in `cwd`; the agent's own calls mean it from now on."""
        __tracebackhide__ = True

        async def open_it(watch: Watch) -> Session:
            return await self._link.agent.new_session(
                cwd or self.workspace,
                watch.attend,
                mcp_servers=mcp_servers,
                additional_directories=additional_directories,
            )

        return self._open("a new session (session/new)", open_it, timeout_s)

    def load_session(
        self, session_id: str, *, cwd: Path | None = None, timeout_s: float | None = None
    ) -> AcpSession:
        """Open a session that the agent has kept; its history is in `updates` and `conversation`."""
        __tracebackhide__ = True
        known, place = SessionId(session_id), cwd or self.workspace
        return self._open(
            f"the session {session_id!r} (session/load)",
            lambda watch: self._link.agent.load_session(known, place, watch.attend),
            timeout_s,
        )

    def resume_session(
        self, session_id: str, *, cwd: Path | None = None, timeout_s: float | None = None
    ) -> AcpSession:
        """Go on with a session that the agent has kept, without its history."""
        __tracebackhide__ = True
        known, place = SessionId(session_id), cwd or self.workspace
        return self._open(
            f"the session {session_id!r} (session/resume)",
            lambda watch: self._link.agent.resume_session(known, place, watch.attend),
            timeout_s,
        )

    def _open(
        self, what: str, call: Callable[[Watch], Awaitable[Session]], timeout_s: float | None
    ) -> AcpSession:
        __tracebackhide__ = True
        watch = self._link.watch()
        watch.session = self._link.ask(what, lambda: call(watch), timeout_s)
        self._session = AcpSession(self._link, watch)
        return self._session

    def list_sessions(
        self, *, cwd: Path | None = None, cursor: str | None = None, timeout_s: float | None = None
    ) -> SessionPage:
        """A page of the sessions that the agent knows."""
        __tracebackhide__ = True
        call = self._link.agent.list_sessions
        return self._link.ask("the list of sessions (session/list)", lambda: call(cwd, cursor), timeout_s)

    def delete_session(self, session_id: str, *, timeout_s: float | None = None) -> None:
        """Let the agent forget a session; one that is open is closed first."""
        __tracebackhide__ = True
        call, known = self._link.agent.delete_session, SessionId(session_id)
        self._link.ask(f"the end of {session_id!r} (session/delete)", lambda: call(known), timeout_s)

    # Login, and words of its own

    def authenticate(self, method_id: str, *, timeout_s: float | None = None) -> None:
        """Log in by one of `auth_methods`. Raises NotOffered for one that is not there, or that wants a terminal."""
        __tracebackhide__ = True
        call = self._link.agent.authenticate
        self._link.ask(f"the login {method_id!r} (authenticate)", lambda: call(method_id), timeout_s)

    def logout(self, *, timeout_s: float | None = None) -> None:
        """Log out."""
        __tracebackhide__ = True
        self._link.ask("the logout", self._link.agent.logout, timeout_s)

    def send_extension(self, method: str, params: Any, *, timeout_s: float | None = None) -> Any:
        """Send a request of the agent's own, whose name begins with "_"; gives its result as it came."""
        __tracebackhide__ = True
        call = self._link.agent.send_extension
        return self._link.ask(f"the extension {method}", lambda: call(method, params), timeout_s)

    def stop(self) -> None:
        """End it and wait for that; the fixture does so in any case."""
        self._link.wait(self._link.agent.stop)

    # What it says of itself, and what was seen of it

    @property
    def identity(self) -> AgentIdentity | None:
        """Its name and version, where it says them."""
        return self._link.agent.identity

    @property
    def protocol_version(self) -> int | None:
        """The version of ACP that is spoken with it."""
        return self._link.agent.protocol_version

    @property
    def capabilities(self) -> AgentCapabilities:
        """What it offers."""
        return self._link.agent.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in."""
        return self._link.agent.auth_methods

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Every line on its stdin and stdout so far; `frame.value()` is its JSON."""
        return tuple(self._link.frames)

    @property
    def stderr(self) -> str:
        """What it said on stderr so far, in whole lines; secrets are masked as in the recording."""
        return self._link.stderr()

    @property
    def recording(self) -> Path:
        """The file in which all of this is, up to now; `acp-tui replay` shows it."""
        self._link.recorded_events()
        return self._link.recording

    # Conformance

    def findings(self) -> list[Finding]:
        """The rules of the protocol that it broke so far, as `acp-tui check` knows them."""
        linter = Linter()
        return [finding for frame in self.frames for finding in linter.feed(frame)]

    def assert_conformant(self, *, warnings: bool = False, notes: bool = False) -> None:
        """It has broken no rule of the protocol so far; with `warnings` or `notes`, none of these either.

        What it sends when a turn is over has not come yet: call `stop` before, and nothing is missed.
        """
        __tracebackhide__ = True
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
                frames_text(
                    [frames[index] for index in finding.frames], self.workspace, heading="Its frames"
                ),
            ]
        )
