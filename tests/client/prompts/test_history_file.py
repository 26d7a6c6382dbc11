"""The prompt history file: what it keeps, with several writers, after a crash, and on a full disk."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client import private_files
from acp_tui.client.prompts import history
from acp_tui.client.prompts.history import HistoryFile, PastPrompt, line_of


def said(text: str, folder: str = "/project") -> PastPrompt:
    return PastPrompt(text, folder, "2026-11-21T12:00:00+00:00", "Agent")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "history.jsonl"


@pytest.fixture
def file(path: Path) -> HistoryFile:
    return HistoryFile(path, 100)


def texts(file: HistoryFile) -> list[str]:
    return [prompt.text for prompt in file.read()]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_file_there_are_no_prompts_and_none_is_made(file: HistoryFile) -> None:
    assert file.read() == []
    assert not file.path.parent.exists()


def test_what_was_pasted_comes_back_as_such_also_where_a_secret_is_masked(file: HistoryFile) -> None:
    log = "begin\n" + "sk-proj-" + "abcdEFGH1234" * 4 + "\nend"
    file.append([replace(said(f"Why?\n{log}\n{'x' * 9}"), pasted=(log, "x" * 9))])
    [prompt] = file.read()
    first, second = prompt.pasted
    assert (first[:6], first[-4:], second) == ("begin\n", "\nend", "x" * 9)
    assert prompt.text == f"Why?\n{first}\n{second}"
    assert "abcdEFGH" not in first


@pytest.mark.parametrize("spans", ["x", [[0]], [[-1, 2]], [[0, 9]], [[0, 0]], [None]])
def test_spans_that_another_program_wrote_do_no_harm(file: HistoryFile, spans: object) -> None:
    file.path.parent.mkdir()
    file.path.write_text(json.dumps({"text": "abc", "pasted": spans}) + "\n")
    assert [(prompt.text, prompt.pasted) for prompt in file.read()] == [("abc", ())]


def test_a_prompt_comes_back_as_it_was(file: HistoryFile) -> None:
    prompt = said('two\nlines, "quotes", 日本語, half a character \ud83d, a separator \u2028')
    file.append([prompt])

    assert file.read() == [prompt]
    assert file.path.read_bytes().count(b"\n") == 1


def test_only_the_user_can_read_the_file_and_its_folder(file: HistoryFile) -> None:
    file.append([said("secret")])

    assert mode_of(file.path) == 0o600
    assert mode_of(file.path.parent) == 0o700


def test_a_repeated_prompt_stands_where_it_was_sent_last(file: HistoryFile) -> None:
    file.append([said("one"), said("two"), said("one"), said("two", "/elsewhere")])

    assert [(prompt.text, prompt.folder) for prompt in file.read()] == [
        ("two", "/project"),
        ("one", "/project"),
        ("two", "/elsewhere"),
    ]


@pytest.mark.parametrize(
    "junk",
    [b"nonsense", b"{}", b"[1]", b'{"text": 3}', b'{"text": "half', b"\xff\xfe\x00", b"[" * 100_000],
    ids=["words", "no text", "a list", "a number", "half", "bytes", "deep"],
)
def test_lines_that_are_no_prompts_are_passed_over(file: HistoryFile, junk: bytes) -> None:
    file.append([said("one")])
    with file.path.open("ab") as opened:
        opened.write(junk + b"\n" + line_of(said("two")))

    assert texts(file) == ["one", "two"]


def test_half_a_line_that_a_crash_has_left_does_not_spoil_the_next_one(file: HistoryFile) -> None:
    file.append([said("one")])
    with file.path.open("ab") as opened:
        opened.write(b'{"text": "tw')
    file.append([said("three")])

    assert texts(file) == ["one", "three"]


def test_on_a_full_disk_what_stood_there_is_whole(file: HistoryFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.append([said("one")])
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:5]))
    with pytest.raises(OSError, match="space") as raised:
        file.append([said("two")])
    monkeypatch.undo()

    assert raised.value.errno == errno.ENOSPC
    assert file.path.read_bytes() == line_of(said("one"))


def test_no_more_prompts_than_wanted_are_kept_and_the_file_is_made_smaller(path: Path) -> None:
    HistoryFile(path, 1000).append([said(str(number)) for number in range(12)])

    assert texts(HistoryFile(path, 10)) == [str(number) for number in range(2, 12)]
    assert len(path.read_bytes().splitlines()) == 10
    assert mode_of(path) == 0o600


def test_a_file_that_grows_too_large_loses_its_oldest_prompts(
    file: HistoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(line_of(said("00")))
    monkeypatch.setattr(history, "MAX_BYTES", 10 * size)
    monkeypatch.setattr(history, "KEPT_BYTES", 5 * size)
    for number in range(11):
        file.append([said(f"{number:02}")])

    assert texts(file) == ["06", "07", "08", "09", "10"]
    assert file.path.stat().st_size == 5 * size


def test_a_crash_while_the_file_is_made_smaller_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    HistoryFile(path, 1000).append([said(str(number)) for number in range(20)])
    before = path.read_bytes()

    def crash(_: int) -> None:
        raise OSError(errno.EIO, "crashed")

    monkeypatch.setattr(os, "fsync", crash)

    assert len(HistoryFile(path, 10).read()) == 10
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["history.jsonl", "history.jsonl.lock"]


def test_a_very_long_prompt_is_not_kept(file: HistoryFile) -> None:
    file.append([said("x" * history.MAX_LINE_BYTES), said("short")])

    assert texts(file) == ["short"]


def test_several_processes_that_write_and_shrink_at_once_lose_nothing(path: Path) -> None:
    """Each prompt is the latest for a moment; none may be lost, however often the file is rewritten."""
    code = """
import sys
from pathlib import Path
from acp_tui.client.prompts import history
from acp_tui.client.prompts.history import PastPrompt
history.MAX_BYTES = 20_000  # shrinks at each of its last prompts: repeats go, the others fit
file = history.HistoryFile(Path(sys.argv[1]), 10_000)
for number in range(60):
    for text in (f"{sys.argv[2]} {number}", "again and again"):
        file.append([PastPrompt(text, "/project", "", "")])
"""
    names = ("a", "b", "c")
    writers = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in names]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]

    kept = set(texts(HistoryFile(path, 10_000)))
    assert {f"{name} {number}" for name in names for number in range(60)} <= kept


def test_where_another_holds_the_file_for_too_long_it_says_so(
    file: HistoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_files, "LOCK_TRIES", 2)
    monkeypatch.setattr(private_files, "LOCK_RETRY_S", 0)

    with private_files.locked(file.path), pytest.raises(TimeoutError, match="another acp-tui"):
        file.append([said("one")])
