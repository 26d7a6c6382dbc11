"""Leaves out of a report what is nobody else's business: secrets, and where the user's home is.

What was given as a secret is found wherever it is said again; what only looks like one is masked as well. A report is
to be read before it is shown to others all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from acp_tui.client.settings.masking import MASK, is_token_count

SECRET_NAME: Final = re.compile(r"(?i)key|token|secret|passw|credential|auth|cookie|session_?id")
LEAST_SECRET: Final = 6
"""A shorter value is found in words that are none, and is none itself."""
_LOOKS_SECRET: Final = re.compile(
    r"(?i:\bbearer\s+)[\w.~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abps]|npm|AKIA|AIza|hf)[-_]?[A-Za-z0-9][\w-]{14,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*"  # a JSON web token
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # a name and a password in a URL
)
_NAMED: Final = re.compile(
    # Neither from the beginning of the name nor far behind it: a long word would take its length squared.
    r"(?i)((?:key|token|secret|passw(?:or)?d|credential|authorization)[\w-]{0,40})"
    r"([\"']?\s*[=:]\s*[\"']?)([^\s\"',;]+)"
)


def leaving_out(environ: Mapping[str, str], values: Iterable[str], home: str) -> Callable[[str], str]:
    """What takes secrets out of a text: those of the environment, the given ones, and what looks like one."""
    secrets = {value for name, value in environ.items() if SECRET_NAME.search(name)} | {*values}
    # The longest first: one may be a part of another.
    known = sorted((secret for secret in secrets if len(secret) >= LEAST_SECRET), key=len, reverse=True)
    at_home = re.compile(re.escape(home.rstrip("/")) + r"(?![\w.-])") if home.rstrip("/") else None

    def clean(text: str) -> str:
        for secret in known:
            text = text.replace(secret, MASK)
        text = _NAMED.sub(_masked, _LOOKS_SECRET.sub(MASK, text))
        return at_home.sub("~", text) if at_home is not None else text

    return clean


def _masked(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    return found[0] if is_token_count(found.string, found.end(1), value) else f"{name}{between}{MASK}"


def masked_words(argv: Iterable[str]) -> list[str]:
    """The words of a command line; what stands behind an option such as `--api-key` is masked."""
    words: list[str] = []
    is_secret = False
    for word in argv:
        name, equals, value = word.partition("=")
        if is_secret and not word.startswith("-"):
            words.append(MASK)
        elif equals and SECRET_NAME.search(name) and not is_token_count(name, len(name), value):
            words.append(f"{name}={MASK}")
        else:
            words.append(word)
        is_secret = word.startswith("-") and not equals and SECRET_NAME.search(name) is not None
    return words
