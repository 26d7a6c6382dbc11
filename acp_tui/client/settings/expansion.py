"""Environment variables inside settings, so that secrets need not stand in a file; it knows no setting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from acp_tui.client.errors import SettingsError

_REFERENCE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?\}|\$\{")
_HOME: Final = re.compile(r"\A~(?=/|\Z)")


_NAMED: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


def referenced(text: str) -> tuple[str, ...]:
    """Every variable that `text` refers to, each once: also those within a default, where none is expanded."""
    return tuple(dict.fromkeys(_NAMED.findall(text)))


def expand_path(text: str, environ: Mapping[str, str]) -> str:
    """As `expand`, and with a leading ~ as ${HOME}; other users' homes (~name) stay as they are written."""
    return expand(_HOME.sub("${HOME}", text), environ)


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`text` with ${NAME} and ${NAME:-default} replaced; what they stand for is not expanded again.

    The default counts where the variable is not set or empty, as in a shell. A `$` without a brace is a `$`.
    Raises SettingsError for a variable that is not set, and for a reference of any other form.
    """

    def value_of(reference: re.Match[str]) -> str:
        name, default = reference["name"], reference["default"]
        if name is None:
            raise SettingsError("${ begins neither ${NAME} nor ${NAME:-default}")
        if default is not None:
            return environ.get(name) or default
        if name not in environ:
            advice = f"export it, or write ${{{name}:-default}}"
            raise SettingsError(f"the environment variable {name} isn't set: {advice}")
        return environ[name]

    return _REFERENCE.sub(value_of, text)
