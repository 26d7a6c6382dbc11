"""Rules of tool calls, of the order of their reports, and of what an agent asks the client for.

That is permissions, terminals, and questions to the user.
"""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol import v1
from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import CROSSING_S, Check, Scene, as_list, as_object, objects
from acp_tui.rpc.messages import Recent
from acp_tui.values import dataclass

REPORTED: Final = Rule(
    "A-TOOL-1",
    Severity.WARNING,
    "The agent sends tool_call before tool_call_update.",
    "Send tool_call with a title first: many clients drop updates of unknown calls.",
    "tool-calls#creating",
    "R-TOOL-4",
)
FORWARD: Final = Rule(
    "A-TOOL-2",
    Severity.WARNING,
    "A completed or failed tool call doesn't change its status.",
    "Report a second try as a new call with a new id.",
    "tool-calls#status",
    "R-TOOL-6",
)
SETTLED: Final = Rule(
    "A-TOOL-3",
    Severity.WARNING,
    "At the end of a turn, every tool call has completed or failed.",
    "Send the final status before you answer session/prompt; until then, clients show the call as running.",
    "tool-calls#status",
    "R-PROMPT-8",
)
ONCE: Final = Rule(
    "A-TOOL-4",
    Severity.NOTE,
    "The agent sends tool_call only once for each call.",
    "Send later details in tool_call_update.",
    "tool-calls#updating",
    "R-TOOL-3",
)
TERMINAL: Final = Rule(
    "A-TOOL-5",
    Severity.NOTE,
    "A tool call refers only to terminals the client created.",
    "If you run a command yourself, send its output as text: the client has no terminal for it.",
    "terminals#embedding-in-tool-calls",
    "R-TERM-11",
)
RULES: Final = (REPORTED, FORWARD, SETTLED, ONCE, TERMINAL)

DONE: Final = ("completed", "failed")
OPEN: Final = ("pending", "in_progress")
_Id = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Report:
    """The last report on a call."""

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
        self.calls: Recent[_Id, Report] = Recent()
        """By session and call."""
        self._terminals: Recent[_Id, None] = Recent()
        """The terminals the client created, by session and terminal."""

    def see(self, event: Event) -> None:
        """Check a message."""
        match event:
            case Told(is_agents=True, method=v1.SESSION_UPDATE, params=params):
                update = as_object(params.get("update"))
                if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
                    self._look_at_report(event, update)
            case Asked(is_agents=True, method=v1.SESSION_REQUEST_PERMISSION, params=params):
                self._take_note(event, as_object(params.get("toolCall")))
            case Answered(is_agents=False, request=request, result=result):
                terminal_id = as_object(result).get("terminalId")
                if request.method == v1.TERMINAL_CREATE and isinstance(terminal_id, str):
                    self._terminals[str(request.params.get("sessionId")), terminal_id] = None
            case Answered(is_agents=True, request=request):
                if request.method == v1.SESSION_PROMPT:
                    self._look_at_open_calls(event)

    def _look_at_report(self, told: Told, update: dict[str, Any]) -> None:
        session = self._scene.session(told.params)
        session_id, call_id = told.params.get("sessionId"), update.get("toolCallId")
        if not isinstance(session_id, str) or not isinstance(call_id, str):
            return
        if session is None or session.reopening is None:
            self._look_at_order(update, call_id, self.calls.get((session_id, call_id)))
        self._look_at_terminals(session_id, update)
        self._take_note(told, update)

    def _take_note(self, event: Asked | Told, call: dict[str, Any]) -> None:
        """Remember a call. A permission request may be the first to mention it."""
        session = self._scene.session(event.params)
        key = (str(event.params.get("sessionId")), str(call.get("toolCallId")))
        earlier, status = self.calls.get(key), call.get("status")
        if not isinstance(status, str):
            status = earlier.status if earlier is not None else "pending"
        turn = session.turn if session is not None else None
        is_begun = isinstance(event, Told) or (earlier is not None and earlier.is_begun)
        self.calls[key] = Report(status, event.index, turn.prompt.index if turn is not None else None, is_begun)

    def _look_at_order(self, update: dict[str, Any], call_id: str, earlier: Report | None) -> None:
        name = shown(call_id)
        if update["sessionUpdate"] == "tool_call_update":
            if self._scene.is_whole and not self.calls.has_forgotten:
                self._judge.check(REPORTED, earlier is not None, f"an update came for {name}, which wasn't reported")
        elif earlier is not None and earlier.is_begun:
            self._judge.check(ONCE, False, f"{name} was reported as new again", earlier.index)
        if earlier is None:
            self._judge.check(ONCE, True, "")
            return
        status = update.get("status")
        is_back = earlier.status in DONE and status in OPEN
        self._judge.check(FORWARD, not is_back, f"{name} was {earlier.status}, then {status}", earlier.index)

    def _look_at_terminals(self, session_id: str, update: dict[str, Any]) -> None:
        # Some agents run commands themselves, and show them as terminals to clients that support it.
        invites = as_object(self._scene.offer.get("_meta")).get("terminal_output") is True
        if invites or not self._scene.is_whole:
            return
        for part in objects(update.get("content")):
            terminal_id = part.get("terminalId")
            if part.get("type") == "terminal" and isinstance(terminal_id, str):
                is_known = self._terminals.may_know((session_id, terminal_id))
                self._judge.check(TERMINAL, is_known, f"the client didn't create {shown(terminal_id)}")

    def _look_at_open_calls(self, answer: Answered) -> None:
        session = self._scene.session(answer.request.params)
        turn = session.turn if session is not None else None
        if turn is None or turn.prompt is not answer.request or turn.cancelled_at is not None:
            return  # a client settles the calls of a canceled turn itself
        for (session_id, call_id), report in self.calls.items():
            if session_id == answer.request.params.get("sessionId") and report.turn == turn.prompt.index:
                text = f"{shown(call_id)} is still {report.status}"
                self._judge.check(SETTLED, report.status not in OPEN, text, report.index)


