"""Facts of a session in words, for whoever lists them; where they stand and how they look is others' matter.

What comes from the agent is as it was said: whoever shows it makes it visible.
"""

from __future__ import annotations

from acp_tui.conversation.facts import BooleanOption, ConfigOption, Usage


def value_name(option: ConfigOption) -> str:
    """What the agent calls the value that an option has now."""
    if isinstance(option, BooleanOption):
        return "on" if option.value else "off"
    return next((choice.name for choice in option.choices if choice.value == option.value), option.value)


def usage_words(usage: Usage | None) -> str:
    """Context and cost as the agent reported them last; nothing is worked out."""
    if usage is None:
        return "not reported by the agent"
    tokens = f"{usage.used:,} of {usage.size:,} tokens" if usage.size else f"{usage.used:,} tokens"
    if usage.cost_amount is None:
        return tokens
    return f"{tokens}, {usage.cost_amount:.2f} {usage.cost_currency or ''}".rstrip()
