"""Turns one value of a TOML document into the value of a setting, strictly: `true` is no number, and "5" neither.

Tables and lists are taken apart elsewhere (`reader`); defaults are not its matter.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.expansion import expand_path
from acp_tui.client.settings.setting import Declared, Setting
from acp_tui.client.settings.wording import allowed_values, near, quoted, shown_value


def convert(found: object, one: Declared, environ: Mapping[str, str]) -> str | bool | float | Path:
    """The value as the setting's kind. Raises SettingsError, its message to stand behind the setting's key."""
    if isinstance(found, str) and one.setting.is_expanded:
        value = _of_kind(_expanded(found, environ), one)
    else:
        value = _of_kind(found, one)
    if value is None:
        raise not_allowed(found, one)
    return value


def not_allowed(found: object, one: Declared) -> SettingsError:
    """What was found and what is allowed, to stand behind the setting's key."""
    meant = near(found, one.allowed) if isinstance(found, str) else None
    suggestion = f" (did you mean {quoted(meant)}?)" if meant else ""
    return SettingsError(f"is {shown_value(found)}; allowed: {allowed_values(one)}{suggestion}")


def _expanded(text: str, environ: Mapping[str, str]) -> str:
    try:
        return expand_path(text, environ)
    except SettingsError as error:
        raise SettingsError(f"is {shown_value(text)}: {error}") from error


def _of_kind(found: object, one: Declared) -> str | bool | float | Path | None:
    """None where it is not allowed."""
    if isinstance(found, str):
        return _text(found, one)
    if isinstance(found, bool):  # before the numbers: to Python it is one
        return found if one.kind is bool else None
    if one.kind in (int, float) and isinstance(found, (int, one.kind)):  # a whole number is a number too
        return one.kind(found) if _is_within_limits(found, one.setting) else None
    return None


def _text(text: str, one: Declared) -> str | Path | None:
    if one.kind is Path:
        # No file can have a NUL in its name, but a string of TOML can.
        return Path(text) if text.startswith("/") and "\0" not in text else None
    is_allowed = text in one.allowed if one.allowed else one.setting.is_blank_allowed or bool(text.strip())
    return text if one.kind is str and is_allowed else None


def _is_within_limits(number: float, about: Setting) -> bool:
    """Never inf or nan, and no whole number that is too large for a float."""
    highest = sys.float_info.max
    lowest = -highest if about.minimum is None else about.minimum
    return lowest <= number <= (highest if about.maximum is None else about.maximum)
