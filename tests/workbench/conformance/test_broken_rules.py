"""Each rule is broken by a small connection that breaks no other rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from acp_tui.rpc import Direction
from acp_tui.workbench.conformance import NOBODYS, PROBE, RULES
from support.linting import AGENT, ALL_SESSION_METHODS, EVERYTHING, Talk, talk_in_turn, talk_of_two, talk_with_session

Case: TypeAlias = Callable[[], Talk]
CASES: list[tuple[str, Case]] = []
"""Each with the ID of the rule it breaks."""
CALL = {"toolCallId": "c1", "title": "Read", "kind": "read", "status": "pending"}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def breaks(rule_id: str) -> Callable[[Case], Case]:
    """Register a case that breaks this rule."""

    def add(case: Case) -> Case:
        CASES.append((rule_id, case))
        return case

    return add


# Lines


def _line(raw: bytes) -> Case:
    def case() -> Talk:
        talk = Talk()
        talk.line(raw)
        talk.end()
        return talk

    return case


for rule, raw in (
    ("A-LINE-1", b"Welcome to the agent!"),
    ("A-LINE-1", b"[]"),
    ("A-LINE-1", b"{not json"),
    ("A-LINE-2", b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":"\xff"}}'),
    ("A-RPC-1", b'{"method":"_x/y"}'),
    ("A-RPC-2", b'{"jsonrpc":"2.0"}'),
    ("A-RPC-2", b'{"jsonrpc":"2.0","method":5}'),
    ("A-RPC-3", b'{"jsonrpc":"2.0","id":1.5,"method":"_x/y"}'),
):
    breaks(rule)(_line(raw))


@breaks("A-LINE-3")
def _indented() -> Talk:
    talk = Talk()
    for line in ("{", '  "jsonrpc": "2.0",', '  "method": "_x/y",', '  "params": {', "  }", "}"):
        talk.line(line.encode())
    return talk


@breaks("A-LINE-3")
def _line_end_in_a_string() -> Talk:
    talk = Talk()
    talk.line(b'{"jsonrpc":"2.0","method":"_x/y","params":{"text":"one')
    talk.line(b'two"}}')
    return talk


# JSON-RPC


@breaks("A-RPC-4")
def _open_id_again() -> Talk:
    talk = talk_with_session()
    talk.request("fs/read_text_file", 7, path="/w/a")
    talk.request("fs/read_text_file", 7, path="/w/b")
    return talk


@breaks("A-RPC-5")
def _answered_twice() -> Talk:
    talk = talk_with_session()
    talk.answer(2, sessionId="s1")
    return talk


@breaks("A-RPC-5")
def _answered_as_text() -> Talk:
    talk = talk_with_session()
    talk.answer("2", sessionId="s1")
    return talk


@breaks("A-RPC-6")
def _notification_answered() -> Talk:
    talk = talk_with_session()
    talk.tell("session/cancel", sessionId="s1")
    talk.refuse(None, -32601)
    return talk


@breaks("A-RPC-7")
def _result_and_error() -> Talk:
    talk = talk_with_session()
    error = {"code": -32601, "message": "no"}
    talk.message(Direction.IN, id=talk.ask("_x/y"), result={}, error=error)
    return talk


@breaks("A-RPC-8")
def _error_without_a_code() -> Talk:
    talk = talk_with_session()
    talk.message(Direction.IN, id=talk.ask("_x/y"), error="no")
    return talk


@breaks("A-RPC-9")
def _params_in_a_list() -> Talk:
    talk = talk_with_session()
    talk.message(Direction.IN, method="x/y", params=[])
    talk.findings = [each for each in talk.findings if each.rule.rule_id != "A-EXT-3"]
    return talk


@breaks("A-RPC-10")
def _never_answered() -> Talk:
    talk = talk_with_session()
    talk.ask("session/list")
    talk.end()
    return talk


# The handshake


@breaks("A-INIT-1")
def _too_early() -> Talk:
    talk = Talk()
    talk.ask("initialize", protocolVersion=1)
    talk.message(Direction.IN, method="_x/hello")
    return talk


@breaks("A-INIT-2")
def _newer_version() -> Talk:
    talk = Talk()
    talk.handshake(protocolVersion=2)
    return talk


@breaks("A-INIT-3")
def _nameless() -> Talk:
    talk = Talk()
    talk.handshake(agentInfo=None)
    return talk


@breaks("A-CAP-1")
def _file_not_offered() -> Talk:
    talk = Talk()
    talk.handshake({**EVERYTHING, "fs": {"readTextFile": True, "writeTextFile": False}})
    talk.open()
    talk.request("fs/write_text_file", path="/w/a", content="")
    return talk


@breaks("A-CAP-2")
def _empty_promise() -> Talk:
    talk = talk_with_session()
    talk.refuse(talk.ask("session/list"), -32601)
    return talk


@breaks("A-CAP-3")
def _hidden_method() -> Talk:
    talk = Talk()
    talk.handshake(capabilities={})
    talk.answer(talk.ask("session/list"), sessions=[])
    return talk


@breaks("A-CAP-4")
def _notice_unasked() -> Talk:
    talk = Talk()
    talk.handshake({})
    talk.open()
    talk.update("notice", severity="info", title="T")
    return talk


@breaks("A-AUTH-1")
def _same_login_twice() -> Talk:
    talk = Talk()
    talk.handshake(authMethods=[{"id": "a", "name": "A"}, {"id": "a", "name": "B"}])
    return talk


@breaks("A-AUTH-2")
def _login_without_a_way() -> Talk:
    talk = Talk()
    talk.handshake()
    talk.refuse(talk.ask("session/new", cwd="/w", mcpServers=[]), -32000)
    return talk


@breaks("A-AUTH-3")
def _login_in_a_terminal_that_is_not_there() -> Talk:
    talk = Talk()
    talk.handshake(authMethods=[{"id": "a", "name": "A", "type": "terminal"}])
    return talk


@breaks("A-AUTH-4")
def _login_needed_to_ask_for_it() -> Talk:
    talk = Talk()
    talk.handshake(authMethods=[{"id": "key", "name": "Key"}])
    talk.refuse(talk.ask("auth/status"), -32000)
    return talk


# Messages


@breaks("A-SHAPE-1")
def _required_field_missing() -> Talk:
    talk = talk_with_session()
    talk.update("session_info_update", title=5)
    return talk


@breaks("A-SHAPE-1")
def _bare_block_in_a_tool_call() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **CALL, content=[{"type": "text", "text": "x"}])
    return talk


@breaks("A-SHAPE-2")
def _null_result() -> Talk:
    talk = talk_with_session()
    talk.message(Direction.IN, id=talk.ask("session/close", sessionId="s1"), result=None)
    return talk


@breaks("A-SHAPE-3")
def _unknown_words() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **{**CALL, "kind": "dance"})
    talk.update("song")
    return talk


@breaks("A-EXT-1")
def _own_key() -> Talk:
    talk = talk_with_session()
    talk.update("session_info_update", title="T", color="red")
    return talk


@breaks("A-EXT-2")
def _draft() -> Talk:
    return talk_with_session(models={"currentModelId": "m", "availableModels": []}, usage=None)


@breaks("A-EXT-3")
def _own_method() -> Talk:
    talk = talk_with_session()
    talk.request("mine/do")
    return talk


@breaks("A-EXT-4")
def _unknown_method_answered() -> Talk:
    talk = talk_with_session()
    talk.answer(talk.ask(PROBE))
    return talk


@breaks("A-EXT-5")
def _silent_after_unknown_notification() -> Talk:
    talk = talk_with_session()
    talk.tell(PROBE)
    talk.end()
    return talk


# Values


@breaks("A-PATH-1")
def _relative_path() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **CALL, locations=[{"path": "a.py"}])
    return talk


@breaks("A-USAGE-1")
def _too_much_used() -> Talk:
    talk = talk_with_session()
    talk.update("usage_update", used=11, size=10)
    return talk


def _sending(block: dict[str, object]) -> Case:
    def case() -> Talk:
        talk, _ = talk_in_turn()
        talk.update("agent_message_chunk", content=block)
        return talk

    return case


for data in ("data:image/png;base64,iVBORw0KGgo=", "iVBORw0KGgo", "iVBO_w0KGgo="):
    breaks("A-CONT-1")(_sending({"type": "image", "mimeType": "image/png", "data": data}))
breaks("A-CONT-1")(_sending({"type": "resource", "resource": {"uri": "file:///a", "blob": "no bytes"}}))


# Sessions

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
SELECT = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}


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


# Permissions


def _asking(options: Any = OPTIONS, call: Any = CALL, *, is_reported: bool = True) -> Talk:
    talk, _ = talk_in_turn()
    if is_reported:
        talk.update("tool_call", **CALL)
    talk.request("session/request_permission", toolCall=call, options=options)
    return talk


@breaks("A-PERM-1")
def _asked_after_cancel() -> Talk:
    talk, _ = talk_in_turn()
    talk.update("tool_call", **CALL)
    talk.tell("session/cancel", sessionId="s1")
    talk.now += 5
    talk.request("session/request_permission", toolCall=CALL, options=OPTIONS)
    return talk


@breaks("A-PERM-2")
def _same_option_twice() -> Talk:
    return _asking([*OPTIONS, OPTIONS[0]])


@breaks("A-PERM-3")
def _no_way_to_reject() -> Talk:
    return _asking(OPTIONS[:1])


@breaks("A-PERM-4")
def _no_options() -> Talk:
    return _asking([])


@breaks("A-PERM-5")
def _asked_first() -> Talk:
    return _asking(is_reported=False)


@breaks("A-PERM-6")
def _asked_for_an_id() -> Talk:
    talk = _asking(call={"toolCallId": "c1"}, is_reported=False)
    talk.findings = [each for each in talk.findings if each.rule.rule_id != "A-PERM-5"]
    return talk


@breaks("A-PERM-7")
def _asked_out_of_turn() -> Talk:
    talk, prompt = talk_in_turn()
    talk.update("tool_call", **{**CALL, "status": "completed"})
    talk.answer(prompt, stopReason="end_turn")
    talk.request("session/request_permission", toolCall={"toolCallId": "c1"}, options=OPTIONS)
    return talk


@breaks("A-PERM-8")
def _done_all_the_same() -> Talk:
    talk = _asking()
    talk.reply(900, outcome={"outcome": "selected", "optionId": "no"})
    talk.update("tool_call_update", toolCallId="c1", status="completed")
    return talk


# Terminals


def _with_terminal() -> Talk:
    talk, _ = talk_in_turn()
    talk.request("terminal/create", command="ls")
    talk.reply(900, terminalId="t1")
    return talk


@breaks("A-TERM-1")
def _never_released() -> Talk:
    talk = _with_terminal()
    talk.answer(3, stopReason="refusal")
    talk.end()
    return talk


@breaks("A-TERM-2")
def _used_after_release() -> Talk:
    talk = _with_terminal()
    talk.request("terminal/release", 901, terminalId="t1")
    talk.request("terminal/output", 902, terminalId="t1")
    return talk


@breaks("A-TERM-3")
def _shell_line_as_a_program() -> Talk:
    talk, _ = talk_in_turn()
    talk.request("terminal/create", command="make test")
    return talk


# Forms and pages


def _form(properties: Any, **schema: Any) -> Talk:
    talk = talk_with_session()
    form = {"type": "object", "properties": properties, **schema}
    talk.request("elicitation/create", mode="form", message="?", requestedSchema=form)
    return talk


@breaks("A-ELIC-1")
def _nested_form() -> Talk:
    talk = _form({"a": {"type": "object"}})
    talk.findings = [each for each in talk.findings if each.rule.rule_id != "A-SHAPE-3"]
    return talk


@breaks("A-ELIC-2")
def _required_and_missing() -> Talk:
    return _form({"a": {"type": "string"}}, required=["b"])


@breaks("A-ELIC-2")
def _default_of_no_choice() -> Talk:
    return _form({"a": {"type": "string", "enum": ["x"], "default": "y"}})


@breaks("A-ELIC-3")
def _page_of_nobody() -> Talk:
    talk = talk_with_session()
    talk.message(Direction.IN, method="elicitation/complete", params={"elicitationId": "e"})
    return talk


@breaks("A-ELIC-4")
def _page_on_disk() -> Talk:
    talk = talk_with_session()
    page = {"mode": "url", "message": "?", "elicitationId": "e", "url": "file:///etc/passwd"}
    talk.request("elicitation/create", **page)
    return talk


# Drafts


def _with_provider(**fields: Any) -> tuple[Talk, dict[str, Any]]:
    provider = {
        "providerId": "main",
        "supported": ["anthropic"],
        "required": False,
        "current": {"apiType": "anthropic", "baseUrl": "https://a"},
        **fields,
    }
    talk = Talk()
    talk.handshake(capabilities={**ALL_SESSION_METHODS, "providers": {}})
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk, provider


@breaks("A-PROV-1")
def _still_there_after_it_was_disabled() -> Talk:
    talk, provider = _with_provider()
    talk.answer(talk.ask("providers/disable", providerId="main"))
    talk.answer(talk.ask("providers/list"), providers=[provider])
    return talk


@breaks("A-PROV-2")
def _disabled_although_required() -> Talk:
    talk, _ = _with_provider(required=True)
    talk.answer(talk.ask("providers/disable", providerId="main"))
    return talk


GIVEN = {"type": "acp", "name": "tools", "serverId": "t"}


def _with_server() -> Talk:
    talk = Talk()
    talk.handshake(capabilities={**ALL_SESSION_METHODS, "mcpCapabilities": {"acp": True}})
    talk.answer(talk.ask("session/new", cwd="/w", mcpServers=[GIVEN]), sessionId="s1")
    return talk


def _asks(talk: Talk, request_id: str, **params: str) -> None:
    asked = {"serverId": "t", "requestId": "r", "method": "tools/list", **params}
    talk.message(Direction.IN, id=request_id, method="mcp/message", params=asked)


@breaks("A-MCP-1")
def _a_server_that_it_was_not_given() -> Talk:
    talk = _with_server()
    _asks(talk, "a", serverId="another")
    talk.reply("a", result={})
    return talk


@breaks("A-MCP-2")
def _an_id_that_is_under_way() -> Talk:
    talk = _with_server()
    _asks(talk, "a")
    talk.reply("a", result={})
    _asks(talk, "b")
    _asks(talk, "c")
    talk.reply("b", result={})
    talk.reply("c", result={})
    return talk


@breaks("A2-MCP-1")
def _an_unknown_kind_of_server_taken() -> Talk:
    talk = Talk()
    talk.handshake_of_two()
    servers = [{"type": "_acp-tui.check", "name": "check"}]
    talk.answer(talk.ask("session/new", cwd="/w", mcpServers=servers), sessionId="s1")
    return talk


# Version 2

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


# Proxies

ASKED = {"protocolVersion": 1, "clientCapabilities": {}}


def _agreed(version: int = 1) -> dict[str, Any]:
    return {"protocolVersion": version, "agentInfo": AGENT, "agentCapabilities": {}}


@breaks("A-PROXY-1")
def _answers_alone() -> Talk:
    talk = Talk()
    talk.answer(talk.ask("proxy/initialize", **ASKED), **_agreed())
    return talk


@breaks("A-PROXY-2")
def _another_version() -> Talk:
    talk = Talk()
    asked = talk.ask("proxy/initialize", **ASKED)
    talk.message(Direction.IN, id="on", method="proxy/successor", params={"method": "initialize", "params": ASKED})
    talk.reply("on", **_agreed())
    talk.answer(asked, **_agreed(2))
    return talk


@breaks("A-PROXY-3")
def _wraps_text() -> Talk:
    talk = Talk()
    talk.ask("proxy/initialize", **ASKED)
    talk.message(Direction.IN, method="proxy/successor", params={"method": "session/cancel", "params": "s1"})
    return talk


# The tests


@pytest.mark.parametrize(("rule_id", "case"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_only_the_rule_that_is_broken_is_named(rule_id: str, case: Case) -> None:
    talk = case()
    assert talk.broken == {rule_id}, [finding.text for finding in talk.findings]
    assert rule_id in talk.linter.looked_at


def test_every_rule_of_the_frames_is_broken_by_one_of_these() -> None:
    of_the_frames = {rule_id for rule_id in RULES if not rule_id.startswith("A-END-")}
    assert {rule_id for rule_id, _ in CASES} == of_the_frames
