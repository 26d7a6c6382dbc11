"""What is secret is gone from a redacted recording, wherever and however it stood, and all else is as it was."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.redaction.redacting import RedactionFailed, Report, Wishes, redact
from acp_tui.client.transcript.events import Event, Frame, Header, Own, Stderr
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOpened, TerminalOutput
from acp_tui.rpc import Direction
from support.recordings import write
from support.sample_pictures import encoded, quarters

IN, OUT = Direction.IN, Direction.OUT
SESSION = SessionId("s1")
SECRET = "hunter2/Of+the=9-worlds"
TOKEN = "sk-ant-api03-AbCdEf123456789_XyZw-QQQQ99"
HEADER = Header("agent", ("agent", "--acp"), cwd="/home/jdoe/app", started_at="2026-11-21T12:00:00+00:00")


def frame(message: Any, direction: Direction = IN, **how: Any) -> Frame:
    return Frame(0.0, direction, json.dumps({"jsonrpc": "2.0", **message}, **how).encode())


def update(**fields: Any) -> Frame:
    return frame({"method": "session/update", "params": {"sessionId": SESSION, "update": fields}})


def says(text: str) -> Frame:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def prints(data: bytes) -> Own:
    return Own(0.0, SESSION, TerminalOutput(TerminalId("t"), data))


class Redacted:
    """A recording before and after."""

    def __init__(self, folder: Path, *events: Event, header: Header = HEADER, **how: Any) -> None:
        self.source, self.out = folder / "raw.jsonl", folder / "redacted.jsonl"
        write(self.source, events, header, is_raw=True)
        self.report = self._redacted(self.source, self.out, **how)
        self.text = self.out.read_text()
        self.lines = [json.loads(line) for line in self.text.splitlines()]

    @staticmethod
    def _redacted(
        source: Path, out: Path, environ: dict[str, str] | None = None, host: str = "", **wishes: Any
    ) -> Report:
        return redact(source, out, Wishes(**wishes), environ or {}, host)

    def said(self, number: int) -> str:
        """What a message says, the first event being 1."""
        text = self.lines[number]["frame"]["params"]["update"]["content"]["text"]
        assert isinstance(text, str)
        return text


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
    "between colours": f"\x1b[1m{SECRET[:4]}\x1b[0;32m{SECRET[4:9]}\x1b]8;;http://x\x07{SECRET[9:]}\x1b[0m",
    "in a title": f"\x1b]0;{SECRET}\x07",
}


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("where", ["message", "stderr", "terminal", "key", "junk", "own event", "raw output"])
def test_a_secret_is_found_however_and_wherever_it_is_written(how: str, where: str, tmp_path: Path) -> None:
    text = WRITTEN[how]
    opened = TerminalOpened(TerminalId("t"), f"echo {text}", "/x", True, 80, 24)
    event: Event = {
        "message": says(text),
        "stderr": Stderr(0.0, text.encode()),
        "terminal": prints(text.encode()),
        "key": update(sessionUpdate="x", _meta={text: 1}),
        "junk": Frame(0.0, IN, f"warning: {text}".encode()),
        "own event": Own(0.0, SESSION, opened),
        "raw output": update(sessionUpdate="tool_call_update", toolCallId="c", rawOutput={"a": [text]}),
    }[where]
    done = Redacted(tmp_path, event, secrets=(SECRET,))
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


def strings_of(recording: Path) -> list[str]:
    def of(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key, item in value.items() for text in (key, *of(item))]
        return [text for item in value for text in of(item)] if isinstance(value, list) else [str(value)]

    return [text for line in recording.read_text().splitlines() for text in of(json.loads(line))]


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


def test_a_secret_that_is_split_over_terminal_outputs_with_colours_is_replaced(tmp_path: Path) -> None:
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
    done = Redacted(
        tmp_path, *(Stderr(0.0, line.encode()) for line in lines), says(json.dumps("\n".join(lines)))
    )
    texts = [line["text"] for line in done.lines[1:5]]
    assert texts[0] == lines[0]
    assert texts[3] == lines[3]
    assert [len(text) for text in texts] == [len(line) for line in lines]
    assert not any(part in done.text for part in (lines[1][:20], "c2hvcnQ"))
    assert json.loads(done.said(5)).splitlines()[::3] == lines[::3]


LOOKS = {
    "AKIAIOSFODNN7EXAMPLE": "key",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": "key",
    "github_pat_11ABCDEFG0abcdefghijkl_mnop": "key",
    "sk-proj-abcdefghijklmnop1234567890": "key",
    TOKEN: "key",
    "xoxb-123456789012-abcdefghij": "key",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_123": "token",
    "jane.roe@corp.example": "e-mail",
}


@pytest.mark.parametrize("text", LOOKS)
def test_what_looks_like_a_secret_is_one(text: str, tmp_path: Path) -> None:
    done = Redacted(tmp_path, says(f"see {text}."))
    assert (LOOKS[text], text) in [(secret.kind, secret.text) for secret in done.report.replaced]
    assert text not in done.text


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("AUTHORIZATION: bearer abcdef123456ABCDEF", "AUTHORIZATION: bearer xtoken2xxxxxxxxxxx"),
        ("x-api-key: 1234abcd5678efgh", "x-api-key: xtoken2xxxxxxxxx"),
        ("postgres://bob9:s3cr3tpw@db.example/x", "postgres://x2xx:xpass3xx@db.example/x"),
        ("SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "SECRET_ACCESS_KEY=xkey2xxxxxxxx/xxxxxxx/xxxxxxxx"),
        ("token = 0123456789abcdef0123", "token = xkey2xxxxxxxxxxxxxxx"),
        ("password: hunter22", "password: xpass2xx"),
        ("/home/anna/p and ~anna/x, by anna", "/home/x2xx/p and ~x2xx/x, by x2xx"),
        ("C:\\Users\\Anna Roe\\x", "C:\\Users\\x2xx xxx\\x"),
        ("/mnt/c/Users/anna/x -home-anna-p", "/mnt/c/Users/x2xx/x -home-x2xx-p"),
        ("/home/u and /Users/u2 and ~u3", "/home/x and /Users/x3 and ~x4"),
        ("jdoe@thinkpad:~/app$ ls", "x1xx@xhost2xx:~/app$ ls"),
    ],
)  # fmt: skip
def test_names_and_values_are_replaced_where_they_stand(text: str, redacted: str, tmp_path: Path) -> None:
    assert Redacted(tmp_path, says(text)).said(1) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096, keyboard = QWERTY, token: str | None",
        "git@github.com:o/r.git, noreply@example.com, /home/user/x, ~/x, ~~gone~~, key=value",
        "def f(password: str = None): return os.environ['API_KEY']",
        "4f2d9c1e-8b7a-4c3d-9e0f-1a2b3c4d5e6f d41d8cd98f00b204e9800998ecf8427e",
        "https://example.com/home/page 2026-11-21T12:00:00Z",
    ],
)
def test_what_is_no_secret_stays(text: str, tmp_path: Path) -> None:
    assert Redacted(tmp_path, says(text)).said(1) == text


def test_the_environment_knows_secrets_and_names(tmp_path: Path) -> None:
    environ = {"MY_TOKEN": "swordfish77", "USER": "annabel", "HOME": "/data/people/annabel", "PATH": "/bin"}
    done = Redacted(
        tmp_path,
        says("swordfish77 annabel@lynx4 in /data/people/annabel, /bin"),
        environ=environ,
        host="lynx4.lan",
    )
    assert not any(word in done.text for word in ("swordfish77", "annabel", "lynx4", "people"))
    assert done.said(1).endswith("/xuser2x, /bin")
    assert {"variable", "user", "host", "folder"} <= {secret.kind for secret in done.report.replaced}


def test_the_folders_above_a_session_are_replaced_and_a_path_stays_a_path(tmp_path: Path) -> None:
    new = frame({"id": 1, "method": "session/new", "params": {"cwd": "/srv/acme/site/web"}}, OUT)
    done = Redacted(tmp_path, new, says("in /srv/acme/site/web/a.py, file:///srv/acme/b, acme"))
    assert done.lines[1]["frame"]["params"]["cwd"] == "/srv/x2xx/x3xx/web"
    assert done.said(2) == "in /srv/x2xx/x3xx/web/a.py, file:///srv/x2xx/b, acme"
    assert done.lines[0]["cwd"] == "/home/x1xx/app"


def test_values_are_secret_by_their_names(tmp_path: Path) -> None:
    servers = [
        {
            "name": "a",
            "args": ["--api-key", "plain"],
            "headers": [{"name": "AUTHORIZATION", "value": "Bearer p1"}],
        }
    ]
    params = {
        "mcpServers": servers,
        "_meta": {"accessToken": "abc", "credentials": {"x": ["y"]}, "inputTokens": 5},
    }
    done = Redacted(tmp_path, frame({"id": 1, "method": "session/new", "params": params}, OUT))
    given = done.lines[1]["frame"]["params"]
    [server], meta = given["mcpServers"], given["_meta"]
    assert server["args"] == ["--api-key", "xkey2"]
    assert server["headers"][0] == {"name": "AUTHORIZATION", "value": "Bearer x3"}
    assert meta == {"accessToken": "x4x", "credentials": {"x": ["x"]}, "inputTokens": 5}


def test_the_protocol_keeps_its_words(tmp_path: Path) -> None:
    done = Redacted(tmp_path, says("text, update and type"), secrets=("text", "update", "type", "agent"))
    assert done.lines[1]["frame"]["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    assert done.said(1) == "x1xx, xown2x and x3xx"


def test_lines_without_secrets_stay_to_the_byte(tmp_path: Path) -> None:
    odd = b'{"jsonrpc": "2.0" , "method":"x","params":{"a":1.0e2,"a":"\\u00e9","\\ud83d":[ ]}}'
    event, line = Frame(0.0, IN, odd), b'{"t":0.0,"type":"later","x":1E5}\nno event\n'
    write(tmp_path / "a", [event], HEADER, is_raw=True)
    with (tmp_path / "a").open("ab") as file:
        file.write(line + b'{"half')
    report = redact(tmp_path / "a", tmp_path / "b", Wishes(), {}, "")
    assert (tmp_path / "b").read_bytes().split(b"\n", 1)[1] == (tmp_path / "a").read_bytes().split(b"\n", 1)[
        1
    ]
    assert report.bad_lines == 2


def test_a_doubled_key_hides_nothing(tmp_path: Path) -> None:
    data = b'{"method":"x","params":{"a":"%s","a":"b"}}' % TOKEN.encode()
    assert TOKEN not in Redacted(tmp_path, Frame(0.0, IN, data)).text


# Contents of files

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
    assert (
        diff["oldText"] == read == done.lines[6]["frame"]["params"]["update"]["content"]["resource"]["text"]
    )
    assert diff["path"] == "/w/src/a.py"
    assert not any(word in done.text for word in ("one", "two", "TWO", "田"))
    assert (len(quoted["content"]["text"]), done.report.files_left_out) == (len(OLD) + 7, 2)


@pytest.mark.parametrize(
    ("wishes", "is_left_out"),
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
def test_globs_say_whose_contents_are_left_out(
    wishes: dict[str, Any], is_left_out: bool, tmp_path: Path
) -> None:
    assert ("one = 1" not in Redacted(tmp_path, *contents_events(), **wishes).text) is is_left_out


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


# The file


def test_redacting_twice_changes_nothing(tmp_path: Path) -> None:
    texts = [
        *WRITTEN.values(),
        *LOOKS,
        "password=hunter22 jdoe@box4 /srv/x",
        *(str(each) for each in range(5)),
    ]
    done = Redacted(
        tmp_path, *map(says, texts), *contents_events(), secrets=(SECRET,), drop_contents=("*.py",)
    )
    report = redact(done.out, tmp_path / "again", Wishes((SECRET,), ("*.py",)), {}, "")
    assert (tmp_path / "again").read_bytes() == done.out.read_bytes()
    assert not report.replaced


def test_a_redacted_recording_is_replayed_to_the_same_layout(tmp_path: Path) -> None:
    opened = [
        frame({"id": 1, "method": "session/new", "params": {"cwd": "/home/jdoe/app"}}, OUT),
        frame({"id": 1, "result": {"sessionId": SESSION}}),
    ]
    done = Redacted(
        tmp_path, *opened, says(f"{TOKEN} 田中@x /home/jdoe/x "), says("and on"), secrets=("田中",)
    )
    [before], [after] = replayed(done.source).values(), replayed(done.out).values()
    texts = [entry.text for each in (before, after) for entry in each.entries]  # type: ignore[union-attr]
    assert [list(map(len, text.split())) for text in texts] == [[40, 4, 12, 3, 2]] * 2
    assert "ｘｘ@x" in texts[1]


def test_the_file_is_new_and_for_its_owner_only(tmp_path: Path) -> None:
    done = Redacted(tmp_path, says("hi"))
    assert done.out.stat().st_mode & 0o777 == 0o600
    before = done.source.read_bytes()
    for out in (done.source, done.out):
        with pytest.raises(RedactionFailed, match="nothing is overwritten"):
            redact(done.source, out, Wishes(), {}, "")
    assert done.source.read_bytes() == before
    with pytest.raises(ClientError, match="is no recording"):
        (tmp_path / "notes").write_text("x")
        redact(tmp_path / "notes", tmp_path / "new", Wishes(), os.environ, "")
    assert not (tmp_path / "new").exists()
