"""Rules about what is offered: by both sides in the handshake, and in a session as modes, options, and commands.

The handshake includes versions, capabilities, and ways to log in. A proxy has one with the conductor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from acp_tui.protocol import AUTH_REQUIRED
from acp_tui.protocol.conductor import PROXY_INITIALIZES, SUCCESSORS, is_call
from acp_tui.rpc import ErrorCode
from acp_tui.rpc.messages import Recent
from acp_tui.workbench.conformance.connection_state import OPENING, Check, Scene, as_object, objects, offers
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

MAY_COME_FIRST: Final = frozenset({"$/cancel_request", "elicitation/create", "elicitation/complete"})
"""Allowed before the answer to initialize, because they may be about that request (R-ELIC-1)."""

AGENT_GATES: Final[dict[str, tuple[str, ...]]] = {
    "session/load": ("loadSession",),
    "session/resume": ("sessionCapabilities", "resume"),
    "session/list": ("sessionCapabilities", "list"),
    "session/delete": ("sessionCapabilities", "delete"),
    "session/close": ("sessionCapabilities", "close"),
    "logout": ("auth", "logout"),
    "session/status": ("sessionCapabilities", "status"),
    "auth/status": ("auth", "status"),
    "providers/list": ("providers",),
    "providers/set": ("providers",),
    "providers/disable": ("providers",),
}
ALWAYS_SERVED: Final = ("session/new", "session/prompt")
_TERMINAL: Final = ("terminal",)
CLIENT_GATES: Final[dict[str, tuple[str, ...]]] = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal/create": _TERMINAL,
    "terminal/output": _TERMINAL,
    "terminal/wait_for_exit": _TERMINAL,
    "terminal/kill": _TERMINAL,
    "terminal/release": _TERMINAL,
}
UPDATE_GATES: Final[dict[str, tuple[str, ...]]] = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
    "plan_update": ("plan",),
    "plan_removed": ("plan",),
}


class HandshakeCheck(Check):
    """Compares what is sent with what was offered."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._names_logins = False

    def see(self, event: Event) -> None:
        if not event.is_agents:
            return
        match event:
            case SeenRequest(method=method, params=params):
                self._look_at_time(method)
                self._look_at_request(method, params)
            case SeenNotification(method=method, params=params):
                self._look_at_time(method)
                self._look_at_update(as_object(params.get("update")).get("sessionUpdate"))
            case SeenResponse():
                self._look_at_answer(event)

    def _look_at_time(self, method: str) -> None:
        # A recording may begin in the middle, so this can't be judged.
        if self._scene.is_whole:
            is_right = self._scene.is_agreed or method in MAY_COME_FIRST
            self._judge("A-INIT-1", is_right, f"{method} came before the answer to initialize")

    def _look_at_request(self, method: str, params: object) -> None:
        path = CLIENT_GATES.get(method)
        if method == "elicitation/create":
            path = ("elicitation", str(as_object(params).get("mode")))
        if path is not None and self._scene.is_whole:
            self._judge("A-CAP-1", offers(self._scene.offer, path), f"it sent {method} without {'.'.join(path)}")

    def _look_at_update(self, kind: object) -> None:
        path = UPDATE_GATES.get(kind) if isinstance(kind, str) else None
        if path is not None and self._scene.is_whole:
            self._judge("A-CAP-4", offers(self._scene.offer, path), f"it sent {kind}, but the client didn't opt in")

    def _look_at_answer(self, answer: SeenResponse) -> None:
        if answer.request.method == "initialize":
            if answer.error is None:
                self._look_at_agreement(answer)
            return
        if answer.code == AUTH_REQUIRED:
            text = f"{answer.request.method} requires a login, but no login method was listed"
            self._judge("A-AUTH-2", self._names_logins, text, answer.request.index)
        if not self._scene.is_agreed:
            return
        method, path = answer.request.method, AGENT_GATES.get(answer.request.method)
        if method in ALWAYS_SERVED or (path is not None and offers(self._scene.capabilities, path)):
            is_served = answer.code != ErrorCode.METHOD_NOT_FOUND
            self._judge("A-CAP-2", is_served, f"{method} is advertised but unknown", answer.request.index)
        elif path is not None and answer.error is None:
            text = f"{method} works, but {'.'.join(path)} isn't advertised"
            self._judge("A-CAP-3", False, text, answer.request.index)

    def _look_at_agreement(self, answer: SeenResponse) -> None:
        result = as_object(answer.result)
        asked, agreed = answer.request.params.get("protocolVersion"), result.get("protocolVersion")
        if type(asked) is int and type(agreed) is int:
            text = f"the client asked for version {asked}; the agent answered {agreed}"
            self._judge("A-INIT-2", agreed <= asked, text, answer.request.index)
        self._judge("A-INIT-3", bool(as_object(result.get("agentInfo")).get("name")), "it sent no agentInfo")
        ways = objects(result.get("authMethods"))
        self._names_logins = bool(ways)
        if not ways:
            return
        ids = [str(way.get("id")) for way in ways]
        self._judge("A-AUTH-1", len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        wants_terminal = any(way.get("type") == "terminal" for way in ways)
        has_one = offers(self._scene.offer, ("auth", "terminal"))
        self._judge("A-AUTH-3", has_one or not wants_terminal, "a listed login method needs a terminal")


class OptionCheck(Check):
    """Checks every state of the options, and remembers the modes."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._modes: Recent[str, frozenset[str]] = Recent()
        """The available modes, by session."""

    def see(self, event: Event) -> None:
        if isinstance(event, SeenResponse) and event.is_agents:
            self._look_at_answer(event)
        elif isinstance(event, SeenNotification) and event.is_agents and event.method == "session/update":
            self._look_at_update(event.params)

    def _look_at_answer(self, answer: SeenResponse) -> None:
        method, params, result = answer.request.method, answer.request.params, as_object(answer.result)
        if method in OPENING and answer.error is None:
            session_id = result.get("sessionId", params.get("sessionId"))
            if isinstance(session_id, str):
                self._look_at_modes(session_id, as_object(result.get("modes")))
            self._look_at_options(result.get("configOptions"))
        elif method == "session/set_mode":
            if str(params.get("modeId")) in self._known_modes(params):
                text = f"{shown(params.get('modeId'))} was answered with {shown(answer.error)}"
                self._judge("A-MODE-2", answer.error is None, text, answer.request.index)
        elif method == "session/set_config_option" and answer.error is None:
            self._look_at_options(result.get("configOptions"))
            self._look_at_taken(answer)

    def _look_at_taken(self, answer: SeenResponse) -> None:
        wanted, value = answer.request.params.get("configId"), answer.request.params.get("value")
        options = objects(as_object(answer.result).get("configOptions"))
        option = next((each for each in options if each.get("id") == wanted), None)
        if option is None:
            text = f"the option {shown(wanted)} is missing"
        else:
            text = f"{shown(wanted)} was set to {shown(value)}, but is {shown(option.get('currentValue'))}"
        is_taken = option is not None and option.get("currentValue") == value
        self._judge("A-CFG-4", is_taken, text, answer.request.index)

    def _look_at_update(self, params: dict[str, Any]) -> None:
        update = as_object(params.get("update"))
        match update.get("sessionUpdate"):
            case "config_option_update":
                self._look_at_options(update.get("configOptions"))
            case "current_mode_update":
                known, mode = self._known_modes(params), update.get("currentModeId")
                if known and isinstance(mode, str):
                    self._judge("A-MODE-1", mode in known, f"the mode is now {shown(mode)}")
            case "available_commands_update":
                self._look_at_commands(update.get("availableCommands"))

    def _known_modes(self, params: dict[str, Any]) -> frozenset[str]:
        return self._modes.get(str(params.get("sessionId")), frozenset())

    def _look_at_modes(self, session_id: str, modes: dict[str, Any]) -> None:
        available = frozenset(str(mode.get("id")) for mode in objects(modes.get("availableModes")))
        if "currentModeId" in modes:
            self._modes[session_id] = available
            current = modes["currentModeId"]
            self._judge("A-MODE-1", str(current) in available, f"the current mode is {shown(current)}")

    def _look_at_options(self, options: Any) -> None:
        found = objects(options)
        if not found:
            return
        ids = [str(option.get("id")) for option in found]
        self._judge("A-CFG-2", len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        for option in found:
            if option.get("type") == "boolean":
                path = ("session", "configOptions", "boolean")
                self._judge("A-CFG-3", offers(self._scene.offer, path), f"{shown(option.get('id'))} is boolean")
            elif option.get("type") == "select":
                values, current = list(_values(option.get("options"))), option.get("currentValue")
                name = shown(option.get("id"))
                self._judge("A-CFG-1", current in values, f"{name} is {shown(current)}")
                self._judge("A-CFG-2", len(set(values)) == len(values), f"{name} has a value twice")

    def _look_at_commands(self, commands: Any) -> None:
        names = [str(command.get("name")) for command in objects(commands)]
        twice = [name for name, times in Counter(names).items() if times > 1]
        self._judge("A-CMD-1", not twice, f"two commands have the name {', '.join(twice[:5])}")
        slashed = [name for name in names if name.startswith("/")]
        self._judge("A-CMD-1", not slashed, f"with a slash: {', '.join(slashed[:5])}")


def _values(choices: Any) -> Iterator[str]:
    """Yield the values of a flat or grouped list."""
    for choice in objects(choices):
        if "group" in choice:
            yield from (str(each.get("value")) for each in objects(choice.get("options")))
        else:
            yield str(choice.get("value"))


# Proxies, on the connection between a conductor and one of them


def begins_proxy(event: Event) -> bool:
    """Whether this tells the other side that it is a proxy."""
    return isinstance(event, SeenRequest) and not event.is_agents and event.method in PROXY_INITIALIZES


class ProxyCheck(Check):
    """Compares a proxy's answer to the handshake with that of its successor."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._agreed: dict[str, Any] | None = None
        """What the successor answered to the handshake."""

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest() | SeenNotification() if event.is_agents and event.method in SUCCESSORS:
                self._judge("A-PROXY-3", is_call(event.params), f"it wraps {shown(event.params)}")
            case SeenResponse(is_agents=False, error=None) if event.request.method in SUCCESSORS:
                if event.request.params.get("method") == "initialize":
                    self._agreed = as_object(event.result)
            case SeenResponse(is_agents=True, error=None) if event.request.method in PROXY_INITIALIZES:
                self._look_at_agreement(event)

    def _look_at_agreement(self, answer: SeenResponse) -> None:
        text = "it answered before its successor did"
        self._judge("A-PROXY-1", self._agreed is not None, text, answer.request.index)
        if self._agreed is not None:
            theirs, its = self._agreed.get("protocolVersion"), as_object(answer.result).get("protocolVersion")
            text = f"its successor answered {shown(theirs)}, and it answered {shown(its)}"
            self._judge("A-PROXY-2", its == theirs, text, answer.request.index)
