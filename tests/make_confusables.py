"""Writes the table of look-alikes from Unicode's: `python tests/make_confusables.py confusables.txt`.

The file is that of https://www.unicode.org/Public/security/latest/confusables.txt. Of it is taken what one character
passes for one of ASCII.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from acp_tui.conversation.visible.confusables import plain_form

TABLE = Path(__file__).parents[1] / "acp_tui/conversation/visible/look_alikes.py"
MIN_SIGN = 0x2000
"""Punctuation below this is part of ordinary writing in Hebrew, Arabic, and others."""
CHINESE = range(0x3000, 0x3100)
"""The same for these."""
LIKE_ASCII = {"ĸ": "k", "ƅ": "b", "ᴛ": "t", "ȷ": "j"}
"""In Unicode's table, others look like these, and no more."""
HEAD = '''"""What looks like a character of ASCII and is not, as Unicode has it (UTS #39, version {version}); made by
`tests/make_confusables.py`.

Code points are written in hexadecimal. © Unicode, Inc.; see UNICODE-LICENSE beside this file.
"""

from typing import Final
'''


def main() -> None:
    """Read the file named on the command line, and write the table."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8-sig").splitlines()
    version = next(line.partition(":")[2].strip() for line in lines if line.startswith("# Version"))
    in_words: dict[str, list[int]] = defaultdict(list)
    anywhere: dict[str, list[int]] = defaultdict(list)
    for char, target in look_alikes(lines):
        is_sign = unicodedata.category(char)[0] in "PS" and not target.isalnum()
        if not is_sign:
            in_words[target].append(ord(char))
        elif ord(char) >= MIN_SIGN and ord(char) not in CHINESE:
            anywhere[target].append(ord(char))
    TABLE.write_text(
        HEAD.format(version=version)
        + table("IN_WORDS", without_forms(in_words), "Among letters and digits of ASCII.")
        + table("ANYWHERE", anywhere, "Signs, wherever they stand.")
    )


def look_alikes(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Non-ASCII characters, each with the ASCII character it resembles."""
    yield from LIKE_ASCII.items()
    for line in lines:
        fields = [field.split() for field in line.partition("#")[0].split(";")]
        if len(fields) < 2 or len(fields[0]) != 1:
            continue
        char = chr(int(fields[0][0], 16))
        target = "".join(chr(int(code, 16)) for code in fields[1])
        target = "m" if target == "rn" else LIKE_ASCII.get(target, target)
        if not char.isascii() and not char.isspace() and target.isascii() and len(target) == 1:
            yield char, as_its_like(char, target)


def as_its_like(char: str, target: str) -> str:
    """Unicode treats 0 and O, and 1, I, and l, as one: choose the one of the same kind."""
    digit = unicodedata.digit(char, None)
    if digit is not None and (target, digit) in (("O", 0), ("o", 0), ("l", 1)):
        return str(digit)
    return "I" if target == "l" and unicodedata.category(char) == "Lu" else target


def without_forms(found: dict[str, list[int]]) -> dict[str, list[int]]:
    """What remains if `confusables` takes other forms of ASCII, or of a look-alike, for what they are forms of."""
    looks = {chr(code): target for target, codes in found.items() for code in codes}

    def is_needed(char: str, target: str) -> bool:
        form = plain_form(char)
        return form == char or not (form.isascii() or looks.get(form) == target)

    return {target: [code for code in codes if is_needed(chr(code), target)] for target, codes in found.items()}


def table(name: str, found: dict[str, list[int]], says: str) -> str:
    rows = []
    for target, codes in sorted(found.items()):
        parts = wrap(" ".join(ranges(sorted(codes))), 100)
        rows += [f"    {json.dumps(target)}: (", *(f'        "{part} "' for part in parts), "    ),"]
    return "\n".join([f"\n{name}: Final = {{", *rows, "}", f'"""{says}"""\n'])


def ranges(codes: list[int]) -> Iterator[str]:
    for _, group in groupby(enumerate(codes), lambda item: item[1] - item[0]):
        run = [code for _, code in group]
        yield f"{run[0]:X}" if len(run) == 1 else f"{run[0]:X}-{run[-1]:X}"


if __name__ == "__main__":
    main()
