"""Every frame a client of ours sent or received in a test, and violations among those it sent.

It sees each Peer in this process whose handler is the client's connection; other processes are out of reach. `Conduct`
decides what is a violation.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import RequestKey
from acp_tui.protocol.connection import Connection
from acp_tui.rpc import Direction, Peer, Tap
from support import schema

TESTS: Final = str(Path(__file__).parents[1])
ASKS: Final = ("ask_permission", "Client.answer")
"""Where a user's answer may come from if not from Textual's keys: plain mode's terminal, a host's client."""
CARDS: Final = ("SessionPanel.answer_request", "_User.answer_request")
"""Where the answer of a card comes from."""


# What it sees


@dataclass(frozen=True, slots=True)
class Chosen:
    """The user chose an option of a permission request. Among a wire's events, it comes before its answer."""

    option_id: str


@dataclass(eq=False)
class Wire:
    """One connection of a client, with its events in order."""

    handler: Connection
    events: list[tuple[Direction, bytes] | Chosen] = field(default_factory=list)

    def teed(self, tap: Tap | None) -> Tap:
        """A tap that stores each frame and passes it on."""

        def keep(direction: Direction, frame: bytes) -> None:
            self.events.append((direction, frame))
            if tap is not None:
                tap(direction, frame)

        return keep


class FrameLog:
    """The wires of the current test."""

    def __init__(self) -> None:
        self.wires: list[Wire] = []
        self.unlicensed: list[str] = []
        self._judged = 0

    def begin(self) -> None:
        """Forget the previous test."""
        self.wires, self.unlicensed, self._judged = [], [], 0

    def violations(self) -> list[str]:
        """The violations since `begin`, reported once."""
        seen = sum(len(wire.events) for wire in self.wires) + len(self.unlicensed)
        if seen == self._judged:
            return []
        self._judged = seen
        return [*self.unlicensed, *(text for wire in self.wires for text in judge(wire))]

    def open_wire(self, handler: Any, tap: Tap | None) -> Tap | None:
        """The tap for a new peer with this handler."""
        if not isinstance(handler, Connection):
            return tap
        self.wires.append(Wire(handler))
        return self.wires[-1].teed(tap)

    def choose(self, session: Session, key: RequestKey, option_id: str) -> None:
        """Note the user's choice for a session, and who vouches that it is the user's."""
        request = session.conversation.permissions.get(key)
        option = next((o for o in request.options if o.option_id == option_id), None) if request else None
        if option is None:
            return
        if not option.is_rejection and not _is_the_users():
            self.unlicensed.append(f"{option.name!r} was chosen no key, a click or the test itself")
        for wire in self.wires:
            if wire.handler.peer is getattr(session.connection, "peer", None):
                wire.events.append(Chosen(option_id))

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch all peers and choices from now on."""
        open_peer, answer = Peer.__init__, Session.answer_permission

        def init(peer: Peer, stream: Any, handler: Any, *, tap: Tap | None = None, **options: Any) -> None:
            open_peer(peer, stream, handler, tap=self.open_wire(handler, tap), **options)

        def answer_permission(session: Session, key: RequestKey, option_id: str) -> None:
            self.choose(session, key, option_id)
            answer(session, key, option_id)

        patch.setattr(Peer, "__init__", init)
        patch.setattr(Session, "answer_permission", answer_permission)


# Whose choice it is


def _is_the_users() -> bool:
    """Whether the test said so itself, the terminal was asked, or a card answered while it handled a key or a click.

    A host passes on what one of its clients answered; that client's own wire is judged.
    """
    caller = sys._getframe(3)
    if caller.f_code.co_filename.startswith(TESTS) or caller.f_code.co_qualname in ASKS:
        return True
    if caller.f_code.co_qualname not in CARDS:
        return False
    from textual import events

    return any(isinstance(value, events.Key | events.Click) for value in _locals_of_callers())


def _locals_of_callers() -> Iterator[Any]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield from list(frame.f_locals.values())
        frame = frame.f_back


# Violations


def judge(wire: Wire) -> list[str]:
    """What the client sent on this wire although it wasn't allowed to."""
    conduct = Conduct()
    for event in wire.events:
        if isinstance(event, Chosen):
            conduct.chosen[event.option_id] += 1
        elif event[0] is Direction.OUT:
            conduct.sent(json.loads(event[1]))
        elif (message := _received(event[1])) is not None:
            conduct.received(message)
    return conduct.violations


