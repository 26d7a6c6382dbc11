"""What looks like a secret, a name, or an address is replaced; everything else stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.secrets import OUT, TOKEN, Redacted, frame, says, update

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
        ('declare -x GH_PAT="abcd1234efgh"', 'declare -x GH_PAT="xkey2xxxxxxx"'),
        ('{"api_key": "qwertyuiopasdf"}', '{"api_key": "xkey2xxxxxxxxx"}'),
        ("/home/annabel: Annabel, ANNABEL; Annabella", "/home/xuser2x: xuser2x, xuser2x; Annabella"),
        ("/home/u and /Users/u2 and ~u3/a", "/home/x and /Users/x3 and ~x4/a"),
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


@pytest.mark.parametrize(
    ("meta", "redacted"),
    [
        ({"pin": 123456, "apiKey": 98765432101}, {"pin": 111111, "apiKey": 11111111111}),
        ({"secret": [-12.525, True, None]}, {"secret": [-11.111, True, None]}),
        ({"inputToken": 123456, "token": 7}, {"inputToken": 123456, "token": 7}),
        ({"password": 12345678, "x": "is 12345678"}, {"password": 11111111, "x": "is 11111111"}),
        ([{"password": 12345678}, 12345678], [{"password": 11111111}, 11111111]),
        ({"api-key": {"provider": "openai", "value": "abc"}}, {"api-key": {"provider": "openai", "value": "x2x"}}),
    ],
)  # fmt: skip
def test_numbers_are_secret_by_their_names(meta: Any, redacted: Any, tmp_path: Path) -> None:
    done = Redacted(tmp_path, update(sessionUpdate="x", _meta=meta))
    assert done.lines[1]["frame"]["params"]["update"]["_meta"] == redacted


def test_full_names_are_replaced_as_they_are_written_and_as_accounts_have_them(tmp_path: Path) -> None:
    done = Redacted(
        tmp_path, says("by Jane Q. Roe, jane-q-roe/x, JANE_Q_ROE; Janet"), full_names=("Jane Q. Roe", "jane")
    )
    assert done.said(1) == "by x1xx x. xxx, xxxx-x-xxx/x, xxxx_x_xxx; Janet"


def test_passwords_in_addresses_that_the_environment_holds_are_known(tmp_path: Path) -> None:
    environ = {"DATABASE_URL": "postgres://app:s3cretpw99@db/x"}
    assert "s3cretpw99" not in Redacted(tmp_path, says("it was s3cretpw99"), environ=environ).text
