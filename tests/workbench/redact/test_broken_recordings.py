"""However damaged a recording is, reading, replaying, and redacting it end without a crash."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.client.transcript.lines import RecordingUnreadable, open_recording
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.workbench.redact import RedactOptions, redact
from support.recordings import play

EXAMPLES: Final = int(os.environ.get("BROKEN_RECORDINGS", "40"))
"""With more time, use 1,000 or more."""
SCENARIOS: Final = ("tools", "callbacks", "elicitations", "session_updates")
JUNK: Final = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([
        b"", b"null", b"[]", b"{}", b'{"t":1}', b'{"t":1e400,"type":"in","frame":{}}', b"[" * 2_000, b'{"a":' * 2_000,
        b'{"t":1,"type":"in","base64":"?"}', b'{"t":1,"type":"terminal_output","session":"s","terminal_id":"t"}',
        b'{"t":1,"type":"in","frame":{"method":"session/update","params":[]}}', b'{"t":1,"type":"in","text":"\\ud800"}',
        b'{"t":1,"type":"in","frame":{"id":NaN,"result":{"mcpServers":[[{"env":7}]]}}}', b"\xff\xfe{}",
    ]),
)  # fmt: skip


@cache
def lines(scenario: str) -> tuple[bytes, ...]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "run.jsonl")
        anyio.run(play, scenario, RecordingPlan(Path(folder), file=file))
        return tuple(file.read_bytes().splitlines(keepends=True))


@st.composite
def broken(draw: Callable[[st.SearchStrategy[object]], object]) -> bytes:
    """A recording after some accidents."""
    whole: list[bytes] = list(lines(draw(st.sampled_from(SCENARIOS))))
    for _ in range(draw(st.integers(1, 6))):  # type: ignore[call-overload]
        at: int = draw(st.integers(0, len(whole) - 1))  # type: ignore[assignment]
        other: int = draw(st.integers(0, len(whole) - 1))  # type: ignore[assignment]
        match draw(st.sampled_from(["cut", "drop", "double", "swap", "junk", "flip", "join"])):
            case "cut":
                whole = [*whole[: at + 1], whole[at][: other % (len(whole[at]) + 1)]]
            case "drop":
                whole[at:other] = []
            case "double":
                whole.insert(other, whole[at])
            case "swap":
                whole[at], whole[other] = whole[other], whole[at]
            case "junk":
                whole.insert(at, bytes(draw(JUNK)) + b"\n")  # type: ignore[call-overload]
            case "flip":
                whole[at] = flipped(whole[at], draw(st.integers(0, 1 << 20)))  # type: ignore[arg-type]
            case _:
                whole[at] = whole[at].rstrip(b"\n")
        whole = whole or [b""]
    return b"".join(whole)


def flipped(line: bytes, where: int) -> bytes:
    changed = bytearray(line or b"\n")
    changed[where // 8 % len(changed)] ^= 1 << where % 8
    return bytes(changed)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(broken())
def test_no_accident_makes_a_recording_dangerous(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        source, out, again = (Path(folder, name) for name in ("broken", "out", "again"))
        source.write_bytes(data)
        with suppress(RecordingUnreadable):
            with open_recording(source) as recording:
                list(recording)
            replayed(source)
            redact(source, out, RedactOptions(("config",), ("*.toml",)), {}, "")
            replayed(out)
            redact(out, again, RedactOptions(("config",), ("*.toml",)), {}, "")
            assert again.read_bytes() == out.read_bytes()
