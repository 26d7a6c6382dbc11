"""The table "Who decides" of the security page, cell by cell, for an agent that asks for nothing.

`exec` has no terminal here, so whatever acp-tui would ask about is refused, with a reason that says so.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from acp_tui.cli.main import main
from acp_tui.client.settings.location import settings_file
from support.agents import scripted_argv

ACTS: Final = """
import os, subprocess
begun = expect("initialize")
about = {} if version == 1 else {"info": {"name": "it", "version": "1"}, "capabilities": {"session": {}}}
answer(begun, protocolVersion=version, **about)
opened = expect("session/new")
here = opened["params"]["cwd"]
mode = {"id": "mode", "configId": "mode", "category": "mode", "name": "Mode", "type": "select", "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask"}, {"value": "bypass", "name": "Bypass permissions"}]}
answer(opened, sessionId="s1", configOptions=[mode])

def through(number, method, **params):
    send(id=number, method=method, params={"sessionId": "s1", **params})
    while "method" in (response := read()):
        pass
    said = response.get("error", {"message": "done"})
    if said.get("code") == -32601:
        return "no such method"
    return "a question" if "no terminal to ask on" in said["message"] else said["message"]

def itself(act):
    try:
        act()
    except (OSError, subprocess.SubprocessError):
        return "fails"
    return "done"

while True:
    request = read()
    if request.get("method") == "session/set_config_option":
        answer(request, configOptions=[{**mode, "currentValue": request["params"]["value"]}])
    elif request.get("method") == "session/prompt":
        break
if version == 2:
    answer(request, messageId="u")
    update("state_update", state="running")
found = {
    "read": through(1, "fs/read_text_file", path=here + "/notes.txt"),
    "read elsewhere": through(2, "fs/read_text_file", path=elsewhere + "/notes.txt"),
    "write": through(3, "fs/write_text_file", path=here + "/new.txt", content="new"),
    "run": through(4, "terminal/create", command="touch", args=["made.txt"]),
    "write itself": itself(lambda: open(here + "/own.txt", "w").close()),
    "run itself": itself(lambda: subprocess.run(["touch", here + "/own-made.txt"], check=True)),
    "write elsewhere itself": itself(lambda: open(elsewhere + "/own.txt", "w").close()),
    "read elsewhere itself": itself(lambda: open(elsewhere + "/notes.txt").close()),
}
text = "; ".join(f"{act}: {how}" for act, how in found.items())
if version == 1:
    say(text)
    end(request)
else:
    update("agent_message_chunk", messageId="m", content={"type": "text", "text": text})
    update("state_update", state="idle", stopReason="end_turn")
serve_until_closed()
"""
THROUGH: Final = {
    1: {"read": "done", "read elsewhere": "a question", "write": "a question", "run": "a question"},
    2: dict.fromkeys(("read", "read elsewhere", "write", "run"), "no such method"),
}
"""What acp-tui answers, by the version of the protocol that the agent speaks."""
ITSELF: Final = {
    "off": dict.fromkeys(("write itself", "run itself", "write elsewhere itself", "read elsewhere itself"), "done"),
    "workspace": {
        **dict.fromkeys(("write itself", "run itself"), "done"),
        **dict.fromkeys(("write elsewhere itself", "read elsewhere itself"), "fails"),
    },
}
"""What the agent's own tools can do, by its sandbox."""
NEEDS_BUBBLEWRAP: Final = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A project, and a folder elsewhere in the home folder, both with notes."""
    found = tmp_path / "project", Path(os.environ["HOME"]) / "elsewhere"
    for folder in found:
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("notes")
    return found


def what_it_could(version: int, places: tuple[Path, Path], capfd: pytest.CaptureFixture[str], *options: str) -> Any:
    """What became of each of its acts in one turn."""
    project, elsewhere = places
    script = f"version, elsewhere = {version}, {str(elsewhere)!r}\n{ACTS}"
    main(["exec", "-p", "go", "--cwd", str(project), *options, "--", *scripted_argv(script)])
    out, err = capfd.readouterr()
    assert ": " in out, err
    return dict(each.split(": ") for each in out.strip().split("; "))


@pytest.mark.parametrize("mode", ["ask", "bypass"])
@pytest.mark.parametrize("sandbox", ["off", pytest.param("workspace", marks=NEEDS_BUBBLEWRAP)])
@pytest.mark.parametrize("version", [1, 2])
def test_the_table_of_who_decides_is_true(
    version: int, sandbox: str, mode: str, places: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    could = what_it_could(version, places, capfd, "--mode", mode, f"--sandbox={sandbox}")
    assert could == THROUGH[version] | ITSELF[sandbox]
    assert {file.name for file in places[0].iterdir()} == {"own.txt", "own-made.txt", "notes.txt"}


@NEEDS_BUBBLEWRAP
def test_a_sandbox_counts_more_than_the_settings(places: tuple[Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    settings = "[workspace]\nwrite = 'on'\n[sandbox.careful]\nwritable = []\nhidden = ['notes.txt']\n"
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(settings)
    could = what_it_could(1, places, capfd, "--sandbox=careful")
    assert {could["read"], could["write"]} == {"a question"}
    assert {how for act, how in could.items() if act.endswith("itself")} == {"fails"}
