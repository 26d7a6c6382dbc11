"""Rules of tool calls, of the order of their reports, and of what an agent asks the client for.

That is permissions, terminals, and questions to the user.
"""

from __future__ import annotations

from typing import Any, Final

from acp_tui.rpc.messages import Recent
from acp_tui.values import dataclass
from acp_tui.workbench.conformance.connection_state import CROSSING_S, Check, Scene, as_list, as_object, objects
from acp_tui.workbench.conformance.exchange import Event, SeenNotification, SeenRequest, SeenResponse
from acp_tui.workbench.conformance.rule import Judge, shown

DONE: Final = ("completed", "failed")
OPEN: Final = ("pending", "in_progress")
_Id = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CallReport:
    status: str
    index: int
    turn: int | None
    """The frame of the prompt whose turn it came in."""
    is_begun: bool
    """Whether an update began it, not only a permission request."""


class ToolCallCheck(Check):
    """Tracks the calls of all sessions, also for the permission checks."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self.calls: Recent[_Id, CallReport] = Recent()
        """By session and call."""
        self._terminals: Recent[_Id, None] = Recent()
        """The terminals the client created, by session and terminal."""

    def see(self, event: Event) -> None:
        match event:
            case SeenNotification(is_agents=True, method="session/update", params=params):
                update = as_object(params.get("update"))
                if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
                    self._look_at_report(event, update)
            case SeenRequest(is_agents=True, method="session/request_permission", params=params):
                self._take_note(event, as_object(params.get("toolCall")))
            case SeenResponse(is_agents=False, request=request, result=result):
                terminal_id = as_object(result).get("terminalId")
                if request.method == "terminal/create" and isinstance(terminal_id, str):
                    self._terminals[str(request.params.get("sessionId")), terminal_id] = None
            case SeenResponse(is_agents=True, request=request):
                if request.method == "session/prompt":
                    self._look_at_open_calls(event)

    def _look_at_report(self, told: SeenNotification, update: dict[str, Any]) -> None:
        session = self._scene.session(told.params)
        session_id, call_id = told.params.get("sessionId"), update.get("toolCallId")
        if not isinstance(session_id, str) or not isinstance(call_id, str):
            return
        if session is None or session.reopening is None:
            self._look_at_order(update, call_id, self.calls.get((session_id, call_id)))
        self._look_at_terminals(session_id, update)
        self._take_note(told, update)

    def _take_note(self, event: SeenRequest | SeenNotification, call: dict[str, Any]) -> None:
        """Remember a call. A permission request may be the first to mention it."""
        session = self._scene.session(event.params)
        key = (str(event.params.get("sessionId")), str(call.get("toolCallId")))
        earlier, status = self.calls.get(key), call.get("status")
        if not isinstance(status, str):
            status = earlier.status if earlier is not None else "pending"
        turn = session.turn if session is not None else None
        is_begun = isinstance(event, SeenNotification) or (earlier is not None and earlier.is_begun)
        self.calls[key] = CallReport(status, event.index, turn.prompt.index if turn is not None else None, is_begun)

    def _look_at_order(self, update: dict[str, Any], call_id: str, earlier: CallReport | None) -> None:
        name = shown(call_id)
        if update["sessionUpdate"] == "tool_call_update":
            if self._scene.is_whole and not self.calls.has_forgotten:
                self._judge("A-TOOL-1", earlier is not None, f"an update came for {name}, which wasn't reported")
        elif earlier is not None and earlier.is_begun:
            self._judge("A-TOOL-4", False, f"{name} was reported as new again", earlier.index)
        if earlier is None:
            self._judge("A-TOOL-4", True, "")
            return
        status = update.get("status")
        is_back = earlier.status in DONE and status in OPEN
        self._judge("A-TOOL-2", not is_back, f"{name} was {earlier.status}, then {status}", earlier.index)

    def _look_at_terminals(self, session_id: str, update: dict[str, Any]) -> None:
        # Some agents run commands themselves, and show them as terminals to clients that support it.
        invites = as_object(self._scene.offer.get("_meta")).get("terminal_output") is True
        if invites or not self._scene.is_whole:
            return
        for part in objects(update.get("content")):
            terminal_id = part.get("terminalId")
            if part.get("type") == "terminal" and isinstance(terminal_id, str):
                is_known = self._terminals.may_know((session_id, terminal_id))
                self._judge("A-TOOL-5", is_known, f"the client didn't create {shown(terminal_id)}")

    def _look_at_open_calls(self, answer: SeenResponse) -> None:
        session = self._scene.session(answer.request.params)
        turn = session.turn if session is not None else None
        if turn is None or turn.prompt is not answer.request or turn.cancelled_at is not None:
            return  # a client settles the calls of a canceled turn itself
        for (session_id, call_id), report in self.calls.items():
            if session_id == answer.request.params.get("sessionId") and report.turn == turn.prompt.index:
                text = f"{shown(call_id)} is still {report.status}"
                self._judge("A-TOOL-3", report.status not in OPEN, text, report.index)


# Permissions


class PermissionCheck(Check):
    """Checks each request, and what happens to rejected calls."""

    def __init__(self, judge: Judge, scene: Scene, tool_calls: ToolCallCheck) -> None:
        super().__init__(judge, scene)
        self._tool_calls = tool_calls
        self._rejected: Recent[tuple[str, str], int] = Recent()
        """The frame of the answer, by session and call."""

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest(is_agents=True, method="session/request_permission"):
                self._look_at_options(objects(event.params.get("options")))
                self._look_at_time(event)
                self._look_at_subject(event.params)
            case SeenResponse(is_agents=False, request=request) if request.method == "session/request_permission":
                self._take_note(event)
            case SeenNotification(is_agents=True, method="session/update", params=params):
                update = as_object(params.get("update"))
                key = (str(params.get("sessionId")), str(update.get("toolCallId")))
                if key in self._rejected and update.get("status") in ("completed", "failed"):
                    is_obeyed = update["status"] == "failed"
                    self._judge("A-PERM-8", is_obeyed, f"{shown(key[1])} has completed", self._rejected.pop(key))

    def _look_at_options(self, options: list[dict[str, Any]]) -> None:
        self._judge("A-PERM-4", bool(options), "there are no options")
        if not options:
            return
        ids = [str(option.get("optionId")) for option in options]
        self._judge("A-PERM-2", len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        kinds = [str(option.get("kind")) for option in options]
        self._judge("A-PERM-3", "reject_once" in kinds, f"the kinds are {', '.join(kinds)[:200]}")

    def _look_at_time(self, request: SeenRequest) -> None:
        session = self._scene.session(request.params)
        if session is None:
            return
        turn = session.turn
        self._judge("A-PERM-7", turn is not None, "no turn is running")
        if turn is None or turn.cancelled_at is None:
            return
        late_s = request.at_s - turn.cancelled_at
        if late_s > CROSSING_S:
            self._judge("A-PERM-1", False, f"it was asked {late_s:.1f} s after the cancel", turn.cancelled_in)

    def _look_at_subject(self, params: dict[str, Any]) -> None:
        call = as_object(params.get("toolCall"))
        key = (str(params.get("sessionId")), str(call.get("toolCallId")))
        is_reported = self._tool_calls.calls.may_know(key)
        self._judge("A-PERM-5", is_reported, f"{shown(key[1])} wasn't reported")
        self._judge("A-PERM-6", is_reported or bool(call.get("title")), f"nothing is known about {shown(key[1])}")

    def _take_note(self, answer: SeenResponse) -> None:
        params, outcome = answer.request.params, as_object(as_object(answer.result).get("outcome"))
        chosen = next(
            (option for option in objects(params.get("options")) if option.get("optionId") == outcome.get("optionId")),
            {},
        )
        if str(chosen.get("kind")).startswith("reject"):
            call_id = str(as_object(params.get("toolCall")).get("toolCallId"))
            self._rejected[str(params.get("sessionId")), call_id] = answer.index


USES: Final = ("terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release")


class TerminalCheck(Check):
    """Tracks each terminal from its creation to its release."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._live: Recent[tuple[str, str], int] = Recent()
        """The frame where its ID appeared, by session and terminal."""

    def see(self, event: Event) -> None:
        match event:
            case SeenResponse(is_agents=False, request=request, result=result, index=index):
                if request.method == "terminal/create":
                    terminal_id = as_object(result).get("terminalId")
                    if isinstance(terminal_id, str):
                        self._live[str(request.params.get("sessionId")), terminal_id] = index
            case SeenRequest(is_agents=True, method="terminal/create", params=params):
                self._look_at_command(params.get("command"), params.get("args"))
            case SeenRequest(is_agents=True, method=method, params=params) if method in USES:
                key = (str(params.get("sessionId")), str(params.get("terminalId")))
                self._judge("A-TERM-2", self._live.may_know(key), f"{method} came for {shown(key[1])}")
                if method == "terminal/release" and self._live.pop(key, None) is not None:
                    self._judge("A-TERM-1", True, "")

    def _look_at_command(self, command: object, args: object) -> None:
        """Check a command. A program's path may have a space, but hardly its name."""
        if isinstance(command, str):
            is_line = not args and " " in command.strip() and not command.startswith(("/", "./"))
            self._judge("A-TERM-3", not is_line, f"a command is {shown(command)}, without args")

    def finish(self) -> None:
        for (_, terminal_id), index in self._live.items():
            self._judge("A-TERM-1", False, f"{shown(terminal_id)} wasn't released", index)


