"""Programs that install an agent as npm and uv do, from nowhere, and fail in the same words; archives; a registry."""

from __future__ import annotations

import io
import json
import shutil
import stat
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from support.servers import Authority

AGENT: Final = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    try:
        open(__file__, "a").close()
        name = "in a writable folder"
    except OSError:
        name = "in a read-only folder"
    info = {"name": name, "version": "1.2.3"}
    hello = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}}
    result = {"initialize": hello, "session/new": {"sessionId": "s"}}.get(json.loads(line)["method"])
    result = result or {"stopReason": "end_turn"}
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
"""
"""An agent that says whether it could change itself, and ends every turn at once."""

_COMMON: Final = f"""#!{sys.executable}
import json, os, subprocess, sys, time
from pathlib import Path
here = Path(__file__).parent
plan = json.loads((here / "plan.json").read_text())
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([Path(__file__).name, *sys.argv[1:]]) + "\\n")
def say(text):
    print(text, file=sys.stderr, flush=True)
def place(program, folder):
    if plan["hangs"]:
        child = subprocess.Popen(["sleep", "600"])
        (folder / "half").touch()
        (here / "pids").write_text(f"{{os.getpid()}} {{child.pid}}")
        child.wait()
    program.parent.mkdir(parents=True)
    program.write_text({AGENT!r})
    program.chmod(0o755)
"""
NPM: Final = (
    _COMMON
    + """
if sys.argv[1:3] == ["view", "--offline"]:
    print(json.dumps(plan["newest"]))
    sys.exit()
_, _, prefix, *options, spec = sys.argv[1:]
prefix = Path(prefix)
name = spec if spec.rfind("@") < 1 else spec[: spec.rfind("@")]
if plan["is_offline"]:
    say("npm http fetch GET https://registry.example/x attempt 1 failed with ENOTFOUND")
    say("npm error code ENOTFOUND\\nnpm error syscall getaddrinfo\\nnpm error errno ENOTFOUND")
    say("npm error network request to https://registry.example/x failed, reason: getaddrinfo ENOTFOUND")
    sys.exit(1)
if plan["is_missing"]:
    say("npm http fetch GET 404 https://registry.example/x 93ms (cache skip)")
    say("npm error code E404\\nnpm error 404 Not Found - GET https://registry.example/x")
    sys.exit(1)
if "--package-lock-only" in options:
    packages = {"": {}, f"node_modules/{name}": {"version": plan["version"]}}
    (prefix / "package-lock.json").write_text(json.dumps({"packages": packages}))
else:
    say("npm http fetch GET 200 https://registry.example/x/-/x-1.0.0.tgz 120ms (cache miss)")
    place(prefix / "node_modules/x/cli.js", prefix)
    (prefix / "node_modules/.bin").mkdir()
    (prefix / "node_modules/.bin" / plan["program"]).symlink_to("../x/cli.js")
    print("added 1 package in 1s")
"""
)
UV: Final = (
    _COMMON
    + """
if plan["is_offline"]:
    say("error: Failed to fetch: https://packages.example/x/\\n  cause: client error (Connect)\\n  cause: dns error")
    sys.exit(2)
if sys.argv[1] == "pip":
    print(f"{sys.stdin.read().strip()}=={plan['version']}")
else:
    say("Installed 1 package in 1ms")
    program = Path(os.environ["UV_TOOL_DIR"], "x/bin", plan["program"])
    place(program, Path.cwd())
    Path(os.environ["UV_TOOL_BIN_DIR"]).mkdir()
    Path(os.environ["UV_TOOL_BIN_DIR"], plan["program"]).symlink_to(program)
"""
)


class Installers:
    """npm and uv, and what they have done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("npm", NPM), ("uv", UV)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        self.do()

    def do(self, version: str = "1.2.3", program: str = "gemini", newest: Any = None, **how: bool) -> None:
        """What they do from now on: `is_offline`, `is_missing` (the package), or `hangs` (in the middle).

        `newest` is what npm has heard of the newest version; by default, it's this one.
        """
        plan = {"version": version, "program": program, "is_offline": False, "is_missing": False, "hangs": False}
        (self.folder / "plan.json").write_text(json.dumps(plan | {"newest": newest or version} | how))

    @property
    def calls(self) -> list[list[str]]:
        """The command lines so far, without those that only ask npm what it remembers."""
        file = self.folder / "calls"
        calls = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [call for call in calls if call[1] != "view"]

    @property
    def pids(self) -> list[int]:
        """The processes of one that hangs; none before it does."""
        file = self.folder / "pids"
        return [int(word) for word in file.read_text().split()] if file.exists() else []


@pytest.fixture
def installers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installers:
    """They are on PATH, with what they and a sandbox need, and no agent is."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("python3", "sleep", "bwrap"):
        if found := shutil.which(name, path="/usr/bin:/bin"):
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return Installers(folder)


# Archives

Files = Mapping[str, bytes | None]
"""The content of each file of an archive, by its path; None for a folder."""


def tar(files: Files, *others: tarfile.TarInfo, compression: str = "gz") -> bytes:
    """A compressed tar file with these and other members."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.size = (tarfile.DIRTYPE, 0) if content is None else (tarfile.REGTYPE, len(content))
            archive.addfile(entry, io.BytesIO(content or b""))
        for other in others:
            archive.addfile(other)
    return made.getvalue()


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """A member of a tar file that isn't a file: a link, or a device."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def zipped(files: Files, links: Mapping[str, str] | None = None) -> bytes:
    """A zip file with these files, and with symbolic links."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name if content is not None else f"{name}/", content or b"")
        for name, target in (links or {}).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, target)
    return made.getvalue()


class Downloads:
    """A server of files, and of redirects to the addresses that are given instead of bytes."""

    def __init__(self, port: int) -> None:
        self.base = f"https://127.0.0.1:{port}"
        self.files: dict[str, bytes | str] = {}
        self.asked: list[str] = []
        """Each request, as in `HEAD /a.zip`."""

    def serve(self, name: str, content: bytes | str) -> str:
        """Put it on the server, and return its address."""
        self.files[f"/{name}"] = content
        return f"{self.base}/{name}"


@contextmanager
def downloads(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Downloads]:
    """A server whose certificate is trusted in this test."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(f"{self.command} {self.path}")
            content = served.files.get(self.path)
            if isinstance(content, str):
                self.send_response(302)
                self.send_header("Location", content)
            else:
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if isinstance(content, bytes) and self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, *_: Any) -> None:
            """Discard it."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.socket = authority.context("IP:127.0.0.1").wrap_socket(http.socket, server_side=True)
    http.daemon_threads = True
    served = Downloads(http.server_port)
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        http.shutdown()
        thread.join(10)
        http.server_close()


# Entries of an agent registry, each with one peculiarity

BASE = {"name": "Some Agent", "version": "1.2.3", "description": "Does things"}


def entry(agent_id: str, **distribution: Any) -> dict[str, Any]:
    """An agent with this distribution."""
    return {"id": agent_id, **BASE, "distribution": distribution}


def npx(agent_id: str = "some", package: str = "some-agent@1.2.3", **more: Any) -> dict[str, Any]:
    """An agent that npx fetches."""
    return entry(agent_id, npx={"package": package, **more})


def binary(agent_id: str = "some", *platforms: str, **more: Any) -> dict[str, Any]:
    """An agent to be downloaded."""
    build = {"archive": "https://example.org/some.tar.gz", "cmd": "./dist/some", "args": ["acp"], **more}
    return entry(agent_id, binary=dict.fromkeys(platforms or ("linux-x86_64",), build))
