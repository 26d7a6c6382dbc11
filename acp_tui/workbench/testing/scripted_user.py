"""Acts as the user of an agent under test: passes on the test's answers, and never allows anything else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from copy import copy
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.conversation import elicitation
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import Entry, EntryId, Message, ToolCallEntry
from acp_tui.conversation.facts import PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import TerminalId, ToolCall
from acp_tui.conversation.visible import make_visible_line
from acp_tui.workbench.conformance import Frame
from acp_tui.workbench.testing.failures import call_line
from acp_tui.workbench.testing.turn import (
    CANCEL_TURN,
    AskedElicitation,
    AskedPermission,
    ElicitationAnswers,
    ElicitationReply,
    PermissionAnswers,
    Turn,
    option_of,
    run_command,
)


class ScriptedUser:
    """Answers for one agent and all of its sessions."""

    def __init__(self, agent: Agent) -> None:
        self.permissions = PermissionAnswers()
        self.elicitations = ElicitationAnswers()
        self.unanswered: list[str] = []
        """Questions that the test doesn't answer, as sentences."""
        self.has_given_up = anyio.Event()
        """Set once there is an unanswered question."""
        self._agent = agent
        self._seen: set[tuple[Session | None, RequestKey]] = set()
        self._arrived: list[Callable[[], None]] = []
        """The pending handler of each new question."""
        agent.on_elicitations = self.note

    def note(self, *_: object) -> None:
        """Collect new questions now, and answer them once the change is complete.

        They must be collected immediately, because a turn that ends right after withdraws its questions.
        """
        self._collect()
        asyncio.get_running_loop().call_soon(self.answer_new)

    def answer_new(self) -> None:
        self._collect()
        arrived, self._arrived = self._arrived, []
        for take_up in arrived:
            take_up()

    def _collect(self) -> None:
        for key, asked in self._agent.elicitations.items():
            if self._is_new(None, key):
                self._arrived.append(partial(self._elicited, None, key, asked))
        for session in self._agent.sessions.values():
            for request in session.conversation.permissions.values():
                if self._is_new(session, request.key):
                    call = copy(session.conversation.tool_call(request.tool_call_id).call)
                    self._arrived.append(partial(self._requested, session, request, call))
            for key, asked in session.conversation.elicitations.items():
                if self._is_new(session, key):
                    self._arrived.append(partial(self._elicited, session, key, asked))

    def _is_new(self, session: Session | None, key: RequestKey) -> bool:
        is_new = (session, key) not in self._seen
        self._seen.add((session, key))
        return is_new

    # Permissions

    def _requested(self, session: Session, request: PermissionRequest, call: ToolCall) -> None:
        rule = self.permissions.take(call.shown_title, call.kind)
        is_open = request.key in session.conversation.permissions
        chosen = option_of(request.options, rule.answer) if is_open and rule is not None else None
        self.permissions.asked.append(AskedPermission(session.session_id, call, request.options, request.note, chosen))
        if not is_open:
            self._taken_back(f"the permission {call.shown_title!r}")
        elif chosen is not None:
            pass_on(session, request.key, chosen.option_id)
        elif rule is not None and rule.answer == CANCEL_TURN:
            session.cancel()
        else:
            self._give_up(session, _unanswered(call, request, None if rule is None else rule.answer))

    def _taken_back(self, what: str) -> None:
        if not self.unanswered:  # otherwise we cancelled the turn ourselves
            what = make_visible_line(what)
            self._give_up(None, f"didn't wait for the answer to {what}: it ended the turn or canceled the request")

    def _give_up(self, session: Session | None, what: str) -> None:
        self.unanswered.append(what)
        self.has_given_up.set()
        if session is not None:
            session.cancel()

    def take_unanswered(self) -> list[str]:
        """Return the unanswered questions since the last call."""
        taken, self.unanswered = self.unanswered, []
        if taken:
            self.has_given_up = anyio.Event()
        return taken

    # Elicitations

    def _elicited(self, session: Session | None, key: RequestKey, asked: elicitation.Elicitation) -> None:
        rule = self.elicitations.take(asked.message)
        reply = ElicitationReply("cancel") if rule is None else rule.answer
        waiting = self._agent.elicitations if session is None else session.conversation.elicitations
        if key not in waiting:
            reply = ElicitationReply("cancel")
            self._taken_back(f"{asked.message!r}")
        else:
            self._answer(session, key, asked, reply)
            if rule is None:
                self._give_up(session, _unexpected(asked))
        session_id = None if session is None else session.session_id
        self.elicitations.asked.append(AskedElicitation(session_id, asked, reply.action, reply.values))

    def _answer(
        self, session: Session | None, key: RequestKey, asked: elicitation.Elicitation, reply: ElicitationReply
    ) -> None:
        side = self._agent if session is None else session
        try:
            side.questions.answer(key, reply.action, reply.values)
        except ValueError as error:
            self._give_up(session, _misfit(asked, error))
            side.questions.answer(key, "cancel")


def pass_on(session: Session, key: RequestKey, option_id: str) -> None:
    session.answer_permission(key, option_id)


