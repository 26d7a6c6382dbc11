"""Agents in a container or on another machine: what they are offered here, and which MCP servers they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.agents.catalogue import command_at
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.configured_agents import read_configured_agents
from acp_tui.client.sessions.consent import INTERACTIVE, Grant, Policy
from acp_tui.client.sessions.driver import usable_servers
from acp_tui.client.settings.mcp import ServerList, Skipped
from acp_tui.conversation.facts import StdioServer
from acp_tui.protocol.roles import AgentCapabilities
from support.agents import in_memory, shake_hands

HERE = AgentCommand("here", ("a",))
ELSEWHERE = AgentCommand("there", ("ssh", "host", "a"), is_elsewhere=True)
SHARING = AgentCommand("there", ("box", "a"), is_elsewhere=True, shares_files=True)


@pytest.mark.parametrize(("command", "is_offered"), [(HERE, True), (ELSEWHERE, False), (SHARING, True)])
def test_files_and_terminals_are_offered_where_they_mean_the_same(command: AgentCommand, is_offered: bool):
    offer = Policy().for_agent(command).within(INTERACTIVE)
    assert (offer.read_text_file, offer.write_text_file, offer.terminal) == (is_offered,) * 3
    assert offer.elicitation_form


def test_what_the_user_has_turned_off_stays_so():
    assert Policy(write=Grant.OFF).for_agent(SHARING).write is Grant.OFF


async def test_an_agent_elsewhere_is_not_told_of_this_machine():
    async with in_memory(command=ELSEWHERE) as (agent, wire):
        capabilities = (await shake_hands(agent, wire))["params"]["clientCapabilities"]
    assert not any(capabilities.get("fs", {}).values())
    assert not capabilities.get("terminal")


def test_an_agent_at_an_address_is_connected_to_and_not_run():
    assert command_at("wss://build.example/acp").way == "is at wss://build.example/acp"
    assert HERE.way == "runs: a"


# Logging in


@pytest.mark.parametrize(
    ("wrapper", "argv"),
    [
        (
            ["docker", "exec", "-i", "box"],
            ("docker", "exec", "-i", "box", "env", "A=a; b", "a", "--x", "$(c) d"),
        ),
        (["ssh", "host"], ("ssh", "-t", "host", "env 'A=a; b' a --x '$(c) d'")),
    ],
)
def test_login_arguments_of_a_remote_agent_reach_the_other_side_and_no_shell(
    wrapper: list[str], argv: tuple[str, ...], tmp_path: Path
):
    """R-AUTH-6. The wrapper runs with this machine's rights."""
    file = tmp_path / "agents.toml"
    file.write_text(f'[agents.a]\ncommand = ["a"]\nwrapper = {wrapper}\nenv = {{ B = "b" }}\n')
    command = read_configured_agents(file, {}).agents["a"].command
    login = command.for_terminal(["--x", "$(c) d"], {"A": "a; b"})
    assert (login.argv, login.env) == (argv, {"B": "b"})


def test_an_ssh_command_line_is_quoted_too_and_gets_no_variable_of_the_agent():
    login = AgentCommand("ssh", ("/usr/bin/ssh", "host", "a")).for_terminal(["$(c) d"], {"LD_PRELOAD": "x"})
    assert (login.argv, login.env) == (("/usr/bin/ssh", "-t", "host", "a", "'$(c) d'"), {})


def test_behind_a_wrapper_that_stays_here_a_login_is_as_without(tmp_path: Path):
    file = tmp_path / "agents.toml"
    file.write_text('[agents.a]\ncommand = ["a"]\nwrapper = ["nice"]\nruns = "here"\n')
    login = read_configured_agents(file, {}).agents["a"].command.for_terminal(["--x"], {"A": "a"})
    assert (login.argv, login.env) == (("nice", "a", "--x"), {"A": "a"})


# MCP servers

SERVERS = ServerList((StdioServer("one", "sh"), StdioServer("two", "sh")), (Skipped("three", "it is disabled"),))


@pytest.mark.parametrize(
    ("wanted", "names", "notes"),
    [
        (None, ["one", "two"], ["three: it is disabled"]),
        ((), [], []),
        (("two",), ["two"], []),
        (("three",), [], ["three: it is disabled"]),
        (("one", "nope"), ["one"], ["nope: there is no server with that name"]),
    ],
)
def test_an_agent_gets_the_servers_that_its_entry_names(
    wanted: tuple[str, ...] | None, names: list[str], notes: list[str]
):
    usable, said = usable_servers(AgentCapabilities(), (SERVERS,), wanted)
    assert [server.name for server in usable] == names
    assert [*said] == notes
