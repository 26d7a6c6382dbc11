"""Connections that each break one rule of the handshake or of what it agreed on."""

from __future__ import annotations

from acp_tui.rpc import Direction
from support.broken_rules.case import breaks
from support.linting import EVERYTHING, Talk, talk_with_session


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
