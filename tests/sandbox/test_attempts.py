"""Nothing that runs in a box gets out of it, as root and as another user; and each attempt would, without a box."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from acp_tui.client.processes import landlock

PRELUDE: Final = '''
import ctypes, errno, fcntl, glob, json, os, shutil, signal, socket, stat, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"

def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def syscall(x86, other, *arguments):
    """By its number on x86_64 and on others, which share theirs."""
    return check(libc.syscall(x86 if X86 else other, *arguments))

def escaped(what=""):
    print("ESCAPED", what, flush=True)

def read(path):
    with open(path, errors="replace") as file:
        print(file.read(10000), flush=True)

def write(path, text="changed"):
    with open(path, "w") as file:
        file.write(text)

def tried(call, *arguments):
    try:
        return call(*arguments)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        print(type(error).__name__, error, flush=True)

def mount(source, target, kind, flags, data=None):
    return check(libc.mount(source, target, kind, ctypes.c_ulong(flags), data))

def connect(path):
    with socket.socket(socket.AF_UNIX) as there:
        there.settimeout(5)
        there.connect("\\0" + path[1:] if path.startswith("@") else path)
        print(there.recv(100).decode(), flush=True)

def _know(text):
    global W, VICTIM, EVIL
    W = json.loads(text)
    VICTIM = W["victim"]
    EVIL = f"touch {W['outside']}/ran; false"

def may_write(path, flags=0):
    """Whether the kernel would let it, without doing it."""
    os.close(os.open(path, os.O_WRONLY | flags))
    escaped(f"it may write {path}")

def is_boxed():
    return os.path.ismount(W["home"]) and os.path.ismount("/tmp")

def processes():
    return [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
'''
NEEDS_ROOT: Final = "only root could do that anyway"
FIRST: Final = "the first process outside isn't part of the world"
TOO_MUCH: Final = "without a box, it would change this machine"


@dataclass(frozen=True)
class Attempt:
    """A script that runs in a box, with `W`, what it may know about the world outside.

    If it prints a line with ESCAPED, it has got out by its own account; what it has changed or read is found outside.
    """

    name: str
    script: str
    uncontrolled: str = ""
    """Why it isn't tried without a box, where it has to succeed; "" if it is."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    masks: tuple[str, ...] = ()
    """Paths below the world that the user's rules refuse."""
    folder: str = "project"
    """Where it runs, below the world."""
    needs_keyrings: bool = False


def _mask(name: str, script: str) -> Attempt:
    return Attempt(name, script, masks=("project/.env",))


