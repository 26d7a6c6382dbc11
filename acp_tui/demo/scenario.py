"""Loads scenarios, shipped ones by name and others by path, and reads their TOML into `script` values.

`scenarios/README.md` describes the format. Only what would be played wrongly without a word is checked: the names of
steps and of faults.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeAlias

from acp_tui.demo import SCENARIOS, names, path_of, script


class ScenarioError(Exception):
    """A scenario is invalid."""


class UnknownScenario(ScenarioError):
    """There is neither a shipped scenario nor a file with that name."""


def available() -> dict[str, str]:
    """The name and a one-line description of each scenario, default first."""
    return {
        name: str(tomllib.loads((SCENARIOS / f"{name}.toml").read_text("utf-8"))["description"]) for name in names()
    }


def load(name_or_path: str | Path) -> script.Scenario:
    """Load a shipped scenario by name, or any by the path of its .toml file.

    Other scenarios that it plays are looked up among the shipped ones, then next to its file. Raises ScenarioError,
    UnknownScenario.
    """
    called = str(name_or_path)
    path = path_of(called)
    try:
        scenario = read_scenario(path.stem, path.read_text("utf-8"), path.name)
    except FileNotFoundError as error:
        if called.endswith(".toml"):
            raise UnknownScenario(f"there is no file {path.absolute()}") from error

        near = "".join(f"; did you mean {name}?" for name in get_close_matches(called, names(), n=1))
        raise UnknownScenario(f'there is no scenario "{called}"{near}') from error
    except OSError as error:
        raise ScenarioError(f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: not UTF-8: {error}") from error
    turns = (replace(turn, play=turn.play and str(path_of(turn.play, path.parent))) for turn in scenario.turns)
    return replace(scenario, turns=tuple(turns))


Table: TypeAlias = dict[str, Any]

PLAN_ENTRY: Final = re.compile(r"\[(?P<mark>[ ~x])\] (?:(?P<priority>high|medium|low): )?(?P<content>.+)")
PLAN_MARKS: Final = {" ": "pending", "~": "in_progress", "x": "completed"}

# Declarations


def _command(name: str, description: str, hint: str | None = None) -> script.Wire:
    return {"name": name, "description": description} | ({} if hint is None else {"input": {"hint": hint}})


def _option(current: Any, options: Any = (), **option: Any) -> script.Wire:
    if not options:
        return option | {"type": "boolean", "currentValue": current}
    return option | {"type": "select", "currentValue": current, "options": options}


def _modes(current: str, available: Any = ()) -> script.Wire:
    return {"currentModeId": current, "availableModes": available}


def _method(type: str = "agent", **method: Any) -> script.Wire:  # noqa: A002 - a key of the file
    return {"type": type, "args": [], "env": {}} | method if type == "terminal" else method


def _session(commands: Any = (), modes: Any = None, config: Any = ()) -> script.SessionTerms:
    return script.SessionTerms(
        tuple(_command(**each) for each in commands),
        None if modes is None else _modes(**modes),
        tuple(_option(**each) for each in config),
    )


# Tool calls and forms


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.capitalize, rest))


def _camel_case(fields: Table) -> Table:
    return {_camel(key): value for key, value in fields.items()}


def _tool(fields: Table) -> script.Wire:
    tool = _camel_case(fields)
    if "content" in tool:
        tool["content"] = [_content(**item) for item in tool["content"]]
    if "options" in tool:
        tool["options"] = [{"optionId": option["id"], **_without(option, "id")} for option in tool["options"]]
    return tool


def _content(text: Any = None, block: Any = None, terminal: Any = None, diff: Any = None) -> script.Wire:
    if diff is not None:
        return {"type": "diff", "path": diff["path"], "newText": diff["new"]} | (
            {"oldText": diff["old"]} if "old" in diff else {}
        )
    if terminal is not None:
        return {"type": "terminal", "terminalId": terminal}
    return {"type": "content", "content": {"type": "text", "text": text} if block is None else block}


def _property(type: str, values: Any = None, choices: Any = None, **schema: Any) -> script.Wire:  # noqa: A002
    schema = {"type": type, **_camel_case(_without(schema, "name", "required"))}
    named = choices and [
        {"const": each["value"], "title": each["name"]} | _without(each, "value", "name") for each in choices
    ]
    if type != "array":
        return schema | ({} if values is None else {"enum": values}) | ({} if named is None else {"oneOf": named})
    return schema | {"items": {"anyOf": named} if values is None else {"type": "string", "enum": values}}


def _form(message: str, fields: Any = (), **more: Any) -> Table:
    schema: Table = {"type": "object", **{key: more.pop(key) for key in ("title", "description") if key in more}}
    schema["properties"] = {field["name"]: _property(**field) for field in fields}
    if required := [field["name"] for field in fields if field.get("required")]:
        schema["required"] = required
    return {"question": {"mode": "form", "message": message, "requestedSchema": schema}, **more}


def _visit(message: str, url: str, **more: Any) -> Table:
    return {"question": {"mode": "url", "message": message, "url": url}, **more}


def _without(table: Table, *keys: str) -> Table:
    return {key: value for key, value in table.items() if key not in keys}


# Steps


def _plan(plan: Iterable[str]) -> list[Table]:
    entries = []
    for text in plan:
        entry = PLAN_ENTRY.fullmatch(text)
        if entry is None:
            raise ScenarioError(f'"plan" has {text!r}; allowed: "[ ] text", "[~] text", "[x] high: text"')
        priority, status = entry["priority"] or "medium", PLAN_MARKS[entry["mark"]]
        entries.append({"content": entry["content"], "priority": priority, "status": status})
    return entries


def _usage(used: int, size: int, cost: float | None = None, currency: str = "USD") -> script.Wire:
    return {"used": used, "size": size} | ({} if cost is None else {"cost": {"amount": cost, "currency": currency}})


def _steps(tables: Iterable[Table]) -> tuple[script.Step, ...]:
    return tuple(map(_step, tables))


def _step(table: Table) -> script.Step:
    """Read a step. Exactly one key of its table must name a kind of step, except for the parameters of a fault."""
    names = ["fault"] if "fault" in table else [key for key in table if key in STEPS]
    if len(names) != 1:
        found = " and ".join(f'"{key}"' for key in names or table) or "none"
        raise ScenarioError(f"a step needs exactly one of its keys, found {found}; allowed: {', '.join(STEPS)}")
    [kind] = names
    if kind == "fault" and table["fault"] not in FAULTS:
        raise ScenarioError(f'"fault" is {table["fault"]!r}; allowed: {", ".join(FAULTS)}')
    read = {key: _steps(value) if key in BRANCHES else value for key, value in table.items()}
    read[kind] = STEPS[kind](read[kind])
    return script.Step(kind, read)


def _as_it_is(value: Any) -> Any:
    return value


BRANCHES: Final = (
    *("missing", "allowed", "rejected", "succeeded", "failed", "accepted", "declined", "cancelled"),
    *("answered", "refused", "does", "late"),
)
"""The keys of a step with steps to continue with."""
FAULTS: Final = (
    *("auth_required", "bad_frame", "error", "exit", "flood", "hang", "huge_line", "junk", "late_update"),
    "unknown_update",
)
STEPS: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("say", "think", "user", "block"), _as_it_is),
    "plan": _plan,
    **dict.fromkeys(("tool", "update", "permission"), _tool),
    **dict.fromkeys(("read", "write", "run"), _as_it_is),
    "form": lambda form: _form(**form),
    "visit": lambda visit: _visit(**visit),
    "complete": _as_it_is,
    **dict.fromkeys(("request", "notify"), lambda extension: {"params": {}} | extension),
    "wait_s": _as_it_is,
    "usage": lambda usage: _usage(**usage),
    "title": _as_it_is,
    "info": _camel_case,
    **dict.fromkeys(("notice", "compact"), _as_it_is),
    "commands": lambda commands: [_command(**each) for each in commands],
    **dict.fromkeys(("mode", "config"), _as_it_is),
    "together": _steps,
    **dict.fromkeys(("subagent", "stop", "stderr", "fault"), _as_it_is),
}
"""How the value of each kind of step is read."""

# Around the steps


def _turn(match: str | None = None, play: str | None = None, step: Any = ()) -> script.ScriptedTurn:
    return script.ScriptedTurn(None if match is None else re.compile(match, re.IGNORECASE), _steps(step), play)


def _kept(id: str, history: Any = (), **session: Any) -> script.KeptSession:  # noqa: A002 - a key of the file
    return script.KeptSession(id, history=_steps(history), **session)


def _keeping(offers: Any = script.STORED_SESSION_METHODS, page_size: int = 10, kept: Any = ()) -> script.StoredSessions:
    return script.StoredSessions(frozenset(offers), max(1, page_size), tuple(_kept(**each) for each in kept))


def _scenario(name: str, **more: Any) -> script.Scenario:
    auth = more.get("auth", {})
    return script.Scenario(
        name,
        more["description"],
        tuple(_turn(**each) for each in more["prompt"]),
        script.Initialize(**more.get("initialize", {})),
        script.Auth(**auth | {"methods": tuple(_method(**each) for each in auth.get("methods", ()))}),
        _session(**more.get("session", {})),
        _keeping(**more["sessions"]) if "sessions" in more else script.StoredSessions(),
        more.get("texts", {}),
    )


def read_scenario(name: str, source: str, file: str) -> script.Scenario:
    """Read the scenario in `source`; `file` is its name in errors. Raises ScenarioError."""
    try:
        return _scenario(name, **tomllib.loads(source))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: not TOML: {error}") from error
    except KeyError as error:
        raise ScenarioError(f"{file}: a table lacks {error}") from error
    except (ScenarioError, AttributeError, TypeError, ValueError, re.error) as error:
        raise ScenarioError(f"{file}: {error}") from error
