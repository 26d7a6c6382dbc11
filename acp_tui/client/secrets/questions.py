"""Which questions of a form ask for a secret, in any language, spelling, or script (R-ELIC-13).

The words are data: phrases of many languages without their blanks. A text is read in several ways (unchanged, with
letters for similar characters, with letters for digits) and cut into words. Adjacent words are joined, so that "pass
word", "p.a.s.s.w.o.r.d", and "P4$$W0RD" are all recognized. One warning too many costs only a glance.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from acp_tui.client.secrets.names import counts_tokens, is_secret_name
from acp_tui.client.secrets.shapes import shaped
from acp_tui.conversation.elicitation import BooleanField, Field, Form, TextField, UnknownField
from acp_tui.conversation.visible.confusables import confusables

MAX_CHARS: Final = 4_000
"""No one reads a longer text of a field, so it counts as asking for a secret."""
MAX_PHRASE: Final = 40
MIN_JOINED: Final = 5
"""Shorter words count alone or letter by letter."""

# fmt: off
_PHRASES: Final = """
password passwords passwd psswd pwd passphrase passphrases passcode passcodes pass_word pass_phrase pass_code pw_d
secret secrets token credential credentials bearer otp totp hotp 2fa mfa cvv cvv2 cvc cvc2 ssn pin pins puk iban
access_token auth_token refresh_token bearer_token id_token session_token security_token api_token jwt
api_key api_keys access_key private_key secret_key signing_key encryption_key decryption_key ssh_key gpg_key
pgp_key
license_key product_key master_key account_key storage_key key_file pem_file id_rsa id_ed25519 kubeconfig netrc
connection_string database_url service_account_json keystore session_cookie auth_cookie login_cookie cookie_value
pin_code pin_number personal_identification_number security_code card_security_code verification_code
verify_code auth_code authentication_code authenticator_code authorization_code access_code login_code
one_time_code digits_from_your_authenticator sudo_for_root unlock_your_keyring card_no
one_time_password one_time_passcode one_time_pin two_factor two_factor_code second_factor backup_code backup_codes
recovery_code recovery_codes recovery_key sms_code text_message_code confirmation_code unlock_code unlock_pattern
six_digit_code 6_digit_code digit_code device_code code_from_your_app code_from_the_app code_we_sent code_sent
seed_phrase seed_words recovery_phrase recovery_words mnemonic secret_phrase wallet_phrase backup_phrase
secret_recovery_phrase 12_words 24_words 12_word 24_word twelve_words wallet_key wallet_words keystore_file
card_number credit_card debit_card bank_card bank_account account_number routing_number sort_code card_expiry
card_holder expiry_date_of_your_card cardnumber creditcard
social_security social_security_number national_id national_insurance national_insurance_number tax_id taxpayer_id
tax_identification tax_number passport_number drivers_license driver_license driving_licence id_card_number nino
session_identifier sessionid session_cookie phpsessid jsessionid github_pat gitlab_pat gh_pat personal_access
sudo_password sudo_pw root_pw admin_pw root_pass admin_pass db_pass login_pass user_pass mysql_root my_pw
bic swift_code swift_bic bic_swift swift_number expiry_date expiration_date expiry expires_mm_yy exp_date valid_thru
valid_through valid_until mm_yy mm_yyyy csc card_verification card_verification_value card_digits card_details
digits_of_your_card last_four_digits cc_number cc_num ccnum bank_details account_no routing_no aba_number
wifi_key wifi_code wlan_key wpa_key wep_key network_key pre_shared_key preshared_key psk photo_tan chip_tan
magic_link login_link sign_in_link invite_code invitation_code push_code door_code gate_code alarm_code
safe_combination lock_combination vault_key crypto_key passkey yubikey fido_key second_factor 2nd_factor 2_factor
two_step tfa authenticator google_authenticator backup_key recovery_email mother_maiden birth_name
name_of_your_mother favourite_pet favorite_pet first_school first_car street_you_grew_up place_of_birth date_of_birth
birth_date birthday birthdate dob aadhaar pan_number licence_number license_number health_insurance_number
insurance_number xprv bip39 bip_39 pem jks env_contents contents_of_env env_file ssh_private authorized_key
authorization_header auth_header saml_assertion oauth_code auth_callback callback_url redirect_url
redirected_to webhook_url connection_url dsn docker_login aws_secret secret_access decryption_phrase keyring
ansible_vault filevault_key filevault luks pswd pass_wrd passw psw psswrd one_time_pass credential_file creds