WRITES: Final = (
    Attempt("write a file outside", 'write(W["outside"] + "/file")'),
    Attempt("make a file outside", 'write(W["outside"] + "/new")'),
    Attempt("write with ..", 'write("../outside/file")'),
    Attempt("write with many ..", 'write("../" * 40 + W["outside"].lstrip("/") + "/file")'),
    Attempt("append", 'open(W["outside"] + "/file", "a").write("more")'),
    Attempt("truncate", 'os.truncate(W["outside"] + "/file", 0)'),
    Attempt("write behind a symbolic link", 'os.symlink(W["outside"], "link")\nwrite("link/file")'),
    Attempt("write behind a link to a file", 'os.symlink(W["outside"] + "/file", "link")\nwrite("link")'),
    Attempt(
        "write behind a link in its own state",
        'os.symlink(W["outside"], W["state"] + "/x")\nwrite(W["state"] + "/x/file")',
    ),
    Attempt("write a hard link's other name", 'os.link(W["outside"] + "/file", "hard")\nwrite("hard")'),
    Attempt("hard link to a file outside", 'os.link(W["outside"] + "/file", "hard")'),
    Attempt(
        "hard link by a file descriptor",
        """
fd = os.open(W["outside"] + "/file", os.O_RDONLY)
check(libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b"hard", 0x400))
write("hard")""",
    ),
    Attempt("rename a file out", 'write("x")\nos.rename("x", W["outside"] + "/x")'),
    Attempt("rename a file in", 'os.rename(W["outside"] + "/file", "taken")'),
    Attempt(
        "exchange two files",
        """
write("x")
syscall(316, 276, -100, b"x", -100, (W["outside"] + "/file").encode(), 2)""",
    ),
    Attempt("remove a file outside", 'os.unlink(W["outside"] + "/file")'),
    Attempt("remove a folder outside", 'shutil.rmtree(W["outside"], ignore_errors=True)'),
    Attempt("change the mode of a file outside", 'os.chmod(W["outside"] + "/file", 0o777)'),
    Attempt("change a mode by a file descriptor", 'os.fchmod(os.open(W["outside"] + "/file", os.O_RDONLY), 0o777)'),
    Attempt(
        "open anew for writing by /proc/self/fd",
        """
fd = os.open(W["outside"] + "/file", os.O_RDONLY)
write(f"/proc/self/fd/{fd}")""",
    ),
    Attempt(
        "open a folder's file by openat",
        """
folder = os.open(W["outside"], os.O_PATH | os.O_DIRECTORY)
file = os.open("file", os.O_WRONLY, dir_fd=folder)
os.write(file, b"changed")""",
    ),
    Attempt(
        "write by a memory map",
        '''
import mmap
fd = os.open(W["outside"] + "/file", os.O_RDWR)
mmap.mmap(fd, 0)[:1] = b"X"''',
    ),
    Attempt(
        "a file without a name that gets one outside",
        """
fd = os.open(".", os.O_TMPFILE | os.O_WRONLY)
check(libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, (W["outside"] + "/named").encode(), 0x400))""",
    ),
    Attempt("a symbolic link outside", 'os.symlink("x", W["outside"] + "/link")'),
    Attempt("a named pipe outside", 'os.mkfifo(W["outside"] + "/pipe")'),
    Attempt("a socket outside", 'socket.socket(socket.AF_UNIX).bind(W["outside"] + "/made.sock")'),
    Attempt("rename the project", 'os.rename(W["project"], W["project"] + "-away")'),
    Attempt("rename the folder above the project", 'os.rename(W["root"], W["root"] + "-away")', TOO_MUCH),
    Attempt("write into the home folder", 'write(W["home"] + "/.profile")'),
    Attempt("append to the shell's startup file", 'open(W["home"] + "/.bashrc", "a").write("evil")'),
    Attempt(
        "start with the session",
        'os.makedirs(W["home"] + "/.config/autostart")\nwrite(W["home"] + "/.config/autostart/x.desktop")',
    ),
    Attempt(
        "write a unit of the user's systemd",
        'os.makedirs(W["home"] + "/.config/systemd/user")\nwrite(W["home"] + "/.config/systemd/user/x.service")',
    ),
    Attempt(
        "put a program on the user's path",
        'os.makedirs(W["home"] + "/.local/bin")\nwrite(W["home"] + "/.local/bin/ls")',
    ),
    Attempt("allow its own key", 'open(W["home"] + "/.ssh/authorized_keys", "w").write("ssh-ed25519 x")'),
    Attempt("write the user's git settings", 'open(W["home"] + "/.gitconfig", "a").write("[alias]\\n st = !evil")'),
    Attempt("write by git itself", 'subprocess.run(["git", "config", "--global", "alias.st", "!evil"], check=True)'),
    Attempt("write in a read-only sandbox", 'write("notes.txt")\nescaped("it wrote")', profile={"writable": []}),
    Attempt("make a file in a read-only sandbox", 'write("new")\nescaped("it wrote")', profile={"writable": []}),
    Attempt(
        "commit in a read-only sandbox",
        """
subprocess.run(["git", "commit", "--allow-empty", "-m", "x"], check=True)
escaped("it committed")""",
        profile={"writable": []},
    ),
)
READS: Final = (
    Attempt("read every secret file", 'for path in W["secret_files"]:\n    tried(read, path)'),
    *(
        Attempt(f"read {name}", f'read(W["home"] + "/{name}")')
        for name in (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".codex/auth.json", ".config/acp-tui/agents.toml")
    ),
    Attempt(
        "list the home folder",
        """
names = os.listdir(W["home"])
print(names)
if ".ssh" in names or "Documents" in names:
    escaped("it sees what there is")""",
    ),
    Attempt(
        "search everything",
        'subprocess.run(["grep", "-rIs", "secret-", W["root"], "/dev/shm"], timeout=20)',
        masks=("project/.env", "worktree/.env"),
    ),
    Attempt("read behind a symbolic link", 'os.symlink(W["home"] + "/.ssh", "keys")\nread("keys/id_ed25519")'),
    Attempt("read a hard link", 'os.link(W["home"] + "/.netrc", "hard")\nread("hard")'),
    Attempt(
        "find mounts below in another root",
        """
for process in processes():
    tried(read, f"/proc/{process}/root" + W["home"] + "/.netrc")""",
    ),
    Attempt("read through the first process's root", 'read("/proc/1/root" + W["home"] + "/.netrc")', FIRST),
    Attempt("read through the first process's folder", 'read("/proc/1/cwd/../home/.netrc")', FIRST),
    Attempt("read by the number of a process outside", 'read(f"/proc/{VICTIM}/root" + W["home"] + "/.netrc")'),
    Attempt(
        "read the open files of others",
        """
for process in processes():
    for file in tried(os.listdir, f"/proc/{process}/fd") or ():
        if os.path.isfile(f"/proc/{process}/fd/{file}"):
            tried(read, f"/proc/{process}/fd/{file}")""",
    ),
    Attempt(
        "read inherited files",
        """
for number in range(3, 300):
    try:
        kind = os.fstat(number).st_mode
    except OSError:
        continue
    escaped(f"{number} is open: {os.readlink(f'/proc/self/fd/{number}')}")
    if stat.S_ISREG(kind):
        print(os.pread(number, 1000, 0))""",
    ),
    Attempt(
        "open by a handle",
        """
class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("kind", ctypes.c_int), ("bytes", ctypes.c_ubyte * 128)]
handle, number = Handle(128), ctypes.c_int()
check(libc.name_to_handle_at(-100, (W["outside"] + "/file").encode(), ctypes.byref(handle), ctypes.byref(number), 0))
there = os.open(W["project"], os.O_RDONLY)
file = check(libc.open_by_handle_at(there, ctypes.byref(handle), os.O_WRONLY))
os.write(file, b"changed")""",
        NEEDS_ROOT,
    ),
    Attempt(
        "hide nothing by unmounting",
        """
for path in (W["home"], W["home"] + "/.ssh", "/tmp", "/run", "/root"):
    for flags in (0, 2, 8):
        if is_boxed():
            tried(lambda: check(libc.umount2(path.encode(), flags)))
for path in W["secret_files"]:
    tried(read, path)""",
        TOO_MUCH,
    ),
    Attempt("read the environment", "print(dict(os.environ))"),
    Attempt(
        "read the environment of the first process",
        'print(open("/proc/1/environ").read(), open("/proc/1/cmdline").read())',
        FIRST,
    ),
    Attempt(
        "read everyone's environment",
        """
for process in processes():
    tried(lambda: print(open(f"/proc/{process}/environ").read()))""",
    ),
    Attempt(
        "read the shadow passwords",
        """
text = open("/etc/shadow").read()
if ":" in text:
    escaped("it read them")""",
        TOO_MUCH,
    ),
    Attempt(
        "read the kernel's log",
        """
buffer = ctypes.create_string_buffer(4096)
if check(libc.klogctl(3, buffer, 4096)) > 0:
    escaped("it read the log")""",
        NEEDS_ROOT,
    ),
    Attempt("read the user's other project", 'read(W["home"] + "/Documents/diary.txt")'),
    Attempt("read acp-tui's recordings", 'read(W["home"] + "/.local/state/acp-tui/recordings/r.jsonl")'),
    Attempt("read a cache of another program", 'read(W["home"] + "/.cache/other/token")'),
    Attempt(
        "read the places of the sandbox",
        """
for mount in open("/proc/self/mountinfo"):
    for path in {mount.split()[4]}:
        for name in (".ssh/id_ed25519", ".netrc", "home/.netrc"):
            tried(read, os.path.join(path, name))
read(W["home"] + "/.netrc")""",
    ),
    _mask("read what a rule refuses", 'read(".env")'),
    _mask("read what a rule refuses, by a link", 'os.symlink(".env", "x")\nread("x")'),
    _mask("rename what a rule refuses", 'os.rename(".env", "x")\nread("x")'),
    _mask("link what a rule refuses", 'os.link(".env", "x")\nread("x")'),
    _mask("replace what a rule refuses", 'write("x")\nos.rename("x", ".env")'),
    _mask("remove what a rule refuses", 'os.unlink(".env")'),
    _mask(
        "rename the folder of what a rule refuses",
        'os.rename(W["project"], W["project"] + "-away")\nread(W["project"] + "-away/.env")',
    ),
)
RUNS_LATER: Final = (
    *(
        Attempt(f"change {name}", f'write("{name}")')
        for name in (".envrc", ".vscode/tasks.json", ".claude/settings.json", ".mcp.json", ".husky/pre-commit")
    ),
    Attempt("remove .envrc and make it anew", 'os.unlink(".envrc")\nwrite(".envrc")'),
    Attempt("rename over .envrc", 'write("x")\nos.rename("x", ".envrc")'),
    Attempt("exchange .envrc", 'write("x")\nsyscall(316, 276, -100, b"x", -100, b".envrc", 2)'),
    Attempt(
        "rename the folder of tasks", 'os.rename(".vscode", ".old")\nos.mkdir(".vscode")\nwrite(".vscode/tasks.json")'
    ),
    Attempt("put a hook into git", 'os.makedirs(".git/hooks", exist_ok=True)\nwrite(".git/hooks/pre-commit")'),
    Attempt(
        "replace git's hooks",
        'os.rename(".git/hooks", ".git/old")\nos.mkdir(".git/hooks")\nwrite(".git/hooks/pre-commit")',
    ),
    Attempt("set git's hooks elsewhere", 'subprocess.run(["git", "config", "core.hooksPath", "hooks"], check=True)'),
    Attempt("write git's settings", 'open(".git/config", "a").write("[core]\\n fsmonitor = evil")'),
    Attempt("replace git's settings", 'write(".git/x", "[core]")\nos.rename(".git/x", ".git/config")'),
    Attempt(
        "lead git to settings elsewhere",
        """
shutil.copytree(".git", "x")
subprocess.run(["git", "config", "--file", "x/config", "core.fsmonitor", EVIL], check=True)
write(".git/commondir", "../x")""",
    ),
    Attempt(
        "lead the worktree to settings elsewhere",
        """
there = subprocess.check_output(["git", "rev-parse", "--git-dir"], text=True).strip()
common = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True).strip()
shutil.copytree(common, "x")
subprocess.run(["git", "config", "--file", "x/config", "core.fsmonitor", EVIL], check=True)
write(there + "/commondir", os.path.abspath("x"))""",
        folder="worktree",
    ),
    Attempt(
        "give the repository settings of a worktree",
        """
write(".git/config.worktree", f"[core]\\nfsmonitor = {EVIL}")
subprocess.run(["git", "config", "extensions.worktreeConfig", "true"], check=True)""",
    ),
    Attempt("rename .git", 'os.rename(".git", "old")\nsubprocess.run(["git", "init"])'),
    Attempt("exchange .git", 'os.mkdir("x")\nsyscall(316, 276, -100, b"x", -100, b".git", 2)'),
    Attempt("remove .git", 'shutil.rmtree(".git", ignore_errors=True)\nos.rmdir(".git")'),
    Attempt("make .git a file", 'shutil.rmtree(".git", ignore_errors=True)\nwrite(".git", "gitdir: /tmp/x")'),
    Attempt("let the worktree point elsewhere", 'write(".git", "gitdir: /tmp/evil")', folder="worktree"),
    Attempt(
        "rename the worktree's pointer", 'os.rename(".git", "x")\nwrite(".git", "gitdir: /tmp/evil")', folder="worktree"
    ),
    Attempt(
        "put a hook into the worktree's repository",
        """
common = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True).strip()
os.makedirs(common + "/hooks", exist_ok=True)
write(common + "/hooks/pre-commit")""",
        folder="worktree",
    ),
    Attempt(
        "write the settings of the worktree's repository",
        """
subprocess.run(["git", "config", "core.hooksPath", "hooks"], check=True)""",
        folder="worktree",
    ),
    Attempt(
        "give the worktree settings of its own",
        """
subprocess.run(["git", "config", "extensions.worktreeConfig", "true"], check=True)
subprocess.run(["git", "config", "--worktree", "core.hooksPath", "hooks"], check=True)""",
        folder="worktree",
    ),
    Attempt("change what it runs itself later", 'write(W["state"] + "/settings.json", "{\\"hooks\\": 1}")'),
    Attempt(
        "replace what it runs itself later",
        'write(W["state"] + "/x")\nos.rename(W["state"] + "/x", W["state"] + "/settings.json")',
    ),
    Attempt(
        "put a hook of its own", 'os.makedirs(W["state"] + "/hooks", exist_ok=True)\nwrite(W["state"] + "/hooks/x")'
    ),
    Attempt("rename its own state", 'os.rename(W["state"], W["home"] + "/.old")'),
)
PROCESSES: Final = (
    Attempt("signal a process outside", "os.kill(VICTIM, signal.SIGUSR1)\ntime.sleep(0.3)"),
    Attempt("end a process outside", "os.kill(VICTIM, signal.SIGKILL)\ntime.sleep(0.3)"),
    Attempt("stop a process outside", "os.kill(VICTIM, signal.SIGSTOP)\ntime.sleep(0.3)"),
    Attempt("signal all processes", "if is_boxed():\n    os.kill(-1, signal.SIGUSR1)", TOO_MUCH),
    Attempt(
        "signal by the number in the victim's group",
        "os.killpg(os.getpgid(VICTIM), signal.SIGUSR1)\ntime.sleep(0.3)",
        "the victim's group has others",
    ),
    Attempt(
        "signal by a file's owner",
        """
reading, writing = os.pipe()
fcntl.fcntl(reading, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(reading, 10, signal.SIGUSR1)
fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
os.write(writing, b"x")
time.sleep(0.3)""",
    ),
    Attempt(
        "signal by a pidfd",
        "fd = syscall(434, 434, VICTIM, 0)\nsyscall(424, 424, fd, signal.SIGUSR1, None, 0)\ntime.sleep(0.3)",
    ),
    Attempt(
        "take a file by a pidfd",
        """
fd = syscall(434, 434, VICTIM, 0)
file = syscall(438, 438, fd, 0, 0)
print(os.pread(file, 1000, 0))""",
    ),
    Attempt("trace a process outside", 'check(libc.ptrace(16, VICTIM, None, None))\nescaped("it traces it")'),
    Attempt("seize a process outside", 'check(libc.ptrace(0x4206, VICTIM, None, None))\nescaped("it traces it")'),
    Attempt(
        "trace the one that started it",
        'check(libc.ptrace(0x4206, W["runner"], None, None))\nescaped("it traces it")',
        "the tests would stop",
    ),
    Attempt(
        "read memory by /proc/PID/mem",
        """
for line in open(f"/proc/{VICTIM}/maps"):
    if "[stack]" in line or "[heap]" in line:
        start, end = (int(number, 16) for number in line.split()[0].split("-"))
        with open(f"/proc/{VICTIM}/mem", "rb") as memory:
            memory.seek(start)
            print(memory.read(end - start))""",
    ),
    Attempt(
        "read memory by process_vm_readv",
        """
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(16)
here = Vector(ctypes.cast(buffer, ctypes.c_void_p), 16)
address = int(os.environ.get("ADDRESS", "0")) or next(
    (int(line.split("-")[0], 16) for line in open(f"/proc/{VICTIM}/maps") if "[stack]" in line), 4096)
check(libc.process_vm_readv(VICTIM, ctypes.byref(here), 1, ctypes.byref(Vector(address, 16)), 1, 0))
escaped("it read its memory")""",
    ),
    Attempt("read the environment of a process outside", 'print(open(f"/proc/{VICTIM}/environ").read())'),
    Attempt(
        "see other processes",
        """
names = {tried(lambda: open(f"/proc/{number}/cmdline").read()) for number in processes()}
if any("/signaled" in (name or "") and "ESCA" not in name for name in names):
    escaped("it sees the victim")""",
    ),
    Attempt(
        "change the priority of a process outside", 'os.setpriority(os.PRIO_PROCESS, VICTIM, 15)\nescaped("it did")'
    ),
    Attempt("move a process outside to one processor", 'os.sched_setaffinity(VICTIM, {0})\nescaped("it did")'),
    Attempt(
        "limit a process outside",
        """
import resource
resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (3, 3))
escaped("it did")""",
    ),
    Attempt("sacrifice a process outside", 'write(f"/proc/{VICTIM}/oom_score_adj", "1000")\nescaped("it did")'),
    Attempt(
        "load code into acp-tui",
        """
packages = W["home"] + "/.local/lib/python3.11/site-packages"
os.makedirs(packages)
write(packages + "/x.pth", "import evil")""",
    ),
    Attempt("load a library into every program", 'may_write("/etc/ld.so.cache")', NEEDS_ROOT),
    Attempt("write what acp-tui starts", 'write(W["home"] + "/.config/acp-tui/agents.toml", "evil")'),
    Attempt(
        "outlive its box",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1.5)
        connect(W["sockets"]["service"])
        os._exit(0)
    os._exit(0)
os.wait()""",
        "what ends it is the box",
    ),
)
SERVICES: Final = (
    *(
        Attempt(f"reach the socket of {name}", f'connect(W["sockets"]["{name}"])')
        for name in ("ssh", "gpg", "X11", "Wayland", "D-Bus", "service", "acp-tui", "abstract")
    ),
    Attempt("reach a socket of the system", 'connect(W["sockets"].get("system") or W["sockets"]["D-Bus"])'),
    Attempt("reach a socket behind a link", 'os.symlink(W["sockets"]["service"], "s")\nconnect("s")'),
    Attempt("reach sockets by the environment", 'connect(os.environ["SSH_AUTH_SOCK"])'),
    Attempt("reach a socket by its folder", 'os.chdir(os.path.dirname(W["sockets"]["gpg"]))\nconnect("S.gpg-agent")'),
    Attempt(
        "send a datagram to an abstract socket",
        """
there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
there.connect("\\0" + W["sockets"]["abstract"][1:])""",
    ),
    Attempt(
        "reach this machine without a network",
        'socket.create_connection(("127.0.0.1", W["port"]), 3)',
        profile={"network": False},
    ),
    Attempt(
        "reach an abstract socket without a network", 'connect(W["sockets"]["abstract"])', profile={"network": False}
    ),
    Attempt("reach a socket without a network", 'connect(W["sockets"]["service"])', profile={"network": False}),
    Attempt(
        "send anything without a network",
        """
there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
there.connect(("192.0.2.1", 53))
escaped("there is a way")""",
        profile={"network": False},
    ),
    Attempt("make a raw socket", 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nescaped("it did")', NEEDS_ROOT),
    Attempt(
        "make a packet socket", 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)\nescaped("it did")', NEEDS_ROOT
    ),
    Attempt(
        "change the network",
        """
there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
as_it_is = fcntl.ioctl(there, 0x8913, struct.pack("16sh14x", b"lo", 0))
fcntl.ioctl(there, 0x8914, as_it_is)
escaped("it did")""",
        TOO_MUCH,
    ),
)
MEMORY: Final = (
    Attempt(
        "read shared memory of System V",
        """
libc.shmat.restype = ctypes.c_void_p
where = libc.shmat(W["segment"], None, 0o10000)
if where in (None, ctypes.c_void_p(-1).value):
    raise OSError(ctypes.get_errno(), "no segment")
print(ctypes.string_at(where, 100))""",
    ),
    Attempt(
        "list shared memory of System V",
        """
if str(W["segment"]) in open("/proc/sysvipc/shm").read().split():
    escaped("it sees it")""",
    ),
    Attempt("remove shared memory of System V", 'check(libc.shmctl(W["segment"], 0, None))\nescaped("it did")'),
    Attempt("read POSIX shared memory", 'read("/dev/shm/" + W["posix"])'),
    Attempt(
        "write POSIX shared memory", 'if os.path.exists("/dev/shm/" + W["posix"]):\n    write("/dev/shm/" + W["posix"])'
    ),
    Attempt(
        "read a key of the session",
        """
key = syscall(249, 218, b"user", W["posix"].encode(), None, 0)
buffer = ctypes.create_string_buffer(200)
syscall(250, 219, 11, key, buffer, 200, 0)
print(buffer.value)""",
        needs_keyrings=True,
    ),
    Attempt(
        "search the user's keyring",
        """
for ring in (-3, -4, -5):
    def find():
        key = syscall(250, 219, 10, ring, b"user", W["posix"].encode(), 0)
        buffer = ctypes.create_string_buffer(200)
        syscall(250, 219, 11, key, buffer, 200, 0)
        print(buffer.value)
    tried(find)""",
        needs_keyrings=True,
    ),
    Attempt(
        "read all keys it sees",
        """
for line in open("/proc/keys"):
    def find():
        buffer = ctypes.create_string_buffer(200)
        syscall(250, 219, 11, int(line.split()[0], 16), buffer, 200, 0)
        print(buffer.value)
    tried(find)""",
        needs_keyrings=True,
    ),
)
KERNEL: Final = (
    Attempt(
        "mount a file system",
        'os.mkdir("x")\nmount(b"none", b"x", b"tmpfs", 0)\nescaped("it did")\nlibc.umount2(b"x", 2)',
        TOO_MUCH,
    ),
    Attempt(
        "bind a folder elsewhere",
        'os.mkdir("x")\nmount(W["outside"].encode(), b"x", None, 4096)\nescaped("it did")',
        TOO_MUCH,
    ),
    Attempt(
        "make a mount writable",
        'mount(None, W["outside"].encode(), None, 32 | 4096)\nwrite(W["outside"] + "/file")',
        TOO_MUCH,
    ),
    Attempt("make the root writable", 'mount(None, b"/", None, 32)\nwrite(W["outside"] + "/file")', TOO_MUCH),
    Attempt(
        "unmount what covers",
        """
for path in (W["home"], "/tmp", "/run", "/proc", "/") if is_boxed() else ():
    if tried(lambda: check(libc.umount2(path.encode(), 2))) is not None:
        escaped("it did")""",
        TOO_MUCH,
    ),
    Attempt("copy a tree of mounts", 'syscall(428, 428, -100, b"/", 1)\nescaped("it did")', TOO_MUCH),
    Attempt("open a file system", 'syscall(430, 430, b"tmpfs", 0)\nescaped("it did")', NEEDS_ROOT),
    Attempt(
        "change a mount by its attributes",
        """
syscall(442, 442, -100, W["outside"].encode(), 0, struct.pack("=QQQQ", 0, 1, 0, 0), 32)
write(W["outside"] + "/file")""",
        TOO_MUCH,
    ),
    Attempt("change the root", 'os.chroot("/tmp")\nescaped("it did")', NEEDS_ROOT),
    Attempt(
        "exchange the root",
        'os.makedirs("/tmp/new/old")\nsyscall(155, 41, b"/tmp/new", b"/tmp/new/old")\nescaped("it did")',
        NEEDS_ROOT,
    ),
    Attempt(
        "leave a changed root by a file descriptor",
        """
there = os.open("/", os.O_RDONLY)
os.makedirs("/tmp/jail", exist_ok=True)
tried(os.chroot, "/tmp/jail")
os.fchdir(there)
for _ in range(40):
    os.chdir("..")
read("." + W["home"] + "/.netrc")""",
    ),
    Attempt("make a user namespace", 'check(libc.unshare(0x10000000))\nescaped("it did")'),
    Attempt(
        "make a user namespace by clone",
        """
child = libc.syscall(56 if X86 else 220, 0x10000000 | signal.SIGCHLD, None, None, None, None)
if child == 0:
    os._exit(0)
check(child)
escaped("it did")""",
    ),
    Attempt("make a mount namespace", 'check(libc.unshare(0x20000))\nescaped("it did")', NEEDS_ROOT),
    Attempt(
        "make a sandbox in the sandbox",
        'subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=True)\nescaped("it did")',
    ),
    Attempt(
        "enter the namespaces of another process",
        """
for process in (VICTIM, 1):
    for kind in ("user", "mnt", "pid", "net", "ipc"):
        def enter():
            check(libc.setns(os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY), 0))
            escaped(f"it is in {kind}")
        tried(enter)""",
        TOO_MUCH,
    ),
    Attempt(
        "enter namespaces by a pidfd",
        'fd = syscall(434, 434, VICTIM, 0)\ncheck(libc.setns(fd, 0x20000))\nescaped("it did")',
        NEEDS_ROOT,
    ),
    Attempt(
        "raise the limit of user namespaces",
        'may_write("/proc/sys/user/max_user_namespaces")',
        TOO_MUCH,
    ),
    Attempt(
        "choose what runs after a crash",
        'may_write("/proc/sys/kernel/core_pattern")',
        TOO_MUCH,
    ),
    Attempt("choose what loads modules", 'may_write("/proc/sys/kernel/modprobe")', TOO_MUCH),
    Attempt("choose what hotplug runs", 'may_write("/sys/kernel/uevent_helper")', TOO_MUCH),
    Attempt(
        "register a binary format",
        'may_write("/proc/sys/fs/binfmt_misc/register")',
        TOO_MUCH,
    ),
    Attempt(
        "write any setting of the kernel",
        """
