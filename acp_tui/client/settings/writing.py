"""Changes one setting in the settings file and preserves its comments, order, and blank lines."""

from __future__ import annotations

import os
import tomllib
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from acp_tui.client.errors import SettingsError
from acp_tui.client.private_files import replace_file
from acp_tui.conversation.wording import from_home

TomlValue: TypeAlias = str | bool | int | float | list[str]

MAX_TRIES: Final = 5
"""How often the file may change during our write before we give up."""


def write_setting(file: Path, path: Sequence[str], value: TomlValue | None) -> None:
    """Set the value at `path`, such as `("workspace", "read")`, in the current file. Blocks.

    None removes it from the file, so that the default applies. Raises SettingsError if the file can't be read, parsed,
    or written. It's unchanged then.
    """
    try:
        target = Path(os.path.realpath(file))  # keep a link a link
        for _ in range(MAX_TRIES):
            before = content_of(target)
            after = _changed(file, before, path, value)
            # The lambda is called before this returns, so `before` is from this round.
            if after == before or replace_file(
                target,
                after,
                lambda: content_of(target) == before,  # noqa: B023
                is_ours=False,
            ):
                return
    except OSError as error:
        raise SettingsError(
            f"{from_home(file)} can't be changed: {error.strerror or error}",
            hint="it is unchanged; check the permissions of the file and its folder",
        ) from error
    raise SettingsError(f"{from_home(file)} keeps being changed by another program", hint="try again")


def content_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _changed(file: Path, content: bytes, path: Sequence[str], value: TomlValue | None) -> bytes:
    import tomlkit  # loaded when the first setting is changed

    try:
        text = content.decode()
        wanted = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{from_home(file)} can't be changed, since it can't be read: {error}", hint="fix it in an editor first"
        ) from error
    try:
        _put(wanted, path, value, dict)
        document = tomlkit.parse(text)
        _put(document, path, value, lambda: tomlkit.table(is_super_table=True))
        result = tomlkit.dumps(document)
        is_right = tomllib.loads(result) == wanted
    except (tomlkit.exceptions.TOMLKitError, ValueError, KeyError, TypeError):
        is_right = False
    if not is_right:
        raise SettingsError(
            f"{from_home(file)}: {'.'.join(path)} is written in a way that can't be changed separately",
            hint="edit it in an editor",
        )
    return result.encode()


def _put(table: MutableMapping[str, Any], path: Sequence[str], value: TomlValue | None, new: Any) -> None:
    """Set it in this table and create missing tables on the way. None removes it."""
    *names, last = path
    for name in names:
        if name not in table:
            if value is None:
                return
            table[name] = new()
        table = table[name]
    if value is not None:
        table[last] = value
    elif last in table:
        del table[last]
