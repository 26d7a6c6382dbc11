"""The agent registry as it was fetched last, and fetching it anew: only when the user asks. It blocks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_tui.client.agents.kept_file import read_kept, write_kept
from acp_tui.client.agents.registry import Registry, read_registry
from acp_tui.client.errors import ClientError
from acp_tui.client.settings.location import cache_folder

if TYPE_CHECKING:
    from http.client import HTTPResponse

INDEX_URL: Final = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
LIMIT_S: Final = 20.0
MAX_BYTES: Final = 8 << 20
_CHUNK_BYTES: Final = 64 << 10


class RegistryUnavailable(ClientError):
    """The registry could not be fetched; what was fetched before is still there."""


@dataclass(frozen=True, slots=True)
class CachedRegistry:
    """A registry and where it comes from."""

    registry: Registry
    fetched_at: float
    """Seconds since the epoch."""
    etag: str = ""


def registry_file() -> Path:
    """Where it is kept."""
    return cache_folder() / "registry.json"


def cached_registry(file: Path) -> CachedRegistry | None:
    """What was fetched last; None where that is nothing, or of no use any more."""
    kept = read_kept(file)
    if not isinstance(kept, dict):
        return None
    match kept:
        case {"index": str(index), "fetched_at": int() | float() as fetched_at, "etag": str(etag)}:
            try:
                return CachedRegistry(read_registry(index), float(fetched_at), etag)
            except ValueError:
                return None
    return None


def update_registry(
    file: Path, url: str = INDEX_URL, *, limit_s: float = LIMIT_S, now: Callable[[], float] = time.time
) -> CachedRegistry:
    """Fetch the registry where it has changed, and keep it. Raises RegistryUnavailable: then the file is as before."""
    before = cached_registry(file)
    try:
        index, etag = _fetch(url, before.etag if before is not None else "", limit_s)
        if index is None:
            kept = read_kept(file)
            assert isinstance(kept, dict)
            index, etag = kept["index"], kept["etag"]
        registry = read_registry(index)
    # OSError holds what urllib raises, and time-outs; ValueError what is no index.
    except (OSError, ValueError, _Broken) as error:
        raise RegistryUnavailable(
            f"the agent registry could not be fetched: {_reason(error)} ({url})",
            hint="what was fetched before is still used" if before is not None else "",
        ) from error
    try:
        write_kept(file, {"fetched_at": now(), "etag": etag, "index": index})
    except OSError as error:
        raise RegistryUnavailable(
            f"the agent registry was fetched, but cannot be kept in {file}: {error.strerror or error}",
            hint="look at the rights of the folder, and whether its disk is full",
        ) from error
    return CachedRegistry(registry, now(), etag)


class _Broken(Exception):
    """It was not sent as it should be."""


def _fetch(url: str, etag: str, limit_s: float) -> tuple[str | None, str]:
    """The index, None where it is the one with that tag, and its tag."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen  # 30 ms that only an update pays

    from acp_tui import __version__

    headers = {"User-Agent": f"acp-tui/{__version__}", "Accept": "application/json"}
    deadline = time.monotonic() + limit_s
    try:
        request = Request(url, headers=headers | ({"If-None-Match": etag} if etag else {}))
        with urlopen(request, timeout=limit_s) as response:
            if url.startswith("https:") and not response.url.startswith("https:"):
                raise _Broken("it leads to an address without https")
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
    cause = getattr(error, "reason", error)  # urllib wraps what the network said
    return str(getattr(cause, "strerror", None) or cause) or type(error).__name__
