"""The client of the protocol's official Python SDK, which repeats what a recorded client did. Has no screen."""

from __future__ import annotations

import json
import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import acp
import anyio
from acp import schema

from acp_tui.client.transcript.lines import open_recording
from acp_tui.rpc.messages import Failure, Notification, Request, Result
from acp_tui.workbench.mock.script import CANCEL, MockStep, Script, read_script
from support.waiting import LIMIT_S

Wire: TypeAlias = dict[str, Any]


@dataclass
class Followed:
    """The results."""

    updates: list[Any] = field(default_factory=list)
    """As the SDK passed them to the client."""
    frames: list[Any] = field(default_factory=list)
    """Any other JSON, in wire order."""
    served: list[str] = field(default_factory=list)
    """The agent's requests."""
    answers: list[Any] = field(default_factory=list)
    """Answers to the client's requests, as the SDK passed them."""
    said: str = ""
    """Its stderr."""
    status: int | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def departures(self) -> list[str]:
        """The mock's reports about this client."""
        return [line for line in self.said.splitlines() if line.startswith("acp-tui mock: frame")]

    def see(self, event: Any) -> None:
        """A frame of either direction."""
        if event.direction.value == "incoming":
            self.frames.append(event.message)
        self.touch()

    def touch(self) -> None:
        """Notice a new frame."""
        self.changed.set()
        self.changed = anyio.Event()


class RecordedClient:
    """Answers each question as the recorded client did, in the SDK's terms."""

    def __init__(self, script: Script, followed: Followed) -> None:
        self._followed = followed
        self._answers: dict[str, deque[MockStep]] = defaultdict(deque)
        for step in script.steps:
            if step.is_ours and isinstance(step.message, Request) and step.answer is not None:
                self._answers[step.method].append(step.answer)

    async def _answer(self, method: str) -> Any:
        self._followed.served.append(method)
        if not self._answers[method]:  # it was never answered
            await anyio.sleep_forever()
        message = self._answers[method].popleft().message
        if isinstance(message, Failure):
            raise acp.RequestError(message.error.code, message.error.message, message.error.data)
        assert isinstance(message, Result)
        return message.value

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self._followed.updates.append(update)

    async def request_permission(self, **_: Any) -> Any:
        return schema.RequestPermissionResponse.model_validate(await self._answer("session/request_permission"))

    async def write_text_file(self, **_: Any) -> Any:
        return schema.WriteTextFileResponse.model_validate(await self._answer("fs/write_text_file") or {})

    async def read_text_file(self, **_: Any) -> Any:
        return schema.ReadTextFileResponse.model_validate(await self._answer("fs/read_text_file"))

    async def create_terminal(self, **_: Any) -> Any:
        return schema.CreateTerminalResponse.model_validate(await self._answer("terminal/create"))

    async def terminal_output(self, **_: Any) -> Any:
        return schema.TerminalOutputResponse.model_validate(await self._answer("terminal/output"))

    async def wait_for_terminal_exit(self, **_: Any) -> Any:
        return schema.WaitForTerminalExitResponse.model_validate(await self._answer("terminal/wait_for_exit"))

    async def kill_terminal(self, **_: Any) -> Any:
        await self._answer("terminal/kill")

    async def release_terminal(self, **_: Any) -> Any:
        await self._answer("terminal/release")

    async def create_elicitation(self, **_: Any) -> Any:
        return await self._answer("elicitation/create")

    async def complete_elicitation(self, **_: Any) -> None:
        pass

    async def ext_method(self, method: str, params: Wire) -> Any:
        return await self._answer(f"_{method}")

    async def ext_notification(self, method: str, params: Wire) -> None:
        pass


async def follow(recording: Path, cwd: Path) -> Followed:
    """Do with a strict mock of a recording what its client did, in another folder, until everything was sent."""
    with open_recording(recording) as events:
        script = read_script(events)
    followed = Followed()
    client: Any = RecordedClient(script, followed)
    argv = ("-m", "acp_tui", "mock", str(recording), "--speed", "0", "--strict", "--timeout", "20")
    errors = cwd / "stderr"
    with anyio.fail_after(LIMIT_S), errors.open("wb") as stderr:
        async with acp.spawn_agent_process(
            client,
            sys.executable,
            *argv,
            use_unstable_protocol=True,
            observers=[followed.see],
            transport_kwargs={"stderr": stderr, "shutdown_timeout": LIMIT_S},  # the SDK kills it sooner
        ) as (agent, process):
            await _Following(script, followed, agent, cwd).to_the_end()
    followed.said = errors.read_text()
    followed.status = process.returncode
    return followed


