"""The app in a real browser: the page loads, prompts can be typed, and permissions answered by key and by click."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]
import pytest

from support.chromium import CHROMIUM, browser_page
from support.waiting import until

pytest.importorskip("textual_serve", reason="the extra web isn't installed")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address where the demo is served."""
    server = subprocess.Popen(
        [sys.executable, "-m", "acp_tui", "demo", "--web", "--speed", "20"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", said)
        assert found is not None, said
        yield found[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.communicate()


@needs_chromium
@pytest.mark.parametrize("way", ["key", "click"])
async def test_a_permission_is_answered_in_the_browser(way: str, address: str, tmp_path: Path):
    async with browser_page(address, tmp_path / "profile") as page:
        await page.until_it_shows("Write a prompt")
        await page.click_on("Write a prompt")
        await page.type("mend the bug\n")
        await page.until_it_shows("Allow once")
        await page.screenshot(tmp_path / "asked.png")

        async def allow() -> None:
            """An answer counts once the whole change has been in view, and some time after the last key or click."""
            if "Allow once" in page.text:
                # The card takes the keyboard on its own only if the user isn't typing.
                await page.click_on("Permission" if way == "key" else "Allow once")
                await asyncio.sleep(1)
            if way == "key" and "Allow once" in page.text:
                await page.type("y")
            await asyncio.sleep(2)  # within a second, the same key may count as held down

        await until(lambda: "8 passed" in page.text, allow, lambda: page.text)
        await page.screenshot(tmp_path / "screenshot.png")
    assert (tmp_path / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    [recording] = (tmp_path / "acp-tui/recordings").rglob("*.jsonl")
    assert recording.read_text().count('"outcome":"selected"') == 2  # the change, and the tests


def test_without_the_token_there_is_nothing_to_see(address: str):
    for wrong in (address.rpartition("/")[0].rpartition("/")[0] + "/", address[:-2] + "/"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(wrong)
    with urlopen(address) as page:
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]


def test_nobody_else_on_the_network_reaches_the_page(address: str):
    port = int(re.sub(r".*:(\d+)/.*", r"\1", address))
    listening = [at.laddr.ip for at in psutil.net_connections("tcp") if at.laddr and at.laddr.port == port]
    assert set(listening) <= {"127.0.0.1"}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["demo", "--web"], ["demo"]),
        (["a", "--web", "8000", "--cwd", "/x"], ["a", "--cwd", "/x"]),
        (["a", "--web=8000"], ["a"]),
        (["--web", "--", "run", "--web", "1"], ["--", "run", "--web", "1"]),
    ],
)
def test_each_page_runs_the_rest_of_the_command_line(words: list[str], left: list[str]):
    from acp_tui.cli.web import without_web  # it needs the extra

    assert without_web(words) == left
