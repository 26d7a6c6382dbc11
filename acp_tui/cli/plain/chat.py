"""A conversation in lines: sends what the user types, prints what the agent does. One session at a time.

Everything here runs in the event loop. `console` handles the terminal, `asking` the user's answers, and the package our
slash commands. While an agent starts, the user is asked for a login, and for trust in a project's MCP servers.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from acp_tui.cli import ExitCode, code_of
from acp_tui.cli.output import error_text
from acp_tui.cli.permissions import OneByOne, ask_permission
from acp_tui.cli.plain.asking import WITHDRAWN, Questions, choose, confirm, server_words
from acp_tui.cli.plain.changes import PlainChanges
from acp_tui.cli.plain.console import Console, Outbox, send
from acp_tui.cli.plain.printer import ConversationPrinter, spoken_blocks
from acp_tui.cli.plain.tool_call_text import ACP_TUI, YOU, label_of, ours, spoken_diff
from acp_tui.cli.terminal import SlowStart, say_left_out, say_sandbox
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.attachments.attach import attach
from acp_tui.client.changes import ChangesError
from acp_tui.client.completion.matching import mention_of
from acp_tui.client.completion.workspace_files import command_named_in, is_written_out, look_into_folder
from acp_tui.client.errors import AgentRefused, AuthenticationRequired, ClientError, SettingsError
from acp_tui.client.hosting.finding import attached
from acp_tui.client.notices import BELL, About, NewsWatch, NoticeCommand, channels_of
from acp_tui.client.prompts.memory import PromptMemory
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE
from acp_tui.client.sessions.driver import (
    Additions,
    Options,
    SessionDriver,
    additions_for,
    start_agent,
    until_connected,
)
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session, Unsubscribe
from acp_tui.client.sessions.session_history import LeftSession, left_session
from acp_tui.client.settings import trust
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript import RecordTo
from acp_tui.conversation.conversation import Change
from acp_tui.conversation.entries import EntryId
from acp_tui.conversation.facts import AuthMethod, Fact, PermissionOption, PermissionRequest, SessionId
from acp_tui.conversation.updates import Disconnected
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.wording import duration, forked, reason_prompt

PROMPT: Final = f"{YOU}: "
GOES_ON: Final = "... "
QUOTES: Final = '"""'
END_LIMIT_S: Final = 2.0
"""How long printing the last lines may take."""

Work: TypeAlias = "Callable[[Chat, str], Awaitable[None]]"
"""Runs one of our commands with the text after its name. Raises ClientError."""
CommandFor: TypeAlias = Callable[[str, Collection[str]], tuple[Work, str] | None]
"""Finds our command in typed text. The taken names are the agent's."""
Opening: TypeAlias = "Callable[[Chat], Awaitable[object]]"
"""Opens the session to begin with. Raises ClientError."""


