"""Sessions to take pictures of: every kind of entry in each state, and typical scenes.

Their contents are fixed, so the pictures are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import (
    Choice,
    RequestKey,
    SelectOption,
    Usage,
)
from acp_tui.conversation.tool_calls import (
    BlockContent,
)
from acp_tui.conversation.updates import (
    OptionsReplaced,
    PermissionAnswered,
    TurnEnded,
    UsageReported,
)
from support.entry_scenes import (
    ANSWER,
    OLD_CODE,
    TESTS,
    Updates,
    _terminal,
    diffs,
    failures,
    long_diff,
    long_request,
    long_terminal,
    messages,
    one_request,
    own_commands,
    plan,
    rare_updates,
    raw_input,
    restarts,
    terminals,
    thoughts,
    three_requests,
    tool_call_kinds,
    tool_call_statuses,
    turn_ends,
)
from support.folding import ALLOW, agent, ask, call, prompt, thought


def _facts() -> Updates:
    """What the status line shows."""
    mode = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"),), "mode")
    model = SelectOption("model", "Model", "large", (Choice("large", "Large 4"),), "model")
    return [OptionsReplaced((model, mode)), UsageReported(Usage(18_432, 200_000, 0.0421, "USD"))]


def empty_start() -> Updates:
    """An empty session."""
    return _facts()


def streaming() -> Updates:
    """In the middle of an answer."""
    read = call(
        "read",
        title="Read durations.py",
        kind="read",
        status="completed",
        content=(BlockContent(Text(f"```\n{OLD_CODE}```")),),
    )
    half = ANSWER[: ANSWER.index(" += ")]
    return [
        *_facts(),
        prompt("Fix the duration parser"),
        thought("The loop."),
        read,
        *plan()[1:],
        agent(half),
    ]


def permission() -> Updates:
    """A decision to make."""
    return [*_facts(), prompt("Fix the duration parser"), *plan()[1:], *one_request()]


def terminal() -> Updates:
    """Tests are running."""
    return [
        *_facts(),
        prompt("Run the tests"),
        ask(1, "t3", title="python -m unittest", kind="execute"),
        PermissionAnswered(RequestKey(1), ALLOW.option_id),
        *_terminal("t3", "python -m unittest", TESTS, "failed", 1),
        agent("One test fails: `1d2h` needs no spaces."),
        TurnEnded("end_turn"),
    ]


def failure() -> Updates:
    """The agent has stopped."""
    return [*_facts(), *failures()]


def long_conversation() -> Updates:
    """More than fits on the screen."""
    said = [
        update
        for number in range(1, 31)
        for update in (
            prompt(f"Question {number}"),
            agent(f"Answer {number}: *yes*.\n\n- because\n- therefore"),
        )
    ]
    return [*_facts(), *said, TurnEnded("end_turn")]


Scene: TypeAlias = Callable[[], Updates]

SCENES: Final[Mapping[str, tuple[Scene, tuple[str, ...]]]] = {
    "empty_start": (empty_start, ()),
    "streaming": (streaming, ()),
    "permission": (permission, ("tab", "down")),
    "terminal": (terminal, ()),
    "failure": (failure, ()),
    "long_conversation": (long_conversation, ("pageup",)),
}
"""The scenes, with the keys that lead to each."""

STATES: Final[Mapping[str, tuple[Scene, tuple[str, ...]]]] = {
    "messages": (messages, ()),
    "thoughts_folded": (thoughts, ()),
    "thoughts_open": (thoughts, ("ctrl+o",)),
    "tool_call_statuses": (tool_call_statuses, ()),
    "tool_call_kinds": (tool_call_kinds, ()),
    "tool_call_raw_input": (raw_input, ("ctrl+o",)),
    "diffs": (diffs, ()),
    "diff_long": (long_diff, ()),
    "terminals": (terminals, ()),
    "terminal_long": (long_terminal, ()),
    "own_commands": (own_commands, ()),
    "restarts": (restarts, ()),
    "turn_ends": (turn_ends, ()),
    "failures": (failures, ()),
    "rare_updates_folded": (rare_updates, ()),
    "rare_updates_open": (rare_updates, ("ctrl+o",)),
    "entry_at_the_cursor": (tool_call_kinds, ("tab", "up")),
    "everything_selected": (messages, ("tab", "ctrl+a")),
    "found": (messages, ("f9", *"one", "enter")),
    "found_in_a_fold": (tool_call_kinds, ("f9", *"four", "enter")),
    "plan_line": (plan, ()),
    "plan_open": (plan, ("ctrl+t",)),
    "card_unfocused": (one_request, ()),
    "card_focused": (one_request, ("tab", "up")),
    "card_three_requests": (three_requests, ("tab",)),
    "card_long": (long_request, ("tab", "pagedown")),
    "help": (plan, ("f1",)),
}
"""Every kind of entry, and everything beside the conversation, in each state."""
