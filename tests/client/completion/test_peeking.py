"""A preview of the lines in a range while the user types it."""

from pathlib import Path

import pytest

from acp_tui.client.completion.workspace_files import MAX_BYTES, peek


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    return path


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        ("", [1, 2, 3]),
        ("10", [10]),
        ("10-", [10, 11, 12]),
        ("10-11", [10, 11]),
        ("11-10", [10, 11]),
        ("0", [1]),
        ("29-40", [29, 30]),
        ("31", []),
    ],
)
def test_as_much_of_the_range_as_is_written_is_shown(file: Path, lines: str, numbers: list[int]) -> None:
    seen = peek(file, lines, 3)
    assert seen is not None
    assert (seen.count, seen.is_cut) == (30, False)
    assert [number for number, _ in seen.lines] == numbers


def test_only_the_start_of_a_large_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"0123456\n" * (MAX_BYTES // 4))
    seen = peek(path, "", 1)
    assert seen is not None
    assert seen.is_cut


def test_what_is_no_text_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    for path in (tmp_path / "binary", tmp_path, tmp_path / "none"):
        assert peek(path, "1", 3) is None
