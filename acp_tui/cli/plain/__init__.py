"""Line mode (`--plain`), for screen readers and terminals that can't be drawn on.

The terminal belongs to the main thread. The agent belongs to an event loop in another thread. This module has our
slash commands: one table defines what you can type and its help. An agent's command of the same name takes
precedence; ours is then available as `/acp:NAME`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anyio import to_thread
from anyio.from_thread import start_blocking_portal

from acp_tui.cli import ExitCode
from acp_tui.cli.agents import list_agents
from acp_tui.cli.plain import tool_call_text
from acp_tui.cli.plain.asking import choose, confirm, number_in
from acp_tui.cli.plain.changes import change_words
from acp_tui.cli.plain.chat import Chat, Opening, Work
from acp_tui.cli.plain.console import Console, end_with_terminal, end_without_terminal
from acp_tui.cli.plain.printer import spoken_blocks, step_words
from acp_tui.cli.sessions import recordings_index, rows_of, what_is_elsewhere
from acp_tui.cli.terminal import ready_to_run
from acp_tui.client.agents.catalogue import find_agent, recorded_agent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.attachments.attach import without_mentions
from acp_tui.client.changes import ChangesError
from acp_tui.client.changes.tracker import MAX_MOMENTS
from acp_tui.client.desktop import copy_by_tool, edit_text, said, through_terminal
from acp_tui.client.sessions import session_history
from acp_tui.client.sessions.marks import SessionMarks, rename, sessions_of
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript import RecordTo
from acp_tui.conversation.catch_up import digest
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.facts import BooleanOption, ConfigOption, SessionSummary
from acp_tui.conversation.tool_text import visible_title
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.conversation.wording import from_home, session_facts, usage_words, value_name
from acp_tui.values import dataclass

OURS: Final = "acp:"
MAX_FOUND: Final = 20
"""Lines that /find lists, and sessions."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    about: str
    do: Work
    argument: str = ""

    def shown(self, taken: Collection[str]) -> str:
        """Return how the help shows it. `taken` has the names of the agent's commands."""
        return f"/{OURS if self.name in taken else ''}{self.name} {self.argument}".rstrip()


def command_for(text: str, taken: Collection[str]) -> tuple[Work, str] | None:
    """Return what a typed command of ours does, and the text after its name; None if it isn't ours."""
    if text.strip() == "?":
        return _help, ""
    if not text.startswith("/"):
        return None
    written, _, rest = text[1:].strip().partition(" ")
    command = BY_NAME.get(written.removeprefix(OURS))
    return None if command is None or written in taken else (command.do, rest.strip())


async def _help(chat: Chat, argument: str) -> None:
    """List the commands, those of the agent by name: there may be many, with a page for each."""
    of_agent = {command.name.removeprefix("/"): command.description for command in _session(chat).conversation.commands}
    wanted = argument.removeprefix("/")
    if wanted in of_agent:
        about = " ".join(of_agent[wanted].split())
        chat.tell(tool_call_text.wrapped(make_visible_line(f"/{wanted}: {about}")))
        return
    lines = [
        "Enter sends a line. To write several, end one with a backslash, or put them between triple quotes.",
        "@file attaches a file, !command runs a command. Ctrl+C cancels the turn, Ctrl+D quits.",
        "Answer a question with the number or letter of your choice; w rejects and asks you why.",
        *(f"  {command.shown(of_agent)}: {command.about}" for command in COMMANDS),
    ]
    if of_agent:
        names = ", ".join(f"/{make_visible_line(name)}" for name in of_agent)
        ours = BY_NAME["help"].shown(of_agent).replace("[NAME]", "NAME")
        lines += ["", f"{chat.agent_title}'s own commands, which {ours} explains: {names}"]
    chat.tell(tool_call_text.wrapped("\n".join(lines)))


async def _quit(chat: Chat, _: str) -> None:
    chat.end()


async def _cancel(chat: Chat, _: str) -> None:
    chat.cancel()


async def _choose_of(chat: Chat, category: str) -> None:
    options = [option for option in _session(chat).conversation.options if option.category == category]
    if options:
        await _choose_value(chat, options[0])
    else:
        chat.say(f"this agent offers no {category}; to see what it offers: /options")


