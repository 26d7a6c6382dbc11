"""No document, and no file of any kind, crashes the reader of settings.toml."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.reader import interpret, read_settings
from acp_tui.client.settings.wording import documented
from support.settings import ENVIRON

SOME_TEXT = st.text(max_size=8) | st.sampled_from(["on", "read", "/a", "~/a", "${HOME}", "${NONE}", "${", "~"])
SCALARS = (
    st.booleans() | st.integers() | st.integers().map(lambda n: n << 2000) | st.floats() | st.datetimes() | SOME_TEXT
)
KEYS = st.text(max_size=4) | st.sampled_from(
    [part.removesuffix("[]") for one in documented() for part in one.key.split(".")]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)
RULES_AND_FOLDERS = {
    "refuse": [{"command": "rm"}, {"kind": "read"}, {"path": 1}, {}],
    "workspace": {"additional_directories": ["/a", "a", "~"]},
}
"""What is rarely drawn."""
SECTIONS = st.dictionaries(KEYS, VALUES, max_size=6) | st.lists(st.dictionaries(KEYS, SCALARS), max_size=3)


@given(st.dictionaries(KEYS, SECTIONS | VALUES, max_size=8))
@example(RULES_AND_FOLDERS)
def test_no_document_fails_the_reader_and_what_it_gives_is_complete(document: dict[str, Any]) -> None:
    result = interpret(document, "F", ENVIRON)

    hash(result.settings)  # all of it are valid values: no list and no table of the document got through
    assert all(problem.text.startswith(f"F: {problem.key} ") for problem in result.problems)
    assert all(rule.kind or rule.path or rule.command for rule in result.settings.refuse)
    assert all(path.is_absolute() for path in result.settings.workspace.additional_directories)
    assert result.settings.workspace.read in {"on", "ask", "off"}
    assert {result.settings.workspace.write, result.settings.workspace.terminals} <= {
        "on",
        "ask-if-unasked",
        "ask",
        "off",
    }
    assert 0 <= result.settings.agent.start_limit_s < float("inf")


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_no_file_fails_the_reader_but_with_a_settings_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any-settings.toml"
    file.write_bytes(content)

    try:
        read_settings(file, ENVIRON)
    except SettingsError as error:
        assert str(file) in str(error)
