"""A terminal and a host of different releases: they speak, or one line says which of them to upgrade."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from acp_tui import __version__
from acp_tui.client.hosting import extension_methods
from support.agents import scripted_argv
from support.hosts import User, a_user
from support.terminals import environment
from support.waiting import TEST_LIMIT_S

pytest.importorskip("websockets", reason="hosts need the extra `remote`")

ROOT: Final = Path(__file__).parents[2]
TALKER: Final = scripted_argv("""
    handshake()
    answer(expect("session/new"), sessionId="s1")
    prompt = expect("session/prompt")
    ask("allow_once", "reject_once")
    say(f"answer: {outcome()}")
    end(prompt)
    serve_until_closed()
""")
TOO_NEW: Final = "the host runs acp-tui 9.1, which acp-tui {} can't attach to: upgrade acp-tui here"
CLIENT: Final = """
import sys, anyio, acp_tui
from pathlib import Path
from acp_tui.client.agents.address import Address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.hosting.finding import attached
from acp_tui.client.sessions.hub import open_hub
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import Message

assert acp_tui.__file__.startswith(sys.argv[2])

async def main():
    async with open_hub() as hub:
        url = "unix://" + sys.argv[1]
        agent = await attached(hub, AgentCommand("host", (url,), address=Address(url), is_host=True))
        await agent.initialize(30)
        session = await agent.load_session("s1", Path("/"))

        def look(_):
            for key in list(session.conversation.permissions):
                session.answer_permission(key, "reject_once")

        session.subscribe(look)
        await session.send_prompt([Text("from afar")])
        print([entry.text for entry in session.conversation.entries if isinstance(entry, Message)])

anyio.run(main)
"""


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the last release, from the repository's history."""
    last = ["log", "-1", "--format=%H", "-G^## .[0-9]", "--", "CHANGELOG.md"]
    found = subprocess.run(["git", "-C", ROOT, *last], capture_output=True, text=True, check=False)
    if not (commit := found.stdout.strip()):
        pytest.skip("there is no history of the repository with a release in it")
    packed = subprocess.run(["git", "-C", ROOT, "archive", commit, "acp_tui"], capture_output=True, check=True)
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def user() -> Iterator[User]:
    with a_user() as one:
        yield one


@pytest.mark.parametrize("is_host_earlier", [True, False])
def test_a_terminal_attaches_to_a_host_of_another_release(is_host_earlier: bool, earlier: Path, user: User) -> None:
    host, client = (earlier, ROOT) if is_host_earlier else (ROOT, earlier)
    place = user.host("--", *TALKER, PYTHONPATH=str(host))
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(place.socket), str(client)],
        env={**environment(user.home), "PYTHONPATH": str(client)},
        cwd=user.home,  # not where this release could be imported from
        capture_output=True,
        text=True,
        timeout=TEST_LIMIT_S,
        check=False,
    )
    assert done.stdout.splitlines() == ["['from afar', 'answer: reject_once']"], done.stderr


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"host": 9, "oldest": 8, "release": "9.1"}, TOO_NEW),
        ({"host": 9, "oldest": 1, "release": "9.1"}, ""),
        ({"host": 1}, ""),
        ({"host": True, "oldest": "x"}, ""),
        ({}, ""),
    ],
)
def test_one_line_says_which_to_upgrade(told: object, said: str) -> None:
    assert extension_methods.misfit({"acp_tui": told}) == said.format(__version__)


def test_a_host_that_is_too_early_is_to_be_upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension_methods, "OLDEST", 2)
    said = extension_methods.misfit({"acp_tui": {"host": 1}})
    assert said.startswith("the host runs an earlier acp-tui, too early for acp-tui")
    assert said.endswith("upgrade it there, and restart it")
