"""The demo agent with clients of version 2: it accepts prompts by ID, reports states, and works on its own."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.protocol.negotiation import speaks_v2
from acp_tui.rpc import RequestFailed

GREETING = '[[prompt]]\n[[prompt.step]]\nsay = "{text} to you"\n'
ASKING = (
    '[[prompt]]\n[[prompt.step]]\npermission = { id = "p", title = "Go on" }\n'
    '[[prompt.step.allowed]]\nsay = "yes"\n[[prompt.step.rejected]]\nsay = "no"\n'
)


def ask(client: Any, text: str = "hello") -> Any:
    """Send a prompt now; awaiting the result gives the answer."""
    blocks = [{"type": "text", "text": text}]
    return client.peer.request("session/prompt", {"sessionId": "demo-1", "prompt": blocks})


async def opened(client: Any, folder: Path | None = None) -> Any:
    """The handshake and one session; returns the answer to session/new."""
    client.cwd = str(folder or "/project")
    await client.initialize(protocol=2)
    return await client.new_session()


async def _never(_: Any) -> None:
    await anyio.sleep_forever()


def said_of(client: Any, kind: str) -> list[Any]:
    return [update for update in client.updates if update["sessionUpdate"] == kind]


@pytest.mark.parametrize(("asked", "spoken"), [(1, 1), (2, 2), (9, 2)])
async def test_the_version_is_agreed_on(connect: Any, asked: int, spoken: int) -> None:
    """R2-INIT."""
    async with connect(GREETING) as client:
        answer = await client.initialize(protocol=asked)
    assert (answer["protocolVersion"], speaks_v2(answer)) == (spoken, spoken == 2)


async def test_a_scenario_may_insist_on_a_version(connect: Any) -> None:
    async with connect(f"[initialize]\nprotocol_version = 7\n{GREETING}") as client:
        assert (await client.initialize(protocol=2))["protocolVersion"] == 7


async def test_a_turn_is_told_by_states_and_its_messages_by_ids(connect: Any) -> None:
    """R2-TURN, R2-MSG."""
    async with connect(GREETING) as client:
        await opened(client)
        answer = await ask(client)
        await client.until(lambda: client.is_idle)
    running, message, *chunks, idle = client.updates
    assert (running["state"], idle["stopReason"]) == ("running", "end_turn")
    assert (message["sessionUpdate"], message["messageId"]) == ("user_message", answer["messageId"])
    assert len({chunk["messageId"] for chunk in chunks}) == 1
    assert client.message() == "hello to you"


async def test_a_second_prompt_waits_for_its_turn(connect: Any) -> None:
    """R2-QUEUE."""
    async with connect(ASKING) as client:
        await opened(client)
        answered = anyio.Event()

        async def decide(_: Any) -> Any:
            await answered.wait()
            return {"outcome": {"outcome": "selected", "optionId": "allow"}}

        client.answers["session/request_permission"] = decide
        await ask(client)
        await client.until_asked("session/request_permission")
        second = ask(client, "second")
        assert len(said_of(client, "user_message")) == 1
        answered.set()
        await second
        await client.until(lambda: len(said_of(client, "user_message")) == 2 and client.is_idle)
    states = [update["state"] for update in client.states]
    assert states == ["running", "requires_action", "running", "idle"] * 2


async def test_a_cancel_reaches_what_is_asked_and_what_is_held(connect: Any) -> None:
    """R2-CANC, R2-QUEUE: the question is withdrawn, and the waiting prompt is refused with -32800."""
    async with connect(ASKING) as client:
        await opened(client)
        client.answers["session/request_permission"] = _never
        await ask(client)
        await client.until_asked("session/request_permission")
        held = ask(client, "second")
        client.cancel()
        with pytest.raises(RequestFailed) as refusal:
            await held
        assert refusal.value.code == -32800
        await client.until(lambda: client.is_idle)
        await client.until(lambda: bool(client.cancelled_requests))
    assert client.states[-1]["stopReason"] == "cancelled"


async def test_an_error_ends_the_turn_with_its_idle(connect: Any) -> None:
    """R2-ERR."""
    async with connect('[[prompt]]\n[[prompt.step]]\nfault = "error"\ndetails = "why"\n') as client:
        await opened(client)
        await ask(client)
        await client.until(lambda: client.is_idle)
    (_, idle) = client.states
    assert (idle["stopReason"], idle["error"]["code"]) == ("error", -32603)
    assert idle["error"]["data"] == {"details": "why"}


async def test_what_was_said_is_repeated_with_the_same_ids(connect: Any) -> None:
    """R2-LIFE, R2-MSG: a snapshot of the state comes before the answer."""
    async with connect(GREETING) as client:
        await opened(client)
        await ask(client)
        await client.until(lambda: client.is_idle)
        live = [update for update in client.updates if update["sessionUpdate"] != "state_update"]
        client.updates.clear()
        place = {"sessionId": "demo-1", "cwd": client.cwd}
        await client.peer.request("session/resume", place)
        assert [update["sessionUpdate"] for update in client.updates] == ["state_update"]
        await client.peer.request("session/resume", {**place, "replayFrom": {"type": "start"}})
    assert client.updates[1:-1] == live


async def test_files_are_read_and_written_by_the_agent_itself(connect: Any, tmp_path: Path) -> None:
    """R2-FS: inside its session's folder."""
    steps = '[[prompt]]\n[[prompt.step]]\nread = { path = "a" }\n'
    for path in ("d/b", "../out"):
        steps += f'[[prompt.step]]\nwrite = {{ path = "{path}", content = "new" }}\n'
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("old")
    async with connect(steps) as client:
        await opened(client, tmp_path / "in")
        await ask(client)
        await client.until(lambda: client.is_idle)
    assert (tmp_path / "in" / "d" / "b").read_text() == "new"
    assert not (tmp_path / "out").exists()
    assert client.methods == []
    statuses = [update["status"] for update in said_of(client, "tool_call_update")]
    assert statuses == ["in_progress", "completed"] * 2 + ["in_progress", "failed"]


