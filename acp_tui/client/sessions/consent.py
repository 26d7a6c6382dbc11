"""Controls an agent's access to the user's machine: what the user lets agents use, and when to ask.

Either a rule refuses a request, or the user has allowed it, or the user is asked. The question looks and ends like a
permission request from the agent: only the user can allow it.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acp_tui.client.agents.command import AgentCommand, Sandboxes, sandboxes_of
from acp_tui.client.settings.settings import RefusalRule, Settings
from acp_tui.conversation import UNSET, tool_calls
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.updates import SessionUpdate, ToolCallReported
from acp_tui.protocol.roles import ClientOffer
from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.sessions.allowances import Allowances, AllowedRun, UnaskedKind, Unlike
    from acp_tui.client.workspace.containment import ContainedPath as Place


HEADLESS: Final = ClientOffer()
"""There's no one to fill in a form, visit a page, or log in."""
INTERACTIVE: Final = ClientOffer(elicitation_form=True, elicitation_url=True, auth_terminal=True)
"""A person is at the screen."""


class Grant(Enum):
    """The value is what the settings say."""

    ON = "on"
    """Served inside the workspace; the user is asked about anything outside it."""
    UNASKED = "ask-if-unasked"
    """The same for what the user allowed when the agent asked; the user is asked about anything else."""
    ASK = "ask"
    """The user is asked every time."""
    OFF = "off"
    """Neither advertised nor served."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The user's standing decisions. None of them allows anything that the user would otherwise be asked about.

    Only `unasked` does, because the user named it for this one run of an agent.
    """

    read: Grant = Grant.ON
    write: Grant = Grant.UNASKED
    terminals: Grant = Grant.UNASKED
    refuse: tuple[RefusalRule, ...] = ()
    unasked: frozenset[UnaskedKind] = frozenset()
    """What the agent may do without asking where that would be asked about, as if the user had said so in a session."""
    sandboxes: Sandboxes = Sandboxes()

    def for_agent(self, command: AgentCommand) -> Policy:
        """The policy for this agent. An agent on another machine gets nothing of this one unless its entry says so."""
        if command.is_offered_this_machine:
            return self
        return replace(self, read=Grant.OFF, write=Grant.OFF, terminals=Grant.OFF)

    def within(self, offer: ClientOffer) -> ClientOffer:
        return replace(
            offer,
            read_text_file=offer.read_text_file and self.read is not Grant.OFF,
            write_text_file=offer.write_text_file and self.write is not Grant.OFF,
            terminal=offer.terminal and self.terminals is not Grant.OFF,
        )


def policy_of(settings: Settings, unasked: frozenset[UnaskedKind] = frozenset()) -> Policy:
    """The policy that the settings define, with what the user lets this agent do without asking."""
    return Policy(
        read=Grant(settings.workspace.read),
        write=Grant(settings.workspace.write),
        terminals=Grant(settings.workspace.terminals),
        refuse=settings.refuse,
        unasked=unasked,
        sandboxes=sandboxes_of(settings),
    )


class Rules:
    """The user's rules, which only ever refuse. Each method returns the first rule that refuses, or None.

    These are the rules of a user who has none; `apply_rules` has the others.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        """`roots` are the session's directories, the base of relative globs."""
        self.roots = tuple(roots)

    async def against_call(self, call: tool_calls.ToolCall) -> RefusalRule | None:
        return None

    async def against_read(self, path: str, place: Path) -> RefusalRule | None:
        """The rule against reading the file at `place`, which is named `path`. Only that place may then be opened."""
        return None

    async def against_write(self, path: str, place: Path) -> RefusalRule | None:
        """The rule against writing a file, as for reading one."""
        return None

    async def against_command(
        self, command: str, args: Sequence[str], cwd: str, env: Sequence[tuple[str, str]]
    ) -> tuple[RefusalRule | None, str]:
        """The rule against running a command, and otherwise why the user must be asked anyway, or "".

        The user is asked if a rule may cover something that the command line doesn't reveal.
        """
        return None, ""


ALLOW: Final = PermissionOption("allow", "Allow once", "allow_once")
IN_SESSION: Final = PermissionOption("allow_in_session", "Allow every {what} in this session", "allow_always")
REFUSE: Final = PermissionOption("refuse", "Refuse", "reject_once")
NEVER: Final = PermissionOption("never_in_session", "Refuse every {what} in this session", "reject_always")
FOR_SESSION: Final = (IN_SESSION.option_id, NEVER.option_id)


def unasked_options(kind: UnaskedKind) -> tuple[PermissionOption, ...]:
    """The answers to what an agent didn't ask about."""
    what = {"write": "write", "run": "command"}[kind]
    return tuple(replace(one, name=one.name.format(what=what)) for one in (ALLOW, IN_SESSION, REFUSE, NEVER))


