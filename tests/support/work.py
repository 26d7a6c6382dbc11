"""Counts work in calls: a measure that no clock, machine, or other process disturbs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

LINEAR: Final = 2.2
"""The most that calls may grow for twice the size; by four would be quadratic."""


def calls(run: Callable[[], object]) -> int:
    """How many functions it calls, in Python and in C. What is loaded or cached by a first run doesn't count."""
    count = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    run()
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def growth(run: Callable[[int], object], size: int, *, besides: int = 100) -> float:
    """How many times the calls of `run(size)` twice the size takes, without some `besides` that any size takes."""
    return (calls(lambda: run(2 * size)) - besides) / calls(lambda: run(size))
