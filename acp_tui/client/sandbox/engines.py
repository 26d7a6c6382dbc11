"""Chooses what enforces a box on this system, and says how to start a program in it. Without one, nothing starts."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.processes import landlock
from acp_tui.client.processes.guard import Confinement
from acp_tui.client.sandbox import Access, engine_rules
from acp_tui.client.sandbox.box import Box
from acp_tui.values import dataclass

_PROBE_LIMIT_S: Final = 10.0
_INSTALL: Final = {
    "apt-get": "apt install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "pacman": "pacman -S bubblewrap",
}
_DISABLE_USERNS_SINCE: Final = (0, 8)


class NoEngine(AgentNotRunnable):
    """No sandbox can be made, so the agent doesn't start."""


@dataclass(frozen=True, slots=True)
class Way:
    confinement: Confinement
    environment: Mapping[str, str]
    """For what leads in, complete."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What enforces boxes."""

    name: str
    program: str = ""
    """Its path; "" if processes confine themselves."""
    gaps: tuple[str, ...] = ()
    """What it can't do here, as sentences."""

    @property
    def version(self) -> str:
        """The version of what enforces; "" if that is the system's. Blocks."""
        if self.name == "landlock":
            return f"ABI {landlock.abi()}"
        return ".".join(map(str, _version(self.program))) if self.program else ""

    def way_into(self, box: Box, folder: Path, extra: Mapping[str, str]) -> Way:
        """How to start a program in `folder`, with `extra` variables. Blocks. Raises NoEngine."""
        if self.name == "bubblewrap":
            words = engine_rules.bubblewrap_arguments(
                box, folder, extra, has_disable_userns=_version(self.program) >= _DISABLE_USERNS_SINCE
            )
            data = b"".join(os.fsencode(word) + b"\0" for word in words)
            is_setuid = _is_setuid(self.program) and os.getuid() != 0
            return Way(Confinement((self.program, "--args", "{fd}", "--"), data, None, is_setuid), {})
        environment = {**box.environment, "TMPDIR": str(box.tmp), "XDG_CACHE_HOME": f"{box.tmp}/cache"}
        if self.name == "landlock":
            return Way(Confinement(places=engine_rules.landlock_places(box)), {**environment, **extra})
        # An agent chose the extra variables, and they must not change what leads in.
        setting = ("/usr/bin/env", *(f"{name}={value}" for name, value in extra.items())) if extra else ()
        if self.name == "seatbelt":
            return Way(Confinement((self.program, "-p", engine_rules.seatbelt_profile(box), *setting)), environment)
        return Way(
            Confinement((self.program, "--settings", str(engine_rules.srt_settings(box)), "--", *setting)), environment
        )


def engine_for(box: Box) -> Engine:
    """The engine that the box's profile names, or the best one here. Blocks. Raises NoEngine."""
    wanted = box.profile.engine
    if wanted == "auto":
        return _best(box)
    if wanted == "landlock":
        return _landlock(box, "")
    if wanted == "bubblewrap":
        return _bubblewrap()
    name = {"seatbelt": "sandbox-exec", "srt": "srt"}[wanted]
    program = shutil.which(name)
    if program is None:
        hint = "it is part of macOS" if wanted == "seatbelt" else "npm install -g @anthropic-ai/sandbox-runtime"
        raise NoEngine(f"the sandbox needs {name}, which isn't on PATH", hint=hint)
    return Engine(wanted, program)


def _best(box: Box) -> Engine:
    if sys.platform == "darwin":
        return Engine("seatbelt", "/usr/bin/sandbox-exec")
    engine = _bubblewrap()
    refused = _why_refused(engine.program)
    return _landlock(box, refused) if refused else engine


def _bubblewrap() -> Engine:
    program = shutil.which("bwrap")
    if program is None:
        how = next((how for tool, how in _INSTALL.items() if shutil.which(tool)), "install the package bubblewrap")
        raise NoEngine("the sandbox needs bubblewrap, which isn't installed", hint=f"{how}, or --sandbox=off")
    gaps = [] if landlock.abi() >= landlock.SCOPES_ABI else [_ABSTRACT_SOCKETS]
    gaps += [_WSL] if "microsoft" in os.uname().release.lower() else []
    return Engine("bubblewrap", program, tuple(gaps))


_ABSTRACT_SOCKETS: Final = (
    "With the network on, this kernel (before 6.12) lets it connect to abstract sockets, which some desktops have."
)
_WSL: Final = "Windows may run a program that it brings with it, outside the sandbox (WSL interop)."
_LANDLOCK_GAPS: Final = (
    "It can connect to the sockets of services, such as Docker's, if you can.",
    "It sees your other processes and can limit them, but not read their memory, variables, and files.",
    "It can change who may use your files, and when they were changed, but not what is in them.",
    "It can read what you type in your terminals, and write to them.",
    "It shares the memory that other programs share by System V's calls.",
    "It can change what runs later: git's settings and hooks, settings of editors, and its own.",
)


def _landlock(box: Box, why: str) -> Engine:
    if not landlock.abi():
        reason = f"{why}, and " if why else ""
        raise NoEngine(f"{reason}this kernel has no Landlock", hint="use another kernel, or --sandbox=off")
    if hidden := [path for path in box.listed(Access.HIDDEN) if box.access(path.parent) is Access.WRITABLE]:
        raise NoEngine(
            f"Landlock can't hide {hidden[0]} in a folder that may be written", hint=why or "use the engine bubblewrap"
        )
    if not box.profile.network:
        raise NoEngine("Landlock can't turn off the network", hint=why or "use the engine bubblewrap")
    signals = () if landlock.abi() >= landlock.SCOPES_ABI else ("It can signal your other processes.",)
    return Engine("landlock", gaps=(*_LANDLOCK_GAPS, *signals))


def _why_refused(program: str) -> str:
    """Why the system lets bubblewrap make no user namespace; "" if nothing is known to be in the way. Blocks."""
    if os.getuid() == 0 or _is_setuid(program) or not may_be_refused():
        return ""
    probe = (program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true")
    done = subprocess.run(probe, capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=False)
    return "" if done.returncode == 0 else f"the system refuses user namespaces ({done.stderr.strip()})"


def may_be_refused() -> bool:
    """Whether the system has a setting by which it refuses user namespaces to some."""
    signs = {"kernel/apparmor_restrict_unprivileged_userns": "1", "kernel/unprivileged_userns_clone": "0"}
    return any(_system(name) == sign for name, sign in {**signs, "user/max_user_namespaces": "0"}.items())


def _system(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text("ascii").strip()
    except OSError:
        return ""


def _is_setuid(program: str) -> bool:
    return bool(Path(program).stat().st_mode & stat.S_ISUID)


@cache
def _version(program: str) -> tuple[int, ...]:
    said = subprocess.run((program, "--version"), capture_output=True, text=True, timeout=_PROBE_LIMIT_S, check=False)
    return tuple(map(int, re.findall(r"\d+", said.stdout)[:3]))
