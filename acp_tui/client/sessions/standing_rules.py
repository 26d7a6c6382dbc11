"""The user's standing rules as a session asks about them; how a rule is matched is `client.permissions.rules`'."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import CapacityLimiter, to_thread

from acp_tui.client.settings.refusal_rule import RefusalRule
from acp_tui.conversation.tool_calls import ToolCall

if TYPE_CHECKING:
    # Most users have no rules.
    from acp_tui.client.permissions.rules import Subject


DISK_THREADS: Final = 4


class StandingRules:
    """They only ever refuse. Each method gives the first rule that does, or None."""

    def __init__(self, rules: Sequence[RefusalRule], roots: Sequence[Path]) -> None:
        """`roots` are the directories of the session, which relative globs are below."""
        self._rules = tuple(rules)
        self.roots = tuple(roots)
        self._limiter: CapacityLimiter | None = None

    async def against_call(self, call: ToolCall) -> RefusalRule | None:
        """A tool call as the agent describes it."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_tool_call

        return await self._first(subject_of_tool_call(call))

    async def against_read(self, path: str) -> RefusalRule | None:
        """Reading a file."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_read

        return await self._first(subject_of_read(path))

    async def against_write(self, path: str) -> RefusalRule | None:
        """Writing a file."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_write

        return await self._first(subject_of_write(path))

    async def against_command(self, command: str, args: Sequence[str], cwd: str) -> RefusalRule | None:
        """Running a command."""
        if not self._rules:
            return None
        from acp_tui.client.permissions.rules import subject_of_command

        return await self._first(subject_of_command(command, args, cwd))

    async def _first(self, subject: Subject) -> RefusalRule | None:
        from acp_tui.client.permissions.rules import asks_disk, first_match, resolved

        if asks_disk(self._rules, subject):
            if self._limiter is None:
                self._limiter = CapacityLimiter(DISK_THREADS)
            # A path on a dead mount may take for ever: then its request waits, and nothing else.
            resolve = partial(resolved, self._rules, subject, self.roots)
            subject = await to_thread.run_sync(resolve, abandon_on_cancel=True, limiter=self._limiter)
        return first_match(self._rules, subject, self.roots)