def _received(frame: bytes) -> dict[str, Any] | None:
    """The agent's message; None if it opens no gate, like nearly all updates, or is junk."""
    if b'"session/update"' in frame and b"config_option_update" not in frame and b'"id"' not in frame:
        return None
    try:
        message = json.loads(frame.decode("utf-8-sig", "replace"))
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


# What a client may send, and when


PROVIDERS: Final = ("providers/list", "providers/set", "providers/disable")
EXEMPT_METHODS: Final = {
    **dict.fromkeys(
        ("session/set_title", "session/archive", "session/unarchive", "session/status", "auth/status", *PROVIDERS),
        "drafts that agents ship; the stable schema has none",
    ),
    "mcp/message": "a draft; the stable schema has none",
    "session/set_model": "removed from the protocol and still answered by many agents; the schema has none (R-OLD-1)",
}
"""Methods without a definition. Those that begin with "_" are extensions, which the schema leaves open (R-EXT-1)."""

ALLOWED_EARLY: Final = {
    "$/cancel_request": "a handshake that the user gives up is canceled like any other request (R-INIT-10)",
}
"""What may be sent before the handshake is answered."""

GATES: Final[dict[str, tuple[str, ...]]] = {
    "session/load": ("loadSession",),
    "session/resume": ("sessionCapabilities", "resume"),
    "session/list": ("sessionCapabilities", "list"),
    "session/delete": ("sessionCapabilities", "delete"),
    "session/close": ("sessionCapabilities", "close"),
    "session/fork": ("sessionCapabilities", "fork"),
    "session/set_title": ("sessionCapabilities", "title"),
    "session/archive": ("sessionCapabilities", "archive"),
    "session/unarchive": ("sessionCapabilities", "archive"),
    "session/status": ("sessionCapabilities", "status"),
    "auth/status": ("auth", "status"),
    "logout": ("auth", "logout"),
    **dict.fromkeys(PROVIDERS, ("providers",)),
}
"""The client's requests, and the agent's capability that allows each."""

OFFERS: Final[dict[str, tuple[str, ...]]] = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    **{f"terminal/{name}": ("terminal",) for name in ("create", "output", "wait_for_exit", "kill", "release")},
}
"""The agent's requests, and the client's capability required to serve each."""

DRAFTS: Final = frozenset({"subagents", "plan"})
"""What the client offers beyond the version 1 schema; it is in the unstable one."""

BLOCK_GATES: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


