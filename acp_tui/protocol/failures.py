"""What agents say in the `data` of an error, read tolerantly, and written for the clients of a host.

The protocol leaves `data` open (ACP, Error), so these names are a convention. Which errors end a turn is decided by the
connections.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from acp_tui.conversation.facts import ErrorFacts
from acp_tui.conversation.updates import TurnFailed
from acp_tui.conversation.visible.cutting import MAX_ITEMS, cut_text

if TYPE_CHECKING:
    from acp_tui.rpc import RequestFailed

MAX_WAIT_S: Final = 366 * 86_400.0
"""A longer wait is no wait: some other unit, or a mistake."""


def read_failure(error: RequestFailed) -> TurnFailed:
    return TurnFailed(error.message, error.detail, error.code, read_error_facts(error.data))


def read_error_facts(data: Any) -> ErrorFacts | None:
    """Return what an error's data says; None if it says nothing that's known. Values of other types count as absent."""
    if not isinstance(data, dict):
        return None
    after, at = _retry(data.get("retryAfter"))
    # Claude's adapter (0.101.0) gives the reason as `errorKind`.
    reason, kind, scope, correlation_id = map(_text, map(data.get, ("reason", "errorKind", "scope", "correlationId")))
    facts = ErrorFacts(reason or kind, scope, correlation_id, after, at, tuple(_methods(data)))
    return None if facts == ErrorFacts() else facts


def error_data(detail: str | None, said: ErrorFacts | None) -> dict[str, Any] | None:
    """Return the data of an error with this cause, from which its facts can be read again; None if there is none."""
    said = said or ErrorFacts()
    told = {
        "details": detail,
        "reason": said.reason,
        "scope": said.scope,
        "correlationId": said.correlation_id,
        "retryAfter": said.retry_after_s,
        "authMethods": list(said.auth_methods) or None,
    }
    return {name: value for name, value in told.items() if value is not None} or None


def _text(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return cut_text(value) if isinstance(value, str) and value.strip() else None


def _retry(value: Any) -> tuple[float | None, float | None]:
    """Return after how many seconds to try again, or when, as far as the value says either."""
    if isinstance(value, str):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            return None, moment.timestamp() if moment.tzinfo is not None else None
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return (float(value) if 0 <= value <= MAX_WAIT_S else None), None
    return None, None


def _methods(data: dict[str, Any]) -> Iterator[str]:
    """Yield the IDs of the login methods, which are named or described."""
    listed = data.get("authMethods")
    for one in listed[:MAX_ITEMS] if isinstance(listed, list) else ():
        name = one.get("methodId", one.get("id")) if isinstance(one, dict) else one
        if isinstance(name, str):
            yield cut_text(name)
