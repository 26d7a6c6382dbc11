"""The documentation of all settings, generated from the tree."""

from __future__ import annotations

from dataclasses import fields

from acp_tui.client.settings.settings import READ_ELSEWHERE, Settings
from acp_tui.client.settings.wording import SettingDoc, documented

DOCS = {one.key: one for one in documented()}


def test_every_section_is_documented() -> None:
    sections = [key for key in DOCS if "." not in key]

    assert sections == [*(each.name for each in fields(Settings)), *READ_ELSEWHERE]


def test_every_setting_has_a_sentence_and_says_what_is_allowed() -> None:
    assert [one.key for one in DOCS.values() if not (one.about.endswith(".") and one.allowed)] == []


def test_a_setting_comes_with_unit_limits_and_default() -> None:
    assert DOCS["agent.start_limit_s"] == SettingDoc(
        "agent.start_limit_s",
        "a number of seconds, at least 0",
        300.0,
        "How long an agent may take to answer `initialize`; 0: no limit.",
    )


def test_the_settings_of_tables_in_a_list_have_no_index() -> None:
    assert DOCS["refuse"].allowed == "tables [[refuse]], each with at least one of kind, path, command"
    assert DOCS["refuse[].path"].allowed == "a string, not blank"


def test_where_variables_are_replaced_the_documentation_says_so() -> None:
    replaced = [key for key, one in DOCS.items() if "`${NAME}`" in one.about]

    assert "workspace.additional_directories" in replaced
    assert "appearance.theme" not in replaced