def _unanswered(call: ToolCall, request: PermissionRequest, wanted: str | None) -> str:
    title = json.dumps(make_visible_line(call.shown_title), ensure_ascii=False)
    if wanted is None:
        what = "asked for permission, which the test doesn't expect, so the turn was canceled"
    else:
        what = f"offers no option {wanted!r}, which the test chooses; the turn was canceled"
    lines = [what, "", f"  {call_line(call)}"]
    if request.note is not None:
        lines.append(f"  {request.note}")
    for option in request.options:
        lines.append(make_visible_line(f"  - {option.name!r}: kind {option.kind!r}, id {option.option_id!r}"))
    if wanted is None:
        lines += [
            "",
            "To answer it, add this before the prompt:",
            f"  agent.permissions.expect({title}).allow()  # or .reject(), .choose(...), .cancel_turn()",
            f'  agent.on_permission("allow_once", title={title})  # each time, asked for or not',
        ]
    return "\n".join(lines)


def _unexpected(asked: elicitation.Elicitation) -> str:
    message = make_visible_line(asked.message)
    lines = [f"asked a question the test doesn't expect: {message!r}; it was canceled", ""]
    lines += [f"  {line}" for line in described(asked)]
    message = json.dumps(message, ensure_ascii=False)
    lines += [
        "",
        "To answer it, add this before the prompt:",
        f"  agent.elicitations.expect({message}).accept(...)  # or .decline(), .cancel()",
    ]
    return "\n".join(lines)


def _misfit(asked: elicitation.Elicitation, error: ValueError) -> str:
    message = make_visible_line(asked.message)
    lines = [f"asks {message!r}, but the test's answer is invalid: {error}", ""]
    return "\n".join([*lines, *(f"  {line}" for line in described(asked))])


OWN_CALL: Final = "acp-tui_"
"""The prefix of the IDs of the client's own questions."""


class WatchedSession:
    """Follows one session, from before it's opened. `session` is set once it's open."""

    session: Session

    def __init__(self, user: ScriptedUser, frames: list[Frame], recording: Path) -> None:
        self._changed = anyio.Event()
        self._user = user
        self._frames = frames
        self._recording = recording
        self._touched: dict[EntryId, None] = {}
        self._begin = (0, 0, 0)
        self._terminals_before: frozenset[TerminalId] = frozenset()

    def attend(self, session: Session) -> None:
        session.subscribe(self._note)

    def _note(self, change: Change) -> None:
        self._touched.update(dict.fromkeys(change.entries))
        self.wake()
        self._user.note()

    def begin_turn(self) -> None:
        self._touched.clear()
        user = self._user
        self._begin = len(self._frames), len(user.permissions.asked), len(user.elicitations.asked)
        self._terminals_before = frozenset(self.session.conversation.terminals)

    def wake(self) -> None:
        """Wake everything that waits, to check again."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, is_so: Callable[[], bool], is_over: Callable[[], bool]) -> bool:
        """Wait until `is_so`; return False if `is_over` or the agent exits first."""
        while not is_so():
            if is_over() or not self.session.conversation.is_connected:
                return False
            await self._changed.wait()
        return True

    def turn(self, prompt: str, *, is_over: bool) -> Turn:
        conversation, session_id = self.session.conversation, self.session.session_id
        entries = [conversation.entries[entry_id] for entry_id in sorted(self._touched)]
        calls = [entry.call for entry in entries if isinstance(entry, ToolCallEntry)]
        new_terminals = (each for name, each in conversation.terminals.items() if name not in self._terminals_before)
        frames, permissions, elicitations = self._begin
        asked, elicited = self._user.permissions.asked, self._user.elicitations.asked
        return Turn(
            prompt,
            session_id,
            stop_reason=conversation.last_stop_reason if is_over else None,
            messages=_texts(entries, "agent"),
            thoughts=_texts(entries, "thought"),
            tool_calls=tuple(copy(call) for call in calls if not call.tool_call_id.startswith(OWN_CALL)),
            commands=tuple(map(run_command, new_terminals)),
            plan=None if conversation.has_old_plans else conversation.plan,
            permissions=tuple(each for each in asked[permissions:] if each.session_id == session_id),
            elicitations=tuple(each for each in elicited[elicitations:] if each.session_id == session_id),
            frames=tuple(self._frames[frames:]),
            workspace=self.session.cwd,
            recording=self._recording,
        )


def _texts(entries: list[Entry], role: str) -> tuple[str, ...]:
    return tuple(entry.text for entry in entries if isinstance(entry, Message) and entry.role == role)


def described(asked: elicitation.Elicitation) -> list[str]:
    """The fields of a form, one per line; or the address of a page."""
    if not isinstance(asked, elicitation.Form):
        return [f"page {make_visible_line(asked.url)}"]
    return [make_visible_line(_line(field)) for field in asked.fields]


def _line(field: elicitation.Field) -> str:
    required = "; required" if field.is_required else ""
    return f"field {field.name!r}: {_wanted(field)}{required}"


def _wanted(field: elicitation.Field) -> str:
    match field:
        case elicitation.TextField():
            return "a text" if field.format is None else f"a text, {field.format}"
        case elicitation.NumberField():
            return "a whole number" if field.is_integer else "a number"
        case elicitation.BooleanField():
            return "True or False"
        case elicitation.ChoiceField():
            return f"one of {', '.join(repr(choice.value) for choice in field.choices)}"
        case elicitation.MultiChoiceField():
            return f"a list, of {', '.join(repr(choice.value) for choice in field.choices)}"
        case _:
            return f"{field.kind}, which acp-tui doesn't know"
