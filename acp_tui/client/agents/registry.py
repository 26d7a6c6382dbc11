"""The agent registry's index as values. Invalid parts are left out and reported. Fetches nothing.

The index is untrusted. An entry can only run a program that the user has installed, with or without acp-tui, or that a
runner fetches in one version from the package registry the user has set up. The user sees what an entry adds to a
command line before it first runs. An entry can't set variables that decide which code that is.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from acp_tui import __version__
from acp_tui.client.errors import ClientError
from acp_tui.client.loading_variables import loading_effect
from acp_tui.client.private_files import read_json_object, write_json_state
from acp_tui.client.settings.location import cache_folder
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from http.client import HTTPResponse

INDEX_URL: Final = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
LIMIT_S: Final = 20.0
MAX_BYTES: Final = 8 << 20
_CHUNK_BYTES: Final = 64 << 10


class RegistryUnavailable(ClientError):
    """The registry couldn't be fetched. The last fetched one is still available."""


@dataclass(frozen=True, slots=True)
class CachedRegistry:
    registry: Registry
    fetched_at: float
    """Seconds since the epoch."""
    etag: str = ""


def registry_file() -> Path:
    return cache_folder() / "registry.json"


def cached_registry(file: Path) -> CachedRegistry | None:
    """The last fetched registry; None if there isn't one, or it can't be used."""
    match read_json_object(file):
        case {"index": str(index), "fetched_at": int() | float() as fetched_at, "etag": str(etag)}:
            try:
                return CachedRegistry(read_registry(index), float(fetched_at), etag)
            except ValueError:
                return None
    return None


def update_registry(
    file: Path, url: str = INDEX_URL, *, limit_s: float = LIMIT_S, now: Callable[[], float] = time.time
) -> CachedRegistry:
    """Fetch the registry if it has changed, and store it. Raises RegistryUnavailable and leaves the file as it was."""
    before = cached_registry(file)
    try:
        index, etag = _fetch(url, before.etag if before is not None else "", limit_s)
        if index is None:
            kept = read_json_object(file)
            index, etag = kept["index"], kept["etag"]
        registry = read_registry(index)
    # OSError includes what urllib raises and timeouts; ValueError is for an invalid index.
    except (OSError, ValueError, _Broken) as error:
        raise RegistryUnavailable(
            f"the agent registry couldn't be fetched: {_reason(error)} ({url})",
            hint="the copy fetched before is still in use" if before is not None else "",
        ) from error
    try:
        write_json_state(file, {"fetched_at": now(), "etag": etag, "index": index})
    except OSError as error:
        raise RegistryUnavailable(
            f"the agent registry was fetched, but can't be kept in {file}: {error.strerror or error}",
            hint="check the folder's permissions, and that its disk isn't full",
        ) from error
    return CachedRegistry(registry, now(), etag)


class _Broken(Exception):
    """The response was incomplete or invalid."""


def _fetch(url: str, etag: str, limit_s: float) -> tuple[str | None, str]:
    """The index, or None if it's the one with that tag, and its tag."""
    # 30 ms that only an update needs
    from http.client import HTTPException
    from urllib.request import HTTPError, Request, urlopen

    headers = {"User-Agent": f"acp-tui/{__version__}", "Accept": "application/json"}
    deadline = time.monotonic() + limit_s
    try:
        request = Request(url, headers=headers | ({"If-None-Match": etag} if etag else {}))
        with urlopen(request, timeout=limit_s) as response:
            if url.startswith("https:") and not response.url.startswith("https:"):
                raise _Broken("it redirects to an address without https")
            return _body(response, deadline).decode("utf-8"), response.headers.get("ETag", "")
    except HTTPError as error:
        error.close()
        if error.code == 304 and etag:
            return None, etag
        raise _Broken(f"the server answered {error.code} {error.reason}") from error
    except HTTPException as error:
        raise _Broken(f"the answer is broken ({type(error).__name__})") from error


def _body(response: HTTPResponse, deadline: float) -> bytes:
    body = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > MAX_BYTES:
            raise _Broken(f"it is larger than {MAX_BYTES >> 20} MiB")
        if time.monotonic() > deadline:
            raise TimeoutError("it took too long")
    if response.length:
        raise _Broken("the answer was cut off")
    return bytes(body)


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)  # urllib wraps the network's error
    return str(getattr(cause, "strerror", None) or cause) or type(error).__name__


MAX_ENTRIES: Final = 2_000
MAX_WORDS: Final = 64
MAX_CHARACTERS: Final = 2_000
"""The limit for any one string."""

