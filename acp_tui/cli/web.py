"""`--web`: serves the app as a page for browsers on this machine, at a secret address.

Each page runs its own acp-tui with the rest of the command line. textual-serve connects the two.
"""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import sys
from collections.abc import Sequence
from typing import Final

from acp_tui.cli import ExitCode
from acp_tui.cli.prerequisites import exit_after
from acp_tui.client.errors import ClientError
from acp_tui.client.extras import command_to_add

try:
    from aiohttp import web  # in the extra, like textual-serve
    from textual_serve.server import Server
except ImportError as error:
    raise ClientError(f"--web needs the package {error.name}", hint=command_to_add("web")) from error

HOST: Final = "127.0.0.1"
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}"
)
"""The page loads nothing from elsewhere and sends nothing there."""


class _Page(Server):
    """textual-serve at a secret path, without its messages and log, which would print the path."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, HOST, port, title="acp-tui")
        self._token = secrets.token_urlsafe(24)

    async def make_app(self) -> web.Application:
        page, behind = web.Application(), await super()._make_app()
        page.on_response_prepare.append(self._add_policy)
        page.add_subapp(f"/{self._token}", behind)
        return page

    async def on_startup(self, _: web.Application) -> None:
        print(f"acp-tui in the browser: {self.public_url}/{self._token}/   (Ctrl+C ends it)", flush=True)

    async def _add_policy(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = POLICY.format(host=f"{HOST}:{self.port}")
        response.headers["Referrer-Policy"] = "no-referrer"


def serve_in_browser(port: int) -> int:
    """Serve the rest of the command line at `port`, or at a free port for 0, until Ctrl+C."""
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise exit_after(ClientError(f"port {port} isn't available: {error.strerror}"), ExitCode.ERROR) from None
    os.environ["TERM"] = "xterm-256color"  # the page's terminal, whatever this one is
    words = [sys.executable, "-m", "acp_tui", *without_web(sys.argv[1:])]
    page = _Page(shlex.join(words), listener.getsockname()[1])
    web.run_app(page.make_app(), sock=listener, print=None, access_log=None)
    return ExitCode.DONE


def without_web(words: Sequence[str]) -> list[str]:
    """Return the command line without `--web` and its port."""
    kept: list[str] = []
    is_port = False
    for at, word in enumerate(words):
        if word == "--":
            return [*kept, *words[at:]]
        if not (word == "--web" or word.startswith("--web=") or (is_port and word.isdecimal())):
            kept.append(word)
        is_port = word == "--web"
    return kept
