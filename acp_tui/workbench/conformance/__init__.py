"""Rules of ACP for agents, checked on the frames of a connection as they pass. `Linter` runs them all.

`rules.toml` has the rules, and each module the checks on one subject. Frames may come from a live connection or from a
recording. Memory use is limited, however long a connection lasts.
"""

from __future__ import annotations

from typing import Final

from acp_tui.protocol.negotiation import speaks_v2
from acp_tui.rpc import Direction
from acp_tui.workbench.conformance import drafts, handshake, messages, sessions, tool_calls, version_two
from acp_tui.workbench.conformance.connection_state import Check, Scene
from acp_tui.workbench.conformance.drafts import NOBODYS
from acp_tui.workbench.conformance.exchange import Event, Exchange, LineCheck, SeenResponse
from acp_tui.workbench.conformance.messages import PROBE
from acp_tui.workbench.conformance.rule import RULES, Finding, Frame, Judge, Rule, Severity
from acp_tui.workbench.conformance.version_two import PROBED_SERVER

__all__ = ["NOBODYS", "OF_HOPS", "PROBE", "PROBED_SERVER", "RULES", "Finding", "Frame", "Linter", "Rule", "Severity"]


OF_HOPS: Final = ("A-LINE-", "A-RPC-", "A-PROXY-")
"""How the IDs of rules begin that a conductor doesn't let the client see broken."""


class Linter:
    """Checks one connection. Never raises, whatever the frames contain."""

    def __init__(self) -> None:
        self._judge = Judge()
        self._lines = LineCheck(self._judge)
        self._exchange = Exchange(self._judge)
        self._scene = Scene()
        calls = tool_calls.ToolCallCheck(self._judge, self._scene)
        self._checks: tuple[Check, ...] = (
            messages.MessageCheck(self._judge, self._scene),
            messages.ValueCheck(self._judge, self._scene),
            handshake.HandshakeCheck(self._judge, self._scene),
            sessions.SessionCheck(self._judge, self._scene),
            sessions.SystemPromptCheck(self._judge, self._scene),
            handshake.OptionCheck(self._judge, self._scene),
            sessions.TurnCheck(self._judge, self._scene),
            tool_calls.PermissionCheck(self._judge, self._scene, calls),
            calls,
            tool_calls.TerminalCheck(self._judge, self._scene),
            tool_calls.ElicitationCheck(self._judge, self._scene),
            drafts.StatusCheck(self._judge, self._scene),
            drafts.ProviderCheck(self._judge, self._scene),
            drafts.McpCheck(self._judge, self._scene),
        )
        self._next = 0

    @property
    def looked_at(self) -> frozenset[str]:
        """The IDs of the rules that could be checked. The others are neither kept nor broken."""
        return frozenset(self._judge.looked_at)

    def feed(self, frame: Frame, number: int | None = None) -> tuple[Finding, ...]:
        """Check the next frame, in either direction. Returns what it breaks, together with earlier frames.

        Findings tell frames by their numbers; None: one more than that of the last.
        """
        self._judge.frame = self._next if number is None else number
        self._next = self._judge.frame + 1
        event = self._read(frame)
        if event is not None:
            if isinstance(event, SeenResponse) and event.request.method == "initialize" and speaks_v2(event.result):
                self._checks = (
                    version_two.VersionTwoCheck(self._judge, self._scene),
                    drafts.StatusCheck(self._judge, self._scene),
                    sessions.SystemPromptCheck(self._judge, self._scene),
                    drafts.ProviderCheck(self._judge, self._scene),
                    drafts.McpCheck(self._judge, self._scene),
                )
            elif handshake.begins_proxy(event):
                self._checks = (handshake.ProxyCheck(self._judge, self._scene),)
            for check in self._checks:
                check.see(event)
            self._scene.follow(event)
        return self._judge.taken()

    def _read(self, frame: Frame) -> Event | None:
        assert self._judge.frame is not None
        if frame.direction is Direction.IN:
            value = self._lines.read(self._judge.frame, frame)
        else:
            try:
                value = frame.value()
            except ValueError:
                return None
        return self._exchange.read(self._judge.frame, frame, value) if isinstance(value, dict) else None

    def finish(self) -> tuple[Finding, ...]:
        """End the connection. Returns what only the end shows."""
        self._judge.frame = None
        self._lines.finish()
        self._exchange.finish()
        for check in self._checks:
            check.finish()
        return self._judge.taken()

    def ended(self, *, exit_code: int | None, waited_s: float, had_to_be_terminated: bool) -> tuple[Finding, ...]:
        """Check how the agent ended after its stdin was closed.

        `exit_code` is None if a signal ended it, or if unknown. No frame shows the end.
        """
        self._judge("A-END-3", True, "")
        self._judge("A-END-1", not had_to_be_terminated, f"it didn't within {waited_s:.0f} s, so it was terminated")
        if exit_code is not None and not had_to_be_terminated:
            self._judge("A-END-2", exit_code == 0, f"the status is {exit_code}")
        return self._judge.taken()

    def died(self, how: str) -> tuple[Finding, ...]:
        self._judge("A-END-3", False, how)
        return self._judge.taken()
