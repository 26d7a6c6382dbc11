"""Finds in what a program printed that its sandbox was in its way, and says which line of the settings would let it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box
from acp_tui.client.sandbox.defaults import SECRETS
from acp_tui.client.settings.settings import READ_ONLY
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home

MAX_CHARACTERS: Final = 1 << 14
"""Of the end of the text: errors are there."""
MAX_LINE: Final = 1_000
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_READ_ONLY: Final = ("read-only file system", "erofs")
_DENIED: Final = ("permission denied", "eacces", "operation not permitted", "eperm")
_MISSING: Final = ("no such file or directory", "enoent")
_QUOTED: Final = r"""['"`‘]([^'"`‘’]{1,300})['"`’]"""
_BARE: Final = r"""(?:^|(?<=[\s:(=]))((?:~|\.{1,2}|[\w.+-]{1,80})?/[^\s:'",;)]{0,300})"""
_PATHS: Final = re.compile(f"{_QUOTED}|{_BARE}")


def refusals(text: str, cwd: Path, box: Box) -> Iterator[tuple[Path, str]]:
    """The places that a sandbox refuses, as a text of system errors names them, each with a sentence for the user.

    Relative paths are in `cwd`. Nothing is looked up: what is hidden may not exist either.
    """
    for line in _ESCAPES.sub("", text[-MAX_CHARACTERS:]).splitlines():
        said = line[:MAX_LINE].lower()
        is_write = _has(said, _READ_ONLY)
        if not (is_write or _has(said, (*_DENIED, *_MISSING))):
            continue
        for found in _PATHS.finditer(line[:MAX_LINE]):
            named = os.path.expanduser(found[1] or found[2])  # noqa: PTH111 - Path raises for an unknown user
            path = Path(os.path.normpath(cwd / named))
            note = _note(path, box, is_write=is_write, is_denied=is_write or _has(said, _DENIED))
            if note:
                yield path, note


def _has(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _note(path: Path, box: Box, *, is_write: bool, is_denied: bool) -> str:
    """Why the sandbox refuses it, and what would allow it; "" if it doesn't."""
    profile, access = box.profile, box.access(path)
    name, shown = profile.name, make_visible_line(from_home(path))
    place = next(each for each in (path, *path.parents) if each in box.places)
    is_in_session = any(place == folder or folder in place.parents for folder in box.folders)
    if access is Access.HIDDEN and is_in_session:
        return f"The sandbox {name} hides {shown}, as your settings say."
    secrets = {Path(os.path.expanduser(secret)) for secret in SECRETS}  # noqa: PTH111 - as above
    is_secret = not secrets.isdisjoint((path, *path.parents))
    if access is Access.HIDDEN and is_secret:  # no agent's output may talk the user into opening it
        return f"The sandbox {name} hides {shown}, as it hides all keys and logins that aren't the agent's."
    if access is Access.HIDDEN and is_write:
        return f"The sandbox {name} hides {shown}: {_line('writable', profile.writable, shown, name)} would allow it."
    if access is Access.HIDDEN:
        return f"The sandbox {name} hides {shown}: {_line('readable', profile.readable, shown, name)} would allow it."
    if access is not Access.READABLE or not is_denied:
        return ""
    if place != Path("/") and box.access(place.parent) is Access.WRITABLE:
        return f"The sandbox {name} keeps {shown} read-only, since it can run something later: change it yourself."
    if is_in_session and "." not in profile.writable:
        return f"In the sandbox {name}, the agent can only read {shown}; in the sandbox workspace, it can write there."
    if is_write:
        line = _line("writable", profile.writable, shown, name)
        return f"In the sandbox {name}, the agent can only read {shown}: {line} would allow it."
    return ""


def _line(key: str, listed: Sequence[str], path: str, name: str) -> str:
    where = "of one of your own, [sandbox.NAME]," if name == READ_ONLY.name else f"under [sandbox.{name}]"
    return f"{key} = {json.dumps([*listed, path], ensure_ascii=False)} {where}"
