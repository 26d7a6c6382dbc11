"""The shapes of keys and tokens of well-known services. Other keys have no known shape and aren't found here.

Each shape has a sign that is searched for first, because hardly any text contains one, and a pattern takes ten times as
long. What precedes the sign matters, too: "risk-" contains "sk-". If a sign could begin an ordinary word, the rest has
to look random.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from time import sleep
from typing import Final, NamedTuple

MIN_RANDOM: Final = 16
MIN_ENTROPY: Final = 3.0
"""Bits per character."""


class Shape(NamedTuple):
    sign: str
    pattern: str
    kind: str = "key"
    is_random: bool = False
    """It counts only with uppercase letters, lowercase letters, and digits, because no word has all of them."""


_ESCAPES: Final = (r"\\[nrt]", r"%[0-9A-Fa-f][0-9A-Fa-f]", r"[\[;0-9][0-9]m", r"\[m")
"""\\n in JSON inside a text, %3D in a URL, and the end of a color in a terminal. A key may follow any of them."""


def _begins(sign: str) -> str:
    """The sign where a key may begin: not after a letter or digit, unless that ends an escape of some kind."""
    sign = re.escape(sign)
    return f"{sign}(?:(?<![A-Za-z0-9]{sign})|{'|'.join(f'(?<={end}{sign})' for end in _ESCAPES)})"


_BEGIN: Final = _begins("")


def _shapes(rest: str, *signs: str, kind: str = "key", is_random: bool = False) -> tuple[Shape, ...]:
    return tuple(Shape(sign, _begins(sign) + rest, kind, is_random) for sign in signs)


def _behind(rest: str, *signs: str) -> tuple[Shape, ...]:
    """A secret that follows the sign, without the sign itself."""
    return tuple(Shape(sign, f"(?<={re.escape(sign)}){rest}") for sign in signs)


def _around(before: str, sign: str, rest: str) -> Shape:
    """A key that contains its sign. `before` has a fixed length or a recognizable beginning."""
    return Shape(sign, f"{_BEGIN}{before}{re.escape(sign)}{rest}")


AWS_IDS: Final = ("AKIA", "ASIA", "ABIA", "ACCA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA", "AIPA", "APKA", "ASCA")
"""The prefixes of IDs of Amazon's keys. 16 letters and digits follow."""
_HEX: Final = "[0-9a-f]"
_B64: Final = "[A-Za-z0-9+/]"

