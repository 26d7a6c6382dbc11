"""Reads the steps of a scenario: one reader for each kind of step; it knows nothing of what stands around them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.form_reading import read_schema
from acp_tui.workbench.demo.table import Count, ExitStatus, Seconds, Table
from acp_tui.workbench.demo.tool_reading import read_patch, read_permission_option

STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
SEVERITIES: Final = ("info", "warning", "error")
SCOPES: Final = ("session", "request")

PLAN_ENTRY: Final = re.compile(r"\[(?P<mark>[ ~x])\] (?:(?P<priority>high|medium|low): )?(?P<content>.+)")
PLAN_MARKS: Final = {" ": "pending", "~": "in_progress", "x": "completed"}

FAULT_PARAMETERS: Final[dict[str, dict[str, type]]] = {
    "auth_required": {},
    "bad_frame": {"frame": str},
    "error": {"code": int, "message": str, "details": str},
    "exit": {"code": ExitStatus, "last_words": str},
    "flood": {"count": Count, "text": str},
    "hang": {"deaf": bool},
    "huge_line": {"bytes": Count},
    "junk": {"lines": list},
    "late_update": {},
    "unknown_update": {"update": dict},
}
"""Which parameters a fault may have; what they default to is for `faults`."""
FAULT_KEYS: Final = frozenset(key for kinds in FAULT_PARAMETERS.values() for key in kinds)


def read_steps(table: Table, key: str) -> tuple[script.Step, ...]:
    """The steps under `key`; absent is none. Raises ScenarioError."""
    return tuple(read_step(step) for step in table.tables(key))


def read_step(table: Table) -> script.Step:
    """One step: the one key of its table that names a step says which. Raises ScenarioError."""
    names = [key for key in table.keys if key in READERS]
    if "fault" in names:  # of which a parameter may be called as a step is
        names = [name for name in names if name not in FAULT_KEYS]
    if len(names) != 1:
        found = " and ".join(f'"{key}"' for key in names or table.keys) or "none"
        raise table.error(
            f"one key must say what the step does, found {found}; allowed: {', '.join(READERS)}"
        )
    step = READERS[names[0]](table)
    table.close()
    return step


def read_commands(table: Table) -> tuple[script.Wire, ...]:
    """The slash commands under "commands"."""
    return tuple(_read_command(command) for command in table.tables("commands"))


def _read_command(table: Table) -> script.Wire:
    command: dict[str, Any] = {
        "name": table.need("name", str),
        "description": table.need("description", str),
    }
    hint = table.get("hint", str, None)
    table.close()
    return command if hint is None else command | {"input": {"hint": hint}}


# What is said


def _read_say(table: Table) -> script.Step:
    return script.Say(table.need("say", str), "agent_message_chunk", *_read_streaming(table))


def _read_think(table: Table) -> script.Step:
    return script.Say(table.need("think", str), "agent_thought_chunk", *_read_streaming(table))


def _read_user(table: Table) -> script.Step:
    return script.Say(table.need("user", str), "user_message_chunk", *_read_streaming(table))


def _read_streaming(table: Table) -> tuple[int, float, str | None]:
    chunk_s = table.get("chunk_s", Seconds, script.DEFAULT_CHUNK_S)
    return table.get("repeat", Count, 1), chunk_s, table.get("id", str, None)


def _read_block(table: Table) -> script.Step:
    return script.Block(table.need("block", dict))


def _read_plan(table: Table) -> script.Step:
    return script.Plan(tuple(_read_entry(table, text) for text in table.texts("plan")))


def _read_entry(table: Table, text: str) -> script.Wire:
    entry = PLAN_ENTRY.fullmatch(text)
    if entry is None:
        raise table.error(f'"plan" has {text!r}; allowed: "[ ] text", "[~] text", "[x] high: text"')
    return {
        "content": entry["content"],
        "priority": entry["priority"] or "medium",
        "status": PLAN_MARKS[entry["mark"]],
    }


# Tool calls


def _read_tool(table: Table) -> script.Step:
    tool = table.table("tool")
    patch = read_patch(tool)
    if "title" not in patch.fields:
        raise tool.error('"title" is missing; it is a text')
    tool.close()
    return script.Tool(patch)


def _read_update(table: Table) -> script.Step:
    update = table.table("update")
    patch = read_patch(update)
    update.close()
    return script.Update(patch)


# What is asked of the client


def _read_read(table: Table) -> script.Step:
    read = table.table("read")
    step = script.Read(
        path=read.need("path", str),
        name=read.get("id", str, None),
        line=read.get("line", int, None),
        limit=read.get("limit", int, None),
        missing=read_steps(table, "missing"),
    )
    read.close()
    return step


def _read_write(table: Table) -> script.Step:
    write = table.table("write")
    step = script.Write(write.need("path", str), write.need("content", str), write.get("id", str, None))
    write.close()
    return step


def _read_permission(table: Table) -> script.Step:
    permission = table.table("permission")
    patch = read_patch(permission)
    options = script.DEFAULT_OPTIONS
    if permission.has("options"):
        options = tuple(read_permission_option(option) for option in permission.tables("options"))
    permission.close()
    return script.Permission(patch, options, read_steps(table, "allowed"), read_steps(table, "rejected"))


def _read_run(table: Table) -> script.Step:
    run = table.table("run")
    step = script.Run(
        command=run.need("command", str),
        args=run.texts("args"),
        env=run.table("env").all_of(str),
        cwd=run.get("cwd", str, None),
        title=run.get("title", str, None),
        name=run.get("id", str, None),
        output_limit_bytes=run.get("output_limit_bytes", Count, None),
        kill_after_s=run.get("kill_after_s", Seconds, None),
        succeeded=read_steps(table, "succeeded"),
        failed=read_steps(table, "failed"),
    )
    run.close()
    return step


def _read_form(table: Table) -> script.Step:
    form = table.table("form")
    question = {"mode": "form", "message": form.need("message", str), "requestedSchema": read_schema(form)}
    return _read_elicit(table, form, question)


def _read_visit(table: Table) -> script.Step:
    visit = table.table("visit")
    question = {"mode": "url", "message": visit.need("message", str), "url": visit.need("url", str)}
    return _read_elicit(table, visit, question)


def _read_elicit(table: Table, asked: Table, question: script.Wire) -> script.Step:
    is_of_request = asked.has("scope") and asked.one_of("scope", SCOPES) == "request"
    step = script.Elicit(
        question,
        name=asked.get("id", str, None) if question["mode"] == "url" else None,
        tool_call=asked.get("tool_call", str, None),
        scope="request" if is_of_request else "session",
        accepted=read_steps(table, "accepted"),
        declined=read_steps(table, "declined"),
        cancelled=read_steps(table, "cancelled"),
    )
    asked.close()
    return step


def _read_complete(table: Table) -> script.Step:
    return script.Complete(table.need("complete", str))


def _read_request(table: Table) -> script.Step:
    method, params = _read_extension(table.table("request"))
    return script.CallExtension(method, params, read_steps(table, "answered"), read_steps(table, "refused"))


def _read_notify(table: Table) -> script.Step:
    return script.NotifyExtension(*_read_extension(table.table("notify")))


def _read_extension(table: Table) -> tuple[str, script.Wire]:
    method, params = table.need("method", str), table.get("params", dict, {})
    if not method.startswith("_"):
        raise table.error(f'"method" is {method!r}; the names of extensions begin with "_"')
    table.close()
    return method, params


# The session


def _read_usage(table: Table) -> script.Step:
    usage = table.table("usage")
    update: dict[str, Any] = {"sessionUpdate": "usage_update"}
    update |= {"used": usage.need("used", Count), "size": usage.need("size", Count)}
    cost = usage.get("cost", float, None)
    if cost is not None:
        update["cost"] = {"amount": cost, "currency": usage.get("currency", str, "USD")}
    usage.close()
    return script.SendUpdate(update)


def _read_title(table: Table) -> script.Step:
    return script.SendUpdate({"sessionUpdate": "session_info_update", "title": table.need("title", str)})


def _read_info(table: Table) -> script.Step:
    info = table.table("info")
    fields = info.given({"title": str})
    if info.has("updated_at"):
        fields["updatedAt"] = info.need("updated_at", str)
    info.close()
    return script.SendUpdate({"sessionUpdate": "session_info_update"} | fields)


def _read_notice(table: Table) -> script.Step:
    notice = table.table("notice")
    fields = {"severity": notice.one_of("severity", SEVERITIES), "title": notice.need("title", str)}
    fields |= notice.given({"description": str})
    notice.close()
    return script.Notice(fields)


def _read_compact(table: Table) -> script.Step:
    compact = table.table("compact")
    step = script.Compact(
        compact.need("summary", str),
        compact.get("error", str, None),
        compact.get("chunk_s", Seconds, script.DEFAULT_CHUNK_S),
    )
    compact.close()
    return step


def _read_commands_step(table: Table) -> script.Step:
    commands = [dict(command) for command in read_commands(table)]
    return script.SendUpdate({"sessionUpdate": "available_commands_update", "availableCommands": commands})


def _read_mode(table: Table) -> script.Step:
    return script.SwitchMode(table.need("mode", str))


def _read_config(table: Table) -> script.Step:
    return script.ChangeConfig(table.need("config", dict))


# The course of the turn


def _read_wait(table: Table) -> script.Step:
    return script.Wait(table.need("wait_s", Seconds))


def _read_together(table: Table) -> script.Step:
    return script.Together(read_steps(table, "together"))


def _read_stop(table: Table) -> script.Step:
    return script.Stop(table.one_of("stop", STOP_REASONS))


def _read_stderr(table: Table) -> script.Step:
    return script.Stderr(table.need("stderr", str))


def _read_fault(table: Table) -> script.Step:
    kind = table.one_of("fault", FAULT_PARAMETERS)
    parameters = {
        key: table.texts(key) if value_kind is list else table.need(key, value_kind)
        for key, value_kind in FAULT_PARAMETERS[kind].items()
        if table.has(key)
    }
    late = read_steps(table, "late") if kind == "late_update" else ()
    return script.Fault(kind, parameters, late)


READERS: Final[dict[str, Callable[[Table], script.Step]]] = {
    "say": _read_say,
    "think": _read_think,
    "user": _read_user,
    "block": _read_block,
    "plan": _read_plan,
    "tool": _read_tool,
    "update": _read_update,
    "read": _read_read,
    "write": _read_write,
    "permission": _read_permission,
    "run": _read_run,
    "form": _read_form,
    "visit": _read_visit,
    "complete": _read_complete,
    "request": _read_request,
    "notify": _read_notify,
    "wait_s": _read_wait,
    "usage": _read_usage,
    "title": _read_title,
    "info": _read_info,
    "notice": _read_notice,
    "compact": _read_compact,
    "commands": _read_commands_step,
    "mode": _read_mode,
    "config": _read_config,
    "together": _read_together,
    "stop": _read_stop,
    "stderr": _read_stderr,
    "fault": _read_fault,
}
