"""Connections between a conductor and a proxy that each break one rule for proxies."""

from __future__ import annotations

from typing import Any

from acp_tui.rpc import Direction
from support.broken_rules.case import breaks
from support.linting import AGENT, Talk

ASKED = {"protocolVersion": 1, "clientCapabilities": {}}


def _agreed(version: int = 1) -> dict[str, Any]:
    return {"protocolVersion": version, "agentInfo": AGENT, "agentCapabilities": {}}


@breaks("A-PROXY-1")
def _answers_alone() -> Talk:
    talk = Talk()
    talk.answer(talk.ask("proxy/initialize", **ASKED), **_agreed())
    return talk


@breaks("A-PROXY-2")
def _another_version() -> Talk:
    talk = Talk()
    asked = talk.ask("proxy/initialize", **ASKED)
    talk.message(Direction.IN, id="on", method="proxy/successor", params={"method": "initialize", "params": ASKED})
    talk.reply("on", **_agreed())
    talk.answer(asked, **_agreed(2))
    return talk


@breaks("A-PROXY-3")
def _wraps_text() -> Talk:
    talk = Talk()
    talk.ask("proxy/initialize", **ASKED)
    talk.message(Direction.IN, method="proxy/successor", params={"method": "session/cancel", "params": "s1"})
    return talk
