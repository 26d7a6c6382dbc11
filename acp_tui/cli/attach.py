"""`acp-tui attach` shows a session that a host keeps."""

from __future__ import annotations

import os

import anyio

from acp_tui.cli.arguments import Args
from acp_tui.cli.prerequisites import ExitOnError, notes_of, require_screen, settings_in_force, why_plain
from acp_tui.cli.screen import run_screen
from acp_tui.cli.start import work_with
from acp_tui.client.agents.address import is_address, read_address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.hosting import finding
from acp_tui.client.hosting.finding import HostedSession
from acp_tui.client.processes import HOST_TOKEN_VARIABLE


def run(args: Args) -> int:
    """Show the session until the user leaves it."""
    read = settings_in_force()
    is_plain = bool(why_plain(read.settings, is_wanted=args.plain))
    if not is_plain:
        require_screen("to list sessions without a screen: acp-tui hosts")
    with ExitOnError(None):
        found = anyio.run(_found, args.word or "", args.read_only)
        found.require_fit()
    if is_plain:
        return work_with(found.command, found.cwd, is_plain=args.plain, opening=found.open_in)
    return run_screen(found.command, found.cwd, read.settings, notes_of(read), opening=found.open_in)


async def _found(name: str, is_read_only: bool) -> HostedSession:
    """Return the session with this name, or the only one at this address. Raises ClientError."""
    if not is_address(name):
        found = finding.named(await finding.hosted_sessions(), name)
        return found.to_watch() if is_read_only else found
    name, _, wanted = name.partition("#")
    token = os.environ.get(HOST_TOKEN_VARIABLE)
    address = read_address(name, {"Authorization": f"Bearer {token}"} if token else {})
    command = AgentCommand(name, (name,), is_elsewhere=not address.socket_path, is_host=True, address=address)
    found = finding.named(await finding.sessions_at(command), wanted)
    return found.to_watch() if is_read_only else found
