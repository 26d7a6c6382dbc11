"""A JSON-RPC 2.0 peer over byte streams, one message a line; it knows nothing of ACP."""

from acp_tui.rpc.errors import AnswersUnread, ConnectionLost, FrameTooLarge, RequestFailed, RpcError
from acp_tui.rpc.messages import ErrorCode, RequestId
from acp_tui.rpc.peer import Direction, Handler, Peer, Tap

__all__ = [
    "AnswersUnread",
    "ConnectionLost",
    "Direction",
    "ErrorCode",
    "FrameTooLarge",
    "Handler",
    "Peer",
    "RequestFailed",
    "RequestId",
    "RpcError",
    "Tap",
]