security_question security_answer secret_question secret_answer maiden_name mothers_maiden_name first_pet
name_of_your_first_pet magic_word login_details login_data sign_in_details unlock_phrase fingerprint_code

passwort passworter kennwort kennworter losungswort geheimwort zugangscode zugangsdaten zugangsschlussel
anmeldedaten
geheimzahl geheimnis pin_nummer tan_nummer mobile_tan sms_tan push_tan bestatigungscode sicherheitscode
verifizierungscode prufcode einmalcode einmalpasswort einmalkennwort freischaltcode sicherheitsfrage
sicherheitsantwort geheimfrage madchenname geburtsname_der_mutter kartennummer kreditkarte kreditkartennummer
kartenprufnummer prufziffer kontonummer bankverbindung steuernummer steuer_id steueridentifikationsnummer
sozialversicherungsnummer ausweisnummer reisepassnummer passnummer api_schlussel privater_schlussel privatschlussel
geheimer_schlussel wiederherstellungscode wiederherstellungsphrase wiederherstellungsschlussel seed_worter
zugriffsschlussel zugriffstoken codewort losung gultig_bis ablaufdatum verfallsdatum sitzungs_id sitzungskennung
geburtsdatum geheimer_code pin_eingeben

mot_de_passe mots_de_passe mdp code_secret code_confidentiel code_pin phrase_secrete phrase_de_passe
phrase_de_recuperation cle_api cle_d_api cle_privee cle_secrete cle_d_acces cle_de_licence jeton jeton_d_acces
code_de_verification code_de_securite code_a_usage_unique code_de_confirmation code_d_acces code_sms double_facteur
question_secrete question_de_securite reponse_secrete nom_de_jeune_fille numero_de_carte carte_bancaire
carte_de_credit carte_bleue cryptogramme releve_d_identite_bancaire numero_de_compte numero_fiscal
numero_de_securite_sociale securite_sociale numero_de_passeport identifiants_de_connexion code_de_secours
date_d_expiration date_de_naissance id_de_session identifiant_de_session

contrasena contrasenas clave clave_de_acceso clave_secreta clave_privada clave_api clave_de_api palabra_secreta
palabra_de_paso codigo_de_verificacion codigo_de_seguridad codigo_de_un_solo_uso codigo_de_acceso codigo_secreto
codigo_pin codigo_sms credenciales frase_semilla frase_de_recuperacion frase_secreta frase_de_contrasena
pregunta_de_seguridad pregunta_secreta respuesta_secreta respuesta_de_seguridad apellido_de_soltera
numero_de_tarjeta tarjeta_de_credito tarjeta_de_debito numero_de_cuenta numero_de_seguridad_social
numero_de_pasaporte nif dni curp token_de_acceso contrasenya contrasinal pasahitza
fecha_de_caducidad fecha_de_vencimiento fecha_de_nacimiento id_de_sesion sesion_id identificador_de_sesion

senha senhas palavra_passe chave_de_api chave_api chave_privada chave_secreta chave_de_acesso codigo_de_verificacao
codigo_de_seguranca codigo_de_acesso codigo_de_confirmacao frase_de_recuperacao frase_semente frase_secreta
pergunta_de_seguranca resposta_secreta nome_de_solteira numero_do_cartao cartao_de_credito cpf cnpj
numero_da_conta credenciais validade_do_cartao data_de_validade data_de_nascimento id_da_sessao codigo_secreto

parola_d_ordine parola_segreta codice_segreto codice_pin codice_di_verifica codice_di_sicurezza codice_di_accesso
codice_otp codice_fiscale chiave_api chiave_privata chiave_segreta chiave_di_accesso frase_di_recupero
frase_segreta domanda_di_sicurezza risposta_segreta cognome_da_nubile numero_di_carta numero_della_carta
carta_di_credito numero_di_conto credenziali data_di_scadenza data_di_nascita id_di_sessione

