"""When a turn's output appears, and where: never after a question, and harmless on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acp_tui.cli.exec_output import NdjsonOutput, Streams
from acp_tui.rpc import Direction
from support.command_line import lines_of


def never_lost(error: OSError) -> None:
    raise error


def test_what_is_held_comes_at_the_end_in_its_order(capfd: pytest.CaptureFixture[str]) -> None:
    streams = Streams(never_lost)
    with streams.held():
        streams.out("one ")
        streams.err("two ")
        streams.out("three")
        assert capfd.readouterr() == ("", "")
    assert capfd.readouterr() == ("one three", "two ")
    streams.out("four")
    assert capfd.readouterr().out == "four"


def test_a_program_that_reads_stdout_does_not_wait(capfd: pytest.CaptureFixture[str]) -> None:
    streams = Streams(never_lost, holds_stdout=False)
    with streams.held():
        streams.out("one")
        streams.err("two")
        assert capfd.readouterr() == ("one", "")
    assert capfd.readouterr().err == "two"


def test_what_is_held_is_not_lost_with_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    streams = Streams(never_lost)
    with pytest.raises(ZeroDivisionError), streams.held():
        streams.err("one")
        raise ZeroDivisionError
    assert capfd.readouterr().err == "one"


def test_json_is_ascii_so_that_no_terminal_obeys_it_and_no_reader_loses_anything(
    capfd: pytest.CaptureFixture[str],
) -> None:
    output = NdjsonOutput(Streams(never_lost), "agent", Path("/"), is_raw=True)
    frame = {"text": "é\x9d0;title\x9c\u202e\U0001f600"}
    output.tap(Direction.IN, json.dumps(frame).encode())
    output.tap(Direction.IN, "Lädt …\x1b[m".encode())
    out = capfd.readouterr().out
    assert out.isascii()
    assert lines_of(out.splitlines()) == [
        {"type": "frame", "frame": frame},
        {"type": "frame", "frame": "Lädt …\x1b[m"},
    ]
