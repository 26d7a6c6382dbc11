"""Rules of forms and pages that an agent asks a client to show."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.protocol.conformance.exchange import Asked, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import as_list, as_object, objects
from acp_tui.protocol.v1 import methods
from acp_tui.rpc.pairing import Recent

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
RULES: Final = (FIELDS, ANSWERABLE, KNOWN_PAGE, WEB_PAGE)

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
