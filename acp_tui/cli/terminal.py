"""What commands without a screen do around a session: ask on the terminal, and report about the start.

Questions go to the controlling terminal; many commands ask there whether an agent may run. `exec`, the line mode, and
the doctor share the start, but each waits for its agent and asks its user in its own way.
"""

from __future__ import annotations

import locale
import os
import re
import select
import termios
import textwrap
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import anyio
from anyio.abc import TaskGroup

from acp_tui.cli import ExitCode
from acp_tui.cli.output import say
from acp_tui.client.agents import remembered
from acp_tui.client.agents.command import AgentCommand, Phase
from acp_tui.client.desktop import QUESTION, SURE_QUESTION, UNANSWERED_S, lag_s
from acp_tui.client.errors import AuthenticationRequired, SettingsError
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.reader import read_settings
from acp_tui.client.settings.trust import ProjectServers
from acp_tui.conversation import GUARD_S
from acp_tui.conversation.visible import make_visible, make_visible_line

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent  # loads the wire types
    from acp_tui.client.sessions.driver import Additions


LOOK_S: Final = 0.02
NEVER_S: Final = 6.0
"""A terminal that hasn't answered by then never does."""
ESCAPE: Final = b"\x1b"
FALLBACK_COLUMNS: Final = 80
_ANSWER: Final = re.compile(rb"\x1b\[(?:0n|\?[0-9;]*c)")


def open_terminal() -> LineTerminal | None:
    """Open the controlling terminal, if there is one. It may exist even if stdin and stdout are pipes."""
    try:
        return LineTerminal(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None


class LineFence:
    """Waits until a terminal has shown what was written to it, and drops what is typed before that.

    A terminal answers a question only after it has taken everything that was sent before it.
    """

    has_answered: ClassVar[bool | None] = None
    """Whether the controlling terminal has ever answered; None until that is known."""
    unanswered: ClassVar[list[bool]] = []
    """Its questions, in order, and whether each was asked surely. Some may be of dialogs that were withdrawn."""
    sure_answer: ClassVar[str] = ""
    """Its last answer to a question that was asked surely."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = b""
        self._is_asked = False
        self._ends_s = 0.0
        self._settings: list[Any] | None = None

    def __enter__(self) -> Self:
        """Don't show what is typed, nor the answer, and ask."""
        with suppress(termios.error, OSError):
            self._settings = termios.tcgetattr(self._descriptor)
            quiet = [*self._settings]
            quiet[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, quiet)
            if LineFence.has_answered is not False and os.environ.get("TERM", "dumb") not in ("", "dumb"):
                self._ask()
        self._ends_s = time.monotonic() + (NEVER_S if self._is_asked else UNANSWERED_S)
        return self

    def _ask(self) -> None:
        surely = bool(LineFence.unanswered) or LineFence.has_answered is None
        self._is_asked = os.write(self._descriptor, (SURE_QUESTION if surely else QUESTION).encode()) > 0
        LineFence.unanswered.append(surely)

    def __exit__(self, *_: object) -> None:
        if self._settings is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._settings)

    def is_shown(self, wait_s: float = 0.0) -> bool:
        """Whether it is shown by now; waits this long for an answer. True if the terminal is gone or never answers."""
        if self._settings is None:
            return True
        if not select.select([self._descriptor], [], [], wait_s)[0]:
            return time.monotonic() >= self._ends_s and self._is_over()
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:
            return True
        self._read += data
        for found in _ANSWER.finditer(self._read):
            self._take(found[0].decode())
        self._read = _ANSWER.split(self._read)[-1]
        if self._is_asked and not LineFence.unanswered:
            self._is_asked, self._ends_s = False, time.monotonic() + lag_s(LineFence.sure_answer)
        return not data or (time.monotonic() >= self._ends_s and self._is_over())

    @staticmethod
    def _take(answer: str) -> None:
        """Take an answer. What was asked before a sure question will never be answered."""
        is_sure = answer.endswith("c")
        if is_sure:
            LineFence.sure_answer = answer
        if is_sure in LineFence.unanswered[: None if is_sure else 1]:
            del LineFence.unanswered[: LineFence.unanswered.index(is_sure) + 1]
            LineFence.has_answered = True

    def _is_over(self) -> bool:
        """Whether waiting is in vain. If the terminal has answered before, its answer was read elsewhere: ask again."""
        if self._is_asked and LineFence.has_answered:
            if any(LineFence.unanswered):  # it doesn't know the sure question
                LineFence.unanswered.clear()
            with suppress(OSError):
                self._ask()
            self._ends_s = time.monotonic() + NEVER_S
            return False
        if self._is_asked:
            LineFence.has_answered = False
            LineFence.unanswered.clear()
        return True


