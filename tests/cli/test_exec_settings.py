"""How the user's settings affect `acp-tui exec`, and which of them keep it from starting."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.cli import permissions
from acp_tui.cli.main import main
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from support.agents import REPLY, scripted_argv

TELLS = """
handshake({capabilities})
opening = expect("session/new")
answer(opening, sessionId="s1")
prompt = expect("session/prompt")
say(json.dumps(opening["params"])); end(prompt); read()
"""
SERVER = f"""
[mcp.mine]
command = {sys.executable!r}
"""


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask nobody on the terminal the tests may run on."""
    monkeypatch.setattr(permissions, "open_terminal", lambda: None)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, home: Path) -> Any:
    """Writes settings.toml and calls `exec` with a scripted agent; returns status, stdout, and stderr."""

    def call(text: str, script: str, *options: str) -> tuple[int, str, str]:
        file = settings_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        status = main(["exec", "--cwd", str(tmp_path), "--prompt", "go", *options, "--", *scripted_argv(script)])
        return status, *capfd.readouterr()

    return call


def test_the_users_servers_and_directories_go_to_the_session(run: Any, tmp_path: Path):
    capabilities = "agentCapabilities={'sessionCapabilities': {'additionalDirectories': {}}}"
    text = f"[workspace]\nadditional_directories = [{str(tmp_path)!r}]\n{SERVER}"
    status, out, _ = run(text, TELLS.format(capabilities=capabilities))
    opened = json.loads(out)
    assert status == 0
    assert [server["name"] for server in opened["mcpServers"]] == ["mine"]
    assert opened["additionalDirectories"] == [str(tmp_path)]


def test_a_system_prompt_goes_to_an_agent_that_takes_one_and_otherwise_it_is_said(run: Any):
    takes = TELLS.format(capabilities="agentCapabilities={'sessionCapabilities': {'systemPrompt': {}}}")
    status, out, err = run("", takes, "--system-prompt", "Be brief.")
    content = [{"type": "text", "text": "Be brief."}]
    assert (status, json.loads(out)["systemPrompt"]) == (0, {"mode": "append", "content": content})
    assert "system prompt" not in err
    status, out, err = run("", TELLS.format(capabilities=""), "--system-prompt", "Be brief.")
    assert (status, "systemPrompt" in out) == (0, False)
    assert "The system prompt isn't sent: " in err
    assert "doesn't take one" in err


def test_servers_of_a_project_that_is_not_trusted_are_left_out_and_it_is_said(run: Any, tmp_path: Path):
    servers = {"theirs": {"command": sys.executable}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    status, out, err = run("", TELLS.format(capabilities=""))
    assert status == 0
    assert json.loads(out)["mcpServers"] == []
    assert "you haven't trusted" in err


def test_a_rule_refuses_and_the_exit_status_tells(run: Any, tmp_path: Path):
    (tmp_path / "secret").write_text("x")
    script = f"""
    prompt = open_session()
    send(id=9, method="fs/read_text_file", params={{"sessionId": "s1", "path": "{tmp_path}/secret"}})
    say(read()["error"]["message"]); end(prompt); read()
    """
    status, out, _ = run("[[refuse]]\npath = 'secret'\nreason = 'mine alone'\n", script)
    assert status == 0
    assert "a standing rule of the user refuses it: mine alone" in out


def test_what_lies_outside_is_refused_where_nobody_can_be_asked(run: Any, tmp_path: Path):
    script = """
    prompt = open_session()
    send(id=9, method="fs/read_text_file", params={"sessionId": "s1", "path": "/etc/passwd"})
    say(read()["error"]["message"]); end(prompt); read()
    """
    status, out, err = run("", script)
    assert status == 5
    assert "it needs the user's permission, and there is no terminal to ask on" in out
    assert "the user refused" not in out
    assert "rejected, since there is no terminal to ask on" in err


@pytest.mark.parametrize("text", ["[[refuse]]\nkind = 'delet'\n", "[workspace\n"])
def test_it_does_not_start_without_rules_that_it_cannot_read(run: Any, text: str):
    status, out, err = run(text, TELLS.format(capabilities=""))
    assert (status, out) == (2, "")
    assert "settings.toml" in err


def test_another_mistake_in_the_settings_is_said_and_all_else_holds(run: Any):
    status, _, err = run("[workspace]\nread = 'perhaps'\n", TELLS.format(capabilities=""))
    assert status == 0
    assert "workspace.read" in err
    assert '"on", "ask" or "off"' in err or "on, ask, off" in err


def exec_it(*options: str, cwd: Path, script: str) -> int:
    return main(["exec", "--cwd", str(cwd), "--prompt", "go", *options, "--", *scripted_argv(script)])


MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "do", "name": "Do"}]}
IN_MODE = f"""
handshake()
answer(expect("session/new"), sessionId="s1", modes={MODES!r})
setting = expect("session/set_mode")
answer(setting)
prompt = expect("session/prompt")
say(setting["params"]["modeId"]); end(prompt); read()
"""


def test_a_mode_is_set_before_the_prompt(tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]):
    assert exec_it("--mode", "Do", cwd=tmp_path, script=IN_MODE) == 0
    assert capfd.readouterr().out == "do\n"


