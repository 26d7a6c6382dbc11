"""Connections that each break one rule of sessions or their options."""

from __future__ import annotations

from acp_tui.workbench.conformance import NOBODYS
from support.broken_rules.case import breaks
from support.linting import Talk, talk_of_two, talk_with_session

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
SELECT = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}


# Sessions


@breaks("A-SESS-1")
def _stranger() -> Talk:
    talk = talk_with_session()
    talk.update("session_info_update", session="other", title="T")
    return talk


@breaks("A-SESS-2")
def _update_before_the_answer() -> Talk:
    talk = Talk()
    talk.handshake()
    request_id = talk.ask("session/new", cwd="/w", mcpServers=[])
    talk.update("session_info_update", title="T")
    talk.answer(request_id, sessionId="s1")
    return talk


@breaks("A-SESS-3")
def _same_id_twice() -> Talk:
    talk = talk_with_session()
    talk.open()
    return talk


@breaks("A-SESS-4")
def _update_after_close() -> Talk:
    talk = talk_with_session()
    talk.answer(talk.ask("session/close", sessionId="s1"))
    talk.update("session_info_update", title="T")
    return talk


def _with_system_prompt(mode: str, **answer: object) -> Talk:
    talk = Talk()
    talk.handshake(capabilities={"sessionCapabilities": {"systemPrompt": {"mode": None}}})
    content = [{"type": "text", "text": "Be brief."}]
    request_id = talk.ask("session/new", cwd="/w", mcpServers=[], systemPrompt={"mode": mode, "content": content})
    if answer:
        talk.answer(request_id, **answer)
    else:
        talk.refuse(request_id, -32602)
    return talk


@breaks("A-PROMPT-1")
def _refused_system_prompt() -> Talk:
    return _with_system_prompt("append")


@breaks("A-PROMPT-2")
def _taken_in_another_mode() -> Talk:
    return _with_system_prompt("override", sessionId="s1")


def _reopening(method: str, *history: tuple[str, str]) -> Talk:
    talk = talk_with_session()
    talk.turn()
    request_id = talk.ask(method, sessionId="s1", cwd="/w", mcpServers=[])
    for kind, text in history:
        talk.say(text, kind)
    talk.answer(request_id)
    return talk


@breaks("A-SESS-5")
def _cannot_be_loaded() -> Talk:
    talk = talk_with_session()
    talk.turn()
    talk.refuse(talk.ask("session/load", sessionId="s1", cwd="/w", mcpServers=[]), -32002)
    return talk


@breaks("A-SESS-6")
def _unknown_session_is_another_error() -> Talk:
    talk = talk_with_session()
    talk.refuse(talk.ask("session/status", sessionId=NOBODYS), -32603)
    return talk


@breaks("A-SESS-6")
def _unknown_session_without_its_id() -> Talk:
    talk = talk_of_two()
    talk.refuse(talk.ask("session/status", sessionId="s9"), -32002)
    return talk


@breaks("A-LOAD-1")
def _nothing_replayed() -> Talk:
    return _reopening("session/load")


@breaks("A-LOAD-2")
def _half_replayed() -> Talk:
    return _reopening("session/load", ("user_message_chunk", "how are  you?"))


@breaks("A-LOAD-3")
def _replayed_late() -> Talk:
    talk = _reopening("session/load", ("user_message_chunk", "how are you?"), ("agent_message_chunk", "I am fine"))
    talk.say("how are you?", "user_message_chunk")
    return talk


@breaks("A-RESUME-1")
def _resume_replays() -> Talk:
    return _reopening("session/resume", ("agent_message_chunk", "I am fine"))


@breaks("A-LIST-1")
def _not_listed() -> Talk:
    talk = talk_with_session()
    talk.turn()
    talk.answer(talk.ask("session/list", cwd="/w"), sessions=[])
    return talk


@breaks("A-LIST-2")
def _page_to_itself() -> Talk:
    talk = talk_with_session()
    talk.answer(talk.ask("session/list", cursor="x"), sessions=[], nextCursor="x")
    return talk


@breaks("A-LIST-3")
def _session_of_another_folder() -> Talk:
    talk = talk_with_session()
    elsewhere = {"sessionId": "s9", "cwd": "/elsewhere"}
    talk.answer(talk.ask("session/list", cwd="/w"), sessions=[{"sessionId": "s1", "cwd": "/w/"}, elsewhere])
    return talk


@breaks("A-DEL-1")
def _deleted_and_listed() -> Talk:
    talk = talk_with_session()
    talk.answer(talk.ask("session/delete", sessionId="s1"))
    talk.answer(talk.ask("session/list"), sessions=[{"sessionId": "s1", "cwd": "/w"}])
    return talk


# Options


@breaks("A-MODE-1")
def _mode_of_no_list() -> Talk:
    talk = talk_with_session(modes=MODES)
    talk.update("current_mode_update", currentModeId="yolo")
    return talk


@breaks("A-MODE-2")
def _mode_refused() -> Talk:
    talk = talk_with_session(modes=MODES)
    talk.refuse(talk.ask("session/set_mode", sessionId="s1", modeId="ask"), -32602)
    return talk


@breaks("A-CFG-1")
def _value_of_no_list() -> Talk:
    return talk_with_session(configOptions=[{**SELECT, "currentValue": "c"}])


@breaks("A-CFG-2")
def _option_twice() -> Talk:
    return talk_with_session(configOptions=[SELECT, SELECT])


@breaks("A-CFG-3")
def _boolean_unasked() -> Talk:
    talk = Talk()
    talk.handshake({})
    talk.open(configOptions=[{"type": "boolean", "id": "b", "name": "B", "currentValue": True}])
    return talk


@breaks("A-CFG-4")
def _value_not_taken() -> Talk:
    talk = talk_with_session(configOptions=[SELECT])
    request_id = talk.ask("session/set_config_option", sessionId="s1", configId="model", value="b")
    talk.answer(request_id, configOptions=[SELECT])
    return talk


@breaks("A-CMD-1")
def _slashed_command() -> Talk:
    talk = talk_with_session()
    talk.update("available_commands_update", availableCommands=[{"name": "/x", "description": ""}])
    return talk
