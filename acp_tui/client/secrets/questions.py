"""Which questions of a form ask for a secret (R-ELIC-13): by the usual words, in English and a word of other languages.

One warning too many costs only a glance. An agent that wants to hide what it asks for finds a way around any list.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from acp_tui.client.secrets.names import PASSWORDS, counts_tokens, is_secret_name
from acp_tui.client.secrets.shapes import shaped
from acp_tui.conversation.elicitation import BooleanField, Field, Form, TextField, UnknownField

MAX_CHARS: Final = 4_000
"""No one reads a longer text of a field, so it counts as asking for a secret."""
# fmt: off
_PHRASES: Final = (
    "secret", "secrets", "token", "credential", "credentials", "creds", "bearer", "otp", "totp", "mfa", "cvv", "cvc",
    "csc", "ssn", "pin", "pins", "iban", "bic", "jwt", "psk", "passkey", "mnemonic", "pass", "pw",
    "api key", "access key", "private key", "secret key", "encryption key", "signing key", "ssh key", "license key",
    "verification code", "security code", "access code", "login code", "auth code", "authentication code", "oauth code",
    "one time code", "digit code", "sms code", "confirmation code", "recovery code", "backup code", "code we sent",
    "two factor", "second factor", "2fa", "2fa code", "authenticator", "seed phrase", "recovery phrase", "word phrase",
    "card number", "credit card", "account number", "expiry date", "expiration date", "card verification",
    "social security", "tax id", "passport number", "date of birth", "maiden name", "security question",
    "security answer", "session id", "session cookie", "webhook url", "connection string", "connection url",
    "kreditkarte", "geheimzahl", "clave secreta", "clave privada", "clave de acceso", "code secret", "cle api",
    "cle d api", "cle privee", "numero de carte", "код из смс", "код из sms", "пин код",
)
_ANYWHERE: Final = (
    *PASSWORDS, "apikey", "accesstoken", "privatekey", "验证码", "驗證碼", "助记词", "密钥", "私钥",
    "クレジットカード", "認証コード", "인증번호",
)
"""They count inside a word, too: in compounds, and in scripts without blanks."""
_HARMLESS: Final = re.compile(
    r"token (?:limit|count|budget|usage|window|type)s?|(?:max|input|output|context) tokens?|password ?less"
    r"|passport(?! number)|palabras? clave|clave primaria|gpio pin|pin version|tests pass|parole"
)
# fmt: on
_ANY_REST: Final = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 3
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME: Final = re.compile(r"[\w.-]{1,60}")
_WORD: Final = re.compile(r"[^\W_]+")


def asks_for_secret(*texts: str | None) -> bool:
    """Whether a name, a title, or a description seems to ask for a password, a code, a key, or the like."""
    return any(_asks(text) for text in texts if text)


def field_asks_for_secret(field: Field) -> bool:
    """The same for a field, with everything the agent says about it. A yes or no reveals nothing."""
    if isinstance(field, UnknownField | BooleanField):
        return False
    if asks_for_secret(field.name, field.title, field.description):
        return True
    if not isinstance(field, TextField):
        return False
    return (
        (field.format is not None and asks_for_secret(field.format))
        or (field.pattern is not None and _fits_keys(field.pattern))
        or (field.default is not None and (any(shaped(field.default)) or asks_for_secret(field.default)))
    )


def form_asks_for_secret(form: Form) -> bool:
    """Whether the form's own text asks for one, whatever its fields are called."""
    can_tell = any(not isinstance(field, UnknownField | BooleanField) for field in form.fields)
    return can_tell and asks_for_secret(form.title, form.message, form.description)


def _fits_keys(pattern: str) -> bool:
    """Whether a regular expression begins like the keys of some service, with enough after it."""
    beginning = re.split(r"[\[({]|\\[dw.]|\.", pattern.lstrip("^(?:"))[0]
    return len(beginning) > 1 and any(shaped(beginning + _ANY_REST))


@lru_cache(maxsize=1024)
def _asks(text: str) -> bool:
    if len(text) > MAX_CHARS:
        return True
    if _NAME.fullmatch(text) and is_secret_name(text) and not counts_tokens(text):
        return True
    found = _WORD.findall(_plain(_CAMEL.sub(" ", text)))
    words = _HARMLESS.sub(" ", f" {' '.join(found)} ")
    joined = words.replace(" ", "")
    return any(f" {phrase} " in words for phrase in _PHRASES) or any(word in joined for word in _WITHIN)


def _plain(text: str) -> str:
    """In lowercase, without diacritics and invisible characters."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Me", "Cf"))


_WITHIN: Final = frozenset(
    re.sub(r"[\W_]", "", _plain(word)) for word in _ANYWHERE if word not in ("pwd", "clave", "geslo", "heslo", "haslo")
)
