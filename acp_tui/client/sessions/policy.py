"""What a user lets agents have on this machine, before any question is asked."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Final

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.settings.tree import RefusalRule, Settings
from acp_tui.protocol.roles import ClientOffer
from acp_tui.values import dataclass

HEADLESS: Final = ClientOffer()
"""Nobody can fill in a form, visit a page or log in."""
INTERACTIVE: Final = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)
"""A person sits at the screen."""


class Grant(Enum):
    """The value is what the settings say."""

    ON = "on"
    """Served inside the workspace, asked about outside of it."""
    ASK = "ask"
    """Asked about each time."""
    OFF = "off"
    """Neither advertised nor served."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A user's standing decisions. None of them allows what would else be asked about."""

    read: Grant = Grant.ON
    write: Grant = Grant.ON
    terminals: Grant = Grant.ON
    refuse: tuple[RefusalRule, ...] = ()
    output_limit_bytes: int | None = None
    """Kept of a terminal's output where the agent names no limit; None: the terminals' own."""

    def for_agent(self, command: AgentCommand) -> Policy:
        """What holds for this agent: one that runs elsewhere gets nothing of this machine unless its entry says so."""
        if command.is_offered_this_machine:
            return self
        return replace(self, read=Grant.OFF, write=Grant.OFF, terminals=Grant.OFF)

    def within(self, offer: ClientOffer) -> ClientOffer:
        """What of `offer` may be offered."""
        return replace(
            offer,
            read_text_file=offer.read_text_file and self.read is not Grant.OFF,
            write_text_file=offer.write_text_file and self.write is not Grant.OFF,
            terminal=offer.terminal and self.terminals is not Grant.OFF,
        )


def policy_of(settings: Settings) -> Policy:
    """What the settings come to."""
    return Policy(
        read=Grant(settings.workspace.read),
        write=Grant(settings.workspace.write),
        terminals=Grant(settings.workspace.terminals),
        refuse=settings.refuse,
        output_limit_bytes=settings.terminals.output_limit_bytes,
    )
