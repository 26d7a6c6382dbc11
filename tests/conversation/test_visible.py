"""make_visible: nothing passes that a terminal obeys or a reader can't see, and plain text is unchanged."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from acp_tui.conversation.visible import hidden_characters, make_visible, make_visible_line

ZERO_WIDTH_JOINER = "\u200d"
# Characters that pass or not depending on their neighbors.
NEIGHBOURS = (
    "a0 !\n\x1b\u00a0\u202f\u3000\u2800\u28ff\u200c\u200d\ufe0f\ufe00\U000e0100\u0301\u0651\u0645"
    "\u0915葛\u2764\U0001f468\u20e3\u1820\u180b"
)


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
        ("pay\u200dpal \u200d", "pay⟨U+200D⟩pal ⟨U+200D⟩"),
        ("x\ufe0f\ufe01\U000e0110", "x⟨U+FE0F⟩⟨U+FE01⟩⟨U+E0110⟩"),
        ("\u2764\ufe0f\ufe0f\ufe0e", "\u2764\ufe0f⟨U+FE0F⟩⟨U+FE0E⟩"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100⟨U+E0101⟩"),
        ("\U0001f3f4\U000e0068\U000e007f", "\U0001f3f4⟨U+E0068⟩⟨U+E007F⟩"),
        ("\ue000\uf8ff\U000f0000\U0010ffff", "⟨U+E000⟩⟨U+F8FF⟩⟨U+F0000⟩⟨U+10FFFF⟩"),
        ("\ufdd0\uffff\U0001fffe", "⟨U+FDD0⟩⟨U+FFFF⟩⟨U+1FFFE⟩"),
        ("rm\u00a0-rf\u2003x\u202fy", "rm⍽-rf␠x⍽y"),
        ("\u00a0\u00a0return", "⍽⍽return"),
        ("a\u2800b", "a⟨U+2800⟩b"),
        ("e" + 8 * "\u0301", "e" + 5 * "\u0301" + 3 * "⟨U+0301⟩"),
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
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        f"\U0001f3f3\ufe0f{ZERO_WIDTH_JOINER}\U0001f308 \U0001f9d1\U0001f3fd{ZERO_WIDTH_JOINER}\U0001f4bb",
        "1\ufe0f\u20e3 #\ufe0f\u20e3 \u2714\ufe0f \u2194\ufe0e",
        "می\u200cخواهم क्\u200dष",
        "« Voilà\u202f! » : 10\u00a0000\u202f€, 日本語\u3000です",
        "e\u0301 Vie\u0323\u0302t שָׁלוֹם ཧཱུྃ ก็",
        "⠀⠀⣿⣿⠀⡇",
    ],
    ids=ascii,
)
def test_plain_text_comes_back_as_it_was(plain: str) -> None:
    assert make_visible(plain) == plain


def test_every_emoji_sequence_comes_back_as_it_was() -> None:
    emoji = "".join(map(chr, range(0x1F300, 0x1F650))) + "\u2764\u2640\u2642\u2695\u26a0\u231a\u25b6\u2b50\u3030"
    for char in emoji:
        sequence = f"{char}\ufe0f{ZERO_WIDTH_JOINER}\u2640\ufe0f{ZERO_WIDTH_JOINER}{char}"
        assert make_visible(sequence) == sequence


def test_every_mark_that_is_drawn_over_a_letter_counts_as_one() -> None:
    marks = [char for char in map(chr, range(0x300, 0xFF00)) if unicodedata.category(char) in ("Mn", "Me")]
    for mark in set(marks) - hidden_characters():
        assert mark * 9 not in make_visible(f"a{mark * 9}"), ascii(mark)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_text_in_parts_is_shown_as_the_whole(size: int) -> None:
    text = "e" + "\u0301" * 9 + " \u2764\ufe0f\ufe0f é\u00a0\u00a0x 葛\U000e0100\U000e0101 \u200b"
    parts = [(text[:at], text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(make_visible(part, before) for before, part in parts) == make_visible(text)


def test_line_ends_are_made_newlines_and_tabs_stay() -> None:
    assert make_visible("a\r\nb\tc\n\r\n") == "a\nb\tc\n\n"


def test_a_line_shows_its_newlines_and_tabs_too() -> None:
    assert make_visible_line("a\nb\tc\r\nd\x1b") == "a␊b␉c␊d␛"
    plain = "src/main.py"
    assert make_visible_line(plain) is plain


# Number signs of scripts and hieroglyph marks are visible; emoji are made with the joiner.
SEEN_FORMAT_CHARACTERS = {
    *map(ord, "\t\n" + ZERO_WIDTH_JOINER),
    *(*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2),
    *(0x110BD, 0x110CD),
}


def test_no_control_or_format_character_passes_but_those_that_are_seen() -> None:
    invisible = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    everything = (chr(code) for code in range(0x110000))
    hidden = [char for char in everything if unicodedata.category(char) in invisible]
    assert {ord(char) for char in hidden if make_visible(char) == char} <= SEEN_FORMAT_CHARACTERS


def test_what_takes_no_room_is_replaced_unless_it_is_drawn_over_the_letter_before() -> None:
    drawn = ("Mn", "Mc", "Me", "Cn")  # the last are newer than Python's table
    bare = {f"{code:X}" for code in range(0x110000) if cell_len(chr(code)) == 0 and not _is_replaced("a", chr(code))}
    assert {code for code in bare if unicodedata.category(chr(int(code, 16))) not in drawn} <= SEEN_ALL_THE_SAME


def test_no_pile_of_anything_hides_in_a_word() -> None:
    for code in range(0x110000):
        char = chr(code)
        if cell_len(char) == 0 and char != "\t" and f"{code:X}" not in SEEN_ALL_THE_SAME:
            assert cell_len(make_visible(f"rm{char * 20}x")) > 20, f"{code:X}"


SEEN_ALL_THE_SAME = {"9", "A", "1F3FB", "1F3FC", "1F3FD", "1F3FE", "1F3FF"} | {
    f"{code:X}" for code in SEEN_FORMAT_CHARACTERS if code not in (ord("\t"), ord(ZERO_WIDTH_JOINER))
}
"""Swatches for the color of skin; signs of formats that are drawn."""


def _is_replaced(before: str, char: str) -> bool:
    return make_visible(f"{before}{char}b") != f"{before}{char}b"


@pytest.mark.parametrize("text", ["\u1112\u1161\u11ab\u1100\u1173\u11af.txt", "한\u11ab", "\ua960\u1161\ud7cb"])
def test_a_syllable_in_parts_stays(text: str) -> None:
    assert make_visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u1161 x", "rm⟨U+1161⟩ x"),
        ("\u1161\u1161", "⟨U+1161⟩⟨U+1161⟩"),
        ("\u1112\u1161\u1161", "\u1112\u1161⟨U+1161⟩"),
        ("한\u11ab\u11ab", "한\u11ab⟨U+11AB⟩"),
        ("\ud7b0x\ud7cb", "⟨U+D7B0⟩x⟨U+D7CB⟩"),
        ("a\U00013430\U00013455b", "a⟨U+13430⟩⟨U+13455⟩b"),
        ("a\U00016fe4\U0001107f\U0001d159b", "a⟨U+16FE4⟩⟨U+1107F⟩⟨U+1D159⟩b"),
    ],
)
def test_parts_of_other_scripts_that_show_as_nothing_are_replaced(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_nothing_hidden_passes_and_nothing_else_counts_as_hidden() -> None:
    for char in hidden_characters():
        assert char not in make_visible(char) + make_visible(f"a{char}ä{char}\u4e00{char}\u2764{char}")
    assert not [
        char for char in map(chr, range(0x3000)) if char.isalnum() and char in hidden_characters() - set("\u115f\u1160")
    ]


@given(st.text(st.characters(codec=None) | st.sampled_from(NEIGHBOURS), max_size=20))
def test_what_was_made_visible_stays_as_it_is(text: str) -> None:
    seen, line = make_visible(text), make_visible_line(text)
    assert make_visible(seen) == seen
    assert make_visible_line(line) == line
    seen.encode()
