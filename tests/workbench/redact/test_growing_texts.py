"""Text that is sent again as it grows may be cut within a secret; such beginnings are replaced, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.transcript.events import Event
from support.secrets import Redacted, says, update

SECRETS = {
    "given": "correct-horse-battery-77",
    "variable": "tr0ub4dor/and+three",
    "key": "sk-ant-api03-Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_123",
    "password": "hunter2hunter4",
    "user": "mzimmermann",
}
CLOSINGS = ("", "\n```", '"}', "…\n", "...", "\r\n\x1b[0m")


def content(text: str) -> Event:
    block = {"type": "content", "content": {"type": "text", "text": text}}
    return update(sessionUpdate="tool_call_update", toolCallId="c", content=[block])


def raw_output(text: str) -> Event:
    return update(sessionUpdate="tool_call_update", toolCallId="c", rawOutput={"stdout": text})


def two_blocks(text: str) -> Event:
    blocks: list[Any] = [{"type": "content", "content": {"type": "text", "text": each}} for each in (text, "of two")]
    return update(sessionUpdate="tool_call_update", toolCallId="c", content=blocks)


def redacted(folder: Path, kind: str, *events: Event) -> Redacted:
    secret = SECRETS[kind]
    environ = {"DB_PASSWORD": secret} if kind == "variable" else {"USER": secret} if kind == "user" else {}
    return Redacted(folder, *events, environ=environ, secrets=(secret,) if kind == "given" else ())


@pytest.mark.parametrize("send", [content, raw_output, two_blocks])
@pytest.mark.parametrize("kind", SECRETS)
def test_no_beginning_of_a_secret_is_left_at_the_end_of_a_growing_text(
    kind: str, send: Callable[[str], Event], tmp_path: Path
) -> None:
    secret = SECRETS[kind]
    before = "password=" if kind == "password" else "$ env\n"
    cuts = [send(f"{before}{secret[:size]}") for size in range(6, len(secret) + 1)]
    done = redacted(tmp_path, kind, *cuts, send(f"{before}{secret} there"))
    assert secret[:6] in done.source.read_text()
    assert secret[:6] not in done.text


@pytest.mark.parametrize("closing", CLOSINGS)
def test_what_closes_a_cut_text_hides_no_beginning(closing: str, tmp_path: Path) -> None:
    done = redacted(tmp_path, "given", content(f"DB=correct-ho{closing}"))
    [block] = done.lines[1]["frame"]["params"]["update"]["content"]
    assert block["content"]["text"] == f"DB=xown1xx-xx{closing}"


def test_a_beginning_bears_the_letters_of_the_whole(tmp_path: Path) -> None:
    key = SECRETS["key"]
    sizes = (14, 22, 30, len(key))
    done = Redacted(tmp_path, *(raw_output(f"K {key[:size]}") for size in sizes))
    texts = [line["frame"]["params"]["update"]["rawOutput"]["stdout"] for line in done.lines[1:]]
    assert texts == [texts[-1][: 2 + size] for size in sizes]
    assert [secret.text for secret in done.report.replaced if secret.kind == "key"] == [key]


@pytest.mark.parametrize("text", ["sk-ant-api03-Zx9", "AKIAIOSFO", "glpat-a1B2", "eyJhbGciOiJIUzI1NiJ9.eyJz"])
def test_a_key_that_is_never_whole_is_replaced_at_the_end_of_a_text(text: str, tmp_path: Path) -> None:
    assert text not in Redacted(tmp_path, raw_output(f"it is {text}")).text


@pytest.mark.parametrize(
    "text", ["pip install sk-learn", "and then the build", "it is corr", "correct", "what is correct-hors is"]
)
def test_what_only_resembles_a_beginning_stays(text: str, tmp_path: Path) -> None:
    done = Redacted(tmp_path, says(text), host="buildbox9", secrets=("correction-77", "correct-horse"))
    assert (done.said(1) == text) is (text not in ("it is corr", "correct"))


def test_the_shorter_of_two_known_secrets_is_found_by_itself(tmp_path: Path) -> None:
    done = Redacted(tmp_path, raw_output("hunter2"), raw_output("hunter2xyz"), secrets=("hunter2", "hunter2xyz"))
    texts = [line["frame"]["params"]["update"]["rawOutput"]["stdout"] for line in done.lines[1:]]
    assert texts == ["xown1xx", "xown2xxxxx"]
