"""What a user sets: settings as text, rules that refuse, with the requests they are tested on, and sandboxes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acp_tui.client.permissions.rules import RuleSubject, doubtful, first_match
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box
from acp_tui.client.sandbox.engines import Engine
from acp_tui.client.sandbox.sandbox import Sandbox
from acp_tui.client.settings.reader import SettingsRead, interpret
from acp_tui.client.settings.settings import WORKSPACE, RefusalRule, SandboxProfile
from acp_tui.client.temporary import TemporaryFolder
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


# Sandboxes in which nothing starts


def sandbox_of(
    project: Path,
    places: Mapping[Path, Access],
    profile: SandboxProfile = WORKSPACE,
    *,
    engine: str = "bubblewrap",
    gaps: tuple[str, ...] = (),
    note: str = "",
) -> Sandbox:
    """A sandbox with these places, and with a project that may be written."""
    everywhere = {Path("/"): Access.READABLE, Path.home(): Access.HIDDEN, Path("/tmp"): Access.SCRATCH}
    inside = {**everywhere, project: Access.WRITABLE, **places}
    own = TemporaryFolder("acp-tui-test-box-")
    own.remove()  # nothing runs there
    box = Box(profile, (project,), inside, {"PATH": "/usr/bin"}, own, note)
    return Sandbox(box, Engine(engine, f"/usr/bin/{engine}", gaps))
