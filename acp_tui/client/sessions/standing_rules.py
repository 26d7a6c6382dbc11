"""The user's standing rules as a session asks about them; how a rule is matched is `client.permissions.rules`'."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.client.settings.refusal_rule import RefusalRule
from acp_tui.conversation.tool_calls import ToolCall

if TYPE_CHECKING:
    # Most users have no rules.
    from acp_tui.client.permissions.rules import Subject


class StandingRules:
    """They only ever refuse. Each method gives the first rule that does, or None."""

    def __init__(self, rules: Sequence[RefusalRule], roots: Sequence[Path]) -> None:
        """`roots` are the directories of the session, which relative globs are below."""
        self._rules = tuple(rules)
        self.roots = tuple(roots)

    def against_call(self, call: ToolCall) -> RefusalRule | None:
        """A tool call as the agent describes it."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_tool_call

        return self._first(subject_of_tool_call(call))

    def against_read(self, path: str) -> RefusalRule | None:
        """Reading a file."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_read

        return self._first(subject_of_read(path))

    def against_write(self, path: str) -> RefusalRule | None:
        """Writing a file."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_write

        return self._first(subject_of_write(path))

    def against_command(self, command: str, args: Sequence[str], cwd: str) -> RefusalRule | None:
        """Running a command."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_command

        return self._first(subject_of_command(command, args, cwd))

    def _first(self, subject: Subject) -> RefusalRule | None:
        from acp_tui.client.permissions.rules import first_match

        return first_match(self._rules, subject, self.roots)
