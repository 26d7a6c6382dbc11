"""How git is called in a folder that nobody vouches for: nothing that its repository configures is run.

Hooks, the file system monitor, the pager, the network and prompts are off in every call. Content filters are not: calls
that could run one (`diff-files`, `cat-file --filters`) take every configured one away themselves. What is asked, and
what the answers mean, is the callers' matter.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone fetches what it lacks, by programs that its configuration names.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
# Of the user's own variables those that point to another repository must not count.
_KEPT_VARIABLES: Final = (
    *("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL"),
    *("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
)


def git_command(*words: str, settings: Sequence[str] = ()) -> list[str]:
    """The command line for these words, with more `settings` ("key=value") than those that make it safe."""
    overrides = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    return ["git", *overrides, *words]


def git_environment() -> dict[str, str]:
    """What git is to inherit."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    return own | _ENVIRONMENT
