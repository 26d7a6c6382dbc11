"""What the scripted agent sends while a client in memory uses everything its scenario offers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from acp_tui.demo import script
from acp_tui.rpc import Direction

ENDLESS: Final = {"exit", "hang"}
ANSWERS: Final = [("allow_once", "accept"), ("reject_once", "decline"), ("reject_once", "cancel")]
"""The choice among a permission request's options, and the answer to an elicitation."""


async def frames_of(
    shipped: script.Scenario,
    turn: script.ScriptedTurn,
    answers: tuple[str, str],
    connect: Any,
    cwd: str = "/project",
    protocol: int = 1,
) -> list[tuple[Direction, bytes]]:
    """One turn of a scenario, with each frame once; `connect` is the fixture of tests/demo."""
    frames: dict[tuple[Direction, bytes], None] = {}
    played = _alone(shipped, turn)
    of_two = protocol == 2
    async with connect(played, tap=lambda way, frame: frames.setdefault((way, frame))) as client:
        client.permission_kind, client.elicitation_action = answers
        client.files["/project/durations.py"] = "total = 0\n"
        client.cwd = cwd
        await client.initialize(protocol=protocol)
        for method in played.auth.methods:
            if method.get("type") != "terminal":
                log_in = "auth/login" if of_two else "authenticate"
                await client.peer.request(log_in, {"methodId": method["id"]})
        await client.new_session()
        await client.peer.request("session/prompt", {"sessionId": "demo-1", "prompt": []}, read_error=str)
        if of_two:
            await client.until(lambda: client.is_idle)
        await _use_kept_sessions(played.keeping, client, of_two=of_two)
        if played.auth.logout:
            await client.peer.request("auth/logout" if of_two else "logout", {})
    return list(frames)


def _alone(shipped: script.Scenario, turn: script.ScriptedTurn) -> script.Scenario:
    """A scenario of only this turn, for any prompt, without steps that never end."""
    steps = tuple(step for step in turn.steps if not _is_endless(step))
    initialize = replace(shipped.initialize, hang=False)
    return replace(shipped, turns=(replace(turn, match=None, steps=steps),), initialize=initialize)


def _is_endless(step: script.Step) -> bool:
    if step.kind == "run":  # a program that waits for its end
        return "wait" in step.value.get("args", ()) and "kill_after_s" not in step.value
    return step.kind == "fault" and step.value in ENDLESS


async def _use_kept_sessions(keeping: script.StoredSessions, client: Any, *, of_two: bool) -> None:
    """Call every method for saved sessions that the scenario offers."""
    if "list" in keeping.offers or of_two:
        await client.peer.request("session/list", {}, read_error=str)  # the login may be over
    for old in keeping.sessions:
        place = {"sessionId": old.session_id, "cwd": client.cwd, "mcpServers": []}
        if of_two:
            await client.peer.request("session/resume", {**place, "replayFrom": {"type": "start"}})
            await client.peer.request("session/resume", place)
        else:
            for method in sorted(keeping.offers & {"load", "resume"}):
                await client.peer.request(f"session/{method}", place)
        await client.peer.request("session/close", {"sessionId": old.session_id})
        if "delete" in keeping.offers:
            await client.peer.request("session/delete", {"sessionId": old.session_id})
