"""The rules of a user who has some, applied to what an agent asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anyio import CapacityLimiter, to_thread

from acp_tui.client.permissions import rules
from acp_tui.client.sessions.consent import Rules
from acp_tui.client.settings.settings import RefusalRule
from acp_tui.conversation.tool_calls import ToolCall

DISK_THREADS: Final = 4
WHY_IN_DOUBT: Final = (
    "acp-tui asks because {part} may stand for something that the command doesn't say, and one of your rules refuses"
    " {rule}."
)


class StandingRules(Rules):
    """At least one rule. Paths are resolved in a thread.

    A link can lead elsewhere each time someone looks. So a file counts by its name, and by the place that was located
    for it, which is the only one that is opened then.
    """

    def __init__(self, refusals: Sequence[RefusalRule], roots: Sequence[Path]) -> None:
        super().__init__(roots)
        self._rules = tuple(refusals)
        self._limiter: CapacityLimiter | None = None

    async def against_call(self, call: ToolCall) -> RefusalRule | None:
        return await self._first(rules.subject_of_tool_call(call))

    async def against_read(self, path: str, place: Path) -> RefusalRule | None:
        return await self._first(rules.subject_of_read(path, str(place)))

    async def against_write(self, path: str, place: Path) -> RefusalRule | None:
        return await self._first(rules.subject_of_write(path, str(place)))

    async def against_command(
        self, command: str, args: Sequence[str], cwd: str, env: Sequence[tuple[str, str]]
    ) -> tuple[RefusalRule | None, str]:
        subject = await self._resolved(rules.subject_of_command(command, args, cwd, env))
        refusing = rules.first_match(self._rules, subject, self.roots)
        in_doubt = None if refusing is not None else rules.doubtful(self._rules, subject)
        return refusing, "" if in_doubt is None else WHY_IN_DOUBT.format(rule=in_doubt[0].words, part=in_doubt[1])

    async def _first(self, subject: rules.RuleSubject) -> RefusalRule | None:
        return rules.first_match(self._rules, await self._resolved(subject), self.roots)

    async def _resolved(self, subject: rules.RuleSubject) -> rules.RuleSubject:
        if not rules.asks_disk(self._rules, subject):
            return subject
        if self._limiter is None:
            self._limiter = CapacityLimiter(DISK_THREADS)
        # A path on a dead mount may block forever. Then only its own request waits.
        resolve = partial(rules.resolved, self._rules, subject, self.roots)
        return await to_thread.run_sync(resolve, abandon_on_cancel=True, limiter=self._limiter)
