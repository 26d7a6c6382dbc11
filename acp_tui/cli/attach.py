"""`acp-tui attach` shows a session kept by a host; `acp-tui hosts` lists these sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import anyio

from acp_tui.cli import ExitCode, code_of
from acp_tui.cli.arguments import Given
from acp_tui.cli.prerequisites import exit_after, notes_of, require_screen, settings_in_force
from acp_tui.cli.screen import run_screen
from acp_tui.client.agents.address import is_address, read_address
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import ClientError
from acp_tui.client.hosting import finding
from acp_tui.client.hosting.finding import HostedSession
from acp_tui.client.processes import HOST_TOKEN_VARIABLE
from acp_tui.conversation.visible import make_visible_line


def run(given: Given) -> int:
    """Show the session until the user leaves it."""
    require_screen("to list sessions without a screen: acp-tui hosts")
    try:
        found = anyio.run(_found, given.word or "")
        found.require_fit()
    except ClientError as error:
        raise exit_after(error, code_of(error)) from None
    read = settings_in_force()
    return run_screen(found.command, found.cwd, read.settings, notes_of(read), opening=found.open_in)


async def _found(name: str) -> HostedSession:
    """Return the session with this name, or the only one at this address. Raises ClientError."""
    if not is_address(name):
        return finding.named(await finding.hosted_sessions(), name)
    token = os.environ.get(HOST_TOKEN_VARIABLE)
    address = read_address(name, {"Authorization": f"Bearer {token}"} if token else {})
    command = AgentCommand(name, (name,), is_elsewhere=not address.socket_path, is_host=True, address=address)
    return finding.named(await finding.sessions_at(command), "")


def list_hosts(given: Given) -> int:
    """Print the running sessions and what waits for an answer."""
    sessions = anyio.run(finding.hosted_sessions)
    if given.format == "json":
        print(json.dumps([_as_json(one) for one in sessions], indent=2))
    elif sessions:
        print("\n".join(_lines(sessions)))
    else:
        print("No hosted sessions. To host one: acp-tui host AGENT")
    return ExitCode.DONE


def _lines(sessions: Sequence[HostedSession]) -> Iterator[str]:
    width = max(len(one.host) for one in sessions)
    for one in sessions:
        name = f"{one.host:<{width}}"
        attached = f"  {one.attached} attached" if one.attached else ""
        yield make_visible_line(f"{name}  {one.state:<9}  {one.cwd}  {one.title}{attached}".rstrip())
        for asked in one.waiting:
            yield make_visible_line(f"{'':<{width}}  asks: {asked}")


def _as_json(one: HostedSession) -> dict[str, object]:
    return {
        "host": one.host,
        "agent": one.agent,
        "session_id": one.session_id,
        "cwd": str(one.cwd),
        "title": one.title,
        "turn": one.turn,
        "waiting": one.waiting,
        "attached": one.attached,
    }
