"""`acp-tui host`: keeps an agent and its sessions in the background, for terminals that come and go.

The command goes on in a child, which leaves the terminal once it has printed its address. Later problems are in the
host's log.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.leaving import LeftByHost, go_on_in_child
from acp_tui.cli.output import error_text, say
from acp_tui.cli.prerequisites import ExitOnError, command_of, notes_of, settings_in
from acp_tui.cli.sessions import continued, say_if_open_elsewhere
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
from acp_tui.client.sessions.session_history import PastSession, recorded_mode
from acp_tui.client.settings.settings import Notifications, Settings
from acp_tui.client.transcript.recorder import SecretsSent
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import ClientRemark

OFFER: Final = replace(INTERACTIVE, auth_terminal=False)
"""Terminals that attach can fill in forms, but a login needs a terminal of its own."""
COLLECTED_AT: Final = 5_000
"""How many new objects trigger a garbage collection once the host runs: those of about 40 clients."""
GOODBYE_S: Final = 1.0
"""How long clients may take to read their last messages."""


def run(args: Args) -> int:
    """Start a host, or end hosts."""
    if args.stop is not None:
        return _stop(args)
    if args.listen is None and (args.tls_cert is not None or args.tls_key is not None):
        raise UsageError("--tls-cert and --tls-key need --listen ADDRESS")
    with ExitOnError(None):
        (command, past), read = _agent_and_session(args), settings_in(args.cwd)  # while there's a terminal to ask on
        for note in notes_of(read):
            say(note)
        if past is not None and not args.foreground:
            say_if_open_elsewhere(past)
        shell = None if args.foreground else go_on_in_child()
        return anyio.run(_host, args, command, past, read.settings, shell)


def _agent_and_session(args: Args) -> tuple[AgentCommand, PastSession | None]:
    """Return the agent, which may be that of the session to resume, and the session. Raises ClientError."""
    named = command_of(args.agent, args.resume) if args.agent is not None else None
    if args.resume is not None:
        command, past = continued(named, args.resume, args.cwd, args.sandbox or "")
        return ready_to_run(command), past
    if named is None:
        raise UsageError("host needs an agent: a name, or -- COMMAND; or --resume; or --stop")
    return ready_to_run(named), None


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


# The host process


async def _host(
    args: Args, command: AgentCommand, past: PastSession | None, settings: Settings, shell: LeftByHost | None
) -> int:
    """Host until nothing is left. `shell` waits until the host is ready; None in the foreground."""
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
                    if shell is not None:
                        _leave_terminal(place.log)
                        shell.let_go("")
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


async def go_on(hub: SessionHub, shell: LeftByHost, attach_to: str, notifications: Notifications) -> None:
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
                _leave_terminal(places[0].log)
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


def _leave_terminal(file: Path) -> None:
    """Send further output to a log, and read nothing more. The end of the terminal doesn't matter then."""
    os.setsid()
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