# Permissions


NOT_AFTER_CANCEL: Final = Rule(
    "A-PERM-1",
    Severity.WARNING,
    "The agent sends no permission requests after a cancel.",
    'Stop before the next step: the client can only answer "cancelled".',
    "prompt-turn#cancellation",
    "R-CANC-4",
)
DISTINCT: Final = Rule(
    "A-PERM-2",
    Severity.ERROR,
    "Every option of a request has a unique id.",
    "Give each option a different optionId. Otherwise, you can't tell what the user chose.",
    "tool-calls#permission-options",
    "R-PERM-2",
)
REJECTABLE: Final = Rule(
    "A-PERM-3",
    Severity.NOTE,
    "One of the options is reject_once.",
    "Offer reject_once: without it, the user can only cancel the whole turn.",
    "tool-calls#permission-options",
    "R-PERM-7",
)
CHOICE: Final = Rule(
    "A-PERM-4",
    Severity.ERROR,
    "A request has options.",
    "Offer options: the user can only cancel a request without any.",
    "tool-calls#permission-options",
    "R-PERM-5",
)
QUESTION_REPORTED: Final = Rule(
    "A-PERM-5",
    Severity.NOTE,
    "The agent reports a tool call before it asks for permission.",
    "Send tool_call first, with what the call will do.",
    "tool-calls#requesting-permission",
    "R-ORD-3",
)
TELLING: Final = Rule(
    "A-PERM-6",
    Severity.NOTE,
    "A request says what it's for.",
    "Send a title, or report the tool call first: an id isn't enough for the user to decide.",
    "tool-calls#requesting-permission",
    "R-PERM-8",
)
IN_TURN: Final = Rule(
    "A-PERM-7",
    Severity.WARNING,
    "The agent asks for permission during a turn.",
    "Ask before you answer session/prompt.",
    "prompt-turn",
    "R-ORD-3",
)
OBEYED: Final = Rule(
    "A-PERM-8",
    Severity.WARNING,
    "A rejected tool call doesn't complete.",
    "Report it as failed, even if the model gets the rejection as the call's result.",
    "tool-calls#requesting-permission",
    "R-PERM-4",
)
PERMISSION_RULES: Final = (NOT_AFTER_CANCEL, DISTINCT, REJECTABLE, CHOICE, QUESTION_REPORTED, TELLING, IN_TURN, OBEYED)


