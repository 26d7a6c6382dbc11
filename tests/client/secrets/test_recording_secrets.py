"""No secret reaches a recording, wherever it appears, and masked values keep their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.secrets.masking import Masker
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.transcript.events import Event, Exited, Frame, OwnAction, Stderr
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import Disconnected, TerminalOpened, TerminalOutput
from acp_tui.rpc import Direction
from support.recordings import write
from support.waiting import LINEAR, growth

SECRET = "hunter2-of-the-9-worlds"
SESSION = SessionId("s1")
AT_HOME = {
    "a variable of an MCP server": {
        "method": "session/new",
        "params": {"mcpServers": [{"name": "a", "command": "b", "env": [{"name": "X_TOKEN", "value": SECRET}]}]},
    },
    "a header of an MCP server": {
        "params": {
            "mcpServers": [{"type": "http", "headers": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]}]
        }
    },
    "an argument of an MCP server": {"params": {"mcpServers": [{"name": "a", "args": ["--key", SECRET]}]}},
    "a map of variables": {"params": {"deep": [{"env": {"A": SECRET}}]}},
    "a list of assignments": {"params": {"env": [f"API_KEY={SECRET}"]}},
    "a map of headers": {"params": {"headers": {"x-custom": SECRET}}},
    "a login": {
        "id": 1,
        "method": "authenticate",
        "params": {"methodId": "m", "_meta": {"what": {"ever": SECRET}}},
    },
    "a key in _meta": {"method": "session/update", "params": {"_meta": {"io.example/accessToken": SECRET}}},
    "a name and its value apart": {"params": {"list": [{"name": "client_secret", "value": SECRET}]}},
    "an object under a secret key": {"params": {"credentials": {"user": ["x", SECRET]}}},
    "a key with escapes": {"params": {"api_key": SECRET}},
    "the data of an error": {
        "id": 3,
        "error": {"code": 1, "message": "no", "data": {"details": f"token={SECRET}"}},
    },
    "a frame within an error": {
        "id": 3,
        "error": {"code": 1, "message": json.dumps({"headers": 1, "Authorization": f"Bearer {SECRET}"})},
    },
}


def frame(message: Any, direction: Direction = Direction.OUT, **how: Any) -> Frame:
    return Frame(0.0, direction, json.dumps(message, **how).encode())


def written(tmp_path: Path, *events: Event, is_raw: bool = False) -> str:
    write(tmp_path / "r.jsonl", events, is_raw=is_raw)
    return (tmp_path / "r.jsonl").read_text()


@pytest.mark.parametrize("where", AT_HOME)
def test_a_secret_is_masked_where_it_stands_and_wherever_it_is_echoed(where: str, tmp_path: Path) -> None:
    message = AT_HOME[where]
    text = written(tmp_path, frame(message))
    assert SECRET not in text
    masked = json.loads(text.splitlines()[1])["frame"]
    assert shape(masked) == shape(message)


@pytest.mark.parametrize("direction", Direction)
def test_a_known_secret_is_masked_in_all_that_comes_later(direction: Direction, tmp_path: Path) -> None:
    text = written(
        tmp_path,
        frame(AT_HOME["a variable of an MCP server"]),
        frame({"method": "session/update", "params": {"text": f"I got {SECRET}."}}, direction),
        frame({"id": 1, "error": {"data": json.dumps({"again": SECRET})}}, direction),
        Stderr(0.0, f"connecting with {SECRET}".encode()),
        Frame(0.0, direction, f"no JSON {SECRET}".encode()),
        OwnAction(0.0, SESSION, Disconnected("gone", f"it said {SECRET}")),
        OwnAction(0.0, SESSION, TerminalOpened(TerminalId("t"), f"curl {SECRET}")),
        OwnAction(0.0, SESSION, TerminalOutput(TerminalId("t"), f"[{SECRET}]".encode())),
        Exited(0.0, f"exited because of {SECRET}"),
    )
    assert SECRET not in text
    assert f"[{'*' * len(SECRET)}]" in text  # a terminal's screen is unchanged


def test_an_answer_to_a_form_is_masked_and_others_are_not(tmp_path: Path) -> None:
    answer = {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"action": "accept", "content": {"pin": 1234, "who": "me", "ok": True}},
    }
    text = written(
        tmp_path,
        frame(answer),
        frame({"id": 7, "method": "elicitation/create", "params": {}}, Direction.IN),
        frame(answer),
    )
    _, before, _, after = map(json.loads, text.splitlines())
    assert before["frame"] == answer
    assert after["frame"]["result"] == {"action": "accept", "content": {"pin": 0, "who": "***", "ok": True}}


def test_whose_account_an_agent_has_is_masked_and_of_which_kind_it_is_stays(tmp_path: Path) -> None:
    whose = {"name": SECRET, "email": SECRET, "organization": SECRET}
    told = {"state": "authenticated", "accounts": [{"label": "Max", "active": True, **whose}]}
    before = {"authStatus": {"kind": "account", "label": "Max", "account": {"email": SECRET, "plan": "max"}}}
    text = written(
        tmp_path,
        frame({"id": 3, "result": told}, Direction.IN),
        frame({"method": "auth/status_update", "params": told}, Direction.IN),
        frame({"method": "_auth/status_update", "params": before}, Direction.IN),
    )
    assert SECRET not in text
    assert text.count('"Max"') == 3
    assert '"plan":"max"' in text


def test_a_key_that_is_written_with_escapes_or_beside_half_a_character_is_found(tmp_path: Path) -> None:
    escaped = rb'{"params":{"\u0061pi_key":"%s"}}' % SECRET.encode()
    half = rb'{"params":{"api_key":"%s","x":"\ud83d"}}' % SECRET.encode()
    assert SECRET not in written(tmp_path, *(Frame(0.0, Direction.IN, data) for data in (escaped, half)))


@pytest.mark.parametrize(
    "line",
    [
        f"Authorization: Bearer {SECRET}",
        f"export OPENAI_API_KEY={SECRET}",
        f'{{"access_token": "{SECRET}"}}',
        f"https://user:{SECRET}@example.org/",
        f"password = '{SECRET}'",
        "using sk-ant-api03-0123456789-abcdef",
        "ghp_abcdefghijklmnopqrstuvwx0123456789",
    ],
)
def test_a_log_line_holds_no_secret(line: str, tmp_path: Path) -> None:
    text = written(tmp_path, Stderr(0.0, line.encode()))
    assert SECRET not in text
    assert "0123456789" not in text


def test_a_private_key_on_stderr_is_masked_line_by_line_to_its_end_and_no_further(tmp_path: Path) -> None:
    body = ["b3BlbnNzaC1rZXktdjEAAAAA" + "Kx9" * 15, "0123456789aB", ""]
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----", *body, "-----END OPENSSH PRIVATE KEY-----", "It is read."]
    text = written(tmp_path, *(Stderr(0.0, line.encode()) for line in lines))
    assert not any(line in text for line in body if line)
    assert lines[-1] in text
    assert Masker().line(body[0]) == "***"  # if its beginning has scrolled out of the log


def test_a_key_that_never_ends_does_not_hide_what_an_agent_says_for_ever(tmp_path: Path) -> None:
    begin = Stderr(0.0, b"-----BEGIN RSA PRIVATE KEY-----")
    text = written(tmp_path, begin, *[Stderr(0.0, b"x")] * 200, Stderr(0.0, b"I am here"))
    assert "I am here" in text


@pytest.mark.parametrize("piece", ["a", "token", "eyJ-", "://"])
def test_a_long_word_takes_no_longer_than_many_short_ones(piece: str) -> None:
    """Otherwise the screen would freeze."""
    assert growth(lambda size: Masker().line(f"{piece * size} token={SECRET}"), 130_000 // len(piece)) < LINEAR
    word = piece * (300_000 // len(piece))
    assert Masker().line(f"{word} token={SECRET}") == f"{word} token=***"


def test_as_many_secrets_as_are_remembered_are_found_in_long_texts() -> None:
    masker = Masker()
    secrets = [f"secret-number-{number:04}" for number in range(1_000)]
    masker.message({"list": [{"token": secret} for secret in secrets]})
    text = "an ordinary line\n" * 10_000
    assert masker.text(text + secrets[-1]) == text + "***"
    assert masker.output(secrets[0].encode()) == b"*" * len(secrets[0])


def test_what_is_secret_in_the_environment_does_not_come_back() -> None:
    masker = Masker({"ANTHROPIC_API_KEY": SECRET, "EDITOR": "a-long-editor-name"})
    assert masker.text(f"{SECRET} a-long-editor-name") == "*** a-long-editor-name"


def test_a_command_line_keeps_what_is_no_secret() -> None:
    argv = ("agent", "--acp", "--token", SECRET, f"--api-key={SECRET}", f"--url=https://me:{SECRET}@h/x")
    assert Masker().argv(argv) == (
        "agent",
        "--acp",
        "--token",
        "***",
        "--api-key=***",
        "--url=https://***@h/x",
    )


@pytest.mark.parametrize(
    "name", ["token", "X-Api-Key", "apiKey", "OPENAI_API_KEY", "Set-Cookie", "clientSecret", "a.b/authToken"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["passphrase", "Cookie", "access_key", "PRIVATE-KEY", "credentials", "passwd"])
def test_a_key_alone_is_enough_to_be_looked_at(name: str, tmp_path: Path) -> None:
    assert SECRET not in written(tmp_path, frame({"params": {name: SECRET}}))


@pytest.mark.parametrize("name", ["inputTokens", "tokens", "key", "maxTokens", "tokenizer", "author", 1, None])
def test_names_of_other_things_are_not_taken_for_them(name: object) -> None:
    assert not is_secret_name(name)


def test_code_and_ordinary_text_stay_as_they_are(tmp_path: Path) -> None:
    text = "def login(token, password):\n    token = get_token()  # Authorization: none; password: str"
    message = {"method": "session/update", "params": {"update": {"content": {"type": "text", "text": text}}}}
    data = json.dumps(message).encode()
    assert data.decode() in written(tmp_path, Frame(0.0, Direction.IN, data))


def test_a_raw_recording_says_so_and_keeps_all(tmp_path: Path) -> None:
    text = written(tmp_path, *(frame(message) for message in AT_HOME.values()), is_raw=True)
    assert json.loads(text.splitlines()[0])["raw"] is True
    assert text.count(SECRET) == len(AT_HOME)


def shape(value: Any) -> Any:
    """The types and keys, without the values."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def test_counts_of_tokens_are_no_secrets_and_numbers_under_other_names_are() -> None:
    counted = {"usage": {"maxToken": 4096, "input_token": 12, "cachedTokens": 7}}
    assert Masker().message(counted) == counted
    assert Masker().message({"token": 123456, "max_token": SECRET}) == {"token": 0, "max_token": "***"}
    assert Masker().line("max_token: 4096, token: 4096") == "max_token: 4096, token: ***"
