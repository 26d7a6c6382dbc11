"""Permission requests as text: the question, and how to ask it. Nothing is ever allowed without asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli.terminal import GUARD_S, Terminal, open_terminal
from acp_tui.client.line_comparison import told_diff
from acp_tui.client.loading_variables import call_warnings
from acp_tui.client.sessions.access import IN_SESSION, UNASKED_OPTION
from acp_tui.client.sessions.session import Session
from acp_tui.client.workspace.runs_later import BUILD_FILE_MEANS, is_build_file
from acp_tui.conversation import UNSET
from acp_tui.conversation.content import Text, UnknownBlock
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import REJECTIONS, PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.permission_requests import (
    MAX_FIELDS,
    answer_of,
    is_outside,
    keys_told,
    kind_word,
    letters_of,
    quoted_name,
    reported_fields,
)
from acp_tui.conversation.tool_calls import (
    BlockContent,
    FileChange,
    TerminalContent,
    TextDiff,
    ToolCall,
    ToolCallContent,
    UnknownContent,
    changed_paths,
)
from acp_tui.conversation.visible import collapse_blanks, collapse_blanks_in_line, make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_command, make_visible_path

T = TypeVar("T")

MAX_CHARACTERS: Final = 20_000
"""The most characters of a call's raw input. More would push everything else out of the terminal's scrollback."""
_NOT_TOLD: Final = frozenset({"data", "blob", "annotations", "meta"})
"""Fields of blocks to leave out: bytes, and metadata for programs."""


class OneByOne(Generic[T]):
    """Asks waiting questions one after the other, each once. Drops a question that is gone."""

    def __init__(
        self,
        waiting: Callable[[], Mapping[RequestKey, T]],
        ask: Callable[[T], Awaitable[None]],
        withdrawn: Callable[[], None],
    ) -> None:
        """`withdrawn` tells the user that the question is gone."""
        self._waiting = waiting
        self._ask = ask
        self._withdrawn = withdrawn
        self._taken: set[RequestKey] = set()
        self._asked: RequestKey | None = None
        self._asking = anyio.CancelScope()

    def look(self, tasks: TaskGroup) -> None:
        """Ask new questions, and drop those that no longer wait."""
        if self._asked is None:
            if self._next() is not None:
                tasks.start_soon(self._ask_all)
        elif self._asked not in self._waiting():
            self._asking.cancel()

    def _next(self) -> RequestKey | None:
        waiting = self._waiting()
        self._taken &= waiting.keys()
        self._asked = next((key for key in waiting if key not in self._taken), None)
        return self._asked

    async def _ask_all(self) -> None:
        while (key := self._next()) is not None:
            self._taken.add(key)
            with anyio.CancelScope() as self._asking:
                await self._ask(self._waiting()[key])
            if self._asking.cancelled_caught:
                self._withdrawn()


class Asker(Protocol):
    """Where the user is asked."""

    def say(self, text: str) -> None:
        """Print these lines."""

    async def ask(self, prompt: str) -> str | None:
        """Return a line typed after the question could be read; None at the end of input."""


async def ask_permission(
    session: Session,
    request: PermissionRequest,
    place: Asker,
    *,
    head: str = "",
    on_shown: Callable[[ToolCall], None] = lambda _: None,
    reject: Callable[[PermissionOption], Awaitable[None]] | None = None,
) -> None:
    """Ask until there's an answer to the current question, and give it to the agent.

    `head` goes above the question. `on_shown` gets the shown call. `reject` rejects with a reason, if the user can
    give one.
    """

    waiting, cwd = session.conversation.permissions, str(session.cwd)

    async def question() -> str:
        """Return the current question. The call changes in place, and the client may add a note."""
        nonlocal request
        while True:
            call = replace(session.conversation.tool_call(request.tool_call_id).call)  # for a thread
            on_shown(call)
            text = await to_thread.run_sync(question_text, call, request, cwd)
            if waiting.get(request.key, request) is request:
                return text
            request = waiting[request.key]

    text = await question()
    place.say(f"\n{head}{text}")
    rejection = request.rejection if reject is not None else None
    why = "" if rejection is None else ", w to reject and say why"
    prompt = f"Your choice, {keys_told(request.answers)}{why} (Ctrl+C cancels the turn): "
    while request.key in waiting:
        line = await place.ask(prompt)
        if line is None:
            session.cancel()
            return
        if line == "w" and rejection is not None and reject is not None:
            await reject(rejection)
            return
        index, now = answer_of(request.answers, line), await question()
        if now != text:
            text = now
            place.say(f"\nIgnored: the question has changed:\n\n{text}")
        elif index is not None:
            session.answer_permission(request.key, request.answers[index].option_id)
            return


class PermissionDesk:
    """Handles the requests of an `exec` session: asks on the terminal, or rejects if there isn't one."""

    def __init__(
        self,
        session: Session,
        tasks: TaskGroup,
        say: Callable[[str], None],
        hold_output: Callable[[], AbstractContextManager[None]],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Nothing else may be printed within `hold_output`, so that the question stays the last thing shown."""
        self.has_rejected = False
        self._session = session
        self._tasks = tasks
        self._say = say
        self._hold_output = hold_output
        self._sleep = sleep
        self._requests = OneByOne(lambda: session.conversation.permissions, self._decide, self._say_withdrawn)

    def look(self) -> None:
        """Handle new requests, and drop the question on the terminal if its request is gone."""
        self._requests.look(self._tasks)

    def note_decisions(self, entry: ToolCallEntry) -> None:
        """Check whether a permission about this call was rejected."""
        self.has_rejected |= any(decision.option_kind in REJECTIONS for decision in entry.decisions)

    async def _decide(self, request: PermissionRequest) -> None:
        terminal = open_terminal()
        if terminal is None:
            self._refuse(request)
            return
        try:
            with self._hold_output():
                await ask_permission(self._session, request, _GuardedTerminal(terminal, self._sleep))
        finally:
            terminal.close()

    def _say_withdrawn(self) -> None:
        terminal = open_terminal()
        if terminal is not None:
            terminal.show("\n(no longer needed)\n")
            terminal.close()

    def _refuse(self, request: PermissionRequest) -> None:
        """Reject when there's no one to ask.

        Only uses reject_once: "always" would decide more for the user than this.
        """
        call = self._session.conversation.tool_call(request.tool_call_id).call
        title = make_visible_line(call.shown_title)
        hint = ""
        if IN_SESSION in request.options:
            kind = "run" if call.kind == "execute" else "write"
            hint = f"; the agent didn't ask for permission (to let it: {UNASKED_OPTION} {kind})"
        if self._session.refuse_unasked(request.key):
            self._say(f"rejected, since there is no terminal to ask on: {title}{hint}")
        else:
            self._say(f"canceled, since there is no terminal to ask on and no way to reject once: {title}")
            self.has_rejected = True
            self._session.cancel()


class _GuardedTerminal:
    """A terminal that only accepts a line typed after the question could be read, with nothing after it."""

    def __init__(self, terminal: Terminal, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._terminal = terminal
        self._sleep = sleep

    def say(self, text: str) -> None:
        self._terminal.show(f"{text}\n")

    async def ask(self, prompt: str) -> str | None:
        await self._terminal.forget_typing(self._sleep)  # also what was typed after another line
        self._terminal.show(f"\n{prompt}")
        line = await self._terminal.read_line()
        if line is None:
            return None
        await self._sleep(GUARD_S)
        if self._terminal.has_more():  # a paste, or more text
            self._terminal.show("\nIgnored: more was typed after it.\n")
            return ""
        return line


# The question in any mode


def question_text(call: ToolCall, request: PermissionRequest, cwd: str = "") -> str:
    """Return the whole question, made visible, with numbered options. A large diff takes about a second.

    `cwd` is the session's folder: what lies outside is marked as such.
    """
    return "\n".join([*_lines(call, request, cwd), "", *_options(request)])


def _lines(call: ToolCall, request: PermissionRequest, cwd: str) -> Iterator[str]:
    note = request.note
    if note is not None:
        yield from map(make_visible_line, note.split("\n"))
    # In other titles, look-alike letters may be intended.
    title = make_visible_command(call.shown_title) if call.kind == "execute" else call.shown_title
    asks = title if request.title is None else request.title
    yield f"Permission needed: {collapse_blanks_in_line(make_visible_line(asks))}"
    if title not in asks and not request.is_alone:
        yield f"  {collapse_blanks_in_line(make_visible_line(title))}"
    if request.description is not None:
        yield from _text_lines(request.description)
    if request.command is not None:
        yield f"  $ {make_visible_line(make_visible_command(request.command.line))}"
        yield f"  in {make_visible_path(request.command.cwd)}"
        if is_outside(request.command.cwd, cwd):
            yield f"  outside the session's folder: {make_visible_path(request.command.cwd)}"
    if more := {key: value for key, value in (request.more or {}).items() if key != "_meta"}:
        yield from _field_lines("subject", more)
    for warning in call_warnings(call):
        if warning not in (note or ""):
            yield f"  {make_visible_line(warning)}"
    for path in dict.fromkeys(item.path for item in call.content if isinstance(item, TextDiff)):
        if is_build_file(path):
            yield f"  {make_visible_path(path)} is {BUILD_FILE_MEANS}"
    for location in call.locations:
        yield f"  at {make_visible_path(location.path)}"
    for path in _paths(call):
        if is_outside(path, cwd):
            yield f"  outside the session's folder: {make_visible_path(path)}"
    for item in call.content:
        yield from _content_lines(item)
    yield from _field_lines("input", call.raw_input)
    if call.raw_output is not UNSET:
        yield from _field_lines("output", call.raw_output)


def _content_lines(item: ToolCallContent) -> Iterator[str]:
    match item:
        case TextDiff():
            yield from _diff_lines(item)
        case FileChange():
            yield f"  {make_visible_path(item.words)}"
        case BlockContent(Text(text)):
            yield from _text_lines(text)
        case BlockContent(UnknownBlock(kind, raw)) | UnknownContent(kind, raw):
            yield f"  {make_visible_line(kind)}: a kind of content acp-tui doesn't know"
            yield from _field_lines("content", raw)
        case BlockContent(block):
            told = {each.name: getattr(block, each.name) for each in fields(block) if each.name not in _NOT_TOLD}
            yield from _field_lines("content", {name: value for name, value in told.items() if value is not None})
        case TerminalContent(terminal_id):
            yield f"  in the terminal {make_visible_line(terminal_id)}"


def _paths(call: ToolCall) -> Iterator[str]:
    """Yield every reported path once."""
    diffs = changed_paths(call.content)
    given = call.raw_input.get("cwd") if isinstance(call.raw_input, dict) else None
    where = [given] if isinstance(given, str) else []
    yield from dict.fromkeys([*diffs, *(location.path for location in call.locations), *where])


def _options(request: PermissionRequest) -> Iterator[str]:
    """Yield the options, our words and keys first: the agent's name for an answer may not match what it does."""
    answers = request.answers
    width = max((len(kind_word(option)) for option in answers), default=0)
    for number, (option, letter) in enumerate(zip(answers, letters_of(answers), strict=True), 1):
        yield f"  {number} {letter or ' '}  {kind_word(option):<{width}}  {quoted_name(option)}"


def _diff_lines(diff: TextDiff) -> Iterator[str]:
    for line in told_diff(diff.path, diff.old_text, diff.new_text).split("\n"):
        yield f"  {line}"


def _field_lines(name: str, value: Any) -> Iterator[str]:
    """Yield every field of a tool's input or output on its own line, with long texts below their names."""
    if value is UNSET:
        yield f"  {name}: not reported"
        return
    left = MAX_CHARACTERS
    for number, (path, text) in enumerate(reported_fields(value, name)):
        if left <= 0 or number == MAX_FIELDS:
            yield "  … the agent reports more than can be shown"
            return
        shown, cut = text[:left], len(text) - left
        left -= len(text)
        label = collapse_blanks_in_line(make_visible_line(path))
        if "\n" in shown:
            yield f"  {label}:"
            yield from (f"  │ {line}" for line in _visible(shown).split("\n"))
        else:
            yield f"  {label}: {_visible(shown)}"
        if cut > 0:
            yield f"  … and {cut:,} more characters, not shown"


def _text_lines(text: str) -> Iterator[str]:
    yield from (f"  {line}" for line in _visible(text).split("\n"))


def _visible(text: str) -> str:
    return collapse_blanks(make_visible_command(text))
