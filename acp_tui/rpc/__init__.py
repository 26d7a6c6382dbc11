"""A JSON-RPC 2.0 peer over byte streams, with one message per line. Knows nothing about ACP."""

from acp_tui.rpc.messages import (
    AnswersUnread,
    ConnectionLost,
    Direction,
    ErrorCode,
    FrameTooLarge,
    Pairing,
    RequestFailed,
    RequestId,
    RpcError,
)
from acp_tui.rpc.peer import Handler, Peer, Tap, Wire

__all__ = [
    "AnswersUnread",
    "ConnectionLost",
    "Direction",
    "ErrorCode",
    "FrameTooLarge",
    "Handler",
    "Pairing",
    "Peer",
    "RequestFailed",
    "RequestId",
    "RpcError",
    "Tap",
    "Wire",
]
