"""A permission request as every front end shows it: what it reports, what is outside, and what the answers mean.

The words for kinds of answers are ours. The names are the agent's, and may misrepresent the answer. So a name comes
after our word, in quotation marks, in one line, and shortened.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from acp_tui.conversation.entries import Decision, TerminalState
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import TerminalContent, TerminalId, ToolCall
from acp_tui.conversation.visible import make_visible_line

KIND_WORDS: Final[Mapping[str, str]] = {
    "allow_once": "Allow once",
    "allow_always": "Allow always",
    "reject_once": "Reject once",
    "reject_always": "Reject always",
}
LETTERS: Final[Mapping[str, str]] = {"allow_once": "y", "allow_always": "a", "reject_once": "n"}
"""No letter rejects always: `n` must mean the same on every card."""
MAX_NAME: Final = 100
"""Characters."""
MAX_KIND: Final = 30


class Rejection(NamedTuple):
    """The permission request to reject when the reason is sent."""

    key: RequestKey
    option_id: str
    title: str
    """The title of the call, as the agent wrote it."""


def shown_state(
    request: PermissionRequest, call: ToolCall, terminals: Mapping[TerminalId, TerminalState]
) -> tuple[object, ...]:
    """Return a value that is equal as long as the agent asks the same. Calls and terminals change in place.

    The lines that acp-tui finds around its diffs are shown, but aren't asked about.
    """
    shown = [item.terminal_id for item in call.content if isinstance(item, TerminalContent)]
    commands = ((terminals[each].command, terminals[each].cwd) for each in shown if each in terminals)
    reported = call.content, call.locations, call.raw_input, call.raw_output, dict(call.meta)
    return request, call.shown_title, call.name, call.kind, *reported, *commands


def kind_word(option: PermissionOption) -> str:
    return option.name if option.is_ours else KIND_WORDS[option.counts_as]


def quoted_name(option: PermissionOption) -> str:
    """Return the agent's name for an option, plus its kind if the protocol doesn't define it.

    "" if it is ours or says no more than our words: “Reject” for “Reject once”, “Always Allow” for “Allow always”.
    """
    if option.is_ours:
        return ""
    said, ours = (set(text.casefold().split()) for text in (option.name, kind_word(option)))
    if option.kind == option.counts_as and said and (said == ours or said | {"once"} == ours):
        return ""
    name = f"“{_short(option.name, MAX_NAME)}”" if option.name.strip() else "without a name"
    if option.kind == option.counts_as:
        return name
    return f"{name} (of a kind acp-tui doesn't know: “{_short(option.kind, MAX_KIND)}”)"


def chosen_words(decision: Decision) -> str:
    """Return our word and the agent's name for a given answer, without the name if it equals our word or is ours."""
    option = PermissionOption("", decision.option_name or "", decision.option_kind or "", is_ours=decision.is_ours)
    return f"{kind_word(option)} {quoted_name(option)}".rstrip()


def decision_words(decision: Decision) -> str:
    """Return what was decided about a permission request, and by whom."""
    if decision.option_name is None:
        return f"permission: {'the agent withdrew its question' if decision.is_withdrawn else 'canceled'}"
    chosen = chosen_words(decision)
    return f"you chose: {chosen}" if decision.rule is None else f"your rule chose: {chosen} ({decision.rule})"


def _short(text: str, most: int) -> str:
    line = make_visible_line(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def letters_of(answers: Sequence[PermissionOption]) -> list[str]:
    """Return each answer's letter; "" if it has none or if the letter would be ambiguous."""
    kinds = Counter(option.kind for option in answers)
    return [LETTERS.get(option.kind, "") if kinds[option.kind] == 1 else "" for option in answers]


def answer_of(answers: Sequence[PermissionOption], typed: str) -> int | None:
    """Return the index of the answer for a typed number or letter; None if there isn't one."""
    if typed.isascii() and typed.isdigit() and len(typed) < 10:
        return int(typed) - 1 if 1 <= int(typed) <= len(answers) else None
    letters = letters_of(answers)
    return letters.index(typed) if typed and typed in letters else None


def starting_answer(answers: Sequence[PermissionOption]) -> int | None:
    """Return the index of the answer that Enter gives before the user moves: one that allows once, or else rejects.

    Never one that allows always. None if there is no other.
    """
    kinds = [option.counts_as for option in answers]
    return next((kinds.index(kind) for kind in ("allow_once", "reject_once", "reject_always") if kind in kinds), None)


def keys_told(answers: Sequence[PermissionOption]) -> str:
    """Return the keys that answer, such as `1-3 y a n`."""
    last = len(answers)
    return " ".join([f"1-{last}" if last > 1 else "1", *filter(None, letters_of(answers))])


def is_outside(path: str, directory: str) -> bool:
    """Whether a path leads outside the directory, without following links. Always False for directory ""."""
    if not directory:
        return False
    root = posixpath.normpath(directory)
    return posixpath.commonpath([root, posixpath.normpath(posixpath.join(root, path))]) != root
