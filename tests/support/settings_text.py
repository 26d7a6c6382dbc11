"""settings.toml as text, read into the tree."""

from __future__ import annotations

import tomllib

from acp_tui.client.settings.reader import SettingsRead, interpret

ENVIRON = {"HOME": "/home/u", "WORK": "/work", "PARENT": "00-1-2-01"}


def read(text: str) -> SettingsRead:
    """The result of reading it as a file named F."""
    return interpret(tomllib.loads(text), "F", ENVIRON)


def said(text: str) -> list[str]:
    """Its problems."""
    return [str(problem) for problem in read(text).problems]
