"""Records the scripted demo agent with prepared answers, the same on every machine, for rendering.

No other agent is ever answered this way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
from anyio import to_thread

from acp_tui import demo as shipped
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.demo_agent import copy_project, demo_command
from acp_tui.client.errors import AgentRefused, AuthenticationRequired, ClientError
from acp_tui.client.private_files import replace_file
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.consent import INTERACTIVE, REFUSE, Grant, Policy
from acp_tui.client.sessions.driver import FrontEndLink, SessionDriver
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.events import Event, OwnAction
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.conversation.content import Text
from acp_tui.conversation.elicitation import ChoiceField, Elicitation, Form, FormValues, MultiChoiceField
from acp_tui.conversation.facts import AuthMethod, PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.updates import ElicitationAction, ElicitationAnswered, PermissionAnswered, TerminalExited
from acp_tui.demo import programs
from acp_tui.demo.scenario import ScenarioError, UnknownScenario, load
from acp_tui.demo.script import Scenario, with_inner
from acp_tui.values import dataclass

FIRST_PROMPT: Final = "Show me what you can do."
NEXT_PROMPT: Final = "Go on."
LIMIT_S: Final = 120.0
SILENCE_S: Final = 2.0
"""After this, an agent that hangs on purpose has nothing more to say."""
POLL_S: Final = 0.25
LONGEST_PAUSE_S: Final = 2.0
PROJECT: Final = "/project"
POLICY: Final = Policy(write=Grant.ON, terminals=Grant.ON)
"""What a scenario runs is what the user renders: asking for it would put questions into the picture."""


@dataclass(frozen=True, slots=True)
class DemoUser:
    """What to prompt, and how soon to answer questions."""

    prompts: tuple[str, ...] = ()
    """Empty: as many as the scenario has turns."""
    hesitates_s: float = 0.0
    """Before each answer."""


@dataclass(eq=False)
class _ScriptedUser:
    """Answers the questions of one agent."""

    agent: Agent
    user: DemoUser
    session: Session | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.agent.on_elicitations = self.note_change

    def note_change(self, *_: object) -> None:
        self.changed.set()

    async def attend(self) -> None:
        """Answer questions until cancelled."""
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            if self.user.hesitates_s and self._is_asked:
                await anyio.sleep(self.user.hesitates_s)
            for key, elicitation in list(self.agent.elicitations.items()):
                self.agent.questions.answer(key, *self._elicited(elicitation))
            if self.session is not None:
                self._answer(self.session)

    async def log_in(self, wanted: AuthenticationRequired) -> AuthMethod:
        """Log in by the first method."""
        await self.agent.authenticate(wanted.methods[0].method_id)
        return wanted.methods[0]

    @property
    def _is_asked(self) -> bool:
        said = self.session.conversation if self.session is not None else None
        return bool(self.agent.elicitations or (said and said.is_asking))

    def _answer(self, session: Session) -> None:
        for request in list(session.conversation.permissions.values()):
            option = self._choice(request)
            if option is None:
                session.cancel()
            else:
                answer(session, request.key, option.option_id)
        for key, elicitation in list(session.conversation.elicitations.items()):
            session.questions.answer(key, *self._elicited(elicitation))

    def _choice(self, request: PermissionRequest) -> PermissionOption | None:
        """Allow once; if that isn't offered, reject. If that is impossible, too, the turn is canceled."""
        # Our own question (a file outside the project) is about the user's machine, not about the script.
        kind = "reject_once" if REFUSE in request.options else "allow_once"
        wanted = (option for option in request.options if option.kind == kind)
        return next(wanted, request.rejection_once)

    def _elicited(self, elicitation: Elicitation) -> tuple[ElicitationAction, FormValues | None]:
        return "accept", _filled_in(elicitation) if isinstance(elicitation, Form) else None


def answer(session: Session, key: RequestKey, option_id: str) -> None:
    session.answer_permission(key, option_id)


async def record_demo(name: str, user: DemoUser, file: Path, *, screen: tuple[int, int], speed: float = 0) -> None:
    """Play a scenario (a name or a file) into a new recording. Raises ClientError.

    With a speed, it's played that many times as fast, and its recording has the times at normal speed.
    """
    name = name or shipped.DEFAULT
    try:
        scenario = await to_thread.run_sync(load, name)
    except UnknownScenario as error:
        raise ClientError(str(error), hint="to list the scenarios: acp-tui demo --list") from error
    except ScenarioError as error:
        raise ClientError(str(error)) from error
    prompts = user.prompts or (FIRST_PROMPT, *[NEXT_PROMPT] * (len(scenario.unmatched) - 1))
    with TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        await to_thread.run_sync(copy_project, project)
        command = replace(demo_command(str(shipped.path_of(name).absolute()), speed), cwd=project)
        with anyio.move_on_after(LIMIT_S) as limit:
            await _record(command, user, prompts, file, screen, is_endless=_hangs(scenario, prompts))
        if limit.cancelled_caught:
            raise ClientError(f"the scenario {name} didn't end within {LIMIT_S:g} s")
        await to_thread.run_sync(_make_placeless, file, project)
        if speed:
            await to_thread.run_sync(_slow_down, file, speed)


