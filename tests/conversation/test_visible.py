"""make_visible: nothing that a terminal obeys or a reader cannot see passes, and plain text passes untouched."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.conversation import visible
from acp_tui.conversation.visible import make_visible, make_visible_line

ZERO_WIDTH_JOINER = "\u200d"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b]52;c;cm0gLXJm\x1b\\", "␛]52;c;cm0gLXJm␛\\"),
        ("\x1bPq#0\x1b\\", "␛Pq#0␛\\"),
        ("\x9b31m\x9d0;t\x9c\x85", "⟨9B⟩31m⟨9D⟩0;t⟨9C⟩⟨85⟩"),
        ("safe\rrm -rf", "safe␍rm -rf"),
        ("ab\b\b\x7f\x00\x0b\x0c", "ab␈␈␡␀␋␌"),
        ("a\u202egnp.exe\u202c", "a⟨U+202E⟩gnp.exe⟨U+202C⟩"),
        ("\u2066x\u2069\u200e\u200f\u061c", "⟨U+2066⟩x⟨U+2069⟩⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩"),
        (
            "ad\u200bmin\u200c\u2060\ufeff\u00ad\u034f\u180e",
            "ad⟨U+200B⟩min⟨U+200C⟩⟨U+2060⟩⟨U+FEFF⟩⟨U+00AD⟩⟨U+034F⟩⟨U+180E⟩",
        ),
        ("\u206a\u206f\ufff9x\ufffb", "⟨U+206A⟩⟨U+206F⟩⟨U+FFF9⟩x⟨U+FFFB⟩"),
        ("const\u3164=\u115f\u1160\uffa0", "const⟨U+3164⟩=⟨U+115F⟩⟨U+1160⟩⟨U+FFA0⟩"),
        ("one\u2028two\u2029three", "one⟨U+2028⟩two⟨U+2029⟩three"),
        ("hi\U000e0041\U000e007f", "hi⟨U+E0041⟩⟨U+E007F⟩"),
        ("\ud83d", "�"),
        ("\ude00\ud83d", "��"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\udb40\udc41", "⟨U+E0041⟩"),
        ("a\ud83d\ude00\ud83d", "a\U0001f600�"),
    ],
    ids=ascii,
)
def test_what_misleads_is_replaced_by_what_can_be_seen(hostile: str, shown: str) -> None:
    seen = make_visible(hostile)
    assert seen == shown
    seen.encode()


@pytest.mark.parametrize(
    "plain",
    [
        "",
        "def f():\n\treturn 1\n",
        "naïve café — “quotes” … ½ €",
        "日本語 한국어 العربية עברית हिन्दी",
        "⌘ ␛ ⟨9B⟩ �",
        f"\U0001f468{ZERO_WIDTH_JOINER}\U0001f469{ZERO_WIDTH_JOINER}\U0001f467 \u2764\ufe0f \U0001f1e9\U0001f1ea",
        "葛\U000e0100",
    ],
    ids=ascii,
)
def test_plain_text_comes_back_as_the_same_object(plain: str) -> None:
    assert make_visible(plain) is plain


def test_line_ends_are_made_newlines_and_tabs_stay() -> None:
    assert make_visible("a\r\nb\tc\n\r\n") == "a\nb\tc\n\n"


def test_a_line_shows_its_newlines_and_tabs_too() -> None:
    assert make_visible_line("a\nb\tc\r\nd\x1b") == "a␊b␉c␊d␛"
    plain = "src/main.py"
    assert make_visible_line(plain) is plain


# Number signs of scripts and the marks of hieroglyphs are seen; emoji are made with the joiner.
SEEN_FORMAT_CHARACTERS = {
    *map(ord, "\t\n" + ZERO_WIDTH_JOINER),
    *(*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2),
    *(0x110BD, 0x110CD, *range(0x13430, 0x13440)),
}


def test_no_control_or_format_character_passes_but_those_that_are_seen() -> None:
    invisible = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    everything = (chr(code) for code in range(0x110000))
    hidden = [char for char in everything if unicodedata.category(char) in invisible]
    assert {ord(char) for char in hidden if make_visible(char) == char} <= SEEN_FORMAT_CHARACTERS


def test_every_character_with_a_stand_in_is_found_and_no_other() -> None:
    for code in range(0x110000):
        assert (visible._MISLEADING.match(chr(code)) is None) is (code not in visible._STAND_INS)


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=20))
def test_what_was_made_visible_stays_as_it_is(text: str) -> None:
    seen, line = make_visible(text), make_visible_line(text)
    assert make_visible(seen) is seen
    assert make_visible_line(line) == line
    seen.encode()