async def _options(chat: Chat, _: str) -> None:
    options = _session(chat).conversation.options
    if not options:
        chat.say("this session has no settings")
        return
    chosen = await choose(
        chat.console, "What do you want to change?", [f"{option.name}: {value_name(option)}" for option in options]
    )
    if chosen is not None:
        await _choose_value(chat, options[chosen])


async def _choose_value(chat: Chat, option: ConfigOption) -> None:
    """Set an option. The new value is printed when the agent reports it."""
    now = value_name(option)
    question = f"{make_visible_line(option.name)}, now {make_visible_line(now)}:"
    if isinstance(option, BooleanOption):
        chosen = await choose(chat.console, question, ["on", "off"])
        value: str | bool = chosen == 0
    else:
        rows = [": ".join(filter(None, (choice.name, choice.description))) for choice in option.choices]
        chosen = await choose(chat.console, question, rows)
        value = "" if chosen is None else option.choices[chosen].value
    if chosen is not None:
        await _session(chat).set_option(option.option_id, value)


async def _sessions(chat: Chat, argument: str) -> None:
    """Choose from what `acp-tui sessions` lists, and from what the agent lists besides."""
    if not _may_leave(chat):
        return
    scope, _, rest = argument.partition(" ")
    cwd, words = (None, rest.strip()) if scope == "all" else (chat.cwd, argument)
    listed: list[SessionSummary] = []
    if chat.agent.capabilities.list_sessions:
        listed = await chat.agent.all_sessions(cwd)
    found, rows, nothing = await to_thread.run_sync(_past, chat, cwd, words, listed)
    if not found:
        chat.tell(nothing)
        return
    again = f" ({MAX_FOUND} of {len(found)}; to search all: /sessions {'all ' * (cwd is None)}WORDS)"
    chosen = await choose(chat.console, f"Which session?{again * (len(found) > MAX_FOUND)}", rows)
    if chosen is not None:
        await _open(chat, found[chosen])


def _past(
    chat: Chat, cwd: Path | None, words: str, listed: Sequence[SessionSummary]
) -> tuple[list[session_history.PastSession], list[str], str]:
    """Return the sessions, the first ones in lines, and what to say if there is none."""
    index, own = recordings_index(), chat.agent.command
    if words:
        listed = [one for one in listed if all(word in (one.title or "").lower() for word in words.lower().split())]
    recorded = [] if own.is_host else sessions_of(index, cwd, words)
    found = SessionMarks().marked(
        session_history.merged(listed, own, recorded, "" if own.is_listed else chat.agent.title)
    )
    if not found:
        return [], [], what_is_elsewhere(index, cwd, words, "/sessions", "all", *words.split())
    return found, rows_of(index, found[:MAX_FOUND]), ""


async def _open(chat: Chat, past: session_history.PastSession) -> None:
    """Continue a session, if it's another agent's, with that one in place of this one."""
    if not past.is_listed and past.why_not_again:
        chat.say(f"{past.why_not_again}; to read it: acp-tui render {past.session_id} -o FILE.md")
        return
    command = chat.agent.command
    is_own = past.is_listed or past.is_of(command)
    if not is_own:
        command = await to_thread.run_sync(recorded_agent, past.agent, past.command, past.cwd)
        command = await to_thread.run_sync(session_history.sandboxed_as_before, command, past)
    told = await to_thread.run_sync(session_history.warning_if_open, past.session_id, command.name, command.argv)
    if told and not await confirm(chat.console, f"{told} Open it here, too?"):
        return
    if is_own:
        await chat.open(past.session_id, past.cwd)
    elif not await chat.console.lend(partial(_is_refused, command)):
        await chat.hand_over(command, lambda: chat.open(past.session_id, past.cwd))


async def _new(chat: Chat, _: str) -> None:
    if _may_leave(chat):
        await chat.begin()
        chat.say("a new session")


def _may_leave(chat: Chat) -> bool:
    """Ask before leaving a session at work, because its agent's questions would go unheard."""
    if not chat.is_idle:
        chat.say("the agent is working; to stop it: /cancel")
    return chat.is_idle


