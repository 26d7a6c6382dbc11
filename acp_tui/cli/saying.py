"""What is said to the user in lines: words of ours, errors, and reports, without secrets where others see them.

Much of it comes from files, agents and registries, so it is made visible.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from acp_tui.client.errors import ClientError
from acp_tui.client.secrets.masking import Masker
from acp_tui.conversation.visible import make_visible, make_visible_line

Clean: TypeAlias = Callable[[str], str]
"""Makes a line of what an agent said, without secrets and the user's home."""

LEAST_COLUMNS: Final = 40


def say(text: str) -> None:
    """Say it on stderr; it may have several lines."""
    sys.stderr.write(f"acp-tui: {make_visible(text)}\n")


def say_error(error: ClientError) -> None:
    """What went wrong, and what to do, on stderr."""
    sys.stderr.write(f"{error_text(error)}\n")


def error_text(error: ClientError) -> str:
    """The error with its cause and what to do, a line each."""
    more = (line.removeprefix("  ") for line in f"{error.detail}\n{error.hint}".splitlines() if line.strip())
    return "\n  ".join(["acp-tui: " + make_visible(str(error)), *map(make_visible, more)])


# Reports


def cleaning(given: Mapping[str, str]) -> Clean:
    """What cleans a text of the secrets of our environment and of those `given` to the agent in its own.

    What only looks like a secret is masked as well. A report is to be read before it is shown to others all the same.
    """
    masker = Masker(os.environ)
    masker.learn(given)
    home = os.environ.get("HOME", "").rstrip("/")
    at_home = re.compile(re.escape(home) + r"(?![\w.-])") if home else None

    def clean(text: str) -> str:
        masked = masker.line(text)
        return make_visible_line(at_home.sub("~", masked) if at_home is not None else masked)

    return clean


def columns() -> int | None:
    """Of the terminal; None: a pipe or a file takes any width."""
    return max(shutil.get_terminal_size().columns, LEAST_COLUMNS) if sys.stdout.isatty() else None


def wrapped(text: str, before: str, behind: str = "") -> str:
    """The text between the margins: `before` in its first line, `behind` in the others."""
    width = columns() or len(before + text) + 1
    # Not at hyphens: an option such as --api-key is to be copied whole.
    return textwrap.fill(text, width, initial_indent=before, subsequent_indent=behind, break_on_hyphens=False)