class PermissionCheck(Check):
    """Checks each request, and what happens to rejected calls."""

    def __init__(self, judge: Judge, scene: Scene, tool_calls: ToolCallCheck) -> None:
        super().__init__(judge, scene)
        self._tool_calls = tool_calls
        self._rejected: Recent[tuple[str, str], int] = Recent()
        """The frame of the answer, by session and call."""

    def see(self, event: Event) -> None:
        """Check a message."""
        match event:
            case Asked(is_agents=True, method=v1.SESSION_REQUEST_PERMISSION):
                self._look_at_options(objects(event.params.get("options")))
                self._look_at_time(event)
                self._look_at_subject(event.params)
            case Answered(is_agents=False, request=request) if request.method == v1.SESSION_REQUEST_PERMISSION:
                self._take_note(event)
            case Told(is_agents=True, method=v1.SESSION_UPDATE, params=params):
                self._look_at_outcome(params)

    def _look_at_options(self, options: list[dict[str, Any]]) -> None:
        self._judge.check(CHOICE, bool(options), "there are no options")
        if not options:
            return
        ids = [str(option.get("optionId")) for option in options]
        self._judge.check(DISTINCT, len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        kinds = [str(option.get("kind")) for option in options]
        self._judge.check(REJECTABLE, "reject_once" in kinds, f"the kinds are {', '.join(kinds)[:200]}")

    def _look_at_time(self, request: Asked) -> None:
        session = self._scene.session(request.params)
        if session is None:
            return
        turn = session.turn
        self._judge.check(IN_TURN, turn is not None, "no turn is running")
        if turn is None or turn.cancelled_at is None:
            return
        late_s = request.at_s - turn.cancelled_at
        if late_s > CROSSING_S:
            text = f"it was asked {late_s:.1f} s after the cancel"
            self._judge.check(NOT_AFTER_CANCEL, False, text, turn.cancelled_in)

    def _look_at_subject(self, params: dict[str, Any]) -> None:
        call = as_object(params.get("toolCall"))
        key = (str(params.get("sessionId")), str(call.get("toolCallId")))
        is_reported = self._tool_calls.calls.may_know(key)
        self._judge.check(QUESTION_REPORTED, is_reported, f"{shown(key[1])} wasn't reported")
        text = f"nothing is known about {shown(key[1])}"
        self._judge.check(TELLING, is_reported or bool(call.get("title")), text)

    def _take_note(self, answer: Answered) -> None:
        params, outcome = answer.request.params, as_object(as_object(answer.result).get("outcome"))
        chosen = next(
            (option for option in objects(params.get("options")) if option.get("optionId") == outcome.get("optionId")),
            {},
        )
        if str(chosen.get("kind")).startswith("reject"):
            call_id = str(as_object(params.get("toolCall")).get("toolCallId"))
            self._rejected[str(params.get("sessionId")), call_id] = answer.index

    def _look_at_outcome(self, params: dict[str, Any]) -> None:
        update = as_object(params.get("update"))
        key = (str(params.get("sessionId")), str(update.get("toolCallId")))
        if key in self._rejected and update.get("status") in ("completed", "failed"):
            is_obeyed = update["status"] == "failed"
            self._judge.check(OBEYED, is_obeyed, f"{shown(key[1])} has completed", self._rejected.pop(key))


# Required, but not an error: a connection may end in the middle of a command.
RELEASED: Final = Rule(
    "A-TERM-1",
    Severity.WARNING,
    "The agent releases every terminal it creates.",
    "Send terminal/release when you're done with it: until then, the client keeps its output.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
LIVE: Final = Rule(
    "A-TERM-2",
    Severity.ERROR,
    "The agent uses only terminals that it created and hasn't released.",
    "Read the output and the exit status before you release it.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
PROGRAM: Final = Rule(
    "A-TERM-3",
    Severity.WARNING,
    "A terminal's command is a program; its arguments are in args.",
    'For a shell command, send {"command": "sh", "args": ["-c", line]}: many clients use no shell.',
    "terminals#executing-commands",
    "R-TERM-3",
)
TERMINAL_RULES: Final = (RELEASED, LIVE, PROGRAM)

USES: Final = (v1.TERMINAL_OUTPUT, v1.TERMINAL_WAIT_FOR_EXIT, v1.TERMINAL_KILL, v1.TERMINAL_RELEASE)


class TerminalCheck(Check):
    """Tracks each terminal from its creation to its release."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._live: Recent[tuple[str, str], int] = Recent()
        """The frame where its ID appeared, by session and terminal."""

    def see(self, event: Event) -> None:
        """Check a message."""
        match event:
            case Answered(is_agents=False, request=request, result=result, index=index):
                if request.method == v1.TERMINAL_CREATE:
                    terminal_id = as_object(result).get("terminalId")
                    if isinstance(terminal_id, str):
                        self._live[str(request.params.get("sessionId")), terminal_id] = index
            case Asked(is_agents=True, method=v1.TERMINAL_CREATE, params=params):
                self._look_at_command(params.get("command"), params.get("args"))
            case Asked(is_agents=True, method=method, params=params) if method in USES:
                key = (str(params.get("sessionId")), str(params.get("terminalId")))
                text = f"{method} came for {shown(key[1])}"
                self._judge.check(LIVE, self._live.may_know(key), text)
                if method == v1.TERMINAL_RELEASE and self._live.pop(key, None) is not None:
                    self._judge.check(RELEASED, True, "")

    def _look_at_command(self, command: object, args: object) -> None:
        """Check a command. A program's path may have a space, but hardly its name."""
        if isinstance(command, str):
            is_line = not args and " " in command.strip() and not command.startswith(("/", "./"))
            self._judge.check(PROGRAM, not is_line, f"a command is {shown(command)}, without args")

    def finish(self) -> None:
        """Report terminals that were never released."""
        for (_, terminal_id), index in self._live.items():
            self._judge.check(RELEASED, False, f"{shown(terminal_id)} wasn't released", index)


FIELDS: Final = Rule(
    "A-ELIC-1",
    Severity.ERROR,
    "A form uses only the field types in the schema.",
    "Use string, number, integer, boolean, or an array of listed strings. Ask for nested values one by one.",
    "elicitation",
    "R-ELIC-7",
)
ANSWERABLE: Final = Rule(
    "A-ELIC-2",
    Severity.ERROR,
    "A form can be filled in: required fields exist, and defaults and limits are valid.",
    "Check required, default, minimum, and maximum: no answer can be valid.",
    "elicitation",
    "R-ELIC-8",
)
KNOWN_PAGE: Final = Rule(
    "A-ELIC-3",
    Severity.NOTE,
    "The agent completes only pages it asked for.",
    "Use the request's elicitationId.",
    "elicitation",
    "R-ELIC-12",
)
WEB_PAGE: Final = Rule(
    "A-ELIC-4",
    Severity.WARNING,
    "A page has a web address.",
    "Send an https URL: clients open no other kind.",
    "elicitation",
    "R-ELIC-11",
)
QUESTION_RULES: Final = (FIELDS, ANSWERABLE, KNOWN_PAGE, WEB_PAGE)

TYPES: Final = ("string", "number", "integer", "boolean", "array")
LIMITS: Final = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))


class ElicitationCheck(Check):
    """Checks each question, and remembers the pages."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        super().__init__(judge, scene)
        self._pages: Recent[str, None] = Recent()

    def see(self, event: Event) -> None:
        """Check a message."""
        match event:
            case Asked(is_agents=True, method=v1.ELICITATION_CREATE, params={"mode": "url"} as params):
                self._look_at_page(params)
            case Asked(is_agents=True, method=v1.ELICITATION_CREATE, params=params):
                self._look_at_form(as_object(params.get("requestedSchema")))
            case Told(is_agents=True, method=v1.ELICITATION_COMPLETE, params=params):
                page = str(params.get("elicitationId"))
                text = f"no request has the elicitationId {shown(page)}"
                self._judge.check(KNOWN_PAGE, self._pages.may_know(page), text)

    def _look_at_page(self, params: dict[str, Any]) -> None:
        self._pages[str(params.get("elicitationId"))] = None
        url = str(params.get("url"))
        self._judge.check(WEB_PAGE, url.startswith(("https://", "http://")), f"the address is {shown(url)}")

    def _look_at_form(self, form: dict[str, Any]) -> None:
        fields = as_object(form.get("properties"))
        missing = [name for name in as_list(form.get("required")) if isinstance(name, str) and name not in fields]
        self._judge.check(ANSWERABLE, not missing, f"{', '.join(missing[:5])} is required but missing")
        for name, field in fields.items():
            self._look_at_field(name, as_object(field))

    def _look_at_field(self, name: str, field: dict[str, Any]) -> None:
        kind = field.get("type")
        self._judge.check(FIELDS, kind in TYPES, f"{shown(name)} has the type {shown(kind)}")
        for least, most in LIMITS:
            low, high = field.get(least), field.get(most)
            if isinstance(low, int | float) and isinstance(high, int | float):
                text = f"{shown(name)} has {least} {low} and {most} {high}"
                self._judge.check(ANSWERABLE, low <= high, text)
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
        self._judge.check(ANSWERABLE, is_there, f"the default of {shown(name)} isn't one of its choices")
