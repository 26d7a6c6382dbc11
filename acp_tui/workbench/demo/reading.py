"""Reads the TOML of a scenario into `script` values, with errors that name file, place, key and what is allowed.

It plays nothing, and leaves single steps to `step_reading`. `scenarios/README.md` describes the form for writers.
"""

from __future__ import annotations

import re
import tomllib

from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.step_reading import read_commands, read_steps
from acp_tui.workbench.demo.table import ScenarioError, Seconds, Table


def read_scenario(name: str, source: str, file: str) -> script.Scenario:
    """The scenario that `source` describes; `file` is what errors call it. Raises ScenarioError."""
    try:
        top = Table(tomllib.loads(source), file)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: not TOML: {error}") from error
    scenario = script.Scenario(
        name=name,
        description=top.need("description", str),
        turns=tuple(_read_turn(table) for table in top.tables("prompt")),
        initialize=_read_initialize(top.table("initialize")),
        auth=_read_auth(top.table("auth")),
        session=_read_session(top.table("session")),
        keeping=_read_keeping(top.table("sessions")) if top.has("sessions") else script.Keeping(),
        texts=top.table("texts").all_of(str),
        include=top.texts("include"),
    )
    top.close()
    if not scenario.turns and not scenario.include:
        raise top.error('it has no [[prompt]]; give one at least, with "step" or "play", or an "include"')
    return scenario


def _read_turn(table: Table) -> script.ScriptedTurn:
    pattern = table.get("match", str, None)
    play = table.get("play", str, None)
    steps = read_steps(table, "step")
    table.close()
    if bool(steps) == bool(play):
        raise table.error('give either "step" or "play"')
    try:
        match = re.compile(pattern, re.IGNORECASE) if pattern is not None else None
    except re.error as error:
        raise table.error(f'"match" is no regular expression: {error}') from error
    return script.ScriptedTurn(match, steps, play)


def _read_initialize(table: Table) -> script.Initialize:
    initialize = script.Initialize(
        hang=table.get("hang", bool, False),
        wait_s=table.get("wait_s", Seconds, 0.0),
        protocol_version=table.get("protocol_version", int, 1),
    )
    table.close()
    return initialize


def _read_auth(table: Table) -> script.Auth:
    required = table.get("required", bool, False)
    logout = table.get("logout", bool, False)
    methods = tuple(_read_method(method) for method in table.tables("methods"))
    table.close()
    return script.Auth(required, methods, logout)


def _read_method(table: Table) -> script.Wire:
    is_terminal = table.has("type") and table.one_of("type", ("agent", "terminal")) == "terminal"
    terminal = (
        {"args": list(table.texts("args")), "env": table.table("env").all_of(str)} if is_terminal else {}
    )
    method = _read_named(table)
    return {"type": "terminal"} | method | terminal if is_terminal else method


def _read_session(table: Table) -> script.SessionSetup:
    commands = read_commands(table)
    modes = _read_modes(table.table("modes")) if table.has("modes") else None
    config = tuple(_read_option(option) for option in table.tables("config"))
    table.close()
    return script.SessionSetup(commands, modes, config)


def _read_modes(table: Table) -> script.Wire:
    available = [_read_named(mode) for mode in table.tables("available")]
    current = table.one_of("current", [mode["id"] for mode in available])
    table.close()
    return {"currentModeId": current, "availableModes": available}


def _read_option(table: Table) -> script.Wire:
    option: dict[str, object] = {"id": table.need("id", str), "name": table.need("name", str)}
    option |= table.given({"description": str, "category": str})
    values = [_read_named(value, "value") for value in table.tables("options")]
    if values:
        current = table.one_of("current", [value["value"] for value in values])
        option |= {"type": "select", "currentValue": current, "options": values}
    else:
        option |= {"type": "boolean", "currentValue": table.need("current", bool)}
    table.close()
    return option


def _read_named(table: Table, id_key: str = "id") -> dict[str, str]:
    named = {id_key: table.need(id_key, str), "name": table.need("name", str)}
    named |= table.given({"description": str})
    table.close()
    return named


def _read_keeping(table: Table) -> script.Keeping:
    offers = frozenset(table.texts("offers")) if table.has("offers") else frozenset(script.KEEPING_OFFERS)
    if unknown := offers - frozenset(script.KEEPING_OFFERS):
        raise table.error(f'"offers" has {min(unknown)!r}; allowed: {", ".join(script.KEEPING_OFFERS)}')
    keeping = script.Keeping(
        offers,
        page_size=max(1, table.get("page_size", int, 10)),
        sessions=tuple(_read_kept_session(session) for session in table.tables("kept")),
    )
    table.close()
    return keeping


def _read_kept_session(table: Table) -> script.KeptSession:
    session = script.KeptSession(
        session_id=table.need("id", str),
        title=table.get("title", str, None),
        updated_at=table.get("updated_at", str, None),
        cwd=table.get("cwd", str, "."),
        history=read_steps(table, "history"),
    )
    table.close()
    if any(isinstance(step, script.ASKING_STEPS) for step in session.history):
        raise table.error('a "history" has no steps that ask something of the client')
    return session
