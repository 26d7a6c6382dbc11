"""The protocol's own words, which are nobody's secret: a frame in which one is replaced would say something else."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from acp_tui.protocol.v1 import inbound, outbound  # noqa: F401 - with them all models of the protocol are loaded
from acp_tui.protocol.wire import WireModel
from acp_tui.workbench.redact.json_strings import Path

# fmt: off
_NAMING: Final = frozenset((
    "type", "method", "sessionUpdate", "kind", "status", "stopReason", "jsonrpc", "outcome", "action", "priority",
    "role", "mode", "format", "version",
))
"""The keys of which the values are such words, too."""
_RPC: Final = frozenset((
    "jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "requestId",
))
# fmt: on
_WORD: Final = re.compile(r"[a-z][a-z0-9]*(?:[_/-][a-z0-9]+)*|2\.0")


def is_own_word(text: str, path: Path, *, is_key: bool) -> bool:
    """Whether a string of a line belongs to the protocol, or to the recording."""
    if is_key:
        return len(path) == 1 or text in _keys()
    return path[-1:] != () and path[-1] in _NAMING and _WORD.fullmatch(text) is not None


def may_be_own_word(text: str) -> bool:
    """Whether it is one in some place."""
    return _WORD.fullmatch(text) is not None or text in _keys()


@cache
def _keys() -> frozenset[str]:
    return _RPC | {
        field.alias or name for model in _models(WireModel) for name, field in model.model_fields.items()
    }


def _models(model: type[WireModel]) -> list[type[WireModel]]:
    below = [each for sub in model.__subclasses__() for each in _models(sub)]
    return [model, *below]
