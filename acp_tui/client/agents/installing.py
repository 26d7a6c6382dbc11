"""Installs, updates, and removes agents in folders of acp-tui's own. Asks nobody: callers have the user's consent.

Each step is a process that ends with whoever waits for it: npm, uv, or our own `archive.py`. No shell runs. They start
in an empty folder, so no project's settings apply, but the user's own do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias
from urllib.parse import unquote

import anyio
from anyio import to_thread

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.installed import PYTHON, Installable, Installed, all_installed, read_installed, record_of
from acp_tui.client.agents.process import StderrLines, running_agent
from acp_tui.client.errors import AgentStartFailed, ClientError
from acp_tui.client.private_files import create_private, locked, make_private, write_json_state
from acp_tui.client.settings.location import installed_folder

Tell: TypeAlias = Callable[[str], object]
"""Takes the latest progress, in a few words. The text is untrusted."""

_ARCHIVE: Final = (sys.executable, "-I", str(Path(__file__).with_name("archive.py")))
_ENV: Final = {
    "NO_COLOR": "1",
    "npm_config_loglevel": "http",  # a line for each file
    "npm_config_fetch_retries": "1",  # who is offline is told soon
    **{f"npm_config_{name}": "false" for name in ("audit", "fund", "update_notifier", "progress")},
}
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.!+_-]{0,63}")
_FETCHED: Final = re.compile(r"([^/\s]+) \d+ms")
"""What npm has fetched, the end of its address."""
_NO_REASON: Final = re.compile(r"npm (error|ERR!) (code|syscall|errno|path|A complete log)|npm (http|warn|notice)|\s*$")
_OFFLINE: Final = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|dns error|tcp connect error"
    r"|[Nn]ame or service not known|nodename nor servname|[Nn]ame resolution|[Cc]onnection refused|[Uu]nreachable"
    r"|timed out"
)
_MAX_LINES: Final = 1000
_END_LIMIT_S: Final = 10.0


class InstallFailed(ClientError):
    """An agent couldn't be looked up, installed, or removed. What was there before is as it was."""


class _Failed(Exception):
    """Why a step failed."""


async def look_up(offer: Installable) -> Installable:
    """The offer with the version that would be installed now, or with the size of its archive. Raises InstallFailed.

    Of a package, it's the newest version for this machine's Node.js, or for the Python that uv will run it with.
    """
    with _explained(f"{offer.name} can't be looked up"), TemporaryDirectory(prefix="acp-tui-") as made:
        folder = Path(made)
        match offer.tool:
            case "npm":
                words = ("npm", "install", "--prefix", made, "--package-lock-only", "--ignore-scripts", offer.source)
                await _run(words, folder)
                lock = json.loads((folder / "package-lock.json").read_bytes())
                version = str(lock["packages"][f"node_modules/{offer.source}"]["version"])
                offer = replace(offer, note=await _why_not_newest(offer.source, version, folder))
            case "uv":
                alone = ("--no-deps", "--no-header", "--no-annotate", "--no-build", "--python-version", PYTHON, "-")
                version = await _run(("uv", "pip", "compile", *alone), folder, said=offer.source)
                version = version.strip().rpartition("==")[2]
            case _:
                return replace(offer, size_bytes=int(await _run((*_ARCHIVE, "size", offer.source), folder)))
        if not _VERSION.fullmatch(version):
            raise _Failed(f"{offer.tool} named no version of {offer.source}")
        return replace(offer, version=version)


async def _why_not_newest(package: str, version: str, folder: Path) -> str:
    """Which version npm passed over, as it needs another Node.js; "" for none. npm has just heard of it: no network."""
    with suppress(_Failed, ValueError):
        told = await _run(("npm", "view", "--offline", "--json", package, "version", "engines"), folder)
        match json.loads(told):
            case {"version": str(newest), "engines": {"node": str(needed)}} if newest != version:
                node = (await _run(("node", "--version"), folder)).strip().removeprefix("v")
                return f"Not the newest: {newest} needs Node {needed.removeprefix('>=')}, this is {node}."
    return ""


