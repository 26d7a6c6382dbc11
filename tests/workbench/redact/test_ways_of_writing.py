"""A secret is found however it is written, and in however many pieces."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from pathlib import Path
from urllib.parse import quote

import pytest

from acp_tui.client.transcript.events import Event, Frame, OwnAction, Stderr
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOpened
from support.secrets import IN, SESSION, TOKEN, Redacted, prints, says, strings_of, update

SECRET = "hunter2/Of+the=9-worlds"
ESCAPED = json.dumps(SECRET).replace("/", "\\/")
WRITTEN = {
    "as it is": SECRET,
    "in words": f"it is {SECRET}, you know",
    "in JSON": json.dumps({"k": SECRET}),
    "in JSON with an escaped slash": f'{{"k": {ESCAPED}}}',
    "in JSON with escaped letters": "".join(f"\\u{ord(char):04x}" for char in SECRET),
    "in JSON in JSON": json.dumps(json.dumps({"k": SECRET})),
    "in a URL": "https://example.org/?q=" + quote(SECRET, safe=""),
    "in base64": b64encode(f'{{"config": "{SECRET}"}}'.encode()).decode(),
    "in base64 for URLs": b64encode(f'{{"config": "ü>{SECRET}"}}'.encode(), b"-_").decode(),
    "between colors": f"\x1b[1m{SECRET[:4]}\x1b[0;32m{SECRET[4:9]}\x1b]8;;http://x\x07{SECRET[9:]}\x1b[0m",
    "in entities": "".join(f"&#{ord(char)};" for char in SECRET),
    "printed over": "".join(f"{char}\b{char}" for char in SECRET),
    "with an echo that is corrected": "".join(f"z\b{char}" for char in SECRET),
    "bold within": f"**{SECRET[:5]}**{SECRET[5:]}",
    "no width within": f"{SECRET[:5]}\u200b{SECRET[5:]}",
    "in a title": f"\x1b]0;{SECRET}\x07",
}


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("where", ["message", "stderr", "terminal", "key", "junk", "own event", "raw output"])
def test_a_secret_is_found_however_and_wherever_it_is_written(how: str, where: str, tmp_path: Path) -> None:
    text = WRITTEN[how]
    opened = TerminalOpened(TerminalId("t"), f"echo {text}", "/x", True, 80, 24)
    events: dict[str, Event] = {
        "message": says(text),
        "stderr": Stderr(0.0, text.encode()),
        "terminal": prints(text.encode()),
        "key": update(sessionUpdate="x", _meta={text: 1}),
        "junk": Frame(0.0, IN, f"warning: {text}".encode()),
        "own event": OwnAction(0.0, SESSION, opened),
        "raw output": update(sessionUpdate="tool_call_update", toolCallId="c", rawOutput={"a": [text]}),
    }
    done = Redacted(tmp_path, events[where], secrets=(SECRET,))
    [count] = [secret.count for secret in done.report.replaced if secret.kind == "given"]
    assert count == 1
    before, after = strings_of(tmp_path / "raw.jsonl"), strings_of(tmp_path / "redacted.jsonl")
    assert before != after
    assert [len(each) for each in before] == [len(each) for each in after]
    for form in (
        SECRET,
        quote(SECRET, safe=""),
        ESCAPED[1:-1],
        WRITTEN["in JSON with escaped letters"],
        text,
    ):
        assert not any(form in each for each in after)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_secret_that_is_split_over_chunks_is_replaced_piece_by_piece(size: int, tmp_path: Path) -> None:
    text = f"The key is {TOKEN}, in /home/jdoe/x.\n"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    between = update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": "hm"})
    done = Redacted(tmp_path, *(event for piece in pieces for event in (says(piece), between)))
    said = [done.said(number) for number in range(1, 2 * len(pieces), 2)]
    assert [len(piece) for piece in said] == [len(piece) for piece in pieces]
    [key] = [one for one in done.report.replaced if one.kind == "key"]
    assert "".join(said) == text.replace(TOKEN, key.stand_in).replace("jdoe", "x1xx")


def test_a_secret_that_is_split_over_terminal_outputs_with_colors_is_replaced(tmp_path: Path) -> None:
    done = Redacted(
        tmp_path,
        prints(b"$ echo \x1b[31m" + TOKEN[:9].encode()),
        prints(b"\x1b"),
        prints(b"[1m" + TOKEN[9:].encode() + b"\xff\r\n"),
    )
    first, escape, last = done.lines[1:]
    shown = first["text"] + escape["text"] + b64decode(last["base64"]).decode("utf-8", "surrogateescape")
    [key] = [one for one in done.report.replaced if one.kind == "key"]
    assert shown == f"$ echo \x1b[31m{key.stand_in[:9]}\x1b[1m{key.stand_in[9:]}\udcff\r\n"


def test_what_is_only_later_known_to_be_secret_was_so_before(tmp_path: Path) -> None:
    done = Redacted(tmp_path, says("it is abc1"), says("23def45 now"), says('{"password": "abc123def45"}'))
    assert done.said(1) + done.said(2) == "it is xpass2xxxxx now"


def test_a_private_key_is_replaced_line_by_line(tmp_path: Path) -> None:
    lines = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA12345678ab" * 2,
        "c2hvcnQ=",
        "-----END RSA PRIVATE KEY-----",
    ]
    done = Redacted(tmp_path, *(Stderr(0.0, line.encode()) for line in lines), says(json.dumps("\n".join(lines))))
    texts = [line["text"] for line in done.lines[1:5]]
    assert texts[0] == lines[0]
    assert texts[3] == lines[3]
    assert [len(text) for text in texts] == [len(line) for line in lines]
    assert not any(part in done.text for part in (lines[1][:20], "c2hvcnQ"))
    assert json.loads(done.said(5)).splitlines()[::3] == lines[::3]


def test_a_message_goes_on_in_a_piece_that_does_not_say_whose_it_is(tmp_path: Path) -> None:
    def piece(text: str, **about: str) -> Event:
        return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text}, **about)

    pieces = [piece("so", messageId="m1"), piece(SECRET[:9], messageId="m2"), piece(SECRET[9:])]
    done = Redacted(tmp_path, *pieces, secrets=(SECRET,))
    assert done.said(2) + done.said(3) == "xown1xx/xx+xxx=x-xxxxxx"


def test_a_secret_over_two_blocks_of_a_tool_call_is_replaced_in_both(tmp_path: Path) -> None:
    blocks = [{"type": "content", "content": {"type": "text", "text": text}} for text in (SECRET[:9], SECRET[9:])]
    call = update(sessionUpdate="tool_call_update", toolCallId="c", content=blocks)
    done = Redacted(tmp_path, call, call, secrets=(SECRET,))
    for line in done.lines[1:]:
        texts = [block["content"]["text"] for block in line["frame"]["params"]["update"]["content"]]
        assert "".join(texts) == "xown1xx/xx+xxx=x-xxxxxx"


def test_many_tool_calls_within_a_message_do_not_hide_that_it_goes_on(tmp_path: Path) -> None:
    blocks = [{"type": "content", "content": {"type": "text", "text": text}} for text in ("one", "two")]
    calls = [update(sessionUpdate="tool_call_update", toolCallId=f"c{at}", content=blocks) for at in range(70)]
    done = Redacted(tmp_path, says(SECRET[:9]), *calls, says(SECRET[9:]), secrets=(SECRET,))
    assert done.said(1) + done.said(72) == "xown1xx/xx+xxx=x-xxxxxx"


def test_what_is_packed_is_said_to_be_not_looked_into(tmp_path: Path) -> None:
    packed = b64encode(gzip.compress(SECRET.encode())).decode()
    assert Redacted(tmp_path, says(f"see {packed}")).report.blobs_kept == 1
