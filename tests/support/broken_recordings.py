"""Recordings after accidents: cut off, with lines lost, doubled, or reordered, bits flipped, and junk.

The environment variable BROKEN_RECORDINGS sets how many a test tries. The default suits everyday runs; with more time,
use 1,000 or more: `BROKEN_RECORDINGS=1000 pytest tests/workbench/mock tests/workbench/redact`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from hypothesis import strategies as st

from acp_tui.client.transcript.plan import RecordingPlan
from support.recordings import play

EXAMPLES: Final = int(os.environ.get("BROKEN_RECORDINGS", "40"))
SCENARIOS: Final = ("tools", "callbacks", "elicitations", "session_updates", "permissions", "crash")
AGENTS: Final = ("pysdk", "codex")
_DATA: Final = Path(__file__).parents[1] / "data" / "recordings"

_FRAMES: Final[tuple[Any, ...]] = (
    {"id": 1, "result": {"sessionId": 7}}, {"id": 2, "result": []}, {"id": None, "error": {"code": -32600}},
    {"id": 3, "method": "session/new", "params": {"cwd": 5}}, {"id": 9, "method": "session/prompt", "params": None},
    {"id": 4, "method": "initialize", "params": []}, {"method": "session/cancel", "params": {"sessionId": []}},
    {"method": "$/cancel_request", "params": {"requestId": {"a": 1}}}, {"method": "session/update", "params": []},
    {"method": "$/cancel_request", "params": {"requestId": [3]}}, {"id": 0, "result": {"outcome": []}},
    {"id": 1.5, "method": "terminal/create", "params": {"env": [3]}}, {"id": 3, "result": {"stopReason": {}}},
    {"id": 0, "method": "session/request_permission", "params": {"options": "all"}},
    {"id": "x", "method": "elicitation/create", "params": {"mode": {}, "sessionId": "demo-1"}}, [], None, 7, "text",
    {"id": 2, "error": "so"}, {"id": 2, "error": {"code": "so", "data": [1]}},
)  # fmt: skip
_LINES: Final = (
    b"", b"null", b"[]", b"{}", b'{"t":1}', b'{"t":1e400,"type":"in","frame":{}}', b"[" * 2_000, b'{"a":' * 2_000,
    b'{"t":1,"type":"in","base64":"?"}', b'{"t":1,"type":"terminal_output","session":"s","terminal_id":"t"}',
    b'{"t":1,"type":"in","text":"\\ud800"}', b"\xff\xfe{}", b'{"t":3e8,"type":"in","frame":{"method":"late"}}',
    b'{"t":1,"type":"agent_exited","how":"was ended by SIGFOO"}', b'{"t":1,"type":"agent_exited","how":5}',
)  # fmt: skip
JUNK: Final = st.one_of(
    st.binary(max_size=80),
    st.sampled_from(_LINES),
    st.builds(
        lambda way, frame: json.dumps({"t": 1, "type": way, "frame": frame}).encode(),
        st.sampled_from(["in", "out"]),
        st.sampled_from(_FRAMES),
    ),
)


@cache
def _lines(name: str) -> tuple[bytes, ...]:
    if name in AGENTS:
        return tuple((_DATA / f"{name}.jsonl").read_bytes().splitlines(keepends=True))
    with TemporaryDirectory() as folder:
        file = Path(folder, "run.jsonl")
        anyio.run(play, name, RecordingPlan(Path(folder), file=file))
        return tuple(file.read_bytes().splitlines(keepends=True))


@st.composite
def broken_recordings(draw: Callable[[st.SearchStrategy[Any]], Any]) -> bytes:
    """A recording after some accidents. Its first line, which identifies the format, usually survives."""
    whole = list(_lines(draw(st.sampled_from(SCENARIOS + AGENTS))))
    head = whole.pop(0) if draw(st.integers(0, 9)) else b""
    for _ in range(draw(st.integers(1, 6))):
        whole = _after_accident(draw, whole) or [b""]
    return head + b"".join(whole)


def _after_accident(draw: Callable[[st.SearchStrategy[Any]], Any], whole: list[bytes]) -> list[bytes]:
    at, other = draw(st.integers(0, len(whole) - 1)), draw(st.integers(0, len(whole) - 1))
    match draw(st.sampled_from(["cut", "drop", "double", "swap", "junk", "flip", "join", "turn round"])):
        case "cut":
            return [*whole[:at], whole[at][: other % (len(whole[at]) + 1)]]
        case "drop":
            return [*whole[:at], *whole[other:]] if at < other else whole
        case "double":
            return [*whole[:other], whole[at], *whole[other:]]
        case "swap":
            whole[at], whole[other] = whole[other], whole[at]
        case "junk":
            return [*whole[:at], draw(JUNK) + b"\n", *whole[at:]]
        case "flip":
            whole[at] = _flipped(whole[at], draw(st.integers(0, 1 << 20)))
        case "join":
            whole[at] = whole[at].rstrip(b"\n")
        case _:  # who sent it
            whole[at] = (
                whole[at].replace(b'"type":"in"', b'"type":"out"')
                if other % 2
                else whole[at].replace(b'"type":"out"', b'"type":"in"')
            )
    return whole


def _flipped(line: bytes, where: int) -> bytes:
    changed = bytearray(line or b"\n")
    changed[where // 8 % len(changed)] ^= 1 << where % 8
    return bytes(changed)