# Patterns take long parts completely and require nothing after them. Otherwise, a long line takes quadratic time.
SHAPES: Final = (
    # AWS: IDs of all kinds of keys, Bedrock keys, sessions
    *_shapes(r"[A-Z0-9]{16}(?![A-Za-z0-9])", *AWS_IDS),
    *_shapes(r"[A-Z0-9]{17}(?![A-Za-z0-9])", "A3T"),
    *_shapes(rf"{_B64}{{40,}}", "ABSK"), *_shapes(rf"{_B64}{{40,}}", "IQoJb3JpZ2lu", "FwoGZXIvYXdz"),
    *_shapes(r"[\w=-]{20,}", "bedrock-api-key-"),
    # Google: API keys, access and refresh tokens, client secrets, messaging
    *_shapes(r"[\w-]{30,}", "AIza", "1//0", "AQ.A"), *_shapes(r"[\w-]{20,}(?:\.[\w-]+)*", "ya29."),
    *_shapes(r"[\w-]{20,}", "GOCSPX-"),
    *_shapes(r"[\w-]{7}:APA91[\w-]{60,}", "AAAA"),
    # Azure: keys of storage and other services, client secrets, signatures and keys in URLs, DevOps
    *_behind(r"[A-Za-z0-9+/=%]{20,}", "AccountKey=", "SharedAccessKey=", "?sig=", "&sig=", "&amp;sig="),
    *(_around(rf"{_B64}{{76}}", sign, rf"{_B64}{{5,8}}={{0,2}}") for sign in ("+ASt", "+ABa", "+AMC", "ACDb", "APIM")),
    *(_around(r"[\w.~-]{3}", sign, r"[\w.~-]{30,}[\w~-]") for sign in ("7Q~", "8Q~", "9Q~")),
    _around(r"[A-Za-z0-9]{76}", "AZDO", r"[A-Za-z0-9]{4}"),
    # GitHub, GitLab, Bitbucket, and Atlassian
    *_shapes(r"[A-Za-z0-9]{20,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"), *_shapes(r"\w{22,}", "github_pat_"),
    *_shapes(r"[\w-]{16,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,})?", *(f"gl{kind}-" for kind in (
        "pat", "ptt", "dt", "rt", "rtr", "cbt", "imt", "agent", "oas", "ft", "soat", "ffct", "wt"))),
    *_shapes(r"[\w-]{20}", "GR1348941"),
    *_shapes(r"[\w=-]{20,}", "ATATT3", "ATCTT3"), *_shapes(r"[A-Za-z0-9]{24,}", "ATBB"),
    # Model providers
    *_shapes(r"[\w-]{16,}", "sk-"), *_shapes(r"[A-Za-z0-9_]{16,}", "hf_", is_random=True),
    *_shapes(r"[A-Za-z]{34}(?![A-Za-z0-9_])", "hf_"),
    *_shapes(r"[A-Za-z0-9]{24,}", "api_org_"),
    *_shapes(r"[A-Za-z0-9]{20,}", "gsk_", "xai-", "pplx-", "r8_", "jina_", "tgp_v1_", "e2b_", "bb_live_",
             "bb_test_", "cpk_", "fw_", "wandb_v1_"),
    *_shapes(r"[\w-]{20,}", "nvapi-", "csk-", "tvly-", "lsv2_pt_", "lsv2_sk_"),
    *_shapes(rf"{_HEX}{{32,}}", "fc-", "sk_"),
    *_shapes(r"[A-Za-z0-9_]{20,}", "pcsk_"), *_shapes(r"[\w-]{40,}", "pa-", is_random=True),
    *_shapes(r"[A-Za-z0-9]{20,}(?![\w-])", "ak-", "as-", is_random=True),
    # Payments
    *_shapes(r"(?:org_)?(?:live|test|prod)_[A-Za-z0-9_]{10,}", "sk_", "pk_", "rk_"),
    *_shapes(r"\d{4,12}_[A-Z0-9]{20,}", "pk_"),
    *_shapes(r"[A-Za-z0-9+/=]{16,}", "whsec_"),
    *_shapes(r"[\w-]{22,}", "sq0csp-", "sq0atp-", "sq0idp-"), *_shapes(r"[\w-]{60}", "EAAA", "EAAl"),
    *_shapes(r"[A-Za-z0-9]{40,}", "EAA", is_random=True),
    *_shapes(r"[a-f0-9]{24,}", "shippo_live_", "shippo_test_", "FLWSECK-", "FLWSECK_TEST-"),
    *_shapes(r"[A-Za-z0-9]{14,}", "rzp_live_", "rzp_test_"), *_shapes(r"[A-Za-z0-9]{50,}", "EZAK", "EZTK"),
    *_shapes(r"[0-9a-z]{16}\$[0-9a-f]{32}", "access_token$production$", "access_token$sandbox$"),
    *_shapes(r"[0-9a-f]{8}-[0-9a-f-]{27}", "access-production-", "access-development-", "access-sandbox-"),
    # Chat and mail
    *_shapes(r"[\w-]{10,}", *(f"xox{kind}-" for kind in "abceoprsd"), "xapp-"),
    *_behind(r"[A-Za-z0-9/]{20,}", "hooks.slack.com/services/", "hooks.slack.com/workflows/",
             "hooks.slack.com/triggers/"),
    *_behind(r"\d{15,}/[\w-]{40,}", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
    *_behind(r"\d{4,}/[A-Za-z0-9/]{5,}", "hooks.zapier.com/hooks/catch/", "hooks.zapier.com/hooks/standard/"),
    *_behind(r"[A-Za-z0-9]{20,}", *(f"hook.{zone}make.com/" for zone in ("eu1.", "eu2.", "us1.", "us2.", "")),
             "hook.integromat.com/", "hook.eu1.make.celonis.com/", "hook.us1.make.celonis.com/"),
    *_behind(r"[\w-]{20,}", "/with/key/"),
    *_behind(r"[\w@/.-]{40,}", "webhook.office.com/webhookb2/", "outlook.office.com/webhook/"),
    Shape(".", rf"(?=[MNO]){_BEGIN}[\w-]{{23,28}}\.[\w-]{{6}}\.[\w-]{{25,80}}(?![\w-])", is_random=True),
    Shape(":", r"(?::)(?<=\d{8}:)[\w-]{34,35}(?![\w-])", is_random=True),
    *_shapes(rf"{_HEX}{{32}}(?![A-Za-z0-9])", "SK", "AC"),
    *_shapes(r"[\w-]{16,}\.[\w-]{16,}", "SG."), _around(rf"{_HEX}{{32}}", "-us", r"[0-9]{1,2}(?![\w-])"),
    *_shapes(rf"{_HEX}{{32}}(?![A-Za-z0-9])", "key-"),
    *_shapes(r"[a-f0-9]{32,}-[A-Za-z0-9]{16}", "xkeysib-", "xsmtpsib-"),
    *_shapes(r"[A-Za-z0-9]{8,}_[A-Za-z0-9]{20,}", "re_"), *_shapes(r"[\w-]{22}", "md-", is_random=True),
    *_shapes(r"[\w-]{36,}", "pat-na1-", "pat-eu1-"), *_shapes(r"[A-Za-z0-9_-]{40,}", "tfp_"),
    # Package registries
    *_shapes(r"[A-Za-z0-9]{20,}", "npm_"), *_shapes(r"[\w-]{20,}", "pypi-"),
    *_shapes(r"[a-f0-9]{20,}", "rubygems_"),
    *_shapes(r"[\w-]{20,}", "dckr_pat_", "dckr_oat_"),
    *_shapes(r"[A-Za-z0-9]{32}(?![A-Za-z0-9])", "cio", is_random=True),
    *_shapes(r"[a-z0-9]{43}(?![A-Za-z0-9])", "oy2"), *_shapes(r"[a-z0-9]{40,}", "CLOJARS_"),
    *_shapes(r"[A-Za-z0-9]{10,}", "AKCp"), *_shapes(r"[A-Za-z0-9]{30,}", "AKC"),
    *_shapes(r"[A-Za-z0-9]{50,}", "cmVmdGtu"),
    *_shapes(r"[A-Za-z0-9]{20,}", *(f"AP{digit}" for digit in "0123456789ABCDEF"), is_random=True),
    # Clouds, databases, builds, monitoring
    *_shapes(r"[A-Za-z0-9]{40,}", "phx_"), *_shapes(r"[\w-]{40,}", "fo1_"),
    *_shapes(rf"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}", "sgp_"), *_shapes(rf"{_HEX}{{64}}", "crsr_", "key_"),
    *_shapes(r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", "A3-"),
    *_shapes(r"[a-f0-9]{32,}", "dop_v1_", "doo_v1_", "dor_v1_"),
    *_shapes(r"[A-Z0-9]{16}(?![A-Za-z0-9])", "DO00", "DO80"),
    *_shapes(r"[\w-]{20,}", "hvs.", "hvb.", "hvr."),
    *_shapes(r"[A-Za-z0-9]{24}(?![\w.(-])", "s.", "b.", "r.", is_random=True),
    *_shapes(r"[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])", "dapi", "dkea", "dose", "dsapi"),
    _around(r"[A-Za-z0-9]{14}", ".atlasv1.", r"[\w=-]{50,}"),
    *_shapes(r"[\w+/=-]{20,}", "sntrys_", "sntryu_", "glsa_", "glc_", "ops_eyJ", "nfp_", "rnd_", "sbp_",
             "sb_secret_", "napi_"),
    *_shapes(r"[\w-]{20,}(?:\.[\w-]+)*", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "dt0c01.", "dt0s01."),
    *_shapes(r"[A-Za-z0-9]{40,}", *(f"dp.{kind}." for kind in ("pt", "ct", "sa", "scim", "audit"))),
    *_shapes(r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}", "dp.st."),
    *_shapes(r"[a-zA-Z0-9/+=]{40,}", "fm1r_", "fm1a_", "fm2_"), *_shapes(r"[\w-]{30,}", "HRKU-"),
    *_shapes(r"[a-zA-Z0-9]{24,}", "vcp_", "vci_", "vca_", "vcr_", "vck_"),
    *_shapes(r"[a-f0-9]{24}-[a-f0-9]{100,}", "v1.0-"), *_shapes(r"[\w-]{40,}", "cfut_", "cfat_", "cfk_"),
    *_shapes(r"[\w-]{19,}", "NRAK-", "NRJS-", "NRRA-", "NRII-", "NRIQ-", "NRSP-", "NRAL-"),
    _around(rf"(?:[a-z]{{2}}\d\dx{{2,4}})?{_HEX}{{28,36}}", "NRAL", ""),
    *_shapes(r"[a-f0-9]{24}-[a-f0-9]{34}", "PMAK-"),
    *_shapes(r"[A-Za-z0-9-]{20,}", "tskey-"),
    *_shapes(r"[a-z0-9]{20,}", "bkua_", "squ_", "sqp_", "sqa_", "pnu_", "pul-"),
    *_shapes(r"[\w-]{30,}", "CCIPAT_", "CFPAT-", "dd_pat_", "ddapp_"),
    *_shapes(r"[a-f0-9]{8}-[a-f0-9-]{27}", "sdk-", "mob-"),
    *_shapes(r"[a-fA-F0-9]{20,}", "shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"),
    *_shapes(r"[A-Za-z0-9]{20,}", "lin_api_", "lin_oauth_", "ntn_"),
    *_shapes(r"[A-Za-z0-9]{43}(?![A-Za-z0-9])", "secret_"),
    *_shapes(r"[\w-]{20,}", "figd_", "figo_", "figor_"), *_shapes(r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", "pat"),
    *_shapes(r"[\w-]{16,}\.[\w-]{16,}", "sk.eyJ"), *_shapes(r"[A-Za-z0-9_-]{26,}", "aio_"),
    *_shapes(r"[A-Za-z0-9]{16,}", "LTAI", is_random=True), *_shapes(r"[A-Za-z0-9]{30,}", "AKID", is_random=True),
    *_behind(r"[A-Za-z0-9]{64}", "api.softlayer.com/soap/v3/", "api.softlayer.com/soap/v3.1/",
             "api.softlayer.com/rest/v3/", "api.softlayer.com/rest/v3.1/"),
    *_shapes(r"(?:u\.)?[\w-]{60,}", "sl.", is_random=True), *_shapes(r"[A-Za-z0-9+/=]{30,}", "essu_"),
    *_shapes(r"\d{9,17}(?:/\d{9,17})?:[0-9a-f]{32}(?![A-Za-z0-9])", "1/", "2/"),
    *_shapes(rf"{_B64}{{56,}}", "cflt", is_random=True),
    *_shapes(r"[\w-]{8}\.[\w-]{16,}(?:\.[\w-]+)*", "snyk_uat.", "snyk_sat."),
    # Personal keys
    *_shapes(r"[A-Z0-9]{20,}", "AGE-SECRET-KEY-", "AGE-PLUGIN-", kind="private key"),
    *_shapes(r"[1-9A-HJ-NP-Za-km-z]{80,}", *(f"{net}prv" for net in "xyztuvYZUV"), kind="private key"),
    # SSH: a public key identifies its owner
    Shape("ssh-", r"(?<=ssh-)(?:rsa|ed25519|dss) AAAA[A-Za-z0-9+/=]{40,}"),
    Shape("ecdsa-", r"(?<=ecdsa-)sha2-nistp\d+ AAAA[A-Za-z0-9+/=]{40,}"),
)  # fmt: skip

_WITHIN: Final = tuple(shape for shape in SHAPES if not shape.pattern.startswith((re.escape(shape.sign), "(?<=")))
"""Shapes that don't begin with their sign. They are long."""
_MIN_WITHIN: Final = 35
_RARE: Final = tuple(shape for shape in SHAPES if shape not in _WITHIN)


@cache
def _starting(sign: str) -> tuple[Shape, ...]:
    """All shapes whose sign is a prefix of this one."""
    return tuple(shape for shape in _RARE if sign.startswith(shape.sign))


_BEFORE_SPACE: Final = ("ssh-", "ecdsa-")
"""What follows them is a separate word."""
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9_.~+/=:$%@?&;-]{14,}")
"""No shape fits in less, so hardly any text needs more work."""


def _any_of(signs: Iterable[str]) -> str:
    """A pattern for the signs, longest first.

    Grouped by first letter, because a pattern tries its branches one by one.
    """
    by_letter = groupby(sorted(signs, reverse=True), lambda sign: sign[0])
    branches = (f"{re.escape(letter)}(?:{'|'.join(re.escape(sign[1:]) for sign in its)})" for letter, its in by_letter)
    return "|".join(branches)


_SIGNS: Final = _any_of({"eyJ", *(shape.sign for shape in _RARE)})
_SIGNS_BEFORE: Final = tuple(shape.sign for shape in _RARE if shape.pattern.startswith("(?<="))
_SIGNS_AT_BEGIN: Final = rf"(?<![A-Za-z0-9])(?:{_SIGNS})"
"""Five times as fast in a long word, and sufficient without escapes."""
_ESCAPE: Final = re.compile(r"[\\%\[]")
_PIECE_CHARACTERS: Final = 1 << 14
_OVERLAP: Final = 256
"""How much pieces overlap: a sign, and enough of the word that it begins."""
_SEARCHED_CHARACTERS: Final = 1 << 16
_PAUSE_S: Final = 0.0005
"""Without any, the event loop waits for the switch interval each time it needs the GIL again."""
_SEARCHED_OVERLAP: Final = 1 << 13
"""How much of its match a pattern must see to find it."""

_WEB_TOKEN: Final = re.compile(_begins("eyJ") + r"[\w.-]{12,}")
_ITS_PARTS: Final = re.compile(r"[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]+)*")


def has_shape(text: str) -> bool:
    return any(shaped(text))


def shaped(text: str) -> Iterator[tuple[int, int, str]]:
    """The positions of keys and tokens in a text, and their kinds."""
    signs, within = _signs_in(text)
    shapes = {shape for sign in signs for shape in _starting(sign)}
    for shape in (*shapes, *(shape for shape in _WITHIN if shape.sign in within)):
        if shape.sign in text:
            yield from _found(shape, text)
    for found in found_in(_WEB_TOKEN, text) if "eyJ" in signs else ():
        parts = _ITS_PARTS.match(found[0])
        if parts is not None:
            yield found.start(), found.start() + parts.end(), "token"


def _signs_in(text: str) -> tuple[set[str], set[str]]:
    """The signs in it, and those in its longest words."""
    signs = {sign for sign in _BEFORE_SPACE if sign in text}
    within: set[str] = set()
    for at in range(0, max(1, len(text) - _OVERLAP), _PIECE_CHARACTERS - _OVERLAP):
        piece = text[at : at + _PIECE_CHARACTERS]
        if words := _LONG_WORD.findall(piece):
            joined = "\n".join(words)
            if _ESCAPE.search(piece):
                signs.update(_compiled(_SIGNS).findall(joined))
            else:
                signs.update(_compiled(_SIGNS_AT_BEGIN).findall(joined))
                signs.update(sign for sign in _SIGNS_BEFORE if sign in joined)
            if long := "\n".join(word for word in words if len(word) >= _MIN_WITHIN):
                within.update(shape.sign for shape in _WITHIN if shape.sign in long)
        if at:
            sleep(0)  # other threads share the GIL
    return signs, within


def pieces_of(text: str) -> Iterator[str]:
    """The text in pieces that overlap by more than most secrets are long. Other threads may run between them."""
    for at in range(0, max(1, len(text) - _SEARCHED_OVERLAP), _SEARCHED_CHARACTERS):
        if at:
            sleep(_PAUSE_S)
        yield text[at : at + _SEARCHED_CHARACTERS + _SEARCHED_OVERLAP]


def found_in(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The results of `finditer`, one piece of the text after the other, for a pattern that also matches short texts.

    A single call that searches fifty megabytes would block all other threads and the keyboard.
    """
    at = 0
    while at < len(text):
        end = at + _SEARCHED_CHARACTERS
        found = pattern.search(text, at, end + _SEARCHED_OVERLAP)
        if found is None or found.start() >= end:
            at = end
        else:
            found = pattern.match(text, found.start()) or found  # it may continue after the piece
            yield found
            at = max(found.end(), found.start() + 1)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled on first use. Compiling all of them would double the startup time."""
    return re.compile(pattern)


def _found(shape: Shape, text: str) -> Iterator[tuple[int, int, str]]:
    for found in found_in(_compiled(shape.pattern), text):
        key = found[0]
        # Short words and no digit: `sk-learn-compatible-estimator`.
        if _is_mixed(key) if shape.is_random else _WORDS.fullmatch(key) is None:
            yield *found.span(), shape.kind


def _is_mixed(key: str) -> bool:
    return all(any(map(is_so, key)) for is_so in (str.isdigit, str.isupper, str.islower)) and looks_random(key)


_WORDS: Final = re.compile(r"(?:[A-Z]?[a-z]{0,11}[-_./])*[A-Z]?[a-z]{0,11}|(?:[A-Z]{1,12}[-_])*[A-Z]{1,12}")


def looks_random(text: str, at_least: int = MIN_RANDOM) -> bool:
    """Whether a text is long, consists of letters and digits, and isn't a word of a human or programming language."""
    if len(text) < at_least or re.search(r"[$(){}<>\[\]]", text) is not None:
        return False
    return (
        any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and (len(text) < MIN_RANDOM or _entropy(text) >= MIN_ENTROPY)
    )


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
