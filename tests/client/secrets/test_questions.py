"""Fields that ask for a secret are recognized in many languages and disguises; others aren't (R-ELIC-13)."""

from __future__ import annotations

import os
from random import Random

import pytest

from acp_tui.client.secrets.questions import asks_for_secret, field_asks_for_secret, form_asks_for_secret
from acp_tui.conversation.elicitation import BooleanField, Form, NumberField, TextField
from acp_tui.conversation.facts import RequestKey

ROUNDS = int(os.environ.get("ACP_TUI_SECRETS", "3")) * 20

WORDS = """
Password|Kennwort|Passwort|contraseña|clave|mot de passe|パスワード|暗証番号|密码|密碼|비밀번호
пароль|ПАРОЛЬ|senha|hasło|HASŁO
wachtwoord|lösenord|adgangskode|passord|salasana|parola|şifre|ŞİFRE|รหัสผ่าน|mật khẩu|كلمة المرور
كَلِمَة المُرور|סיסמה|पासवर्ड
jelszó|heslo|κωδικός|ΚΩΔΙΚΟΣ|kata sandi|PIN|Your PIN|2FA code|OTP|TAN|verification code
Enter the 6-digit code|код из SMS
seed phrase|12-word phrase|recovery phrase|助记词|card number|CVV|IBAN|numéro de carte
クレジットカード|SSN|tax id|Steuer-ID
API key|apiKey|api-key|ACCESS_TOKEN|githubToken|clientSecret|private key|Clé d’API|security answer
Mother's maiden name
Benutzerpasswort|비밀번호를 입력하세요|Введите пароль|请输入密码|Ваш ПИН-код
Geheimzahl|userPassword|db_password|passport number
sudo:|[sudo]|Session ID|session_id|PHPSESSID|github_pat|personal access token|PAT|kode rahasia|BIC|SWIFT code|MM/YY
expiry date|Expiration date|valid thru|CSC|card verification value|last four digits|pw:|your pass|psk|wifi key
2nd factor|google authenticator|date of birth|OAuth code|paste the URL you were redirected to|webhook url|creds
Ablaufdatum|Codewort|date d'expiration|fecha de caducidad|срок действия|有効期限|유효기간|секретный код|秘密代码
hemlig kod|tajny kod|gizli kod|kod rahsia|mã bí mật|রহস্য? গোপন কোড|رمز سري|neno la siri|Sitzungs-ID
drowssap|drow ssap|edoc noitacifirev|noitacifirev edoc|yek etavirp
"""
DISGUISED = """
p a s s w o r d|P.A.S.S.W.O.R.D|pаsswоrd|РАSSWОRD|ｐａｓｓｗｏｒｄ|p4$$w0rd|P@ssw0rd
pass\u200bword|pa\u00adssword|p\u0301assword|passwörd
ⓟⓐⓢⓢⓦⓞⓡⓓ|🅿🅰🆂🆂🆆🅾🆁🅳|ᴘᴀꜱꜱᴡᴏʀᴅ|𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝|P I N|P1N|0TP|t0ken|passvvord|ﾊﾟｽﾜｰﾄﾞ|pass-word
Passwor d|pαsswοrd|рin
"""
OTHERS = """
author|keyboard layout|pinned|Tokenizer|max tokens|max_tokens|token limit|passport|name|secretary
primary key column|Branch
Project name|Which files?|compass|bypass|password-less|opinion|spinning|Port number
Number of workers|tan color|Key binding
monkey|Title of the issue|Email|Commit message|palabra clave|Pin version|GPIO pin|code style|License
shipping|turkey|mode
public key|Keywords|Ordner|ファイル名|文件名|파일 이름|имя файла|nombre de archivo
nom du fichier|Company|step in|parole|le mot
country code|zip code|error code|exit code|temperature|number of characters|Maximum output tokens
cardinality|discard|tests pass|Code style|login page color|kod pocztowy|Valid values|Session name|emit|nip it|level
"""


def split(lines: str) -> list[str]:
    return [word for line in lines.strip().splitlines() for word in line.split("|")]


@pytest.mark.parametrize("text", split(WORDS) + split(DISGUISED))
def test_a_text_that_asks_for_a_secret_is_recognized(text: str) -> None:
    assert asks_for_secret(None, text)


@pytest.mark.parametrize("text", split(OTHERS))
def test_a_text_that_asks_for_none_is_not(text: str) -> None:
    assert not asks_for_secret(text, None)


@pytest.mark.parametrize("word", ["password", "kennwort", "contrasena", "wachtwoord", "passphrase", "apikey"])
def test_a_word_is_recognized_in_disguises_made_at_random(word: str) -> None:
    alike = {"a": "аɑａ𝚊4@", "e": "еｅ3", "o": "оοｏ0", "p": "рｐ", "s": "ѕｓ5$", "i": "іｉ1", "t": "ｔ7"}
    for number in range(ROUNDS):
        random = Random(f"{word} {number}")
        hidden = random.choice(["", "", "\u200b", "\u00ad", "\u0301", "\u2060"])
        between = random.choice(["", "", "", " ", ".", "-", "_", "·"])
        letters = [random.choice(alike.get(char, char) + char) for char in word]
        if random.random() < 0.3:
            letters = [char.upper() for char in letters]
        text = "Your " + (between + hidden).join(letters) + random.choice(["", ":", " (required)", "?"])
        assert asks_for_secret(text), text


@pytest.mark.parametrize("phrase", ["session id", "expiry date", "verification code", "seed phrase"])
def test_a_phrase_is_recognized_backwards_and_word_by_word_in_any_case(phrase: str) -> None:
    for number in range(ROUNDS):
        random = Random(f"{phrase} {number}")
        words = [word[::-1] for word in phrase.split()]
        text = random.choice([" ", "-", "_"]).join(random.choice([words, words[::-1]]))
        if random.random() < 0.5:
            text = "".join(random.choice([char, char.upper()]) for char in text)
        assert asks_for_secret(random.choice(["", "Type "]) + text), text


def test_all_that_is_said_of_a_field_counts() -> None:
    asking = [
        TextField("value", title="Kennwort"),
        TextField("value", description="what you log in with: your mot de passe"),
        TextField("v", format="password"),
        TextField("v", default="sk-ant-api03-0123456789abcdefghij"),
        TextField("v", pattern=r"^ghp_[A-Za-z0-9]{36}$"),
        TextField("v", description="x" * 5_000),
        NumberField("v", title="PIN"),
    ]
    assert all(map(field_asks_for_secret, asking))
    assert not field_asks_for_secret(TextField("v", format="email", pattern="^[a-z]+$", default="main"))
    assert not field_asks_for_secret(BooleanField("v", title="Save your password?"))


def test_the_words_of_a_form_count_for_what_can_be_written_into_it() -> None:
    key = RequestKey(1)
    assert form_asks_for_secret(Form(key, "Type the code we sent you", (TextField("value"),)))
    assert not form_asks_for_secret(Form(key, "Keep your password?", (BooleanField("value"),)))
    assert not form_asks_for_secret(Form(key, "Who are you?", (TextField("value"),)))
