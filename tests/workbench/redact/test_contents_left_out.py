"""Contents of files, images, and sounds are left out on request."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from acp_tui.client.transcript.events import Event
from support.redactions import OUT, Redacted, frame, update
from support.sample_pictures import encoded, quarters

OLD, NEW = "one = 1\ntwo = 2\n  田中\n", "one = 1\nTWO = 2\n  田中\n"


def contents_events() -> list[Event]:
    diff = {"type": "diff", "path": "/w/src/a.py", "oldText": OLD, "newText": NEW}
    quoted = {"type": "content", "content": {"type": "text", "text": f"```\n{OLD}```"}}
    resource = {"uri": "file:///w/src/a.py", "text": OLD}
    return [
        frame({"id": 7, "method": "fs/read_text_file", "params": {"path": "/w/src/a.py"}}),
        frame({"id": 7, "result": {"content": OLD}}, OUT),
        frame({"id": 8, "method": "fs/write_text_file", "params": {"path": "/w/src/a.py", "content": NEW}}),
        update(
            sessionUpdate="tool_call",
            toolCallId="c",
            content=[diff, quoted],
            rawInput={"path": "/w/src/a.py"},
        ),
        update(sessionUpdate="tool_call_update", toolCallId="c", rawOutput={"said": NEW}),
        update(sessionUpdate="agent_message_chunk", content={"type": "resource", "resource": resource}),
    ]


def test_contents_are_left_out_by_lines_of_the_same_length(tmp_path: Path) -> None:
    done = Redacted(tmp_path, *contents_events(), drop_contents=("src/*.py",))
    read = done.lines[2]["frame"]["result"]["content"]
    assert [[len(word) for word in line.split()] for line in read.splitlines()] == [[3, 1, 1], [3, 1, 1], [2]]
    diff, quoted = done.lines[4]["frame"]["params"]["update"]["content"]
    old, new = diff["oldText"].splitlines(), diff["newText"].splitlines()
    assert [a == b for a, b in zip(old, new, strict=True)] == [True, False, True]
    assert diff["oldText"] == read == done.lines[6]["frame"]["params"]["update"]["content"]["resource"]["text"]
    assert diff["path"] == "/w/src/a.py"
    assert not any(word in done.text for word in ("one", "two", "TWO", "田"))
    assert (len(quoted["content"]["text"]), done.report.files_left_out) == (len(OLD) + 7, 2)


@pytest.mark.parametrize(
    ("options", "is_left_out"),
    [
        ({}, False),
        ({"drop_contents": ("*.md", ".env")}, False),
        ({"drop_contents": ("a.py",)}, True),
        ({"drop_contents": ("src",)}, True),
        ({"drop_contents": ("/w/**",)}, True),
        ({"keep_contents": ("*.py",)}, False),
        ({"keep_contents": ("*.md",)}, True),
    ],
)
def test_globs_say_whose_contents_are_left_out(options: dict[str, Any], is_left_out: bool, tmp_path: Path) -> None:
    assert ("one = 1" not in Redacted(tmp_path, *contents_events(), **options).text) is is_left_out


@pytest.mark.parametrize(
    ("path", "is_kept"),
    [
        ("/home/jdoe/app/src/a.py", True),
        ("/home/jdoe/app/./lib/../src/a.py", True),
        ("src/a.py", True),
        ("file:///home/jdoe/app/src/a.py", True),
        ("/home/jdoe/app/src/deep/a.py", False),
        ("/home/jdoe/app/vendor/src/private/keys.py", False),
        ("/home/jdoe/app/vendor/src/a.py", False),
        ("/home/jdoe/app/src/../private/a.py", False),
        ("/elsewhere/src/a.py", False),
    ],
)
def test_what_is_kept_lies_where_the_glob_says_seen_from_the_folder_of_the_session(
    path: str, is_kept: bool, tmp_path: Path
) -> None:
    write = frame({"id": 8, "method": "fs/write_text_file", "params": {"path": path, "content": OLD}})
    text = Redacted(tmp_path, write, keep_contents=("src/*.py",)).text
    assert ("one = 1" in text) is is_kept


def test_an_agent_cannot_widen_what_is_kept_by_naming_a_folder(tmp_path: Path) -> None:
    path = "/home/jdoe/app/vendor/src/a.py"
    named = frame({"id": 7, "method": "terminal/create", "params": {"cwd": "/home/jdoe/app/vendor"}})
    write = frame({"id": 8, "method": "fs/write_text_file", "params": {"path": path, "content": OLD}})
    assert "one = 1" not in Redacted(tmp_path, named, write, keep_contents=("src/*.py",)).text


def test_images_are_left_unless_it_is_asked_and_that_is_said(tmp_path: Path) -> None:
    data = encoded(quarters(6))
    image = update(
        sessionUpdate="agent_message_chunk", content={"type": "image", "data": data, "mimeType": "image/png"}
    )
    done = Redacted(tmp_path, image)
    assert (data in done.text, done.report.media_kept) == (True, 1)
    (tmp_path / "redacted.jsonl").unlink()
    done = Redacted(tmp_path, image, drops_media=True)
    assert (data in done.text, done.report.media_left_out, done.report.media_kept) == (False, 1, 0)
    [left] = re.findall(r'"data": ?"([^"]+)"', done.text)
    with Image.open(io.BytesIO(b64decode(left))) as blank:
        assert (blank.size, blank.getpixel((0, 0))) == ((1, 1), 128)