class Chat:
    """One agent and the user at the console."""

    def __init__(
        self,
        console: Console,
        command_for: CommandFor,
        command: AgentCommand,
        cwd: Path,
        settings: Settings,
        record: RecordTo | None,
        first_prompt: str | None = None,
        opening: Opening | None = None,
    ) -> None:
        self.console = console
        self._command_for = command_for
        self.settings = settings
        self.cwd = cwd
        self.session: Session | None = None
        self.changes = PlainChanges(cwd, is_elsewhere=command.is_elsewhere)
        self._command = command
        self.record = record
        self._first_prompt = first_prompt
        self._opening = opening
        self.outbox = Outbox(console.say)
        self._draft = Draft()
        self._notice = NoticeCommand(self.say)
        self._memory = PromptMemory(state_folder() if settings.history.keep else None)
        self._scope = anyio.CancelScope()
        self._code = ExitCode.DONE
        self.left: LeftSession | None = None
        """The session that the user has left, if something was said in it."""
        self._is_ready = False
        """Whether there's a session and the greeting is done, so the first prompt can be typed."""
        self._is_sending = False
        """Whether a prompt is about to be sent: its files and the folder are being read."""
        self._was_interrupted = False
        self._doubted = ""
        """What the user typed last, if it began with a command that no one has."""
        self._is_reconnecting = False
        self._outside: Questions | None = None
        self._unsubscribe: Unsubscribe = lambda: None
        self._start: AgentStart
        self._driver: SessionDriver
        self._tasks: TaskGroup
        self.teller: ConversationPrinter
        self._watch: NewsWatch
        self._permissions: Permissions
        self._questions: Questions

    async def run(self) -> int:
        """Run until the user ends it. Returns the exit status."""
        self.console.attach()
        try:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self.outbox.run)
                with self._scope:
                    await self._converse()
                with anyio.move_on_after(END_LIMIT_S):
                    await self.outbox.flush()
                self._tasks.cancel_scope.cancel()
        finally:
            self.console.end()
        return self._code

    async def _converse(self) -> None:
        async with open_hub() as hub:
            self._start = AgentStart(hub, self, self._command)
            self._driver = SessionDriver(self._start, self._start.log_in, self.cwd)
            try:
                await self.start_agent()
                await (self.begin() if self._opening is None else self._opening(self))
            except ClientError as error:
                self._code = code_of(error)
                self.outbox.put(error_text(error))
                return
            await self._recall()
            self._tasks.start_soon(self.changes.run)
            self.say(f"{self.agent_title} in {self.cwd}")
            self._is_ready = True
            if self._first_prompt is not None:
                self.tell(f"\n{PROMPT}{make_visible(self._first_prompt)}")
                self.take(self._first_prompt)
            await self._show_prompt()
            await anyio.sleep_forever()

    async def _recall(self) -> None:
        """Make earlier prompts of this folder available with the arrow keys."""
        trouble = await self._memory.load()
        if trouble:
            self.say(trouble)
        for text in reversed(self._memory.history.texts_of(str(self.cwd))):
            self.console.remember(text)

    # The agent and its sessions

    @property
    def agent(self) -> Agent:
        return self._driver.agent

    @property
    def agent_title(self) -> str:
        return make_visible_line(self.agent.title)

    @property
    def server_names(self) -> Sequence[str]:
        return [server.name for server in self._start.additions.servers]

    async def start_agent(self) -> None:
        """Start a new process. Raises ClientError."""
        self._outside = None
        await self._start.start(self._tasks, self._look_outside)

    def _look_outside(self, agent: Agent) -> None:
        """Ask the agent's questions outside of any session, which may come before it has identified itself."""
        if self._outside is None:
            self._outside = Questions(agent, agent.title, self.console, self.outbox)
        self._outside.waiting.check_requests(self._tasks)

    async def begin(self) -> None:
        """Begin a new session. Raises ClientError."""
        self.use(await self._driver.begin())

    async def open(self, session_id: SessionId, cwd: Path, chosen: Options = ()) -> Session:
        """Continue a session the agent has kept, with its history and these options. Raises ClientError."""
        session = await self._driver.open(session_id, cwd, self.use, chosen)
        if session is not self.session:
            self.use(session)
        return session

    async def restart(self, show: Callable[[Session], None] | None = None) -> None:
        """Restart the agent and continue the session, as far as the agent remembers it. Raises ClientError.

        A session is only loaded with its history if `show` is given.
        """
        earlier = self.session
        await self.agent.stop()
        if earlier is not None and earlier.conversation.is_connected:
            earlier.apply(Disconnected(""))
        await self.start_agent()
        if earlier is None:
            await self.begin()
            return
        session = await self._driver.go_on(earlier, self._refused, show)
        if session is not self.session:
            (show or self.use)(session)

    async def _reconnect(self) -> None:
        """Continue the session as soon as its agent can be reached again."""
        self.say("connecting again; press Ctrl+D to quit")
        try:
            await until_connected(lambda: self.restart(self._use_loaded))
        except ClientError as error:
            self.tell_error(error)
        else:
            assert self.session is not None
            if len(self.session.queue.prompts):
                self.session.queue.hold()
                self.say(f"{_count(self.session)}, held back: an empty line sends the next one, /drop deletes them")
        finally:
            self._is_reconnecting = False
        await self._show_prompt()

    def _use_loaded(self, session: Session) -> None:
        if self.session is None or session.conversation is not self.session.conversation:
            self.say("connected; this is the session so far:")
        self.use(session)

    def _refused(self, error: AgentRefused) -> str:
        self.tell_error(error)
        return ""

    async def fork(self) -> None:
        """Go on in a fork of the session. Raises ClientError."""
        source = self.session
        assert source is not None
        title = source.conversation.shown_title or "the session above"
        self.use(await self._driver.fork(source, title), is_fork=True)
        self.say(f"{forked(title)}; /sessions lists both")

    async def hand_over(self, command: AgentCommand, opening: Callable[[], Awaitable[object]] | None = None) -> None:
        """Go on with this agent, in what `opening` opens, or in a new session.

        Raises ClientError, and then the agent is the one before.
        """
        start, before = self._start, (self._start.agent, self._start.command)
        earlier = self.agent
        start.command = command
        try:
            await self.start_agent()
            await (opening or self.begin)()
        except ClientError:
            failed, (start.agent, start.command) = start.agent, before
            if failed is not None and failed is not earlier:
                await failed.stop()
            raise
        await earlier.stop()

    def use(self, session: Session, *, is_fork: bool = False) -> None:
        """Use this session from now on. If it's the same one continued, or a fork of it, nothing is printed again."""
        is_known = self.session is not None and self.session.conversation is session.conversation
        self._unsubscribe()
        self.session, self._watch = session, NewsWatch()
        if not is_known:
            told, title = session.conversation, self.agent.title
            self.teller = ConversationPrinter(told, session.cwd, self.outbox, self.settings, title)
            if is_fork:
                self.teller.note_options()
            else:
                self.teller.tell_all()
        self._permissions = Permissions(session, self)
        self._questions = Questions(session, self.agent.title, self.console, self.outbox)
        session.client_tools.before_write = self.changes.look_first
        self._unsubscribe = session.subscribe(self._hear)
        self._hear(Change((), (Fact.PERMISSIONS, Fact.ELICITATIONS, Fact.TURN)))

    def _hear(self, change: Change) -> None:
        self.teller.tell(change)
        self.changes.note_work()
        facts = change.facts
        if self.is_idle and (Fact.TURN in facts or Fact.CONNECTION in facts):
            self.teller.finish()
        self._look_for_news()
        if Fact.PERMISSIONS in facts:
            self._permissions.waiting.check_requests(self._tasks)
        if Fact.ELICITATIONS in facts:
            self._questions.waiting.check_requests(self._tasks)
        is_lost = self.session is not None and not self.session.conversation.is_connected
        if is_lost and self.agent.may_come_back and not self._is_reconnecting:
            self._is_reconnecting = True
            self._tasks.start_soon(self._reconnect)
        if Fact.TURN in facts or Fact.CONNECTION in facts:
            self._tasks.start_soon(self._show_prompt)

    def _look_for_news(self) -> None:
        """Say that a turn has ended, and notify the user as the settings want. Whether they look isn't known here."""
        assert self.session is not None
        conversation = self.session.conversation
        news = self._watch.news_in(conversation, time.monotonic())
        if news is None:
            return
        if news.kind == "done" and conversation.last_stop_reason == "end_turn":
            took = f", {duration(news.seconds)}" if news.seconds >= 1 else ""
            self.tell(f"\n{self.agent_title} is done{took}")
        channels = channels_of(news, self.settings.notifications)
        if not {"bell", "desktop"}.isdisjoint(channels):
            self._tasks.start_soon(partial(to_thread.run_sync, send, BELL, abandon_on_cancel=True))
        if "command" in channels and self.settings.notifications.command:
            about = About(self.agent.title, self.session.session_id, conversation.shown_title, str(self.session.cwd))
            self._tasks.start_soon(self._notice.run, self.settings.notifications.command, news, about)

    @property
    def is_idle(self) -> bool:
        """Whether a prompt would be sent immediately."""
        return self.session is None or (self.session.conversation.is_idle and not self._is_sending)

    async def _show_prompt(self) -> None:
        """Show the prompt after everything still to be printed."""
        await self.outbox.flush()
        if self._is_ready:
            self.console.show_prompt(GOES_ON if self._draft.is_open else PROMPT if self.is_idle else "")

    # What the user types

    def take_line(self, line: str) -> None:
        """Handle a line, which may continue on the next one."""
        self._was_interrupted = False
        text = self._draft.add(line)
        self.console.show_prompt(GOES_ON if text is None else "")
        if text is not None:
            self.console.remember(text)
            self.take(text)

    def take(self, text: str) -> None:
        """Send a prompt, or do what it says."""
        session = self.session
        assert session is not None  # nothing is read before
        taken = {command.name for command in session.conversation.commands}
        command = self._command_for(text, taken)
        if text.strip() == "/help" and command is None:  # users expect ours
            self.say(f"/help is {self.agent_title}'s own command; /acp:help lists what you can type")
        doubted, self._doubted = self._doubted, ""
        if command is not None:
            self._tasks.start_soon(self._obey, *command)
        elif (name := command_named_in(text)) and name not in taken and text != doubted:
            self._doubted = text
            self.say(f"neither {self.agent_title} nor acp-tui has /{name}; to send it, type it again")
            self._tasks.start_soon(self._show_prompt)
        elif text.startswith("!"):
            self._tasks.start_soon(self._obey, _run_own, text[1:].strip())
        elif not text.strip():
            self._go_on(session)
            self._tasks.start_soon(self._show_prompt)
        elif self._is_reconnecting:
            session.queue.add(text)
            self.say(f"queued until there is a connection; {_count(session)}")
        elif self.is_idle:
            self._start_sending(session, text)
        else:
            session.queue.add(text)
            self.say(f"queued until this turn ends; {_count(session)} (to list them: /queue)")

    def completions(self, word: str) -> list[str]:
        """Return the paths that continue `@PATH`, a folder at a time, as in a shell."""
        if not word.startswith("@"):
            return []
        path = word[1:]
        begin = "" if is_written_out(path) else "./"
        found = (match.text.removeprefix(begin) for match in look_into_folder(begin + path, self.cwd))
        options = [mention_of(name) for name in found if name.startswith(path)]
        return [option for option in options if option is not None and option.startswith(word)]

    async def _obey(self, work: Work, argument: str) -> None:
        try:
            await work(self, argument)
        except ClientError as error:
            self.tell_error(error)
        except ChangesError as error:
            self.say(str(error))
        await self._show_prompt()

    def _go_on(self, session: Session, *, is_asked_for: bool = True) -> None:
        """Send the first queued prompt, one that was held back only if the user asks for it."""
        queued = session.queue.next(is_asked_for=is_asked_for) if self.is_idle else None
        if queued is not None:
            self.say(f"sending a queued prompt: {make_visible_line(queued.text)}")
            self._start_sending(session, queued.text)

    def say_first(self, text: str) -> None:
        """Send this before anything else that waits."""
        assert self.session is not None
        queue = self.session.queue
        queue.add(text, is_first=True)
        if self.is_idle:
            queue.hold()
            self._go_on(self.session)

    def _start_sending(self, session: Session, text: str) -> None:
        self._is_sending = True
        self._tasks.start_soon(self._send, session, text)

    async def _send(self, session: Session, text: str) -> None:
        """Send this prompt, then what was queued during its turn, as long as all goes well."""
        attached = await to_thread.run_sync(attach, text, session.cwd)
        await self.changes.begin_turn()
        self._is_sending = False
        if not session.conversation.is_idle:
            session.queue.add(text, is_first=True)  # others began a turn meanwhile
            return
        self._memory.history.add(text, str(self.cwd), self.agent.title)
        self._tasks.start_soon(self._memory.write)
        self.teller.is_typed_here = True
        try:
            await session.send_prompt((*attached.blocks, *session.commands.take()), attached.problems)
        except ClientError as error:
            self._note_failure(session, error)
        finally:
            self.teller.is_typed_here = False
        self._go_on(session, is_asked_for=False)
        if session.queue.is_held:
            self.say(f"{_count(session)}, held back: an empty line sends the next one, /drop deletes them")
        await self._show_prompt()

    def _note_failure(self, session: Session, error: ClientError) -> None:
        """Print what to do about a failure. The conversation already shows what failed."""
        session.queue.hold()
        if not session.conversation.is_connected:
            if not self._is_reconnecting:
                has_ended = self.agent.lost is not None
                self.say(
                    f"{'the agent has stopped' if has_ended else 'the session is closed'}; to restart it: /restart"
                )
        elif error.hint and not isinstance(error, AgentRefused):
            self.say(error.hint)

    # Ending

    def cancel(self) -> None:
        """Ask the agent to stop, and hold back the queue."""
        if self.session is None or self.session.conversation.is_idle:
            self.say("no turn is running")
            return
        self.session.queue.hold()
        self.session.cancel()
        self.say("canceling; press Ctrl+C again to quit")
        self._tasks.start_soon(self._say_not_stopped, self.session, self.session.conversation.turn_start)

    async def _say_not_stopped(self, session: Session, turn_start: EntryId | None) -> None:
        await anyio.sleep(session.cancel_patience_s)
        said = session.conversation
        if session is self.session and said.is_cancelling and said.turn_start == turn_start:
            self.say("the agent hasn't stopped yet; to end and restart it: /restart")

    def interrupt(self, had_draft: bool) -> None:
        """Handle Ctrl+C: leave our own question, drop the text, or cancel the turn. The second one quits."""
        had_draft = had_draft or self._draft.is_open
        self._draft.drop()
        is_stopping = self.session is None or self.session.conversation.is_cancelling
        if not is_stopping and self.console.leave_question():
            return
        if had_draft and not is_stopping:
            self._tasks.start_soon(self._show_prompt)
        elif is_stopping or self._was_interrupted:
            self.end(ExitCode.CANCELLED)
        elif self.is_idle:
            self._was_interrupted = True
            self.say("to quit: Ctrl+C again, Ctrl+D, or /quit")
        else:
            self.cancel()

    def end(self, code: ExitCode | None = None) -> None:
        """Leave. With `code` None, the session decides the exit status."""
        is_lost = self.session is not None and not self.session.conversation.is_connected
        self._code = code if code is not None else ExitCode.AGENT_LOST if is_lost else ExitCode.DONE
        self.left = None if self.session is None else left_session(self.session, self.agent, self._command)
        self._is_ready = False
        self.console.show_prompt(None)
        self._scope.cancel()

    # Printing

    def say(self, text: str) -> None:
        self.outbox.put(ours(make_visible(text)), ACP_TUI)

    def say_theirs(self, text: str) -> None:
        """Print what the agent said."""
        for block in spoken_blocks(text):
            self.outbox.put(f"\n{block}", label_of(self.agent.title))

    def tell(self, text: str) -> None:
        self.outbox.put(text)

    def tell_error(self, error: ClientError) -> None:
        self.outbox.put(error_text(error))


