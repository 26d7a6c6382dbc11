"""A canceled turn of the demo agent ends as canceled, wherever it is, and leaves nothing running."""

from __future__ import annotations

from typing import Any

import anyio

SPEED = 1e-6  # nothing that waits continues on its own

WAITING = '[[prompt]]\nstep = [{ say = "a", chunk_s = 0 }, { wait_s = 1 }, { say = "never" }]'
ASKING = '[[prompt]]\nstep = [{ permission = { title = "a" } }, { say = "never" }]'
RUNNING = '[[prompt]]\nstep = [{ run = { command = "sleep" } }, { say = "never" }]'


async def forever(_: dict[str, Any]) -> Any:
    await anyio.sleep_forever()


async def cancelled_turn(client: Any, when: Any) -> str:
    """The stop reason of a turn that is canceled once the agent got this far."""
    stop_reasons: list[str] = []

    async def prompt() -> None:
        stop_reasons.append(await client.prompt())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt)
        await when
        client.cancel()
    return stop_reasons[0]


async def test_cancel_ends_a_wait(connect):
    async with connect(WAITING, speed=SPEED) as client:
        await client.open()
        assert await cancelled_turn(client, client.until(lambda: client.message() == "a")) == "cancelled"
        assert client.message() == "a"


async def test_cancel_right_behind_the_prompt_is_heard(connect):
    async with connect(WAITING, speed=SPEED) as client:
        await client.open()
        assert await cancelled_turn(client, anyio.sleep(0)) == "cancelled"


async def test_cancel_ends_a_permission_request_and_withdraws_it(connect):
    async with connect(ASKING) as client:
        client.answers["session/request_permission"] = forever
        await client.open()
        asked = client.until_asked("session/request_permission")
        assert await cancelled_turn(client, asked) == "cancelled"
        assert client.message() == ""
        assert client.cancelled_requests == ["session/request_permission"]


async def test_cancel_kills_and_releases_a_running_terminal(connect):
    async with connect(RUNNING) as client:
        client.answers["terminal/wait_for_exit"] = forever
        await client.open()
        assert await cancelled_turn(client, client.until_asked("terminal/wait_for_exit")) == "cancelled"
        assert client.methods[-2:] == ["terminal/kill", "terminal/release"]
        assert client.params("terminal/release")["terminalId"] == "term-1"


async def test_cancel_while_a_terminal_is_being_made_releases_it(connect):
    async def when_cancelled(_: dict[str, Any]) -> Any:
        client.cancel()
        await client.peer.flush()
        return {"terminalId": "term-1"}

    async with connect(RUNNING) as client:
        client.answers["terminal/create"] = when_cancelled
        client.answers["terminal/wait_for_exit"] = forever
        await client.open()
        assert await client.prompt() == "cancelled"
        assert client.methods[-1] == "terminal/release"


async def test_a_cancelled_session_goes_on_with_the_next_prompt(connect):
    async with connect(f'{WAITING}\n[[prompt]]\nstep = [{{ say = "next" }}]', speed=1e6) as client:
        client.cancel()
        await client.open()
        await client.prompt()
        assert await client.prompt() == "end_turn"
        assert client.message().endswith("next")


async def test_cancel_touches_no_other_session(connect):
    async with connect(ASKING) as client:
        release = anyio.Event()

        async def when_released(_: dict[str, Any]) -> Any:
            await release.wait()
            return {"outcome": {"outcome": "selected", "optionId": "allow"}}

        client.answers["session/request_permission"] = when_released
        await client.open()
        await client.new_session()
        stop_reasons: dict[str, str] = {}

        async def prompt(session_id: str) -> None:
            stop_reasons[session_id] = await client.prompt(session_id=session_id)
            release.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, "demo-1")
            tasks.start_soon(prompt, "demo-2")
            await client.until(lambda: client.methods.count("session/request_permission") == 2)
            client.cancel("demo-1")
        assert stop_reasons == {"demo-1": "cancelled", "demo-2": "end_turn"}


async def test_a_deaf_agent_does_not_hear_the_cancellation(connect):
    stop_reasons: list[str] = []

    async with connect('[[prompt]]\nstep = [{ say = "a" }, { fault = "hang", deaf = true }]') as client:

        async def prompt() -> None:
            stop_reasons.append(await client.prompt())

        await client.open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await client.until(lambda: client.message() == "a")
            await settled(client)
            client.cancel()
            await settled(client)
            assert stop_reasons == []
            tasks.cancel_scope.cancel()


async def settled(client: Any) -> None:
    """The agent has handled everything sent so far, and had time to answer it."""
    for _ in range(3):
        await client.initialize()
