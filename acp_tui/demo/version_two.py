"""The agent's messages and actions in version 2 of the protocol, converted from scenarios written for version 1.

In version 2 the agent acts itself: what a step asks of a client in version 1, it does within the session's folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, Process, TaskGroup

from acp_tui.demo.client_calls import ClientCalls, at, is_marked
from acp_tui.demo.script import SessionTerms, Wire
from acp_tui.demo.session import RESOURCE_NOT_FOUND, DemoSession
from acp_tui.rpc import ErrorCode, Peer, RequestFailed

VERSION: Final = 2
CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
BESIDE: Final = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "session_info_update",
        "terminal_output_chunk",
        "terminal_update",
        "usage_update",
    }
)
"""Updates that don't end a message when they occur between its chunks."""
PLAN: Final = "plan"
MODE: Final = "mode"
"""The ID of the option that replaces modes."""


class VersionTwoCalls(ClientCalls):
    """The connection to a version 2 client, which is asked questions but never for files or terminals."""

    def __init__(self, peer: Peer, stream: ByteStream, tasks: TaskGroup) -> None:
        super().__init__(peer, stream)
        self._tasks = tasks
        self._running: dict[str, _Command] = {}

    def learn(self, capabilities: Any) -> None:
        """Record capabilities. Much that is optional in version 1 is always available."""
        self.can_read = self.can_write = self.can_run = True
        self.takes_boolean_options = self.takes_notices = self.takes_compaction = True
        self.takes_subagents = True
        self.can_log_in_in_terminal = is_marked(capabilities, "auth", "terminal")
        self.takes_forms = is_marked(capabilities, "elicitation", "form")
        self.takes_pages = is_marked(capabilities, "elicitation", "url")

    # Messages

    def worded(self, session: DemoSession, update: Wire) -> Wire:
        """Convert an update to version 2. Each chunk of a message gets the message's ID."""
        kind = update["sessionUpdate"]
        if kind in CHUNKS:
            return {**update, "messageId": session.message_id(kind, update.get("messageId"))}
        is_known = kind in ("tool_call", "tool_call_update") and session.knows(update["toolCallId"])
        if kind not in BESIDE and not is_known:
            session.end_message()
        match kind:
            case "tool_call" | "tool_call_update":
                return {**_tool_call(update), "sessionUpdate": "tool_call_update"}
            case "plan":
                plan = {"type": "items", "planId": PLAN, "entries": update["entries"]}
                return {"sessionUpdate": "plan_update", "plan": plan}
            case "current_mode_update" | "config_option_update":
                return {"sessionUpdate": "config_option_update", "configOptions": options_of(session)}
            case "available_commands_update":
                return {**update, "availableCommands": [_command(command) for command in update["availableCommands"]]}
            case _:
                return update

    async def request_permission(self, session: DemoSession, tool_call: Wire, options: Sequence[Wire]) -> str | None:
        params = {
            "sessionId": session.id,
            "title": f"{tool_call.get('title', 'Go on')}?",
            "subject": {"type": "tool_call", "toolCall": _tool_call(tool_call)},
            "options": options,
        }
        report(self, session.id, "requires_action")
        answer: Any = await self.peer.request("session/request_permission", params)
        report(self, session.id, "running")
        option_id = at(answer, "outcome", "optionId")
        return option_id if isinstance(option_id, str) else None

    async def elicit(self, session: DemoSession, question: Wire) -> tuple[str, dict[str, Any]]:
        try:
            return await super().elicit(session, question)
        finally:
            if "sessionId" in question:
                session.end_message()

    # What the agent does itself

    async def read_text_file(self, session: DemoSession, path: str, line: int | None, limit: int | None) -> str:
        file = _inside(session, path)
        try:
            text = file.read_text("utf-8")
        except FileNotFoundError as error:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"there is no file {path}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise _failed(error) from error
        start = (line or 1) - 1
        lines = text.splitlines(keepends=True)[start:]
        return "".join(lines if limit is None else lines[:limit])

    async def write_text_file(self, session: DemoSession, path: str, content: str) -> None:
        file = _inside(session, path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")
        except OSError as error:
            raise _failed(error) from error

    async def create_terminal(
        self, session: DemoSession, argv: Sequence[str], env: Mapping[str, str], cwd: str, limit_bytes: int | None
    ) -> str:
        """Start the command and show its output."""
        try:
            process = await anyio.open_process(
                argv,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, **env},
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(error) from error
        running = _Command(session.next_id("terminal"), process, limit_bytes)
        self._running[running.name] = running
        line = subprocess.list2cmdline(argv)
        offered: Wire = {"cancel": {}}
        self._tell(session, running, "terminal_update", command=line, cwd=cwd, capabilities=offered)
        self._tasks.start_soon(self._show, session, running)
        return running.name

    async def _show(self, session: DemoSession, running: _Command) -> None:
        try:
            assert running.process.stdout is not None
            async for data in running.process.stdout:
                running.take(data)
                self._tell(session, running, "terminal_output_chunk", data=b64encode(data).decode())
            code = await running.process.wait()
            status = {"exitCode": code} if code >= 0 else {"signal": signal.Signals(-code).name}
            self._tell(session, running, "terminal_update", exitStatus=status, capabilities=None)
        finally:
            running.kill(signal.SIGKILL)
            with anyio.CancelScope(shield=True):
                await running.process.aclose()
            running.ended.set()

    def _tell(self, session: DemoSession, running: _Command, kind: str, **fields: Any) -> None:
        update = {"sessionUpdate": kind, "terminalId": running.name, **fields}
        session.remember(update)
        self.update(session.id, update)

    async def wait_for_terminal_exit(self, session: DemoSession, terminal_id: str) -> int | None:
        running = self._command(terminal_id)
        await running.ended.wait()
        code = running.process.returncode
        return code if code is not None and code >= 0 else None

    async def terminal_output(self, session: DemoSession, terminal_id: str) -> str:
        return bytes(self._command(terminal_id).output).decode("utf-8", "replace")

    async def kill_terminal(self, session: DemoSession, terminal_id: str) -> None:
        self._command(terminal_id).kill()

    async def release_terminal(self, session: DemoSession, terminal_id: str) -> None:
        if (running := self._running.pop(terminal_id, None)) is not None:
            running.kill()

    def _command(self, terminal_id: str) -> _Command:
        if terminal_id not in self._running:
            raise RequestFailed(ErrorCode.INVALID_PARAMS, f"There is no terminal {terminal_id!r}")
        return self._running[terminal_id]


class _Command:
    def __init__(self, name: str, process: Process, limit: int | None) -> None:
        self.name = name
        self.process = process
        self.output = bytearray()
        self.ended = anyio.Event()
        self._limit = limit

    def take(self, data: bytes) -> None:
        self.output += data
        if self._limit is not None:
            del self.output[: -self._limit or None]

    def kill(self, by: signal.Signals = signal.SIGTERM) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, by)


