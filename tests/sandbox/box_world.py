"""A small world around a box: a home with secrets, a project, services, and a victim, and what has happened to them.

`World.alarms` lists all that nothing in a box may do. As a program, it runs scripts there, without pytest and as any
user: in a box, started exactly as an agent's process is: by a guardian, a keeper, and the box's engine.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import json
import os
import secrets
import select
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio

from acp_tui.client.processes.guard import Order, guard
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import make_box
from acp_tui.client.sandbox.engines import engine_for
from acp_tui.client.sandbox.needs import Needs
from acp_tui.client.settings.settings import WORKSPACE

NEEDS: Final = Needs(
    state=("~/.agent", "~/.linked"), fixed=("~/.agent/settings.json", "~/.agent/hooks/"), env=("AGENT_*",)
)
"""Of the agent that is in the box."""
SECRET_FILES: Final = (
    *(".ssh/id_ed25519", ".aws/credentials", ".netrc", ".gnupg/private.key", ".npmrc", ".docker/config.json"),
    *(".config/gh/hosts.yml", ".mozilla/firefox/x/logins.json", ".config/google-chrome/Default/Login Data"),
    *(".codex/auth.json", ".claude/.credentials.json", ".bash_history", ".config/acp-tui/agents.toml"),
    *(".local/state/acp-tui/recordings/r.jsonl", ".local/state/acp-tui/trust.json", ".cache/acp-tui/registry.json"),
    *("Documents/diary.txt", ".cache/other/token", ".cargo/credentials.toml", ".config/git/credentials"),
)
"""Below the home folder."""
RUNS_LATER: Final = (".envrc", ".vscode/tasks.json", ".claude/settings.json", ".mcp.json", ".husky/pre-commit")
"""Below the project."""
_VICTIM: Final = """
import os, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: open(sys.argv[1], "w").write("signaled"))
print("ready", flush=True)
while True:
    time.sleep(60)
"""
_NUMBERS: Final = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""add_key and keyctl."""


