"""Environment variables inside settings."""

from __future__ import annotations

import pytest

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import expand, expand_path

ENVIRON = {"A": "x", "EMPTY": "", "LOOKS_LIKE_ONE": "${A}"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("plain", "plain"),
        ("${A}", "x"),
        ("1${A}2${A}3", "1x2x3"),
        ("${EMPTY}", ""),
        ("${A:-default}", "x"),
        ("${NONE:-default}", "default"),
        ("${NONE:-}", ""),
        ("${NONE:-a $ b:-c}", "a $ b:-c"),
        ("$A $ $$ {A} }", "$A $ $$ {A} }"),
        ("$${A}", "$x"),
    ],
)
def test_references_are_replaced_and_everything_else_stays(text: str, value: str) -> None:
    assert expand(text, ENVIRON) == value


def test_an_empty_variable_takes_the_default_as_in_a_shell() -> None:
    assert expand("${EMPTY:-default}", ENVIRON) == "default"


def test_a_value_is_not_expanded_again() -> None:
    assert expand("${LOOKS_LIKE_ONE}", ENVIRON) == "${A}"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(SettingsError, match="variable NONE isn't set"):
        expand("Bearer ${NONE}", ENVIRON)


@pytest.mark.parametrize("text", ["${", "${}", "${A", "${1}", "${A-b}", "${input:token}", "${NONE:-${A}}", "${A }"])
def test_any_other_reference_is_refused_rather_than_sent_as_it_is(text: str) -> None:
    with pytest.raises(SettingsError, match=r"\$\{NAME\} or \$\{NAME:-default\}"):
        expand(text, ENVIRON)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", "/home/u"),
        ("~/a", "/home/u/a"),
        ("~/${A}", "/home/u/x"),
        ("~other/a", "~other/a"),
        ("/a/~/b", "/a/~/b"),
        ("/a\n~/b", "/a\n~/b"),
    ],
)
def test_a_leading_tilde_is_the_home_directory(text: str, value: str) -> None:
    assert expand_path(text, {**ENVIRON, "HOME": "/home/u"}) == value
