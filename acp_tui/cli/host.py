"""`acp-tui host`: keeps an agent and its sessions in the background, for terminals that come and go.

The command starts itself again, detached from the terminal, and exits once that process has printed its address.
Later problems are in the host's log.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import IO, TYPE_CHECKING, Final, TextIO

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, ChosenAgent
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import error_text, say
from acp_tui.cli.prerequisites import ExitOnError, command_of, notes_of, settings_in
from acp_tui.cli.sessions import say_if_open_elsewhere, session_of, session_with_agent
from acp_tui.cli.terminal import Headless, ready_to_run, say_left_out, say_sandbox
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AuthenticationRequired, ClientError
from acp_tui.client.hosting import finding
from acp_tui.client.hosting.host import Host
from acp_tui.client.notices import About, News, NoticeCommand, channels_of
from acp_tui.client.private_files import open_private
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE
from acp_tui.client.sessions.driver import additions_for, keep_mode, show_as_recorded, start_agent
from acp_tui.client.sessions.hub import SessionHub, open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.sessions.session_history import PastSession, recorded_mode, sandboxed_as_before
from acp_tui.client.settings.settings import Notifications, Settings
from acp_tui.client.transcript.recorder import SecretsSent
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import ClientRemark

if TYPE_CHECKING:
    from acp_tui.cli.leaving import HostBehindScreen

OFFER: Final = replace(INTERACTIVE, auth_terminal=False)
"""Terminals that attach can fill in forms, but a login needs a terminal of its own."""
READY_VARIABLE: Final = "ACP_TUI_HOST_READY"
"""Names the pipe on which a background host reports that it's ready."""
COLLECTED_AT: Final = 5_000
"""How many new objects trigger a garbage collection once the host runs: those of about 40 clients."""
GOODBYE_S: Final = 1.0
"""How long clients may take to read their last messages."""


def run(args: Args) -> int:
    """Start a host, or end hosts."""
    if args.stop is not None:
        return _stop(args)
    if args.agent is None:
        _recall_agent(args)
    if args.foreground:
        return _run_here(args)
    command = ready_to_run(command_of(args.agent))  # while there's a terminal to ask on
    if args.resume is not None:
        past = _resumed(command, args)
        say_if_open_elsewhere(past)
        args.resume = past.session_id
    return _start_in_background(args)


def _recall_agent(args: Args) -> None:
    """Take the agent from the recording of the session to resume. If there is none, says so and raises SystemExit."""
    if args.resume is None:
        raise UsageError("host needs an agent: a name, or -- COMMAND; or --resume; or --stop")
    with ExitOnError(None):
        command, past = session_with_agent(args.resume, args.cwd, args.sandbox or "")
    choice = ChosenAgent(command.name) if command.is_listed else ChosenAgent(argv=command.argv)
    args.agent = choice._replace(sandbox=args.sandbox or "")
    args.resume = past.session_id


def _resumed(command: AgentCommand, args: Args) -> PastSession:
    """Return the session that the host continues. If there is none, prints that and raises SystemExit."""
    with ExitOnError(None):
        return session_of(command, args.resume, args.cwd)


def _stop(args: Args) -> int:
    if args.agent is not None:
        raise UsageError("--stop needs the name of a host: acp-tui host --stop NAME")
    with ExitOnError(None):
        names = anyio.run(finding.stopped, args.stop or None)
    for name in names:
        print(f"{name} is stopped.")
    if not names:
        print("No host is running.")
    return ExitCode.DONE