for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            escaped(os.path.join(folder, name))
        except OSError:
            pass""",
        TOO_MUCH,
    ),
    Attempt(
        "write anything in /sys",
        """
found = 0
for folder, names, files in os.walk("/sys"):
    names[:] = [name for name in names if folder.count("/") < 4]
    for name in files:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            escaped(os.path.join(folder, name))
        except OSError:
            pass""",
        TOO_MUCH,
    ),
    Attempt("press the magic key", 'write("/proc/sysrq-trigger", "h")\nescaped("it did")', TOO_MUCH),
    Attempt(
        "leave through a release agent of a cgroup",
        """
for path in glob.glob("/sys/fs/cgroup/**/release_agent", recursive=True) + glob.glob("/sys/fs/cgroup/release_agent"):
    tried(may_write, path)""",
        TOO_MUCH,
    ),
    Attempt(
        "make a cgroup",
        """
for path in ("/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*")):
    tried(lambda: (os.mkdir(path + "/evil"), escaped(path), os.rmdir(path + "/evil")))""",
        TOO_MUCH,
    ),
    Attempt(
        "move to another cgroup",
        """
for path in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True):
    tried(may_write, path)""",
        TOO_MUCH,
    ),
    Attempt("make a device", 'os.mknod("null", 0o666 | stat.S_IFBLK, os.makedev(253, 0))\nescaped("it did")', TOO_MUCH),
    Attempt(
        "make a character device",
        'os.mknod("mem", 0o666 | stat.S_IFCHR, os.makedev(1, 1))\nescaped("it did")',
        NEEDS_ROOT,
    ),
    Attempt(
        "read memory by a device",
        """
