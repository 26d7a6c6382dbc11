"""Rules for proxies, on the connection between a conductor and one of them: its handshake, and what it wraps."""

from __future__ import annotations

from typing import Any

from acp_tui.protocol.conductor import INITIALIZE, PROXY_INITIALIZES, SUCCESSORS, is_call
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown
from acp_tui.workbench.conformance.scene import Check, Scene, as_object


def begins_proxy(event: Event) -> bool:
    """Whether this tells the other side that it is a proxy."""
    return isinstance(event, SeenRequest) and not event.is_agents and event.method in PROXY_INITIALIZES


class ProxyCheck(Check):
    """Compares a proxy's answer to the handshake with that of its successor."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._agreed: dict[str, Any] | None = None
        """What the successor answered to the handshake."""

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest() | SeenNotification() if event.is_agents and event.method in SUCCESSORS:
                self._judge("A-PROXY-3", is_call(event.params), f"it wraps {shown(event.params)}")
            case SeenResponse(is_agents=False, error=None) if event.request.method in SUCCESSORS:
                if event.request.params.get("method") == INITIALIZE:
                    self._agreed = as_object(event.result)
            case SeenResponse(is_agents=True, error=None) if event.request.method in PROXY_INITIALIZES:
                self._look_at_agreement(event)

    def _look_at_agreement(self, answer: SeenResponse) -> None:
        text = "it answered before its successor did"
        self._judge("A-PROXY-1", self._agreed is not None, text, answer.request.index)
        if self._agreed is not None:
            theirs, its = self._agreed.get("protocolVersion"), as_object(answer.result).get("protocolVersion")
            text = f"its successor answered {shown(theirs)}, and it answered {shown(its)}"
            self._judge("A-PROXY-2", its == theirs, text, answer.request.index)
