"""Installs an agent for a user of the command line, whom it asks on the terminal first."""

from __future__ import annotations

from functools import partial

import anyio

from acp_tui.cli.output import say, show_step
from acp_tui.cli.terminal import agrees, open_terminal
from acp_tui.client.agents.installed import Installable, Installed, terms_of
from acp_tui.client.agents.installing import InstallFailed, install, look_up
from acp_tui.conversation.visible import make_visible_line


def install_asking(offer: Installable, before: Installed | None = None) -> Installed | None:
    """Install it, or replace an older one, once the user agrees; None, and no look-up, without a terminal to ask on.

    Raises InstallFailed, also if they don't agree.
    """
    terminal = open_terminal()
    if terminal is None:
        return None
    terminal.close()
    try:
        show_step(f"looking up {offer.name}")
        found = anyio.run(look_up, offer)
        show_step("")
        if before is not None and before.version == found.version:
            say(f"{offer.name} {before.version} is the newest version for this machine")
            return before
        what = offer.name if before is None else f"{offer.name} {found.version} in place of {before.version}"
        facts = "\n".join(f"  {make_visible_line(line)}" for line in terms_of(found))
        if not agrees(f"Install {make_visible_line(what)}?\n{facts}\n"):
            raise InstallFailed(f"{offer.name} wasn't installed, since you didn't agree")
        made = anyio.run(partial(install, found, lambda line: show_step(make_visible_line(line))))
    finally:
        show_step("")
    say(f"{made.name} {made.version} is installed")
    return made