for name in ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"):
    tried(lambda: (os.read(os.open(name, os.O_RDONLY), 16) and escaped(name)))""",
        TOO_MUCH,
    ),
    Attempt(
        "read a disk",
        """
for name in glob.glob("/dev/[svx]d*") + glob.glob("/dev/nvme*") + glob.glob("/dev/dm-*"):
    tried(lambda: (os.open(name, os.O_RDONLY), escaped(name)))""",
        TOO_MUCH,
    ),
    Attempt(
        "see devices",
        """
usual = "null zero full random urandom tty ptmx pts shm fd stdin stdout stderr core console"
others = set(os.listdir("/dev")) - set(usual.split())
if others:
    escaped(f"it sees {others}")""",
    ),
    Attempt(
        "load a module",
        """
with open("x.ko", "wb") as file:
    file.write(b"no module")
try:
    syscall(313, 273, os.open("x.ko", os.O_RDONLY), b"", 0)
except OSError as error:
    if error.errno not in (errno.EPERM, errno.ENOSYS):
        escaped(f"it was let in as far as {error}")""",
        NEEDS_ROOT,
    ),
    Attempt(
        "load a kernel",
        """
try:
    syscall(320, 294, -1, -1, 0, b"", 0)
except OSError as error:
    if error.errno not in (errno.EPERM, errno.ENOSYS):
        escaped(str(error))""",
        NEEDS_ROOT,
    ),
    Attempt(
        "restart the machine",
        """
