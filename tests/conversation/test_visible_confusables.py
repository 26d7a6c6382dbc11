"""In paths and commands, look-alikes of ASCII are marked, and words in any language are left alone."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.conversation.visible import code_ranges
from acp_tui.conversation.visible.confusables import (
    Confusable,
    confusables,
    letters,
    make_visible_command,
    make_visible_path,
    plain_form,
    signs,
)
from acp_tui.conversation.visible.look_alikes import IN_WORDS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pаypal", "p⟨U+0430≈a⟩ypal"),
        ("gοοgle", "g⟨U+03BF≈o⟩⟨U+03BF≈o⟩gle"),
        ("/usr/lоcal/файл", "/usr/l⟨U+043E≈o⟩cal/файл"),
        ("ＡＢ1", "⟨U+FF21≈A⟩⟨U+FF22≈B⟩1"),
        ("𝐫𝐦 𝟏", "⟨U+1D42B≈r⟩⟨U+1D426≈m⟩ ⟨U+1D7CF≈1⟩"),
        ("\ud835\udc2bm", "⟨U+1D42B≈r⟩m"),
        ("ﬁle", "⟨U+FB01≈fi⟩le"),
        ("rm –rf −f ‑r", "rm ⟨U+2013≈-⟩rf ⟨U+2212≈-⟩f ⟨U+2011≈-⟩r"),
        ("a∕b⁄c／d", "a⟨U+2215≈/⟩b⟨U+2044≈/⟩c⟨U+FF0F≈/⟩d"),
        ("․․/x…", "⟨U+2024≈.⟩⟨U+2024≈.⟩/x⟨U+2026≈...⟩"),
        ("echo “a” ‘b’", "echo ⟨U+201C≈\"⟩a⟨U+201D≈\"⟩ ⟨U+2018≈'⟩b⟨U+2019≈'⟩"),
        ("a\u037e b｜c", "a⟨U+037E≈;⟩ b⟨U+FF5C≈|⟩c"),
        ("rm\u00a0x\u2003y\u3000z\u2800", "rm⟨U+00A0≈␠⟩x⟨U+2003≈␠⟩y⟨U+3000≈␠⟩z⟨U+2800≈␠⟩"),
        ("a\u200bb\x1b\u202e", "a⟨U+200B⟩b␛⟨U+202E⟩"),
        ("ⲥurl rҽm Ьash", "⟨U+2CA5≈c⟩url r⟨U+04BD≈e⟩m ⟨U+042C≈b⟩ash"),
        ("githuᖯ.com gıthub.com", "githu⟨U+15AF≈b⟩.com g⟨U+0131≈i⟩thub.com"),
        ("python3ⲥ p0р", "python3⟨U+2CA5≈c⟩ p0⟨U+0440≈p⟩"),
        ("githubꓸcom a٥b c〇d", "github⟨U+A4F8≈.⟩com a⟨U+0665≈o⟩b c⟨U+3007≈O⟩d"),
        ("curl аррӏе.com", "curl ⟨U+0430≈a⟩⟨U+0440≈p⟩⟨U+0440≈p⟩⟨U+04CF≈l⟩⟨U+0435≈e⟩.com"),
        ("rm -г", "rm -⟨U+0433≈r⟩"),
    ],
    ids=ascii,
)
def test_what_looks_like_ascii_is_marked_in_paths_and_commands(text: str, shown: str) -> None:
    assert make_visible_path(text) == shown
    assert make_visible_command(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "src/main.py",
        "документы/отчёт_2024 (копия).txt",
        "проект/src/тест_v2.py",
        "Ελληνικά/αρχείο.txt",
        "git commit -m 'рот и ухо, ещё'",
        "þú/það/ığdır/1920×1080/3×4",
        "三〇年/コード〇",
        "naïve café/ñandú/Größe/İstanbul/ışık/Łódź",
        "cafe\u0301/Vie\u0323\u0302t",
        "报告（最终）：第一.docx",
        "Ｗｅｂサイト/日本語、です。",
        "한국어/파일",
        "العربية/ملف",
        "1º/2ª/x²/①/½/№5/™",
        "Δt/λx/µs",
        "👨\u200d👩\u200d👧/❤\ufe0f.png",
    ],
)
def test_words_of_any_language_are_left_as_they_are(text: str) -> None:
    assert confusables(text) == ()
    assert make_visible_path(text) == text


def test_what_it_looks_like_is_told_with_the_place() -> None:
    assert confusables("a/bс/–") == (Confusable(3, 4, "c"), Confusable(5, 6, "-"))


def test_a_path_is_one_line_and_a_command_may_be_several() -> None:
    assert make_visible_path("a\nb\tc") == "a␊b␉c"
    assert make_visible_command("a\nb\tc") == "a\nb\tc"


def test_ascii_comes_back_as_the_same_object() -> None:
    plain = "rm -rf ~/x && echo 'done'"
    assert make_visible_command(plain) is plain
    assert make_visible_path(plain) is plain


def test_the_table_gives_ascii_for_what_is_none() -> None:
    for char, look in (letters() | signs()).items():
        assert not char.isascii()
        assert look.isascii()
        assert len(char) == 1


def test_what_unicode_itself_takes_for_an_ascii_sign_is_in_the_table() -> None:
    wide = [chr(code) for code in range(0xFF01, 0xFF5F) if not chr(code).isalnum()]
    assert {char: unicodedata.normalize("NFKC", char) for char in wide}.items() <= signs().items()


@given(st.text(st.characters(codec=None) | st.sampled_from("aо–／ \u00a0🏴"), max_size=20))
def test_what_was_marked_stays_as_it_is(text: str) -> None:
    seen = make_visible_path(text)
    assert make_visible_path(seen) == seen
    assert make_visible_command(make_visible_command(text)) == make_visible_command(text)


def test_every_look_alike_of_an_ascii_letter_or_digit_is_marked_in_a_word() -> None:
    table = [(chr(code), look) for look, codes in IN_WORDS.items() for part in code_ranges(codes) for code in part]
    forms = [char for char in map(chr, range(0x80, sys.maxunicode)) if char.isalnum() and plain_form(char) != char]
    looks = [char for char, look in table if look.isalnum()]
    looks += [char for char in forms if plain_form(char).isascii() or plain_form(char) in letters()]
    assert len(looks) > 1_400
    for char in looks:
        assert confusables(f"c{char}d"), ascii(char)
