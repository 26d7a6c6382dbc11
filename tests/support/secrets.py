"""Secrets in the formats of real services, and recordings before and after redaction."""

from __future__ import annotations

import json
import string
from base64 import b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

from acp_tui.client.transcript.events import Event, Frame, Header, OwnAction
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.conversation.updates import TerminalOutput
from acp_tui.rpc import Direction
from acp_tui.workbench.redact import RedactionReport, RedactOptions, redact
from support.recordings import write

# Samples, newly made each time; none of them opens anything

ALNUM: Final = string.ascii_letters + string.digits
UPPER: Final = string.ascii_uppercase + "234567"
HEX: Final = "0123456789abcdef"
BASE58: Final = "".join(char for char in ALNUM if char not in "0OIl")
URL: Final = ALNUM + "-_"
B64: Final = ALNUM + "+/"


def some(chars: str, count: int) -> Callable[[Random], str]:
    """This many of these characters, including digits and letters of both cases if there are any."""

    def made(random: Random) -> str:
        text = "".join(random.choices(chars, k=count))
        sure = "".join(char for char in "7aQ" if char in chars)[: count - 1]
        # Only inside, since no key ends or begins with a sign.
        body = sure + text[len(sure) : -1].strip("-_+/")
        return body + "".join(random.choices([c for c in chars if c.isalnum()], k=count - len(body)))

    return made


def key(before: str, chars: str, count: int, behind: str = "") -> Callable[[Random], str]:
    return lambda random: before + some(chars, count)(random) + behind


