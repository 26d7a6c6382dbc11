"""What the user chose of a session's options before it began: a mode, a model, or another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from acp_tui.client.errors import Unsupported
from acp_tui.conversation.facts import BooleanOption, ConfigOption

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session

_SWITCHED = {"on": True, "true": True, "off": False, "false": False}


async def choose(session: Session, chosen: Iterable[tuple[str, str]]) -> None:
    """Set these options, which are named by category (`mode`, `model`) or ID. Values may be named as they are shown.

    Raises Unsupported for what the agent doesn't offer; SessionClosed; AgentRefused; AgentLost.
    """
    for name, value in chosen:
        option = _named(session.conversation.options, name)
        wanted = _value(option, value)
        if option.value != wanted:
            await session.set_option(option.option_id, wanted)


def _named(options: Sequence[ConfigOption], name: str) -> ConfigOption:
    found = [option for option in options if option.option_id == name] or [
        option for option in options if option.category == name
    ]
    if not found:
        offered = ", ".join(option.option_id for option in options) or "none"
        raise Unsupported(f"the agent has no {name} to choose", hint=f"its options: {offered}")
    return found[0]


def _value(option: ConfigOption, wanted: str) -> str | bool:
    if isinstance(option, BooleanOption):
        if wanted.lower() in _SWITCHED:
            return _SWITCHED[wanted.lower()]
        raise Unsupported(f"{option.option_id} can't be {wanted!r}", hint="it is on or off")
    by_name = {choice.name.lower(): choice.value for choice in option.choices}
    values = [choice.value for choice in option.choices]
    value = wanted if wanted in values else by_name.get(wanted.lower())
    if value is None:
        raise Unsupported(f"{option.option_id} can't be {wanted!r}", hint=f"it is one of {', '.join(values)}")
    return value
