"""The demo agent outside turns: handshake, login, sessions, and their settings."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_tui import __version__
from acp_tui.demo import scenario
from acp_tui.rpc import ErrorCode, RequestFailed

HELLO = '[[prompt]]\nstep = [{ say = "hello" }]'

LOGIN = f"""
[auth]
required = true
methods = [{{ id = "demo", name = "Log in" }}]
{HELLO}
[[prompt]]
step = [{{ fault = "auth_required" }}]
"""

LOGIN_IN_TERMINAL = f"""
[auth]
required = true
logout = true
methods = [
  {{ id = "agent", name = "Log in" }},
  {{ id = "own", type = "terminal", name = "Log in here", args = ["--login"], env = {{ A = "b" }} }},
]
{HELLO}
"""

A, B = ('{ value = "a", name = "A" }', '{ value = "b", name = "B" }')

SETTINGS = f"""
[session]
commands = [{{ name = "plan", description = "Make a plan", hint = "for what" }}]
modes = {{ current = "ask", available = [{{ id = "ask", name = "Ask" }}, {{ id = "code", name = "Code" }}] }}
config = [
  {{ id = "model", name = "Model", current = "a", options = [{A}, {B}] }},
  {{ id = "web", name = "Web", current = false }},
]
{HELLO}
"""


async def refused(request: Any) -> int:
    with pytest.raises(RequestFailed) as failed:
        await request
    return failed.value.code


async def test_initialize_introduces_the_agent(connect):
    async with connect(HELLO) as client:
        answer = await client.initialize()
        assert answer["protocolVersion"] == 1
        assert answer["agentInfo"] == {"name": "acp-tui-demo", "title": "demo", "version": __version__}


async def test_session_ids_are_counted_and_sessions_kept_apart(connect):
    async with connect(HELLO) as client:
        assert (await client.open())["sessionId"] == "demo-1"
        assert (await client.new_session())["sessionId"] == "demo-2"
        await client.prompt(session_id="demo-2")
        assert (client.message("demo-1"), client.message("demo-2")) == ("", "hello")


async def test_an_unknown_method_is_answered_so(connect):
    async with connect(HELLO) as client:
        assert await refused(client.peer.request("session/fork", {})) == ErrorCode.METHOD_NOT_FOUND


async def test_an_unknown_session_is_refused(connect):
    async with connect(HELLO) as client:
        await client.initialize()
        assert await refused(client.prompt(session_id="demo-9")) == ErrorCode.INVALID_PARAMS


async def test_a_relative_cwd_is_refused(connect):
    async with connect(HELLO) as client:
        await client.initialize()
        request = client.peer.request("session/new", {"cwd": "here", "mcpServers": []})
        assert await refused(request) == ErrorCode.INVALID_PARAMS


async def test_a_closed_session_is_gone(connect):
    async with connect(HELLO) as client:
        await client.open()
        await client.peer.request("session/close", {"sessionId": "demo-1"})
        assert await refused(client.prompt()) == ErrorCode.INVALID_PARAMS


async def test_a_login_is_demanded_until_it_has_happened(connect):
    async with connect(LOGIN) as client:
        methods = (await client.initialize())["authMethods"]
        assert await refused(client.new_session()) == -32000
        assert await refused(client.peer.request("authenticate", {"methodId": "x"})) == ErrorCode.INVALID_PARAMS
        await client.peer.request("authenticate", {"methodId": methods[0]["id"]})
        await client.new_session()
        assert await client.prompt() == "end_turn"


async def test_a_login_can_expire_in_mid_turn(connect):
    async with connect(LOGIN) as client:
        await client.initialize()
        await client.peer.request("authenticate", {"methodId": "demo"})
        await client.new_session()
        await client.prompt()
        assert await refused(client.prompt()) == -32000
        assert await refused(client.new_session()) == -32000


async def test_a_login_in_a_terminal_is_shown_to_clients_that_have_one(connect):
    async with connect(LOGIN_IN_TERMINAL) as client:
        assert (await client.initialize())["authMethods"][1] == {
            "type": "terminal",
            "id": "own",
            "name": "Log in here",
            "args": ["--login"],
            "env": {"A": "b"},
        }
        assert [m["id"] for m in (await client.initialize(capabilities={}))["authMethods"]] == ["agent"]


async def test_a_login_in_a_terminal_is_nothing_that_the_agent_does(connect):
    async with connect(LOGIN_IN_TERMINAL) as client:
        await client.initialize()
        request = client.peer.request("authenticate", {"methodId": "own"})
        assert await refused(request) == ErrorCode.INVALID_PARAMS


async def test_after_a_logout_a_login_is_demanded(connect):
    async with connect(LOGIN_IN_TERMINAL) as client:
        assert (await client.initialize())["agentCapabilities"]["auth"] == {"logout": {}}
        await client.peer.request("authenticate", {"methodId": "agent"})
        await client.new_session()
        await client.peer.request("logout", {})
        assert await refused(client.prompt()) == -32000


async def test_commands_are_announced_behind_the_new_session(connect):
    async with connect(SETTINGS) as client:
        await client.open()
        await client.until(lambda: client.kinds() == ["available_commands_update"])
        assert client.updates[0]["availableCommands"] == [
            {"name": "plan", "description": "Make a plan", "input": {"hint": "for what"}}
        ]


async def test_modes_are_declared_and_can_be_set(connect):
    async with connect(SETTINGS) as client:
        assert (await client.open())["modes"]["currentModeId"] == "ask"
        params = {"sessionId": "demo-1", "modeId": "code"}
        assert await client.peer.request("session/set_mode", params) == {}
        wrong = client.peer.request("session/set_mode", params | {"modeId": "x"})
        assert await refused(wrong) == ErrorCode.INVALID_PARAMS


async def test_setting_a_config_option_answers_the_whole_state(connect):
    async with connect(SETTINGS) as client:
        await client.open()
        params = {"sessionId": "demo-1", "configId": "model", "value": "b"}
        options = (await client.peer.request("session/set_config_option", params))["configOptions"]
        assert [option["currentValue"] for option in options] == ["b", False]
        wrong = client.peer.request("session/set_config_option", params | {"value": True})
        assert await refused(wrong) == ErrorCode.INVALID_PARAMS


async def test_a_mode_and_the_config_option_for_it_are_one_setting(connect):
    async with connect(scenario.load("coding")) as client:
        await client.open()
        await client.peer.request("session/set_mode", {"sessionId": "demo-1", "modeId": "plan"})
        params = {"sessionId": "demo-1", "configId": "effort", "value": "high"}
        options = (await client.peer.request("session/set_config_option", params))["configOptions"]
        values = {option["id"]: option["currentValue"] for option in options}
        assert (values["mode"], values["effort"]) == ("plan", "high")


async def test_boolean_options_are_kept_from_a_client_that_does_not_take_them(connect):
    async with connect(SETTINGS) as client:
        options = (await client.open(capabilities={}))["configOptions"]
        assert [option["id"] for option in options] == ["model"]


async def test_a_second_prompt_during_a_turn_is_refused(connect):
    async with connect('[[prompt]]\nstep = [{ fault = "hang" }]') as client:
        await client.open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt)
            await anyio.sleep(0)
            assert await refused(client.prompt()) == ErrorCode.INVALID_PARAMS
            client.cancel()


async def test_the_agent_stops_when_the_client_closes_the_connection(connect):
    async with connect('[[prompt]]\nstep = [{ fault = "hang" }]') as client:
        await client.initialize()
    # The fixture waits for the agent, so leaving the block is the assertion.
