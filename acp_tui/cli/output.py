"""Messages to the user in lines: our own words, errors, and reports without secrets, which others may read.

Much of the text comes from files, agents, and registries, so it's made visible.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from acp_tui.cli.command import Late
from acp_tui.client.errors import ClientError
from acp_tui.client.secrets.masking import Masker
from acp_tui.conversation.visible import make_visible, make_visible_line

if TYPE_CHECKING:
    import acp_tui.cli.schemas
else:
    acp_tui = Late("acp_tui")

Clean: TypeAlias = Callable[[str], str]
"""Cleans a line from an agent by removing secrets and the user's home folder."""

MIN_COLUMNS: Final = 40
STEP_CELLS: Final = 60
CLEAR_LINE: Final = b"\r\x1b[K"


def say(text: str) -> None:
    """Print on stderr. The text may have several lines."""
    sys.stderr.write(f"acp-tui: {make_visible(text)}\n")


def show_step(what: str) -> None:
    """On a terminal, show what is being done, in place of the step before; "" for nothing."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), CLEAR_LINE)
        sys.stderr.write(what and f"... {what[:STEP_CELLS]}")
        sys.stderr.flush()


def say_error(error: ClientError) -> None:
    sys.stderr.write(f"{error_text(error)}\n")


def print_json(name: str, data: object, problems: Sequence[str] = ()) -> None:
    print(acp_tui.cli.schemas.json_text(name, data, problems))


def error_text(error: ClientError) -> str:
    """Return the error, its cause, and what to do, each on its own line."""
    more = (line.removeprefix("  ") for line in f"{error.detail}\n{error.hint}".splitlines() if line.strip())
    return "\n  ".join(["acp-tui: " + make_visible(str(error)), *map(make_visible, more)])


# Reports


def make_cleaner(args: Mapping[str, str]) -> Clean:
    """Return a function that removes secrets in our environment and those `given` to the agent in its own.

    It also masks what only looks like a secret. Still, read a report before you share it.
    """
    masker = Masker(os.environ)
    masker.learn(args)
    home = os.environ.get("HOME", "").rstrip("/")
    at_home = re.compile(re.escape(home) + r"(?![\w.-])") if home else None

    def clean(text: str) -> str:
        masked = masker.line(text)
        return make_visible_line(at_home.sub("~", masked) if at_home is not None else masked)

    return clean


def columns() -> int | None:
    """Return the terminal's width; None for a pipe or file, where any width is fine."""
    return max(shutil.get_terminal_size().columns, MIN_COLUMNS) if sys.stdout.isatty() else None


def wrapped(text: str, before: str, behind: str = "") -> str:
    """Wrap text between margins: `before` on its first line, `behind` on the others."""
    width = columns() or len(before + text) + 1
    # Don't break at hyphens, so that options such as --api-key can be copied whole.
    return textwrap.fill(text, width, initial_indent=before, subsequent_indent=behind, break_on_hyphens=False)