try:
    syscall(169, 142, 0, 0, 0, None)  # who may do it is asked first, and then for the magic numbers
except OSError as error:
    if error.errno != errno.EPERM:
        escaped(str(error))""",
        TOO_MUCH,
    ),
    Attempt(
        "load a program into the kernel",
        """
code = struct.pack("=BBhi", 0xb7, 0, 0, 0) + struct.pack("=BBhi", 0x95, 0, 0, 0)
buffer, license = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
attributes = struct.pack("=IIQQ", 1, 2, ctypes.addressof(buffer), ctypes.addressof(license)) + bytes(100)
syscall(321, 280, 5, attributes, len(attributes))
escaped("it did")""",
        NEEDS_ROOT,
    ),
    Attempt(
        "watch the whole machine by perf",
        """
attributes = struct.pack("=IIQ", 1, 112, 0) + bytes(96)
syscall(298, 241, attributes, -1, 0, -1, 0)
escaped("it did")""",
        NEEDS_ROOT,
    ),
    Attempt("handle faults of the kernel", 'syscall(323, 282, 0)\nescaped("it did")', NEEDS_ROOT),
    Attempt("use ports", 'if X86:\n    check(libc.iopl(3))\n    escaped("it did")', NEEDS_ROOT),
    Attempt(
        "name the machine",
        """
