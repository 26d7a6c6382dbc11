"""What of the environment has to be right before anything else: home, locale, a terminal that can be drawn on.

It is loaded at every start, so it brings nothing along.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Final

NO_SCREEN: Final = frozenset({"", "dumb", "unknown"})
"""Values of TERM of what cannot move a cursor."""
COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})


def find_home(environ: MutableMapping[str, str]) -> None:
    """Set HOME where it is missing, as a login would: else our folders would be made below one that is called `~`.

    A user whom the system does not know (as in some containers) gets "/", where nothing can be kept.
    """
    if environ.get("HOME", "").startswith("/"):
        return
    import pwd

    try:
        environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:
        environ["HOME"] = "/"


def forget_coerced_locale(environ: MutableMapping[str, str]) -> None:
    """Take back what Python sets where the locale is C (PEP 538): the user's terminal shows no more for it."""
    if environ.get("LANG") in ("C", "POSIX") and environ.get("LC_CTYPE") in COERCED:
        del environ["LC_CTYPE"]


def reason_not_to_draw(environ: Mapping[str, str]) -> str:
    """Why no full screen can be drawn on this terminal, and what to do; "" where it can."""
    term = environ.get("TERM", "")
    if term not in NO_SCREEN:
        return ""
    what = f"TERM={term} is a terminal that cannot be drawn on" if term else "TERM is not set"
    return (
        f"{what}, and acp-tui fills a screen\n"
        "  acp-tui AGENT --plain works line by line, acp-tui exec does one turn without a screen;\n"
        "  else set TERM to what the terminal is, such as xterm-256color"
    )
