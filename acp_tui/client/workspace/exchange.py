"""Exchanges two files in one step where the system can, because Python's `os` can't. It compares nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any, Final

_EXCHANGE: Final = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""
# Some sandboxes answer EPERM to calls that they don't know.
_CANNOT: Final = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM}


@cache
def _rename() -> Any:
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function


def exchange(directory: int, name: str, other: str) -> bool:
    """Swap the names of two files in an open directory, whatever they are. False if the system can't do that.

    Raises: OSError, also if one of them doesn't exist.
    """
    rename = _rename()
    if rename is None:
        return False
    if rename(directory, os.fsencode(name), directory, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code))
