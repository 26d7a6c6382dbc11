"""When a question counts as shown without a screen: told by a terminal's answers."""

from __future__ import annotations

import os
import pty
import re
from collections.abc import Iterator

import pytest

from acp_tui.cli import terminal
from acp_tui.cli.terminal import LineFence
from acp_tui.client.desktop import MOSH_ANSWER
from support.waiting import LIMIT_S

QUESTION, ANSWER, SURE_QUESTION, SURE_ANSWER = b"\x1b[5n", b"\x1b[0n", b"\x1b[c", b"\x1b[?62;4c"


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """The terminal's side and ours. The terminal has answered before."""
    monkeypatch.setenv("TERM", "vt100")
    monkeypatch.setattr(LineFence, "has_answered", True)
    monkeypatch.setattr(LineFence, "unanswered", [])
    monkeypatch.setattr(LineFence, "sure_answer", "")
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def asked(master: int, times: int) -> bytes:
    """What the terminal was asked."""
    questions = b""
    while len(re.findall(rb"\x1b", questions)) < times:
        questions += os.read(master, 100)
    return questions


def test_a_question_is_shown_once_the_terminal_answers_and_not_by_typing(ends: tuple[int, int]) -> None:
    master, slave = ends
    with LineFence(slave) as fence:
        assert os.read(master, 100) == QUESTION
        os.write(master, b"y\r")
        assert not fence.is_shown(1.0)
        os.write(master, ANSWER)
        assert fence.is_shown(1.0)


def test_what_mosh_answers_is_shown_only_a_while_later(ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineFence, "has_answered", None)
    monkeypatch.setattr(terminal, "lag_s", lambda answer: LIMIT_S if answer == MOSH_ANSWER else 0.0)
    master, slave = ends
    with LineFence(slave) as fence:
        assert os.read(master, 100) == SURE_QUESTION
        os.write(master, MOSH_ANSWER.encode())
        assert not fence.is_shown(1.0)
        assert LineFence.has_answered
        monkeypatch.setattr(terminal, "lag_s", lambda _: 0.0)
    with LineFence(slave) as fence:
        assert os.read(master, 100) == QUESTION
        os.write(master, ANSWER)
        assert fence.is_shown(1.0)


def test_an_answer_to_a_question_that_was_withdrawn_shows_nothing_of_the_next(ends: tuple[int, int]) -> None:
    master, slave = ends
    with LineFence(slave):
        pass
    with LineFence(slave) as fence:
        assert asked(master, 2) == QUESTION + SURE_QUESTION
        os.write(master, ANSWER)
        assert not fence.is_shown(1.0)
        os.write(master, SURE_ANSWER)
        assert fence.is_shown(1.0)


def test_a_terminal_whose_answer_was_lost_is_asked_again(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = ends
    monkeypatch.setattr(terminal, "NEVER_S", 0.0)
    with LineFence(slave) as fence:
        monkeypatch.setattr(terminal, "NEVER_S", LIMIT_S)
        assert not fence.is_shown()
        assert asked(master, 2) == QUESTION + SURE_QUESTION
        os.write(master, ANSWER)
        assert not fence.is_shown(1.0), "it was only late"
        os.write(master, SURE_ANSWER)
        assert fence.is_shown(1.0)


def test_a_terminal_that_does_not_know_the_sure_question_is_asked_as_before(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = ends
    monkeypatch.setattr(terminal, "NEVER_S", 0.0)
    with LineFence(slave) as fence:
        assert not fence.is_shown()
        assert not fence.is_shown()
        assert asked(master, 3) == QUESTION + SURE_QUESTION + QUESTION
        os.write(master, ANSWER)
        assert fence.is_shown(1.0)
