"""Our stdout and stderr: when something is written to them, and what happens where that fails; not what it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Streams:
    """Write to them through this, so that nothing appears behind a question which the user is about to answer."""

    def __init__(self, on_lost: Callable[[OSError], None], *, holds_stdout: bool = True) -> None:
        """`on_lost`: stdout's reader has closed it (`| head`), or its disk is full.

        `holds_stdout` False: a program reads stdout, and gets all of it at once.
        """
        self._on_lost = on_lost
        self._holds_stdout = holds_stdout
        self._is_held = False
        self._waiting: list[tuple[Callable[[str], None], str]] = []

    def out(self, text: str) -> None:
        """Write to stdout; where that fails, say so once and drop the rest."""
        if self._is_held and self._holds_stdout:
            self._waiting.append((self._write_out, text))
        else:
            self._write_out(text)

    def err(self, text: str) -> None:
        """Write to stderr."""
        if self._is_held:
            self._waiting.append((_write_err, text))
        else:
            _write_err(text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep back what is written meanwhile; it comes at the end, in its order."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            waiting, self._waiting = self._waiting, []
            for write, text in waiting:
                write(text)

    def _write_out(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            # What is still buffered would be written, and complained about, at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._on_lost(error)


def _write_err(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
