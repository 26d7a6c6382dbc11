"""No planted secret can be found in a redacted recording by a search that knows nothing of the implementation.

The search decodes what it can, joins pieces, and drops what a terminal doesn't show.
"""

from __future__ import annotations

import json
import os
import re
import string
from base64 import b64decode, b64encode, encodebytes
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import unquote

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from acp_tui.client.transcript.events import Event, Frame, Header, OwnAction, Stderr
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOpened
from support.secrets import HEADER, IN, OUT, SESSION, Redacted, frame, prints, says, strings_of, update

EXAMPLES: Final = int(os.environ.get("PLANTED_SECRETS", "60"))
"""With more time, use 10,000 or more."""

# Secrets

ALNUM: Final = string.ascii_letters + string.digits


def random_text(size: int, letters: str = ALNUM) -> st.SearchStrategy[str]:
    """Letters and digits from a random source; a text that ends in the same letter 20 times isn't a key."""
    return st.randoms(use_true_random=False).map(lambda random: "".join(random.choices(letters, k=size)))


def key(begin: str, size: int, letters: str = ALNUM) -> st.SearchStrategy[str]:
    return random_text(size, letters).map(lambda text: begin + text)


SECRETS: Final = {
    "AWS": key("AKIA", 16, string.ascii_uppercase + string.digits),
    "Google": key("AIza", 35),
    "GitHub": key("ghp_", 36),
    "GitHub, fine": key("github_pat_", 40),
    "GitLab": key("glpat-", 20),
    "Slack": key("xoxb-1234567890-", 24),
    "Stripe": key("sk_live_", 24),
    "OpenAI": key("sk-proj-", 40),
    "Anthropic": key("sk-ant-api03-", 50),
    "Hugging Face": key("hf_", 34),
    "npm": key("npm_", 36),
    "PyPI": key("pypi-", 60),
    "web token": random_text(43).map(lambda text: f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{text}"),
    "e-mail": key("mail.", 12, string.ascii_lowercase).map(lambda text: f"{text}@corp.example"),
    "hardware": random_text(10, "0123456789abcdef").map(
        lambda text: ":".join(["3e", *(text[at : at + 2] for at in range(0, 10, 2))])
    ),
    "network": st.tuples(st.integers(11, 126), *[st.integers(11, 199)] * 3).map(
        lambda parts: ".".join(map(str, parts))
    ),
    "given": random_text(14).map(lambda text: f"Q{text}7"),
    "variable": random_text(20).map(lambda text: f"V{text}3"),
    "user": key("jq", 9, string.ascii_lowercase),
}

# Codings


def in_colors(text: str) -> str:
    return "".join(f"\x1b[3{at % 8}m{text[at : at + 3]}\x1b]8;;https://a.b\x07" for at in range(0, len(text), 3))


def in_base64(data: bytes) -> str:
    return b64encode(b'{"the secret": "' + data + b'"}').decode()


CODINGS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "JSON": lambda text: json.dumps({"a": f'"{text}"\n'}),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"a": f"{text}\n"})),
    "JSON in JSON in JSON": lambda text: json.dumps(json.dumps(json.dumps([text, "\n"]))),
    "escaped": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "URL": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "half a URL": lambda text: "".join(
        f"%{byte:02x}" if at % 3 else chr(byte) for at, byte in enumerate(text.encode())
    ),
    "URL in URL": lambda text: "".join(f"%25{byte:02X}" for byte in text.encode()),
    "base64": lambda text: in_base64(text.encode()),
    "base64 for URLs, no fill": lambda text: in_base64("ü>ÿ? ".encode() + text.encode()).translate(
        str.maketrans("+/", "-_", "=")
    ),
    "base64 in lines": lambda text: encodebytes(b"x" * 60 + b" " + text.encode() + b" " + b"y" * 60).decode(),
    "base64 in a terminal's lines": lambda text: (
        encodebytes(b"x" * 70 + b" " + text.encode() + b" ").decode().replace("\n", "\r\n")
    ),
    "base64 in lines in JSON": lambda text: json.dumps(
        encodebytes(b"x" * 60 + b" " + text.encode() + b" " + b"y" * 60).decode()
    ),
    "base64 in base64": lambda text: in_base64(in_base64(text.encode()).encode()),
    "UTF-16 in base64": lambda text: b64encode(f"say {text} now".encode("utf-16-le")).decode(),
    "hexadecimal": lambda text: f"pass {text} !".encode().hex(),
    "hexadecimal in pairs": lambda text: f"pass {text} !".encode().hex(" "),
    "colors": in_colors,
    "colors in JSON": lambda text: json.dumps(in_colors(text)),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "entities in hexadecimal": lambda text: "".join(f"&#x{ord(char):02X};" for char in text),
    "printed over": lambda text: "".join(f"{char}\b{char}" for char in text),
    "bold within": lambda text: f"**{text[:9]}**{text[9:]}",
    "no width within": lambda text: "\u200b".join(text),
    "wide as a terminal": lambda text: f"\n{'.' * 74} {text[:5]}\r\n{text[5:]}",
}


