"""Connections that each break one rule about the contents of messages."""

from __future__ import annotations

from acp_tui.rpc import Direction
from acp_tui.workbench.conformance import PROBE
from support.broken_rules.case import CALL, Case, breaks
from support.linting import Talk, talk_in_turn, talk_with_session

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
