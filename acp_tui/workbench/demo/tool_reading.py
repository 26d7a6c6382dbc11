"""Reads what a scenario says about one tool call into the protocol's shape, and the answers to a permission request."""

from __future__ import annotations

from typing import Any, Final

from acp_tui.workbench.demo import script
from acp_tui.workbench.demo.table import Table

TOOL_KINDS: Final = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
)
TOOL_STATUSES: Final = ("pending", "in_progress", "completed", "failed")
OPTION_KINDS: Final = ("allow_once", "allow_always", "reject_once", "reject_always")


def read_patch(table: Table) -> script.ToolPatch:
    """The keys of a tool call that are there. Raises ScenarioError."""
    name = table.get("id", str, None)
    fields: dict[str, Any] = table.given({"title": str, "name": str})
    for key, allowed in (("kind", TOOL_KINDS), ("status", TOOL_STATUSES)):
        if table.has(key):
            fields[key] = table.one_of(key, allowed)
    if table.has("content"):
        fields["content"] = [_read_content(item) for item in table.tables("content")]
    if table.has("locations"):
        fields["locations"] = [_read_location(item) for item in table.tables("locations")]
    for key, wire_key in (("raw_input", "rawInput"), ("raw_output", "rawOutput")):
        if table.has(key):
            fields[wire_key] = table.anything(key)
    return script.ToolPatch(name, fields)


def _read_content(table: Table) -> script.Wire:
    if table.has("text"):
        content: dict[str, Any] = {
            "type": "content",
            "content": {"type": "text", "text": table.need("text", str)},
        }
    elif table.has("block"):
        content = {"type": "content", "content": table.need("block", dict)}
    elif table.has("terminal"):
        content = {"type": "terminal", "terminalId": table.need("terminal", str)}
    elif table.has("diff"):
        content = _read_diff(table.table("diff"))
    else:
        raise table.error("a content item is one of: text, block, terminal, diff")
    table.close()
    return content


def _read_diff(table: Table) -> dict[str, Any]:
    diff = {"type": "diff", "path": table.need("path", str), "newText": table.need("new", str)}
    if table.has("old"):
        diff["oldText"] = table.need("old", str)
    table.close()
    return diff


def _read_location(table: Table) -> script.Wire:
    location = {"path": table.need("path", str)} | table.given({"line": int})
    table.close()
    return location


def read_permission_option(table: Table) -> script.Wire:
    """One answer that a permission request offers. Raises ScenarioError."""
    option = {
        "optionId": table.need("id", str),
        "name": table.need("name", str),
        "kind": table.one_of("kind", OPTION_KINDS),
    }
    table.close()
    return option
