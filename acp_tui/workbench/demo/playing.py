"""Plays the steps of a turn in order. `asking` has what a step asks of the client, `faults` what goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import assert_never

import anyio

from acp_tui.workbench.demo import asking, faults, script
from acp_tui.workbench.demo.turn import Ending, Outcome, Turn


async def play(turn: Turn, steps: Sequence[script.Step]) -> Ending:
    """Play steps one after the other, until one ends the turn."""
    for step in steps:
        ending = await _play(turn, step)
        if ending is not None:
            return ending
    return None


async def _play(turn: Turn, step: script.Step) -> Ending:
    outcome = await _played(turn, step)
    return await play(turn, outcome) if isinstance(outcome, tuple) else outcome


async def _played(turn: Turn, step: script.Step) -> Outcome:
    match step:
        case script.Say():
            await turn.stream(step)
        case script.Block(block):
            turn.send({"sessionUpdate": "agent_message_chunk", "content": turn.fill(block)})
        case script.Plan(entries):
            turn.send({"sessionUpdate": "plan", "entries": turn.fill(entries)})
        case script.Tool(patch):
            turn.send({"sessionUpdate": "tool_call"} | turn.tool_call(patch))
        case script.Update(patch):
            turn.send({"sessionUpdate": "tool_call_update"} | turn.tool_call(patch))
        case script.Read():
            return await asking.read(turn, step)
        case script.Write():
            await asking.write(turn, step)
        case script.Permission():
            return await asking.ask(turn, step)
        case script.Run():
            return await asking.run(turn, step)
        case script.Elicit():
            return await asking.elicit(turn, step)
        case script.Complete(name):
            asking.complete(turn, name)
        case script.CallExtension():
            return await asking.call_extension(turn, step)
        case script.NotifyExtension(method, params):
            turn.client.notify_extension(method, turn.fill(params))
        case script.Notice(fields):
            _notify(turn, fields)
        case script.Compact():
            await _compact(turn, step)
        case script.Wait(seconds):
            await turn.pace.wait(seconds)
        case script.SendUpdate(update):
            turn.send(turn.fill(update))
        case script.SwitchMode(mode_id):
            _switch_mode(turn, mode_id)
        case script.ChangeConfig(values):
            _change_config(turn, values)
        case script.Together(steps):
            return await _play_together(turn, steps)
        case script.Stop(reason):
            return reason
        case script.Stderr(text):
            sys.stderr.write(turn.fill(text) + "\n")
            sys.stderr.flush()
        case script.Fault():
            return await faults.play(turn, step)
        case _:
            assert_never(step)
    return None


async def _play_together(turn: Turn, steps: Sequence[script.Step]) -> Ending:
    endings: list[Ending] = [None] * len(steps)

    async def play(index: int, step: script.Step) -> None:
        endings[index] = await _play(turn, step)

    async with anyio.create_task_group() as tasks:
        for index, step in enumerate(steps):
            tasks.start_soon(play, index, step)
    return next((ending for ending in endings if ending is not None), None)


def _notify(turn: Turn, fields: script.Wire) -> None:
    if turn.client.takes_notices:
        # Past the session's memory: a notice is no history.
        turn.client.update(turn.session.id, {"sessionUpdate": "notice"} | turn.fill(fields))
    else:
        turn.lack("notices", f"“{fields['title']}” was not shown")


async def _compact(turn: Turn, step: script.Compact) -> None:
    if not turn.client.takes_compaction:
        turn.lack("compaction", "the context was shortened in silence")
        return
    named = {"compactionId": turn.id_of("compaction", None)}
    update = {"sessionUpdate": "compaction_update"} | named
    turn.send(update | {"status": "in_progress"})
    chunk = {"sessionUpdate": "compaction_summary_chunk"} | named
    await turn.stream_text(chunk, turn.fill(step.summary), 1, step.chunk_s)
    ending = {"status": "failed", "error": step.error} if step.error else {"status": "completed"}
    turn.send(update | ending)


def _switch_mode(turn: Turn, mode_id: str) -> None:
    turn.session.set_mode(mode_id)
    turn.send({"sessionUpdate": "current_mode_update", "currentModeId": mode_id})


def _change_config(turn: Turn, values: Mapping[str, str | bool]) -> None:
    for option_id, value in values.items():
        turn.session.set_option(option_id, value)
    options = turn.session.config_options()
    turn.send({"sessionUpdate": "config_option_update", "configOptions": options})
