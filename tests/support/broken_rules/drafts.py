"""Connections that each break one rule of a draft."""

from __future__ import annotations

from typing import Any

from support.broken_rules.case import breaks
from support.linting import ALL_SESSION_METHODS, Talk


def _with_provider(**fields: Any) -> tuple[Talk, dict[str, Any]]:
    provider = {
        "providerId": "main",
        "supported": ["anthropic"],
        "required": False,
        "current": {"apiType": "anthropic", "baseUrl": "https://a"},
        **fields,
    }
    talk = Talk()
    talk.handshake(capabilities={**ALL_SESSION_METHODS, "providers": {}})
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk, provider


@breaks("A-PROV-1")
def _still_there_after_it_was_disabled() -> Talk:
    talk, provider = _with_provider()
    talk.answer(talk.ask("providers/disable", providerId="main"))
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk


@breaks("A-PROV-2")
def _disabled_although_required() -> Talk:
    talk, _ = _with_provider(required=True)
    talk.answer(talk.ask("providers/disable", providerId="main"))
    return talk
