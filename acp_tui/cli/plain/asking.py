"""Questions in words: one of several, yes or no. What they are about is others' matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from acp_tui.cli.plain.console import Console
from acp_tui.conversation.visible import make_visible_line

WITHDRAWN: Final = "(no answer is needed any more)"
"""Said where the agent takes a question back, or the turn is cancelled."""


async def choose(console: Console, question: str, choices: Sequence[str]) -> int | None:
    """The index of the choice whose number the user types; None for an empty line, and at the end of input."""
    rows = [f"  {number}  {make_visible_line(choice)}" for number, choice in enumerate(choices, 1)]
    console.say("\n".join([question, *rows]))
    is_guarded = True
    while True:
        line = await console.ask(f"1-{len(choices)}, or Enter for none: ", is_guarded=is_guarded)
        if not line:
            return None
        number = number_in(line, len(choices))
        if number is not None:
            return number - 1
        is_guarded = False


def number_in(line: str, most: int) -> int | None:
    """The number from 1 to `most` that the line is; None where it is anything else."""
    is_number = line.isascii() and line.isdigit() and len(line) < 10
    return int(line) if is_number and 1 <= int(line) <= most else None


async def confirm(console: Console, question: str) -> bool:
    """Whether the user says yes; an empty line is no."""
    return (await console.ask(f"{question} [y/N] ") or "").lower() in ("y", "yes")
