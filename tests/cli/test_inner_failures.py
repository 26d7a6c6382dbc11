"""Internal errors that occur while the screen is drawn are reported once the terminal is free again."""

import logging

import pytest

from acp_tui.cli.screen import MAX_KEPT, told_afterwards

log = logging.getLogger("acp_tui.somewhere")


def fail(words: str = "of \x1b[2J no use") -> None:
    try:
        raise ValueError(words)
    except ValueError:
        log.exception("a notification %s was dropped", "session/update")


def test_a_failure_is_said_when_the_screen_is_closed_and_not_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with told_afterwards():
        fail()
        assert capsys.readouterr().err == ""

    head, failure = capsys.readouterr().err.splitlines()
    assert "ACP_TUI_DEBUG=1" in head
    assert failure == "  a notification session/update was dropped: ValueError: of ␛[2J no use"


def test_a_failure_is_said_even_where_the_screen_itself_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), told_afterwards():
        fail()
        raise KeyError

    assert "was dropped" in capsys.readouterr().err


def test_debugging_shows_where_it_happened(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_TUI_DEBUG", "1")
    with told_afterwards():
        fail()

    assert "Traceback" in (said := capsys.readouterr().err)
    assert "\x1b" not in said


def test_the_first_of_many_failures_are_listed_and_the_rest_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with told_afterwards():
        for number in range(MAX_KEPT + 5):
            fail(f"number {number}")

    lines = capsys.readouterr().err.splitlines()
    assert lines[1].endswith("number 0")
    assert lines[-1] == "  and 5 more"


def test_a_failure_that_comes_again_and_again_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with told_afterwards():
        for _ in range(3):
            fail()

    _, failure, more = capsys.readouterr().err.splitlines()
    assert "was dropped" in failure
    assert more == "  and 2 more"


def test_where_nothing_went_wrong_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with told_afterwards():
        log.info("all is well")

    assert capsys.readouterr().err == ""