class LineTerminal:
    """Shows text and reads lines. After a hangup, it shows nothing and has no lines."""

    def __init__(self, descriptor: int) -> None:
        """Takes ownership of `descriptor`."""
        self._descriptor = descriptor

    def show(self, text: str) -> None:
        with suppress(OSError):
            encoding = locale.getpreferredencoding(do_setlocale=False)
            os.write(self._descriptor, make_visible(text).encode(encoding, "replace"))

    def forget_typed(self) -> None:
        """Drop typed input that hasn't been read, whole lines or not."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def forget_typing(self, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        """Drop what is typed until there is a pause, because it was meant for something else.

        Dropping only the beginning of a line would make an answer of its end.
        """
        with LineFence(self._descriptor) as fence:
            while not fence.is_shown():
                await anyio.sleep(LOOK_S)
        is_typing = True
        while is_typing:
            self.forget_typed()
            await sleep(GUARD_S)
            is_typing = self.has_more()

    def has_more(self) -> bool:
        return has_typed(self._descriptor)

    def wrap(self, text: str) -> str:
        """Break lines that are wider than the terminal, between words."""
        columns = 0
        with suppress(OSError):
            columns = os.get_terminal_size(self._descriptor).columns
        return "\n".join(_wrapped(line, columns or FALLBACK_COLUMNS) for line in text.split("\n"))

    async def read_line(self) -> str | None:
        """Read a line from the user; None at the end of input. Unlike a blocking read, it can be canceled."""
        await anyio.wait_readable(self._descriptor)
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:
            return None
        return data.decode("utf-8", "replace").strip() if data else None

    async def read_answer(self, keys: str) -> str:
        """Show the keys, and read a line that Esc ends, too, without an answer."""
        try:
            before, settings = (termios.tcgetattr(self._descriptor) for _ in range(2))
        except termios.error:
            return ""
        settings[6][termios.VEOL] = ESCAPE
        termios.tcsetattr(self._descriptor, termios.TCSANOW, settings)
        self.show(keys)
        try:
            answer = await self.read_line() or ""
        finally:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, before)
        if not answer.endswith(ESCAPE.decode()):
            return answer
        self.forget_typed()  # what follows it in the code of another key
        self.show("\n")
        return ""

    def close(self) -> None:
        os.close(self._descriptor)


def _wrapped(line: str, columns: int) -> str:
    if len(line) <= columns:
        return line
    text = line.lstrip(" ")
    indent = " " * (len(line) - len(text))
    wrapper = textwrap.TextWrapper(columns, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(text) + text[len(text.rstrip(" ")) :]


def agrees(question: str) -> bool | None:
    """Whether the user says yes; None without a terminal. The question ends with a space or newline."""
    terminal = open_terminal()
    if terminal is None:
        return None
    try:
        terminal.show(terminal.wrap(question))
        anyio.run(terminal.forget_typing)
        answer = anyio.run(terminal.read_answer, "[y/N] ")
    finally:
        terminal.close()
    return answer.lower() in ("y", "yes")


# May it run?


def ready_to_run(command: AgentCommand) -> AgentCommand:
    """Return the command once the user has agreed to it, now or before. Otherwise says why and raises SystemExit.

    Before an agent's first run, prints what it runs. Each time, prints what its location implies.
    """
    agreed = _agreed_to(command)
    if news := remembered.introduction(command, remembered.recent_file()):
        say(news)
    if command.place_note:
        say(f"{command.name} {command.place_note}")
    return agreed


def _agreed_to(command: AgentCommand) -> AgentCommand:
    """Ask before running a package or what a recording names. Without a terminal, nothing runs."""
    command = remembered.in_its_sandbox(command, read_settings(settings_file()).settings)
    agreed = replace(command, package=None, recorded_in=None)
    if remembered.is_agreed(command, remembered.consent_file()):
        return agreed
    is_wanted = agrees("".join(f"{make_visible_line(line)}\n" for line in remembered.what_runs(command)))
    if is_wanted is None:
        way = "--resume" if command.package is None else command.name
        say(
            f"{command.name} needs your permission for its first run, and there is no terminal to ask on.\n"
            f"  Run it once on a terminal: acp-tui {way}\n"
            f"  or use the command itself: acp-tui exec -- {command.line}"
        )
        raise SystemExit(ExitCode.USAGE)
    if not is_wanted:
        say(f"{command.name} didn't start, since you didn't agree")
        raise SystemExit(ExitCode.USAGE)
    try:
        remembered.agree(command, remembered.consent_file())
    except SettingsError as error:
        say(f"{error}; {error.hint}")
    return agreed


def say_sandbox(agent: Agent, say: Callable[[str], None]) -> None:
    if agent.sandbox is not None:
        say(f"{agent.command.name} runs in the sandbox {agent.sandbox.named}")
        for gap in agent.sandbox.engine.gaps:
            say(gap)


PATIENCE_S: Final = 3.0
"""Some agents are downloaded first; users take a longer silence for a hang."""


class SlowStart:
    """While this context is open, the start continues. If it takes long, reports that once."""

    def __init__(self, tasks: TaskGroup, agent_name: str, say: Callable[[str], None]) -> None:
        self.step = "starting"
        """The current step; change it as the start goes on."""
        self._tasks = tasks
        self._agent_name = agent_name
        self._say = say
        self._scope = anyio.CancelScope()

    def note(self, phase: Phase) -> None:
        self.step = phase.value

    def __enter__(self) -> Self:
        self._tasks.start_soon(self._say_late)
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.cancel()

    async def _say_late(self) -> None:
        with self._scope:
            await anyio.sleep(PATIENCE_S)
            self._say(f"waiting for {self._agent_name}: {self.step} ... (Ctrl+C to stop)")


class Headless:
    """Answers without a user: no login, and no new trust in a project."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    async def log_in(self, _: AuthenticationRequired) -> None:
        return None

    async def trusts(self, project: ProjectServers) -> None:
        self._say(f"MCP servers skipped: you haven't trusted {project.file} yet; acp-tui asks about it on the screen")

    def say_error(self, error: SettingsError) -> None:
        self._say(str(error))


def say_left_out(additions: Additions, say: Callable[[str], None]) -> None:
    """Print what sessions lack, one line each."""
    for note in additions.left_out:
        say(note)
    for note in additions.servers_left_out:
        say(f"MCP servers: {note}")


def has_typed(descriptor: int) -> bool:
    """Whether a terminal has typed input that hasn't been read, a whole line or not."""
    try:
        settings = termios.tcgetattr(descriptor)
        at_once = [*settings]
        at_once[3] &= ~termios.ICANON
        termios.tcsetattr(descriptor, termios.TCSANOW, at_once)
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    except termios.error:
        return False
