"""Which names mean a secret: keys, variables, headers, and options. `questions` handles a form's questions in words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_NAME: Final = 60
"""The end of a name says what it is, and a long text isn't a name, so there's no need to read all of it."""

# fmt: off
PASSWORDS: Final = (
    "password", "passwd", "pwd", "passphrase", "passcode",
    # Words of other languages that occur in names in programs and in settings files.
    "passwort", "kennwort", "contraseña", "contrasena", "contrasenya", "clave", "mot de passe", "mot_de_passe",
    "motdepasse", "senha", "palavra-passe", "wachtwoord", "lösenord", "losenord", "adgangskode", "passord", "salasana",
    "hasło", "haslo", "heslo", "jelszó", "parola", "lozinka", "geslo", "şifre", "sifre", "mật khẩu", "mat_khau",
    "kata sandi", "kata_sandi", "пароль", "парола", "лозинка", "κωδικός", "συνθηματικό", "パスワード", "暗証番号",
    "密码", "密碼", "口令", "비밀번호", "암호", "รหัสผ่าน", "كلمة المرور", "كلمة السر", "رمز عبور", "סיסמה", "סיסמא",
    "पासवर्ड",
)
"""As they occur before a value, in lowercase."""

SCHEMES: Final = ("bearer", "basic", "token", "digest")
"""What may precede the secret in a header."""

_ENDINGS: Final = (
    "token", "secret", "secrets", "password", "passwords", "passwd", "passphrase", "passcode", "credential",
    "credentials", "authorization", "cookie", "cookies", "apikey", "apikeys", "privatekey", "accesskey", "secretkey",
    "authkey", "signingkey", "encryptionkey", "decryptionkey", "licensekey", "masterkey", "accountkey", "storagekey",
    "sharedkey", "subscriptionkey", "hmackey", "webhookkey", "servicekey", "deploykey", "consumerkey", "walletkey",
    "seedphrase", "recoveryphrase", "recoverycode", "mnemonic", "connectionstring", "basicauth", "httpauth",
    "proxyauth", "npmauth", "xauth", "authtokens", "accesstokens", "refreshtokens", "apitokens", "bearertokens",
    *(re.sub(r"[\W_]", "", name) for name in PASSWORDS if name not in ("pwd", "clave")),
)
_LAST: Final = frozenset(("pwd", "pin", "otp", "totp", "cvv", "cvc", "ssn", "clave"))
_LAST_IN_CAPITALS: Final = frozenset(("key", "keys", "pass", "pw", "pat", "creds", "auth", "salt"))
_OPEN_KEYS: Final = frozenset((
    "public", "primary", "foreign", "cache", "sort", "partition", "hot", "shortcut", "routing", "order", "group",
    "registry", "object", "row", "index", "map", "dict", "host", "known", "locale", "sequence", "range", "hash",
))
_ABOUT: Final = frozenset((
    "value", "val", "raw", "base", "b", "prod", "production", "dev", "development", "staging", "live", "new", "old",
    "current", "confirm", "confirmation", "again", "repeat", "default",
))
"""What may follow such a word."""
_NONE: Final = frozenset(("PWD", "OLDPWD", "_auth"))
_COUNTING: Final = frozenset((
    "budget", "cache", "cached", "completion", "context", "count", "input", "left", "limit", "max", "min", "maximum",
    "minimum", "num", "number", "output", "per", "prompt", "reasoning", "remaining", "thought", "thoughts", "total",
    "usage", "used", "window",
))
# fmt: on
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W\d_]+")
_COUNTED_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAME_BEFORE: Final = re.compile(r"[\w-]*\Z")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?[\])}.]*")
"""Includes characters that may follow the number but aren't part of it."""


def is_secret_name(name: object) -> bool:
    """Whether a key, a variable, a header, or an option with this name contains a secret."""
    return isinstance(name, str) and _is_secret_name(name[-MAX_NAME:])


def without_scheme(value: str) -> str:
    """The secret in a header's value."""
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() in SCHEMES and rest.strip() else value


@lru_cache(maxsize=8192)
def _is_secret_name(name: str) -> bool:
    if name in _NONE:
        return name == "_auth"
    is_option, in_capitals = name.startswith("-"), name.isupper()
    if not name.isascii():
        name = _plain(name)
    words = [word.lower() for word in _WORD.findall(_CAMEL.sub("_", name))]
    while len(words) > 1 and words[-1] in _ABOUT:
        words.pop()
    if not words:
        return False
    if "".join(words).endswith(_PLAIN_ENDINGS) or words[-1] in _LAST:
        return True
    if is_option and words[-1] in ("key", "auth", "pass"):
        return words[0] not in ("no", "public")
    return in_capitals and len(words) > 1 and words[-1] in _LAST_IN_CAPITALS and words[-2] not in _OPEN_KEYS


def _plain(name: str) -> str:
    """Without diacritics, and with full-width letters as normal ones."""
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Cf")).replace("ł", "l")


_PLAIN_ENDINGS: Final = tuple({_plain(ending) for ending in _ENDINGS})


def counts_tokens(name: object) -> bool:
    """Whether a number with this name is a count of a model's tokens, and so not a secret."""
    if not isinstance(name, str):
        return False
    words = {word.lower() for word in _COUNTED_WORD.findall(name)}
    return "tokens" in words or ("token" in words and not words.isdisjoint(_COUNTING))


def is_token_count(text: str, name_end: int, value: str) -> bool:
    """The same for a name that ends at `name_end` in a text, if the value after it is a number."""
    if _NUMBER.fullmatch(value) is None:
        return False
    name = _NAME_BEFORE.search(text[max(0, name_end - MAX_NAME) : name_end])
    return name is not None and counts_tokens(name[0])