async def install(offer: Installable, tell: Tell = lambda _: None) -> Installed:
    """Install what `look_up` returned, and use it from now on. Raises InstallFailed.

    A failure or a cancellation leaves nothing of it. The version before stays until the next one is installed, because
    it may be running.
    """
    place = offer.folder.parent
    with _explained(f"{offer.name} can't be installed"):
        async with _alone_in(place):
            before = await to_thread.run_sync(read_installed, offer.name)
            if before is not None and before.version == offer.version:
                return before
            await to_thread.run_sync(_keep_only, place, "" if before is None else before.version)
            try:
                await to_thread.run_sync(make_private, offer.folder)
                sha256 = await _fill(offer, tell)
                if not os.access(offer.path, os.X_OK):
                    raise _Failed(f"{offer.source} {offer.version} has no program {offer.program}")
                argv = (str(offer.path), *offer.args)
                made = Installed(offer.name, offer.version, offer.source, argv, offer.env, sha256)
                record = {name: value for name, value in asdict(made).items() if name != "name"}
                await to_thread.run_sync(write_json_state, record_of(made.name), record)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(_keep_only, place, "" if before is None else before.version)
                raise
    return made


def remove(name: str) -> Installed | None:
    """Delete the agent that acp-tui has installed, and return what it was; None if there is none. Blocks.

    Raises InstallFailed.
    """
    found = next((each for each in all_installed() if each.name == name), None)
    if found is not None:
        place = installed_folder() / name
        with _explained(f"{name} can't be removed"), locked(place):
            record_of(name).unlink(missing_ok=True)
            _keep_only(place, "")
    return found


async def _fill(offer: Installable, tell: Tell) -> str:
    """Put it in its folder. Returns the SHA-256 of an archive."""
    if not offer.tool:
        what = (offer.source, offer.sha256, str(offer.folder), offer.program)
        return (await _run((*_ARCHIVE, "install", *what), offer.folder, tell)).strip()
    if offer.runs_scripts:
        # Without being told so, npm 12 runs no scripts, and earlier ones all.
        with create_private(offer.folder / "package.json") as file:
            file.write(json.dumps({"private": True, "allowScripts": {offer.source: True}}).encode())
    await _run(offer.words, offer.folder, tell, offer.env_of_tool)
    return ""


@asynccontextmanager
async def _alone_in(place: Path) -> AsyncIterator[None]:
    """Keep others from installing the same. Raises OSError."""
    lock = locked(place)
    await to_thread.run_sync(lock.__enter__)
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def _keep_only(place: Path, version: str) -> None:
    """Delete an agent's other versions, and what an interrupted installation has left."""
    for other in place.iterdir() if place.is_dir() else ():
        if other.name != version:
            shutil.rmtree(other)
    with suppress(OSError):
        place.rmdir()


async def _run(
    words: tuple[str, ...], folder: Path, tell: Tell = lambda _: None, env: Mapping[str, str] = {}, said: str = ""
) -> str:
    """Run a program in a folder until it ends, with `said` as its input. Returns what it prints. Raises _Failed."""
    # Nothing that it's told names a file in the user's folder.
    command = AgentCommand(words[0], words, {**_ENV, **env}, is_elsewhere=True)
    lines: deque[str] = deque(maxlen=_MAX_LINES)
    log, output = StderrLines(lines), bytearray()

    def hear(data: bytes) -> None:
        log.append(data)
        line = next((line for line in reversed(lines) if line), "")
        fetched = _FETCHED.search(line)
        tell(line if fetched is None else f"fetched {unquote(fetched[1])}")

    try:
        async with running_agent(command, hear, folder) as process:
            with suppress(anyio.BrokenResourceError):
                await process.stream.send(said.encode())
            await process.stream.send_eof()
            async for data in process.stream:
                output += data
            await process.wait_for_end(_END_LIMIT_S)
            code = process.exit_code
    except AgentStartFailed as error:
        raise _Failed(str(error)) from error
    if code != 0:
        raise _Failed(_reason(lines) or f"{words[0]} {process.describe_exit()}")
    return output.decode("utf-8", "replace")


def _reason(lines: deque[str]) -> str:
    """Why a program failed, from what it printed; "" if it doesn't say."""
    for line in lines:
        if offline := _OFFLINE.search(line):
            return f"no connection ({offline[0]})"
    reasons = [line for line in lines if not _NO_REASON.match(line)]
    said = next((line for line in reasons if re.match("npm (error|ERR!)|error:", line)), reasons[-1] if reasons else "")
    return re.sub("^(npm (error|ERR!)|error:) +", "", said)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Raise InstallFailed for whatever fails, after `what`."""
    try:
        yield
    except (_Failed, OSError) as error:
        reason = str(getattr(error, "strerror", None) or error)
        is_offline = reason.startswith("no connection")
        hint = "go online, or set a proxy (HTTPS_PROXY), and try again" if is_offline else ""
        raise InstallFailed(f"{what}: {reason}", hint=hint) from error
    except (ValueError, LookupError, TypeError) as error:
        raise InstallFailed(f"{what}: the answer can't be read") from error
