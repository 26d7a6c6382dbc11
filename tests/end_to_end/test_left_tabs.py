"""Tabs that were left, by quitting or by `kill -9`, are offered until they are open again or not wanted.

`--resume` opens that in front, and what waited for an agent that wasn't there yet comes back with the same agent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from acp_tui.client.prompts.memory import DraftFile
from acp_tui.client.sessions.session_history import left_in
from support.agents import scripted_argv
from support.terminals import OnTerminal, on_terminal

End: TypeAlias = Callable[[OnTerminal], None]

# It resumes each session that it is asked for, and answers each prompt with its words.
KEEPS_ALL = """
    import time
    handshake(agentCapabilities={"sessionCapabilities": {"resume": {}, "fork": {}}})
    while True:
        message = read()
        match message.get("method"):
            case "session/new" | "session/fork":
                answer(message, sessionId=f"s-{time.time_ns()}")
            case "session/prompt":
                update("agent_message_chunk", message["params"]["sessionId"],
                       content={"type": "text", "text": "I say " + message["params"]["prompt"][0]["text"]})
                end(message)
            case _ if "id" in message:
                answer(message)
"""
NEW_TAB, CTRL_Q, CLOSE_TAB, TAB = "\x0e", "\x11", "\x1bw", "\t"


@contextmanager
def acp_tui(home: Path, *options: str) -> Iterator[OnTerminal]:
    with on_terminal(home, *options, "--", *scripted_argv(KEEPS_ALL)) as screen:
        screen.wait_for("●")
        yield screen


def say(screen: OnTerminal, text: str) -> None:
    """Have the agent say this, and wait until that is recorded, too: from then on, no end loses it."""
    screen.prompt(text)
    screen.wait_for(f"I say {text}")
    recordings = Path(os.environ["XDG_STATE_HOME"], "acp-tui", "recordings")
    screen.until(lambda: any(f"I say {text}" in file.read_text() for file in recordings.rglob("*.jsonl")))


def kill(screen: OnTerminal) -> None:
    screen.process.kill()
    assert screen.wait_for_end() == -signal.SIGKILL


def quit_it(screen: OnTerminal) -> None:
    screen.type(CTRL_Q)
    assert screen.wait_for_end() == 0


@pytest.mark.parametrize("end", [kill, quit_it])
def test_no_tab_is_forgotten_that_was_not_opened_again(
    end: End, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with acp_tui(tmp_path) as screen:
        say(screen, "ants")
        screen.type(NEW_TAB)
        screen.wait_for("2 ● ")
        say(screen, "bees")
        screen.type("/fork\r")
        screen.wait_for("Go on in a fork")
        screen.insist("\r", lambda: "3 ● " in screen.shown)
        say(screen, "gnats")
        screen.until(lambda: len(left_in(tmp_path)) == 3)
        end(screen)
    with acp_tui(tmp_path, "--resume") as screen:
        say(screen, "wasps")
        end(screen)
    with acp_tui(tmp_path) as screen:
        screen.wait_for("The 3 tabs that you had open")
        screen.type(TAB)
        screen.wait_for("1-4 or Enter opens one")
        screen.type("1")
        screen.wait_for(f"1 ● {Path(sys.executable).name}: ants")  # in place of the empty session
        screen.wait_for("3 ● ")
        screen.type(CLOSE_TAB)
        screen.wait_for("F3 opens it again")
        screen.until(lambda: len(left_in(tmp_path)) == 2)
        end(screen)
    with acp_tui(tmp_path) as screen:
        screen.wait_for("The 2 tabs that you had open")
        say(screen, "something else")
        screen.until(lambda: len(left_in(tmp_path)) == 1)
        end(screen)
    with acp_tui(tmp_path) as screen:
        screen.wait_for("1 something else")


def test_resuming_goes_on_in_the_tab_in_front_and_offers_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with acp_tui(tmp_path) as screen:
        for at, what in enumerate(("ants", "bees", "cats", "dogs"), 1):
            if at > 1:
                screen.type(NEW_TAB)
                screen.wait_for(f"{at} ● ")
            say(screen, what)
        screen.type(CLOSE_TAB)
        screen.until(lambda: len(left_in(tmp_path)) == 3)
        screen.type("\x1b1")
        screen.wait_for("I say ants")
        quit_it(screen)
    with acp_tui(tmp_path, "--resume") as screen:
        screen.wait_for("I say ants")
        screen.wait_for("The 2 other tabs that you had open: Ctrl+N offers them")
        screen.type(NEW_TAB)
        screen.wait_for("1 The 2 other tabs that you had open")
        assert "Ctrl+N offers" not in screen.shown
        quit_it(screen)


def test_what_waited_for_an_agent_comes_back_with_that_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = tmp_path / "config" / "acp-tui"
    settings.mkdir(parents=True)
    never = scripted_argv("handshake()\nexpect('session/new')\nread()")
    agents = (f"[agents.{name}]\ncommand = {json.dumps(never)}\n" for name in ("slow", "other"))
    (settings / "agents.toml").write_text("".join(agents))
    with on_terminal(tmp_path, "slow") as screen:
        screen.wait_for("opening a session")
        screen.type("one\r")
        screen.wait_for("1 queued")
        quit_it(screen)
        screen.wait_for("comes back in the next empty session with slow in its folder")
    drafts = DraftFile(tmp_path / "state" / "acp-tui" / "drafts.json").read()
    assert [(draft.text, draft.agent) for draft in drafts.values()] == [("one", "slow")]


def test_what_waited_for_an_agent_without_a_name_comes_back_with_its_command_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    drafts = DraftFile(tmp_path / "state" / "acp-tui" / "drafts.json")
    script = "import os\nhandshake()\nnew = expect('session/new')\nos.path.exists('go') or read()\n"
    late = scripted_argv(f"{script}answer(new, sessionId='s')\nread()")
    with on_terminal(tmp_path, "--", *late) as screen:
        screen.wait_for("opening a session")
        screen.type("one\r")
        screen.until(lambda: [draft.queued for draft in drafts.read().values()] == [1])
        kill(screen)
    with acp_tui(tmp_path) as screen:
        screen.wait_for("Tip:")  # all that an empty session gets is there
        say(screen, "ants")
        quit_it(screen)
    (tmp_path / "go").touch()
    with on_terminal(tmp_path, "--", *late) as screen:
        screen.wait_for("Your unsent draft is back, with 1 queued prompt")
