"""A prompt that was sent, as it is kept: a line of JSON. Where the lines stand is `history_file`'s matter."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from acp_tui.client.prompts.private_file import encoded
from acp_tui.client.secrets.masking import masked_text


@dataclass(frozen=True, slots=True)
class PastPrompt:
    """What was sent, and where, when and to whom."""

    text: str
    folder: str
    """Where the session worked."""
    at: str
    """The time in UTC, as ISO 8601 has it; what was read from a file may be anything."""
    agent: str


def said_now(text: str, folder: str, agent: str) -> PastPrompt:
    """A prompt that is being sent."""
    return PastPrompt(text, folder, datetime.now(UTC).isoformat(timespec="seconds"), agent)


def line_of(prompt: PastPrompt) -> bytes:
    """The prompt as a line, with its end. What looks like a secret is not kept."""
    fields = {
        "text": masked_text(prompt.text),
        "folder": prompt.folder,
        "time": prompt.at,
        "agent": prompt.agent,
    }
    return encoded(fields) + b"\n"


def prompt_of(line: bytes) -> PastPrompt | None:
    """What stands in the line; None where it is no prompt."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return None
    folder, at, agent = (str(fields.get(name, "")) for name in ("folder", "time", "agent"))
    return PastPrompt(fields["text"], folder, at, agent)


def without_repeats(prompts: Iterable[PastPrompt]) -> list[PastPrompt]:
    """The prompts, oldest first, each in the place of its last time in a folder."""
    latest: dict[tuple[str, str], PastPrompt] = {}
    for prompt in prompts:
        latest.pop((prompt.folder, prompt.text), None)
        latest[prompt.folder, prompt.text] = prompt
    return list(latest.values())