TYPES: Final = ("string", "number", "integer", "boolean", "array")
LIMITS: Final = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))


class ElicitationCheck(Check):
    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._pages: Recent[str, None] = Recent()

    def see(self, event: Event) -> None:
        match event:
            case SeenRequest(is_agents=True, method="elicitation/create", params={"mode": "url"} as params):
                self._pages[str(params.get("elicitationId"))] = None
                url = str(params.get("url"))
                self._judge("A-ELIC-4", url.startswith(("https://", "http://")), f"the address is {shown(url)}")
            case SeenRequest(is_agents=True, method="elicitation/create", params=params):
                self._look_at_form(as_object(params.get("requestedSchema")))
            case SeenNotification(is_agents=True, method="elicitation/complete", params=params):
                page = str(params.get("elicitationId"))
                self._judge("A-ELIC-3", self._pages.may_know(page), f"no request has the elicitationId {shown(page)}")

    def _look_at_form(self, form: dict[str, Any]) -> None:
        fields = as_object(form.get("properties"))
        missing = [name for name in as_list(form.get("required")) if isinstance(name, str) and name not in fields]
        self._judge("A-ELIC-2", not missing, f"{', '.join(missing[:5])} is required but missing")
        for name, field in fields.items():
            self._look_at_field(name, as_object(field))

    def _look_at_field(self, name: str, field: dict[str, Any]) -> None:
        kind = field.get("type")
        self._judge("A-ELIC-1", kind in TYPES, f"{shown(name)} has the type {shown(kind)}")
        for least, most in LIMITS:
            low, high = field.get(least), field.get(most)
            if isinstance(low, int | float) and isinstance(high, int | float):
                self._judge("A-ELIC-2", low <= high, f"{shown(name)} has {least} {low} and {most} {high}")
        self._look_at_choice(name, field)

    def _look_at_choice(self, name: str, field: dict[str, Any]) -> None:
        items = as_object(field.get("items")) if field.get("type") == "array" else field
        choices = [*as_list(items.get("enum"))]
        choices += [option.get("const") for key in ("oneOf", "anyOf") for option in objects(items.get(key))]
        default = field.get("default")
        if not choices or default is None:
            return
        wanted = default if isinstance(default, list) else [default]
        is_there = all(each in choices for each in wanted)
        self._judge("A-ELIC-2", is_there, f"the default of {shown(name)} isn't one of its choices")