def _has(capabilities: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        capabilities = capabilities.get(key) if isinstance(capabilities, dict) else None
    return capabilities is True or isinstance(capabilities, dict)


def _key(request_id: Any) -> tuple[type, Any]:
    """An ID with its type: 1 and "1" differ."""
    return type(request_id), request_id


def _without_drafts(params: dict[str, Any]) -> dict[str, Any]:
    offer, servers = params.get("clientCapabilities"), params.get("mcpServers")
    if isinstance(offer, dict):
        kept = {name: value for name, value in offer.items() if name not in DRAFTS}
        return {**params, "clientCapabilities": kept}
    if isinstance(servers, list):
        return {**params, "mcpServers": [server for server in servers if server.get("type") != "acp"]}
    return params


def _flaw_of_system_prompt(params: dict[str, Any], session: Any) -> str | None:
    prompt = params.get("systemPrompt")
    if prompt is None or prompt["mode"].startswith("_"):  # `check` tries a mode that there isn't
        return None
    gate = ("systemPrompt",) if prompt["mode"] == "append" else ("systemPrompt", "mode", prompt["mode"])
    return None if _has(session, gate) else f"the agent takes no system prompt to {prompt['mode']}"


class Conduct:
    """Follows one connection and notes what the client wasn't allowed to send when it sent it."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.chosen: Counter[str] = Counter()
        self._offer: Any = {}
        self._agent: dict[str, Any] | None = None
        self._version = 1
        self._auth_methods: dict[str, Any] = {}
        self._has_begun = False
        self._asked: dict[Any, dict[str, Any]] = {}
        self._to_answer: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        self._choices: defaultdict[str, dict[str, set[Any]]] = defaultdict(dict)
        self._prompting: set[str] = set()

    def _note(self, what: str, message: dict[str, Any]) -> None:
        self.violations.append(f"{what}: {json.dumps(message)[:400]}")

    # From the client

    def sent(self, message: dict[str, Any]) -> None:
        """Judge a frame from the client."""
        extra = set(message) - {"jsonrpc", "id", "method", "params", "result", "error"}
        if message.get("jsonrpc") != "2.0" or extra:
            self._note("not an envelope of JSON-RPC 2.0 (R-RPC-1, R-RPC-9)", message)
        if "method" not in message:
            self._sent_answer(message)
            return
        shape: schema.Shape = "Request" if "id" in message else "Notification"
        self._check(message, message["method"], "agent", shape, message.get("params"))
        self._check_order(message)
        if "id" in message:
            self._asked[message["id"]] = message
            self._check_gate(message)

    def _check(self, message: dict[str, Any], method: str, side: schema.Side, shape: schema.Shape, value: Any) -> None:
        if not schema.definitions() or method.startswith("_") or method in EXEMPT_METHODS:
            return
        if method == "initialize" and side == "agent" and shape == "Request":
            value = _without_drafts(value)
            if value.get("protocolVersion") == 2:
                self._check_initialize(message, value)
                return
        if method in ("session/new", "session/load", "session/resume") and self._version == 1 and side == "agent":
            value = _without_drafts(value)
        name = schema.definition_for(method, side, shape, self._version)
        if name is None:
            self._note(f"the protocol has no such {shape.lower()}", message)
            return
        for flaw in schema.flaws(name, value, self._version):
            self._note(f"not a {name}, {flaw}", message)

    def _check_initialize(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        """It has the shape of every version: each is valid without the other's fields."""
        others = {1: {"info", "capabilities"}, 2: {"clientInfo", "clientCapabilities"}}
        for version, left_out in others.items():
            own = {key: value for key, value in params.items() if key not in left_out}
            for flaw in schema.flaws("InitializeRequest", own, version):
                self._note(f"not an InitializeRequest of version {version}, {flaw}", message)

    def _check_order(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == "initialize":
            if self._has_begun:
                self._note("initialize isn't the first message (R-INIT-1)", message)
            self._offer = message["params"].get("clientCapabilities")
        elif self._agent is None and method not in ALLOWED_EARLY:
            self._note("sent before initialize was answered (R-INIT-1)", message)
        self._has_begun = True

    def _check_gate(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message["params"]
        if self._version == 2:
            self._check_gate_v2(message, method, params)
            return
        if method in GATES and not _has(self._agent, GATES[method]):
            self._note("the agent doesn't offer it (R-INIT-5, R-INIT-7)", message)
        check: dict[str, Callable[[dict[str, Any]], str | None]] = {
            "authenticate": self._check_authenticate,
            "session/prompt": self._check_prompt,
            "session/set_mode": lambda params: self._check_choice(params, "mode"),
            "session/set_model": lambda params: self._check_choice(params, "model"),
            "session/set_config_option": lambda params: self._check_choice(params, "config"),
            **dict.fromkeys(("session/new", "session/load", "session/resume", "session/fork"), self._check_setup),
        }
        if method in check and (flaw := check[method](params)) is not None:
            self._note(flaw, message)

    def _check_gate_v2(self, message: dict[str, Any], method: str, params: dict[str, Any]) -> None:
        session = (self._agent or {}).get("session")
        if method == "session/status" and not _has(session, ("status",)):
            self._note("the agent doesn't offer it (R2-LIFE)", message)
        if method == "auth/status" and not _has(self._agent, ("auth", "status")):
            self._note("the agent doesn't offer it (R2-AUTH)", message)
        if method == "session/delete" and not _has(session, ("delete",)):
            self._note("the agent doesn't offer it (R2-LIFE)", message)
        if method in PROVIDERS and not _has(self._agent, GATES[method]):
            self._note("the agent doesn't offer it", message)
        if method == "auth/login" and self._check_authenticate(params) is not None:
            self._note("no method that the agent performs itself (R2-AUTH)", message)
        if method == "session/prompt":
            kinds = {block["type"] for block in params["prompt"]} & BLOCK_GATES.keys()
            if any(not _has(session, ("prompt", BLOCK_GATES[kind])) for kind in kinds):
                self._note("the agent doesn't take this kind of content (R2-INIT)", message)
        if method == "session/set_config_option" and self._check_choice(params, "config") is not None:
            self._note("the agent didn't give it to choose (R2-CFG)", message)
        if method in ("session/new", "session/resume"):
            if params.get("additionalDirectories") and not _has(session, ("additionalDirectories",)):
                self._note("the agent doesn't support additional (R-DIR-1)", message)
            kinds = {server["type"] for server in params.get("mcpServers", ())}
            # `check` sends one that no agent knows.
            if any(not _has(session, ("mcp", kind)) for kind in kinds if not kind.startswith("_")):
                self._note("the agent can't use such an MCP server (R2-MCP)", message)
        if flaw := _flaw_of_system_prompt(params, session):
            self._note(flaw, message)

    def _check_authenticate(self, params: dict[str, Any]) -> str | None:
        kind = self._auth_methods.get(params["methodId"], {"type": "terminal"}).get("type")
        return "no method that the agent performs itself (R-AUTH-5)" if kind == "terminal" else None

    def _check_prompt(self, params: dict[str, Any]) -> str | None:
        if params["sessionId"] in self._prompting:
            return "a second prompt in flight (R-PROMPT-3)"
        self._prompting.add(params["sessionId"])
        kinds = {block["type"] for block in params["prompt"]} & BLOCK_GATES.keys()
        refused = [kind for kind in kinds if not _has(self._agent, ("promptCapabilities", BLOCK_GATES[kind]))]
        return f"the agent takes no {refused[0]} in a prompt (R-PROMPT-4)" if refused else None

    def _check_choice(self, params: dict[str, Any], source: str) -> str | None:
        known = self._choices[params["sessionId"]].get(source) or self._choices[""].get(source, set())
        return None if params[f"{source}Id"] in known else "the agent didn't give it to choose (R-MODE-2)"

    def _check_setup(self, params: dict[str, Any]) -> str | None:
        directories = params.get("additionalDirectories")
        if directories is not None and not _has(self._agent, ("sessionCapabilities", "additionalDirectories")):
            return "the agent doesn't support additional (R-DIR-1)"
        if not all(map(_is_absolute, [params["cwd"], *(directories or [])])):
            return "a path isn't absolute (R-SESS-2)"
        for server in params.get("mcpServers", []):
            kind = server.get("type")
            if kind is not None and not _has(self._agent, ("mcpCapabilities", kind)):
                return f"the agent reaches no MCP server over {kind} (R-MCP-2)"
            if kind is None and not _is_absolute(server["command"]):
                return "the command of an MCP server isn't absolute (R-MCP-1)"
        return _flaw_of_system_prompt(params, (self._agent or {}).get("sessionCapabilities"))

    def _sent_answer(self, message: dict[str, Any]) -> None:
        requests = self._to_answer.get(_key(message.get("id")), [])
        if not requests:
            # JSON-RPC answers an invalid request, such as a batch, with the ID null.
            if not (message.get("id") is None and "error" in message):
                self._note("it answers no open request of the agent's (R-RPC-4)", message)
            return
        request = requests.pop(0)
        if ("result" in message) == ("error" in message):
            self._note("neither or both of result and error (R-RPC-4)", message)
        if "error" in message:
            for flaw in schema.flaws("Error", message["error"]) if schema.definitions() else ():
                self._note(f"not an Error, {flaw}", message)
        elif "result" in message:
            self._sent_result(message, request)

    def _sent_result(self, message: dict[str, Any], request: dict[str, Any]) -> None:
        method, result = request["method"], message["result"]
        self._check(message, method, "client", "Response", result)
        params = request.get("params")
        mode = params.get("mode") if isinstance(params, dict) else None
        path = ("elicitation", str(mode)) if method == "elicitation/create" else OFFERS.get(method)
        if path is not None and not _has(self._offer, path):
            self._note("served without having been offered (R-INIT-6)", message)
        if method == "session/request_permission" and result["outcome"]["outcome"] == "selected":
            option_id = result["outcome"]["optionId"]
            if self.chosen[option_id] <= 0 and not _refuses(request, option_id):
                self._note("nobody chose this option (R-PERM-4)", message)
            self.chosen[option_id] -= 1

    # From the agent

    def received(self, message: dict[str, Any]) -> None:
        """Learn from a frame of the agent. Unreadable ones open no gate."""
        if isinstance(message.get("method"), str):
            if "id" in message:
                self._to_answer[_key(message["id"])].append(message)
            elif message["method"] == "session/update":
                self._learn_update(message.get("params"))
        elif "method" in message and "id" in message:
            self._to_answer[_key(message["id"])].append({"method": ""})
        elif type(message.get("id")) is int and (request := self._asked.pop(message["id"], None)):
            self._got_answer(request, message)

    def _got_answer(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        method, params, result = request["method"], request["params"], answer.get("result")
        self._prompting.discard(params.get("sessionId") if method == "session/prompt" else None)
        if not isinstance(result, dict) or "error" in answer:
            return
        is_v2 = result.get("protocolVersion") == 2 and isinstance(result.get("info"), dict)
        if method == "initialize" and is_v2:
            self._version = 2
            self._agent = result.get("capabilities") or {}
            self._auth_methods = {entry.get("methodId"): entry for entry in result.get("authMethods") or ()}
        elif method == "initialize" and result.get("protocolVersion") in (1, 2):
            capabilities, methods = result.get("agentCapabilities"), result.get("authMethods")
            self._agent = capabilities if isinstance(capabilities, dict) else {}
            entries = [m for m in methods if isinstance(m, dict)] if isinstance(methods, list) else []
            self._auth_methods = {entry["id"]: entry for entry in entries if isinstance(entry.get("id"), str)}
            self._learn_choices("", result)  # of all sessions that say nothing of their own (R-DOC-1)
        elif method.startswith("session/"):
            is_new = method in ("session/new", "session/fork")
            self._learn_choices((result if is_new else params).get("sessionId"), result)

    def _learn_update(self, params: Any) -> None:
        update = params.get("update") if isinstance(params, dict) else None
        if isinstance(update, dict):
            self._learn_choices(params.get("sessionId"), update)

    def _learn_choices(self, session_id: Any, told: dict[str, Any]) -> None:
        """The modes, models, and options this offers."""
        for source, outer, inner, key in (
            ("mode", "modes", "availableModes", "id"),
            ("model", "models", "availableModels", "modelId"),
            ("config", "configOptions", None, "id" if self._version == 1 else "configId"),
        ):
            found = told.get(outer)
            if inner is not None and isinstance(found, dict):
                found = found.get(inner)
            if isinstance(found, list):
                self._choices[session_id][source] = {item.get(key) for item in found if isinstance(item, dict)}


def _is_absolute(path: str) -> bool:
    return path.startswith("/")


def _refuses(request: dict[str, Any], option_id: Any) -> bool:
    """Whether the option rejects. That needs no question: a rule of the user's may do it."""
    options = request["params"].get("options", ())
    return any(option["optionId"] == option_id and option["kind"] == "reject_once" for option in options)