parola parole_de_acces parolele parolei cod_pin cod_de_verificare cheie_privata cheie_api
wachtwoord wachtwoorden wachtwoordzin toegangscode pincode verificatiecode beveiligingscode eenmalige_code
creditcardnummer kaartnummer rekeningnummer burgerservicenummer bsn geheime_sleutel prive_sleutel privesleutel
api_sleutel herstelcode herstelzin beveiligingsvraag meisjesnaam inloggegevens wagwoord
losenord losenordet pinkod engangskod verifieringskod sakerhetskod personnummer kortnummer kontokort api_nyckel
privat_nyckel hemlig_nyckel sakerhetsfraga
adgangskode adgangskoden kodeord kodeordet pinkode engangskode bekraeftelseskode sikkerhedskode cpr_nummer
kortnummer api_nogle privat_nogle
passord passordet engangskode sikkerhetskode fodselsnummer personnummer api_nokkel privat_nokkel
salasana salasanasi tunnusluku pin_koodi vahvistuskoodi turvakoodi henkilotunnus korttinumero api_avain
yksityinen_avain lykilord adgangsord
haslo hasla haslem hasel kod_pin kod_weryfikacyjny kod_sms kod_jednorazowy kod_bezpieczenstwa klucz_api
klucz_prywatny tajny_klucz numer_karty numer_konta karta_kredytowa pesel fraza_odzyskiwania pytanie_zabezpieczajace
nazwisko_panienskie
heslo hesla heslem hesel overovaci_kod bezpecnostni_kod jednorazovy_kod rodne_cislo cislo_karty cislo_uctu
soukromy_klic tajny_klic api_klic sukromny_kluc overovaci_kod
jelszo jelszava jelszavat jelszavad megerosito_kod biztonsagi_kod egyszeri_kod kartyaszam szamlaszam
privat_kulcs titkos_kulcs api_kulcs
lozinka lozinku lozinke zaporka sifra sifru geslo gesla kontrolna_koda kod_za_potvrdu broj_kartice
parool parooli salasona slaptazodis slaptazodi jusu_parole ievadiet_paroli ievadi_paroli paroli
sifre sifreniz sifresi sifreni sifrenizi parolaniz parolasi dogrulama_kodu guvenlik_kodu onay_kodu tek_kullanimlik
kart_numarasi kredi_karti api_anahtari ozel_anahtar gizli_anahtar kurtarma_ifadesi guvenlik_sorusu
tc_kimlik_no anne_kizlik_soyadi parol parolu parolunuz
mat_khau ma_pin ma_xac_minh ma_xac_nhan ma_otp khoa_api khoa_rieng so_the the_tin_dung cum_tu_khoi_phuc
kata_sandi kata_laluan sandi kode_verifikasi kode_otp kode_keamanan kunci_api kunci_privat nomor_kartu
nomor_rekening
kode_rahasia kata_kunci_rahasia nomor_rahasia kod_rahsia tanggal_kedaluwarsa masa_berlaku_kartu id_sesi
gizli_kod gizli_sifre son_kullanma_tarihi tajny_kod data_waznosci kod_tajny id_sesji tajni_kod datum_isteka cod_secret
cod_ascuns data_expirarii geheime_code geheimcode vervaldatum hemlig_kod utgangsdatum hemmelig_kode hemmelig_kod
utlopsdato udlobsdato salainen_koodi titkos_kod lejarati_datum ma_bi_mat ngay_het_han neno_la_siri nambari_ya_siri
igama_lokungena phasewedi kontrasenyas lihim_na_code lihim_na_salita salasana_tunnus slapta_zodis slaptas_kodas
slepeny_kod datum_platnosti platnost_do koodi_salainen sekretna_fraza
nenosiri nywila cyfrinair pasfhocal focal_faire pasvorto fjalekalimi fjalekalim

пароль пароля паролем паролю пароли парол парола пароль_от код_доступа код_подтверждения код_из_смс код_из_sms
одноразовый_код одноразовый_пароль код_безопасности пин пин_код пинкод кодовое_слово секретное_слово токен
ключ_api api_ключ приватный_ключ закрытый_ключ секретный_ключ ключ_доступа сид_фраза мнемоническая_фраза
фраза_восстановления секретная_фраза номер_карты кредитная_карта банковская_карта номер_счета инн снилс
номер_паспорта секретный_вопрос ответ_на_секретный_вопрос девичья_фамилия учетные_данные
секретный_код секретное_слово_карты срок_действия дата_рождения идентификатор_сессии ид_сессии тайный_код
таємний_код секретний_код термін_дії таен_код тајни_код
код_підтвердження одноразовий_код секретний_ключ приватний_ключ номер_картки лозинка лозинку лозинката
шифра парола_за_достъп код_за_потвърждение құпия_сөз құпиясөз нууц_үг
κωδικος κωδικο κωδικος_προσβασης κωδικου_προσβασης συνθηματικο κωδικος_επαληθευσης αριθμος_καρτας ιδιωτικο_κλειδι
"""

_WITHIN: Final = """
password passwort kennwort wachtwoord losenord adgangskode passphrase passcode geheimzahl motdepasse contrasen
sicherheitscode bestatigungscode verificatiecode kreditkart kartennummer sozialversicherungsnummer apikey
salasan slaptazod zugangsdaten jelszo jelszav privatekey seedphrase accesstoken авторизационныйтокен

