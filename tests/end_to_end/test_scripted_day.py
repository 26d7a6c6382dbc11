"""A user's day with several agents in one repository: steer, fork, watch subagents, undo, rename, resume."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from acp_tui.client.transcript.replay import replayed
from support.agents import scripted_argv
from support.terminals import OnTerminal, on_terminal

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")

SIZE = (110, 40)
# A notice shows the command that runs, and so this text: what the test waits for doesn't stand in it.
WALKER = dedent("""
    handshake(
        _meta={"steering": {"supported": True}},
        agentCapabilities={"loadSession": True, "sessionCapabilities": {"fork": {}}},
    )
    while True:
        message = read()
        match message.get("method"):
            case "session/new":
                answer(message, sessionId="walk-1")
            case "session/load":
                update("agent_message_chunk", "walk-1", content={"type": "text", "text": "as it was kept"})
                answer(message)
            case "session/fork":
                answer(message, sessionId="walk-2")
            case "session/prompt":
                prompt = message
                update("agent_message_chunk", "walk-1", content={"type": "text", "text": "walk" + "ing"})
            case "_session/steering":
                answer(message, outcome="injected")
                update("agent_message_chunk", "walk-1", content={"type": "text", "text": "now to " + "the left"})
                end(prompt)
""")
WRITER = dedent("""
    handshake()
    cwd = ""
    while True:
        message = read()
        match message.get("method"):
            case "session/new":
                cwd = message["params"]["cwd"]
                answer(message, sessionId="write-1")
            case "session/prompt":
                with open(cwd + "/made.txt", "w") as file:
                    file.write("made")
                update("agent_message_chunk", "write-1", content={"type": "text", "text": "it is written"})
                end(message)
""")
HELPERS = """
description = "Two helpers"
[[prompt]]
[[prompt.step]]
[[prompt.step.together]]
subagent = { title = "Count the words" }
[[prompt.step.together.does]]
say = "There are twelve.\\n"
chunk_s = 0
[[prompt.step.together]]
subagent = { title = "Count the lines" }
[[prompt.step.together.does]]
say = "There are three.\\n"
chunk_s = 0
"""


def make_home(home: Path) -> Path:
    """A repository with one commit, and the agents; returns the repository's folder."""
    repository = home / "project"
    repository.mkdir()
    (repository / "a.txt").write_text("one\n")
    identity = ("-c", "user.name=n", "-c", "user.email=e")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", *identity, *words], cwd=repository, check=True)
    (home / "helpers.toml").write_text(HELPERS)
    commands = {
        "walker": scripted_argv(WALKER),
        "writer": scripted_argv(WRITER),
        "helpers": (sys.executable, "-m", "acp_tui.demo", str(home / "helpers.toml")),
    }
    folder = home / "config" / "acp-tui"
    folder.mkdir(parents=True)
    (folder / "agents.toml").write_text(
        "".join(f"[agents.{name}]\ncommand = {json.dumps(argv)}\n" for name, argv in commands.items())
    )
    return repository


def write(day: OnTerminal, text: str) -> None:
    """Type it, and press Enter once it shows."""
    day.type(text)
    day.wait_for(text)
    day.type("\r")


def start(day: OnTerminal, agent: str, tab: int, *, in_worktree: bool = False) -> None:
    """Start another agent, in a new tab with this number."""
    day.type("\x1ba")
    day.wait_for("It works in this folder")
    if in_worktree:
        day.type("\t")
        day.wait_for("It works in a new git worktree")
    day.type(agent)
    day.until(lambda: f"   {agent} " in day.shown and "Used last" not in day.shown)
    day.insist("\r", lambda: f" {tab} ● " in day.shown)


def test_a_day_with_agents_on_one_repository(tmp_path: Path) -> None:
    repository = make_home(tmp_path)
    with on_terminal(tmp_path, "walker", "--cwd", str(repository), size=SIZE) as day:
        day.prompt("walk on")
        day.wait_for("walking")
        day.type("turn left")
        day.wait_for("turn left")
        day.type("\x1bt")
        day.wait_for("now to the left")
        day.wait_for("● ")
        write(day, "/rename The day")
        write(day, "/fork")
        day.wait_for("◉ Go on in a fork")
        day.insist("\r", lambda: "forked from “The day”" in day.shown)

        start(day, "helpers", 3, in_worktree=True)
        assert [path.name for path in (tmp_path / "project.worktrees").iterdir()]
        write(day, "count")
        day.wait_for("Count the words  done")
        day.wait_for("Count the lines  done")
        day.type("\t")
        day.wait_for("▎ ✓ ↳ Count the lines")
        day.type("\r")
        day.wait_for("↳ Count the lines · done")
        day.wait_for("There are three.")
        day.type("\x1b")
        day.wait_for("Count the words  done")

        day.type("\x1b1")
        day.wait_for("now to the left")
        start(day, "writer", 4)
        write(day, "make it")
        day.wait_for("it is written")
        day.until(lambda: (repository / "made.txt").exists() and "● " in day.shown)
        write(day, "/undo")
        day.wait_for("1 file +1")
        day.insist("\r", lambda: "undoes that" in day.shown)
        assert not (repository / "made.txt").exists()

        day.type("\x1bOR")
        day.wait_for("● The day")
        day.type("\x1b")
        day.until(lambda: "Esc close" not in day.shown)
        day.type("\x11")
        assert day.wait_for_end() == 0
        assert day.is_as_before()
        assert b"The day" in day.written[day.written.rfind(b"\x1b[?1049l") :]

    with on_terminal(tmp_path, "--resume", "walk-1", size=SIZE) as again:
        again.wait_for("as it was kept")
        again.type("\x1bOR")
        again.wait_for("● The day")
        again.type("\x1b")
        again.until(lambda: "Esc close" not in again.shown)
        again.type("\x11")
        assert again.wait_for_end() == 0

    recorded = [replayed(file) for file in sorted((tmp_path / "state/acp-tui/recordings").rglob("*.jsonl"))]
    said = [conversation for sessions in recorded for conversation in sessions.values()]
    assert any(conversation.title == "The day" for conversation in said)
    subagents = {each.conversation.title for conversation in said for each in conversation.subagents.values()}
    assert subagents == {"Count the words", "Count the lines"}
