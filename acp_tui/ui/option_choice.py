"""Changes one option of a session by its kind: the model, the mode. All of them together are `screens.options`'s."""

from __future__ import annotations

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import SelectOption
from acp_tui.ui.agent_desk import AgentDesk
from acp_tui.ui.screens.options import value_picker


async def choose_value(desk: AgentDesk, session: Session, category: str) -> None:
    """Let the user choose among the values of the first option of this kind; where there is none, say so."""
    options = session.conversation.options
    wanted = (
        option for option in options if isinstance(option, SelectOption) and option.category == category
    )
    option = next(wanted, None)
    if option is None:
        desk.say(f"This agent offers no {category} to choose. /options shows what it offers.")
        return
    value = await desk.ask(value_picker(option))
    if value is not None:
        await desk.set_option(session, option.option_id, value)
