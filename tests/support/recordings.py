"""Recorded runs of the demo agent, with a user who answers everything; and recordings made of events."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentLost
from acp_tui.client.secrets.masking import MASK
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript.events import Dropped, Event, Header, UnknownEvent
from acp_tui.client.transcript.index import SessionIndex
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recorder import Outlet, Recorder
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.transcript.replay import Replay
from acp_tui.client.transcript.store import held
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.elicitation import Form, FormValues, MultiChoiceField
from acp_tui.conversation.entries import Question
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.protocol.roles import ClientOffer
from acp_tui.workbench.redact import RedactOptions, redact
from support.agents import SERVING
from support.waiting import LIMIT_S

EVERYTHING = ClientOffer(elicitation_form=True, elicitation_url=True)


@dataclass
class Run:
    """The result of a run."""

    conversations: dict[SessionId, Conversation] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)


@dataclass
class User:
    """Answers a session's questions with the option at one position, or cancels once this many requests wait."""

    agent: Agent
    session: Session
    option: int = 0
    cancels_at: int | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)
    typed: set[TerminalId] = field(default_factory=set)
    """Terminals that already got an answer."""

    def __post_init__(self) -> None:
        self.session.subscribe(self.note)
        self.agent.on_elicitations = self.note

    def note(self, *_: object) -> None:
        """Notice a change."""
        self.changed.set()

    async def attend(self) -> None:
        """Work until the turn is over and this is canceled."""
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            requests = list(self.session.conversation.permissions.items())
            if self.cancels_at is not None:
                if len(requests) == self.cancels_at:
                    self.session.cancel()
                continue
            for key, request in requests:
                self.session.answer_permission(key, self._choice(request).option_id)
            for owner, questions in (
                (self.session, self.session.conversation.elicitations),
                (self.agent, self.agent.elicitations),
            ):
                for key, question in list(questions.items()):
                    values = filled_in(question) if isinstance(question, Form) else None
                    owner.questions.answer(key, "accept", values)
            self._type()

    def _choice(self, request: PermissionRequest) -> PermissionOption:
        """The option at our position. Never an "always" option listed first."""
        once = (option for option in request.options if option.kind == "allow_once")
        chosen = request.options[self.option]
        return next(once, chosen) if self.option == 0 else chosen

    def _type(self) -> None:
        """Answer yes to each command that waits for input, once."""
        for terminal in self.session.conversation.terminals.values():
            if terminal.is_waiting and terminal.terminal_id not in self.typed:
                self.typed.add(terminal.terminal_id)
                self.session.client_tools.type_into(terminal.terminal_id, b"y\r")

    async def sees(self, is_so: Callable[[Conversation], bool]) -> None:
        """Wait until the condition holds."""
        while not is_so(self.session.conversation):
            await self.changed.wait()

    async def hears_nothing(self, for_s: float) -> None:
        """Wait until nothing changes for this long."""
        while True:
            with anyio.move_on_after(for_s) as silence:
                await self.changed.wait()
                await anyio.lowlevel.checkpoint()
            if silence.cancelled_caught:
                return


def filled_in(form: Form) -> FormValues:
    """The defaults, and the first choice for required fields."""
    values: FormValues = {}
    for each in form.fields:
        default: Any = getattr(each, "default", None)
        if isinstance(each, MultiChoiceField):
            values[each.name] = list(each.default)
        elif default is not None:
            values[each.name] = default
        elif each.is_required:
            values[each.name] = each.choices[0].value  # type: ignore[union-attr]
    return values


def demo(name: str, protocol: Literal[1, 2] = 1) -> AgentCommand:
    """The demo agent with a scenario, without delays."""
    return AgentCommand("demo", (sys.executable, "-m", "acp_tui.demo", name, "--speed", "0"), protocol=protocol)


async def play(
    command: AgentCommand | str,
    plan: RecordingPlan,
    *,
    prompts: Iterable[str] = ("show me",),
    option: int = 0,
    cancels_at: int | None = None,
) -> Run:
    """Turns in one session with a recorded agent, from its start to its end."""
    agent_command = demo(command) if isinstance(command, str) else command
    run = Run()
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(agent_command, offer=EVERYTHING, policy=SERVING, recordings=plan)
            await agent.initialize()
            session = await agent.new_session(plan.cwd)
            user = User(agent, session, option, cancels_at)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(user.attend)
                with suppress(AgentLost):  # the conversation reports it
                    for prompt in prompts:
                        await session.send_prompt([Text(prompt)])
                tasks.cancel_scope.cancel()
    run.conversations[session.session_id] = session.conversation
    return run


def replayed_whole(file: Path) -> Replay:
    """The replay of a recording, at its end, with every line readable."""
    with open_recording(file) as recording:
        replay = Replay(recording)
        assert not any(isinstance(step.event, UnknownEvent | Dropped) for step in replay.events)
    assert recording.problems == []
    assert recording.half_line == b""
    return replay


def as_recorded(conversation: Conversation) -> Conversation:
    """The conversation as recorded, in which form values are masked."""
    entries = [
        replace(entry, values=tuple(replace(value, value=MASK) for value in entry.values))
        if isinstance(entry, Question)
        else entry
        for entry in conversation.entries
    ]
    return replace(conversation, entries=entries)


def redacted(recording: Path) -> Path:
    """The recording as it can be shared, for the user whose home is above its folder.

    It is written beside the original.
    """
    out, home = recording.with_suffix(".redacted.jsonl"), recording.parents[1]
    if not out.exists():
        redact(recording, out, RedactOptions(), {"HOME": str(home), "USER": home.name}, "hagar")
    return out


@contextmanager
def open_in_process(pid: int) -> Iterator[None]:
    """As if this process were recording what was recorded before."""
    store = recording_store(RecordingSettings())
    with ExitStack() as locks:
        for file in store.files():
            header, rest = file.read_text("utf-8").split("\n", 1)
            file.write_text(json.dumps({**json.loads(header), "pid": pid}) + "\n" + rest, "utf-8")
            SessionIndex(store).catch_up()  # it doesn't read what is being written
            locks.enter_context(held(file))
            with file.open("a", encoding="utf-8") as written:
                written.write("\n")
        yield


def write(path: Path, events: Iterable[Event], header: Header | None = None, *, is_raw: bool = False) -> None:
    """A recording of these events, written as in a real run."""
    troubles: list[str] = []
    recorder = Recorder(
        header or Header("agent", ("agent",), started_at="2026-11-21T12:00:00+00:00"),
        [Outlet(lambda: path.open("wb"), is_raw=is_raw)],
        on_trouble=troubles.append,
    )
    for event in events:
        recorder.put(event)
    while not recorder.close():
        pass
    assert troubles == []