socket.sethostname(socket.gethostname())
escaped("it did")""",
        TOO_MUCH,
    ),
    Attempt("set the clock", 'time.clock_settime(time.CLOCK_REALTIME, time.time())\nescaped("it did")', TOO_MUCH),
    Attempt(
        "write to everyone's log of the kernel",
        'os.write(os.open("/dev/kmsg", os.O_WRONLY), b"evil")\nescaped("it did")',
        TOO_MUCH,
    ),
    Attempt(
        "type on the terminal",
        """
terminal = os.open("/dev/tty", os.O_RDWR)
fcntl.ioctl(terminal, 0x5412, b" ")
escaped("it did")""",
        "the tests have no terminal",
    ),
    Attempt(
        "take another terminal",
        """
for name in glob.glob("/dev/pts/[0-9]*") + glob.glob("/dev/tty[0-9]*") + ["/dev/console"]:
    tried(may_write, name, os.O_NOCTTY)""",
        TOO_MUCH,
    ),
    Attempt(
        "be root by a setuid program",
        """
for program in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newgrp"):
    if os.path.exists(program) and os.stat(program).st_mode & stat.S_ISUID:
        print(program, subprocess.run([program, "--version"], capture_output=True, timeout=5).returncode)
for line in open("/proc/self/status"):
    if line.startswith("NoNewPrivs") and line.split()[1] != "1":
        escaped("programs can give it rights")""",
    ),
    Attempt(
        "have any capability",
        """
