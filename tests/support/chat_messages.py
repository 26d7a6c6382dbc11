"""A thousand English messages as people write them to coding agents, made of beginnings and ends."""

from __future__ import annotations

from typing import Final

_BEGINNINGS: Final = (
    "you forgot", "yes but first check", "yeah, also look at", "yesterday I changed", "your last change broke",
    "no need to touch", "now fix", "nice, next is", "not sure about", "nothing in the docs mentions",
    "and then update", "also rename", "actually, revert", "after that, run", "add a test for",
    "any idea why this fails:", "are you sure about", "ask me before you touch", "all callers use",
    "what about", "why did you change", "wait, look at", "when is this used:", "we don't need", "with more care:",
    "1. add tests for", "2 things: first", "100 files still use", "3rd time this happens in", "0 tests cover",
    "fix the bug in", "find where we call", "for now leave", "run the tests of", "read", "remove", "rewrite",
    "please simplify", "can you explain", "the cache breaks",
)  # fmt: skip
_ENDS: Final = (
    "the tests", "the parser", "setup.py", "the README, it is out of date", "the migration and its rollback",
    "the login form", "src/app/main.ts", "that helper", "the retry logic", "the flaky test in CI",
    "error handling there", "the type hints", "the new endpoint", "line 42", "the logging config",
    "how dates are parsed", "the Dockerfile", "this function", "the old API", "both branches",
    "the build on Windows", "the naming", "y and n options", "all 12 warnings", "it, thanks",
)  # fmt: skip
MESSAGES: Final = tuple(f"{beginning} {end}" for beginning in _BEGINNINGS for end in _ENDS)
