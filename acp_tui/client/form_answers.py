"""Checks the user's input in a form and converts it to what is sent to the agent (R-ELIC-8). Draws nothing."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, TypeAlias, assert_never
from urllib.parse import urlsplit

from acp_tui.conversation import elicitation

Raw: TypeAlias = str | bool | Sequence[str] | None
"""The value of a control: a text for texts, numbers, and single choices; None or empty if it was left empty."""
Answer: TypeAlias = str | int | float | bool | list[str] | None
"""The value for the agent; None to omit the field."""

PATTERN_TIMEOUT_S: Final = 0.1
"""The screen freezes for at most this long."""
MAX_PATTERN_LENGTH: Final = 2000
"""Compiling a pattern has no time limit, so long ones aren't compiled."""
MAX_PATTERN_SIZE: Final = 10_000
"""Nor are patterns that are larger when `regex` expands their counts, which would take seconds and gigabytes."""
MAX_SHOWN_PATTERN: Final = 120

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_FORMATS: Final[Mapping[str, str]] = {
    "email": "must be an e-mail address, such as name@example.org",
    "uri": "must be a whole address, such as https://example.org",
    "date": "must be a date, such as 2026-01-31",
    "date-time": "must be a date and time with a time zone, such as 2026-01-31T13:45:00Z",
}


class InvalidAnswer(Exception):
    """The answer doesn't fit its field. `str()` is shown next to the field."""


def check(field: elicitation.Field, raw: Raw) -> Answer:
    """What to send for this field; None for nothing. Raises InvalidAnswer, which says what would be valid."""
    if isinstance(field, elicitation.UnknownField):
        if field.is_required:
            raise InvalidAnswer("is required, but it can't be answered here")
        return None
    if raw is None or (not isinstance(raw, bool) and len(raw) == 0):
        return _check_empty(field)
    match field:
        case elicitation.TextField():
            return _check_text(field, _text(raw))
        case elicitation.NumberField():
            return _check_number(field, _text(raw).strip())
        case elicitation.BooleanField():
            if not isinstance(raw, bool):
                raise InvalidAnswer("must be yes or no")
            return raw
        case elicitation.ChoiceField():
            if _text(raw) not in {choice.value for choice in field.choices}:
                raise InvalidAnswer("must be one of the choices")
            return _text(raw)
        case elicitation.MultiChoiceField():
            return _check_choices(field, raw)
        case _:
            assert_never(field)


def check_all(
    fields: Sequence[elicitation.Field], raws: Mapping[str, Raw]
) -> tuple[elicitation.FormValues, dict[str, str]]:
    """What to send, and the problems by field name. The form may be accepted if there are none."""
    values: elicitation.FormValues = {}
    wrong: dict[str, str] = {}
    for field in fields:
        try:
            answer = check(field, raws.get(field.name))
        except InvalidAnswer as error:
            wrong[field.name] = str(error)
            continue
        if answer is not None:
            values[field.name] = answer
    return values, wrong


def pattern_note(field: elicitation.Field) -> str:
    """What to tell the user of the field's pattern, also if it can't be checked here; "" if there is none."""
    pattern = field.pattern if isinstance(field, elicitation.TextField) else None
    if not pattern:
        return ""
    if _compiled(pattern) is None:
        return "acp-tui can't read the agent's pattern for it, so only the agent can check it"
    return f"fits {pattern}" if len(pattern) <= MAX_SHOWN_PATTERN else f"fits {pattern[:MAX_SHOWN_PATTERN]} …"


def _text(raw: Raw) -> str:
    if not isinstance(raw, str):
        raise InvalidAnswer("must be text")
    return raw


def _check_empty(field: elicitation.Field) -> Answer:
    if not field.is_required:
        return None
    if isinstance(field, elicitation.MultiChoiceField) and not field.min_items:
        return []
    raise InvalidAnswer("is required")


# Texts


def _check_text(field: elicitation.TextField, text: str) -> str:
    _check_within(len(text), field.min_length, field.max_length, "character")
    if field.format is not None and field.format in _FORMATS and not _has_format(text, field.format):
        raise InvalidAnswer(_FORMATS[field.format])
    if field.pattern is not None:
        _check_pattern(field.pattern, text)
    return text


