"""Reads a scenario's TOML into `script` values. `scenarios/README.md` describes the format."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from typing import Any, Final

from acp_tui.demo import script
from acp_tui.demo.table import (
    Count,
    InvalidTable,
    Kind,
    ProcessStatus,
    ScenarioError,
    Seconds,
    TableShape,
    ValuePath,
    each_key,
    listed,
    read,
    require_one_of,
)

TOOL_KINDS: Final = (
    *("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"),
)
TOOL_STATUSES: Final = ("pending", "in_progress", "completed", "failed")
OPTION_KINDS: Final = ("allow_once", "allow_always", "reject_once", "reject_always")
STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
SEVERITIES: Final = ("info", "warning", "error")
FORMATS: Final = ("email", "uri", "date", "date-time")
PLAN_ENTRY: Final = re.compile(r"\[(?P<mark>[ ~x])\] (?:(?P<priority>high|medium|low): )?(?P<content>.+)")
PLAN_MARKS: Final = {" ": "pending", "~": "in_progress", "x": "completed"}

# Declarations


def _command(hint: str | None = None, **command: Any) -> script.Wire:
    return command if hint is None else command | {"input": {"hint": hint}}


def _option(current: Any, options: Any = (), **option: Any) -> script.Wire:
    if not options:
        if type(current) is not bool:
            raise InvalidTable(f'"current" is {current!r}; it must be true or false')
        return option | {"type": "boolean", "currentValue": current}
    require_one_of("current", current, [value["value"] for value in options])
    return option | {"type": "select", "currentValue": current, "options": list(options)}


def _modes(current: str, available: Any = ()) -> script.Wire:
    require_one_of("current", current, [mode["id"] for mode in available])
    return {"currentModeId": current, "availableModes": list(available)}


def _method(values: dict[str, Any], place: ValuePath) -> script.Wire:
    keys = {"type?": ("agent", "terminal"), **NAMED}
    if values.get("type") == "terminal":
        keys |= {"args?": [str], "env?": each_key(str)}
    method: dict[str, Any] = read(keys, values, place)
    if method.get("type") == "terminal":
        return {"args": [], "env": {}} | method
    return {key: value for key, value in method.items() if key != "type"}


NAMED: Final[dict[str, Kind]] = {"id": str, "name": str, "description?": str}
COMMANDS: Final = [TableShape({"name": str, "description": str, "hint?": str}, _command)]
VALUE: Final[dict[str, Kind]] = {"value": str, "name": str, "description?": str}
OPTION: Final = TableShape(
    {"id": str, "name": str, "description?": str, "category?": str, "current": object, "options?": [VALUE]}, _option
)
SESSION: Final = TableShape(
    {"commands?": COMMANDS, "modes?": TableShape({"current": str, "available?": [NAMED]}, _modes), "config?": [OPTION]},
    script.SessionTerms,
)

# Tool calls


def _content(text: Any = None, block: Any = None, terminal: Any = None, diff: Any = None) -> script.Wire:
    match text, block, terminal, diff:
        case str(), None, None, None:
            return {"type": "content", "content": {"type": "text", "text": text}}
        case None, dict(), None, None:
            return {"type": "content", "content": block}
        case None, None, str(), None:
            return {"type": "terminal", "terminalId": terminal}
        case None, None, None, dict():
            return {"type": "diff", **diff}
    raise InvalidTable("a content item is one of: text, block, terminal, diff")


def _diff(path: str, new: str, old: str | None = None) -> script.Wire:
    return {"path": path, "newText": new} | ({} if old is None else {"oldText": old})


def _camel_case(**fields: Any) -> script.Wire:
    return {_camel(key): value for key, value in fields.items()}


CONTENT: Final = TableShape(
    {
        "text?": str,
        "block?": dict,
        "terminal?": str,
        "diff?": TableShape({"path": str, "new": str, "old?": str}, _diff),
    },
    _content,
)
TOOL: Final[dict[str, Kind]] = {
    "id?": str,
    "title?": str,
    "name?": str,
    "kind?": TOOL_KINDS,
    "status?": TOOL_STATUSES,
    "content?": [CONTENT],
    "locations?": [{"path": str, "line?": int}],
    "raw_input?": object,
    "raw_output?": object,
}
NEW_TOOL: Final = {"id?": str, "title": str} | {key: kind for key, kind in TOOL.items() if key != "title?"}
PERMISSION_OPTION: Final = TableShape(
    {"id": str, "name": str, "kind": OPTION_KINDS}, lambda **option: {"optionId": option.pop("id"), **option}
)

# Forms

LIMITS: Final[dict[str, dict[str, Kind]]] = {
    "string": {"min_length?": int, "max_length?": int, "pattern?": str, "default?": str, "format?": FORMATS},
    "number": {"minimum?": float, "maximum?": float, "default?": float},
    "integer": {"minimum?": int, "maximum?": int, "default?": int},
    "boolean": {"default?": bool},
    "array": {"min_items?": int, "max_items?": int, "default?": list},
}
"""The constraints allowed for each type of field."""
CHOICES: Final[dict[str, Kind]] = {
    "values?": [str],
    "choices?": [
        TableShape(
            {"value": str, "name": str, "description?": str},
            lambda value, name, **more: {"const": value, "title": name} | more,
        )
    ],
}


def _field(values: dict[str, Any], place: ValuePath) -> tuple[str, bool, script.Wire]:
    """The field's name, whether it's required, and its schema."""
    keys: dict[str, Kind] = {"name": str, "required?": bool, "type": tuple(LIMITS)}
    keys |= {"title?": str, "description?": str, **LIMITS.get(str(values.get("type")), {})}
    if values.get("type") in ("string", "array"):
        keys |= CHOICES
    return read(TableShape(keys, _property), values, place)  # type: ignore[no-any-return]


def _property(
    name: str, required: bool = False, values: Any = None, choices: Any = None, **schema: Any
) -> tuple[str, bool, script.Wire]:
    schema = {_camel(key): value for key, value in schema.items()}
    if schema["type"] != "array":
        offered = {"enum": values, "oneOf": choices}
        return name, required, schema | {key: value for key, value in offered.items() if value is not None}
    if values is None and choices is None:
        raise InvalidTable('an array needs "values" or "choices"')
    items = {"anyOf": choices} if values is None else {"type": "string", "enum": values}
    return name, required, schema | {"items": items}


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.capitalize, rest))


def _form(message: str, fields: Any = (), **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = {key: more.pop(key) for key in ("title", "description") if key in more}
    schema: dict[str, Any] = {"type": "object", **described}
    schema["properties"] = {name: values for name, _, values in fields}
    if required := [name for name, is_required, _ in fields if is_required]:
        schema["required"] = required
    return {"question": {"mode": "form", "message": message, "requestedSchema": schema}, **more}


def _visit(message: str, url: str, **more: Any) -> dict[str, Any]:
    return {"question": {"mode": "url", "message": message, "url": url}, **more}


ASKED: Final[dict[str, Kind]] = {"tool_call?": str, "scope?": ("session", "request")}
FORM: Final = TableShape({"message": str, "title?": str, "description?": str, "fields?": [_field], **ASKED}, _form)
VISIT: Final = TableShape({"message": str, "url": str, "id?": str, **ASKED}, _visit)


# Steps


def _plan(plan: tuple[str, ...]) -> dict[str, Any]:
    entries = []
    for text in plan:
        entry = PLAN_ENTRY.fullmatch(text)
        if entry is None:
            raise InvalidTable(f'"plan" has {text!r}; allowed: "[ ] text", "[~] text", "[x] high: text"')
        priority, status = entry["priority"] or "medium", PLAN_MARKS[entry["mark"]]
        entries.append({"content": entry["content"], "priority": priority, "status": status})
    return {"plan": entries}


def _extension(method: str, params: Any = None) -> script.Wire:
    if not method.startswith("_"):
        raise InvalidTable(f'"method" is {method!r}; names of extensions start with "_"')
    return {"method": method, "params": params or {}}


def _usage(used: int, size: int, cost: float | None = None, currency: str = "USD") -> script.Wire:
    priced = {} if cost is None else {"cost": {"amount": cost, "currency": currency}}
    return {"used": used, "size": size, **priced}


def _fault(values: dict[str, Any], place: ValuePath) -> dict[str, Any]:
    kind = read(tuple(FAULTS), values["fault"], place.key("fault"))
    return read({"fault": str} | FAULTS[kind], values, place)  # type: ignore[no-any-return]


def _read_step(values: dict[str, Any], place: ValuePath) -> script.Step:
    """Read a step. Exactly one key of its table must name a kind of step."""
    names = [key for key in values if key in STEPS]
    if "fault" in names:  # its parameters may have the names of steps
        own = {key.rstrip("?") for keys in FAULTS.values() for key in keys}
        names = [name for name in names if name not in own]
    if len(names) != 1:
        found = " and ".join(f'"{key}"' for key in names or values) or "none"
        raise place.error(f"a step needs exactly one of its keys, found {found}; allowed: {listed(STEPS)}")
    return script.Step(names[0], read(STEPS[names[0]], values, place))


SOME: Final = [_read_step]
STREAMED: Final[dict[str, Kind]] = {"chunk_s?": Seconds, "repeat?": Count, "id?": str}
FAULTS: Final[dict[str, dict[str, Kind]]] = {
    "auth_required": {},
    "bad_frame": {"frame?": str},
    "error": {"code?": int, "message?": str, "details?": str},
    "exit": {"code?": ProcessStatus, "last_words?": str},
    "flood": {"count?": Count, "text?": str},
    "hang": {"deaf?": bool},
    "huge_line": {"bytes?": Count},
    "junk": {"lines?": [str]},
    "late_update": {"late?": SOME},
    "unknown_update": {"update?": dict},
}
"""The parameters of each fault. `playing` defines their defaults."""
EXTENSION: Final = TableShape({"method": str, "params?": dict}, _extension)
RUN: Final[dict[str, Kind]] = {
    "command": str,
    "args?": [str],
    "env?": each_key(str),
    "cwd?": str,
    "title?": str,
    "id?": str,
    "output_limit_bytes?": Count,
    "kill_after_s?": Seconds,
}
ELICITED: Final[dict[str, Kind]] = {"accepted?": SOME, "declined?": SOME, "cancelled?": SOME}
STEPS: Final[dict[str, Kind]] = {
    "say": {"say": str, **STREAMED},
    "think": {"think": str, **STREAMED},
    "user": {"user": str, **STREAMED},
    "block": {"block": dict},
    "plan": TableShape({"plan": [str]}, _plan),
    "tool": {"tool": TableShape(NEW_TOOL, _camel_case)},
    "update": {"update": TableShape(TOOL, _camel_case)},
    "read": {"read": {"path": str, "id?": str, "line?": int, "limit?": int}, "missing?": SOME},
    "write": {"write": {"path": str, "content": str, "id?": str}},
    "permission": {
        "permission": TableShape(TOOL | {"options?": [PERMISSION_OPTION]}, _camel_case),
        "allowed?": SOME,
        "rejected?": SOME,
    },
    "run": {"run": RUN, "succeeded?": SOME, "failed?": SOME},
    "form": {"form": FORM, **ELICITED},
    "visit": {"visit": VISIT, **ELICITED},
    "complete": {"complete": str},
    "request": {"request": EXTENSION, "answered?": SOME, "refused?": SOME},
    "notify": {"notify": EXTENSION},
    "wait_s": {"wait_s": Seconds},
    "usage": {"usage": TableShape({"used": Count, "size": Count, "cost?": float, "currency?": str}, _usage)},
    "title": {"title": str},
    "info": {"info": TableShape({"title?": str, "updated_at?": str}, _camel_case)},
    "notice": {"notice": {"severity": SEVERITIES, "title": str, "description?": str}},
    "compact": {"compact": {"summary": str, "error?": str, "chunk_s?": Seconds}},
    "commands": {"commands": COMMANDS},
    "mode": {"mode": str},
    "config": {"config": dict},
    "together": {"together": SOME},
    "subagent": {"subagent": {"title": str, "description?": str, "cancel?": bool}, "does": SOME},
    "stop": {"stop": STOP_REASONS},
    "stderr": {"stderr": str},
    "fault": _fault,
}

# Around the steps


def _turn(match: str | None = None, play: str | None = None, step: Any = ()) -> script.ScriptedTurn:
    if bool(step) == bool(play):
        raise InvalidTable('give either "step" or "play"')
    try:
        pattern = None if match is None else re.compile(match, re.IGNORECASE)
    except re.error as error:
        raise InvalidTable(f'"match" isn\'t a valid regular expression: {error}') from error
    return script.ScriptedTurn(pattern, step, play)


def _kept(history: Any = (), **session: Any) -> script.KeptSession:
    if any(step.kind in script.ASKING_KINDS for step in history):
        raise InvalidTable('a "history" can\'t have steps that send requests to the client')
    return script.KeptSession(session.pop("id"), history=history, **session)


def _keeping(offers: Any = script.STORED_SESSION_METHODS, page_size: int = 10, kept: Any = ()) -> script.StoredSessions:
    if unknown := {*offers} - {*script.STORED_SESSION_METHODS}:
        raise InvalidTable(f'"offers" has {min(unknown)!r}; allowed: {listed(script.STORED_SESSION_METHODS)}')
    return script.StoredSessions(frozenset(offers), max(1, page_size), kept)


def _scenario(prompt: Any = (), sessions: Any = None, **more: Any) -> script.Scenario:
    if not prompt:
        raise InvalidTable('it has no [[prompt]]; add at least one, with "step" or "play"')
    keeping = sessions or script.StoredSessions()
    return script.Scenario("", turns=prompt, keeping=keeping, **more)


KEPT: Final = TableShape({"id": str, "title?": str, "updated_at?": str, "cwd?": str, "history?": SOME}, _kept)
SCENARIO: Final = TableShape(
    {
        "description": str,
        "prompt?": [TableShape({"match?": str, "play?": str, "step?": SOME}, _turn)],
        "initialize?": TableShape({"hang?": bool, "wait_s?": Seconds, "protocol_version?": int}, script.Initialize),
        "auth?": TableShape({"required?": bool, "logout?": bool, "methods?": [_method]}, script.Auth),
        "session?": SESSION,
        "sessions?": TableShape({"offers?": [str], "page_size?": int, "kept?": [KEPT]}, _keeping),
        "texts?": each_key(str),
    },
    _scenario,
)


def read_scenario(name: str, source: str, file: str) -> script.Scenario:
    """Read the scenario in `source`; `file` is its name in errors. Raises ScenarioError."""
    try:
        values = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: not TOML: {error}") from error
    scenario: script.Scenario = read(SCENARIO, values, ValuePath(file, file))
    return replace(scenario, name=name)
