"""Makes agent-supplied text safe and honest to show; knows nothing of where it is shown.

A terminal obeys control characters, and a reader is misled by characters that are invisible or that reorder a
line. None is removed in silence: each is replaced by a stand-in that can be seen.
"""

from __future__ import annotations

import re

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {
    0x7F: "␡"
}
_C1 = {code: f"⟨{code:02X}⟩" for code in range(0x80, 0xA0)}
_BIDI = {
    code: f"⟨U+{code:04X}⟩"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
# The zero-width joiner U+200D and the variation selectors stay: emoji are made of them. So do the format characters
# that are seen, such as Arabic number signs. The fillers of Hangul are letters that look like nothing.
_INVISIBLE = {
    code: f"⟨U+{code:04X}⟩"
    for code in (
        0x00AD,
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x180E,
        0x200B,
        0x200C,
        0x2028,
        0x2029,
        *range(0x2060, 0x2066),
        *range(0x206A, 0x2070),
        0x3164,
        0xFEFF,
        0xFFA0,
        *range(0xFFF9, 0xFFFC),
        *range(0x1BCA0, 0x1BCA4),
        *range(0x1D173, 0x1D17B),
    )
}
_TAGS = {code: f"⟨U+{code:05X}⟩" for code in range(0xE0000, 0xE0080)}
_SURROGATES = dict.fromkeys(range(55296, 57344), "�")
_STAND_INS = _CONTROL_PICTURES | _C1 | _BIDI | _INVISIBLE | _TAGS | _SURROGATES

_MISLEADING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def make_visible(text: str) -> str:
    """`text` with everything that a terminal obeys or a reader cannot see replaced; newlines and tabs stay.

    A CRLF line end becomes a newline. Halves of a surrogate pair that were split over two chunks are joined again;
    a half on its own becomes U+FFFD.
    """
    if not _MISLEADING.search(text):
        return text
    text = text.replace("\r\n", "\n")
    # The round trip joins a high and a low half that stand side by side.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text.translate(_STAND_INS)


def make_visible_line(text: str) -> str:
    """As `make_visible`, for a title or a path: newlines and tabs are shown as stand-ins as well."""
    return make_visible(text).replace("\n", "␊").replace("\t", "␉")
