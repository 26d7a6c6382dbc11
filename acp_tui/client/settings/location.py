"""Locations of the settings and of acp-tui's own files, and the variables in settings.

The first frame waits for this module, so it imports little.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeGuard

import platformdirs

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.setting import DeclaredSetting, declared
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation.wording import from_home


def leaves(section: type[Any] = Settings, prefix: str = "") -> Iterator[tuple[str, DeclaredSetting]]:
    """Every setting that has a value, by its key, in the order of the tree. A list of tables counts as one."""
    for one in declared(section):
        key = f"{prefix}{one.name}"
        if is_dataclass(one.kind) and not one.is_list:
            yield from leaves(one.kind, f"{key}.")
        else:
            yield key, one


def value_at(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = getattr(settings, name)
    return settings


def with_value(settings: Any, key: str, value: Any) -> Any:
    name, _, rest = key.partition(".")
    return replace(settings, **{name: with_value(getattr(settings, name), rest, value) if rest else value})


def changed(before: Settings, after: Settings) -> Iterator[tuple[str, DeclaredSetting]]:
    return ((key, one) for key, one in leaves() if value_at(before, key) != value_at(after, key))


def is_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def read_toml(file: Path, example: str) -> dict[str, object]:
    """The document; empty if there is no file. Raises SettingsError, with the example, if the file can't be used."""
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # without a settings file, there's no need to load it

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    # ValueError: not UTF-8, not TOML, or a number with thousands of digits.
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{from_home(file)} can't be read: {error}", hint=f"fix it or move it away; it should look like:\n{example}"
        ) from error


def settings_file() -> Path:
    return platformdirs.user_config_path("acp-tui") / "settings.toml"


PROJECT_SETTINGS: Final = ".acp-tui.toml"


def project_settings_file(folder: Path) -> Path:
    return folder / PROJECT_SETTINGS


def state_folder() -> Path:
    """The folder of recordings, prompt history, and drafts, which may not exist."""
    return platformdirs.user_state_path("acp-tui")


def cache_folder() -> Path:
    """The folder of files that can be fetched again, such as the agent registry. It may not exist."""
    return platformdirs.user_cache_path("acp-tui")


def installed_folder() -> Path:
    """The folder of the agents that acp-tui has installed. It may not exist."""
    return platformdirs.user_data_path("acp-tui") / "agents"


MAX_SOCKET_PATH: Final = 103
"""Bytes of a socket's path that all systems accept; macOS accepts the fewest."""
SHARED_FOLDER: Final = Path("/tmp")
_SOCKET_NAME: Final = 32
"""Room for the name of a host's socket."""


def hosts_folder() -> Path:
    """The folder of the hosts' sockets, which may not exist.

    It's in the state folder. If a socket's path would be too long there, it's in the user's runtime folder, or in a
    folder in /tmp, where others could have created it first.
    """
    folder = state_folder() / "hosts"
    if _has_room(folder):
        return folder
    name = f"{zlib.crc32(os.fsencode(folder)):08x}"  # each state folder has its own hosts
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and _has_room(Path(runtime) / "acp-tui" / name):
        return Path(runtime) / "acp-tui" / name
    return SHARED_FOLDER / f"acp-tui-{os.getuid()}" / name


def _has_room(folder: Path) -> bool:
    return len(os.fsencode(folder)) + 1 + _SOCKET_NAME <= MAX_SOCKET_PATH


def own_folders() -> tuple[Path, ...]:
    """All folders of acp-tui. Write access to them means control over what acp-tui runs, trusts, and remembers."""
    return (settings_file().parent, state_folder(), cache_folder(), hosts_folder(), installed_folder().parent)


_REFERENCE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?\}|\$\{")
_HOME: Final = re.compile(r"\A~(?=/|\Z)")


_NAMED: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


def referenced(text: str) -> tuple[str, ...]:
    """Every variable that `text` refers to, each once, including those in a default, which isn't expanded."""
    return tuple(dict.fromkeys(_NAMED.findall(text)))


def expand_path(text: str, environ: Mapping[str, str]) -> str:
    """Like `expand`, and also treats a leading ~ as ${HOME}. Other users' homes (~name) stay unchanged."""
    return expand(_HOME.sub("${HOME}", text), environ)


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`text` with ${NAME} and ${NAME:-default} replaced. The values themselves aren't expanded.

    As in a shell, the default applies if the variable is unset or empty. A `$` without a brace is a `$`. Raises
    SettingsError for a variable that isn't set, and for a reference in any other form.
    """

    def value_of(reference: re.Match[str]) -> str:
        name, default = reference["name"], reference["default"]
        if name is None:
            raise SettingsError("${ doesn't start ${NAME} or ${NAME:-default}")
        if default is not None:
            return environ.get(name) or default
        if name not in environ:
            advice = f"export it, or write ${{{name}:-default}}"
            raise SettingsError(f"the environment variable {name} isn't set: {advice}")
        return environ[name]

    return _REFERENCE.sub(value_of, text)
