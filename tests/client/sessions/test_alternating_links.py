"""A link that leads elsewhere each time someone looks takes nothing past a rule: what is checked is what is opened."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.sessions.consent import Policy
from acp_tui.client.settings.settings import RefusalRule
from support.agents import SERVING, Counterpart, in_session, request

TRIES = int(os.environ.get("ACP_TUI_ALTERNATING_TRIES", "200"))
SECRET, PLAIN = "secret\n", "plain\n"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("secret", "plain"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text(f"{name}\n")
    return folder


ALTERNATE = """
import os, sys
link, *targets = sys.argv[1:]
while True:
    for target in targets:
        os.symlink(target, f"{link}.new")
        os.replace(f"{link}.new", link)
"""


@contextmanager
def alternating(link: Path, *targets: str) -> Iterator[None]:
    """A link that another process turns around as fast as it can."""
    link.symlink_to(targets[0])
    process = subprocess.Popen([sys.executable, "-S", "-c", ALTERNATE, str(link), *targets])
    try:
        yield
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def rule(**named: str) -> Policy:
    return replace(SERVING, refuse=(RefusalRule(named.get("kind"), named.get("path"), None, "because"),))


async def call(wire: Counterpart, method: str, **params: Any) -> dict[str, Any]:
    await wire.send(request(1, method, {"sessionId": "s1", **params}))
    answer: dict[str, Any] = await wire.receive()
    return answer


@pytest.mark.parametrize(("path", "is_absolute"), [("secret", False), ("secret/file", False), ("secret", True)])
@pytest.mark.parametrize("through", ["folder", "file"])
async def test_no_read_returns_a_refused_file(cwd: Path, path: str, is_absolute: bool, through: str):
    link = cwd / "link"
    targets = ("plain", "secret") if through == "folder" else ("plain/file", "secret/file")
    asked = str(link / "file" if through == "folder" else link)
    read: list[str] = []
    with alternating(link, *targets):
        async with in_session(cwd, policy=rule(path=f"{cwd}/{path}" if is_absolute else path)) as (_, wire):
            while len(read) < TRIES // 3 or PLAIN not in read:
                answer = await call(wire, "fs/read_text_file", path=asked)
                read.append(answer.get("result", {}).get("content", ""))
    assert SECRET not in read


async def test_no_write_replaces_a_refused_file(cwd: Path):
    tries = written = 0
    with alternating(cwd / "link", "plain", "secret"):
        async with in_session(cwd, policy=rule(path="secret")) as (_, wire):
            while tries < TRIES or not written:
                tries += 1
                answer = await call(wire, "fs/write_text_file", path=str(cwd / "link/file"), content=str(tries))
                written += "result" in answer
                assert (cwd / "secret/file").read_text() == SECRET


async def test_a_root_that_is_a_link_is_below_the_rule_wherever_it_leads_later(cwd: Path):
    (cwd.parent / "elsewhere").mkdir()
    root = cwd.parent / "root"
    root.symlink_to("project")
    async with in_session(root, policy=rule(path="secret")) as (_, wire):
        root.unlink()
        root.symlink_to("elsewhere")
        answer = await call(wire, "fs/read_text_file", path=str(cwd / "secret/file"))
    assert "because" in answer["error"]["message"]


async def test_no_command_starts_in_a_refused_folder(cwd: Path):
    tries = ran = 0
    with alternating(cwd / "link", "plain", "secret"):
        async with in_session(cwd, policy=rule(path="secret")) as (_, wire):
            while tries < TRIES // 20 or not ran:
                tries += 1
                answer = await call(
                    wire, "terminal/create", command="/bin/sh", args=["-c", "pwd -P"], cwd=str(cwd / "link")
                )
                if "result" not in answer:
                    continue
                ran += 1
                terminal = {"terminalId": answer["result"]["terminalId"]}
                await call(wire, "terminal/wait_for_exit", **terminal)
                output = (await call(wire, "terminal/output", **terminal))["result"]["output"]
                assert output.strip() == str(cwd / "plain")
                await call(wire, "terminal/release", **terminal)
