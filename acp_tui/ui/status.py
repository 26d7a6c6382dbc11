"""Puts into words what a conversation's facts come to, for the status line."""

from __future__ import annotations

from urllib.parse import urlsplit

from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import BooleanOption, ConfigOption, Turn, Usage
from acp_tui.conversation.visible import make_visible_line


def state_of(conversation: Conversation) -> str:
    """One of the status line's states."""
    if not conversation.is_connected:
        return "lost"
    if conversation.turn is Turn.CANCELLING:
        return "cancelling"
    if conversation.permissions:
        return "waiting"
    return "ready" if conversation.turn is Turn.IDLE else "working"


def facts_of(conversation: Conversation) -> tuple[str, ...]:
    """The mode, the model and what was used, as the agent reported them last."""
    shown = [_value(option) for option in conversation.options if option.category in ("mode", "model")]
    if conversation.usage is not None:
        shown.append(_usage(conversation.usage))
    # The agent may never say that a page was dealt with: the palette takes the word away.
    shown += [
        f"page open: {urlsplit(visit.url).hostname or visit.url}" for visit in conversation.visits.values()
    ]
    return tuple(map(make_visible_line, shown))


def _value(option: ConfigOption) -> str:
    if isinstance(option, BooleanOption):
        return f"{option.name}: {'on' if option.value else 'off'}"
    return next((choice.name for choice in option.choices if choice.value == option.value), option.value)


def _usage(usage: Usage) -> str:
    text = f"{_tokens(usage.used)}/{_tokens(usage.size)}" if usage.size else _tokens(usage.used)
    if usage.cost_amount is None:
        return text
    if usage.cost_currency == "USD":
        return f"{text} ${usage.cost_amount:.2f}"
    return f"{text} {usage.cost_amount:.2f} {usage.cost_currency or ''}".rstrip()


def _tokens(count: int) -> str:
    if count < 1000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"
