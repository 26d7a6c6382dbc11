"""Service keys are found anywhere, whole; text that only resembles one stays."""

from __future__ import annotations

import os
import uuid
from base64 import b64encode
from random import Random

import pytest

from acp_tui.client.secrets.masking import Masker, masked_text
from support.secrets import ALNUM, HEX, NAMED, SHAPED, some
from support.waiting import LINEAR, growth

ROUNDS = int(os.environ.get("ACP_TUI_SECRETS", "3"))
AROUND = [
    "{}", "see {}.", '"{}"', "'{}',", "(`{}`)", "x={}", "a\n{}\nb", r'{{\"a\":\"b\n{}\"}}', "%3D{}&x=1",
    "\x1b[31m{}\x1b[0m",
    "\x1b[1;32m{}", "key {} and more", "<b>{}</b>", "https://x.example/?q={}", "[{}](x)", "- {}\r\n",
    "\t{}\t", "用{}。",
]  # fmt: skip


@pytest.mark.parametrize("service", SHAPED)
def test_a_key_is_masked_whole_whatever_stands_around_it(service: str) -> None:
    for number in range(ROUNDS):
        for at, around in enumerate(AROUND):
            random = Random(f"{service} {number} {at}")
            secret = SHAPED[service](random)
            text = around.format(secret)
            assert masked_text(text) == around.format("***"), text


@pytest.mark.parametrize("name", NAMED)
def test_what_stands_behind_its_name_is_masked(name: str) -> None:
    for number in range(ROUNDS):
        before, made = NAMED[name]
        secret = made(Random(f"{name} {number}"))
        assert secret not in masked_text(before.format(secret)), secret
        assert secret not in Masker().line(before.format(secret))


@pytest.mark.parametrize("service", SHAPED)
def test_in_a_terminal_a_key_becomes_as_many_asterisks(service: str) -> None:
    secret = SHAPED[service](Random(service)).encode()
    assert Masker().output(b"\x1b[32m" + secret + b"\x1b[0m\r\n") == b"\x1b[32m" + b"*" * len(secret) + b"\x1b[0m\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-compatible-estimator-for-everyone, risk-based-approach-to-things, task-oriented-programming-x",
        "npm_config_registry_override_for_tests pypi-publish-action-with-a-long-name gl-pat-tern",
        "package-lock: sha512-" + "Ab1+" * 21 + "Ab==",
        "APEnvironmentVariableOfTheHost AKCommonInterfaceOfTheKit cioFactoryForChannelsAndBuffers",
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 4,
        "MyVeryLongModuleNameWithThings.method.someOtherVeryLongIdentifierName",
        "s.strip().replaceEverythingThatIsThere r.someMethodWithTwentyFour b.c",
        "commit 9e107d9d372bb6826bd81d3542a419d6fc2a1b3c, tree d41d8cd98f00b204e9800998ecf8427e",
        "2026-11-22T16:00:00.123456Z 192.168.10.20:8080 12345678:1234 00:11:22:33:44:55",
        "key=value, token: str | None, password: str = None, secret = get_secret(), Keyboard: QWERTY-LAYOUT-DE",
        "ACCESS_TOKEN_LIFETIME_SECONDS, api_key_name, --token-file, primary_key=True, sort_key: created_at",
        "docker run -u 1000:1000 x; curl -u $NAME:$WORD https://a; curl -u me https://a:80/b; curl --user <me>:<word>",
        "curl https://a | sudo -u me:us x; wget --password=$WORD https://a; sshpass -p $WORD ssh a; sshpass -e ssh a",
        '"auth": "none", "auth": "bWFpbgo=", author: me, "auth": {"kind": "basic"}, 1/2/2024, 1/12:30, 2/3:4',
        "seed: 42, the phrase is: it was a dark and stormy night, and the rain fell in torrents on all of us there",
        "the login and the password of the user are not here, login or password missing, password fields",
        "as-is-and-without-any-warranty-of-any-kind ak-47 pa-rticularly-long-words-with-hyphens-in-them-are-words",
        "hooks.zapier.com/hooks/catch/ hook.eu1.make.com/docs pk_column_of_the_table pk_1234_x sk_org_live_x",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert masked_text(text) == text


def test_hashes_ids_and_words_stay() -> None:
    random = Random(5)
    for _ in range(200 * ROUNDS):
        plain = [
            some(HEX, 40)(random), some(HEX, 64)(random), str(uuid.UUID(int=random.getrandbits(128))),
            "call_" + some(ALNUM, 24)(random), "toolu_01" + some(ALNUM, 22)(random), "msg_" + some(ALNUM, 24)(random),
            "-".join(random.choices(["risk", "task", "model", "npm", "fast", "index", "state"], k=6)),
        ]  # fmt: skip
        text = " ".join(plain)
        assert masked_text(text) == text


@pytest.mark.parametrize(
    "piece", ["a", "sk-", "eyJ", "://", "AKIA", "=a:", "key=", "-----BEGIN ", "MTE.", "12345678:", "cookie: ", "Aa0-",
              "curl -u : ", "login a password ", "seed: aaa ", "phrasephrase", 'auth":"aaaa', "0123456789abcdefNRAL"]
)  # fmt: skip
def test_a_long_line_takes_no_longer_than_many_short_ones(piece: str) -> None:
    assert growth(lambda size: masked_text(piece * size), 130_000 // len(piece)) < LINEAR
    assert growth(lambda size: Masker().line(piece * size), 130_000 // len(piece)) < LINEAR
    # What a pattern does in one call isn't counted. If that were quadratic, this would take longer than a test may.
    masked_text(piece * (400_000 // len(piece)))
    Masker().line(piece * (400_000 // len(piece)))


def test_a_key_is_found_wherever_it_stands_in_megabytes() -> None:
    key = SHAPED["GitHub"](Random(1))
    for at in (*range((1 << 16) - 300, (1 << 16) + 300, 37), (1 << 16) - len(key), 3 << 16):
        for filling in ("word ", "y"):
            before = (filling * (at // len(filling) + 1))[: at - 1] + " "
            assert masked_text(f"{before}{key} {filling * 1000}")[at:].startswith("***"), (filling, at)


@pytest.mark.parametrize("filler", ["x", "word ", "a=b\n", r"\n%3D[", "Nn"])
def test_a_key_is_masked_wherever_in_a_long_text_it_stands(filler: str) -> None:
    """A long text is searched in pieces, so that other threads can run; nothing hides at their edges."""
    edges = [each * size + by for each in (1, 2) for size in (1 << 14, 1 << 16) for by in (-20, -7, 0, 5)]
    for service in list(SHAPED)[:2]:
        secret = SHAPED[service](Random(service))
        for edge in edges:
            text = (filler * (edge // len(filler) + 1))[:edge]
            whole = f"{text} {secret} {filler * 30_000}"
            assert secret not in masked_text(whole), (edge, secret)


def test_a_login_longer_than_a_piece_is_masked_in_a_long_text() -> None:
    login = f"https://{'u' * 50}:{'p1' * 2_000}@x.example"
    for before in (0, 1 << 16, (1 << 16) - 100):
        assert "p1p1" not in masked_text(f"{'y ' * (before // 2)}{login} {'z ' * 50_000}")


def test_a_login_in_base64_is_masked_by_its_key_and_anything_else_there_stays() -> None:
    login = b64encode(b"me:opens").decode()
    said = {"auths": {"registry.example": {"auth": login}}, "auth": {"terminal": True}, "other": {"auth": "required"}}

    hidden = Masker().message(said)

    assert hidden == {**said, "auths": {"registry.example": {"auth": "***"}}}