class _Following:
    def __init__(self, script: Script, followed: Followed, agent: Any, cwd: Path) -> None:
        self._script = script
        self._followed = followed
        self._agent = agent
        self._cwd = cwd
        self._answered: set[MockStep] = set()
        self._sent: list[Any] = []
        """IDs of the recorded requests; their positions are the SDK's IDs."""

    async def to_the_end(self) -> None:
        async with anyio.create_task_group() as tasks:
            for step in self._script.steps:
                if step.is_ours or self._is_over:
                    continue
                if isinstance(step.message, Request):
                    await self._until_answered(step)
                    self._sent.append(step.message.id)
                    tasks.start_soon(self._request, step)
                    await anyio.lowlevel.checkpoint()
                elif isinstance(step.message, Notification):
                    await self._until_seen(step.place)
                    with suppress(ConnectionError):
                        await self._notify(step)
            await self._until_seen(len(self._script.steps))
            tasks.cancel_scope.cancel()

    async def _until_answered(self, request: MockStep) -> None:
        before = [step.answers for step in self._script.steps[: request.place] if step.is_ours and step.answers]
        while not self._is_over and not self._answered.issuperset(before):
            await self._followed.changed.wait()

    async def _until_seen(self, place: int) -> None:
        frames = sum(1 for _ in json_of(self._script.steps[:place]))
        while not self._is_over and len(self._followed.frames) < frames:
            await self._followed.changed.wait()

    @property
    def _is_over(self) -> bool:
        return bool(self._agent._conn._disconnected)

    async def _request(self, step: MockStep) -> None:
        try:
            self._followed.answers.append(await self._call(step))
        except (acp.RequestError, ConnectionError) as error:
            self._followed.answers.append(error)
        self._answered.add(step)
        self._followed.touch()

    async def _call(self, step: MockStep) -> Any:
        assert isinstance(step.message, Request)
        agent, params = self._agent, step.message.params
        given = {"cwd": str(self._cwd), "mcp_servers": []}
        match step.method:
            case "initialize":
                return await agent.initialize(
                    protocol_version=params["protocolVersion"],
                    client_capabilities=schema.ClientCapabilities.model_validate(params["clientCapabilities"]),
                )
            case "authenticate":
                return await agent.authenticate(method_id=params["methodId"])
            case "session/new":
                return await agent.new_session(**given)
            case "session/load":
                return await agent.load_session(session_id=params["sessionId"], **given)
            case "session/resume":
                return await agent.resume_session(session_id=params["sessionId"], **given)
            case "session/list":
                return await agent.list_sessions(cwd=str(self._cwd), cursor=params.get("cursor"))
            case "session/close":
                return await agent.close_session(session_id=params["sessionId"])
            case "session/set_mode":
                return await agent.set_session_mode(session_id=params["sessionId"], mode_id=params["modeId"])
            case "session/set_config_option":
                return await agent.set_config_option(
                    config_id=params["configId"], session_id=params["sessionId"], value=params["value"]
                )
            case "session/prompt":
                return await agent.prompt(session_id=params["sessionId"], prompt=[acp.text_block("Do it.")])
            case method:  # the SDK has no name for it
                return await agent._conn.send_request(method, params)

    async def _notify(self, step: MockStep) -> None:
        assert isinstance(step.message, Notification)
        if step.method == CANCEL:
            await self._agent.cancel(session_id=step.session)
        else:
            live = self._sent.index(step.message.params["requestId"])
            await self._agent._conn.send_notification(step.method, {"requestId": live})


def json_of(steps: list[MockStep]) -> Iterator[Any]:
    """The agent's frames among these, if they are JSON."""
    for step in steps:
        if step.is_ours and step.message is not None:
            with suppress(ValueError):
                yield json.loads(step.data)
