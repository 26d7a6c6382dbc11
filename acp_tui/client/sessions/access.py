"""Stands between an agent and the user's machine: what a user lets agents have there, and who is asked about the rest.

A rule refuses a request, or the user is asked. A question looks and ends like a permission request of the agent:
allowed once, and only by the user.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from anyio import CapacityLimiter, to_thread

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.permissions.rules import (
    Subject,
    asks_disk,
    doubtful,
    first_match,
    resolved,
    subject_of_command,
    subject_of_read,
    subject_of_tool_call,
    subject_of_write,
)
from acp_tui.client.settings.tree import RefusalRule, Settings
from acp_tui.conversation import UNSET, tool_calls
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    ToolCall,
    ToolCallContent,
    ToolCallId,
    ToolCallPatch,
)
from acp_tui.conversation.updates import SessionUpdate, ToolCallReported
from acp_tui.protocol.roles import ClientOffer
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.workspace import Location as Place


HEADLESS: Final = ClientOffer()
"""Nobody can fill in a form, visit a page or log in."""
INTERACTIVE: Final = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)
"""A person sits at the screen."""


class Grant(Enum):
    """The value is what the settings say."""

    ON = "on"
    """Served inside the workspace, asked about outside of it."""
    ASK = "ask"
    """Asked about each time."""
    OFF = "off"
    """Neither advertised nor served."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A user's standing decisions. None of them allows what would else be asked about."""

    read: Grant = Grant.ON
    write: Grant = Grant.ON
    terminals: Grant = Grant.ON
    refuse: tuple[RefusalRule, ...] = ()
    output_limit_bytes: int | None = None
    """Kept of a terminal's output where the agent names no limit; None: the terminals' own."""

    def for_agent(self, command: AgentCommand) -> Policy:
        """What holds for this agent: one that runs elsewhere gets nothing of this machine unless its entry says so."""
        if command.is_offered_this_machine:
            return self
        return replace(self, read=Grant.OFF, write=Grant.OFF, terminals=Grant.OFF)

    def within(self, offer: ClientOffer) -> ClientOffer:
        """What of `offer` may be offered."""
        return replace(
            offer,
            read_text_file=offer.read_text_file and self.read is not Grant.OFF,
            write_text_file=offer.write_text_file and self.write is not Grant.OFF,
            terminal=offer.terminal and self.terminals is not Grant.OFF,
        )


def policy_of(settings: Settings) -> Policy:
    """What the settings come to."""
    return Policy(
        read=Grant(settings.workspace.read),
        write=Grant(settings.workspace.write),
        terminals=Grant(settings.workspace.terminals),
        refuse=settings.refuse,
        output_limit_bytes=settings.terminals.output_limit_bytes,
    )


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
        return await self._first(subject_of_tool_call(call))

    async def against_read(self, path: str) -> RefusalRule | None:
        """Reading a file."""
        if not self._rules:
            return None
        return await self._first(subject_of_read(path))

    async def against_write(self, path: str) -> RefusalRule | None:
        """Writing a file."""
        if not self._rules:
            return None
        return await self._first(subject_of_write(path))

    async def against_command(
        self, command: str, args: Sequence[str], cwd: str, env: Sequence[tuple[str, str]]
    ) -> tuple[RefusalRule | None, str]:
        """Running a command; where no rule refuses, the second is why the user is asked all the same, "" for no reason.

        They are asked where a rule may cover what the line does not tell.
        """
        if not self._rules:
            return None, ""
        subject = subject_of_command(command, args, cwd, env)
        refusing = await self._first(subject)
        in_doubt = None if refusing is not None else doubtful(self._rules, subject)
        return refusing, "" if in_doubt is None else WHY_IN_DOUBT.format(rule=in_doubt.words)

    async def _first(self, subject: Subject) -> RefusalRule | None:
        if asks_disk(self._rules, subject):
            if self._limiter is None:
                self._limiter = CapacityLimiter(DISK_THREADS)
            # A path on a dead mount may take for ever: then its request waits, and nothing else.
            resolve = partial(resolved, self._rules, subject, self.roots)
            subject = await to_thread.run_sync(resolve, abandon_on_cancel=True, limiter=self._limiter)
        return first_match(self._rules, subject, self.roots)


ALLOW: Final = PermissionOption("allow", "Allow this once", "allow_once")
REFUSE: Final = PermissionOption("refuse", "Refuse", "reject_once")
NOBODY_ASKED: Final = "nobody-asked"
"""In place of an option's id: it was refused because there was nobody to ask."""

