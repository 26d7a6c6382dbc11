"""How an error of the workspace or of a terminal is told to the agent: the one mapping to codes of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from acp_tui.client.terminals.errors import TerminalError, UnknownTerminal
from acp_tui.client.workspace.errors import InvalidPath, NotFound, WorkspaceError
from acp_tui.protocol import RESOURCE_NOT_FOUND
from acp_tui.rpc import ErrorCode, RequestFailed

log = logging.getLogger(__name__)


def as_refusal(error: Exception) -> RequestFailed:
    """The error response for `error`; its message says what failed, on what."""
    match error:
        case RequestFailed():
            return error
        case NotFound():
            return RequestFailed(RESOURCE_NOT_FOUND, str(error))
        case InvalidPath() | UnknownTerminal():
            return RequestFailed(ErrorCode.INVALID_PARAMS, str(error))
        case WorkspaceError() | TerminalError():
            return RequestFailed(ErrorCode.INTERNAL_ERROR, str(error))
        case _:
            log.error("a request of the agent failed", exc_info=error)
            return RequestFailed(ErrorCode.INTERNAL_ERROR, f"Internal error: {error}")


@contextmanager
def refusals() -> Iterator[None]:
    """What goes wrong inside is raised as the error response for it: the boundary between our errors and the wire's."""
    try:
        yield
    except Exception as error:
        raise as_refusal(error) from error
