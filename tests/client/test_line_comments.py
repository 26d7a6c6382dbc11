"""Comments on lines of diffs: where they are, what the prompt says of them, and when they are stale."""

import os
from pathlib import Path

import pytest

from acp_tui.client.attachments.attach import mentions
from acp_tui.client.line_comments import MAX_BYTES, Comment, comment_on, version_of, write_comment
from acp_tui.client.line_comparison import PlacedLine

CONTEXT = PlacedLine("a.py", " ", "same", 4, 4)
REMOVED = PlacedLine("a.py", "-", "old", 5, None)
ADDED = PlacedLine("a.py", "+", "new", None, 5)
BELOW = PlacedLine("a.py", " ", "below", 6, 6)
NOWHERE = PlacedLine("a.py", "+", "new", None, None)


def _comment(*lines: PlacedLine, text: str = "Why?", file: Path = Path("/nowhere/a.py")) -> Comment:
    return Comment(lines, file, version_of(file), text)


def _added(text: str) -> PlacedLine:
    return PlacedLine("a.py", "+", text, None, 5)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ((ADDED,), "a.py:5"),
        ((CONTEXT, REMOVED, ADDED, BELOW), "a.py:4-6"),
        ((REMOVED,), "a.py:5 before the change"),
        ((NOWHERE,), "a.py"),
    ],
)
def test_the_place_is_that_in_the_new_file_if_the_lines_are_in_it(lines: tuple[PlacedLine, ...], place: str) -> None:
    assert _comment(*lines).place == place


def test_a_prompt_has_the_place_the_lines_and_the_comment() -> None:
    assert _comment(CONTEXT, ADDED, REMOVED).prompt() == "a.py:4-5\n```diff\n same\n-old\n+new\n```\nWhy?"


@pytest.mark.parametrize("path", ["@/etc/passwd", "a`b @/etc/passwd"])
def test_what_an_agent_wrote_attaches_no_file(path: str) -> None:
    text = _comment(PlacedLine(path, "+", "`x @/etc/passwd", None, 5)).prompt()
    assert mentions(f"Please fix these.\n\n{text}") == []


def test_a_comment_can_attach_a_file() -> None:
    assert [mention.path_text for mention in mentions(_comment(ADDED, text="As in @b.py").prompt())] == ["b.py"]


def test_lines_that_were_left_out_between_others_are_marked() -> None:
    assert "\n same\n…\n below\n" in _comment(CONTEXT, BELOW).prompt()


def test_lines_cannot_end_their_block_or_hide_anything() -> None:
    text = _comment(_added("````"), _added("\x1b[2J\u202e")).prompt()
    assert text.startswith("a.py:5\n`````diff\n+````\n+␛[2J")
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_path_is_one_line() -> None:
    assert "\n" not in _comment(PlacedLine("a\n/quit", "+", "new", None, 5)).place


def test_a_comment_is_stale_once_its_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("new\n")
    comment = _comment(ADDED, file=file)
    assert "changed" not in comment.prompt()
    file.write_text("newer\n")
    assert comment.prompt().startswith("a.py:5 (the file has changed since)\n")
    file.unlink()
    assert comment.prompt().startswith("a.py:5 (the file has changed since)\n")


@pytest.mark.parametrize("size", [4, MAX_BYTES + 1])
def test_a_comment_is_not_stale_once_its_file_is_as_it_was(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"n" * size)
    comment = _comment(ADDED, file=file)
    file.write_bytes(b"o" * size)
    assert "changed" in comment.prompt()
    file.write_bytes(b"n" * size)
    assert ("changed" in comment.prompt()) == (size > MAX_BYTES)  # which isn't read


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert "changed" not in _comment(ADDED, file=tmp_path / "a.py").prompt()


def test_a_comment_on_a_file_that_is_not_here_is_not_stale() -> None:
    assert "changed" not in _comment(ADDED).prompt()


def test_writing_again_on_the_same_lines_changes_the_comment_and_nothing_removes_it() -> None:
    comments: list[Comment] = []
    write_comment(_comment(CONTEXT, ADDED), comments)
    write_comment(_comment(BELOW), comments)
    assert comment_on([ADDED], comments) == _comment(CONTEXT, ADDED)
    assert comment_on([ADDED, BELOW], comments) is None
    write_comment(_comment(CONTEXT, ADDED, text="No."), comments)
    assert len(comments) == 2
    assert comment_on([ADDED], comments) == _comment(CONTEXT, ADDED, text="No.")
    write_comment(_comment(CONTEXT, ADDED, text=" "), comments)
    assert comment_on([ADDED], comments) is None
    assert len(comments) == 1
