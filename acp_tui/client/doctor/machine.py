"""Looks at what acp-tui needs of the machine: Python, its own folders, the settings, programs. It changes nothing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from acp_tui import __version__
from acp_tui.client.errors import SettingsError
from acp_tui.client.settings import Settings, cache_folder, read_settings, settings_file, state_folder


class Verdict(Enum):
    """The value is what a report says, and the JSON form."""

    OK = "ok"
    NOTE = "note"
    """Something will be missing, or odd; one can work all the same."""
    WRONG = "wrong"
    """This has to be mended first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    """One or two words."""
    verdict: Verdict
    text: str
    """What is so."""
    hint: str = ""
    """What to do about it."""
    lines: tuple[str, ...] = ()
    """What was said there, line by line, as it was."""


def ok(topic: str, text: str) -> Finding:
    """It is as it should be."""
    return Finding(topic, Verdict.OK, text)


def note(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> Finding:
    """It is good to know."""
    return Finding(topic, Verdict.NOTE, text, hint, lines)


def wrong(topic: str, text: str, hint: str = "", lines: tuple[str, ...] = ()) -> Finding:
    """It is in the way."""
    return Finding(topic, Verdict.WRONG, text, hint, lines)


VERSION_LIMIT_S: Final = 5.0
PROGRAMS: Final = (
    # The program that counts, what it is for, and one that comes with it.
    ("git", "the changes of a repository, the files that @ offers", ""),
    ("node", "agents that come as npm packages", "npx"),
    ("uv", "agents that come as Python packages", "uvx"),
)
CLIPBOARDS: Final = ("wl-copy", "xclip", "xsel", "pbcopy", "clip.exe")


def look_at_machine(
    environ: Mapping[str, str], unusable: Callable[[Settings], Sequence[str]] = lambda _: ()
) -> Iterator[Finding]:
    """Everything, in the order of a report. It blocks: programs are asked for their version.

    `unusable` tells what of settings that can be read nobody can use, such as a theme that there is not.
    """
    yield ok("acp-tui", __version__)
    yield ok("Python", f"{platform.python_version()} ({sys.executable})")
    yield ok("System", f"{platform.system()} {platform.release()}, {platform.machine()}")
    yield from _folders()
    yield _settings(unusable)
    yield from _programs(environ)
    yield _clipboard(environ)


# Folders


def _folders() -> Iterator[Finding]:
    yield _config_folder(settings_file().parent)
    for name, folder in (("State", state_folder()), ("Cache", cache_folder())):
        yield _kept_folder(name, folder)


def _config_folder(folder: Path) -> Finding:
    try:
        any(folder.iterdir())
    except FileNotFoundError:
        return ok("Config", f"{folder} (not there: the defaults hold)")
    except OSError as error:
        return wrong("Config", f"{folder} cannot be read: {error.strerror}", "mend its owner and mode")
    return ok("Config", str(folder))


def _kept_folder(name: str, folder: Path) -> Finding:
    """Work goes on without it, but nothing is kept."""
    existing = next(each for each in (folder, *folder.parents) if each.exists() or each == Path(each.anchor))
    if not existing.is_dir():
        return note(name, f"{folder} cannot be made: {existing} is a file", "move it away")
    if not os.access(existing, os.W_OK | os.X_OK):
        what = "cannot be written" if existing == folder else f"cannot be made: {existing} cannot be written"
        return note(name, f"{folder} {what}: nothing is kept there", "mend its owner and mode")
    return ok(name, str(folder) if existing == folder else f"{folder} (made when it is needed)")


# Settings


def _settings(unusable: Callable[[Settings], Sequence[str]]) -> Finding:
    file = settings_file()
    try:
        read = read_settings(file)
    except SettingsError as error:
        return wrong("Settings", str(error), "mend it or move it away")
    said = (*map(str, read.problems), *read.warnings, *unusable(read.settings))
    if said:
        return note(
            "Settings", f"{len(said)} {'things are' if len(said) > 1 else 'thing is'} wrong", lines=said
        )
    return ok("Settings", str(file) if file.exists() else "the defaults")


# Programs


def _programs(environ: Mapping[str, str]) -> Iterator[Finding]:
    for program, purpose, companion in PROGRAMS:
        found = shutil.which(program, path=environ.get("PATH"))
        if found is None:
            yield note(program, f"not found: it is needed for {purpose}")
        elif companion and shutil.which(companion, path=environ.get("PATH")) is None:
            yield note(
                program, f"{_version(found)} ({found}), but {companion} is not found: needed for {purpose}"
            )
        else:
            yield ok(program, f"{_version(found)} ({found})")


def _version(program: str) -> str:
    """What it says of its version, in a line."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=VERSION_LIMIT_S,
            check=True,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "does not say its version"
    return done.stdout.decode("utf-8", "replace").strip().partition("\n")[0][:80]


def _clipboard(environ: Mapping[str, str]) -> Finding:
    found = next((tool for tool in CLIPBOARDS if shutil.which(tool, path=environ.get("PATH"))), None)
    if found is None:
        return note(
            "Clipboard", "no tool is found: copies go through the terminal (OSC 52), where it takes them"
        )
    return ok("Clipboard", found)