def _start_in_background(args: Args) -> int:
    """Start the host and print its output until it's ready. Returns its status if it fails."""
    argv = [sys.executable, "-m", "acp_tui", "host", "--foreground", "--cwd", str(args.cwd)]
    for name in ("listen", "tls_cert", "tls_key"):
        value = getattr(args, name)
        argv += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    choice = args.agent
    argv += [] if args.resume is None else [f"--resume={args.resume}"]
    argv += [f"--sandbox={choice.sandbox}"] if choice.sandbox else []
    argv += [f"--system-prompt={choice.system_prompt}"] if choice.system_prompt else []
    argv += [choice.name] if choice.name is not None else ["--", *choice.argv]
    ready, is_ready = os.pipe()
    with os.fdopen(ready, "rb") as told:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(is_ready,),
                env={**os.environ, READY_VARIABLE: str(is_ready)},
                start_new_session=True,  # so that the end of this terminal doesn't end it
                text=True,
            )
        finally:
            os.close(is_ready)
        assert process.stdout is not None and process.stderr is not None
        problems = Thread(target=_pass_on, args=(process.stderr, sys.stderr))
        problems.start()
        _pass_on(process.stdout, sys.stdout)  # until it closes its output or ends
        problems.join()
        if told.read():
            process.returncode = 0  # it runs on its own from here
            return ExitCode.DONE
    return process.wait() or ExitCode.ERROR


def _pass_on(lines: IO[str], to: TextIO) -> None:
    for line in lines:
        to.write(line)


# The host process


def _run_here(args: Args) -> int:
    ready = os.environ.pop(READY_VARIABLE, "")  # not for the agent
    command, read = ready_to_run(command_of(args.agent)), settings_in(args.cwd)
    for note in notes_of(read):
        say(note)
    with ExitOnError(None):
        if args.listen is None and (args.tls_cert is not None or args.tls_key is not None):
            raise UsageError("--tls-cert and --tls-key need --listen ADDRESS")
        past = None if args.resume is None else _resumed(command, args)
        if past is not None:
            command = sandboxed_as_before(command, past, args.agent.sandbox)
        return anyio.run(_host, args, command, past, read.settings, ready)


async def _host(args: Args, command: AgentCommand, past: PastSession | None, settings: Settings, ready: str) -> int:
    tcp, serving = None, _serving()
    if args.listen is not None:
        tcp = serving.read_listening(args.listen, args.tls_cert, args.tls_key)
    cwd = past.cwd if past is not None else command.cwd or args.cwd
    place, listener = await to_thread.run_sync(finding.bound, command.name)
    failure: ClientError | None = None
    try:
        async with open_hub() as hub, anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signals, tasks.cancel_scope)
            try:
                host = await _begin(hub, tasks, command, past, cwd, settings)
                async with serving.listening_at(host, place, listener, tcp) as address:
                    host.where = (str(place.socket), *filter(None, [address]))
                    print(f"{place.name} is hosted: acp-tui attach {place.name}")
                    if address:
                        print(f"  also at {address}; the token is in {place.token}")
                    sys.stdout.flush()
                    _let_go_of_terminal(place, ready)
                    _collect_what_clients_leave()
                    await host.ended.wait()
                    with anyio.move_on_after(GOODBYE_S):
                        await host.say_goodbye()
            except ClientError as error:
                failure = error  # raised below, because a task group would wrap it in a group
            tasks.cancel_scope.cancel()
    finally:
        listener.close()
        place.clear()
    if failure is not None:
        raise failure
    return ExitCode.DONE


def _serving() -> ModuleType:
    """The module that serves clients. Raises ClientError if its library is missing."""
    from acp_tui.client.hosting import serving

    return serving