# Places


def in_pieces(text: str, sizes: list[int]) -> Iterator[str]:
    for size in sizes:
        if text:
            yield text[:size]
            text = text[size:]
    if text:
        yield text


def planted(where: str, text: str, sizes: list[int]) -> list[Event]:
    """Text in one place of a recording."""
    tool_call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"}
    match where:
        case "message":
            return [says(text)]
        case "message in pieces":
            pieces = in_pieces(text, sizes)
            return [event for piece in pieces for event in (says(piece), says("hm", "agent_thought_chunk"))]
        case "terminal in pieces":
            opened = OwnAction(0.0, SESSION, TerminalOpened(TerminalId("t"), "sh", "/x", True, 80, 24))
            return [opened, *(prints(piece.encode()) for piece in in_pieces(text, sizes))]
        case "terminal in _meta":
            return [
                update(
                    **tool_call | {"sessionUpdate": "tool_call_update"},
                    _meta={"terminal_output": {"terminal_id": "x", "data": piece}},
                )
                for piece in in_pieces(text, sizes)
            ]
        case "stderr":
            return [Stderr(0.0, line) for line in text.encode().split(b"\n")]
        case "title":
            return [update(**tool_call | {"title": text})]
        case "raw input":
            return [update(**tool_call, rawInput={"command": ["sh", "-c", text]})]
        case "raw output":
            return [update(**tool_call, rawOutput={"a": [{"b": text}]})]
        case "diff":
            return [update(**tool_call, content=[{"type": "diff", "path": "/a", "newText": f"{text}\n"}])]
        case "path":
            return [update(**tool_call, locations=[{"path": f"/w/{text}/a.py"}])]
        case "prompt in blocks":
            blocks = [{"type": "text", "text": piece} for piece in in_pieces(text, sizes)]
            params = {"sessionId": SESSION, "prompt": blocks}
            return [frame({"id": 3, "method": "session/prompt", "params": params}, OUT)]
        case "error":
            return [frame({"id": 9, "error": {"code": -1, "message": text, "data": {"why": text}}})]
        case "extension":
            return [frame({"method": "_x.y/z", "params": {"a": text, "_meta": {"b": {"c": text}}}})]
        case "key":
            return [frame({"method": "_x.y/z", "params": {text: 1}})]
        case "blob":
            resource = {"uri": "file:///a", "blob": b64encode(b"\xff\x00" + text.encode()).decode()}
            return [update(sessionUpdate="agent_message_chunk", content={"type": "resource", "resource": resource})]
        case "answer":
            return [frame({"id": 4, "result": {"action": "accept", "content": {"q": text}}}, OUT)]
        case _:
            return [Frame(0.0, IN, line) for line in text.encode().split(b"\n")]


PLACES: Final = (
    "message", "message in pieces", "terminal in pieces", "terminal in _meta", "stderr", "title", "raw input",
    "raw output", "diff", "path", "prompt in blocks", "error", "extension", "key", "blob", "answer", "junk",
)  # fmt: skip


# The search

ESCAPE: Final = re.compile(r"\x1b\][^\x07]*\x07|\x1b\[[0-9;]*m|\x00")
LEVELS: Final = 5