async def test_a_command_is_run_and_shown_by_the_agent_itself(connect: Any, tmp_path: Path) -> None:
    """R2-TERM."""
    steps = '[[prompt]]\n[[prompt.step]]\nrun = { command = "sh", args = ["-c", "echo out; echo err >&2; exit 3"] }\n'
    async with connect(steps) as client:
        await opened(client, tmp_path)
        await ask(client)
        await client.until(lambda: client.is_idle)
    begun, ended = said_of(client, "terminal_update")
    assert (begun["command"], begun["cwd"]) == ('sh -c "echo out; echo err >&2; exit 3"', str(tmp_path))
    printed = b"".join(b64decode(chunk["data"]) for chunk in said_of(client, "terminal_output_chunk"))
    assert printed == b"out\nerr\n"
    assert ended["exitStatus"] == {"exitCode": 3}
    assert client.methods == []


async def test_a_command_can_be_stopped_alone(connect: Any, tmp_path: Path) -> None:
    """R2-CANC1: and the turn continues."""
    steps = '[[prompt]]\n[[prompt.step]]\nrun = { command = "sleep", args = ["600"] }\n[[prompt.step]]\nsay = "on"\n'
    async with connect(steps) as client:
        await opened(client, tmp_path)
        await ask(client)
        await client.until(lambda: bool(said_of(client, "terminal_update")))
        (terminal,) = said_of(client, "terminal_update")
        assert terminal["capabilities"] == {"cancel": {}}
        name = {"sessionId": "demo-1", "terminalId": terminal["terminalId"]}
        await client.peer.request("terminal/cancel", name)
        await client.until(lambda: client.is_idle)
    assert said_of(client, "terminal_update")[-1]["exitStatus"] == {"signal": "SIGTERM"}
    assert client.message() == "on"
    assert client.states[-1]["stopReason"] == "end_turn"


async def test_modes_are_an_option_and_commands_come_with_the_session(connect: Any) -> None:
    """R2-CFG, R2-CMD."""
    session = (
        '[session]\ncommands = [{ name = "go", description = "Go", hint = "where" }]\n'
        '[session.modes]\ncurrent = "ask"\n'
        'available = [{ id = "ask", name = "Ask" }, { id = "do", name = "Do" }]\n'
    )
    async with connect(session + GREETING) as client:
        declared = await opened(client)
        params = {"sessionId": "demo-1", "configId": "mode", "type": "id", "value": "do"}
        changed = await client.peer.request("session/set_config_option", params)
    (command,) = declared["availableCommands"]
    assert command["input"] == {"type": "text", "hint": "where"}
    (mode,) = declared["configOptions"]
    assert (mode["category"], mode["currentValue"]) == ("mode", "ask")
    assert changed["configOptions"][0]["currentValue"] == "do"
