"""Files that only the user can read and that several acp-tui change: one at a time.

What stands in them is not its matter. All of it blocks, and is for threads.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from acp_tui.client.files import make_private, open_private

LOCK_TRIES: Final = 100
LOCK_RETRY_S: Final = 0.02


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """No other acp-tui changes `file` meanwhile; its folder is made where there is none.

    Raises: OSError, TimeoutError too where another does not let go.
    """
    make_private(file.parent, is_ours=True)
    # A file of its own: the other is replaced, and a lock would stay with what it was.
    lock = open_private(file.with_name(f"{file.name}.lock"))
    try:
        _take(lock, file)
        yield
    finally:
        os.close(lock)


def _take(lock: int, file: Path) -> None:
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(LOCK_RETRY_S)  # flock can wait for ever or not at all
        except OSError:
            return  # a file system without locks: writing unguarded is better than losing all
    raise TimeoutError(errno.ETIMEDOUT, "another acp-tui is holding it", str(file))


def encoded(value: Any) -> bytes:
    """JSON in one line, of halves of characters too: `json.loads` reads them back."""
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")
