"""Drafts: which are saved in their file, and which is taken over."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.client.prompts import memory
from acp_tui.client.prompts.memory import NO_DRAFT, Draft, DraftFile, DraftKey, Drafts, PromptMemory

A, B = DraftKey("/project", "a"), DraftKey("/project", "b")
NEW = DraftKey("/project", "new")


def texts(file: DraftFile) -> dict[DraftKey, str]:
    return {place: draft.text for place, draft in file.read().items()}


@pytest.fixture
def file(tmp_path: Path) -> DraftFile:
    return DraftFile(tmp_path / "state" / "drafts.json")


def test_drafts_come_back_the_one_that_was_changed_last_at_the_end(file: DraftFile) -> None:
    file.change({A: Draft("one"), B: Draft('half a character \ud83d and\n"lines"')})
    file.change({A: Draft("another")})

    assert list(texts(file).items()) == [(B, 'half a character \ud83d and\n"lines"'), (A, "another")]


def test_an_empty_draft_is_dropped_and_those_of_others_stay(file: DraftFile) -> None:
    file.change({A: Draft("one"), B: Draft("two")})
    DraftFile(file.path).change({A: Draft("")})

    assert texts(file) == {B: "two"}


def test_only_the_user_can_read_it(file: DraftFile) -> None:
    file.change({A: Draft("secret")})

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("pid", ["-1", "true", '"x"', "1e9", str(1 << 70), str(2**31 - 1)])
def test_a_draft_of_an_unknown_process_is_left(file: DraftFile, pid: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(f'{{"drafts": [{{"folder": "/project", "session": "a", "text": "one", "pid": {pid}}}]}}')

    assert file.claim(lambda *_: True, ()) == {A: Draft("one")}


@pytest.mark.parametrize("content", ["", "nonsense", "[]", '{"drafts": 3}', '{"drafts": [1, {"text": "x"}]}'])
def test_a_file_that_holds_no_drafts_is_none_and_is_replaced(file: DraftFile, content: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(content)

    assert texts(file) == {}
    file.change({A: Draft("one")})
    assert texts(file) == {A: "one"}


def test_the_oldest_drafts_make_room(file: DraftFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_DRAFTS", 2)
    file.change({DraftKey("/project", str(number)): Draft("x") for number in range(4)})

    assert [place.session for place in file.read()] == ["2", "3"]


def test_a_draft_that_is_far_too_long_is_not_kept_and_takes_no_other_along(file: DraftFile) -> None:
    file.change({A: Draft("x" * memory.MAX_DRAFT_BYTES), B: Draft("two")})

    assert texts(file) == {B: "two"}


def test_what_is_folded_and_whether_its_session_is_blank_is_kept(file: DraftFile) -> None:
    draft = Draft("See one\ntwo and @a", "Agent", is_blank=False, pasted=("one\ntwo",))
    file.change({A: draft})

    assert file.claim(lambda *_: True, ()) == {A: draft}


def test_only_what_has_changed_is_saved() -> None:
    drafts = Drafts()
    drafts.take_in({A: Draft("one")})
    drafts.put(A, Draft("one"))
    drafts.put(B, Draft(" \n"))
    assert drafts.take_unsaved() == {}

    drafts.put(A, Draft("  "))
    assert drafts.take_unsaved() == {A: NO_DRAFT}
    assert drafts.at(A) == NO_DRAFT


async def test_the_last_blank_draft_is_taken_over_and_others_are_earlier_prompts(
    tmp_path: Path,
) -> None:
    file, elsewhere, begun = DraftFile(tmp_path / "drafts.json"), DraftKey("/other", "c"), DraftKey("/project", "d")
    others = {elsewhere: Draft("not here"), begun: Draft("to go on", is_blank=False)}
    file.change({A: Draft("older"), B: Draft("left last"), **others})
    memory = PromptMemory(tmp_path)

    assert await memory.take(NEW, "", is_new=True) == (Draft("left last"), 1)
    memory.shown.add(NEW)
    assert await memory.take(A, "", is_new=True) == (NO_DRAFT, 0)
    assert await memory.take(begun, "", is_new=False) == (others[begun], 0)
    await memory.write()
    assert texts(file) == {elsewhere: "not here", begun: "to go on", NEW: "left last"}
    assert memory.history.texts_of("/project") == ["older"]


async def test_two_that_start_at_once_do_not_both_take_a_draft_over(tmp_path: Path) -> None:
    DraftFile(tmp_path / "drafts.json").change({A: Draft("left")})
    command = [sys.executable, "-c", TAKES_AND_STAYS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == "left\n"
        memory = PromptMemory(tmp_path)
        assert await memory.take(NEW, "", is_new=True) == (NO_DRAFT, 0)
        other.stdin.close()
    assert await memory.take(NEW, "", is_new=True) == (Draft("left"), 0)


TAKES_AND_STAYS = """
import asyncio, sys
from pathlib import Path
from acp_tui.client.prompts.memory import DraftKey, PromptMemory
memory, place = PromptMemory(Path(sys.argv[1])), DraftKey("/project", "theirs")
memory.shown.add(place)
taken, _ = asyncio.run(memory.take(place, "", is_new=True))
print(taken.text, flush=True)
sys.stdin.read()
"""
WRITES_AND_STAYS = """
import sys
from pathlib import Path
from acp_tui.client.prompts.memory import Draft, DraftFile, DraftKey
file = DraftFile(Path(sys.argv[1]))
place = DraftKey("/project", "theirs")
file.change({place: Draft("half a prompt")}, {place})
print("written", flush=True)
sys.stdin.read()
"""


async def test_what_another_running_acp_tui_is_writing_is_not_taken_over_but_stays(tmp_path: Path) -> None:
    file = tmp_path / "drafts.json"
    command = [sys.executable, "-c", WRITES_AND_STAYS, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdout.readline()
        memory = PromptMemory(tmp_path)
        memory.drafts.put(A, Draft("ours"))
        memory.shown.add(A)
        await memory.write()

        assert await memory.take(NEW, "", is_new=True) == (NO_DRAFT, 0)
        assert texts(DraftFile(file)) == {DraftKey("/project", "theirs"): "half a prompt", A: "ours"}
        other.stdin.close()
    assert await memory.take(NEW, "", is_new=True) == (Draft("half a prompt"), 0)


async def test_what_another_tab_is_writing_is_not_taken_over_until_it_is_closed(tmp_path: Path) -> None:
    memory = PromptMemory(tmp_path)
    memory.drafts.put(A, Draft("being written"))
    memory.shown.add(A)
    assert await memory.take(B, "", is_new=True) == (NO_DRAFT, 0)

    memory.leave(A)
    assert await memory.take(B, "", is_new=True) == (Draft("being written"), 0)


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
    memory.drafts.put(A, Draft("draft"))

    assert await memory.load() == await memory.write() == ""
    assert memory.history.texts_of("/project") == ["one"]
    assert list(home.iterdir()) == []
