"""Landlock, the kernel's way for a process to give up rights for itself and all that comes from it.

Three system calls, by ctypes: glibc has no functions for them, and no kept binding loads as fast as a guardian must.
Numbers and structures are those of the kernel's `include/uapi/linux/landlock.h`, the same on every architecture.
"""

from __future__ import annotations

import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

_libc: Any = None
try:
    import ctypes

    _libc = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):
    pass

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_CREATE_RULESET_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_KEYCTL_JOIN_SESSION_KEYRING: Final = 1

SCOPES: Final = 3
"""From ABI 6: no abstract socket and no signal leads to a process outside."""
SCOPES_ABI: Final = 6
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILE: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14) | (1 << 15)
"""The rights that files have: truncate and ioctl among them. Directories have all."""
READING: Final = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS_BY_ABI: Final = (0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
"""All rights to files that each version knows. ABI 2 added moving between folders, 3 truncating, 5 ioctl of devices."""


def abi() -> int:
    """The version of Landlock in the kernel; 0 if there is none, or if it is turned off."""
    if sys.platform != "linux" or _libc is None:
        return 0
    return max(0, _syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION))


def rights(version: int) -> int:
    return _RIGHTS_BY_ABI[min(version, len(_RIGHTS_BY_ABI) - 1)]


def restrict(places: Sequence[tuple[bytes, bool]] | None) -> None:
    """Give up, for good, signals and abstract sockets of processes outside, and with `places` all files but those.

    Each place is a path and whether it may be written. What doesn't exist is left out. Raises OSError.
    """
    version = abi()
    handled = rights(version) if places is not None else 0
    scopes = SCOPES if version >= SCOPES_ABI else 0
    if not (handled or scopes):
        if places is not None:
            raise OSError(95, "the kernel has no Landlock")
        return
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    attributes = struct.pack("=QQQ", handled, 0, scopes)
    if version < SCOPES_ABI:
        attributes = attributes[: 8 if version < 4 else 16]
    ruleset = _check(_syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path, is_writable in places or ():
            _add(ruleset, path, handled if is_writable else handled & READING)
        _check(_syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def leave_keyrings() -> None:
    """Have an empty keyring instead of the one of the user's session, which may hold keys of disks and of servers."""
    number = {"x86_64": 250, "aarch64": 219, "armv7l": 311, "ppc64le": 271, "s390x": 280, "riscv64": 219}.get(
        os.uname().machine
    )
    if number is not None and sys.platform == "linux" and _libc is not None:
        _syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)


def _add(ruleset: int, path: bytes, allowed: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(b"/proc/self/fd/%d" % fd):  # noqa: PTH112 - the guardian has no pathlib
            allowed &= _FILE
        _check(_syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, fd), 0))
    finally:
        os.close(fd)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _syscall(number: int, *arguments: Any) -> int:
    return _libc.syscall(number, *arguments)  # type: ignore[no-any-return]


def _prctl(*arguments: int) -> int:
    return _libc.prctl(*arguments)  # type: ignore[no-any-return]
