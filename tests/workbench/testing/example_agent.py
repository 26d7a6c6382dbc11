"""An agent in plain Python, as an author might start one: it adds a heading to a file, if allowed."""

import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

IDS = count(1)


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(kind: str, /, **fields: Any) -> None:
    send(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}})


def ask_client(method: str, **params: Any) -> Any:
    send(id=next(IDS), method=method, params={"sessionId": "s1", **params})
    while "result" not in (message := json.loads(sys.stdin.readline())):
        pass  # a cancellation: the answer that follows says so too
    return message["result"]


def take_turn(file: Path) -> str:
    old = ask_client("fs/read_text_file", path=str(file))["content"]
    new = f"# Notes\n\n{old}"
    diff = {"type": "diff", "path": str(file), "oldText": old, "newText": new}
    title = f"Edit {file.name}"
    update("tool_call", toolCallId="edit", title=title, kind="edit", status="pending", content=[diff])
    options = [
        {"optionId": "yes", "name": "Do it", "kind": "allow_once"},
        {"optionId": "no", "name": "Leave it", "kind": "reject_once"},
    ]
    call = {"toolCallId": "edit", "title": title}
    outcome = ask_client("session/request_permission", toolCall=call, options=options)["outcome"]
    if outcome["outcome"] == "cancelled":
        return "cancelled"
    if outcome["optionId"] == "yes":
        ask_client("fs/write_text_file", path=str(file), content=new)
    update(
        "tool_call_update",
        toolCallId="edit",
        status="completed" if outcome["optionId"] == "yes" else "failed",
    )
    said = "It has a heading now." if outcome["optionId"] == "yes" else "I left it alone."
    update("agent_message_chunk", content={"type": "text", "text": said})
    return "end_turn"


def main() -> None:
    cwd = Path()
    for line in sys.stdin:
        request = json.loads(line)
        match request.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": 1, "agentInfo": {"name": "heading", "version": "1"}}
            case "session/new":
                cwd = Path(request["params"]["cwd"])
                result = {"sessionId": "s1"}
            case "session/prompt":
                result = {"stopReason": take_turn(cwd / "notes.md")}
            case _:
                continue
        send(id=request["id"], result=result)


if __name__ == "__main__":
    main()
