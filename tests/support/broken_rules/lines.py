"""Connections that each break one rule about lines, or about matching answers to requests."""

from __future__ import annotations

from acp_tui.rpc import Direction
from support.broken_rules.case import Case, breaks
from support.linting import Talk, talk_with_session

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
