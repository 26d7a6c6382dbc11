"""The full names of who runs this, as the system and git know them; where they stand in a text is `ledger`'s."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from typing import Final

from acp_tui.client.safe_git import ask_git_global

_VARIABLES: Final = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "FULLNAME", "DEBFULLNAME")


def full_names(environ: Mapping[str, str]) -> frozenset[str]:
    """All that are known; it blocks for as long as git takes."""
    names = {environ.get(name, "") for name in _VARIABLES}
    # Of git what is global only: the settings of a project are whoever's it is.
    names |= {_of_account(), ask_git_global("user.name", environ)}
    return frozenset(name for each in names if (name := each.strip()))


def _of_account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:  # a container with a number for a user
        return ""