class World:
    """Everything is below one folder, besides sockets in /tmp and what the kernel keeps."""

    def __init__(self, above: Path, *, has_git: bool) -> None:
        self._has_git = has_git
        self.secret = f"secret-{secrets.token_hex(8)}"
        self.root = Path(tempfile.mkdtemp(prefix="acp-tui-box-world-", dir=above)).resolve()
        self.home, self.project, self.outside = (self.root / name for name in ("home", "project", "outside"))
        self.state = self.home / ".agent"
        for file in (self.home / name for name in SECRET_FILES):
            _write(file, self.secret)
        for folder in (self.outside, self.home / ".ssh", self.state, self.home / "runtime"):
            folder.mkdir(parents=True, exist_ok=True)
        _write(self.home / ".gitconfig", "[user]\n\tname = Box\n\temail = box@example.com\n")
        _write(self.home / ".bashrc", "# the user's\n")
        _write(self.state / "login.json", "{}")
        _write(self.state / "settings.json", "{}")
        _write(self.state / "hooks/before", "the user's")
        _write(self.outside / "file", "unchanged")
        _write(self.home / "dotfiles/linked/login.json", "the user's")
        (self.home / ".linked").symlink_to(self.home / "dotfiles/linked")
        self._make_project()
        self._temporary = Path(tempfile.mkdtemp(prefix="acp-tui-box-sockets-"))
        self._connected: list[str] = []
        self._servers: list[tuple[str, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Lock()
        self._segment, self._posix = -1, f"acp-tui-box-{secrets.token_hex(4)}"
        self._share_memory()
        self._keys: list[tuple[int, int]] = []
        self.has_keyrings = self._keep_key()
        self.places = dict(self._serve())
        self._open_secret = os.open(self.home / ".ssh/id_ed25519", os.O_RDONLY)
        os.set_inheritable(self._open_secret, True)
        self._victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _VICTIM, str(self.outside / "signaled")],
            env={"VICTIMS_TOKEN": self.secret},
            stdout=subprocess.PIPE,
            stdin=self._open_secret,
        )
        assert self._victim.stdout is not None
        self._victim.stdout.readline()
        self._look()
        self._before = self._snapshot()

    def _make_project(self) -> None:
        for name in RUNS_LATER:
            _write(self.project / name, "the user's\n")
        _write(self.project / "notes.txt", "may change\n")
        _write(self.project / ".env", self.secret)  # what the user refuses
        self.worktree, self.git = self.root / "worktree", self.project / ".git"
        if not self._has_git:
            return
        git = ["git", "-c", "init.defaultBranch=main", "-C", str(self.project)]
        quiet = {"check": True, "capture_output": True, "env": {**os.environ, "HOME": str(self.home)}}
        subprocess.run([*git, "init"], **quiet)
        subprocess.run([*git, "add", "notes.txt"], **quiet)
        subprocess.run([*git, "commit", "-m", "first"], **quiet)
        subprocess.run([*git, "worktree", "add", str(self.worktree)], **quiet)

    def described(self) -> dict[str, Any]:
        """What an attempt may know."""
        names = ("home", "project", "outside", "state", "worktree", "root")
        return {
            **{name: str(getattr(self, name)) for name in names},
            "secret_files": [str(self.home / name) for name in SECRET_FILES],
            "victim": self._victim.pid,
            "sockets": {name: where for name, where in self.places.items() if not name.startswith("tcp")},
            "port": self.places["tcp"],
            "segment": self._segment,
            "posix": self._posix,
            "runner": os.getpid(),
        }

    def environ(self) -> Mapping[str, str]:
        """The user's environment."""
        return {
            "PATH": f"/root/bin:{os.defpath}",  # as `su` leaves it: another user can't look there
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "runtime"),
            "FORGE_TOKEN": self.secret,
            "SSH_AUTH_SOCK": str(self.places["ssh"]),
            "LD_PRELOAD": "",
        }

    # Services

    def _serve(self) -> Iterator[tuple[str, Any]]:
        runtime = self.home / "runtime"
        places = {
            "ssh": self._temporary / "agent.1",
            "gpg": self.home / ".gnupg/S.gpg-agent",
            "X11": self._temporary / "X7",
            "Wayland": runtime / "wayland-7",
            "D-Bus": runtime / "bus",
            "service": self.outside / "service.sock",
            "acp-tui": self.home / ".local/state/acp-tui/hosts/1.sock",
        }
        if os.getuid() == 0:
            places["system"] = Path(f"/run/{self._posix}.sock")
        for name, place in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            self._listen(name, socket.AF_UNIX, str(place))
            yield name, str(place)
        abstract = f"@{self._posix}"
        self._listen("abstract", socket.AF_UNIX, "\0" + abstract[1:])
        yield "abstract", abstract
        yield "tcp", self._listen("tcp", socket.AF_INET, ("127.0.0.1", 0))[1]

    def _listen(self, name: str, family: int, address: Any) -> Any:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind(address)
        server.listen()
        self._servers.append((name, server))
        self._threads.append(threading.Thread(target=self._serve_one, args=(name, server), daemon=True))
        self._threads[-1].start()
        return server.getsockname()

    def _serve_one(self, name: str, server: socket.socket) -> None:
        with suppress(OSError):  # it was shut down
            while True:
                select.select([server], [], [])
                self._accept(name, server)

    def _accept(self, name: str, server: socket.socket) -> None:
        """Answer all who have connected by now."""
        with self._accepting:
            while select.select([server], [], [], 0)[0]:
                connection, _ = server.accept()
                self._connected.append(name)
                with suppress(OSError), connection:
                    connection.sendall(self.secret.encode())

    # What the kernel keeps

    def _share_memory(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._segment = libc.shmget(0, 4096, 0o1600)
        if self._segment >= 0:
            libc.shmat.restype = ctypes.c_void_p
            where = libc.shmat(self._segment, None, 0)
            ctypes.memmove(where, self.secret.encode(), len(self.secret))
        with suppress(OSError):
            Path("/dev/shm", self._posix).write_text(self.secret, "utf-8")

    def _keep_key(self) -> bool:
        numbers = _NUMBERS.get(os.uname().machine)
        if numbers is None:
            return False
        libc, text = ctypes.CDLL(None, use_errno=True), self.secret.encode()
        libc.syscall(numbers[1], 1, None)  # a keyring of its own for the session
        session, user = -3, -4
        for ring in (session, user):
            key = libc.syscall(numbers[0], b"user", self._posix.encode(), text, len(text), ring)
            if key <= 0:
                return False
            self._keys.append((key, ring))
        return True

    # What has happened

    def alarms(self, output: str) -> list[str]:
        """What an attempt with this output has done that it must not, as sentences."""
        found = [line for line in output.splitlines() if line.startswith("ESCAPED")]
        if self.secret in output:
            found.append("a secret was read")
        self._look()
        after = self._snapshot()
        found += [
            f"{path} was changed"
            for path in sorted({*self._before, *after})
            if self._before.get(path) != after.get(path)
        ]
        for name, server in self._servers:
            self._accept(name, server)  # who has connected may have ended before its thread noticed
        found += [f"{name} was reached" for name in self._connected]
        if self._victim.poll() is not None:
            found.append("the victim was ended")
        else:
            status = Path(f"/proc/{self._victim.pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
            if status in "Tt":
                found.append("the victim was stopped")
        return found

    def _look(self) -> None:
        """Do what the user does next, which runs what git's settings name."""
        for folder in (self.project, self.worktree) if self._has_git else ():
            subprocess.run(
                ["git", "-C", str(folder), "status"],
                env={**os.environ, "HOME": str(self.home)},
                capture_output=True,
                check=False,
            )

    def _snapshot(self) -> dict[str, str]:
        """What is to stay as it is: all but the agent's state and the rest of the project."""
        kept = {}
        for folder, names, files in os.walk(self.root):
            inside = [name for name in names if Path(folder, name) not in (self.state, self.project, self.worktree)]
            names[:] = [name for name in inside if Path(folder, name) != self.git]
            for name in (*names, *files):
                kept[f"{folder}/{name}"] = _state_of(Path(folder, name))
        fixed = [
            self.state / "settings.json",
            self.state / "hooks/before",
            self.state / "hooks/x",
            self.git / "config",
            self.git / "hooks",
        ]
        fixed += [*(self.git / "hooks").rglob("*"), *(self.git / "worktrees").glob("*/config.worktree")]
        for path in (*fixed, *(self.project / name for name in (*RUNS_LATER, ".env"))):
            kept[str(path)] = _state_of(path)
        for path in (self.project, self.git, self.worktree, self.state):
            kept[str(path)] = str(path.lstat().st_ino) if path.exists() else "missing"
        kept["worktree/.git"] = _state_of(self.worktree / ".git")
        with suppress(OSError):
            kept["/dev/shm"] = Path("/dev/shm", self._posix).read_text("utf-8")
        kept.pop(str(self.git / "hooks"), None)  # made by the box if it is missing
        return kept

    def close(self) -> None:
        self._victim.kill()
        self._victim.wait()
        for _, each in self._servers:
            each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for _, each in self._servers:
            each.close()
        os.close(self._open_secret)
        if self._segment >= 0:
            ctypes.CDLL(None).shmctl(self._segment, 0, None)
        with suppress(OSError):
            Path("/dev/shm", self._posix).unlink()
        for key, ring in self._keys:
            ctypes.CDLL(None).syscall(_NUMBERS[os.uname().machine][1], 9, key, ring)  # unlink
        for name, place in self.places.items():
            if name == "system":
                Path(place).unlink(missing_ok=True)
        for folder in (self.root, self._temporary):
            shutil.rmtree(folder, ignore_errors=True)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def _state_of(path: Path) -> str:
    try:
        status = path.lstat()
    except OSError:
        return "missing"
    mode = stat.filemode(status.st_mode)
    if path.is_symlink():
        return f"{mode} {path.readlink()}"
    if path.is_file():
        return f"{mode} {status.st_uid} {status.st_nlink} {hashlib.sha1(path.read_bytes()).hexdigest()}"
    return f"{mode} {status.st_uid}"


# Scripts in a box


LIMIT_S: Final = 30.0


def run(world: World, request: Mapping[str, Any]) -> str:
    """What the script of this request prints."""
    described = json.dumps(world.described())
    script = f"{request['prelude']}\n_know({described!r})\n{request['script']}"
    argv = [sys.executable, "-I", "-S", "-c", script]
    folder = world.root / request.get("folder", "project")
    if not request["boxed"]:
        return _unboxed(world, argv, folder)
    return anyio.run(_boxed, world, request, argv, folder)


def _unboxed(world: World, argv: list[str], folder: Path) -> str:
    done = subprocess.run(
        argv,
        cwd=folder,
        env=dict(world.environ()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
        start_new_session=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


async def _boxed(world: World, request: Mapping[str, Any], argv: list[str], folder: Path) -> str:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in request["profile"].items()}
    profile = replace(WORKSPACE, **fields)
    os.environ["HOME"] = str(world.home)  # where our own folders are
    masks = [(world.root / mask, Access.HIDDEN) for mask in request.get("masks", ())]
    box = make_box(profile, NEEDS, [folder], argv[:1], world.environ(), {}, masks)
    way = engine_for(box).way_into(box, folder, {})
    order = Order([(argv[0], None, argv)], way.environment, 0.0, 0.0, confinement=way.confinement)
    place, (reading, writing) = os.open(folder, os.O_RDONLY), os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        guarded = guard.start(order, place, (nothing, writing, writing))
    finally:
        for each in (place, nothing, writing):
            os.close(each)
    with anyio.fail_after(LIMIT_S):
        await guarded.follow(asyncio.get_running_loop())
        output = b""
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                await guarded.exited.wait()
                guarded.end()
                await guarded.ended.wait()

            tasks.start_soon(end)
            output = await anyio.to_thread.run_sync(_all_of, reading)  # also of what would outlive the box
    box.discard()
    return output.decode("utf-8", "replace")


def _all_of(pipe: int) -> bytes:
    with open(pipe, "rb") as file:
        return file.read()


def main() -> None:
    """Answer one request a line on stdin: run a script in a box, or without one, in a world of its own.

    A request: `prelude` and `script`, `boxed`, `above` (a folder), `profile` (fields of a profile), `masks` and
    `folder` (below the world). An answer: `alarms`, `output`.
    """
    for line in sys.stdin:
        request = json.loads(line)
        world = World(Path(request["above"]), has_git="git" in request["script"] or request["folder"] != "project")
        try:
            output = run(world, request)
            answer = {"alarms": world.alarms(output), "output": output, "has_keyrings": world.has_keyrings}
        finally:
            world.close()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