async def _record(
    command: AgentCommand,
    user: DemoUser,
    prompts: Sequence[str],
    file: Path,
    screen: tuple[int, int],
    *,
    is_endless: bool,
) -> None:
    assert command.cwd is not None
    plan = RecordingPlan(command.cwd, file=file, screen=screen)
    async with open_hub() as hub:
        agent = await hub.start_agent(command, cwd=command.cwd, offer=INTERACTIVE, policy=POLICY, recordings=plan)
        scripted = _ScriptedUser(agent, user)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(scripted.attend)
            if is_endless:
                tasks.start_soon(_end_in_silence, file, tasks.cancel_scope)
            with suppress(ClientError):  # the recording shows what happened
                await _play(agent, scripted, command.cwd, prompts)
            tasks.cancel_scope.cancel()


async def _play(agent: Agent, scripted: _ScriptedUser, cwd: Path, prompts: Sequence[str]) -> None:
    await agent.initialize()
    session = await SessionDriver(FrontEndLink(agent), scripted.log_in, cwd).begin()
    scripted.session = session
    session.subscribe(scripted.note_change)
    for prompt in prompts:
        with suppress(AgentRefused):  # the next turn may end differently
            await session.send_prompt([Text(prompt)])


async def _end_in_silence(file: Path, scope: anyio.CancelScope) -> None:
    """Stop a script that hangs on purpose, once the recording no longer grows."""
    size, silent_s = -1, 0.0
    while silent_s < SILENCE_S:
        await anyio.sleep(POLL_S)
        before, size = size, file.stat().st_size if file.exists() else -1
        silent_s = silent_s + POLL_S if size == before else 0.0
    scope.cancel()


def _hangs(scenario: Scenario, prompts: Sequence[str]) -> bool:
    """Whether the agent hangs at one of these prompts, or from the start."""
    turns = [turn for prompt in prompts if (turn := scenario.matching(prompt)) is not None]
    steps = with_inner(step for turn in (*turns, *scenario.unmatched) for step in turn.steps)
    played = [load(turn.play) for turn in turns if turn.play is not None]
    is_there = any(step.kind == "fault" and step.value == "hang" for step in steps)
    return scenario.initialize.hang or is_there or any(_hangs(each, prompts) for each in played)


def _filled_in(form: Form) -> FormValues:
    """The defaults, and the first choice of required fields."""
    values: FormValues = {}
    for each in form.fields:
        default = getattr(each, "default", None)
        if isinstance(each, MultiChoiceField):
            values[each.name] = list(each.default)
        elif default is not None:
            values[each.name] = default
        elif isinstance(each, ChoiceField) and each.is_required:
            values[each.name] = each.choices[0].value
    return values


# The same on every machine


def _make_placeless(file: Path, project: Path) -> None:
    """Remove the paths of this machine from a recording."""
    names = (
        (str(project), PROJECT),
        (str(Path(programs.__file__)), "programs.py"),
        (str(shipped.SCENARIOS), ""),
        (sys.executable, "python"),
    )
    replace_file(file, without_places(file.read_text(encoding="utf-8"), names).encode(), is_ours=False)


def without_places(recording: str, names: Iterable[tuple[str, str]]) -> str:
    """The recording with a name for each path, in this order."""
    for place, name in names:
        recording = recording.replace(json.dumps(place)[1:-1], name)
    return recording


def _slow_down(file: Path, times: float) -> None:
    """Multiply the times in a recording. Real durations, such as of commands, hardly matter."""
    header, *lines = file.read_text(encoding="utf-8").splitlines()
    slow, before, now = [header], 0.0, 0.0
    for line in lines:
        event = json.loads(line)
        now += min((event["t"] - before) * times, LONGEST_PAUSE_S)
        before = event["t"]
        slow.append(json.dumps({**event, "t": round(now, 3)}, ensure_ascii=False))
    replace_file(file, "\n".join([*slow, ""]).encode(), is_ours=False)


def timeless(event: Event) -> Event:
    """The event without the time of day, which depends on the time zone."""
    if isinstance(event, OwnAction) and isinstance(event.update, PermissionAnswered | ElicitationAnswered):
        return replace(event, update=replace(event.update, at=None))
    return event


def without_durations(event: Event) -> Event:
    """The event as it is on every machine, without the duration of commands."""
    if isinstance(event, OwnAction) and isinstance(event.update, TerminalExited):
        return replace(event, update=replace(event.update, seconds=None))
    return timeless(event)
