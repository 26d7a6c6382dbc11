"""A command runs as it was when the user was asked: in that folder, with those programs, whatever is swapped later."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from acp_tui.client.loading_variables import HARMLESS, LOADING, loading_effect, loading_warnings
from acp_tui.client.sessions.consent import ALLOW, REFUSE, WHY_SETTINGS, Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import PermissionRequest
from support.agents import SERVING, Counterpart, in_session, until

ASK = Policy(Grant.ASK, Grant.ASK, Grant.ASK)
GOOD, EVIL = "#!/bin/sh\ntouch good\n", "#!/bin/sh\ntouch evil\n"
SESSIONS = int(os.environ.get("ACP_TUI_SWAPPED_FOLDERS", "1"))
TRIES = 12


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    for folder in ("ws/sub", "ws/tools", "ws/first", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    for script in ("ws/sub/run.sh", "ws/tools/tool"):
        _program(tmp_path / script, GOOD)
    return tmp_path / "ws"


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


async def create(wire: Counterpart, request_id: int = 1, **params: Any) -> None:
    about = {"sessionId": "s1", **params}
    await wire.send({"jsonrpc": "2.0", "id": request_id, "method": "terminal/create", "params": about})


async def question(session: Session) -> PermissionRequest:
    await until(session, lambda: bool(session.conversation.permissions))
    [request] = session.conversation.permissions.values()
    return request


def _path(ws: Path) -> list[dict[str, str]]:
    return [{"name": "PATH", "value": f"{ws}/first:{ws}/tools:{os.environ['PATH']}"}]


# The folder


def _other_folder(ws: Path) -> None:
    (ws / "sub").rename(ws / "old")
    shutil.copytree(ws.parent / "elsewhere", ws / "sub")


def _link(ws: Path) -> None:
    (ws / "sub").rename(ws / "old")
    (ws / "sub").symlink_to(ws.parent / "elsewhere")


def _moved_back_as_a_link(ws: Path) -> None:
    (ws / "sub").rename(ws.parent / "away")
    (ws / "sub").symlink_to(ws.parent / "away")


def _linked_parent(ws: Path) -> None:
    ws.rename(ws.parent / "old")
    ws.symlink_to(ws.parent / "elsewhere")
    (ws.parent / "elsewhere/sub").mkdir()


def _gone(ws: Path) -> None:
    shutil.rmtree(ws / "sub")


@pytest.mark.parametrize("swap", [_other_folder, _link, _moved_back_as_a_link, _linked_parent, _gone])
async def test_a_folder_that_is_swapped_while_the_user_thinks_is_not_run_in(ws: Path, swap: Callable[[Path], None]):
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, command="touch", args=["here"], cwd=str(ws / "sub"))
        request = await question(session)
        swap(ws)
        session.answer_permission(request.key, ALLOW.option_id)
        assert "error" in await wire.receive()
    assert [*ws.parent.rglob("here")] == []


async def test_what_is_allowed_runs_in_the_folder_that_was_shown(ws: Path):
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, command="./run.sh", cwd=str(ws / "sub"))
        session.answer_permission((await question(session)).key, ALLOW.option_id)
        terminal = (await wire.receive())["result"]["terminalId"]
        await session_end(wire, terminal)
    assert (ws / "sub/good").exists()


async def session_end(wire: Counterpart, terminal: str) -> None:
    about = {"sessionId": "s1", "terminalId": terminal}
    await wire.send({"jsonrpc": "2.0", "id": 99, "method": "terminal/wait_for_exit", "params": about})
    assert (await wire.receive())["id"] == 99


@pytest.mark.parametrize("_number", range(SESSIONS))
async def test_a_folder_that_is_swapped_all_the_time_leads_no_command_out_unasked(ws: Path, _number: int):
    """Terminals are on, so nothing is asked in the workspace.

    Each try races a thread that swaps the folder for a link.
    """
    sub, kept, outside = ws / "sub", ws / "kept", ws.parent / "elsewhere"
    stop = Event()

    def swap() -> None:
        while not stop.is_set():
            sub.rename(kept)
            sub.symlink_to(outside)
            sub.unlink()
            kept.rename(sub)

    thread = Thread(target=swap)
    thread.start()
    ran = 0
    try:
        async with in_session(ws, policy=SERVING) as (session, wire):
            for number in range(TRIES):
                await create(wire, number, command="/bin/sh", args=["-c", "touch here"], cwd=str(sub))
                answered = await _answered(session, wire)
                if "result" in answered:
                    ran += 1
                    await session_end(wire, answered["result"]["terminalId"])
            stop.set()
            thread.join()
            await create(wire, 1000, command="/bin/sh", args=["-c", "touch here"], cwd=str(sub))
            await session_end(wire, (await wire.receive())["result"]["terminalId"])
    finally:
        stop.set()
        thread.join()
    assert not (outside / "here").exists()
    assert (sub / "here").exists()


async def _answered(session: Session, wire: Counterpart) -> dict[str, Any]:
    """What the agent gets. If the user is asked, because the link was seen, they refuse."""
    answers: list[dict[str, Any]] = []

    async def receive() -> None:
        answers.append(await wire.receive())

    import anyio

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        while not answers:
            for request in [*session.conversation.permissions.values()]:
                session.answer_permission(request.key, REFUSE.option_id)
            await anyio.lowlevel.checkpoint()
    return answers[0]


# The programs


def _replaced(program: Path) -> None:
    _program(program.with_name("new"), EVIL)
    program.with_name("new").rename(program)


def _rewritten_with_its_old_times(program: Path) -> None:
    before = program.stat()
    text = EVIL.ljust(before.st_size)[: before.st_size]
    program.write_text(text)
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))


def _linked(program: Path) -> None:
    _program(program.with_name("new"), EVIL)
    program.unlink()
    program.symlink_to("new")


def _removed(program: Path) -> None:
    program.unlink()


COMMANDS = [
    ({"command": "./run.sh", "cwd": "sub"}, "sub/run.sh"),
    ({"command": "WS/sub/run.sh", "args": ["x"]}, "sub/run.sh"),
    ({"command": "sh", "args": ["run.sh"], "cwd": "sub"}, "sub/run.sh"),
    ({"command": "sh -e run.sh", "cwd": "sub"}, "sub/run.sh"),
    ({"command": "echo 1 && (./run.sh | cat)", "cwd": "sub"}, "sub/run.sh"),
    ({"command": "env A=b nohup ./run.sh; echo 2", "cwd": "sub"}, "sub/run.sh"),
    ({"command": "bash -c 'sub/run.sh'"}, "sub/run.sh"),
    ({"command": ". sub/run.sh; true"}, "sub/run.sh"),
    ({"command": "tool", "env": "PATH"}, "tools/tool"),
    ({"command": "tool 1 | cat", "env": "PATH"}, "tools/tool"),
]


@pytest.mark.parametrize("swap", [_replaced, _rewritten_with_its_old_times, _linked, _removed])
@pytest.mark.parametrize(("params", "program"), COMMANDS, ids=[str(params["command"]) for params, _ in COMMANDS])
async def test_a_program_that_is_swapped_while_the_user_thinks_is_not_run(
    ws: Path, params: dict[str, Any], program: str, swap: Callable[[Path], None]
):
    params = {
        **params,
        "command": params["command"].replace("WS", str(ws)),
        "cwd": str(ws / params.get("cwd", "")),
    }
    params |= {"env": _path(ws)} if "env" in params else {}
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, **params)
        request = await question(session)
        swap(ws / program)
        session.answer_permission(request.key, ALLOW.option_id)
        refused = await wire.receive()
    assert "has changed since the request" in refused["error"]["message"]
    assert [*ws.rglob("evil")] == []


async def test_a_program_that_appears_before_the_one_that_was_meant_is_not_run(ws: Path):
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, command="tool", env=_path(ws))
        request = await question(session)
        _program(ws / "first/tool", EVIL)
        session.answer_permission(request.key, ALLOW.option_id)
        assert "'tool' has changed" in (await wire.receive())["error"]["message"]
    assert [*ws.rglob("evil")] == []


async def test_a_file_that_a_command_only_reads_may_change(ws: Path):
    (ws / "notes").write_text("one")
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, command="cat notes && echo")
        request = await question(session)
        (ws / "notes").write_text("two")
        session.answer_permission(request.key, ALLOW.option_id)
        assert "result" in await wire.receive()


# Variables that load code


async def test_the_question_names_the_variables_that_decide_what_is_run(ws: Path):
    env = [{"name": name, "value": "x"} for name in ("LD_PRELOAD", "CI", "GIT_SSH_COMMAND")]
    async with in_session(ws, policy=ASK) as (session, wire):
        await create(wire, command="env 'NODE_OPTIONS'=--require=./x.js npm test; PA\\TH=. make", env=env)
        request = await question(session)
        session.answer_permission(request.key, REFUSE.option_id)
        await wire.receive()
    assert request.note is not None
    told, *warnings = request.note.split("\n")
    assert told == WHY_SETTINGS
    assert [warning.split()[1] for warning in warnings] == [
        "LD_PRELOAD",
        "GIT_SSH_COMMAND",
        "NODE_OPTIONS",
        "PATH",
    ]


NAMED = (
    *(
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
    ),
    *(
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_GLOBAL",
        "PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
    ),
    *(
        "NODE_OPTIONS",
        "BASH_ENV",
        "ENV",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "PAGER",
        "EDITOR",
    ),
    *(
        "VISUAL",
        "PROMPT_COMMAND",
        "IFS",
        "SHELL",
        "BASH_FUNC_ls%%",
        "npm_config_registry",
        "https_proxy",
        *("GH_PAGER", "KUBE_EDITOR", "RUSTC_WRAPPER", "GTK_MODULES", "GIO_EXTRA_MODULES", "QT_PLUGIN_PATH"),
        *(
            "PYTEST_ADDOPTS",
            "TS_NODE_COMPILER",
            "ES_JAVA_OPTS",
            "IBM_JAVA_OPTIONS",
            "RUBYGEMS_GEMDEPS",
            "ZIPOPT",
        ),
        *("CFLAGS", "GOCACHEPROG", "NIX_CONFIG", "OPENAI_BASE_URL", "AWS_CA_BUNDLE", "GH_CONFIG_DIR", "LESS"),
        "UV_INDEX",
    ),
)


@pytest.mark.parametrize("name", NAMED)
def test_a_variable_that_loads_code_is_known(name: str):
    assert loading_effect(name)


def test_every_name_in_the_list_warns_in_the_environment_and_in_a_line():
    for name in [name.replace("*", "X") for names in LOADING.values() for name in names]:
        if loading_effect(name):
            assert loading_warnings([name]), name
            assert loading_warnings([], f"true; export {name}=x && make"), name
            assert loading_warnings([], f"env -i '{name}=x' make"), name


def test_what_agents_often_set_and_what_only_looks_like_it_does_not_warn():
    harmless = [name.replace("*", "NAME") for name in HARMLESS]
    assert loading_warnings([*harmless, "CI", "NO_COLOR", "FOO", "MY_PATH", "TERM"]) == ()
    assert loading_warnings([], "dd if=a of=b && cmake --PATH=x && curl 'u?path=1' && echo $PATH") == ()
