"""Connections that each break one rule of permissions, terminals, forms, or pages."""

from __future__ import annotations

from typing import Any

from acp_tui.rpc import Direction
from support.broken_rules.case import CALL, OPTIONS, breaks
from support.linting import Talk, talk_in_turn, talk_with_session

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