def _inside(session: DemoSession, path: str) -> Path:
    """Check that a path is in the session's folder. Nothing else confines this agent."""
    file = Path(path).resolve()
    if not file.is_relative_to(Path(session.cwd).resolve()):
        raise RequestFailed(ErrorCode.INVALID_PARAMS, f"{path} is outside of the session's folder")
    return file


def _failed(error: Exception) -> RequestFailed:
    return RequestFailed(ErrorCode.INTERNAL_ERROR, getattr(error, "strerror", None) or str(error))


# Conversion


def _tool_call(fields: Wire) -> dict[str, Any]:
    content = fields.get("content")
    return {**fields} if content is None else {**fields, "content": [_content(item) for item in content]}


def _content(item: Wire) -> Wire:
    if item["type"] != "diff" or "path" not in item:
        return item
    path, old, new = item["path"], item.get("oldText"), item["newText"]
    change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
    patch = {"format": "git_patch", "text": "".join(_patch(path, old, new))}
    return {"type": "diff", "changes": [change], "patch": patch}


def _patch(path: str, old: str | None, new: str) -> Iterator[str]:
    """A patch that replaces the whole file. The client finds what has changed."""
    before, after = (text.splitlines(keepends=True) for text in (old or "", new))
    yield f"diff --git {path} {path}\n"
    if old is None:
        yield "new file mode 100644\n"
    yield f"--- {'/dev/null' if old is None else path}\n+++ {path}\n"
    yield f"@@ -{min(len(before), 1)},{len(before)} +{min(len(after), 1)},{len(after)} @@\n"
    for sign, lines in (("-", before), ("+", after)):
        for line in lines:
            yield f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def report(client: ClientCalls, session_id: str, state: str, **more: Any) -> None:
    client.update(session_id, {"sessionUpdate": "state_update", "state": state, **more})


def declaration_of(session: DemoSession, setup: SessionTerms) -> dict[str, Any]:
    return {
        "configOptions": options_of(session),
        "availableCommands": [_command(command) for command in setup.commands],
    }


def _command(command: Wire) -> Wire:
    hint = at(command, "input", "hint")
    return {**command, "type": "command"} | ({} if hint is None else {"input": {"type": "text", "hint": hint}})


def options_of(session: DemoSession) -> Sequence[Wire]:
    """All options, including modes."""
    options = [
        {"configId": option["id"], **{key: value for key, value in option.items() if key != "id"}}
        for option in session.config_options()
    ]
    modes = session.modes
    if modes is None or not is_mode(session, MODE):
        return options
    choices = [{**mode, "value": mode["id"]} for mode in modes["availableModes"]]
    for choice in choices:
        del choice["id"]
    mode = {"configId": MODE, "name": "Mode", "category": MODE, "type": "select"}
    return [{**mode, "currentValue": modes["currentModeId"], "options": choices}, *options]


def is_mode(session: DemoSession, option_id: Any) -> bool:
    """Whether this option stands for modes that have no option of their own."""
    categories = [option.get("category") for option in session.config_options()]
    return option_id == MODE and session.modes is not None and MODE not in categories


def login_of(method: Wire) -> Wire:
    worded = {"type": "agent", "methodId": method["id"], **method}
    del worded["id"]
    if isinstance(env := method.get("env"), dict):
        worded["env"] = [{"name": name, "value": value} for name, value in env.items()]
    return worded
