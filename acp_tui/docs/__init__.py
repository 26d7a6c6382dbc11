"""What users can read about acp-tui, a page for each topic: `acp-tui help` and F1 show them, the README links them."""

from __future__ import annotations

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
    """A page without its pictures, as Markdown."""
    lines = markdown_of(topic).splitlines()
    return "\n".join(line for line in lines if not line.startswith("![")) + "\n"


def markdown_of(topic: str) -> str:
    return (PAGES / f"{topic}.md").read_text(encoding="utf-8")