_ID: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
# A package must come from a package registry in exactly one version, so that what the user agrees to is what runs: no
# URL, no folder. To npm, 1 and 1.2 are ranges; to Python's packages they are versions. Names follow the registries'
# rules for new packages: npm's in lowercase, and both with only letters and digits at their ends.
_NPM_NAME: Final = r"[a-z0-9]([a-z0-9._-]{0,98}[a-z0-9])?"
_NPM_VERSION: Final = r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,60})?(\+[0-9A-Za-z.-]{1,60})?"
_PYTHON_NAME: Final = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"
_PYTHON_VERSION: Final = (
    r"([0-9]{1,9}!)?[0-9]{1,9}(\.[0-9]{1,9}){0,8}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?(\.dev[0-9]{1,9})?"
    r"(\+[0-9A-Za-z.]{1,60})?"
)
_PACKAGE: Final = {
    "npx": re.compile(rf"(@{_NPM_NAME}/)?{_NPM_NAME}@(?P<version>{_NPM_VERSION})"),
    "uvx": re.compile(rf"{_PYTHON_NAME}(\[[A-Za-z0-9._,-]{{1,100}}\])?(@|==)(?P<version>{_PYTHON_VERSION})"),
}
_REDIRECTING: Final = re.compile(
    r"--(registry|(extra-|default-)?index(-url|-strategy)?|find-links|(allow-)?insecure-host|trusted-host|userconfig"
    r"|globalconfig|config-file|node-options|script-shell|cafile|(no-)?strict-ssl|@[^=]*:registry)(=.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Options of npx, uvx, and pip that would fetch packages other than the named ones, or from elsewhere."""
_RUNS_CODE: Final = re.compile(
    r"(ba|da|a|z|k|mk|fi|tc|c)?sh|(python|pypy|ruby|perl|php|lua|node|deno|bun)[\d.]*|pwsh|powershell|cmd|env|busybox|sudo"
    r"|doas|npx|npm|pnpm|yarn|uvx?|pipx?|docker|podman|ssh|curl|wget|osascript|eval|xargs|nohup|time(out)?"
)
"""Programs that aren't agents but run whatever their arguments say."""
_PLATFORM: Final = re.compile(r"[a-z0-9]{1,20}-[a-z0-9_]{1,20}")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHA256: Final = re.compile(r"[0-9A-Fa-f]{64}")


@dataclass(frozen=True, slots=True)
class PackageRun:
    """An agent as a package that a runner fetches and runs."""

    runner: str
    package: str
    program: str = ""
    """Which of the package's programs to run; "" for the only one."""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version that is fetched, whatever version the entry itself states."""
        pinned = _PACKAGE[self.runner].fullmatch(self.package)
        return pinned["version"] if pinned is not None else ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line (R-REG-4)."""
        fetch = ("npx", "-y") if self.runner == "npx" else ("uvx",)
        if not self.program:
            return (*fetch, self.package, *self.args)
        option = "--package" if self.runner == "npx" else "--from"
        return (*fetch, option, self.package, self.program, *self.args)


@dataclass(frozen=True, slots=True)
class Archive:
    """An agent as a program to download, for one platform."""

    url: str
    path: str
    """The program's path in the archive."""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    """The archive's hash in hexadecimal; "" if the registry doesn't state it."""

    @property
    def program(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """An agent in the registry. Its text is untrusted."""

    agent_id: str
    name: str
    version: str
    description: str
    packages: tuple[PackageRun, ...] = ()
    archives: Mapping[str, Archive] = field(default_factory=dict)
    """By platform, such as `linux-x86_64`."""


@dataclass(frozen=True, slots=True)
class Registry:
    entries: tuple[RegistryEntry, ...] = ()
    problems: tuple[str, ...] = ()
    """What was left out, one sentence each."""


def read_registry(text: str | bytes) -> Registry:
    """The registry in the text of an index. Raises ValueError if the text isn't an index."""
    try:
        index = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    agents = index.get("agents") if isinstance(index, dict) else None
    if not isinstance(agents, list):
        raise ValueError("it doesn't list agents")
    entries: dict[str, RegistryEntry] = {}
    problems: list[str] = []
    for at, item in enumerate(agents[:MAX_ENTRIES]):
        agent_id = item.get("id") if isinstance(item, dict) else None
        name = agent_id if isinstance(agent_id, str) and _ID.fullmatch(agent_id) else f"agent {at + 1}"
        try:
            entry, notes = _entry(_table(item, "it"))
        except ValueError as error:
            problems.append(f"{name}: {error}")
            continue
        problems += (f"{name}: {note}" for note in notes)
        if entry.agent_id in entries:
            problems.append(f"{name}: listed twice; the first one is used")
        entries.setdefault(entry.agent_id, entry)
    return Registry(tuple(entries.values()), tuple(problems))


def _entry(item: Mapping[str, object]) -> tuple[RegistryEntry, list[str]]:
    """The entry, and which parts of it can't be used. Raises ValueError if it contains nothing that can run."""
    distribution = _table(item.get("distribution"), "distribution")
    notes: list[str] = []
    packages = tuple(_packages(distribution, notes))
    archives = dict(_archives(_table(distribution.get("binary", {}), "distribution.binary"), notes))
    if not packages and not archives:
        raise ValueError(notes[0] if notes else "it doesn't say how to run it")
    entry = RegistryEntry(
        _matching(_ID, item, "id"),
        _string(item, "name"),
        _matching(_VERSION, item, "version"),
        _string(item, "description"),
        packages,
        archives,
    )
    return entry, notes


def _packages(distribution: Mapping[str, object], notes: list[str]) -> Iterator[PackageRun]:
    for runner in _PACKAGE:
        if runner in distribution:
            try:
                yield _package(runner, distribution[runner])
            except ValueError as error:
                notes.append(f"{runner}: {error}")


def _archives(builds: Mapping[str, object], notes: list[str]) -> Iterator[tuple[str, Archive]]:
    for platform, build in builds.items():
        if not _PLATFORM.fullmatch(platform):
            notes.append("binary has a key that isn't a platform")
            continue
        try:
            yield platform, _archive(build)
        except ValueError as error:
            notes.append(f"{platform}: {error}")


def _package(runner: str, value: object) -> PackageRun:
    run = _table(value, runner)
    package = _string(run, "package")
    if not _PACKAGE[runner].fullmatch(package):
        raise ValueError(f"{package!r} doesn't name one version of a package: it must end in @ and a full version")
    program = _agent_program(_matching(_PROGRAM, run, "cmd")) if "cmd" in run else ""
    for word in _args(run):
        if _REDIRECTING.fullmatch(word):
            raise ValueError(f"args holds {word!r}, which would fetch packages from elsewhere")
    return PackageRun(runner, package, program, _args(run), _env(run))


def _archive(value: object) -> Archive:
    build = _table(value, "a build")
    url = _string(build, "archive")
    if not url.startswith("https://") or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("its archive has no https address")
    path = PurePosixPath(_string(build, "cmd").replace("\\", "/"))
    if not _PROGRAM.fullmatch(path.name) or path.is_absolute() or ".." in path.parts:
        raise ValueError("cmd doesn't name a program in its archive")
    _agent_program(path.name)
    digest = _matching(_SHA256, build, "sha256") if "sha256" in build else ""
    return Archive(url, str(path), _args(build), _env(build), digest)


def _agent_program(name: str) -> str:
    if _RUNS_CODE.fullmatch(name.lower().removesuffix(".exe")):
        raise ValueError(f"cmd is {name}, which isn't an agent: it runs its arguments")
    return name


def _args(run: Mapping[str, object]) -> tuple[str, ...]:
    args = run.get("args", [])
    if not isinstance(args, list) or len(args) > MAX_WORDS:
        raise ValueError(f"args isn't a list of at most {MAX_WORDS} strings")
    return tuple(_plain(word, "args") for word in args)


def _env(run: Mapping[str, object]) -> dict[str, str]:
    env = _table(run.get("env", {}), "env")
    if len(env) > MAX_WORDS or not all(_VARIABLE.fullmatch(name) for name in env):
        raise ValueError("env has a key that isn't the name of a variable")
    for name in env:
        if effect := loading_effect(name):
            raise ValueError(f"env sets {name}, which {effect}")
    return {name: _plain(value, f"env.{name}") for name, value in env.items()}


def _table(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} isn't an object")
    return value


def _matching(pattern: re.Pattern[str], item: Mapping[str, object], key: str) -> str:
    text = _string(item, key)
    if not pattern.fullmatch(text):
        raise ValueError(f"{key} doesn't have the form it must have")
    return text


def _string(item: Mapping[str, object], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value or len(value) > MAX_CHARACTERS:
        raise ValueError(f"{key} isn't a string of at most {MAX_CHARACTERS} characters")
    return value


def _plain(value: object, what: str) -> str:
    """A word of a command line without characters that would misrepresent it."""
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise ValueError(f"{what} isn't made of strings of at most {MAX_CHARACTERS} characters")
    if not value.isprintable():
        raise ValueError(f"{what} contains invisible characters")
    return value