async def _rename(chat: Chat, name: str) -> None:
    name = name or await chat.console.ask("Its new name: ", is_guarded=False, can_be_left=True) or ""
    if name:
        name = await rename(_session(chat), chat.agent.command, name)
        chat.say(f"renamed to {name}")


async def _queue(chat: Chat, _: str) -> None:
    prompts = _session(chat).queue.prompts
    rows = [f"  {number}  {make_visible_line(prompt.text)}" for number, prompt in enumerate(prompts, 1)]
    chat.tell("\n".join(rows) or "No prompt is queued.")


async def _drop(chat: Chat, argument: str) -> None:
    queue = _session(chat).queue
    number = number_in(argument, len(queue.prompts))
    if argument and number is None:
        chat.say("/drop needs the number of a queued prompt, or nothing to delete all")
        return
    for prompt in queue.prompts if number is None else (queue.prompts[number - 1],):
        queue.take(prompt.key)
    chat.say(f"{len(queue.prompts)} left in the queue")


async def _plan(chat: Chat, _: str) -> None:
    plans = _session(chat).conversation.plans.values()
    rows = [f"  {step_words(step)}" for plan in plans for step in plan.steps]
    chat.tell("\n".join(rows) or "The agent has no plan.")


async def _usage(chat: Chat, _: str) -> None:
    chat.say(f"usage: {usage_words(_session(chat).conversation.usage)}")


async def _status(chat: Chat, _: str) -> None:
    session = _session(chat)
    identity = chat.agent.identity
    agent = " ".join(filter(None, (chat.agent_title, identity.version if identity is not None else "")))
    facts = session_facts(session.conversation, agent, from_home(session.cwd), chat.server_names)
    chat.tell("\n".join(f"  {make_visible_line(f'{name}: {value}')}" for name, value in facts))


async def _show(chat: Chat, argument: str) -> None:
    entries = _session(chat).conversation.entries
    calls = [entry.call for entry in reversed(entries) if isinstance(entry, ToolCallEntry)]
    number = number_in(argument or "1", len(calls))
    if number is None:
        chat.say(f"there are {len(calls)} tool calls; /show 1 is the last one")
        return
    call = calls[number - 1]
    text = await to_thread.run_sync(tool_call_text.result_of, call, tool_call_text.ALL, str(_session(chat).cwd))
    chat.tell(f"{visible_title(call)}\n{text or '  It has nothing to show.'}")


async def _output(chat: Chat, _: str) -> None:
    states = list(_session(chat).conversation.terminals.values())
    if states:
        chat.tell(await to_thread.run_sync(tool_call_text.output_of, states[-1], tool_call_text.ALL))
    else:
        chat.say("no command was run")


async def _type(chat: Chat, argument: str) -> None:
    session = _session(chat)
    running = [state for state in session.conversation.terminals.values() if not state.has_exited]
    running.sort(key=lambda state: not state.is_waiting)
    if not running:
        chat.say("no command is running")
    elif session.client_tools.type_into(running[0].terminal_id, f"{argument}\r".encode()):
        chat.say(f"typed into {tool_call_text.command_of(running[0])}")


async def _last(chat: Chat, _: str) -> None:
    chat.say_theirs(_session(chat).conversation.last_reply or "(nothing yet)")


async def _copy(chat: Chat, _: str) -> None:
    text = _session(chat).conversation.last_reply
    if not text:
        chat.say("there is no answer to copy yet")
        return
    by_terminal = await to_thread.run_sync(chat.console.copy, through_terminal(text))
    chat.say(said(len(text), await to_thread.run_sync(copy_by_tool, text), by_terminal=by_terminal))


