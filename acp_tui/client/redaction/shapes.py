"""What keys and tokens of well-known services look like; a key of any other looks like nothing, and is not found here.

Each has a sign, which is looked for first: nearly no text holds one, and a pattern takes ten times as
long. What stands before the sign decides, too, since "risk-" holds "sk-".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Shape(NamedTuple):
    """One kind of key."""

    sign: str
    pattern: re.Pattern[str]
    kind: str = "key"


def _shape(sign: str, rest: str, kind: str = "key") -> Shape:
    return Shape(sign, re.compile(f"{re.escape(sign)}(?<![A-Za-z0-9]{re.escape(sign)}){rest}"), kind)


# What may be long is taken whole, with nothing required behind it: else a long line takes its length squared.
SHAPES: Final = (
    # AWS
    _shape("A", r"(?:KIA|SIA|GPA|IDA|ROA|NPA)[A-Z0-9]{16}(?![A-Z0-9])"),
    # Google: API keys, access and refresh tokens, client secrets
    _shape("AIza", r"[\w-]{30,}"), _shape("ya29.", r"[\w-]{20,}"), _shape("1//0", r"[\w-]{30,}"),
    _shape("GOCSPX-", r"[\w-]{20,}"),
    # GitHub, GitLab, Bitbucket and Atlassian
    _shape("gh", r"[opusr]_[A-Za-z0-9]{20,}"), _shape("github_pat_", r"\w{22,}"),
    _shape("gl", r"(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{16,}"),
    _shape("ATATT3", r"[\w=-]{20,}"), _shape("ATBB", r"[A-Za-z0-9]{24,}"),
    # OpenAI, Anthropic and others that took it up; Stripe
    _shape("sk-", r"[\w-]{16,}"), _shape("whsec_", r"[A-Za-z0-9+/=]{16,}"),
    _shape("sk_", r"(?:live|test)_[A-Za-z0-9]{10,}"), _shape("pk_", r"(?:live|test)_[A-Za-z0-9]{10,}"),
    _shape("rk_", r"(?:live|test)_[A-Za-z0-9]{10,}"),
    # Other models
    _shape("hf_", r"[A-Za-z0-9]{16,}"), _shape("gsk_", r"[A-Za-z0-9]{20,}"), _shape("xai-", r"[A-Za-z0-9]{20,}"),
    _shape("pplx-", r"[A-Za-z0-9]{20,}"), _shape("nvapi-", r"[\w-]{20,}"), _shape("r8_", r"[A-Za-z0-9]{20,}"),
    # Slack
    _shape("xox", r"[abeoprs]-[\w-]{10,}"), _shape("xapp-", r"[\w-]{10,}"),
    Shape("hooks.slack.com/", re.compile(r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}")),
    # Registries
    _shape("npm_", r"[A-Za-z0-9]{20,}"), _shape("pypi-", r"[\w-]{20,}"), _shape("rubygems_", r"[a-f0-9]{20,}"),
    _shape("dckr_pat_", r"[\w-]{20,}"),
    # Clouds and the rest
    _shape("SG.", r"[\w-]{16,}\.[\w-]{16,}"), _shape("dop_v1_", r"[a-f0-9]{32,}"), _shape("hvs.", r"[\w-]{20,}"),
    _shape("shpat_", r"[a-fA-F0-9]{20,}"), _shape("lin_api_", r"[A-Za-z0-9]{20,}"), _shape("ntn_", r"[A-Za-z0-9]{20,}"),
    _shape("AGE-SECRET-KEY-", r"[A-Z0-9]{20,}", "private key"),
    # Azure: client secrets, signatures in URLs
    Shape("8Q~", re.compile(r"(?<![\w.~-])[\w.~-]{3}8Q~[\w.~-]{31,}")),
    Shape("sig=", re.compile(r"(?<=[?&]sig=)[A-Za-z0-9%+/=]{20,}")),
    # SSH: a public key tells who somebody is
    Shape("ssh-", re.compile(r"(?<=ssh-)(?:rsa|ed25519|dss) AAAA[A-Za-z0-9+/=]{40,}")),
    Shape("ecdsa-", re.compile(r"(?<=ecdsa-)sha2-nistp\d+ AAAA[A-Za-z0-9+/=]{40,}")),
)  # fmt: skip

_WEB_TOKEN: Final = re.compile(r"eyJ(?<![A-Za-z0-9]eyJ)[\w.-]{12,}")
_ITS_PARTS: Final = re.compile(r"[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]+)*")


def has_shape(text: str) -> bool:
    """Whether there is one."""
    return "eyJ" in text or any(shape.sign in text and shape.pattern.search(text) for shape in SHAPES)


def shaped(text: str) -> Iterator[tuple[int, int, str]]:
    """Where in a text keys and tokens stand, and of what kind they are."""
    for sign, pattern, kind in SHAPES:
        if sign in text:
            for found in pattern.finditer(text):
                yield *found.span(), kind
    if "eyJ" in text:
        for found in _WEB_TOKEN.finditer(text):
            parts = _ITS_PARTS.match(found[0])
            if parts is not None:
                yield found.start(), found.start() + parts.end(), "token"
