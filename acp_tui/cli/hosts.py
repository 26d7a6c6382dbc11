"""`acp-tui hosts` lists the sessions that hosts keep, shares them with others, and revokes their tokens."""

from __future__ import annotations

import sys

import anyio

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.output import print_json, say
from acp_tui.cli.prerequisites import ExitOnError
from acp_tui.client.extras import command_to_add
from acp_tui.client.hosting import finding
from acp_tui.client.processes import HOST_TOKEN_VARIABLE
from acp_tui.conversation.visible import make_visible_line


def run(args: Args) -> int:
    """Print the running sessions and what waits for an answer, or share hosts, or revoke their tokens."""
    with ExitOnError(None):
        if args.share is not None:
            return _share(args.share or None)
        if args.revoke is not None:
            names = anyio.run(finding.revoked, args.revoke or None)
            for one in names:
                print(f"{one} has new tokens. Whoever used the old ones is disconnected.")
            if not names:
                print("No host has tokens.")
            return ExitCode.DONE
    sessions = anyio.run(finding.hosted_sessions)
    if args.format == "json":
        print_json("hosts", sessions)
    elif sessions:
        print("\n".join(finding.described(sessions)))
    else:
        print("No hosted sessions. To host one: acp-tui host AGENT")
    return ExitCode.DONE


def names(*, with_sessions: bool) -> dict[str, str]:
    """Return the names of hosts, on request also the IDs of their sessions, and what each is, for shell completion."""
    sessions = anyio.run(finding.hosted_sessions)
    kept = {str(one.session_id): make_visible_line(f"{one.agent}: {one.title}") for one in sessions if with_sessions}
    return {**{one.host: make_visible_line(one.agent) for one in sessions}, **kept}


def _share(name: str | None) -> int:
    """Print how to watch, for the user to pass on. The token is shown because it's asked for."""
    shares = anyio.run(finding.shared, name)
    if not shares:
        say("no host listens on TCP; to watch on this machine: acp-tui attach --read-only")
        say("to share it: acp-tui host AGENT --listen HOST:PORT --tls-cert FILE --tls-key FILE")
        return ExitCode.ERROR
    for share in shares:
        command = f"{HOST_TOKEN_VARIABLE}={share.token} acp-tui attach --read-only {share.address}"
        print(f"Whoever runs this can watch {share.host}, until: acp-tui hosts --revoke {share.host}\n\n  {command}\n")
        if sys.stdout.isatty():
            print(_qr_code(command))
    return ExitCode.DONE


def _qr_code(text: str) -> str:
    """Return a QR code in half blocks, light on a dark terminal; without its package, how to get it."""
    try:
        import segno  # an extra, which takes as long to load as everything else here
    except ImportError:
        return f"For a QR code: {command_to_add('qr')}"
    rows = [bytes(row) for row in segno.make(text, error="l", micro=False).matrix_iter(border=2)]
    halves = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
    below = [*rows[1::2], *([bytes(len(rows[0]))] if len(rows) % 2 else [])]
    return "\n".join(
        "".join(halves[bool(upper), bool(lower)] for upper, lower in zip(one, other, strict=True))
        for one, other in zip(rows[::2], below, strict=True)
    )
