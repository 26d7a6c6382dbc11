"""What we offer to an agent, by who is there to answer it."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol.roles import ClientOffer

HEADLESS: Final = ClientOffer()
"""Nobody can fill in a form, visit a page or log in."""
INTERACTIVE: Final = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)
"""A person sits at the screen."""
