"""A conversation as the first prompt of another agent's session: what was asked, answered, changed and planned.

It draws nothing and sends nothing: the user edits the text first. What an agent wrote is quoted and visible in it, so
that none of it passes for the user's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import Plan
from acp_tui.conversation.visible import make_visible, make_visible_line

MAX_CHARACTERS: Final = 12_000
"""Of all turns together; the earliest are left out first."""
MAX_PROMPT_CHARACTERS: Final = 1_500
MAX_ANSWER_CHARACTERS: Final = 2_500
MAX_FILES: Final = 50

_BEGINNING: Final = (
    "Continue work that another agent began in this folder. Read the files before you change them."
)
_MARKS: Final = {"completed": "x", "in_progress": "~"}


class _Exchange(NamedTuple):
    prompt: str
    answer: str


def digest(conversation: Conversation, changed_files: Sequence[str]) -> str:
    """The conversation in Markdown, at most some `MAX_CHARACTERS` and a list of files long."""
    parts = [_BEGINNING]
    exchanges, left_out = _latest(list(_exchanges(conversation)))
    if left_out:
        parts.append(f"({left_out} earlier prompts are left out.)")
    for exchange in exchanges:
        parts.append(f"## I asked\n\n{exchange.prompt}")
        if exchange.answer:
            parts.append(f"## The agent answered\n\n{_quoted(exchange.answer)}")
    if changed_files:
        names = [f"- {make_visible_line(name)}" for name in changed_files[:MAX_FILES]]
        more = len(changed_files) - MAX_FILES
        parts.append(
            "\n".join(["## Files changed", "", *names, *([f"- and {more} more"] if more > 0 else [])])
        )
    parts += (_plan(plan) for plan in conversation.plans.values() if plan.steps)
    return "\n\n".join(parts) + "\n\n## Now\n\n"


def _exchanges(conversation: Conversation) -> Iterator[_Exchange]:
    """Each prompt with the last message of its answer, which says most about how it went."""
    prompt, answer = "", ""
    for entry in conversation.entries:
        if not isinstance(entry, Message):
            continue
        if entry.role == "user":
            if prompt:
                yield _Exchange(prompt, answer)
            prompt, answer = _shortened(entry.text, MAX_PROMPT_CHARACTERS), ""
        elif entry.role == "agent" and entry.text.strip():
            answer = _shortened(entry.text, MAX_ANSWER_CHARACTERS)
    if prompt:
        yield _Exchange(prompt, answer)


def _latest(exchanges: Sequence[_Exchange]) -> tuple[Sequence[_Exchange], int]:
    """The last ones that fit, and how many do not."""
    room, first = MAX_CHARACTERS, len(exchanges)
    for exchange in reversed(exchanges):
        room -= len(exchange.prompt) + len(exchange.answer)
        if room < 0:
            break
        first -= 1
    return exchanges[first:], first


def _shortened(text: str, limit: int) -> str:
    """It visible, its beginning and its end: the one says what it is about, the other how it came out."""
    text = make_visible(text.strip())
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half].rstrip()}\n\n[…]\n\n{text[-half:].lstrip()}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _plan(plan: Plan) -> str:
    steps = (f"- [{_MARKS.get(step.status, ' ')}] {make_visible_line(step.content)}" for step in plan.steps)
    return "\n".join(["## Plan", "", *steps])
