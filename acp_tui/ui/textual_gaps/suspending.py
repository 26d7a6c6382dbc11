"""Gives the terminal to another program and takes it back when that ends; which program, others decide."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from anyio import to_thread
from textual.app import App


def run_in_terminal(app: App[Any], command: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """The exit status of a program that had the terminal, as a child of ours; all else stood still meanwhile.

    `env` is added to our own environment. Raises: OSError; SuspendNotSupported.
    """
    with lent_terminal(app):
        return _call(command, env)


async def run_in_terminal_meanwhile(
    app: App[Any], command: Sequence[str], env: Mapping[str, str] | None = None
) -> int:
    """As `run_in_terminal`, but the agents go on working: what they say is drawn when the terminal is back."""
    with lent_terminal(app):
        return await to_thread.run_sync(_call, command, env)


@contextmanager
def lent_terminal(app: App[Any]) -> Iterator[None]:
    """Nothing of ours reads from the terminal or writes to it meanwhile. Raises: SuspendNotSupported."""
    with app.batch_update(), app.suspend(), _muted(app):
        # Ctrl+C belongs to the program that has the terminal; it would inherit SIG_IGN, but not a handler.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _muted(app: App[Any]) -> Iterator[None]:
    """A bell, or a word to the clipboard, would wait for a writer that has ended, and after some of them for ever."""
    driver: Any = app._driver
    if driver is None:
        yield
        return
    driver.write = lambda data: None
    try:
        yield
    finally:
        del driver.write  # the class's own again


def _call(command: Sequence[str], env: Mapping[str, str] | None) -> int:
    return subprocess.call(command, env={**os.environ, **env} if env else None)
