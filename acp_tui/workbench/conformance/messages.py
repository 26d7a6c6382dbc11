"""Rules about the contents of messages, according to the schema, and about names; not about when they're allowed.

`ValueCheck` has what no schema can express: paths, numbers, binary data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, get_args, get_type_hints

from pydantic_core import ValidationError

from acp_tui.protocol.connection import MCP_MESSAGE
from acp_tui.protocol.v1 import agent_requests, initialize, session, updates
from acp_tui.protocol.v1.agent_requests import PermissionOption
from acp_tui.protocol.v1.content import Annotations, ToolCallFields
from acp_tui.protocol.v1.session import PromptResponse
from acp_tui.protocol.v1.updates import CompactionUpdate, Notice, PlanEntry
from acp_tui.protocol.validators import OTHER, OpenUnion, Tag, keys_of, reader_of
from acp_tui.protocol.wire import Raw, WireModel, describe
from acp_tui.workbench.conformance.connection_state import Check, Scene, as_list, as_object, objects
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

PROBE: Final = "_acp-tui.check/unknown"
"""A method no agent has.

The reaction to it as a request and as a notification shows how unknown methods are handled.
"""

REQUESTS: Final[dict[str, Any]] = {
    "session/request_permission": agent_requests.RequestPermissionRequest,
    "fs/read_text_file": agent_requests.ReadTextFileRequest,
    "fs/write_text_file": agent_requests.WriteTextFileRequest,
    "terminal/create": agent_requests.CreateTerminalRequest,
    "terminal/output": agent_requests.TerminalRequest,
    "terminal/wait_for_exit": agent_requests.TerminalRequest,
    "terminal/kill": agent_requests.TerminalRequest,
    "terminal/release": agent_requests.TerminalRequest,
    "elicitation/create": agent_requests.CreateElicitationRequest,
    MCP_MESSAGE: agent_requests.MessageMcpRequest,
}
NOTIFICATIONS: Final[dict[str, Any]] = {
    "session/update": updates.SessionNotification,
    "elicitation/complete": agent_requests.CompleteElicitationNotification,
    "$/cancel_request": session.CancelRequestNotification,
}
RESULTS: Final[dict[str, Any]] = {
    "initialize": initialize.InitializeResponse,
    "authenticate": WireModel,
    "logout": WireModel,
    "auth/status": initialize.AuthStatusResponse,
    "providers/list": initialize.ListProvidersResponse,
    "session/new": session.NewSessionResponse,
    "session/load": session.SessionSetup,
    "session/resume": session.SessionSetup,
    "session/list": session.ListSessionsResponse,
    "session/status": session.SessionStatusResponse,
    "session/delete": WireModel,
    "session/close": WireModel,
    "session/prompt": session.PromptResponse,
    "session/set_mode": WireModel,
    "session/set_config_option": session.SetSessionConfigOptionResponse,
}
DRAFT_METHODS: Final = ("mcp/", "auth/", "proxy/", "nes/", "document/", "providers/", "session/")


class MessageCheck(Check):
    """Checks each message from the agent on its own."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._probed_in: int | None = None

    def see(self, event: Event) -> None:
        if not event.is_agents:
            if isinstance(event, SeenNotification) and event.method == PROBE:
                self._probed_in = event.index
            return
        match event:
            case SeenRequest(method=method, params=params):
                self._check(method, REQUESTS, params)
            case SeenNotification(method=method, params=params):
                self._check(method, NOTIFICATIONS, params)
            case SeenResponse():
                self._look_at_answer(event)

    def finish(self) -> None:
        """End the connection. An agent harmed by an unknown notification no longer says anything."""
        if self._probed_in is not None:
            self._judge("A-EXT-5", False, "the agent answered nothing after an unknown notification", self._probed_in)

    def _check(self, method: str, known: dict[str, Any], params: dict[str, Any]) -> None:
        if method in known:
            self._judge("A-EXT-3", True, "")
            self._look_into(method, known[method], params)
        elif not method.startswith("_"):
            is_draft = method.startswith(DRAFT_METHODS)
            self._judge("A-EXT-2" if is_draft else "A-EXT-3", False, f"it sent {shown(method)}")

    def _look_at_answer(self, answer: SeenResponse) -> None:
        method = answer.request.method
        if method == PROBE:
            given = answer.result if answer.error is None else answer.error
            text = f"an unknown method was answered with {shown(given)}"
            self._judge("A-EXT-4", answer.code == -32601, text, answer.request.index)
        if self._probed_in is not None and answer.request.index > self._probed_in:
            self._judge("A-EXT-5", True, "")
            self._probed_in = None
        if answer.error is not None or method not in RESULTS:
            return
        if answer.result is None:
            what = f"the result of {answer.request.method} is null"
            _, flaw = read(RESULTS[answer.request.method], {})
            self._judge("A-SHAPE-1" if flaw else "A-SHAPE-2", False, what, answer.request.index)
            return
        self._look_into(f"the result of {method}", RESULTS[method], answer.result)

    def _look_into(self, what: str, model: Any, raw: Any) -> None:
        value, flaw = read(model, raw)
        self._judge("A-SHAPE-1", not flaw, f"{what}: {flaw}")
        if flaw:
            return
        keys = list(own_keys(value, raw))
        drafts = [key for key in keys if key.rsplit(".", 1)[-1] in UNSTABLE_KEYS]
        own = [key for key in keys if key not in drafts]
        strange = list(strange_values(value, raw))
        self._judge("A-EXT-2", not drafts, f"{what} has {', '.join(drafts[:5])}")
        self._judge("A-EXT-1", not own, f"{what} has {', '.join(own[:5])}")
        self._judge("A-SHAPE-3", not strange, f"{what} has {', '.join(strange[:3])}")


