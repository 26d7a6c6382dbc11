"""Fields that ask for a secret are recognized by the usual words of many languages; others aren't (R-ELIC-13)."""

from __future__ import annotations

import pytest

from acp_tui.client.secrets.questions import asks_for_secret, field_asks_for_secret, form_asks_for_secret
from acp_tui.conversation.elicitation import BooleanField, Form, NumberField, TextField
from acp_tui.conversation.facts import RequestKey

WORDS = """
Password|Kennwort|Passwort|contraseña|clave|mot de passe|パスワード|暗証番号|密码|密碼|비밀번호
пароль|ПАРОЛЬ|senha|hasło|HASŁO
wachtwoord|lösenord|adgangskode|passord|salasana|parola|şifre|ŞİFRE|รหัสผ่าน|mật khẩu|كلمة المرور
كَلِمَة المُرور|סיסמה|पासवर्ड
jelszó|heslo|κωδικός|ΚΩΔΙΚΟΣ|kata sandi|PIN|Your PIN|2FA code|OTP|verification code
Enter the 6-digit code|код из SMS
seed phrase|12-word phrase|recovery phrase|助记词|card number|CVV|IBAN|numéro de carte
クレジットカード|SSN|tax id
API key|apiKey|api-key|ACCESS_TOKEN|githubToken|clientSecret|private key|Clé d’API|security answer
Mother's maiden name
Benutzerpasswort|비밀번호를 입력하세요|Введите пароль|请输入密码|Ваш ПИН-код
Geheimzahl|userPassword|db_password|passport number
Session ID|session_id|personal access token|BIC
expiry date|Expiration date|CSC|card verification value|pw:|your pass|psk
google authenticator|date of birth|OAuth code|webhook url|creds
"""
SPELLED = """
p a s s w o r d|P.A.S.S.W.O.R.D|ｐａｓｓｗｏｒｄ
pass\u200bword|pa\u00adssword|p\u0301assword|passwörd
ⓟⓐⓢⓢⓦⓞⓡⓓ|𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝|ﾊﾟｽﾜｰﾄﾞ|pass-word
Passwor d
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


@pytest.mark.parametrize("text", split(WORDS) + split(SPELLED))
def test_a_text_that_asks_for_a_secret_is_recognized(text: str) -> None:
    assert asks_for_secret(None, text)


@pytest.mark.parametrize("text", split(OTHERS))
def test_a_text_that_asks_for_none_is_not(text: str) -> None:
    assert not asks_for_secret(text, None)


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
