"""Settings as text, and rules that refuse, with the requests they are tested on, in one workspace root."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from acp_tui.client.permissions.rules import RuleSubject, doubtful, first_match
from acp_tui.client.settings.reader import SettingsRead, interpret
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.conversation.tool_calls import ToolCall, ToolCallId

# Settings, read into the tree

ENVIRON = {"HOME": "/home/u", "WORK": "/work", "PARENT": "00-1-2-01"}


def read(text: str) -> SettingsRead:
    """The result of reading it as a file named F."""
    return interpret(tomllib.loads(text), "F", ENVIRON)


def said(text: str) -> list[str]:
    """Its problems."""
    return [str(problem) for problem in read(text).problems]


# Rules and requests

ROOT = Path("/project")


def rule(kind: str | None = None, path: str | None = None, command: str | None = None) -> RefusalRule:
    """A user's rule with a reason."""
    return RefusalRule(kind, path, command, "because")


def call(**reported: Any) -> ToolCall:
    """A tool call that reports this."""
    return ToolCall(ToolCallId("c"), **reported)


def refuses(rule: RefusalRule, subject: RuleSubject, *roots: Path) -> bool:
    """Whether the rule refuses the subject, by default in `ROOT`."""
    return first_match([rule], subject, roots or (ROOT,)) is rule


def stops(rule: RefusalRule, subject: RuleSubject, *roots: Path) -> bool:
    """Whether the rule refuses the subject, or makes acp-tui ask about it: it never happens unseen."""
    return refuses(rule, subject, *roots) or doubtful([rule], subject) is not None
