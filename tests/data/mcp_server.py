"""An MCP server as a program, which speaks today's revision, or with `old` the one with a handshake.

`python mcp_server.py [old|mute|foreign] [FILE]`: `mute` answers nothing, and `foreign` isn't one. Each method that it
has does something to whoever asks. It writes the methods of what it was sent to FILE.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

KIND: Final = sys.argv[1] if len(sys.argv) > 1 else ""
REVISION: Final = "2026-07-28"
SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
TOOLS: Final = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}


def write(message: dict[str, Any]) -> None:
    """Send a message."""
    write_line(json.dumps({"jsonrpc": "2.0", **message}))


def write_line(line: str, end: str = "\n") -> None:
    """Write anything."""
    sys.stdout.write(line + end)
    sys.stdout.flush()


def note(text: str) -> None:
    """Add a line to the file."""
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("a") as file:
            file.write(f"{text}\n")


def serve(request_id: Any, method: str, params: dict[str, Any]) -> None:
    """Answer a request, or don't."""
    result: Any = None
    error: Any = None
    match method:
        case "server/discover" if KIND == "old":
            error = {"code": -32602, "message": "Invalid request parameters"}
        case "server/discover":
            result = {"resultType": "complete", "supportedVersions": [REVISION], "capabilities": {"tools": {}}}
        case "initialize" if KIND == "old":
            about = {"name": "old", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            result = TOOLS
        case "tools/call":
            sys.stderr.write("called\n")
            sys.stderr.flush()
            token = params["_meta"]["progressToken"]
            write({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
            write({"method": "notifications/progress", "params": {"progressToken": "another", "progress": 2}})
            result = {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
        case "subscriptions/listen":
            meta = {"_meta": {SUBSCRIPTION: request_id}}
            write({"method": "notifications/subscriptions/acknowledged", "params": meta})
            write({"method": "notifications/tools/list_changed", "params": {"_meta": {SUBSCRIPTION: 4711}}})
            write({"method": "notifications/cancelled", "params": {"requestId": request_id}})
            result = {"resultType": "complete", **meta}
        case "x/null":
            write({"id": request_id, "result": None})
            return
        case "x/error":
            error = {"code": -32000, "message": "no", "data": None, "own": 1}
        case "x/environment":
            result = os.environ[params["name"]]
        case "x/no-error":
            error = {"code": "high"}
        case "x/junk":
            write_line("not a message\x1b[31m")
            write({"id": 4711, "result": "of nothing"})
            write({"id": "a", "method": "sampling/createMessage", "params": {}})
            result = "still here"
        case "x/never":
            return
        case "x/large":
            write_line("x" * params["size"], end="")
            time.sleep(60)
        case "x/die":
            sys.exit(3)
        case _:
            error = {"code": -32601, "message": "Method not found"}
    write({"id": request_id, "result": result} if error is None else {"id": request_id, "error": error})


def main() -> None:
    """Serve until the end of the input."""
    for line in sys.stdin:
        message = json.loads(line)
        note(message.get("method") or json.dumps(message))
        if KIND == "mute":
            continue
        if KIND == "foreign":
            write({"id": message["id"], "error": {"code": 1, "message": "what?"}})
        elif "method" in message and "id" in message:
            serve(message["id"], message["method"], message.get("params") or {})


if __name__ == "__main__":
    main()