async def _run_own(chat: Chat, line: str) -> None:
    assert chat.session is not None
    await chat.session.commands.run(line)
    chat.say("its output goes with your next prompt")


def _count(session: Session) -> str:
    count = len(session.queue.prompts)
    return f"{count} prompt waits" if count == 1 else f"{count} prompts wait"


class Draft:
    """A prompt typed in several lines: after a backslash, or in triple quotes."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_block = False

    @property
    def is_open(self) -> bool:
        """Whether more lines follow."""
        return self._is_block or bool(self._lines)

    def add(self, line: str) -> str | None:
        """Add a line. Returns the prompt if this line ends it, or None if it continues."""
        if self._is_block:
            return self._add_to_block(line)
        if not self._lines and line.lstrip().startswith(QUOTES):
            self._is_block = True
            return self._add_to_block(line.lstrip().removeprefix(QUOTES))
        if line.endswith("\\"):
            self._lines.append(line[:-1])
            return None
        return self._end(line)

    def _add_to_block(self, line: str) -> str | None:
        text, quotes, _ = line.partition(QUOTES)
        if not quotes:
            self._lines.append(line)
            return None
        return self._end(text).strip("\n")

    def _end(self, line: str) -> str:
        text = "\n".join([*self._lines, line])
        self.drop()
        return text

    def drop(self) -> None:
        self._lines, self._is_block = [], False


class AgentStart:
    """Starts an agent, more than once if needed, and asks the user questions on the way.

    `agent` is the current process.
    """

    def __init__(self, hub: SessionHub, chat: Chat, command: AgentCommand) -> None:
        self.agent: Agent | None = None
        self.additions = Additions()
        self._hub = hub
        self._chat = chat
        self.command = command
        self._console = chat.console

    async def start(self, tasks: TaskGroup, on_questions: Callable[[Agent], None]) -> None:
        """Start a new process and do the handshake. `on_questions` is called for questions outside of any session.

        Raises ClientError.
        """
        with SlowStart(tasks, self.command.name, self._say) as slow:
            if self.command.is_host:
                self.agent = await attached(self._hub, self.command, slow.note)
                self.agent.on_elicitations = partial(on_questions, self.agent)
                await self.agent.initialize(self._chat.settings.agent.start_limit_s or None)
                return
            self.agent = await start_agent(
                self._hub,
                self.command,
                self._chat.cwd,
                self._chat.settings,
                INTERACTIVE,
                self._say,
                recordings=self._chat.settings.recordings,
                record=self._chat.record,
                on_phase=slow.note,
                on_questions=on_questions,
            )
        say_sandbox(self.agent, self._say)
        wanted = self._chat.settings.workspace.additional_directories
        self.additions = await additions_for(self.agent, self._chat.cwd, wanted, self)
        say_left_out(self.additions, self._say)

    def _say(self, text: str) -> None:
        self._console.say(f"{ACP_TUI}: {ours(make_visible(text))}")

    # Called by the driver of its sessions

    async def log_in(self, wanted: AuthenticationRequired) -> AuthMethod | None:
        """Let the user log in. Returns how, if it's worth trying again."""
        agent = self.agent
        assert agent is not None
        ways = [f"{method.name}: {method.description or method.kind}" for method in wanted.methods]
        reason = f": {make_visible(wanted.detail)}" if wanted.detail else ""
        chosen = await choose(self._console, f"{make_visible_line(agent.title)} needs you to log in{reason}", ways)
        if chosen is None:
            return None
        method = wanted.methods[chosen]
        if method.kind == "terminal":
            login = agent.terminal_login(method.method_id)
            await agent.stop()
            status = await self._console.lend(login.run)
            if status != 0:
                self._say(f"the login failed with status {status}")
            await self._chat.start_agent()
            return method
        self._say("the agent is logging you in, perhaps in a browser (Ctrl+C to stop)")
        try:
            await agent.authenticate(method.method_id)
        except ClientError as error:
            self._console.say(error_text(error))
            return await self.log_in(wanted)
        return method

    async def trusts(self, project: trust.ProjectServers) -> bool:
        self._console.say(f"The project's file {make_visible_line(str(project.file))} names MCP servers:")
        self._console.say("\n".join(map(server_words, project.declared.servers)))
        return await confirm(self._console, "Use them until the file changes?")

    def say_error(self, error: SettingsError) -> None:
        self._console.say(error_text(error))