_STATUSES: Final = frozenset({"pending", "in_progress", "completed", "failed"})
_KINDS: Final = "read edit delete move search execute think fetch switch_mode other"
KNOWN_VALUES: Final[dict[type[WireModel], dict[str, frozenset[str]]]] = {
    ToolCallFields: {"status": _STATUSES, "kind": frozenset(_KINDS.split())},
    PlanEntry: {"priority": frozenset({"high", "medium", "low"}), "status": _STATUSES - {"failed"}},
    PermissionOption: {"kind": frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})},
    PromptResponse: {"stop_reason": frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})},
    Notice: {"severity": frozenset({"info", "warning", "error", "other"})},
    Annotations: {"audience": frozenset({"assistant", "user"})},
    CompactionUpdate: {"status": frozenset({"in_progress", "completed", "failed", "cancelled", "other"})},
}
"""The values version 1 defines for fields where clients accept any."""

UNSTABLE_KEYS: Final = frozenset(
    {"models", "usage", "fork", "archive", "archived", "status", "setTitle", "acp"}
    | {"nes", "providers", "subagents", "positionEncoding", "userMessageId", "title"}
)
"""Keys of drafts and removed features, which are told apart from an agent's own keys."""


def read(kind: Any, value: Any) -> tuple[Any, str]:
    """Read a wire type strictly. Returns the value and "", or None and what is invalid."""
    try:
        return reader_of(kind, exact=True).validate_python(value), ""
    except ValidationError as error:
        return None, describe(error)


# Well-formed but unusual


def own_keys(value: Any, raw: Any) -> Iterator[str]:
    """Yield where the raw JSON of a strict value has unknown keys, outside of `_meta`."""
    for model, part, where in _models(value, raw, ""):
        known = keys_of(type(model)).values()
        yield from (f"{where}{key}" for key in part if key not in known)


def strange_values(value: Any, raw: Any) -> Iterator[str]:
    """Yield where a strict value has values unknown to version 1, such as a new kind of tool call."""
    for model, _, where in _models(value, raw, ""):
        for name, known in _known_values(type(model)):
            words = getattr(model, name)
            for word in words if isinstance(words, list) else [words]:
                if isinstance(word, str) and word not in known:
                    yield f"{where}{name}: {word}"
        for name in _open_unions(type(model)):
            for member in _members(getattr(model, name)):
                if isinstance(member, dict):
                    yield f"{where}{name}: {member.get('sessionUpdate', member.get('type'))}"