パスワード パスコード パスフレーズ 暗証番号 暗証 合言葉 あいことば 秘密鍵 秘密の質問 確認コード 認証コード
認証番号 ワンタイム
セキュリティコード トークン apiキー アクセスキー カード番号 クレジットカード 口座番号 マイナンバー
シードフレーズ リカバリーフレーズ
有効期限 セッションid 秘密コード 生年月日
復元フレーズ ニーモニック 旧姓 ぱすわーど ピンコード 二要素 二段階
密码 密碼 口令 密钥 密鑰 秘钥 金钥 金鑰 私钥 私鑰 令牌 验证码 驗證碼 校验码 动态码 动态口令 一次性 助记词 助記詞
恢复短语 卡号 卡號
信用卡 银行卡 銀行卡 身份证 身份證 安全码 安全碼 密保 秘密代码 秘密碼 有效期 会话id 會話id 出生日期
暗号 暗號 通行码 通行碼 支付码 社保号
비밀번호 비밀 암호 패스워드 패스코드 비번 인증번호 인증코드 인증키 보안코드 보안카드 일회용 토큰 개인키 시드문구
복구문구 니모닉
비밀코드 유효기간 세션id 생년월일 카드번호 신용카드 계좌번호 주민등록번호 주민번호 핀번호 보안질문 api키
รหัสผ่าน รหัสลับ รหัสยืนยัน รหัสotp รหัสพิน รหัสความปลอดภัย บัตรเครดิต หมายเลขบัตร โทเคน คีย์ส่วนตัว บัตรประชาชน
ລະຫັດຜ່ານ ពាក្យសម្ងាត់ စကားဝှက်
كلمة_المرور كلمة_السر كلمة_مرور كلمة_سر الرقم_السري رقم_سري رمز_المرور رمز_التحقق رمز_الامان رمز_التاكيد
المفتاح_الخاص
مفتاح_api بطاقة_الائتمان رقم_البطاقة العبارة_السرية عبارة_الاسترداد باسورد رمز_عبور گذرواژه رمز_ورود پسورد
کلمه_عبور رمز_سري رمز_سری الرمز_السري تاريخ_الانتهاء
شماره_کارت پاس_ورڈ
סיסמה סיסמא סיסמת הסיסמא קוד_אימות קוד_סודי קוד_גישה מפתח_פרטי מפתח_api כרטיס_אשראי מספר_כרטיס ביטוי_שחזור
מספר_זהות
গোপন_কোড ரகசிய_குறியீடு రహస్య_కోడ్ पासवर्ड कूटशब्द संकेतशब्द पिन_कोड गुप्त_कोड सत्यापन_कोड ओटीपी कार्ड_नंबर निजी_कुंजी
পাসওয়ার্ড கடவுச்சொல் పాస్‌వర్డ్ സാങ്കേതികപദം പാസ്‌വേഡ് ಪಾಸ್‌ವರ್ಡ್ ಗುಪ್ತಪದ પાસવર્ડ ਪਾਸਵਰਡ මුරපදය
პაროლი գաղտնաբառ የይለፍ_ቃል
"""
"""They also count inside a word: in compounds, and in scripts without blanks."""

_ALONE_LISTED: Final = (
    "sudo pass pw pat sid cid csc login unlock combination swift aba nin mmyy code kode geheim secreto slovo csrf"
)
_ALONE: Final = frozenset(_ALONE_LISTED.split())
"""They count only if nothing else is asked for."""
_POLITE_LISTED: Final = (
    "your the my a an enter please type in here for now new current old again confirm repeat value required"
)
_POLITE: Final = frozenset(_POLITE_LISTED.split())
_MIN_REVERSED: Final = 5
"""Shorter words read backward are usually other words."""

_HARMLESS: Final = """
primary_key foreign_key public_key partition_key sort_key cache_key key_binding key_column passwordless
palabra_clave palabras_clave clave_primaria clave_foranea clave_publica parola_chiave parole_chiave
pin_version pin_versions pin_the pin_this pin_to gpio_pin pin_count pin_it pin_dependencies
token_limit token_limits token_budget token_count token_window token_usage tokens_per token_per max_token
max_tokens
output_token input_token prompt_token context_token token_type tokenizer
secret_santa jwt_library secretary code_d_acces_au_code
"""
# fmt: on
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME: Final = re.compile(r"[\w.-]{1,60}")
_WORD: Final = re.compile(r"[^\W_]+")
_NO_BLANKS: Final = (
    "[\u0590-\u06ff\u0900-\u0eff\u1000-\u109f\u10a0-\u10ff\u0530-\u058f"
    "\u1100-\u137f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7ff]"
)
"""Scripts that join words with others or with affixes. Compiled when a form asks."""
_LEET: Final = tuple(str.maketrans("0134578@$!|€£+", look) for look in ("oieastbasiiel" + "t", "oleastbaslle" + "lt"))
_TAN: Final = re.compile(r"\bm?TAN\b")
"""In lowercase it's a color."""
_ANY_REST: Final = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 3
_LETTER_NAME: Final = (
    r"(?:LATIN |NEGATIVE |CROSSED |REGIONAL INDICATOR |SQUARED |CIRCLED )+(?:SMALL |CAPITAL |LETTER |SYMBOL )+"
    r"(?:SMALL |CAPITAL |SCRIPT |DOTLESS )*([A-Z])(?: WITH .*)?"
)
_LOOKS: Final = {"vv": "w", "æ": "ae", "œ": "oe"}


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
    if len(text) > MAX_CHARS or _TAN.search(text):
        return True
    if _NAME.fullmatch(text) and is_secret_name(text) and not counts_tokens(text):
        return True
    return any(map(_says_so, _readings(_CAMEL.sub(" ", text)))) or any(map(_says_so_backwards, _readings(text)))


