"""Downloads an agent's archive and unpacks it: a program of its own, so that whoever starts it can end it.

`archive.py size URL` prints the size of the download, `archive.py install URL SHA256 FOLDER PROGRAM` the SHA-256 of
what it has unpacked into the empty folder. On stderr are its progress, and why it failed. It imports only the standard
library. Nothing in an archive is trusted: all of it stays in the folder, and no file is written through a link.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

SILENCE_LIMIT_S: Final = 30.0
MAX_BYTES: Final = 2 << 30
MAX_UNPACKED_BYTES: Final = 4 << 30
MAX_FILES: Final = 100_000
_CHUNK_BYTES: Final = 1 << 20
_MB: Final = 1_000_000


class Refused(Exception):
    """The archive isn't what it must be. The message says why."""


class Member(NamedTuple):
    """A file of an archive, a folder (without content), or a link (with its target)."""

    name: str
    content: IO[bytes] | None = None
    is_executable: bool = False
    target: str | None = None


class _HttpsOnly(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if not newurl.startswith("https:"):
            raise Refused("it redirects to an address without https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open(address: str | Request) -> Any:
    return build_opener(_HttpsOnly).open(address, timeout=SILENCE_LIMIT_S)


def download(url: str, file: IO[bytes]) -> str:
    """Write what is at the address into the file. Returns its SHA-256."""
    digest, done = sha256(), 0
    with _open(url) as response:
        total = int(response.headers.get("Content-Length") or 0)
        while chunk := response.read(_CHUNK_BYTES):
            done += len(chunk)
            if done > MAX_BYTES:
                raise Refused(f"it is larger than {MAX_BYTES >> 30} GiB")
            digest.update(chunk)
            file.write(chunk)
            _tell(f"downloaded {done // _MB} MB" + (f" of {total // _MB} MB" if total else ""))
        if done < total:
            raise Refused("the download was cut off")
    return digest.hexdigest()


def unpack(file: IO[bytes], name: str, folder: Path, program: str) -> None:
    """Unpack the archive, whose kind its name says, into an empty folder. What is no archive is the program itself."""
    file.seek(0)
    if name.endswith(".zip"):
        with zipfile.ZipFile(file) as archive:
            _write(_of_zip(archive), folder)
    elif re.search(r"\.(tar\.(gz|bz2)|tgz|tbz2)$", name):
        with tarfile.open(fileobj=file) as archive:
            _write(_of_tar(archive), folder)
    else:
        _write(iter([Member(program, file)]), folder)
    found = folder / program
    if not (_is_within(found, folder) and found.is_file()):
        raise Refused(f"it has no program {program}")
    found.chmod(0o700)


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    for entry in archive.infolist():
        mode = entry.external_attr >> 16
        if entry.is_dir():
            yield Member(entry.filename)
        elif stat.S_ISLNK(mode):
            with archive.open(entry) as content:
                yield Member(entry.filename, target=os.fsdecode(content.read(os.pathconf("/", "PC_PATH_MAX"))))
        elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
            with archive.open(entry) as content:
                yield Member(entry.filename, content, bool(mode & stat.S_IXUSR))
        else:
            raise Refused(f"it holds {entry.filename}, which is neither a file nor a folder")


def _of_tar(archive: tarfile.TarFile) -> Iterator[Member]:
    for entry in archive:
        if entry.isdir():
            yield Member(entry.name)
        elif entry.issym():
            yield Member(entry.name, target=entry.linkname)
        elif entry.isreg() or entry.islnk():  # a hard link becomes a copy
            yield Member(entry.name, archive.extractfile(entry), bool(entry.mode & stat.S_IXUSR))
        else:
            raise Refused(f"it holds {entry.name}, which is neither a file nor a folder")


def _write(members: Iterator[Member], folder: Path) -> None:
    """Links come last: until then, every path is what it says, and afterwards, each is checked."""
    links: dict[Path, str] = {}
    left = MAX_UNPACKED_BYTES
    for number, member in enumerate(members, 1):
        if number > MAX_FILES:
            raise Refused(f"it holds more than {MAX_FILES} files")
        inner = PurePosixPath(member.name)
        if inner.is_absolute() or ".." in inner.parts:
            raise Refused(f"it holds {member.name}, which would be outside its folder")
        path = folder / inner
        if member.target is not None:
            links[path] = member.target
        elif member.content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as written:
                while chunk := member.content.read(_CHUNK_BYTES):
                    left -= len(chunk)
                    if left < 0:
                        raise Refused(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 30} GiB")
                    written.write(chunk)
            path.chmod(0o700 if member.is_executable else 0o600)
    for path in links:
        path.parent.mkdir(parents=True, exist_ok=True)
    for path, target in links.items():
        path.symlink_to(target)
    for path, target in links.items():
        if not _is_within(path, folder):
            raise Refused(f"it holds a link to {target}, which is outside its folder")


def _is_within(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def install(url: str, digest: str, folder: Path, program: str) -> str:
    """Fill the empty folder, if the download has the SHA-256 `digest`, or if that is "". Returns its SHA-256."""
    if not url.startswith("https:"):
        raise Refused("its address isn't one of https")
    with tempfile.TemporaryFile(dir=folder) as file:
        found = download(url, file)
        if digest and found != digest.lower():
            raise Refused(f"it isn't the file that the registry lists: its SHA-256 is {found}, not {digest.lower()}")
        _tell("unpacking")
        unpack(file, PurePosixPath(urlsplit(url).path).name.lower(), folder, program)
    return found


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main(words: list[str]) -> int:
    """Do what the command line says. Returns the exit status."""
    try:
        match words:
            case ["size", url]:
                with _open(Request(url, method="HEAD")) as response:
                    size = int(response.headers.get("Content-Length") or 0)  # 0: the server doesn't tell
                sys.stdout.write(f"{size}\n")
            case ["install", url, digest, folder, program]:
                sys.stdout.write(f"{install(url, digest, Path(folder), program)}\n")
            case _:
                raise Refused("wrong use")
    except HTTPError as error:
        _tell(f"the server answered {error.code} {error.reason}")
        return 1
    # OSError includes what urllib raises; RuntimeError and NotImplementedError are for encrypted files.
    except (
        *(Refused, OSError, HTTPException, ValueError, RuntimeError, LookupError),
        *(tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError),
    ) as error:
        cause = getattr(error, "reason", error)  # urllib wraps the network's error
        _tell(" ".join(str(getattr(cause, "strerror", None) or cause or type(error).__name__).split()))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
