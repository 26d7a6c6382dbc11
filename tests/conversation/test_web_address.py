"""Addresses from agents: whatever could mislead about their destination is found, and nothing else."""

import pytest

from acp_tui.conversation.web_address import host_of, is_openable, place_of, split_at_host, warnings_of

URL = "https://login.example.org:8443/start?state=1"
SUSPICIOUS = [
    ("https://xn--80ak6aa92e.com/", "Punycode", True),
    ("https://аррӏе.com/", "non-ASCII", True),
    ("https://аpple.com/", "mixes scripts", True),
    ("https://xn--pple-43d.com/", "mixes scripts", True),
    ("https://good.example@evil.example/", "before the @", True),
    ("http://example.org/", "n't encrypted", True),
    ("ftp://example.org/", "scheme: ftp", False),
    ("example.org", "scheme: none", False),
    ("https://", "n't a web page", False),
    ("https://good.example\\@evil.example/", "backslash", False),
    ("https://example.org/\u202egpj", "invisible characters", False),
    ("https://example.org/\n", "invisible characters", False),
    ("java\tscript:alert(1)", "invisible characters", False),
    ("https://[::1", "a readable address", False),
    ("https://example.org:99999/", "a readable address", False),
]


@pytest.mark.parametrize(("url", "words", "can_open"), SUSPICIOUS)
def test_what_could_mislead_is_warned_of(url: str, words: str, can_open: bool) -> None:
    assert words in " ".join(warnings_of(url))
    assert is_openable(url) is can_open


@pytest.mark.parametrize("url", [URL, "https://example.org", "https://[::1]:80/x", "https://例え.jp"[:8] + "a.jp"])
def test_a_plain_address_is_not_warned_of(url: str) -> None:
    assert warnings_of(url) == ()
    assert is_openable(url)


def test_a_punycode_host_is_shown_as_it_would_look() -> None:
    assert host_of("https://xn--80ak6aa92e.com/") == "xn--80ak6aa92e.com  (shown as аррӏе.com)"
    assert host_of("https://xn--é/") == "xn--é"


@pytest.mark.parametrize("url", [URL, "https://a@b:1/", "no host", "//", "https://[::1", "\x1b[2J", "a//b//b"])
def test_splitting_an_address_loses_nothing_of_it(url: str) -> None:
    assert "".join(split_at_host(url)) == url


def test_the_host_is_what_stands_behind_the_user() -> None:
    assert split_at_host("https://good.example@evil.example:80/x") == (
        "https://good.example@",
        "evil.example:80",
        "/x",
    )
    assert split_at_host("https://[::1") == ("https://[::1", "", "")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (URL, "https://login.example.org:8443/start"),
        ("https://ada:word@example.org/a/b;c?code=1#token=2", "https://example.org/a/b;c"),
        ("https://example.org#token=2?x", "https://example.org"),
        ("https://ada:word@[::1/x?token=2", "[::1/x"),
        ("mailto:ada@example.org?body=x", "example.org"),
    ],
)
def test_only_the_location_of_an_address_is_kept(url: str, place: str) -> None:
    assert place_of(url) == place
