"""Agents behind proxies, all of them real processes: what gets through, and what ends the chain."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from acp_tui.client.agents.command import AgentCommand, Sandboxes
from acp_tui.client.errors import AgentLost, AgentNotFound, AgentRefused, AgentUnreachable
from acp_tui.client.sessions.consent import Policy
from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.facts import TurnPhase
from support.agents import REPLY, agent_texts, behind, our_children, running, scripted, scripted_argv, until
from support.proxies import conducted, proxy
from support.servers import agent_behind, hang_up, websocket_server

ECHO = """
    prompt = open_session(); say("heard " + prompt["params"]["prompt"][0]["text"]); end(prompt)
    serve_until_closed()
"""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process we started outlives its test, not even as a zombie."""
    yield
    assert our_children() == []


@pytest.mark.parametrize("ways", [(), ("pass",), ("pass", "pass"), ("released",), ("pass", "released", "pass")])
async def test_a_turn_goes_through_any_number_of_proxies(tmp_path: Path, ways: tuple[str, ...]) -> None:
    async with running(behind(ECHO, *map(proxy, ways))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["heard go"]


async def test_a_proxy_may_rewrite_what_passes_through(tmp_path: Path) -> None:
    async with running(behind(ECHO, proxy("rewrites"), proxy("pass"))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["heard GO"]


async def test_each_hop_has_the_name_it_told_unless_it_passed_on_the_next_ones(tmp_path: Path) -> None:
    script = 'handshake(agentInfo={"name": "inner", "version": "2.0"}); serve_until_closed()'
    async with running(behind(script, proxy("named"), proxy("pass"))) as agent:
        await agent.initialize()
        assert agent.chain is not None
        ends = [(label, text.split()[-2:]) for label, text in agent.chain.facts]
        assert ends[:2] == [("Proxy", ["(scripted-proxy", "7.1)"]), ("Proxy", ["proxy", "pass"])]
        assert agent.chain.facts[2][1].endswith("(inner 2.0)")
        assert agent.title == "scripted-proxy"


EVERYTHING = """
    prompt = open_session()
    say("heard " + prompt["params"]["prompt"][0]["text"]); ask("allow_once"); say(" " + outcome()); end(prompt)
    refuse(expect("_odd"), -32123, "no", {"why": [1]})
    asked = expect("_long"); cancelled = expect("$/cancel_request")["params"]["requestId"]
    answer(expect("_which"), same=cancelled == asked["id"]); serve_until_closed()
"""
"""An agent of which each kind of message comes through, both ways."""


@pytest.mark.parametrize(
    "command",
    [
        behind(EVERYTHING, proxy("pass"), proxy("rewrites")),
        AgentCommand("theirs", conducted("agent", proxy("pass"), proxy("rewrites"), scripted(EVERYTHING).argv)),
        behind(EVERYTHING, proxy("pass"), conducted("proxy", proxy("rewrites"), proxy("pass")), proxy("pass")),
    ],
    ids=["our conductor", "another one", "another one within ours"],
)
async def test_a_chain_does_the_same_whoever_conducts_it(tmp_path: Path, command: AgentCommand) -> None:
    async with running(command) as agent, anyio.create_task_group() as tasks:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        tasks.start_soon(session.send_prompt, REPLY)
        await until(session, lambda: bool(session.conversation.permissions))
        session.answer_permission(next(iter(session.conversation.permissions)), "allow_once")
        await until(session, lambda: session.conversation.turn is TurnPhase.IDLE)
        assert "".join(agent_texts(session)) == "heard GO allow_once"
        with pytest.raises(AgentRefused, match="no") as refused:
            await agent.send_extension("_odd", {})
        assert refused.value.code == -32123
        async with anyio.create_task_group() as given_up:
            given_up.start_soon(agent.send_extension, "_long", {})
            await anyio.lowlevel.checkpoint()
            given_up.cancel_scope.cancel()
        assert await agent.send_extension("_which", {}) == {"same": True}


async def test_proxies_lie_before_an_agent_at_an_address_too(tmp_path: Path) -> None:
    proxies = (proxy("rewrites"), proxy("pass"))
    async with (
        websocket_server(agent_behind(scripted(ECHO))) as command,
        running(replace(command, proxies=proxies)) as agent,
    ):
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["heard GO"]


async def test_each_proxy_is_started_in_the_agents_folder_with_its_variables(tmp_path: Path) -> None:
    telling = ("sh", "-c", f'echo "$RULES in $PWD" >&2; exec {shlex.join(proxy("pass"))}')
    command = replace(behind(ECHO, telling), env={"RULES": "ten"})
    async with open_hub() as hub:
        agent = await hub.start_agent(command, cwd=tmp_path)
        await agent.initialize()
        assert f"proxy 1 (sh): ten in {tmp_path}" in agent.log


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
async def test_a_proxy_is_confined_as_the_agent_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project, temporary = (tmp_path / name for name in ("home", "project", "tmp"))
    for folder in (home, project, temporary):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    trying = ("sh", "-c", f"touch {home}/a; touch {project}/b; exec {shlex.join(proxy('pass'))}")
    policy = Policy(sandboxes=Sandboxes(default="workspace"))
    async with open_hub() as hub:
        agent = await hub.start_agent(behind(ECHO, trying), cwd=project, policy=policy)
        await agent.initialize()
        session = await agent.new_session(project)
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["heard go"]
    assert [[path.name for path in folder.iterdir()] for folder in (home, project, temporary)] == [[], ["b"], []]


# What goes wrong


async def test_a_proxy_that_is_not_there_is_named() -> None:
    with pytest.raises(AgentNotFound, match="the command no-such-proxy wasn't found"):
        async with running(behind(ECHO, proxy("pass"), ("no-such-proxy",))):
            pass


async def test_a_proxy_that_dies_is_named_with_its_last_words() -> None:
    with pytest.raises(AgentLost, match=r"^proxy 2 \(python\S*\) exited with code 3$") as lost:
        async with running(behind(ECHO, proxy("pass"), proxy("dies"))) as agent:
            await agent.initialize()
    assert lost.value.detail == "the proxy can't find its rules\n"


async def test_a_proxy_killed_in_a_turn_ends_the_chain(tmp_path: Path) -> None:
    async with running(behind(ECHO, proxy("pass"), proxy("killed"))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentLost, match=r"^proxy 2 \(python\S*\) was ended by SIGKILL$"):
            await session.send_prompt(REPLY)


async def test_what_the_agent_said_before_its_end_still_arrives(tmp_path: Path) -> None:
    script = """
        prompt = open_session()
        for number in range(2000): say(f"{number} ")
        print("out of tokens", file=sys.stderr); sys.exit(9)
    """
    async with running(behind(script, proxy("pass"), proxy("pass"))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        with pytest.raises(AgentLost, match="scripted exited with code 9") as lost:
            await session.send_prompt(REPLY)
        assert lost.value.detail == "out of tokens\n"
        assert agent_texts(session)[0].endswith("1999 ")


async def test_a_connection_that_breaks_behind_a_proxy_may_come_back() -> None:
    async with websocket_server(hang_up) as command, running(replace(command, proxies=(proxy("pass"),))) as agent:
        with pytest.raises(AgentUnreachable):
            await agent.initialize()
        assert agent.may_come_back


async def test_a_name_without_end_is_cut_in_the_chain() -> None:
    script = 'handshake(agentInfo={"name": "n" * 1_000_000, "version": "1"}); serve_until_closed()'
    async with running(behind(script, proxy("pass"))) as agent:
        await agent.initialize()
        assert agent.chain is not None
        assert all(len(told) < 20_000 for _, told in agent.chain.facts)


@pytest.mark.parametrize("position", [0, 1])
async def test_a_proxy_that_never_answers_is_named_after_the_limit(position: int) -> None:
    proxies = [proxy("pass"), proxy("pass")]
    proxies[position] = (*proxy("silent"), f"number-{position}")
    async with running(behind(ECHO, *proxies)) as agent:
        with pytest.raises(AgentLost, match=rf"^proxy {position + 1} \(python\S*\) hasn't answered within") as lost:
            await agent.initialize(limit_s=0.5)
    assert f"number-{position}" in lost.value.hint


async def test_a_program_that_is_no_proxy_is_told_apart_from_the_agent() -> None:
    no_proxy = scripted_argv("for _ in range(2): refuse(read(), -32601, 'what?')\nserve_until_closed()")
    async with running(behind(ECHO, no_proxy)) as agent:
        with pytest.raises(AgentRefused, match=r"^proxy 1 \(python\S*\): what") as refused:
            await agent.initialize()
    assert refused.value.hint == "it didn't answer proxy/initialize: is it an ACP proxy?"


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("early", "it answered proxy/initialize without the answer of what comes after it"),
        ("newer", "it changed the protocol version from 1 to 2"),
    ],
)
async def test_a_handshake_that_is_not_the_successors_ends_the_chain(way: str, why: str) -> None:
    async with running(behind(ECHO, proxy("pass"), proxy(way))) as agent:
        with pytest.raises(AgentLost, match=rf"^proxy 2 \(python\S*\) broke the protocol: {why}$"):
            await agent.initialize()


async def test_junk_of_a_proxy_is_logged_under_its_name_and_harmless(tmp_path: Path) -> None:
    async with running(behind(ECHO, proxy("pass"), proxy("junk"))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert agent_texts(session) == ["heard go"]
        name = Path(sys.executable).name
        logged = [line.removeprefix(f"proxy 2 ({name}): ") for line in agent.log]
        assert logged[:2] == ["Rules loaded.", "[1, 2]"]
        assert {"answered wrong: -32602", "answered loop: -32601"} <= set(logged)


async def test_all_that_a_flooding_proxy_says_arrives(tmp_path: Path) -> None:
    async with running(behind(ECHO, proxy("floods"))) as agent:
        await agent.initialize()
        session = await agent.new_session(tmp_path)
        await session.send_prompt(REPLY)
        assert sum(map(len, agent_texts(session))) == 20_000 * 1000 + len("heard go")


async def test_the_whole_chain_ends_when_its_agent_is_stopped(tmp_path: Path) -> None:
    async with running(behind(ECHO, proxy("pass"), proxy("pass"))) as agent:
        await agent.initialize()
        assert len(our_children()) == 3
        await agent.stop()
        assert our_children() == []
        with suppress(AgentLost):
            await agent.new_session(tmp_path)
