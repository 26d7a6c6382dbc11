"""The full names of who runs this, as the system and git know them; where they stand in a text is `ledger`'s."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Mapping
from typing import Final

_VARIABLES: Final = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "FULLNAME", "DEBFULLNAME")
WITHIN_S: Final = 5


def full_names(environ: Mapping[str, str]) -> frozenset[str]:
    """All that are known; it blocks for as long as git takes."""
    names = {environ.get(name, "") for name in _VARIABLES}
    names |= {_of_account(), _of_git(environ)}
    return frozenset(name for each in names if (name := each.strip()))


def _of_account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:  # a container with a number for a user
        return ""


def _of_git(environ: Mapping[str, str]) -> str:
    # What is global only: the settings of a project are whoever's it is.
    command = ("git", "config", "--global", "--get", "user.name")
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")