async def _find(chat: Chat, argument: str) -> None:
    """List the lines that have all the words, the last ones below."""
    words = argument.lower().split()
    if not words:
        chat.say("/find needs the words to look for")
        return
    found: list[str] = []
    for entry in _session(chat).conversation.entries:
        if isinstance(entry, Message):
            speaker = {"user": tool_call_text.YOU, "agent": tool_call_text.label_of(chat.agent.title)}.get(
                entry.role, tool_call_text.THOUGHT
            )
            blocks = spoken_blocks(entry.text)
            lines = [f"{speaker}: {line.strip()}" for block in blocks for line in block.split("\n")]
        else:
            lines = [f"{tool_call_text.TOOL}{entry.call.shown_title}"] if isinstance(entry, ToolCallEntry) else []
        found += [line for line in lines if all(word in line.lower() for word in words)]
    more = [f"[{len(found) - MAX_FOUND:,} more above]"] if len(found) > MAX_FOUND else []
    chat.tell("\n".join([*more, *map(make_visible_line, found[-MAX_FOUND:])]) or "Not found.")


async def _edit(chat: Chat, argument: str) -> None:
    """Send what the user writes in their editor."""
    chat.console.show_prompt(None)
    text, problem = await edit_text(argument, lambda command: chat.console.lend(partial(subprocess.call, command)))
    if problem:
        chat.say(problem)
    elif text.strip():
        chat.tell(make_visible(f"{tool_call_text.YOU}: {text.strip()}"))
        chat.take(text.strip())
    else:
        chat.say("nothing to send")


async def _changes(chat: Chat, argument: str) -> None:
    changed = await chat.changes.all()
    number = number_in(argument, len(changed))
    if number is not None:
        chat.tell(await chat.changes.diff_of(changed[number - 1].path))
        return
    rows = [f"  {number}  {change_words(change)}" for number, change in enumerate(changed, 1)]
    chat.tell("\n".join(rows) or "No file has changed.")


async def _undo(chat: Chat, argument: str) -> None:
    """Revert the files that changed in the last turn, or in more of them, if the user wants that."""
    if not _may_leave(chat):
        return
    turns = number_in(argument or "1", MAX_MOMENTS)
    if turns is None:
        chat.say("name a number of turns: /undo 2 takes back what changed in the last two")
        return
    what = "the turn" if turns == 1 else f"the {turns} turns"
    reviews = await chat.changes.of_turns(turns)
    changes = [review.change for review in reviews if review.change is not None]
    if not changes:
        chat.say(f"no file has changed in {what}; to take back more turns: /undo {turns + 1}")
        return
    files = "this file" if len(changes) == 1 else f"these {len(changes)} files"
    chat.console.say("\n".join(f"  {change_words(change)}" for change in changes))
    if not await confirm(chat.console, f"Revert {files}? The agent still remembers {what}."):
        return
    for review in reviews:
        try:
            await chat.changes.undo(review)
        except ChangesError as error:
            chat.say(str(error))
        else:
            chat.say(f"reverted: {make_visible_line(review.path)}")


async def _fork(chat: Chat, _: str) -> None:
    if _may_leave(chat):
        await chat.fork()


async def _hand_over(chat: Chat, argument: str) -> None:
    """Start another agent, and send it a summary of this session."""
    if not argument:
        chat.say("/handover needs the name of an agent; to list them: acp-tui agents")
    elif _may_leave(chat):
        command = (await to_thread.run_sync(find_agent, argument)).ready()
        chat.console.show_prompt(None)
        told = digest(_session(chat).conversation, [change.path for change in await chat.changes.all()])
        if await chat.console.lend(partial(_is_refused, command)):
            return
        await chat.hand_over(command)
        chat.console.say(make_visible(told))
        wanted = await chat.console.ask(
            "What is it to do now? (Enter: it gets nothing) ", is_guarded=False, can_be_left=True
        )
        if wanted:
            chat.take(without_mentions(told) + wanted)


def _is_refused(command: AgentCommand) -> int:
    try:
        ready_to_run(command)
    except SystemExit:
        return 1
    return 0


async def _restart(chat: Chat, _: str) -> None:
    chat.console.show_prompt(None)
    await chat.restart()
    chat.say(f"{chat.agent_title} was started again")


async def _log_out(chat: Chat, _: str) -> None:
    await chat.agent.logout()
    chat.say("logged out; the agent may need a login again")


def _session(chat: Chat) -> Session:
    assert chat.session is not None  # nothing is read before
    return chat.session


