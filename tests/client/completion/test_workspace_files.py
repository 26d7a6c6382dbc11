"""Which files can be mentioned, with and without git, and what other folders contain."""

import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from acp_tui.client.completion.workspace_files import FRESH_S, MAX_MATCHES, PathIndex, WorkspaceFiles


def write(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n")


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


async def files_of(root: Path) -> WorkspaceFiles:
    files = WorkspaceFiles(root)
    await files.read()
    return files


def found(files: WorkspaceFiles, path: str) -> list[str]:
    return [match.text for match in files.find(path)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, "src/tracked.py", "src/deleted.py", "build/out.bin")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "add", ".")
    write(tmp_path, "src/untracked.py")
    (tmp_path / "src/deleted.py").unlink()
    return tmp_path


async def test_files_that_git_tracks_or_would_track_are_found(repository: Path) -> None:
    files = await files_of(repository)
    assert sorted(found(files, "src/")) == ["src/tracked.py", "src/untracked.py"]
    assert found(files, "out.bin") == []


async def test_the_session_may_work_in_a_folder_of_the_repository(repository: Path) -> None:
    assert found(await files_of(repository / "src"), "tracked")[0] == "tracked.py"


async def test_a_hook_of_the_repository_is_not_run(repository: Path) -> None:
    trap = repository / "trap.sh"
    trap.write_text("#!/bin/sh\ntouch sprung\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    assert found(await files_of(repository), "tracked")
    assert not (repository / "sprung").exists()


async def test_without_git_hidden_and_generated_folders_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a/b.py", ".env", ".cache/x.py", "node_modules/x.js", "a/__pycache__/b.pyc")
    files = await files_of(tmp_path)
    assert set(found(files, "")) == {"a/", ".env", "a/b.py"}
    assert found(files, "x.") == []


async def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "a/b.py")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    assert found(await files_of(tmp_path), "b.py") == ["a/b.py"]


async def test_what_was_mentioned_comes_first_then_the_newest(tmp_path: Path) -> None:
    write(tmp_path, "old.py", "new.py", "mentioned.py")
    for age, name in enumerate(("new.py", "old.py", "mentioned.py")):
        os.utime(tmp_path / name, (10_000 - age, 10_000 - age))
    files = await files_of(tmp_path)
    assert [match.text for match in files.find("", ["gone.py", "mentioned.py"])] == [
        "mentioned.py",
        "new.py",
        "old.py",
    ]


async def test_what_is_new_on_the_disk_is_found_after_it_was_read_again(tmp_path: Path) -> None:
    now_s = 0.0
    files = WorkspaceFiles(tmp_path, lambda: now_s)
    write(tmp_path, "one.py")
    assert files.is_old
    assert await files.read()
    assert not files.is_old
    now_s = FRESH_S + 1
    assert files.is_old
    assert not await files.read()
    write(tmp_path, "two.py")
    assert await files.read()
    assert found(files, "two") == ["two.py"]


async def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert found(await files_of(tmp_path / "none"), "") == []


# Complete paths


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    write(tmp_path, "work/mine.py", "other/theirs.py", "other/deep/down.py", "other/.hidden")
    return tmp_path


@pytest.mark.parametrize("beginning", ["../", "{root}/", "~/"])
def test_a_path_that_is_written_out_is_looked_up_where_it_leads(
    beginning: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(elsewhere))
    written = beginning.format(root=elsewhere)
    files = WorkspaceFiles(elsewhere / "work")
    assert found(files, f"{written}other/") == [f"{written}other/deep/", f"{written}other/theirs.py"]
    assert found(files, f"{written}other/th") == [f"{written}other/theirs.py"]
    assert found(files, f"{written}other/.h") == [f"{written}other/.hidden"]
    assert found(files, f"{written}none/") == []


def test_the_places_in_a_path_that_is_written_out_are_those_of_the_name(elsewhere: Path) -> None:
    (match,) = WorkspaceFiles(elsewhere / "work").find("../other/rs.py")
    assert "".join(match.text[at] for at in match.places) == "rs.py"


async def test_letters_beyond_ascii_are_found_in_any_case_and_names_of_any_bytes(tmp_path: Path) -> None:
    write(tmp_path, "Жук/один.py", "naïve.py")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("x")
    files = await files_of(tmp_path)
    assert found(files, "жук")[0] == "Жук/"
    assert found(files, "жди") == ["Жук/один.py"]
    assert found(files, "nïv") == ["naïve.py"]
    assert found(files, "Жук/") == ["Жук/один.py"]
    assert found(files, os.fsdecode(b"\xff")) == [os.fsdecode(b"\xff.py")]


@pytest.mark.parametrize("alphabet", ["aaaabbc._/", "abcdefghijklmnop/", "aжзéè/", "ab"])
def test_letters_with_others_between_them_are_found_in_any_of_many_paths(alphabet: str) -> None:
    random = Random(alphabet)
    names = ["".join(random.choices(alphabet, k=random.randint(1, 15))).strip("/") for _ in range(9000)]
    index = PathIndex(names)
    paths = {*names, *(path[: slash.end()] for path in names for slash in re.finditer("/", path))} - {""}
    for length in (3, 6, 8, 9, 10):
        for _ in range(20):
            query = "".join(random.choices(alphabet, k=length)).strip("/")
            letters = re.compile(".*".join(map(re.escape, query)))
            matching = {path for path in paths if query and letters.search(path)}
            hits = {match.text for match in index.search(query)}
            if 0 < len(matching) <= MAX_MATCHES:
                assert hits == matching
            else:
                assert len(hits) >= min(len(matching), 1)