async def _end_on_signals(scope: anyio.CancelScope) -> None:
    """End on signals that ask for it; ignore the end of the terminal."""
    with anyio.open_signal_receiver(signal.SIGHUP, signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            if number != signal.SIGHUP:
                scope.cancel()


async def _begin(
    hub: SessionHub, tasks: TaskGroup, command: AgentCommand, past: PastSession | None, cwd: Path, settings: Settings
) -> Host:
    """Create a host with one session: a new one or `past`. Raises ClientError."""
    agents: list[Agent] = []

    def note(text: str) -> None:
        """Show a note in every terminal; before there's a session, in ours."""
        for agent in agents:
            _note(agent, text)
        if not any(agent.sessions for agent in agents):
            say(text)

    agent = await start_agent(
        hub,
        command,
        cwd,
        settings,
        OFFER,
        note,
        recordings=settings.recordings,
        on_phase=lambda _: None,
        secrets=SecretsSent({**os.environ, **command.env}),
    )
    agents.append(agent)
    say_sandbox(agent, say)
    host = Host(agent, tasks)
    host.on_news = partial(_notify, tasks, settings.notifications, NoticeCommand(note), agent.title)
    added = await additions_for(agent, cwd, settings.workspace.additional_directories, Headless(say))
    say_left_out(added, say)
    opened = agent.new_session if past is None else partial(agent.open_session, SessionId(past.session_id))
    try:
        session = await opened(cwd, host.attend, additional_directories=added.directories, mcp_servers=added.servers)
        if past is not None:
            await show_as_recorded(session, command)
        if past is not None and (mode := await to_thread.run_sync(recorded_mode, past.session_id, agent.command)):
            await keep_mode(session, mode)
    except AuthenticationRequired as error:
        error.hint = f"log in first: acp-tui {command.name if command.is_listed else f'-- {command.line}'}"
        raise
    return host


def _note(agent: Agent, text: str) -> None:
    """Show a note in every terminal that shows a session."""
    for session in agent.sessions.values():
        session.apply(ClientRemark(text))


def _notify(
    tasks: TaskGroup, settings: Notifications, command: NoticeCommand, agent: str, told: Session, news: News
) -> None:
    """Run the user's command, which is the only way to reach a user without a terminal."""
    if settings.command and "command" in channels_of(news, settings):
        about = About(agent, told.session_id, told.conversation.shown_title or agent, str(told.cwd))
        tasks.start_soon(command.run, settings.command, news, about)


async def go_on(hub: SessionHub, shell: HostBehindScreen, attach_to: str, notifications: Notifications) -> None:
    """Host the sessions of a screen that has ended, until nothing is left of them. `shell` may show one of them.

    Agents that can't be hosted end.
    """
    for number in (signal.SIGCONT, signal.SIGTSTP):  # at a hangup, one comes: Textual would take up the terminal again
        signal.signal(number, signal.SIG_DFL)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signals, tasks.cancel_scope)
        async with anyio.create_task_group() as hosts:
            places, words = [], ""
            for agent in list(hub.agents):
                try:
                    places.append(await hosts.start(_keep, agent, tasks, notifications))
                    words += f"{places[-1].name} is hosted: acp-tui attach {places[-1].name}\n"
                except ClientError as error:
                    words += f"{error_text(error)}\n"
            shell.let_go(words, attach_to if places else "")
            if places:
                os.setsid()
                _write_to(places[0].log)
                _collect_what_clients_leave()
        tasks.cancel_scope.cancel()


async def _keep(
    agent: Agent, tasks: TaskGroup, notifications: Notifications, *, task_status: TaskStatus[finding.HostPaths]
) -> None:
    """Host an agent's sessions until nothing is left of them. Raises ClientError after ending an agent."""
    if not agent.sessions or agent.lost is not None or agent.command.is_host:
        await agent.stop()
        raise ClientError(f"{agent.title} isn't hosted")
    place, listener = await to_thread.run_sync(finding.bound, agent.command.name)
    host = Host(agent, tasks, (str(place.socket),))
    host.on_news = partial(_notify, tasks, notifications, NoticeCommand(partial(_note, agent)), agent.title)
    for session in agent.sessions.values():
        host.attend(session)
    async with _serving().listening_at(host, place, listener, None):
        task_status.started(place)
        await host.ended.wait()
        with anyio.move_on_after(GOODBYE_S):
            await host.say_goodbye()
    await agent.stop()


def _let_go_of_terminal(place: finding.HostPaths, ready: str) -> None:
    """Send further output to the log. Does nothing in the foreground."""
    if not ready:
        return
    with suppress(OSError, ValueError):
        os.write(int(ready), b"1")
        os.close(int(ready))
    _write_to(place.log)


def _write_to(file: Path) -> None:
    """Send further output to a log, and read nothing more."""
    file.unlink(missing_ok=True)
    log, nowhere = open_private(file), os.open(os.devnull, os.O_RDONLY)
    for descriptor, ours in enumerate((nowhere, log, log)):
        os.dup2(ours, descriptor)
    os.close(log)
    os.close(nowhere)


def _collect_what_clients_leave() -> None:
    """Collect garbage in cycles more often: 30 KB a client.

    With the threshold of a start, thousands of clients would come and go before the first collection.
    """
    gc.freeze()
    gc.set_threshold(COLLECTED_AT)