UNATTENDED: Final = "nobody-asked"
"""Stands for an option's ID: the request was refused because there was no one to ask."""

_WHY: Final = {
    None: "the question was withdrawn",
    UNATTENDED: "it needs the user's permission, and there is no terminal to ask on",
}
HOW_TO_NARROW: Final = (
    "A rule for a command refuses every line that has its words, even in a text. To narrow it, add words or options."
)
WHY_SETTINGS: Final = "acp-tui asks because your settings say to ask each time."
WHY_OUTSIDE: Final = "acp-tui asks because it is outside the workspace."
WHY_OUT_OF_SANDBOX: Final = "acp-tui asks because it is outside the sandbox: if you allow it, acp-tui does it itself."
WHY_LATER: Final = "acp-tui always asks about this, because it can run later on its own: {reason}."
WHY_UNASKED: Final[Mapping[UnaskedKind, str]] = {
    "write": "{agent} wants to write this and didn't ask for permission.",
    "run": "{agent} wants to run this and didn't ask for permission.",
}
UNASKED_OPTION: Final = "--allow-unasked"
"""The option of `exec` that lets an agent write or run without asking."""
WHY_UNLIKE: Final = "{agent} wants to {kind} this, and what you allowed doesn't cover it."
_NEVER: Final[Mapping[UnaskedKind, str]] = {
    "write": "in this session, the user lets it write nothing without asking",
    "run": "in this session, the user lets it run nothing without asking",
}

Ask: TypeAlias = Callable[[tool_calls.ToolCallPatch, tuple[PermissionOption, ...], str], Awaitable[str | None]]
"""Shows a question with the reason for it, and returns the ID of the chosen option.

None if the question was withdrawn, UNATTENDED if no one saw it.
"""


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """An agent's request, in the form a person sees."""

    kind: Literal["read", "edit", "execute"]
    """One of the kinds of tool calls."""
    does: str
    """What the request does, in the imperative: "Read /etc/hosts"."""
    path: str
    """The file, or the directory to run a command in."""
    rule: RefusalRule | None
    """The user's rule against it."""
    content: tuple[tool_calls.ToolCallContent, ...] = ()
    raw_input: Mapping[str, Any] | None = None
    why: str = ""
    """Why the user must be asked in any case, in sentences; "" if the path and the settings decide."""
    warnings: tuple[str, ...] = ()
    """What the user must know before allowing it, one sentence each."""
    run: AllowedRun | None = None
    """The command, if it runs one."""
    is_out_of_sandbox: bool = False
    """Whether the agent itself couldn't do it, because its sandbox has no such file."""

    @property
    def unasked_kind(self) -> UnaskedKind:
        """What it is called where an agent does it without asking."""
        return "write" if self.run is None else "run"


@dataclass(frozen=True, slots=True)
class _Question:
    why: str
    """Why the user is asked, in sentences, one on each line."""
    options: tuple[PermissionOption, ...] = (ALLOW, REFUSE)
    compared: tuple[tool_calls.ToolCallContent, ...] = ()
    """What to show above the request's own content."""
    if_nobody: str = ""
    """What else the agent is told if there is no one to ask."""
    is_allowed: bool = False
    """They have allowed it in this session, so it's only shown."""


class Outdated(Exception):
    """Raised in a permitted block that did nothing, because what the user was shown isn't so anymore."""


OUTDATED: Final = "Nothing was written: the file changed while you decided, so acp-tui asks again."


