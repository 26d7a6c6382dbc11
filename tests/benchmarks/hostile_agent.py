"""An agent that floods its client: a prompt's first words say with what and how often, as in "notices 5000".

It uses the standard library only. Its turn ends with a message that says FLOOD-ENDS-HERE. With "unread" as a third
word it stops reading its input when the flood begins.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

SESSION: Final = "s1"
OPTIONS: Final = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
MEGABYTE: Final = 1_000_000
_ids = count(1)


def line(message: dict[str, Any]) -> bytes:
    """A message as a line. Characters are written as they are, except halves of pairs."""
    message = {"jsonrpc": "2.0", **message}
    try:
        return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def update(which: str, session: str = SESSION, **fields: Any) -> bytes:
    """A session/update."""
    params = {"sessionId": session, "update": {"sessionUpdate": which, **fields}}
    return line({"method": "session/update", "params": params})


def request(method: str, request_id: object = None, **params: Any) -> bytes:
    """A request in the session."""
    request_id = next(_ids) if request_id is None else request_id
    return line({"id": request_id, "method": method, "params": {"sessionId": SESSION, **params}})


def text(words: str) -> dict[str, Any]:
    """A content block."""
    return {"type": "text", "text": words}


def chunk(words: str, kind: str = "agent_message_chunk", session: str = SESSION) -> bytes:
    """A chunk of a message."""
    return update(kind, session, content=text(words))


# The floods: each gives the bytes of its number-th item.


def _tool_call(number: int) -> bytes:
    return update("tool_call", toolCallId=f"call-{number}", title=f"Read file {number}", kind="read", status="pending")


def _tool_update(number: int) -> bytes:
    status = ("pending", "in_progress", "completed", "failed")[number % 4]
    body = [{"type": "content", "content": text(f"line {number}\n" * 20)}]
    return update("tool_call_update", toolCallId="call", title=f"Run {number}", status=status, content=body)


def _plan(number: int) -> bytes:
    steps = [{"content": f"Step {step} of {number}", "priority": "low", "status": "pending"} for step in range(10_000)]
    return update("plan", entries=steps)


def _commands(number: int) -> bytes:
    commands = [{"name": f"do-{number}-{each}", "description": "A command"} for each in range(50_000)]
    return update("available_commands_update", availableCommands=commands)


def _options(number: int) -> bytes:
    choices = [{"value": f"v{each}", "name": f"Value {each}"} for each in range(100)]
    options = [
        {
            "id": f"o{each}",
            "name": f"Option {number}",
            "type": "select",
            "currentValue": "v0",
            "options": choices,
        }
        for each in range(20)
    ]
    return update("config_option_update", configOptions=options)


def _notice(number: int) -> bytes:
    return update("notice", severity=("info", "warning", "error")[number % 3], title=f"Notice {number}")


def _permission(number: int) -> bytes:
    call = {"toolCallId": f"call-{number}", "title": f"Delete file {number}", "kind": "delete"}
    return request("session/request_permission", toolCall=call, options=OPTIONS)


def _form(number: int) -> bytes:
    schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}}
    return request("elicitation/create", mode="form", message=f"Question {number}", requestedSchema=schema)


def _terminal(number: int) -> bytes:
    return request("terminal/create", command="sleep", args=["100"], cwd=str(Path.cwd()))


def _chatty_terminal(number: int) -> bytes:
    return request("terminal/create", command="yes", args=[f"terminal {number}"], cwd=str(Path.cwd()))


def _ended_terminal(number: int) -> bytes:
    time.sleep(0.05)  # the client doesn't run so many at once
    return request("terminal/create", command="head", args=["-c", "2000000", "/dev/zero"], cwd=str(Path.cwd()))


def _read_big(number: int) -> bytes:
    return request("fs/read_text_file", path=str(Path.cwd() / "big.txt"))


def _write(number: int) -> bytes:
    return request("fs/write_text_file", path=str(Path.cwd() / f"out-{number % 50}.txt"), content=f"{number}\n" * 200)


def _deep(number: int) -> bytes:
    depth = 100_000
    return b'{"jsonrpc":"2.0","method":"session/update","params":' + b"[" * depth + b"]" * depth + b"}\n"


def _stderr(number: int) -> bytes:
    os.write(2, b"noise on stderr, line %d, and so on and so on\n" % number * 100)
    return b""


BLOCKS: Final = 45_000
"""As many as a client accepts in one message: two objects each."""


def _block(number: int) -> dict[str, Any]:
    return {"type": "content", "content": text(f"b{number}")}


def _blocks(number: int) -> bytes:
    return update(
        "tool_call", toolCallId=f"c{number}", title="Read", status="completed", content=list(map(_block, range(BLOCKS)))
    )


def _same_blocks(number: int) -> bytes:
    content = [_block(0)] * BLOCKS
    return update("tool_call", toolCallId=f"c{number}", title="Read", status="completed", content=content)


def _links(number: int) -> bytes:
    content = [
        {"type": "content", "content": {"type": "resource_link", "uri": f"file:///{each}", "name": "n"}}
        for each in range(BLOCKS)
    ]
    return update("tool_call", toolCallId=f"c{number}", title="Read", status="failed", content=content)


def _diffs(number: int) -> bytes:
    content = [{"type": "diff", "path": f"/{each}", "newText": "b"} for each in range(2 * BLOCKS)]
    return update("tool_call", toolCallId=f"c{number}", title="Edit", kind="edit", status="completed", content=content)


def _shown_terminals(number: int) -> bytes:
    content = [{"type": "terminal", "terminalId": f"t{each}"} for each in range(2 * BLOCKS)]
    return update(
        "tool_call", toolCallId=f"c{number}", title="Run", kind="execute", status="completed", content=content
    )


def _locations(number: int) -> bytes:
    places = [{"path": f"/{each}"} for each in range(2 * BLOCKS)]
    return update("tool_call", toolCallId=f"c{number}", title="Read", kind="read", status="completed", locations=places)


def _long_plan(number: int) -> bytes:
    steps = [{"content": f"{step}", "priority": "low", "status": "pending"} for step in range(2 * BLOCKS)]
    return update("plan", entries=steps)


def _asked_blocks(number: int) -> bytes:
    call = {"toolCallId": f"call-{number}", "title": "Run", "content": list(map(_block, range(BLOCKS)))}
    return request("session/request_permission", toolCall=call, options=OPTIONS)


def _asked_diffs(number: int) -> bytes:
    content = [{"type": "diff", "path": f"/{each}", "newText": "b"} for each in range(2 * BLOCKS)]
    call = {"toolCallId": f"call-{number}", "title": "Edit", "kind": "edit", "content": content}
    return request("session/request_permission", toolCall=call, options=OPTIONS)


FLOODS: Final[dict[str, Callable[[int], bytes]]] = {
    "blocks": _blocks,
    "same-blocks": _same_blocks,
    "links": _links,
    "diffs": _diffs,
    "shown-terminals": _shown_terminals,
    "locations": _locations,
    "long-plan": _long_plan,
    "asked-blocks": _asked_blocks,
    "asked-diffs": _asked_diffs,
    "messages": lambda n: chunk(f"word {n} "),
    "thoughts": lambda n: chunk(f"thought {n} ", "agent_thought_chunk"),
    "entries": lambda n: update("agent_message_chunk", messageId=f"m{n}", content=text(f"Message {n} says so.")),
    "old-entries": lambda n: update(
        "agent_message_chunk", messageId=f"m{n % 10_000}", content=text(f"Message {n} says so.")
    ),
    "mixed": lambda n: _tool_call(n) if n % 2 else chunk(f"Paragraph {n} of what is said here.\n\n"),
    "tool-calls": _tool_call,
    "tool-updates": _tool_update,
    "plans": _plan,
    "commands": _commands,
    "options": _options,
    "modes": lambda n: update("current_mode_update", currentModeId=("ask", "code")[n % 2]),
    "usage": lambda n: update("usage_update", used=n, size=1_000_000),
    "titles": lambda n: update("session_info_update", title=f"Title {n}"),
    "notices": _notice,
    "long-notices": lambda n: update(
        "notice", severity="info", title="N" * MEGABYTE * 3, description="n" * MEGABYTE * 3
    ),
    "unknown-updates": lambda n: update("surprise", number=n, words=["one", "two"]),
    "unknown-sessions": lambda n: chunk("nobody's", session=f"other-{n}"),
    "unknown-notes": lambda n: line({"method": "_example/note", "params": {"n": n}}),
    "broken-updates": lambda n: update("tool_call", title=n),
    "junk": lambda n: b"DEBUG this is no JSON, line %d\n" % n,
    "cancels": lambda n: line({"method": "$/cancel_request", "params": {"requestId": n}}),
    "answers": lambda n: line({"id": n + 1_000, "result": {}}),
    "stderr": _stderr,
    "permissions": _permission,
    "asked-and-withdrawn": lambda n: (
        _with_id(_permission(n), f"p{n}") + line({"method": "$/cancel_request", "params": {"requestId": f"p{n}"}})
    ),
    "forms": _form,
    "terminals": _terminal,
    "chatty-terminals": _chatty_terminal,
    "ended-terminals": _ended_terminal,
    "outputs": lambda n: request("terminal/output", terminalId="none"),
    "reads": _read_big,
    "writes": _write,
    "unknown-requests": lambda n: request("example/none", n=n),
    "huge-ids": lambda n: request("example/none", request_id=f"{n}" + "x" * MEGABYTE),
    "huge-permission-ids": lambda n: _with_id(_permission(n), f"{n}" + "x" * MEGABYTE),
    "deep": _deep,
    "big-line": lambda n: chunk("y" * (100 * MEGABYTE)),
    "long-line": lambda n: chunk("y" * (50 * MEGABYTE)),
    "paragraph": lambda n: chunk("the **quick** `brown` fox jumps over the *lazy* dog " * (MEGABYTE // 52)),
    "blank-lines": lambda n: b"\n" * 1_000,
}


# One long line in each field: "title-marks 1" is a tool call's title of ten million marks.

TWENTY_MEGABYTES: Final = 20 * MEGABYTE
LONG: Final[dict[str, str]] = {
    "marks": "\u0301",
    "letters": "y",
    "wide": "\u6f22",
    "families": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d",
    "bidi": "\u202e\u2066",
    "tabs": "\t",
    "newlines": "\n",
    "nuls": "\0",
    "halves": "\ud83d",
    "ligatures": "\ufdfa",
    "spaces": "\u3000",
    "words": "word ",
}
"""What a line consists of, so that it has twenty megabytes."""


def _long_line(characters: str) -> str:
    written = line({"": characters}), line({"": ""})
    return characters * (TWENTY_MEGABYTES // (len(written[0]) - len(written[1])))


def _reported(**fields: Any) -> Callable[[str], bytes]:
    """A tool call with the line in place of each `...`."""
    return _filled(lambda given: update("tool_call", **{"toolCallId": "call", "title": "Read", **given}), fields)


def _asked(**fields: Any) -> Callable[[str], bytes]:
    """A permission request about such a call."""

    def make(given: dict[str, Any]) -> bytes:
        options = given.pop("options", OPTIONS)
        call = {"toolCallId": "asked", "title": "Run", "kind": "execute", **given}
        return request("session/request_permission", toolCall=call, options=options)

    return _filled(make, fields)


def _elicited(**fields: Any) -> Callable[[str], bytes]:
    """A form or page."""
    return _filled(lambda given: request("elicitation/create", **given), fields)


def _updated(which: str, **fields: Any) -> Callable[[str], bytes]:
    return _filled(lambda given: update(which, **given), fields)


def _requested(method: str, **fields: Any) -> Callable[[str], bytes]:
    return _filled(lambda given: request(method, **given), fields)


def _filled(make: Callable[[dict[str, Any]], bytes], fields: dict[str, Any]) -> Callable[[str], bytes]:
    def fill(value: Any, long: str) -> Any:
        if isinstance(value, dict):
            return {long if key == "..." else key: fill(item, long) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item, long) for item in value]
        return long if value is ... else value

    # All places of a field together are as long as the line.
    return lambda long: make(fill(fields, long[: len(long) // max(str(fields).count("llipsis"), 1)]))


def _form_of(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"name": {"type": "string", "title": "Name", **fields}}}


_STEP: Final = {"content": "Step", "priority": "low", "status": "pending"}
_OPTION: Final = {"id": "o", "name": "Option", "type": "select", "currentValue": "v"}
_VALUE: Final = {"value": "v", "name": "Value"}
FIELDS: Final[dict[str, Callable[[str], bytes]]] = {
    "message": _updated("agent_message_chunk", content={"type": "text", "text": ...}),
    "thought": _updated("agent_thought_chunk", content={"type": "text", "text": ...}),
    "message-id": _updated("agent_message_chunk", messageId=..., content={"type": "text", "text": "x"}),
    "link": _updated("agent_message_chunk", content={"type": "resource_link", "uri": ..., "name": ..., "title": ...}),
    "image": _updated("agent_message_chunk", content={"type": "image", "data": "", "mimeType": ..., "uri": ...}),
    "unknown-block": _updated("agent_message_chunk", content={"type": ...}),
    "title": _reported(title=...),
    "title-of-command": _reported(title=..., kind="execute"),
    "call-id": _reported(toolCallId=...),
    "kind": _reported(kind=...),
    "status": _reported(status=...),
    "location": _reported(locations=[{"path": ...}]),
    "raw-input": _reported(rawInput={"command": ..., "path": ..., "other": ...}, kind="execute"),
    "raw-key": _reported(rawInput={"...": "x"}),
    "raw-output": _reported(rawOutput=..., status="completed"),
    "output": _reported(content=[{"type": "content", "content": {"type": "text", "text": ...}}], status="completed"),
    "diff-path": _reported(content=[{"type": "diff", "path": ..., "oldText": "a", "newText": "b"}], kind="edit"),
    "diff-text": _reported(content=[{"type": "diff", "path": "/a", "oldText": "a", "newText": ...}], kind="edit"),
    "unknown-content": _reported(content=[{"type": ...}]),
    "terminal-info": _reported(_meta={"terminal_info": {"terminal_id": "t", "cwd": ...}}),
    "step": _updated("plan", entries=[{**_STEP, "content": ...}]),
    "priority": _updated("plan", entries=[{**_STEP, "priority": ..., "status": ...}]),
    "command": _updated(
        "available_commands_update", availableCommands=[{"name": ..., "description": ..., "input": {"hint": ...}}]
    ),
    "mode": _updated("current_mode_update", currentModeId=...),
    "option": _updated("config_option_update", configOptions=[{**_OPTION, "name": ..., "options": [_VALUE]}]),
    "value": _updated("config_option_update", configOptions=[{**_OPTION, "options": [{"value": "v", "name": ...}]}]),
    "session-title": _updated("session_info_update", title=..., updatedAt=...),
    "currency": _updated("usage_update", used=1, size=2, cost={"amount": 1, "currency": ...}),
    "notice": _updated("notice", severity="info", title=..., description=...),
    "severity": _updated("notice", severity=..., title="x"),
    "compaction": _updated("compaction_update", compactionId="c", status="failed", error=...),
    "subagent": _updated("subagent_update", sessionId="sub", title=..., description=..., state={"state": "running"}),
    "unknown-update": lambda long: update(long),
    "unknown-note": lambda long: line({"method": f"_{long}", "params": {}}),
    "unknown-request": lambda long: line({"method": long, "id": "unknown", "params": {}}),
    "read": _requested("fs/read_text_file", path=...),
    "write": _requested("fs/write_text_file", path=..., content="x"),
    "write-content": _requested("fs/write_text_file", path="/nowhere/x", content=...),
    "run": _requested("terminal/create", command="true", args=[...], env=[{"name": ..., "value": ...}], cwd="/"),
    "asked-title": _asked(title=...),
    "asked-command": _asked(rawInput={"command": ...}),
    "asked-path": _asked(kind="edit", content=[{"type": "diff", "path": ..., "oldText": "a", "newText": "b"}]),
    "asked-diff": _asked(kind="edit", content=[{"type": "diff", "path": "/a", "oldText": ..., "newText": "b"}]),
    "asked-text": _asked(content=[{"type": "content", "content": {"type": "text", "text": ...}}]),
    "asked-field": _asked(kind="other", rawInput={"field": ...}),
    "asked-key": _asked(kind="other", rawInput={"...": 1}),
    "asked-option": _asked(options=[{"optionId": "yes", "name": ..., "kind": ...}]),
    "form-message": _elicited(mode="form", message=..., requestedSchema=_form_of()),
    "form-field": _elicited(
        mode="form", message="x", requestedSchema=_form_of(title=..., description=..., default=...)
    ),
    "form-choice": _elicited(mode="form", message="x", requestedSchema=_form_of(enum=[..., "b"])),
    "form-pattern": _elicited(mode="form", message="x", requestedSchema=_form_of(pattern=...)),
    "page": _elicited(mode="url", message="x", elicitationId="e", url=...),
}
FLOODS.update(
    (f"{name}-{kind}", lambda n, make=make, characters=characters: make(_long_line(characters)))
    for name, make in FIELDS.items()
    for kind, characters in LONG.items()
)


def _with_id(frame: bytes, request_id: str) -> bytes:
    return line({**json.loads(frame), "id": request_id})


def write(data: bytes) -> None:
    """Write all of it, however long it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def play(words: list[str]) -> None:
    """One turn."""
    kind, times = words[0], int(words[1])
    make = FLOODS[kind]
    if kind == "reads":
        (Path.cwd() / "big.txt").write_text("sixty megabytes of this line\n" * (60 * MEGABYTE // 29))
    batch: list[bytes] = []
    for number in range(times):
        batch.append(make(number))
        if len(batch) == 100 or len(batch[-1]) > 10_000:
            write(b"".join(batch))
            batch.clear()
    write(b"".join(batch) + update("agent_message_chunk", messageId="end", content=text("FLOOD-ENDS-HERE")))


def messages() -> Iterator[dict[str, Any]]:
    """The client's messages. Reads line by line, so that it can stop."""
    pending = b""
    while data := os.read(0, 65536):
        *whole, pending = (pending + data).split(b"\n")
        for each in whole:
            yield json.loads(each)


def drain() -> None:
    """Read and ignore it."""
    while os.read(0, 1 << 20):
        pass
    os._exit(0)


def main() -> None:
    """Serve until the client is gone."""
    for message in messages():
        method, request_id = message.get("method"), message.get("id")
        match method:
            case "initialize":
                info = {"name": "hostile", "title": "Hostile", "version": "1"}
                write(line({"id": request_id, "result": {"protocolVersion": 1, "agentInfo": info}}))
            case "session/new":
                modes = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
                state = {"currentModeId": "ask", "availableModes": modes}
                write(line({"id": request_id, "result": {"sessionId": SESSION, "modes": state}}))
            case "session/prompt":
                words = message["params"]["prompt"][-1]["text"].split()
                if "unread" not in words:
                    threading.Thread(target=drain, daemon=True).start()
                play(words)
                write(line({"id": request_id, "result": {"stopReason": "end_turn"}}))
                threading.Event().wait()  # it stays until it is killed
            case _:
                pass


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(0)
