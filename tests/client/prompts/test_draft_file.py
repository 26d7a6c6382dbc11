"""Drafts: which are saved in their file, and which is offered."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.client.prompts import memory
from acp_tui.client.prompts.memory import DraftFile, DraftKey, Drafts, PromptMemory

A, B = DraftKey("/project", "a"), DraftKey("/project", "b")
BEFORE_ANY = DraftKey("/project", "")


@pytest.fixture
def file(tmp_path: Path) -> DraftFile:
    return DraftFile(tmp_path / "state" / "drafts.json")


def test_drafts_come_back_the_one_that_was_changed_last_at_the_end(file: DraftFile) -> None:
    file.change({A: "one", B: 'half a character \ud83d and\n"lines"'})
    file.change({A: "another"})

    assert list(file.read().items()) == [(B, 'half a character \ud83d and\n"lines"'), (A, "another")]


def test_an_empty_draft_is_dropped_and_those_of_others_stay(file: DraftFile) -> None:
    file.change({A: "one", B: "two"})
    DraftFile(file.path).change({A: ""})

    assert file.read() == {B: "two"}


def test_only_the_user_can_read_it(file: DraftFile) -> None:
    file.change({A: "secret"})

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("pid", ["-1", "true", '"x"', "1e9", str(1 << 70), str(2**31 - 1)])
def test_a_draft_of_an_unknown_process_is_left(file: DraftFile, pid: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(f'{{"drafts": [{{"folder": "/project", "session": "a", "text": "one", "pid": {pid}}}]}}')

    assert file.read_left() == {A: "one"}


@pytest.mark.parametrize("content", ["", "nonsense", "[]", '{"drafts": 3}', '{"drafts": [1, {"text": "x"}]}'])
def test_a_file_that_holds_no_drafts_is_none_and_is_replaced(file: DraftFile, content: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(content)

    assert file.read() == {}
    file.change({A: "one"})
    assert file.read() == {A: "one"}


def test_the_oldest_drafts_make_room(file: DraftFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_DRAFTS", 2)
    file.change({DraftKey("/project", str(number)): "x" for number in range(4)})

    assert [place.session for place in file.read()] == ["2", "3"]


def test_a_draft_that_is_far_too_long_is_not_kept_and_takes_no_other_along(file: DraftFile) -> None:
    file.change({A: "x" * memory.MAX_DRAFT_BYTES, B: "two"})

    assert file.read() == {B: "two"}


def test_only_what_has_changed_is_saved() -> None:
    drafts = Drafts()
    drafts.take_in({A: "one"})
    drafts.put(A, "one")
    drafts.put(B, " \n")
    assert drafts.take_unsaved() == {}

    drafts.put(A, "  ")
    assert drafts.take_unsaved() == {A: ""}
    assert drafts.text(A) == ""


async def test_the_draft_that_was_left_last_in_the_folder_is_offered_once(tmp_path: Path) -> None:
    DraftFile(tmp_path / "drafts.json").change({A: "older", B: "left last", DraftKey("/other", "c"): "not here"})
    memory = PromptMemory(tmp_path)
    await memory.load()

    assert memory.offer(BEFORE_ANY) == "left last"
    assert memory.offer(DraftKey("/project", "another tab")) == ""
    await memory.write()
    assert DraftFile(tmp_path / "drafts.json").read() == {
        A: "older",
        BEFORE_ANY: "left last",
        DraftKey("/other", "c"): "not here",
    }


WRITES_AND_STAYS = """
import sys
from pathlib import Path
from acp_tui.client.prompts.memory import DraftFile, DraftKey
file = DraftFile(Path(sys.argv[1]))
file.change({DraftKey("/project", "theirs"): "half a prompt"})
print("written", flush=True)
sys.stdin.read()
"""


async def test_what_another_running_acp_tui_is_writing_is_not_offered_but_stays(tmp_path: Path) -> None:
    file = tmp_path / "drafts.json"
    command = [sys.executable, "-c", WRITES_AND_STAYS, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdout.readline()
        memory = PromptMemory(tmp_path)
        await memory.load()
        memory.drafts.put(A, "ours")
        await memory.write()

        assert memory.offer(BEFORE_ANY) == ""
        assert DraftFile(file).read() == {DraftKey("/project", "theirs"): "half a prompt", A: "ours"}
        other.stdin.close()
    memory = PromptMemory(tmp_path)
    await memory.load()
    assert memory.offer(BEFORE_ANY) == "ours"
    assert memory.drafts.text(DraftKey("/project", "theirs")) == "half a prompt"


async def test_what_another_tab_is_writing_is_not_offered(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path)
    await memory.load()
    memory.drafts.put(A, "being written")

    assert memory.offer(B) == ""
    assert memory.drafts.text(A) == "being written"


async def test_a_folder_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path / "file" / "state")
    (tmp_path / "file").touch()
    said = []
    for text in ("one", "two"):
        memory.history.add(text, "/project", "Agent")
        said.append(await memory.write())

    assert f"can't be kept in {tmp_path / 'file' / 'state'}: " in said[0]
    assert said[1] == ""
    assert memory.history.texts_of("/project") == ["two", "one"]


async def test_what_others_send_meanwhile_is_known_when_it_is_loaded_again(tmp_path: Path) -> None:
    ours, theirs = PromptMemory(tmp_path), PromptMemory(tmp_path)
    await ours.load()
    theirs.history.add("theirs", "/project", "Agent")
    await theirs.write()
    await ours.load()

    assert ours.history.texts_of("/project") == ["theirs"]


async def test_where_nothing_is_to_be_kept_no_file_is_made(tmp_path: Path, home: Path) -> None:
    memory = PromptMemory(None)
    memory.history.add("one", "/project", "Agent")
    memory.drafts.put(A, "draft")

    assert await memory.load() == await memory.write() == ""
    assert memory.history.texts_of("/project") == ["one"]
    assert list(home.iterdir()) == []