for line in open("/proc/self/status"):
    if line.startswith(("CapEff", "CapPrm", "CapBnd", "CapAmb")) and int(line.split()[1], 16):
        escaped(line)""",
    ),
    Attempt("become another user", 'os.setuid(1 if os.getuid() != 1 else 2)\nescaped("it did")', NEEDS_ROOT),
    Attempt("join another group", 'os.setgroups([0, 27])\nescaped("it did")', NEEDS_ROOT),
    Attempt(
        "make a setuid program outside",
        'shutil.copy("/bin/true", W["outside"] + "/x")\nos.chmod(W["outside"] + "/x", 0o4755)',
    ),
    Attempt("map its users anew", 'write("/proc/self/uid_map", "0 0 1")\nescaped("it did")', TOO_MUCH),
    Attempt("allow itself to set groups", 'write("/proc/self/setgroups", "allow")\nescaped("it did")', NEEDS_ROOT),
    Attempt("replace its program's file", 'fd = os.open("/proc/self/exe", os.O_RDWR)\nescaped("it did")', TOO_MUCH),
    Attempt("replace what made the box", 'fd = os.open("/proc/1/exe", os.O_RDWR)\nescaped("it did")', TOO_MUCH),
    Attempt(
        "unload Landlock by running something",
        """
subprocess.run([sys.executable, "-I", "-S", "-c",
    f"import os, signal, time; os.kill({VICTIM}, signal.SIGUSR1); time.sleep(0.3)"])""",
    ),
    Attempt(
        "quota, swap, and accounting",
        """
for call in (lambda: check(libc.acct(b"/nothing/x")), lambda: check(libc.swapoff(b"/nothing/x"))):
    try:
        call()
        escaped("it did")
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS):
            escaped(str(error))""",
        NEEDS_ROOT,
    ),
)
ATTEMPTS: Final = (*WRITES, *READS, *RUNS_LATER, *PROCESSES, *SERVICES, *MEMORY, *KERNEL)

BEYOND_LANDLOCK: Final = frozenset(
    {
        *(attempt.name for attempt in SERVICES if "abstract" not in attempt.name or attempt.profile),
        *(attempt.name for attempt in (*MEMORY, *RUNS_LATER) if "key" not in attempt.name),
        *(attempt.name for attempt in ATTEMPTS if attempt.masks or "network" in attempt.profile),
        *("change the mode of a file outside", "change a mode by a file descriptor"),
        *("see other processes", "change the priority of a process outside"),
        *("move a process outside to one processor", "limit a process outside"),
        *("make a user namespace", "make a user namespace by clone", "make a sandbox in the sandbox"),
        *("have any capability", "see devices", "outlive its box", "take another terminal"),
    }
)
"""Attempts that Landlock can't stop. It leaves more to the user who runs it: it knows files, signals, and tracing."""


HERE: Final = Path(__file__).parent
NOBODY: Final = 65534
ROOT_OR_USER: Final = "root" if os.getuid() == 0 else "user"
USERS: Final = (ROOT_OR_USER, "another user")
PROBE: Final = ("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true")
OWN_SRV: Final = 'mount -t tmpfs -o mode=700,uid={owner} tmpfs /srv && exec "$@"'
TRY: Final = "import subprocess, sys, box_world; subprocess.run([sys.executable, '-c', ''], check=True)"


