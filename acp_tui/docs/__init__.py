"""What users can read about acp-tui, a page for each topic: `acp-tui help` and F1 show them, the README links them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

PAGES: Final = Path(__file__).parent


@cache
def topics() -> dict[str, str]:
    return {file.stem: _title(file) for file in sorted(PAGES.glob("*.md"))}


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return lines.readline().removeprefix("# ").strip()


def for_terminals(topic: str) -> str:
    """A page as Markdown, without pictures. Links to other pages say how to read those; others are their text.

    What is in brackets gets no others, and a link that is called as its page says only how to read it.
    """
    page = (PAGES / f"{topic}.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if not line.startswith("![")]
    return _RELATIVE.sub(_without_link, "\n".join(lines)) + "\n"


_RELATIVE: Final = re.compile(r"\[([^\]]+)\]\(([^):]+)\)")


def _without_link(link: re.Match[str]) -> str:
    target = Path(link[2].partition("#")[0])
    is_page = target.parent == Path() and target.stem in topics()
    if not is_page:
        return link[1]
    read = f"`acp-tui help {target.stem}`"
    before = link.string[: link.start()].rpartition("\n\n")[2]
    told = f"{link[1]}: {read}" if before.count("(") > before.count(")") else f"{link[1]} ({read})"
    return read if link[1] == topics()[target.stem] else told


def sections(topic: str) -> dict[str, str]:
    """A page by its headings, as `for_terminals`. What precedes the first one has the heading ""."""
    _, _, page = for_terminals(topic).partition("\n")
    parts = re.split(r"^##+ (.+)$", page, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