def _check_within(count: int, least: int | None, most: int | None, what: str) -> None:
    if least is not None and count < least:
        raise InvalidAnswer(f"needs at least {_counted(least, what)}; it has {count}")
    if most is not None and count > most:
        raise InvalidAnswer(f"may have at most {_counted(most, what)}; it has {count}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _has_format(text: str, name: str) -> bool:
    try:
        match name:
            case "email":
                return _EMAIL.fullmatch(text) is not None
            case "uri":
                return _is_uri(text)
            case "date":
                return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
            case _:
                return bool(_DATE_TIME.fullmatch(text) and datetime.fromisoformat(text.upper()))
    except ValueError:
        return False


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    has_scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) is not None
    return has_scheme and not re.search(r"\s", text) and bool(parts.netloc or parts.path)


def _check_pattern(pattern: str, text: str) -> None:
    compiled = _compiled(pattern)
    if compiled is None:
        return  # `pattern_note` tells the user
    try:
        found = compiled.search(text, timeout=PATTERN_TIMEOUT_S)
    except TimeoutError:
        raise InvalidAnswer(
            "takes too long to check against the agent's pattern; try a shorter answer, or decline"
        ) from None
    if found is None:
        raise InvalidAnswer("doesn't fit the agent's pattern")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    """The pattern with `search(text, timeout=...)`; None if it can't be compiled.

    It's written for ECMAScript. `regex` supports its common features, and is the engine with a time limit (R-ELIC-9).
    """
    if len(pattern) > MAX_PATTERN_LENGTH or not _is_small(pattern):
        return None
    regex = import_module("regex")  # only a form with a pattern needs it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # In ECMAScript \d and \w are ASCII.
            return regex.compile(pattern, regex.ASCII)
    except (regex.error, ValueError, OverflowError, RecursionError):
        return None


_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_SET: Final = re.compile(r"\[\^?.[^\]]*\]", re.DOTALL)
_PATTERN_PART: Final = re.compile(
    r"""
      (?P<flags>\(\?[aims]+\))
    | (?P<open>\((?:\?(?:[:=!>]|<[=!]?|P<|[aims]+:)|(?!\?)))
    | (?P<close>\))
    | (?P<count>\+|\{(?P<least>\d*)(?:,\d*)?\})
    | (?P<odd>\[|\()
    | [*?]
    | (?P<item>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def _is_small(pattern: str) -> bool:
    """Whether a pattern stays below `MAX_PATTERN_SIZE` when its repetitions are expanded.

    Syntax that ECMAScript doesn't have (comments, conditions, calls, flags that change the parsing, named sets) could
    hide a count, so it counts as too large.
    """
    plain = _ESCAPE.sub("e", pattern)
    if any("[:" in found[0][1:] for found in _SET.finditer(plain)):
        return False
    sizes = [0]
    """The sizes of the open groups, innermost last."""
    last = 0
    for part in _PATTERN_PART.finditer(_SET.sub("e", plain)):
        if part["odd"] or sizes[-1] > MAX_PATTERN_SIZE:
            return False
        if part["open"]:
            sizes.append(1)
            last = 0
        elif part["close"] and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part["count"]:
            # That many copies in a row, plus one in a loop.
            least = 1 if part["count"] == "+" else int(part["least"] or 0)
            more = last * min(least, MAX_PATTERN_SIZE)
            sizes[-1] += more
            last += more
        elif part["item"]:
            sizes[-1] += 1
            last = 1
    return max(sizes) <= MAX_PATTERN_SIZE


# Numbers, booleans, choices


def _check_number(field: elicitation.NumberField, text: str) -> int | float:
    value: int | float
    if _INTEGER.fullmatch(text):
        value = int(text)
    elif field.is_integer:
        raise InvalidAnswer("must be a whole number, such as 42")
    else:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise InvalidAnswer("must be a number, such as 4.2")
    if field.minimum is not None and value < field.minimum:
        raise InvalidAnswer(f"must be at least {field.minimum}")
    if field.maximum is not None and value > field.maximum:
        raise InvalidAnswer(f"must be at most {field.maximum}")
    return value


def _check_choices(field: elicitation.MultiChoiceField, raw: Raw) -> list[str]:
    chosen = set() if raw is None or isinstance(raw, str | bool) else set(raw)
    offered = [choice.value for choice in field.choices]
    if not chosen or chosen - set(offered):
        raise InvalidAnswer("must be one or more of the choices")
    _check_within(len(chosen), field.min_items, field.max_items, "choice")
    return [value for value in dict.fromkeys(offered) if value in chosen]