_WHY: Final = {
    None: "the question was withdrawn",
    NOBODY_ASKED: "it needs the user's permission, and there is no terminal to ask on",
}
WHY_SETTINGS: Final = "acp-tui asks because your settings say to ask each time."
WHY_OUTSIDE: Final = "acp-tui asks because it is outside the workspace."
WHY_IN_DOUBT: Final = (
    "acp-tui asks because the command hides what it runs, and one of your rules refuses {rule}."
)
WHY_LATER: Final = "acp-tui always asks about this, because it can run later on its own: {reason}."

Ask: TypeAlias = Callable[[ToolCallPatch, tuple[PermissionOption, ...], str], Awaitable[str | None]]
"""Shows a question with a word on why it is asked, and gives the id of what was chosen.

None: it was taken back. NOBODY_ASKED: nobody saw it.
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """What an agent wants to be served, as a person is to see it."""

    kind: str
    """Of the tool calls' kinds."""
    does: str
    """What it comes to, in the imperative: "Read /etc/hosts"."""
    path: str
    """The file, or the directory that a command is to run in."""
    rule: RefusalRule | None
    """The user's standing rule against it."""
    content: tuple[ToolCallContent, ...] = ()
    raw_input: Mapping[str, Any] | None = None
    why: str = ""
    """Why the user is asked in any case, a sentence or more; "" where the place and the settings decide."""
    warnings: tuple[str, ...] = ()
    """What the user must know before they allow it, a sentence each."""


class Access:
    """Decides nothing: it heeds the user's rule, or asks the user."""

    def __init__(self, ask: Ask, apply: Callable[[SessionUpdate], None]) -> None:
        self._ask = ask
        self._apply = apply

    @asynccontextmanager
    async def leave(self, wish: Wish, grant: Grant, place: Place) -> AsyncIterator[None]:
        """Serve inside of the block what nothing stands against. Raises RequestFailed where something does."""
        if wish.rule is not None:
            self._apply(ToolCallReported(_refused(wish, place, wish.rule)))
            raise _refusal(f"{wish.does}: a standing rule of the user refuses it", wish.rule.reason)
        if place.inside and grant is Grant.ON and not wish.why:
            yield
            return
        call_id = await self._asked(wish, place)
        try:
            yield
        except BaseException:
            self._settle(call_id, tool_calls.FAILED)
            raise
        self._settle(call_id, tool_calls.COMPLETED)

    async def _asked(self, wish: Wish, place: Place) -> ToolCallId:
        patch = _question(wish, place)
        why_asked = wish.why or WHY_SETTINGS if place.inside else f"{WHY_OUTSIDE} {wish.why}".rstrip()
        try:
            answer = await self._ask(patch, (ALLOW, REFUSE), "\n".join([why_asked, *wish.warnings]))
        except BaseException:
            self._settle(patch.tool_call_id, tool_calls.CANCELLED)
            raise
        if answer == ALLOW.option_id:
            return patch.tool_call_id
        self._settle(patch.tool_call_id, tool_calls.CANCELLED if answer is None else tool_calls.FAILED)
        raise _refusal(f"{wish.does}: {_WHY.get(answer, 'the user refused it')}")

    def _settle(self, call_id: ToolCallId, status: str) -> None:
        self._apply(ToolCallReported(ToolCallPatch(call_id, status=status)))


def _refused(wish: Wish, place: Place, rule: RefusalRule) -> ToolCallPatch:
    said = BlockContent(Text(f"refused by your rule: {rule.words}"))
    return _question(wish, place, content=(said,), status=tool_calls.FAILED)


def _question(
    wish: Wish,
    place: Place,
    *,
    content: Sequence[ToolCallContent] | None = None,
    status: str = tool_calls.PENDING,
) -> ToolCallPatch:
    """As a tool call of which no agent can know the id, and so not change what it says."""
    where = "" if place.inside else " (outside the workspace)"
    leads_to: tuple[ToolCallContent, ...] = ()
    if place.path != Path(wish.path):
        leads_to = (BlockContent(Text(f"{wish.path} leads to {place.path}")),)
    return ToolCallPatch(
        ToolCallId(f"acp-tui_{secrets.token_hex(16)}"),
        title=f"{wish.does}{where}",
        kind=wish.kind,
        status=status,
        content=(*leads_to, *(wish.content if content is None else content)),
        locations=(Location(str(place.path)),),
        raw_input=UNSET if wish.raw_input is None else dict(wish.raw_input),
    )


def _refusal(what: str, reason: str = "") -> RequestFailed:
    return RequestFailed(ErrorCode.INTERNAL_ERROR, f"{what}: {reason}" if reason else what)