class Consent:
    """Asks the user, or follows their rules and what they have allowed. It decides nothing itself."""

    def __init__(
        self,
        ask: Ask,
        apply: Callable[[SessionUpdate], None],
        allowances: Allowances,
        agent: str = "The agent",
        is_reported: Callable[[Path], bool] = lambda _: True,
    ) -> None:
        """`agent` is the user's name for it, because the agent chooses its own name and could say anything there.

        `is_reported` tells whether a tool call of the agent's shows what it does with a file, or in a folder.
        """
        self._ask = ask
        self._apply = apply
        self._allowances = allowances
        self._agent = agent
        self._is_reported = is_reported

    @asynccontextmanager
    async def permit(self, request: AccessRequest, grant: Grant, place: Place) -> AsyncIterator[None]:
        """Run the block if nothing forbids `request`, otherwise raise RequestFailed."""
        if request.rule is not None:
            narrower = "" if request.rule.command is None else f"\n{HOW_TO_NARROW}"
            why = f"refused by your rule: {request.rule.words}{narrower}"
            self._apply(ToolCallReported(_refused(request, place, why)))
            raise _refusal(f"{request.does}: a standing rule of the user refuses it", request.rule.reason)
        question = await self._question_about(request, grant, place)
        if question is None:
            yield
            return
        call_id = await self._asked(request, place, question)
        try:
            yield
        except Outdated:
            said = (tool_calls.BlockContent(Text(OUTDATED)), *request.content)
            self._apply(ToolCallReported(tool_calls.ToolCallPatch(call_id, status=tool_calls.CANCELLED, content=said)))
            raise
        except BaseException:
            self._settle(call_id, tool_calls.FAILED)
            raise
        self._settle(call_id, tool_calls.COMPLETED)

    async def _question_about(self, request: AccessRequest, grant: Grant, place: Place) -> _Question | None:
        """What to ask the user; None for nothing. Raises RequestFailed for what they never want in this session."""
        if request.is_out_of_sandbox or not place.inside:
            why = WHY_OUT_OF_SANDBOX if request.is_out_of_sandbox else WHY_OUTSIDE
            return _Question(f"{why} {request.why}".rstrip())
        if request.why:
            return _Question(request.why)
        if grant is Grant.UNASKED:
            unlike = await self._unlike(request, place)
            return None if unlike is None else self._unasked(request, place, unlike)
        return None if grant is Grant.ON else _Question(WHY_SETTINGS)

    async def _unlike(self, request: AccessRequest, place: Place) -> Unlike | None:
        if request.run is not None:
            return self._allowances.unlike_run(place.path, request.run)
        [write] = [item for item in request.content if isinstance(item, tool_calls.TextDiff)]
        return await self._allowances.unlike_write(place.path, write)

    def _unasked(self, request: AccessRequest, place: Place, unlike: Unlike) -> _Question | None:
        kind = request.unasked_kind
        is_allowed = self._allowances.for_session.get(kind)
        if is_allowed is False:
            self._apply(ToolCallReported(_refused(request, place, f"refused: {_NEVER[kind]}")))
            raise _refusal(f"{request.does}: {_NEVER[kind]}")
        why = WHY_UNASKED[kind].format(agent=self._agent)
        if unlike.why:
            why = WHY_UNLIKE.format(agent=self._agent, kind=kind)
            return _Question(f"{why}\n{unlike.why}", compared=unlike.compared)
        if request.warnings:
            return _Question(why)
        if is_allowed:
            return None if self._is_reported(place.path) else _Question(why, is_allowed=True)
        if_nobody = f"; it can ask, or the user can let it with {UNASKED_OPTION} {kind}"
        return _Question(why, unasked_options(kind), if_nobody=if_nobody)

    async def _asked(self, request: AccessRequest, place: Place, question: _Question) -> tool_calls.ToolCallId:
        patch = _question(request, place, content=(*question.compared, *request.content))
        if question.is_allowed:
            self._apply(ToolCallReported(patch))
            return patch.tool_call_id
        try:
            answer = await self._ask(patch, question.options, "\n".join([question.why, *request.warnings]))
        except BaseException:
            self._settle(patch.tool_call_id, tool_calls.CANCELLED)
            raise
        if answer in FOR_SESSION:
            self._allowances.for_session[request.unasked_kind] = answer == IN_SESSION.option_id
        if answer in (ALLOW.option_id, IN_SESSION.option_id):
            return patch.tool_call_id
        self._settle(patch.tool_call_id, tool_calls.CANCELLED if answer is None else tool_calls.FAILED)
        why = _WHY.get(answer, "the user refused it") + (question.if_nobody if answer == UNATTENDED else "")
        raise _refusal(f"{request.does}: {why}")

    def _settle(self, call_id: tool_calls.ToolCallId, status: str) -> None:
        self._apply(ToolCallReported(tool_calls.ToolCallPatch(call_id, status=status)))


def _refused(request: AccessRequest, place: Place, why: str) -> tool_calls.ToolCallPatch:
    return _question(request, place, content=(tool_calls.BlockContent(Text(why)),), status=tool_calls.FAILED)


def _question(
    request: AccessRequest,
    place: Place,
    *,
    content: Sequence[tool_calls.ToolCallContent],
    status: str = tool_calls.PENDING,
) -> tool_calls.ToolCallPatch:
    """The question as a tool call whose ID no agent can know, so no agent can change its text."""
    where = "" if place.inside else " (outside the workspace)"
    where = " (outside the sandbox)" if request.is_out_of_sandbox else where
    leads_to: tuple[tool_calls.ToolCallContent, ...] = ()
    if place.path != Path(request.path):
        leads_to = (tool_calls.BlockContent(Text(f"{request.path} leads to {place.path}")),)
    return tool_calls.ToolCallPatch(
        tool_calls.ToolCallId(f"acp-tui_{secrets.token_hex(16)}"),
        title=f"{request.does}{where}",
        kind=request.kind,
        status=status,
        content=(*leads_to, *content),
        locations=(tool_calls.Location(str(place.path)),),
        raw_input=UNSET if request.raw_input is None else dict(request.raw_input),
    )


def _refusal(what: str, reason: str = "") -> RequestFailed:
    return RequestFailed(ErrorCode.INTERNAL_ERROR, f"{what}: {reason}" if reason else what)
