"""Rules for two drafts of both versions: the answers to `auth/status` and `session/status`."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol import AUTH_REQUIRED, RESOURCE_NOT_FOUND, v1
from acp_tui.workbench.conformance.exchange import Event, SeenResponse
from acp_tui.workbench.conformance.rule import shown
from acp_tui.workbench.conformance.scene import Check, as_object

NOBODYS: Final = "_acp-tui.check/unknown-session"
"""The ID of a session that no agent has."""


class StatusCheck(Check):
    def see(self, event: Event) -> None:
        if not isinstance(event, SeenResponse) or not event.is_agents:
            return
        asked = event.request
        if asked.method == v1.AUTH_STATUS:
            is_answered = event.code != AUTH_REQUIRED
            self._judge.check("A-AUTH-4", is_answered, f"it was answered with {shown(event.error)}", asked.index)
        elif asked.method == v1.SESSION_STATUS:
            session_id = asked.params.get("sessionId")
            if event.code == RESOURCE_NOT_FOUND:
                told = as_object(as_object(event.error).get("data")).get("sessionId")
                text = f"{shown(session_id)} was answered with {shown(event.error)}"
                self._judge.check("A-SESS-6", told == session_id, text, asked.index)
            elif session_id == NOBODYS:
                said = event.result if event.error is None else event.error
                self._judge.check("A-SESS-6", False, f"one it never had was answered with {shown(said)}", asked.index)