def _models(value: Any, raw: Any, path: str) -> Iterator[tuple[WireModel, dict[str, Any], str]]:
    """Yield every model in a value, with its raw JSON and its path."""
    if isinstance(value, WireModel) and isinstance(raw, dict):
        yield value, raw, path
        for name, key in _names(type(value)):
            if key in raw:
                yield from _models(getattr(value, name), raw[key], f"{path}{key}.")
    elif isinstance(value, list) and isinstance(raw, list):
        for index, (item, part) in enumerate(zip(value, raw, strict=False)):
            yield from _models(item, part, f"{path}{index}.")
    elif isinstance(value, dict) and isinstance(raw, dict):
        for key, item in value.items():
            if isinstance(item, WireModel):
                yield from _models(item, raw.get(key), f"{path}{key}.")


@cache
def _names(model: type[WireModel]) -> tuple[tuple[str, str], ...]:
    """Return the fields with their keys, without those that hold any JSON."""
    kinds = get_type_hints(model, include_extras=True)
    return tuple((name, key) for name, key in keys_of(model).items() if kinds[name] != Raw and name != "meta")


@cache
def _known_values(model: type[WireModel]) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(item for kind, values in KNOWN_VALUES.items() if issubclass(model, kind) for item in values.items())


@cache
def _open_unions(model: type[WireModel]) -> tuple[str, ...]:
    """Return the fields where an unknown variant stays a dict."""
    return tuple(name for name, kind in get_type_hints(model, include_extras=True).items() if _is_open(kind))


def _is_open(kind: Any) -> bool:
    if any(isinstance(each, OpenUnion) or (isinstance(each, Tag) and each.tag == OTHER) for each in get_args(kind)):
        return True
    return any(_is_open(part) for part in get_args(kind))


def _members(value: Any) -> list[Any]:
    """Return the items of a list or of a mapping (a form's fields), or the value itself."""
    if isinstance(value, list):
        return value
    is_mapping = isinstance(value, dict) and not isinstance(value.get("type", value.get("sessionUpdate")), str)
    return list(value.values()) if is_mapping else [value]


_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_LOOKED_AT: Final = 4096
"""Characters at the beginning and at the end; a picture has millions."""
_WITH_PATH: Final = ("fs/read_text_file", "fs/write_text_file")


class ValueCheck(Check):
    def see(self, event: Event) -> None:
        if not event.is_agents:
            return
        match event:
            case SeenRequest(method=method, params=params) if method in _WITH_PATH:
                self._look_at_path(params.get("path"))
            case SeenRequest(method="terminal/create", params=params):
                self._look_at_path(params.get("cwd"))
            case SeenRequest(method="session/request_permission", params=params):
                self._look_at_call(as_object(params.get("toolCall")))
            case SeenNotification(method="session/update", params=params):
                self._look_at_update(as_object(params.get("update")))
            case SeenResponse(request=request, result=result) if request.method == "session/list":
                for item in objects(as_object(result).get("sessions")):
                    self._look_at_path(item.get("cwd"))
                    for directory in as_list(item.get("additionalDirectories")):
                        self._look_at_path(directory)

    def _look_at_update(self, update: dict[str, Any]) -> None:
        match update.get("sessionUpdate"):
            case "tool_call" | "tool_call_update":
                self._look_at_call(update)
                for part in objects(update.get("content")):
                    self._look_at_block(as_object(part.get("content")))
            case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
                self._look_at_block(as_object(update.get("content")))
            case "usage_update":
                used, size = update.get("used"), update.get("size")
                if type(used) is int and type(size) is int and size > 0:
                    self._judge("A-USAGE-1", used <= size, f"{used:,} of {size:,} tokens are used")

    def _look_at_call(self, call: dict[str, Any]) -> None:
        for part in (*objects(call.get("locations")), *objects(call.get("content"))):
            self._look_at_path(part.get("path"))

    def _look_at_block(self, block: dict[str, Any]) -> None:
        data = block.get("data") if block.get("type") in ("image", "audio") else None
        if block.get("type") == "resource":
            data = as_object(block.get("resource")).get("blob")
        if isinstance(data, str):
            self._judge("A-CONT-1", _is_base64(data), f"the data of {block['type']} starts with {shown(data[:30])}")

    def _look_at_path(self, path: Any) -> None:
        if isinstance(path, str):
            self._judge("A-PATH-1", _ABSOLUTE.match(path) is not None, f"a path is {shown(path)}")


def _is_base64(data: str) -> bool:
    is_begun = _BASE64.fullmatch(data[:_LOOKED_AT]) is not None
    return is_begun and _BASE64.fullmatch(data[-_LOOKED_AT:]) is not None and len(data) % 4 == 0
