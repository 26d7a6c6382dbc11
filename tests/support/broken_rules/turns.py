"""Connections that each break one rule of turns or their tool calls."""

from __future__ import annotations

from support.broken_rules.case import CALL, breaks
from support.linting import Talk, talk_in_turn, talk_with_session

# Turns


@breaks("A-TURN-1")
def _prompt_without_an_end() -> Talk:
    talk, _ = talk_in_turn()
    talk.end()
    return talk


@breaks("A-TURN-2")
def _cancelled_as_an_error() -> Talk:
    talk, prompt = talk_in_turn()
    talk.tell("session/cancel", sessionId="s1")
    talk.refuse(prompt, -32603)
    return talk


@breaks("A-TURN-3")
def _cancelled_by_nobody() -> Talk:
    talk, prompt = talk_in_turn()
    talk.answer(prompt, stopReason="cancelled")
    return talk


@breaks("A-TURN-4")
def _straggler() -> Talk:
    talk = talk_with_session()
    talk.turn()
    talk.say("And another thing")
    return talk


@breaks("A-TURN-5")
def _failed_prompt() -> Talk:
    talk, prompt = talk_in_turn()
    talk.refuse(prompt, -32603)
    return talk


@breaks("A-TURN-6")
def _wordless() -> Talk:
    talk, prompt = talk_in_turn()
    talk.answer(prompt, stopReason="end_turn")
    return talk


@breaks("A-TURN-7")
def _late_end() -> Talk:
    talk, prompt = talk_in_turn()
    talk.tell("session/cancel", sessionId="s1")
    talk.now += 60
    talk.answer(prompt, stopReason="cancelled")
    return talk


# Tool calls


@breaks("A-TOOL-1")
def _unreported_call() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call_update", toolCallId="c1", status="in_progress")
    return talk


@breaks("A-TOOL-2")
def _back_again() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **{**CALL, "status": "completed"})
    talk.update("tool_call_update", toolCallId="c1", status="in_progress")
    return talk


@breaks("A-TOOL-3")
def _unsettled() -> Talk:
    talk, prompt = talk_in_turn()
    talk.update("tool_call", **CALL)
    talk.answer(prompt, stopReason="end_turn")
    return talk


@breaks("A-TOOL-4")
def _begun_twice() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **CALL)
    talk.update("tool_call", **CALL)
    return talk


@breaks("A-TOOL-5")
def _terminal_of_nobody() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **CALL, content=[{"type": "terminal", "terminalId": "t1"}])
    return talk