def parts(*makers: str | Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda random: "".join(each if isinstance(each, str) else each(random) for each in makers)


# Complete keys, by the name of their service.
SHAPED: Final[dict[str, Callable[[Random], str]]] = {
    "1Password": parts("A3-", some(UPPER, 6), "-", some(UPPER, 11), *(["-", some(UPPER, 5)] * 3)),
    "Asana": parts("1/1", some("123456789", 15), ":", some(HEX, 32)),
    "Asana, for an app": parts("2/1", some("123456789", 15), "/1", some("123456789", 15), ":", some(HEX, 32)),
    "Asana, of today": parts("1/9", some("123456789", 15), ":", some(HEX, 32)),
    "Asana, of today, for an app": parts("2/9", some("123456789", 15), "/8", some("123456789", 15), ":", some(HEX, 32)),
    "ClickUp": parts("pk_", some("123456789", 8), "_", some(UPPER, 32)),
    "Modal": key("ak-", ALNUM, 22),
    "Modal's secret": key("as-", ALNUM, 22),
    "New Relic": key("NRAK-", UPPER, 27),
    "New Relic, for browsers": key("NRJS-", HEX, 19),
    "New Relic, license": key("", HEX, 36, "NRAL"),
    "New Relic, license in Europe": parts("eu01xx", some(HEX, 30), "NRAL"),
    "Pinecone": parts("pcsk_", some(ALNUM, 6), "_", some(ALNUM, 63)),
    "Stripe, for an organization": key("sk_org_live_", ALNUM, 40),
    "Stripe, restricted": key("rk_live_", ALNUM, 40),
    "Voyage": key("pa-", URL, 43),
    "a wallet": key("xprv9s21ZrQH143K", BASE58, 95),
    "a wallet in SegWit": key("zprvAWgYBBk7JR8G", BASE58, 95),
    "Confluent": key("cflt", B64, 60),
    "Cursor": key("crsr_", HEX, 64),
    "Cursor in the cloud": key("key_", HEX, 64),
    "Dropbox": key("sl.", URL, 140),
    "Dropbox, for a user": key("sl.u.", URL, 140),
    "Elastic": key("essu_", B64, 60, "=="),
    "Fly, opaque": key("fo1_", URL, 43),
    "PostHog": key("phx_", ALNUM, 43),
    "Snyk": parts("snyk_uat.", some(HEX, 8), ".", some(URL, 90)),
    "Snyk, service": parts("snyk_sat.", some(HEX, 8), ".", some(URL, 90)),
    "Sourcegraph": parts("sgp_", some(HEX, 16), "_", some(HEX, 40)),
    "AWS access key id": key("AKIA", UPPER, 16),
    "AWS temporary key id": key("ASIA", UPPER, 16),
    "Anthropic": key("sk-ant-api03-", URL, 93, "AA"),
    "Artifactory": key("AKCp8", ALNUM, 68),
    "Artifactory password": key("AP5", ALNUM, 40),
    "Atlassian": key("ATATT3xFfGF0", URL, 170),
    "Azure DevOps": parts(some(ALNUM, 76), "AZDO", some(ALNUM, 4)),
    "Azure client": parts(some(ALNUM, 3), "8Q~", some(ALNUM, 34)),
    "Azure storage": parts(some(B64, 76), "+ASt", some(ALNUM, 6), "=="),
    "DigitalOcean": key("dop_v1_", HEX, 64),
    "Discord bot": parts("MT", some(ALNUM, 24), ".G", some(ALNUM, 5), ".", some(URL, 38)),
    "Databricks": key("dapi", HEX, 32),
    "Doppler": key("dp.pt.", ALNUM, 43),
    "GitHub": key("ghp_", ALNUM, 36),
    "GitHub app": key("ghs_", ALNUM, 36),
    "GitHub fine-grained": parts("github_pat_", some(ALNUM, 22), "_", some(ALNUM, 59)),
    "GitHub oauth": key("gho_", ALNUM, 36),
    "GitLab": key("glpat-", URL, 20),
    "GitLab runner": key("glrt-", URL, 20),
    "Google": key("AIzaSy", URL, 33),
    "Google client": key("GOCSPX-", URL, 28),
    "Google oauth": key("ya29.", URL, 120),
    "Groq": key("gsk_", ALNUM, 52),
    "Hugging Face": key("hf_", string.ascii_letters, 34),
    "JSON web token": parts("eyJhbGciOiJIUzI1NiJ9.eyJ", some(URL, 60), ".", some(URL, 43)),
    "Linear": key("lin_api_", ALNUM, 40),
    "Mailchimp": key("", HEX, 32, "-us14"),
    "Notion": key("ntn_", ALNUM, 46),
    "OpenAI": parts("sk-proj-", some(ALNUM, 40), "T3BlbkFJ", some(ALNUM, 40)),
    "SendGrid": parts("SG.", some(URL, 22), ".", some(URL, 43)),
    "Sentry": key("sntryu_", HEX, 64),
    "Shopify": key("shpat_", HEX, 32),
    "Slack": parts("xoxb-", some(string.digits, 12), "-", some(ALNUM, 24)),
    "Square": key("sq0csp-", URL, 43),
    "Square access": key("EAAA", URL, 60),
    "Stripe": key("sk_live_", ALNUM, 24),
    "Stripe hook": key("whsec_", ALNUM, 32),
    "Terraform": parts(some(ALNUM, 14), ".atlasv1.", some(ALNUM, 67)),
    "Twilio": key("SK", HEX, 32),
    "Vault": key("hvs.", URL, 90),
    "age": key("AGE-SECRET-KEY-1", UPPER, 58),
    "npm": key("npm_", ALNUM, 36),
    "the Python index": key("pypi-AgEI", URL, 160),
    "xAI": key("xai-", ALNUM, 80),
}
# Found by the text before it: that text with the secret in it.
_PASSWORD: Final = some(ALNUM, 14)
_RANDOM: Final = some(ALNUM, 40)
_WORD: Final = some(string.ascii_lowercase, 9)
"""A password that looks like a word."""
_LOGIN: Final = lambda random: b64encode(f"me:{_PASSWORD(random)}".encode()).decode()  # noqa: E731


def _words(count: int) -> Callable[[Random], str]:
    return lambda random: " ".join(some(string.ascii_lowercase, random.randint(3, 8))(random) for _ in range(count))


_HOOK: Final = parts("T0", some(ALNUM, 8), "/B0", some(ALNUM, 8), "/", some(ALNUM, 24))
NAMED: Final[dict[str, tuple[str, Callable[[Random], str]]]] = {
    "a variable": ("DB_PASSWORD={}", _PASSWORD),
    "AWS secret key": ("aws_secret_access_key = {}", some(ALNUM, 40)),
    "IBM key": ("ibm_cloud_api_key: {}", some(URL, 44)),
    "SoftLayer key": ("softlayer_api_key={}", some(HEX, 64)),
    "an option": ("deploy --api-token {} --now", _RANDOM),
    "JSON": ('{{"client_secret": "{}"}}', _RANDOM),
    "a header": ("Authorization: Bearer {}", _RANDOM),
    "a cookie": ("Cookie: sid={}", _RANDOM),
    "a login in an address": ("postgres://app:{}@db.example/x", _PASSWORD),
    "German": ("Passwort: {}", _PASSWORD),
    "Japanese": ("パスワード：{}", _PASSWORD),
    "a Slack hook": ("https://hooks.slack.com/services/{}", _HOOK),
    "an Azure account": ("AccountName=x;AccountKey={}", key("", B64, 86, "==")),
    "a private key": ("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", some(B64, 64)),
    "an OpenSSH key": ("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----", some(B64, 70)),
    "a PGP key": ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----", some(B64, 64)),
    "a Zapier hook": ("https://hooks.zapier.com/hooks/catch/{}/", parts(some("123456789", 7), "/", some(ALNUM, 7))),
    "a hook of Make": ("https://hook.eu1.make.com/{}", some(ALNUM, 32)),
    "netrc": ("machine api.example login me password {}", _WORD),
    "netrc, line by line": ("machine api.example\n  login me\n  password {}\n", _WORD),
    "curl": ("curl -s -u me:{} https://api.example/x", _WORD),
    "curl, long": ("curl --user 'me:{}' https://api.example/x", _WORD),
    "curl, glued": ("curl -ume:{} https://api.example/x", _WORD),
    "curl's proxy": ("curl -x http://proxy.example --proxy-user me:{} https://api.example/x", _WORD),
    "wget": ("wget --user=me --password={} https://api.example/x", _WORD),
    "sshpass": ("sshpass -p {} ssh me@host.example", _WORD),
    "Docker": ('{{"auths": {{"registry.example": {{"auth": "{}"}}}}}}', _LOGIN),
    "Docker, in a text in JSON": ('{{\\"auth\\": \\"{}\\"}}', _LOGIN),
    "12 words": ("MNEMONIC=\"{}\"", _words(12)),
    "24 words": ("the seed phrase is: {}", _words(24)),
    "15 words in JSON": ('{{"mnemonic": "{}"}}', _words(15)),
    "Telegram bot": ("bot110201543:{}", key("AA", URL, 33)),
}  # fmt: skip
# Indistinguishable from a word, a hash, or an ID.
UNTOLD: Final[dict[str, tuple[str, Callable[[Random], str]]]] = {
    "a password in a sentence": ("it opens with {} now", _PASSWORD),
    "hexadecimal": ("found {}", some(HEX, 40)),
    "base64": ("got {} there", some(ALNUM, 32)),
    "a card": ("pay with {}", some(string.digits, 16)),
}


# Recordings of a few events, before and after redaction

IN, OUT = Direction.IN, Direction.OUT
SESSION = SessionId("s1")
TOKEN = "sk-ant-api03-AbCdEf123456789_XyZw-QQQQ99"
HEADER = Header("agent", ("agent", "--acp"), cwd="/home/jdoe/app", started_at="2026-11-21T12:00:00+00:00")


def frame(message: Any, direction: Direction = IN, **how: Any) -> Frame:
    return Frame(0.0, direction, json.dumps({"jsonrpc": "2.0", **message}, **how).encode())


def update(**fields: Any) -> Frame:
    return frame({"method": "session/update", "params": {"sessionId": SESSION, "update": fields}})


def says(text: str, kind: str = "agent_message_chunk") -> Frame:
    return update(sessionUpdate=kind, content={"type": "text", "text": text})


def prints(data: bytes) -> OwnAction:
    return OwnAction(0.0, SESSION, TerminalOutput(TerminalId("t"), data))


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
        source: Path,
        out: Path,
        environ: dict[str, str] | None = None,
        host: str = "",
        full_names: Iterable[str] = (),
        **options: Any,
    ) -> RedactionReport:
        return redact(source, out, RedactOptions(**options), environ or {}, host, full_names)

    def said(self, number: int) -> str:
        """The text of a message; the first event is 1."""
        text = self.lines[number]["frame"]["params"]["update"]["content"]["text"]
        assert isinstance(text, str)
        return text


def strings_of(recording: Path) -> list[str]:
    """All keys and values of its lines, in order."""

    def of(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key, item in value.items() for text in (key, *of(item))]
        return [text for item in value for text in of(item)] if isinstance(value, list) else [str(value)]

    return [text for line in recording.read_text().splitlines() for text in of(json.loads(line))]