COMMANDS: Final = (
    SlashCommand("help", "this list, or what a command of the agent's does", _help, "[NAME]"),
    SlashCommand("quit", "quit acp-tui and stop the agent", _quit),
    SlashCommand("cancel", "stop the turn", _cancel),
    SlashCommand("mode", "choose the agent's mode", lambda chat, _: _choose_of(chat, "mode")),
    SlashCommand("model", "choose its model", lambda chat, _: _choose_of(chat, "model")),
    SlashCommand("options", "choose any of the session's settings", _options),
    SlashCommand("sessions", "open an earlier session of this folder, or of all", _sessions, "[all] [WORDS]"),
    SlashCommand("new", "start another session", _new),
    SlashCommand("rename", "rename the session, in the agent too, if it supports titles", _rename, "[NAME]"),
    SlashCommand("queue", "list the queued prompts", _queue),
    SlashCommand("drop", "delete one of them, or all", _drop, "[NUMBER]"),
    SlashCommand("plan", "show the agent's plan", _plan),
    SlashCommand("usage", "show context and cost, as the agent reports them", _usage),
    SlashCommand("status", "show the agent, folder, settings, and what is running", _status),
    SlashCommand("show", "show the last tool call, or an earlier one", _show, "[NUMBER]"),
    SlashCommand("output", "show all of the last command's output", _output),
    SlashCommand("type", "type a line into a running command", _type, "TEXT"),
    SlashCommand("last", "say the agent's last message again", _last),
    SlashCommand("copy", "copy the agent's last message", _copy),
    SlashCommand("find", "list the lines of the conversation that have these words", _find, "WORDS"),
    SlashCommand("edit", "write a prompt in your editor (Ctrl+G, or Ctrl+X Ctrl+E)", _edit, "[TEXT]"),
    SlashCommand("changes", "list the changed files, or show what changed in one", _changes, "[NUMBER]"),
    SlashCommand("undo", "revert the files that changed in the last turn, or in several", _undo, "[NUMBER]"),
    SlashCommand("fork", "go on in a fork of the session", _fork),
    SlashCommand("handover", "go on with another agent, which gets a summary", _hand_over, "AGENT"),
    SlashCommand("restart", "restart the agent and continue", _restart),
    SlashCommand("logout", "log out of the agent", _log_out),
)
BY_NAME: Final = {command.name: command for command in COMMANDS}


def run_plain(
    command: AgentCommand | None,
    cwd: Path,
    settings: Settings,
    why: str,
    notes: Sequence[str],
    record: RecordTo | None = None,
    prompt: str | None = None,
    opening: Opening | None = None,
    leave: Callable[[session_history.LeftSession], None] = lambda _: None,
) -> int:
    """Work with the agent line by line until the user ends it. Returns the exit status.

    `why` is what turned this mode on, `notes` has remarks about the settings. `prompt` is sent first. `opening`
    opens the session; without it, a new one begins. `leave` tells how to resume it. With `command` None, lists the
    agents.
    """
    if command is None:
        return list_agents()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("acp-tui --plain needs a terminal; to pipe a prompt in: acp-tui exec\n")
        return ExitCode.USAGE
    greeting = (
        f"{tool_call_text.ACP_TUI}: plain mode is on, by {why}. A question mark lists the commands, Ctrl+D quits."
    )
    print(tool_call_text.wrapped(greeting), flush=True)
    agreed = command if command.is_host else ready_to_run(command)
    console = Console()
    for note in notes:
        console.say(tool_call_text.wrapped(f"{tool_call_text.ACP_TUI}: {tool_call_text.ours(make_visible(note))}"))
    with start_blocking_portal() as portal:
        chat = portal.call(Chat, console, command_for, agreed, agreed.cwd or cwd, settings, record, prompt, opening)
        status = portal.start_task_soon(chat.run)
        console.serve(chat, portal.call)
        end_without_terminal()
        if not status.done():
            portal.call(partial(chat.end, ExitCode.CANCELLED))
        code = status.result()
    if chat.left is not None:
        leave(chat.left)
    end_with_terminal()
    return code
