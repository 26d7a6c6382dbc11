"""What the scripted agent sends while a client in memory does with it all that its scenario offers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from acp_tui.rpc import Direction
from acp_tui.workbench.demo import script

ENDLESS: Final = {"exit", "hang"}
ANSWERS: Final = [("allow_once", "accept"), ("reject_once", "decline"), ("reject_once", "cancel")]
"""What is chosen of the options of a permission request, and what is made of an elicitation."""


async def frames_of(
    shipped: script.Scenario, turn: script.ScriptedTurn, answers: tuple[str, str], connect: Any
) -> list[tuple[Direction, bytes]]:
    """One turn of a scenario, each frame once; `connect` is the fixture of tests/demo."""
    frames: dict[tuple[Direction, bytes], None] = {}
    played = _alone(shipped, turn)
    async with connect(played, tap=lambda way, frame: frames.setdefault((way, frame))) as client:
        client.permission_kind, client.elicitation_action = answers
        client.files["/project/durations.py"] = "total = 0\n"
        await client.initialize()
        for method in played.auth.methods:
            if method.get("type") != "terminal":
                await client.peer.request("authenticate", {"methodId": method["id"]})
        await client.new_session()
        await client.peer.request("session/prompt", {"sessionId": "demo-1", "prompt": []}, read_error=str)
        await _use_kept_sessions(played.keeping, client)
        if played.auth.logout:
            await client.peer.request("logout", {})
    return list(frames)


def _alone(shipped: script.Scenario, turn: script.ScriptedTurn) -> script.Scenario:
    """A scenario of this one turn, for any prompt, without what would never end."""
    steps = tuple(s for s in turn.steps if not (isinstance(s, script.Fault) and s.kind in ENDLESS))
    initialize = replace(shipped.initialize, hang=False)
    return replace(shipped, turns=(replace(turn, match=None, steps=steps),), initialize=initialize)


async def _use_kept_sessions(keeping: script.Keeping, client: Any) -> None:
    """Every method for sessions that are kept, as far as the scenario offers it."""
    if "list" in keeping.offers:
        await client.peer.request("session/list", {})
    for old in keeping.sessions:
        place = {"sessionId": old.session_id, "cwd": "/project", "mcpServers": []}
        for method in sorted(keeping.offers & {"load", "resume"}):
            await client.peer.request(f"session/{method}", place)
        await client.peer.request("session/close", {"sessionId": old.session_id})
        if "delete" in keeping.offers:
            await client.peer.request("session/delete", {"sessionId": old.session_id})
