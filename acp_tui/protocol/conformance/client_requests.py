"""Rules of what an agent asks of the client beside permissions: terminals, and questions to the user."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol.conformance.exchange import Answered, Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import as_list, as_object, objects
from acp_tui.protocol.v1 import methods
from acp_tui.rpc.pairing import Recent

# Required, and yet no error: a connection may end in the middle of a command.
RELEASED: Final = Rule(
    "A-TERM-1",
    Severity.WARNING,
    "Every terminal that is created is released.",
    "Send terminal/release when the command is done with: until then the client keeps its output.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
LIVE: Final = Rule(
    "A-TERM-2",
    Severity.ERROR,
    "Only terminals are used that were created and not released.",
    "Read the output and the exit before you release.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
PROGRAM: Final = Rule(
    "A-TERM-3",
    Severity.WARNING,
    "The command of a terminal is a program, its arguments stand in args.",
    'For a line of the shell send {"command": "sh", "args": ["-c", line]}: many clients run the command as it is.',
    "terminals#executing-commands",
    "R-TERM-3",
)
TERMINAL_RULES: Final = (RELEASED, LIVE, PROGRAM)

USES: Final = (
    methods.TERMINAL_OUTPUT,
    methods.TERMINAL_WAIT_FOR_EXIT,
    methods.TERMINAL_KILL,
    methods.TERMINAL_RELEASE,
)


class TerminalCheck:
    """Follows each terminal from its creation to its release."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._live: Recent[tuple[str, str], int] = Recent()
        """By session and terminal: the frame in which its id was told."""

    def see(self, event: Event) -> None:
        """A message passes."""
        match event:
            case Answered(is_agents=False, request=request, result=result, index=index):
                if request.method == methods.TERMINAL_CREATE:
                    terminal_id = as_object(result).get("terminalId")
                    if isinstance(terminal_id, str):
                        self._live[str(request.params.get("sessionId")), terminal_id] = index
            case Asked(is_agents=True, method=methods.TERMINAL_CREATE, params=params):
                self._look_at_command(params.get("command"), params.get("args"))
            case Asked(is_agents=True, method=method, params=params) if method in USES:
                key = (str(params.get("sessionId")), str(params.get("terminalId")))
                text = f"{method} came for {shown(key[1])}"
                self._judge.check(LIVE, self._live.may_know(key), text)
                if method == methods.TERMINAL_RELEASE and self._live.pop(key, None) is not None:
                    self._judge.check(RELEASED, True, "")

    def _look_at_command(self, command: object, args: object) -> None:
        """A space may stand in the path of a program, hardly in its name."""
        if isinstance(command, str):
            is_line = not args and " " in command.strip() and not command.startswith(("/", "./"))
            self._judge.check(PROGRAM, not is_line, f"a command is {shown(command)}, without args")

    def finish(self) -> None:
        """What was not released up to now will not be."""
        for (_, terminal_id), index in self._live.items():
            self._judge.check(RELEASED, False, f"{shown(terminal_id)} was not", index)


FIELDS: Final = Rule(
    "A-ELIC-1",
    Severity.ERROR,
    "A form has only fields of the types that the schema knows.",
    "Use string, number, integer, boolean, or an array of given strings; ask for nested things one by one.",
    "elicitation",
    "R-ELIC-7",
)
ANSWERABLE: Final = Rule(
    "A-ELIC-2",
    Severity.ERROR,
    "A form can be filled in: what is required is there, and defaults and limits fit.",
    "Look at required, default, minimum and maximum: no answer could be right.",
    "elicitation",
    "R-ELIC-8",
)
KNOWN_PAGE: Final = Rule(
    "A-ELIC-3",
    Severity.NOTE,
    "Only a page that was asked for completes.",
    "Send the elicitationId of the request.",
    "elicitation",
    "R-ELIC-12",
)
WEB_PAGE: Final = Rule(
    "A-ELIC-4",
    Severity.WARNING,
    "A page has an address of the web.",
    "Send an https URL: clients open nothing else.",
    "elicitation",
    "R-ELIC-11",
)
QUESTION_RULES: Final = (FIELDS, ANSWERABLE, KNOWN_PAGE, WEB_PAGE)

TYPES: Final = ("string", "number", "integer", "boolean", "array")
LIMITS: Final = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))


class ElicitationCheck:
    """Looks at each question, and remembers the pages."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._pages: Recent[str, None] = Recent()

    def see(self, event: Event) -> None:
        """A message passes."""
        match event:
            case Asked(is_agents=True, method=methods.ELICITATION_CREATE, params={"mode": "url"} as params):
                self._look_at_page(params)
            case Asked(is_agents=True, method=methods.ELICITATION_CREATE, params=params):
                self._look_at_form(as_object(params.get("requestedSchema")))
            case Told(is_agents=True, method=methods.ELICITATION_COMPLETE, params=params):
                page = str(params.get("elicitationId"))
                self._judge.check(KNOWN_PAGE, self._pages.may_know(page), f"nobody asked for {shown(page)}")

    def finish(self) -> None:
        """Nothing is left to say."""

    def _look_at_page(self, params: dict[str, Any]) -> None:
        self._pages[str(params.get("elicitationId"))] = None
        url = str(params.get("url"))
        self._judge.check(WEB_PAGE, url.startswith(("https://", "http://")), f"the address is {shown(url)}")

    def _look_at_form(self, form: dict[str, Any]) -> None:
        fields = as_object(form.get("properties"))
        missing = [
            name for name in as_list(form.get("required")) if isinstance(name, str) and name not in fields
        ]
        self._judge.check(ANSWERABLE, not missing, f"{', '.join(missing[:5])} is required, and not there")
        for name, field in fields.items():
            self._look_at_field(name, as_object(field))

    def _look_at_field(self, name: str, field: dict[str, Any]) -> None:
        kind = field.get("type")
        self._judge.check(FIELDS, kind in TYPES, f"{shown(name)} is of the type {shown(kind)}")
        for least, most in LIMITS:
            low, high = field.get(least), field.get(most)
            if isinstance(low, int | float) and isinstance(high, int | float):
                text = f"{shown(name)} has the {least} {low} and the {most} {high}"
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
        self._judge.check(ANSWERABLE, is_there, f"the default of {shown(name)} is none of its choices")
