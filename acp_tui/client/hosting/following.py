"""A client of a host: brings what ACP cannot say into the sessions of the agent that stands for the host."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.extensions import Extensions
from acp_tui.client.hosting import own_methods
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import SessionHub
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.own_updates import NotReadable
from acp_tui.conversation.elicitation import Elicitation
from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.updates import (
    ElicitationAnswered,
    PermissionAnswered,
    PermissionNoted,
    SessionUpdate,
    TerminalOpened,
)
from acp_tui.protocol.roles import ClientOffer

log = logging.getLogger(__name__)

OFFER: Final = ClientOffer(
    read_text_file=False,
    write_text_file=False,
    terminal=False,
    elicitation_form=True,
    elicitation_url=True,
    meta=own_methods.FOLLOWS,
)
"""The host serves files and terminals itself; all that is wanted of its clients is their users' answers."""


async def attached(
    hub: SessionHub, command: AgentCommand, on_phase: Callable[[Phase], None] = lambda _: None
) -> Agent:
    """The agent that stands for a host, to be initialized by the caller. Nothing is recorded: the host does that.

    Raises AgentStartFailed.
    """
    extensions = Extensions()
    agent = await hub.start_agent(
        command, offer=OFFER, on_phase=on_phase, extensions=extensions, keeps_frames=True
    )

    @extensions.on_notification(own_methods.UPDATE)
    def on_update(params: object) -> None:
        try:
            session_id, update = own_methods.read_update(params)
        except NotReadable as error:  # a later host may tell more
            log.debug("an update of the host was left out: %s", error)
            return
        session = agent.sessions.get(session_id)
        if session is not None:
            _apply(session, update)

    return agent


def _apply(session: Session, update: SessionUpdate) -> None:
    match update:
        case PermissionAnswered(key) | PermissionNoted(key) if key > 0:
            local = _local_key(key, session.conversation.permissions.values())
            if local is not None:
                session.apply(replace(update, key=local))
        case ElicitationAnswered(key) if key > 0:
            local = _local_key(key, session.conversation.elicitations.values())
            if local is not None:
                session.apply(replace(update, key=local))
        case TerminalOpened():
            session.apply(
                replace(update, is_ours=False)
            )  # it runs there: nothing can be typed into it from here
        case _:
            session.apply(update)


def _local_key(key: RequestKey, waiting: Iterable[PermissionRequest | Elicitation]) -> RequestKey | None:
    """The key that we gave to the question that has this one at the host."""
    return next((asked.key for asked in waiting if own_methods.key_in(asked.meta) == key), None)
