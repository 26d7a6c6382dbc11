"""How a path is written after `@`: it reads back as the same path, or isn't offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.attachments.attach import mentions
from acp_tui.client.completion.matching import PartialMention, being_written, mention_of

NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda name: name.strip("/") and not name.startswith("/")
)


@given(st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_what_is_offered_is_read_back_as_the_same_path(path: str) -> None:
    written = mention_of(path)
    if written is not None:
        assert [mention.path_text for mention in mentions(f"see {written} now")] == [path]
        assert len(f"{written}.".splitlines()) == 1


@pytest.mark.parametrize("path", ["a\nb", "a\x1b[31mb", 'a"b', "a\u2028b", "a\udcffb", "a\x85b", "a\u202eb", "a\tb"])
def test_a_name_that_no_draft_can_hold_is_not_offered(path: str) -> None:
    assert mention_of(path) is None


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("src/app.py", "@src/app.py"),
        ("src/", "@src/"),
        ("a name.txt", '@"a name.txt"'),
        ("why?", '@"why?"'),
        ("a`b", '@"a`b"'),
        ("naïve/日本.md", "@naïve/日本.md"),
    ],
)
def test_quotes_stand_where_they_are_needed(path: str, written: str) -> None:
    assert mention_of(path) == written


def test_a_folder_that_is_gone_into_is_not_closed() -> None:
    assert mention_of("my files/", is_open=True) == '@"my files/'


@pytest.mark.parametrize(
    ("line", "writing"),
    [
        ("@", PartialMention(0, 1, "")),
        ("see @src/a", PartialMention(4, 10, "src/a")),
        ("(@a", PartialMention(1, 3, "a")),
        ('see @"a na', PartialMention(4, 10, "a na")),
        ("@a.py:", PartialMention(0, 6, "a.py", "")),
        ("@a.py:10-2", PartialMention(0, 10, "a.py", "10-2")),
        ('@"a b":3', PartialMention(0, 8, "a b", "3")),
        ('@"a b:3-', PartialMention(0, 8, "a b", "3-")),
        ("@~/x", PartialMention(0, 4, "~/x")),
    ],
)
def test_a_mention_that_ends_at_the_cursor_is_being_written(line: str, writing: PartialMention) -> None:
    assert being_written(line, len(line)) == writing


@pytest.mark.parametrize("line", ["", "me@example.org", "@a ", '@"a b"', "`@a", "@a`", "no mention"])
def test_nothing_is_being_written_elsewhere(line: str) -> None:
    assert being_written(line, len(line)) is None


def test_what_stands_behind_the_cursor_belongs_to_the_mention() -> None:
    assert being_written("see @src/app.py, then", 8) == PartialMention(4, 15, "src")
    assert being_written('@"a name" and "more"', 4) == PartialMention(0, 9, "a ")


def test_a_quotation_that_is_not_closed_ends_at_the_cursor() -> None:
    assert being_written('@"a and so on', 3) == PartialMention(0, 3, "a")