class Permissions:
    def __init__(self, session: Session, chat: Chat) -> None:
        self._session = session
        self._chat = chat
        self._has_hints = True
        """Whether the next question says what to type: not each time, as they are read aloud."""
        self.waiting = OneByOne(
            lambda: session.conversation.permissions, self._ask, lambda: chat.console.say(WITHDRAWN)
        )

    async def _ask(self, request: PermissionRequest) -> None:
        await self._chat.outbox.flush()
        others = len(self._session.conversation.permissions)
        has_hints, self._has_hints = self._has_hints, False
        await ask_permission(
            self._session,
            request,
            self._chat.console,
            head=f"1 of {others} questions\n" if others > 1 else "",
            on_shown=self._chat.teller.note_asked,
            reject=partial(self._reject, request),
            has_hints=has_hints,
            told=spoken_diff,
        )

    async def _reject(self, request: PermissionRequest, rejection: PermissionOption) -> bool:
        """Whether the user gave a reason, or none with Enter. With Ctrl+C, they go back to the question."""
        title = self._session.conversation.tool_call(request.tool_call_id).call.shown_title
        reason = await self._chat.console.ask(
            "Reject: why? (Enter: no reason; Ctrl+C: back) ", is_guarded=False, can_be_left=True
        )
        if reason is None:
            return False
        if reason:
            self._chat.say_first(reason_prompt(title, reason))
        self._session.answer_permission(request.key, rejection.option_id)
        return True
