"""On a full disk, or in a home that can't be written, acp-tui works, and says once what it can't save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.agents import scripted_argv
from support.terminals import on_terminal

CTRL_Q = "\x11"
AGENT = """
    prompt = open_session()
    while True:
        say("did " + prompt["params"]["prompt"][0]["text"]); end(prompt)
        prompt = expect("session/prompt")
"""
MAIN = ("-m", "acp_tui")
# No file can grow, as on a full disk. (As with any limit of this kind, pipes and terminals work.) Python would cut
# compiled modules short, and all later starts would fail.
MAIN_WITHOUT_ROOM = (
    "-c",
    "import os, resource, sys; sys.dont_write_bytecode = True; os.environ['PYTHONDONTWRITEBYTECODE'] = '1'\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    "from acp_tui.cli.main import main; sys.exit(main())",
)


def nothing(_: Path) -> None:
    """The home is as it should be."""


def folders_are_files(home: Path) -> None:
    """Nothing can be created in those folders of the home, not even by root."""
    for name in ("state", "cache", "data"):
        (home / name).write_text("")


@pytest.mark.parametrize(
    ("main", "prepare"),
    [(MAIN_WITHOUT_ROOM, nothing), (MAIN, folders_are_files)],
    ids=["full disk", "unwritable home"],
)
def test_a_turn_goes_on_where_nothing_can_be_kept_and_that_is_said(
    tmp_path: Path, main: Sequence[str], prepare: Callable[[Path], None]
) -> None:
    prepare(tmp_path)
    with on_terminal(tmp_path, "--", *scripted_argv(AGENT), main=main) as screen:
        # A notice may have gone again by the time this process looks.
        screen.until(lambda: b"Recording stopped" in screen.written)
        screen.prompt("this")
        screen.wait_for("did this")
        screen.prompt("that")
        screen.until(lambda: b"Your prompts" in screen.written)  # and drafts can't be saved; told with the first one
        screen.wait_for("did that")
        screen.type("a draft")
        screen.wait_for("a draft")
        screen.type(CTRL_Q)
        assert screen.wait_for_end() == 0
        assert screen.is_as_before()
        assert b"Traceback" not in screen.written
