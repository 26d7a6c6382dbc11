"""Whatever part of a hosted session is killed, and whenever, nothing is left behind or lost that was written.

`ACP_TUI_KILLS` is how often something is killed.
"""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from acp_tui.client.hosting.finding import HostPaths, hosted_sessions
from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.store import RecordingStore
from support.agents import scripted_argv
from support.hosts import User, a_user, process_of
from support.processes import all_end
from support.terminals import OnTerminal, on_terminal

pytest.importorskip("websockets", reason="hosts need the extra `remote`")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="only Linux has foster parents")]

KILLS = int(os.environ.get("ACP_TUI_KILLS", "6"))
KILLS_EACH = 3
"""How much of one hosted session is killed, one after the other."""
DRAFT = "what I was about to say"
# It talks until it is ended, and keeps in a file what it has said. A child of it has left its session.
TALKS = """
    import os, subprocess
    from itertools import count
    from time import sleep
    subprocess.Popen(["setsid", "sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    prompt = open_session()
    file = os.open("said", os.O_WRONLY | os.O_CREAT)
    for number in count(1):
        say(f"{number}\\n\\n")
        os.pwrite(file, b"%08d" % number, 0)
        sleep(0.005)
"""


class Running:
    """A hosted session that works, its screen with a draft, and all that runs for it."""

    def __init__(self, user: User, place: HostPaths) -> None:
        self.user = user
        self.place = place
        self.host = process_of(place)
        (self.guardian,) = self.host.children()
        below = self.guardian.children(recursive=True)
        self.agent = next(each for each in below if each.ppid() != self.guardian.pid and "-I" in each.cmdline())
        self.family = [self.host, self.guardian, *below]
        (self._recording,) = RecordingStore(user.home / "state/acp-tui/recordings").files()

    def heard(self) -> list[int]:
        """What the agent said, as it is recorded. The recording has no half line and no line that isn't one."""
        with open_recording(self._recording) as recording:
            messages = [json.loads(event.data) for event in recording if isinstance(event, Frame)]
            assert (recording.problems, recording.half_line) == ([], b"")
        updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
        return [int(update["content"]["text"]) for update in updates]

    def said(self) -> int:
        """The last number that the agent is sure to have said."""
        return int((self.user.home / "said").read_text())

    def hear(self, screen: OnTerminal, more: int) -> None:
        """Wait until the agent has said this much more, and that is recorded."""
        wanted = self.said() + more
        screen.until(lambda: self._recording.read_bytes().count(b"agent_message_chunk") >= wanted)

    def is_left(self) -> list[psutil.Process]:
        """What runs of it."""
        return [each for each in self.family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def kill_client(running: Running, screen: OnTerminal) -> None:
    """The session goes on."""
    screen.process.kill()
    screen.wait_for_end()
    assert running.is_left() == running.family


def kill_guardian(running: Running, screen: OnTerminal) -> None:
    """The session goes on."""
    running.guardian.kill()
    running.family.remove(running.guardian)
    running.hear(screen, 20)
    assert running.is_left() == running.family


def kill_host(running: Running, screen: OnTerminal) -> None:
    """All that it ran ends, and its screen says so."""
    running.host.kill()
    assert all_end(running.family)
    screen.wait_for("can't be reached")


def kill_agent(running: Running, screen: OnTerminal) -> None:
    """Its host ends with it, and all that it said is recorded."""
    running.agent.kill()
    assert all_end(running.family)
    assert running.heard()[-1] in (running.said(), running.said() + 1)
    screen.wait_for("SIGKILL")


@pytest.mark.parametrize("number", range(KILLS // KILLS_EACH))
async def test_nothing_is_left_or_lost_whoever_is_killed_and_whenever(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = random.Random(number)
    kills = [*moments.sample([kill_client, kill_guardian], 2), (kill_host, kill_agent)[number % 2]]
    with a_user() as user:
        monkeypatch.setenv("XDG_STATE_HOME", str(user.home / "state"))
        place = user.host("--", *scripted_argv(TALKS))
        drafts = user.home / "state/acp-tui/drafts.json"
        with ExitStack() as screens:
            screen = screens.enter_context(on_terminal(user.home, "attach", place.name))
            screen.prompt("go")
            screen.wait_for("working")
            screen.type(DRAFT)
            screen.until(lambda: drafts.exists() and DRAFT in drafts.read_text())
            running = Running(user, place)
            for kill in kills:
                running.hear(screen, moments.randrange(1, 100))
                kill(running, screen)
                if kill is kill_client:
                    screen = screens.enter_context(on_terminal(user.home, "attach", place.name))
                    screen.wait_for(DRAFT)
            screen.close_window()
            screen.process.wait()
        assert DRAFT in drafts.read_text()
        assert await hosted_sessions() == []
        assert [*(user.home / "state/acp-tui/hosts").glob("*.sock")] == []
        assert left_in(user.home) == []
        numbers = running.heard()
        assert numbers == [*range(1, len(numbers) + 1)]


def left_in(home: Path) -> list[list[str]]:
    """The command lines of all processes of this user."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.cmdline())
        except psutil.Error:
            pass  # it ends just now, or is another user's
    return found