def texts_of(recording: Path) -> Iterator[str]:
    """All texts in a recording, with pieces joined."""
    pieces: dict[Any, list[str]] = defaultdict(list)
    for line in map(json.loads, recording.read_text().splitlines()):
        yield json.dumps(line, ensure_ascii=False)
        params = line.get("frame", {}).get("params", {})
        about = params.get("update", {})
        if "text" in line:
            pieces[line["type"]].append(line["text"] + "\n" * (line["type"] in ("stderr", "in")))
        elif isinstance(about.get("content"), dict) and "text" in about["content"]:
            pieces[about["sessionUpdate"]].append(about["content"]["text"])
        elif "_meta" in about:
            pieces["terminal"].append(about["_meta"]["terminal_output"]["data"])
        for block in params.get("prompt", ()):
            pieces["prompt"].append(block["text"])
    yield from map("".join, pieces.values())
    yield from strings_of(recording)


def decodings(text: str) -> Iterator[str]:
    """What a text may mean, one step further."""
    yield ESCAPE.sub("", text)
    yield unquote(text)
    yield unescape(text)
    yield re.sub(".\b|\\*\\*|\u200b", "", text)
    yield re.sub(r"\r?\n", "", text)
    yield re.sub(
        r"\\u([0-9a-fA-F]{4})|\\(.)",
        lambda found: chr(int(found[1], 16)) if found[1] else unescaped(found[2]),
        text,
    )
    for run in re.findall(r"[A-Za-z0-9+/_-]{16,}", re.sub(r"\r?\n", "", text)):
        for begin in range(4):
            part = run[begin:].translate(str.maketrans("-_", "+/"))
            with suppress(ValueError):
                yield b64decode(part[: len(part) // 4 * 4]).decode("latin-1")
                yield b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")
    for run in re.findall(r"(?:[0-9a-f]{2} ?){12,}", text):
        yield bytes.fromhex(run).decode("latin-1")


def unescaped(char: str) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(char, char)


def is_found(secret: str, recording: Path) -> bool:
    """Whether any text in the recording contains the secret, however it is written."""
    parts = (secret, secret[:-3], secret[3:]) if len(secret) > 14 else (secret,)
    texts = set(texts_of(recording))
    seen: set[str] = set()
    for _ in range(LEVELS):
        if any(part in text for text in texts for part in parts):
            return True
        seen |= texts
        texts = {more for text in texts for more in decodings(text)} - seen
    return False


# The property


@st.composite
def plants(draw: st.DrawFn) -> tuple[str, str, str, str, list[int]]:
    kind = draw(st.sampled_from(sorted(SECRETS)))
    secret = draw(SECRETS[kind])
    coding, where = draw(st.sampled_from(sorted(CODINGS))), draw(st.sampled_from(PLACES))
    return kind, secret, coding, where, draw(st.lists(st.integers(1, 12), max_size=40))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(plants())
@example(("GitHub", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "base64 in lines in JSON", "raw output", []))
@example(("user", "jqanderson", "as it is", "path", []))
def test_no_planted_secret_is_found_in_a_redacted_recording(
    plant: tuple[str, str, str, str, list[int]],
) -> None:
    kind, secret, coding, where, sizes = plant
    text = f"see {CODINGS[coding](f'/home/{secret}/x' if kind == 'user' else secret)} there"
    environ = {"MY_SERVICE_TOKEN": secret} if kind == "variable" else {}
    with TemporaryDirectory() as folder:
        events = planted(where, text, sizes)
        done = Redacted(Path(folder), *events, environ=environ, secrets=(secret,) if kind == "given" else ())
        assume(is_found(secret, done.source))  # otherwise it proves nothing: the search can't read this encoding here
        assert not is_found(secret, done.out)
        before, after = strings_of(done.source), strings_of(done.out)
        assert [list(map(len, text.split("\n"))) for text in before] == [
            list(map(len, text.split("\n"))) for text in after
        ]
        assert shape(done.source) == shape(done.out)


def shape(recording: Path) -> list[Any]:
    """What a replay becomes, except for its letters."""
    return [
        [(type(entry).__name__, len(getattr(entry, "text", ""))) for entry in conversation.entries]
        for conversation in replayed(recording).values()
    ]


def test_a_secret_in_the_header_is_not_found(tmp_path: Path) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    header = Header("agent", ("agent", f"--header=X: {secret}"), env_names=("A",), cwd=HEADER.cwd)
    assert not is_found(secret, Redacted(tmp_path, says("hi"), header=header).out)
