"""A redacted recording is still a recording, with the same layout, readable only by its owner."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.transcript.events import Frame
from acp_tui.client.transcript.replay import replayed
from acp_tui.workbench.redact import RedactOptions, redact
from support.recordings import write
from support.secrets import HEADER, IN, OUT, SESSION, TOKEN, Redacted, frame, says, update

SECRET = "hunter2/Of+the=9-worlds"


def test_redacting_twice_changes_nothing(tmp_path: Path) -> None:
    texts = [
        SECRET,
        json.dumps(SECRET),
        b64encode(f"it is {SECRET}, you know".encode()).decode(),
        f"it is {SECRET}, you know".encode().hex(),
        f"\x1b[1m{SECRET[:4]}\x1b[0;32m{SECRET[4:]}",
        f"{TOKEN} jane.roe@corp.example 10.20.30.40 3e:12:45:67:89:ab",
        "password=hunter22 jdoe@box4 /srv/x",
        *(str(each) for each in range(5)),
    ]
    call = update(sessionUpdate="tool_call", toolCallId="c", _meta={"pin": 123456})
    done = Redacted(tmp_path, *map(says, texts), call, secrets=(SECRET,))
    report = redact(done.out, tmp_path / "again", RedactOptions((SECRET,)), {}, "")
    assert (tmp_path / "again").read_bytes() == done.out.read_bytes()
    assert not report.replaced


@pytest.mark.parametrize("told_at", range(5))
def test_what_is_told_once_is_found_in_every_piece_before_and_behind(tmp_path: Path, told_at: int) -> None:
    pieces = [says(text) for text in (f"{SECRET[:9]}", f"{SECRET[9:]} is ", "all, ", f"{SECRET} again")]
    told = update(sessionUpdate="tool_call", toolCallId="c", rawInput={"apiKey": SECRET})
    done = Redacted(tmp_path, *pieces[:told_at], told, *pieces[told_at:])
    said = "".join(done.said(number) for number in range(1, 6) if number != told_at + 1)
    assert re.fullmatch(r"(\S+) is all, \1 again", said)
    assert "hunter" not in done.text and "worlds" not in done.text


def test_a_host_known_only_at_the_second_reading_is_found_in_settled_text(
    tmp_path: Path,
) -> None:
    pieces = [says("jdoe@box4 "), says("and ~jdoe/x "), *[says(f"on box4, {each} ") for each in range(3)]]
    done = Redacted(tmp_path, *pieces, header=replace(HEADER, cwd="/srv"))
    assert "box4" not in done.text and "jdoe" not in done.text


def test_a_redacted_recording_is_replayed_to_the_same_layout(tmp_path: Path) -> None:
    opened = [
        frame({"id": 1, "method": "session/new", "params": {"cwd": "/home/jdoe/app"}}, OUT),
        frame({"id": 1, "result": {"sessionId": SESSION}}),
    ]
    done = Redacted(tmp_path, *opened, says(f"{TOKEN} 田中@x /home/jdoe/x "), says("and on"), secrets=("田中",))
    [before], [after] = replayed(done.source).values(), replayed(done.out).values()
    texts = [entry.text for each in (before, after) for entry in each.entries]  # type: ignore[union-attr]
    assert [list(map(len, text.split())) for text in texts] == [[40, 4, 12, 3, 2]] * 2
    assert "ｘｘ@x" in texts[1]


def test_the_file_is_new_and_for_its_owner_only(tmp_path: Path) -> None:
    done = Redacted(tmp_path, says("hi"))
    assert done.out.stat().st_mode & 0o777 == 0o600
    before = done.source.read_bytes()
    for out in (done.source, done.out):
        with pytest.raises(ClientError, match="won't be overwritten"):
            redact(done.source, out, RedactOptions(), {}, "")
    assert done.source.read_bytes() == before
    with pytest.raises(ClientError, match="isn't a recording"):
        (tmp_path / "notes").write_text("x")
        redact(tmp_path / "notes", tmp_path / "new", RedactOptions(), os.environ, "")
    assert not (tmp_path / "new").exists()


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    source = Redacted(tmp_path, says("hi " * 10_000)).source
    for out in (tmp_path / "missing" / "out", tmp_path / "redacted.jsonl" / "out"):
        with pytest.raises(ClientError, match="can't be written"):
            redact(source, out, RedactOptions(), {}, "")
    without_room = (
        # Without room, Python cuts compiled modules short, and all later starts fail.
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); sys.dont_write_bytecode = True\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from acp_tui.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    folder = tmp_path / "full"
    folder.mkdir()
    command = (sys.executable, "-c", without_room, "redact", source, "-o", folder / "out")
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, [*folder.iterdir()]) == (1, [])
    assert "can't be written: File too large" in done.stderr


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    source = Redacted(tmp_path, says("hi")).source
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ClientError, match="won't be overwritten"):
        redact(source, tmp_path / "link", RedactOptions(), {}, "")
    assert not (tmp_path / "elsewhere").exists()


def test_lines_without_secrets_stay_to_the_byte(tmp_path: Path) -> None:
    odd = b'{"jsonrpc": "2.0" , "method":"x","params":{"a":1.0e2,"a":"\\u00e9","\\ud83d":[ ]}}'
    event, line = Frame(0.0, IN, odd), b'{"t":0.0,"type":"later","x":1E5}\nno event\n'
    write(tmp_path / "a", [event], HEADER, is_raw=True)
    with (tmp_path / "a").open("ab") as file:
        file.write(line + b'{"half')
    report = redact(tmp_path / "a", tmp_path / "b", RedactOptions(), {}, "")
    assert (tmp_path / "b").read_bytes().split(b"\n", 1)[1] == (tmp_path / "a").read_bytes().split(b"\n", 1)[1]
    assert report.bad_lines == 2


def test_a_doubled_key_hides_nothing(tmp_path: Path) -> None:
    data = b'{"method":"x","params":{"a":"%s","a":"b"}}' % TOKEN.encode()
    assert TOKEN not in Redacted(tmp_path, Frame(0.0, IN, data)).text