class Runner:
    """A process of a user that runs scripts in worlds of their own."""

    def __init__(self, user: str) -> None:
        self._is_nobody = user == "another user"
        if self._is_nobody and os.getuid() != 0:
            pytest.skip("only root can become another user")
        if shutil.which("bwrap") is None:
            pytest.skip("bubblewrap isn't installed")
        self._prefix: list[str] = []
        owner = NOBODY if self._is_nobody else os.getuid()
        # In /srv, which a box shows, unlike /tmp. Boxes of other tests don't see this one's services come and go there.
        own_srv = ("unshare", "--mount", "--", "sh", "-c", OWN_SRV.format(owner=owner), "sh")
        self.above = Path("/srv")
        if subprocess.run((*own_srv, "true"), capture_output=True, check=False).returncode == 0:
            self._prefix += own_srv
        else:
            self.above = Path(tempfile.mkdtemp(prefix="acp-tui-boxes-"))
            os.chown(self.above, owner, -1)
        packages = [str(HERE.parents[1]), *(path for path in sys.path if path.endswith("-packages"))]
        self._environment = {"PATH": os.defpath, "HOME": str(self.above), "PYTHONPATH": os.pathsep.join(packages)}
        if self._is_nobody:
            self._prefix += ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        probe = [*self._prefix, *PROBE]
        probed = subprocess.run(probe, env=self._environment, capture_output=True, text=True, check=False)
        if probed.returncode:
            pytest.skip(f"the system refuses user namespaces: {probed.stderr.strip()}")
        self._python = self._found()
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._python, "-m", "box_world"],
            cwd=HERE,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _found(self) -> list[str]:
        """A Python that the user can run."""
        if not self._is_nobody:
            return [*self._prefix, sys.executable]
        for python in (sys.executable, "/usr/bin/python3"):
            tried = subprocess.run(
                [*self._prefix, python, "-c", TRY], cwd=HERE, env=self._environment, capture_output=True, check=False
            )
            if tried.returncode == 0:
                return [*self._prefix, python]
        pytest.skip("another user can't run Python and these tests here")

    def ask(self, attempt: Attempt, *, boxed: bool, engine: str = "bubblewrap") -> Any:
        if self._process.poll() is not None:
            self._process = self._started()
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {**asdict(attempt), "prelude": PRELUDE, "boxed": boxed, "above": str(self.above)}
        request["profile"] = {**attempt.profile, "engine": engine}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            pytest.fail("what runs the attempts has ended")
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        if self.above != Path("/srv"):
            shutil.rmtree(self.above, ignore_errors=True)


@pytest.fixture(scope="module", params=USERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    started = Runner(request.param)
    yield started
    started.close()


@pytest.fixture(scope="module")
def own_runner() -> Iterator[Runner]:
    if landlock.abi() < landlock.SCOPES_ABI:
        pytest.skip("this kernel's Landlock knows no scopes")
    started = Runner(ROOT_OR_USER)
    yield started
    started.close()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_nothing_gets_out(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=True)
    assert not answer["alarms"], answer["output"]


@pytest.mark.parametrize(
    "attempt",
    [attempt for attempt in ATTEMPTS if attempt.name not in BEYOND_LANDLOCK],
    ids=lambda attempt: attempt.name,
)
def test_what_landlock_knows_does_not_get_out(attempt: Attempt, own_runner: Runner) -> None:
    answer = own_runner.ask(attempt, boxed=True, engine="landlock")
    assert not answer["alarms"], answer["output"]


@pytest.mark.parametrize(
    "attempt", [attempt for attempt in ATTEMPTS if not attempt.uncontrolled], ids=lambda attempt: attempt.name
)
def test_without_a_box_it_would(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=False)
    if attempt.needs_keyrings and not answer["has_keyrings"]:
        pytest.skip("the kernel keeps no keys for this user")
    assert answer["alarms"], answer["output"]


WORKS: Final = (
    Attempt("its login", 'read(W["state"] + "/login.json")\nprint("done")'),
    Attempt("a login behind a link", 'read(W["home"] + "/.linked/login.json")\nprint("done")'),
    Attempt("writing its state behind a link", 'write(W["home"] + "/.linked/new")\nprint("done")'),
    Attempt("the workspace", 'write("new")\nos.rename("new", "newer")\nos.unlink("newer")\nprint("done")'),
    Attempt("a commit", 'subprocess.run(["git", "commit", "--allow-empty", "-m", "x"], check=True)\nprint("done")'),
    Attempt(
        "a commit in a worktree",
        'subprocess.run(["git", "commit", "--allow-empty", "-m", "x"], check=True)\nprint("done")',
        folder="worktree",
    ),
    Attempt("a file in /tmp", 'write("/tmp/x")\nwrite("/var/tmp/x")\nprint("done")'),
    Attempt("a cache", 'os.makedirs(W["home"] + "/.cache/tool")\nwrite(W["home"] + "/.cache/tool/x")\nprint("done")'),
    Attempt("a terminal", 'import pty\npty.spawn(["true"])\nprint("done")'),
    Attempt("a socket of its own", 'socket.socket(socket.AF_UNIX).bind("/tmp/own.sock")\nprint("done")'),
)


@pytest.mark.parametrize("attempt", WORKS, ids=lambda attempt: attempt.name)
def test_what_agents_need_works(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=True)
    assert answer["output"].endswith("done\n")
