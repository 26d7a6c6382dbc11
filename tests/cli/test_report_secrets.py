"""Reports contain no secrets."""

from __future__ import annotations

import pytest

from acp_tui.cli.output import make_cleaner
from acp_tui.client.secrets.masking import Masker
from support.waiting import LINEAR, growth

ENVIRON = {
    "ANTHROPIC_API_KEY": "very-private-value",
    "LANG": "C.UTF-8",
    "DB_PASSWORD": "hunter22",
    "TOKEN": "ab",
}


@pytest.fixture(autouse=True)
def environ(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**ENVIRON, "HOME": "/home/ada"}.items():
        monkeypatch.setenv(name, value)


def clean(text: str) -> str:
    return make_cleaner({"GIVEN_TOKEN": "given-by-the-agents-file"})(text)


@pytest.mark.parametrize(
    "secret",
    [
        "very-private-value",
        "hunter22",
        "given-by-the-agents-file",
        "sk-ant-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz01",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl",
    ],
)
def test_a_secret_is_left_out_wherever_it_is_said(secret: str):
    for text in (f"failed with {secret}", f'{{"x": "{secret}"}}', f"https://x.org/?q={secret}"):
        assert secret not in clean(text)
        assert "***" in clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefghijklm", "Authorization: Bearer ***"),
        ("using api_key=12345", "using api_key=***"),
        ('"accessToken": "abc"', '"accessToken": "***"'),
        ("https://ada:pw@example.org/x", "https://***@example.org/x"),
        ("/home/ada/src and /home/adam", "~/src and /home/adam"),
        ("C.UTF-8, an ab-stract tokenizer", "C.UTF-8, an ab-stract tokenizer"),
    ],
)
def test_what_looks_like_a_secret_is_masked_and_nothing_else(text: str, shown: str):
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        '{"usage":{"inputTokens":120,"outputTokens": 7}}',
        '"totalTokens": 127',
        "max_tokens=4096, tokens_used: 12",
        "token-limit: 200000",
    ],
)
def test_counts_of_tokens_are_no_secrets(text: str):
    assert clean(text) == text


@pytest.mark.parametrize("text", ["token: 123456", "max_token=s3cret", "api_key=4096", '"otp_token": "123456"'])
def test_other_numbers_and_other_values_are_masked_as_ever(text: str):
    assert "***" in clean(text)


def test_a_home_at_the_root_hides_no_path(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/")
    assert clean("/usr/bin/git") == "/usr/bin/git"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["agent", "--api-key", "x1", "--acp"], ["agent", "--api-key", "***", "--acp"]),
        (["agent", "--token=x1"], ["agent", "--token=***"]),
        (["env", "MY_SECRET=x1", "agent"], ["env", "MY_SECRET=***", "agent"]),
        (["agent", "--max-tokens=4096"], ["agent", "--max-tokens=4096"]),
        (["agent", "--no-auth", "--acp"], ["agent", "--no-auth", "--acp"]),
    ],
)
def test_secrets_in_a_command_line_are_masked(words: list[str], shown: list[str]):
    assert list(Masker().argv(words)) == shown


@pytest.mark.parametrize("piece", ["a", "key", "eyJ-"])
def test_a_long_word_takes_no_longer_than_many_short_ones(piece: str):
    assert growth(lambda size: clean(f"{piece * size} api_key=12345"), 130_000 // len(piece)) < LINEAR
    assert clean(f"{piece * (300_000 // len(piece))} api_key=12345").endswith(" api_key=***")
