"""Programs on a real PTY that query their terminal get an answer, whether or not anyone watches."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from acp_tui.client.terminals import terminals as answering
from support.terminals import asking
from support.waiting import LIMIT_S

from .conftest import Session

pytest.importorskip("pyghostty")


async def got(session: Session, *writes: bytes, until: bytes, before: str = "") -> bytes:
    """What such a program reads from its terminal, up to `until`, after writing these pieces one by one."""
    script = asking(*writes, until=until, before=before)
    snapshot = await session.run(sys.executable, "-S", "-c", script)
    return bytes.fromhex(snapshot.output.partition("got ")[2].strip())


@pytest.mark.parametrize(
    ("question", "until", "answer"),
    [
        (b"ab\x1b[6n", b"R", b"\x1b[1;3R"),
        (b"ab\r\nc\x1b[6n", b"R", b"\x1b[2;2R"),
        (b"\x1b[999;999H\x1b[6n", b"R", b"\x1b[30;120R"),
        (b"\x1b[5n", b"n", b"\x1b[0n"),
        (b"\x1b[?2004h\x1b[?2004$p", b"y", b"\x1b[?2004;1$y"),
    ],
)
async def test_a_question_is_answered(session: Session, question: bytes, until: bytes, answer: bytes) -> None:
    assert await got(session, question, until=until) == answer


@pytest.mark.parametrize("question", [b"\x1b[c", b"\x1b[0c", b"\x1b[>c"])
async def test_what_the_terminal_can_do_is_answered(session: Session, question: bytes) -> None:
    assert (await got(session, question, until=b"c")).startswith(b"\x1b[")


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_a_question_may_come_in_pieces(session: Session, cut: int) -> None:
    question = b"\x1b[6n"
    assert await got(session, b"abc", question[:cut], question[cut:], until=b"R") == b"\x1b[1;4R"


async def test_each_of_several_questions_is_answered_once_with_where_it_was_asked(session: Session) -> None:
    asked = b"a\x1b[6nb\x1b[6nc\x1b[5n"
    assert await got(session, asked, until=b"0n") == b"\x1b[1;2R\x1b[1;3R\x1b[0n"


async def test_a_question_below_a_flood_is_answered_with_where_it_was_asked(session: Session) -> None:
    before = f"print('line\\r\\n' * {answering.RECENT_BYTES}, end='', flush=True)"
    assert await got(session, b"xy\x1b[6n", until=b"R", before=before) == b"\x1b[30;3R"


async def test_another_size_is_known_to_the_answers(session: Session) -> None:
    script = asking(b"\x1b[999;999H\x1b[6n", until=b"R", before="print('ready', flush=True); os.read(0, 1)")
    terminal_id = await session.terminals.create(sys.executable, ["-S", "-c", script])
    await session.until_heard(terminal_id, b"ready")
    session.terminals.get(terminal_id).resize(50, 10)
    session.terminals.get(terminal_id).write(b"x")
    await session.until_heard(terminal_id, b"got " + b"\x1b[10;50R".hex().encode())


async def test_questions_that_nobody_reads_the_answers_to_hold_nothing_up(session: Session) -> None:
    flood = "import sys, tty; tty.setraw(0); sys.stdout.write('\\x1b[6n' * 200_000); print('done')"
    snapshot = await session.run(sys.executable, "-S", "-c", flood)
    assert snapshot.output.rstrip() == "done"


async def test_no_emulator_is_loaded_for_a_program_that_asks_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Sequence[int]] = []
    monkeypatch.setattr(answering, "make_emulator", lambda *size: made.append(size))
    monkeypatch.setattr(answering, "load_emulator", lambda: made.append(()))
    colors = "\x1b[1;31mred\x1b[0m\x1b[2K\x1b[5;5H\x1b[?25l\x1b]0;a title\x07\r\n" * 100
    await session.run(sys.executable, "-S", "-c", f"print({colors!r})")
    assert made == []


async def test_without_an_emulator_a_program_runs_on(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyghostty", None)
    terminal_id = await session.shell("printf 'a\\033[6nb'; read answer; echo got $answer")
    await session.until_heard(terminal_id, b"b")
    session.terminals.get(terminal_id).write(b"typed\r")
    with anyio.fail_after(LIMIT_S):
        await session.terminals.get(terminal_id).wait_for_exit()
    assert "got typed" in session.terminals.get(terminal_id).output().output
