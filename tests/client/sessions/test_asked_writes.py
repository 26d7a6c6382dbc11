"""A write that the user is asked about goes over exactly what the question showed, or the user is asked again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from acp_tui.client.sessions.client_tools import WHY_AGAIN
from acp_tui.client.sessions.consent import ALLOW, OUTDATED, REFUSE, WHY_OUTSIDE, WHY_SETTINGS, Grant, Policy
from acp_tui.client.sessions.session import Session
from acp_tui.client.workspace.runs_later import STAYS_EXECUTABLE
from acp_tui.conversation.content import Text
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import PermissionRequest
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from support.agents import SERVING, Counterpart, in_session, request, until

ASK = Policy(write=Grant.ASK)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("b\n")
    return folder


async def write(wire: Counterpart, path: Path, content: str = "agent\n", request_id: int = 1) -> None:
    params = {"sessionId": "s1", "path": str(path), "content": content}
    await wire.send(request(request_id, "fs/write_text_file", params))


async def question(session: Session, count: int = 1) -> tuple[PermissionRequest, ToolCallEntry]:
    """The last of so many questions."""
    await until(session, lambda: len(session.conversation.permissions) == count)
    asked = list(session.conversation.permissions.values())[-1]
    return asked, session.conversation.tool_call(asked.tool_call_id)


async def allow(session: Session) -> ToolCallEntry:
    asked, entry = await question(session)
    session.answer_permission(asked.key, ALLOW.option_id)
    return entry


def save(file: Path, text: str = "user\n") -> None:
    """As an editor that writes another file and renames it."""
    new = file.with_name("saved")
    new.write_text(text)
    new.replace(file)


def save_in_place(file: Path) -> None:
    with file.open("r+") as opened:
        opened.truncate(0)
        opened.write("user\n")


def save_with_the_same_size_and_times(file: Path) -> None:
    before = file.stat()
    file.write_text("ONE\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def delete(file: Path) -> None:
    file.unlink()


def make_executable(file: Path) -> None:
    file.chmod(0o755)


def make_private(file: Path) -> None:
    file.chmod(0o600)


def replace_by_a_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("b.txt")


def replace_by_binary(file: Path) -> None:
    file.write_bytes(b"\0\1")


CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (save, "its content is different"),
    (save_in_place, "its content is different"),
    (save_with_the_same_size_and_times, "its content is different"),
    (delete, "it was deleted"),
    (make_executable, "it is executable now"),
    (make_private, "its mode is 600, not 644"),
    (replace_by_binary, "its content is different"),
    (replace_by_a_link, "its path now leads to {cwd}/b.txt, and its content is different"),
]


@pytest.mark.parametrize(("change", "what"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
async def test_a_file_that_changes_while_the_card_waits_is_asked_about_again(
    cwd: Path, change: Callable[[Path], None], what: str
):
    file = cwd / "a.txt"
    file.chmod(0o644)
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, file)
        await question(session)
        change(file)
        kept = {path.name: (path.lstat().st_mode, path.read_bytes()) for path in cwd.iterdir()}
        first = await allow(session)
        again, second = await question(session)
        assert again.note == f"{WHY_SETTINGS}\n{WHY_AGAIN.format(what=what.format(cwd=cwd))}"
        assert {path.name: (path.lstat().st_mode, path.read_bytes()) for path in cwd.iterdir()} == kept
        assert (first.call.status, first.call.content[0]) == ("cancelled", BlockContent(Text(OUTDATED)))
        shown = second.call.content[-1]
        assert isinstance(shown, TextDiff)
        if change is not replace_by_binary:
            assert shown.old_text == (file.read_text() if file.exists() else None)
        await allow(session)
        assert (await wire.receive())["result"] == {}
        assert second.call.status == "completed"
    assert file.read_text() == "agent\n"


async def test_nothing_is_written_if_the_user_refuses_the_second_time(cwd: Path):
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, cwd / "a.txt")
        await question(session)
        save(cwd / "a.txt")
        await allow(session)
        asked, _ = await question(session)
        session.answer_permission(asked.key, REFUSE.option_id)
        assert "the user refused it" in (await wire.receive())["error"]["message"]
    assert (cwd / "a.txt").read_text() == "user\n"


async def test_the_question_comes_again_until_shown_and_written_agree(cwd: Path):
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, cwd / "a.txt")
        for number in range(5):
            _, entry = await question(session)
            save(cwd / "a.txt", f"{number}\n")
            await allow(session)
            await until(session, lambda entry=entry: entry.call.status == "cancelled")  # type: ignore[misc]
        _, entry = await question(session)
        assert entry.call.content == (TextDiff(str(cwd / "a.txt"), "agent\n", "4\n"),)
        await allow(session)
        assert "result" in await wire.receive()
    assert (cwd / "a.txt").read_text() == "agent\n"


def touch(file: Path) -> None:
    os.utime(file)


def recreate(file: Path) -> None:
    text = file.read_text()
    file.unlink()
    file.write_text(text)


@pytest.mark.parametrize("change", [touch, recreate])
async def test_a_file_that_looks_the_same_is_written(cwd: Path, change: Callable[[Path], None]):
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, cwd / "a.txt")
        await question(session)
        change(cwd / "a.txt")
        await allow(session)
        assert (await wire.receive())["result"] == {}
        assert session.conversation.permissions == {}
    assert (cwd / "a.txt").read_text() == "agent\n"


@pytest.mark.parametrize("name", ["new.txt", "folder/new.txt"])
async def test_a_file_that_appears_while_the_card_waits_is_not_overwritten(cwd: Path, name: str):
    file = cwd / name
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, file)
        await question(session)
        file.parent.mkdir(exist_ok=True)
        file.write_text("user\n")
        await allow(session)
        again, entry = await question(session)
        assert WHY_AGAIN.format(what="it was created") in (again.note or "")
        assert entry.call.content == (TextDiff(str(file), "agent\n", "user\n"),)
        assert file.read_text() == "user\n"
        session.answer_permission(again.key, REFUSE.option_id)
        assert "error" in await wire.receive()
    assert file.read_text() == "user\n"


@pytest.mark.parametrize("kind", ["folder", "fifo", "socket", "dangling link"])
@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
async def test_what_is_no_file_takes_no_writing_and_holds_nothing_up(cwd: Path, kind: str, name: str):
    file = cwd / name
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, file)
        await question(session)
        file.unlink(missing_ok=True)
        if kind == "folder":
            file.mkdir()
        elif kind == "fifo":
            os.mkfifo(file)
        elif kind == "socket":
            os.mknod(file, 0o140600)
        else:
            file.symlink_to(cwd / "nowhere")
        before = file.lstat()
        await allow(session)
        await question(session)
        assert os.path.samestat(before, file.lstat())
        await allow(session)
        answer = await wire.receive()
    assert ("result" in answer) == (kind == "dangling link")
    assert os.path.samestat(before, file.lstat())


async def test_a_hook_that_becomes_executable_meanwhile_is_shown_as_such(cwd: Path):
    hook = cwd / ".githooks/pre-commit"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\n")
    async with in_session(cwd) as (session, wire):
        await write(wire, hook)
        first, _ = await question(session)
        assert STAYS_EXECUTABLE not in (first.note or "")
        hook.chmod(0o755)
        await allow(session)
        again, _ = await question(session)
        assert STAYS_EXECUTABLE in (again.note or "")
        assert "it is executable now" in (again.note or "")
        session.answer_permission(again.key, REFUSE.option_id)
        await wire.receive()
    assert hook.read_text() == "#!/bin/sh\n"


async def test_a_link_that_is_turned_outside_meanwhile_is_asked_about_with_where_it_leads(cwd: Path):
    (cwd.parent / "outside").write_text("outside\n")
    (cwd / "link").symlink_to("a.txt")
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, cwd / "link")
        await question(session)
        (cwd / "link").unlink()
        (cwd / "link").symlink_to("../outside")
        await allow(session)
        again, entry = await question(session)
        assert (again.note or "").startswith(WHY_OUTSIDE)
        assert entry.call.content[0] == BlockContent(Text(f"{cwd}/link leads to {cwd.parent}/outside"))
        session.answer_permission(again.key, REFUSE.option_id)
        await wire.receive()
    assert (cwd.parent / "outside").read_text() == "outside\n"


async def test_two_writes_of_one_file_are_never_both_judged_by_the_same_state(cwd: Path):
    file = cwd / "a.txt"
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, file, "first\n", 1)
        await write(wire, file, "second\n", 2)
        await question(session, 2)
        for asked in [*session.conversation.permissions.values()]:
            session.answer_permission(asked.key, ALLOW.option_id)
        again, entry = await question(session)
        assert (await wire.receive())["result"] == {}
        [shown] = entry.call.content
        assert isinstance(shown, TextDiff)
        assert {shown.old_text, shown.new_text} == {"first\n", "second\n"}
        session.answer_permission(again.key, ALLOW.option_id)
        assert (await wire.receive())["result"] == {}
    assert file.read_text() == shown.new_text


async def test_a_file_too_large_to_be_shown_is_compared_all_the_same(cwd: Path, monkeypatch: pytest.MonkeyPatch):
    file = cwd / "large"
    with file.open("wb") as opened:
        opened.truncate(100 << 20)
    async with in_session(cwd, policy=ASK) as (session, wire):
        await write(wire, file)
        _, entry = await question(session)
        assert "too large" in str(entry.call.content[0])
        with file.open("r+b") as opened:
            opened.seek(1 << 20)
            opened.write(b"user")
        await allow(session)
        again, _ = await question(session)
        assert WHY_AGAIN.format(what="its content is different") in (again.note or "")
        session.answer_permission(again.key, REFUSE.option_id)
        await wire.receive()
    assert file.stat().st_size == 100 << 20


async def test_a_write_that_is_not_asked_about_needs_no_state(cwd: Path):
    async with in_session(cwd, policy=SERVING) as (session, wire):
        await write(wire, cwd / "a.txt")
        with anyio.fail_after(10):
            assert (await wire.receive())["result"] == {}
        assert session.conversation.permissions == {}
    assert (cwd / "a.txt").read_text() == "agent\n"