def _readings(text: str) -> Iterator[str]:
    """Readings of the text without diacritics: unchanged, letters for similar characters, letters for digits."""
    plain = _plain(text)
    yield plain
    alike = plain if text.isascii() else _plain("".join(map(_look_alike, unicodedata.normalize("NFKD", text))))
    for sign, letter in _LOOKS.items():
        alike = alike.replace(sign, letter)
    if alike != plain:
        yield alike
    for table in _LEET:
        changed = alike.translate(table)
        if changed != alike:
            yield changed


def _plain(text: str) -> str:
    """In lowercase, without diacritics and invisible characters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(
        char for char in decomposed if unicodedata.category(char) not in ("Mn", "Me", "Cf", "Cc", "Cn", "Co")
        or char in "\t\n\r"
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _look_alike(char: str) -> str:
    """The ASCII letter that a character resembles or is a form of; otherwise the character itself."""
    if char.isascii():
        return char
    found = confusables(f"a{char}") or confusables(f"a{char.lower()}")
    if found:
        return found[-1].looks_like
    named = re.fullmatch(_LETTER_NAME, unicodedata.name(char, ""))
    return named[1] if named is not None else char


def _says_so(text: str) -> bool:
    words = _WORD.findall(text)
    joined = "".join(words)
    if {*words} - _POLITE in _LONE or joined in _ALONE:
        return True
    if re.search(_NO_BLANKS, text) and any(map(joined.__contains__, _forms(_WITHIN))):
        return True
    at = 0
    while at < len(words):
        harmless = _longest(words, at, _forms(_HARMLESS))
        if harmless:
            at += harmless
        elif _longest(words, at, _forms(_PHRASES)) or _is_within(words[at]):
            return True
        else:
            at += 1
    return False


def _says_so_backwards(text: str) -> bool:
    """Whether it contains a phrase backward, as a whole or word by word."""
    words = [word[::-1] for word in _WORD.findall(text)]
    return any(
        len("".join(order[at : at + count])) >= _MIN_REVERSED
        for order in (words, words[::-1])
        for at in range(len(order))
        if (count := _longest(order, at, _forms(_PHRASES)))
    )


def _longest(words: list[str], at: int, phrases: frozenset[str]) -> int:
    """The largest number of words from there that together form one of the phrases."""
    joined, longest = "", 0
    for count, word in enumerate(words[at:], 1):
        joined += word
        if len(joined) > MAX_PHRASE:
            break
        is_spelled = count == 1 or len(joined) >= MIN_JOINED or count == len(joined)
        if is_spelled and joined in phrases:
            longest = count
    return longest


def _is_within(word: str) -> bool:
    return len(word) >= MIN_JOINED and any(map(word.__contains__, _forms(_WITHIN)))


_LONE: Final = frozenset(frozenset((word,)) for word in _ALONE)


@cache
def _forms(phrases: str) -> frozenset[str]:
    return frozenset(
        "".join(_WORD.findall(reading))
        for phrase in phrases.split()
        for way in (phrase, phrase.upper())
        for reading in list(_readings(way))[:2]
    )
