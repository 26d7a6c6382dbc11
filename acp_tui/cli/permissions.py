"""Permission requests as text: the question, and how to ask it. Nothing is ever allowed without asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final, Generic, Protocol, TypeAlias, TypeVar, assert_never

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli.terminal import LineTerminal, open_terminal
from acp_tui.client.line_comparison import told_diff
from acp_tui.client.loading_variables import call_warnings
from acp_tui.client.sessions.consent import FOR_SESSION, UNASKED_OPTION
from acp_tui.client.sessions.session import Session
from acp_tui.client.workspace.runs_later import BUILD_FILE_MEANS, is_build_file
from acp_tui.conversation import GUARD_S, request_outline
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import REJECTIONS, PermissionOption, PermissionRequest, RequestKey, mode_of
from acp_tui.conversation.permission_requests import answer_of, keys_told, kind_word, letters_of, quoted_name
from acp_tui.conversation.tool_calls import HunkStart, TextDiff, ToolCall
from acp_tui.conversation.tool_text import NEXT_LINE, PROMPT, visible_title
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.visible.confusables import make_visible_path
from acp_tui.conversation.visible.cutting import cut_text

T = TypeVar("T")
ToldDiff: TypeAlias = Callable[[str, str | None, str, Sequence[HunkStart]], str]
"""Tells a change: of this path, from the old text to the new one, where its parts are found."""

MAX_CHARACTERS: Final = 20_000
"""The most characters of a call's raw input. More would push everything else out of the terminal's scrollback."""
NO_LIMIT: Final = 1 << 30
SIGNS: Final = frozenset(" +-")
"""What begins the lines of a diff."""


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

    def check_requests(self, tasks: TaskGroup) -> None:
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
    reject: Callable[[PermissionOption], Awaitable[bool]] | None = None,
    has_hints: bool = True,
    told: ToldDiff = told_diff,
) -> None:
    """Ask until there's an answer to the current question, and give it to the agent.

    `head` goes above the question. `on_shown` gets the shown call. `reject` rejects with a reason, if the user can
    give one, or returns False. `has_hints` says what to type. `told` tells diffs.
    """

    conversation, cwd = session.conversation, str(session.cwd)
    waiting = conversation.permissions

    async def question() -> str:
        """Return the current question. The call changes in place, and the client may add a note."""
        nonlocal request
        while True:
            call = replace(conversation.tool_call(request.tool_call_id).call)  # for a thread
            on_shown(call)
            asked = request_outline.ShownRequest(request, call, cwd, terminals=conversation.terminals)
            text = await to_thread.run_sync(question_text, asked, told)
            if waiting.get(request.key, request) is request:
                return text
            request = waiting[request.key]

    text = await question()
    rejection = request.rejection if reject is not None else None
    why = "" if rejection is None else ", or w to reject and say why"
    hints = f"\nType {keys_told(request.answers)}{why}. Ctrl+C cancels the turn." if has_hints else ""
    place.say(f"\n{head}{text}{hints}")
    while request.key in waiting:
        line = await place.ask("Your choice: ")
        if line is None:
            session.cancel()
            return
        if line == "w" and rejection is not None and reject is not None:
            if await reject(rejection):
                return
            continue
        index, now = answer_of(request.answers, line), await question()
        if now != text:
            text = now
            place.say(f"\nIgnored: the question has changed:\n\n{text}")
        elif index is not None:
            session.answer_permission(request.key, request.answers[index].option_id)
            return
        elif line:
            place.say(f"“{make_visible_line(line)}” answers nothing here. These do: {keys_told(request.answers)}{why}.")


class PermissionPrompter:
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

    def check_requests(self) -> None:
        """Handle new requests, and drop the question on the terminal if its request is gone."""
        self._requests.check_requests(self._tasks)

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
        title = visible_title(call)
        hint = ""
        if request.is_ours and any(option.option_id in FOR_SESSION for option in request.options):
            kind = "run" if call.kind == "execute" else "write"
            hint = f"; the agent didn't ask for permission (to let it: {UNASKED_OPTION} {kind})"
        elif mode_of(self._session.conversation.options) is not None:
            hint = "; the agent's mode decides what it asks about (to choose one: --mode)"
        if self._session.refuse_unasked(request.key):
            self._say(f"rejected, since there is no terminal to ask on: {title}{hint}")
        else:
            self._say(f"canceled, since there is no terminal to ask on and no way to reject once: {title}")
            self.has_rejected = True
            self._session.cancel()


class _GuardedTerminal:
    """A terminal that only accepts a line typed after the question could be read, with nothing after it."""

    def __init__(self, terminal: LineTerminal, sleep: Callable[[float], Awaitable[None]]) -> None:
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


def question_text(asked: request_outline.ShownRequest, told: ToldDiff = told_diff) -> str:
    """Return the whole question, made visible, with numbered options. A large diff takes about a second."""
    outline = request_outline.RequestOutline(
        asked, call_warnings(asked.call), request_outline.Bounds(NO_LIMIT, MAX_CHARACTERS, len, cut_text)
    )
    lines: list[str] = []
    for part in outline.parts():
        lines += _part_lines(part, told)
        if isinstance(part, TextDiff):
            changed = told_diff(part.path, part.old_text, part.new_text, part.parts).split("\n")
            outline.note_lines(line[1:] for line in changed[2:] if line[:1] in SIGNS)
    if outline.says_more:
        lines.append("  what else is reported isn't shown here: _meta")
    return "\n".join([*lines, "", *_options(asked.request)])


def _part_lines(part: request_outline.RequestPart, told: ToldDiff) -> Iterator[str]:
    match part:
        case request_outline.Heading(text):
            yield f"Permission needed: {text}"
        case request_outline.Remark(text, "note"):
            yield text
        case request_outline.Remark(text) | request_outline.Passage(text, ""):
            yield from (f"  {line}" for line in text.split("\n"))
        case request_outline.Passage(text, label):
            yield f"  {label}"
            yield from (f"  │ {line}" for line in text.split("\n"))
        case request_outline.Row(label, text):
            yield f"  {label}{text}"
        case request_outline.CommandToRun(lines, cwd):
            yield from (f"  {NEXT_LINE if number else PROMPT}{line}" for number, line in enumerate(lines))
            if cwd is not None:
                yield f"  in {cwd}"
        case TextDiff(path, new_text, old_text):
            if is_build_file(path):
                yield f"  {make_visible_path(path)} is {BUILD_FILE_MEANS}"
            yield from (f"  {line}" for line in told(path, old_text, new_text, part.parts).split("\n"))
        case _:
            assert_never(part)


def _options(request: PermissionRequest) -> Iterator[str]:
    """Yield the options, our words and keys first: the agent's name for an answer may not match what it does."""
    answers = request.answers
    width = max((len(kind_word(option)) for option in answers), default=0)
    for number, (option, letter) in enumerate(zip(answers, letters_of(answers), strict=True), 1):
        yield f"  {number} {letter or ' '}  {kind_word(option):<{width}}  {quoted_name(option)}".rstrip()