def test_a_rejection_names_the_option_for_modes_if_the_agent_has_some(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(permissions, "open_terminal", lambda: None)
    script = f"""
handshake()
answer(expect("session/new"), sessionId="s1", modes={MODES!r})
prompt = expect("session/prompt")
ask("allow_once", "reject_once"); outcome(); end(prompt); read()
"""
    assert exec_it("--allow-unasked", "write", cwd=tmp_path, script=script) == 5
    assert "the agent's mode decides what it asks about (to choose one: --mode)" in capfd.readouterr().err


def test_nothing_is_sent_in_a_mode_that_the_agent_lacks(tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]):
    assert exec_it("--mode", "yolo", cwd=tmp_path, script=IN_MODE) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "mode can't be 'yolo'\n  it is one of Ask, Do" in err


@pytest.mark.parametrize("message_id", [None, "msg_1"], ids=["no ID", "counted anew in each process"])
def test_a_turn_continues_a_session_and_tells_only_what_is_new(
    message_id: str | None, tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = """
    handshake(agentCapabilities={"loadSession": True})
    loading = expect("session/load")
    update("agent_message_chunk", session="s7", content={"type": "text", "text": "old"}, messageId=MESSAGE_ID)
    answer(loading)
    prompt = expect("session/prompt")
    update("agent_message_chunk", session="s7", content={"type": "text", "text": "new"}, messageId=MESSAGE_ID)
    end(prompt); read()
    """.replace("MESSAGE_ID", repr(message_id))
    assert exec_it("--resume", "s7", cwd=tmp_path, script=script) == 0
    assert capfd.readouterr() == ("new\n", "")


@pytest.mark.parametrize(
    ("left_in", "answered_in", "said"),
    [("ask", "ask", ""), ("yolo", "do", "The mode is Do; it was YOLO (no questions).")],
)
def test_a_turn_is_taken_in_the_mode_in_which_the_session_was_left_or_it_is_said(
    left_in: str, answered_in: str, said: str, tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = """
    modes = [{"id": "do", "name": "Do"}, {"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "YOLO"}]
    handshake(agentCapabilities={"loadSession": True})
    answer(read(), sessionId="s1", modes={"currentModeId": "do", "availableModes": modes})
    mode = "do"
    while True:
        request = read()
        if request["method"] == "session/set_mode":
            mode = request["params"]["modeId"]
            answer(request)
        else:
            say(mode); end(request)
    """
    command = AgentCommand(Path(sys.executable).name, scripted_argv(script))
    plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))

    async def leave_it() -> None:
        async with open_hub() as hub:
            agent = await hub.start_agent(command, recordings=plan)
            await agent.initialize()
            left = await agent.new_session(tmp_path)
            await left.send_prompt(REPLY)
            await left.set_option("mode", left_in)

    anyio.run(leave_it)
    assert exec_it("--resume", cwd=tmp_path, script=script) == 0
    out, err = capfd.readouterr()
    assert out == f"{answered_in}\n"
    assert said in err
    assert ("The mode is" in err) is bool(said)


@pytest.mark.parametrize(
    ("listed", "status", "said"),
    [
        ("s6", 2, "has no session with the ID s7\n  --resume takes an ID, or nothing for the last session"),
        ("s7", 1, "the disk is full"),
    ],
)
def test_an_id_that_the_agent_neither_opens_nor_lists_is_nobodys(
    listed: str, status: int, said: str, tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"""
    handshake(agentCapabilities={{"sessionCapabilities": {{"list": {{}}}}, "loadSession": True}})
    loading = expect("session/load")
    print("a stack trace", file=sys.stderr, flush=True)
    refuse(loading, -32603, "the disk is full")
    answer(expect("session/list"), sessions=[{{"sessionId": "s1", "cwd": "/"}}], nextCursor="2")
    answer(expect("session/list"), sessions=[{{"sessionId": {listed!r}, "cwd": "/"}}])
    read()
    """
    assert exec_it("--resume", "s7", cwd=tmp_path, script=script) == status
    err = capfd.readouterr().err
    assert said in err
    assert ("stack trace" in err) is (status == 1)


def test_without_an_id_and_a_recording_the_agent_says_which_session_was_the_last(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
):
    script = """
    handshake(agentCapabilities={"sessionCapabilities": {"list": {}}, "loadSession": True})
    listing = expect("session/list")
    cwd = listing["params"]["cwd"]
    answer(listing, sessions=[
        {"sessionId": "s1", "cwd": cwd, "updatedAt": "2026-09-01T10:00:00Z"},
        {"sessionId": "s2", "cwd": cwd, "updatedAt": "2026-09-02T10:00:00Z"},
        {"sessionId": "s3", "cwd": "/elsewhere", "updatedAt": "2026-09-03T10:00:00Z"},
    ])
    loading = expect("session/load")
    answer(loading)
    prompt = expect("session/prompt")
    update("agent_message_chunk", session="s2", content={"type": "text", "text": loading["params"]["sessionId"]})
    end(prompt); read()
    """
    assert exec_it("--resume", cwd=tmp_path, script=script) == 0
    assert capfd.readouterr().out == "s2\n"


def test_without_an_id_there_must_be_a_session_to_continue(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
):
    assert exec_it("--resume", cwd=tmp_path, script="handshake(); read()") == 1
    assert "and it lists none" in capfd.readouterr().err


def test_a_prompt_that_seems_to_attach_a_file_is_told_to_be_text(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "real.py").touch()
    prompt = "Compare @real.py, `@code`, and @nonexist, then @real.py"
    argv = scripted_argv('prompt = open_session(); say(prompt["params"]["prompt"][0]["text"]); end(prompt); read()')
    assert main(["exec", "--cwd", str(tmp_path), "--prompt", prompt, "--", *argv]) == 0
    told = "· sent as text, since exec attaches no files: @real.py, @nonexist\n"
    assert capfd.readouterr() == (f"{prompt}\n", told)
