"""Connections that each break one rule of version 2."""

from __future__ import annotations

from support.broken_rules.case import breaks
from support.linting import Talk, talk_of_two

TEXT = {"type": "text", "text": "how are you?"}


@breaks("A2-SHAPE-1")
def _terminal_without_an_id() -> Talk:
    talk = talk_of_two()
    talk.update("terminal_update", command="ls")
    return talk


@breaks("A2-METHOD-1")
def _asks_for_a_file() -> Talk:
    talk = talk_of_two()
    talk.request("fs/read_text_file", path="/w/a")
    return talk


@breaks("A2-UPDATE-1")
def _plan_of_version_1() -> Talk:
    talk = talk_of_two()
    talk.update("plan", entries=[])
    return talk


@breaks("A2-MSG-1")
def _chunk_without_a_message() -> Talk:
    talk = talk_of_two()
    talk.update("agent_message_chunk", content=TEXT)
    return talk


@breaks("A2-TURN-1")
def _prompt_answered_as_in_version_1() -> Talk:
    talk = talk_of_two()
    talk.answer(talk.prompt(), stopReason="end_turn")
    return talk


@breaks("A2-TURN-2")
def _prompt_that_is_not_told() -> Talk:
    talk = talk_of_two()
    talk.turn_of_two(is_echoed=False)
    return talk


@breaks("A2-STATE-1")
def _work_without_a_state() -> Talk:
    talk = talk_of_two()
    talk.turn_of_two(is_busy=False)
    return talk


@breaks("A2-STATE-2")
def _resume_without_a_state() -> Talk:
    talk = talk_of_two()
    talk.turn_of_two()
    talk.answer(talk.ask("session/resume", sessionId="s1", cwd="/w"))
    return talk


@breaks("A2-STATE-3")
def _background_work_that_nobody_knows() -> Talk:
    talk = talk_of_two()
    work = {"type": "tool_call", "toolCallId": "c"}
    talk.update("state_update", state="running", background=[work])
    return talk
