"""Two terminals attach to one hosted session at random moments and press keys in it, while it asks, streams, and loses
connections: nothing breaks or stops, both show what the host knows, and each answer counts once.
"""

from __future__ import annotations

import os
import random
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from anyio.abc import ByteStream, SocketStream
from textual.events import Key
from textual.events import Resize as Resized
from textual.geometry import Size
from textual.pilot import Pilot

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentUnreachable
from acp_tui.client.sessions import agent as agent_module
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings.settings import Settings
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Message, ToolCallEntry
from acp_tui.conversation.facts import SessionId
from acp_tui.ui.app.app import AcpTuiApp
from acp_tui.ui.permission.permission_card import PermissionCard
from support import hosts
from support.agents import Counterpart, MemoryProcess, notification, request
from support.hosts import Hosted, hosted
from support.waiting import TEST_LIMIT_S, until

ATTACHES: Final = int(os.environ.get("ACP_TUI_ATTACHES", "6"))
"""How often a terminal attaches, two at a time."""
SEED: Final = int(os.environ.get("ACP_TUI_ATTACH_SEED", "1"))
KEYS: Final = (*"ynwx1f", "tab", "escape", "enter", "ctrl+t", "alt+s", "pageup", "f1", "g", "o")
SIZES: Final = ((80, 24), (150, 40), (40, 10), (100, 30))
MAX_WAITING: Final = 2
"""Questions of the agent at a time."""


class Busy:
    """The agent: it streams, plans, and asks until told to pause, and counts what it is answered."""

    def __init__(self, wire: Counterpart, chance: random.Random) -> None:
        self._wire = wire
        self._chance = chance
        self._going = anyio.Event()
        self._going.set()
        self._is_resting = anyio.Event()
        self.asked: list[str] = []
        self.answers: Counter[str] = Counter()
        """By question, how often it was answered."""

    async def listen(self) -> None:
        """Answer prompts, and count the answers."""
        while True:
            message = await self._wire.receive()
            if message.get("method") == "session/prompt":
                await self._say("agent_message_chunk", content={"type": "text", "text": "on it"})
                await self._wire.answer(message, {"stopReason": "end_turn"})
            elif "method" not in message:
                self.answers[message["id"]] += 1

    async def work(self) -> None:
        """Speak at random."""
        while True:
            if not self._going.is_set():
                self._is_resting.set()
                await self._going.wait()
            await anyio.sleep(self._chance.choice((0, 0, 0.01, 0.05, 0.2)))
            match self._chance.choice(("say", "say", "ask", "plan", "call")):
                case "say":
                    for _ in range(self._chance.choice((1, 30))):
                        await self._say("agent_message_chunk", content={"type": "text", "text": "word "})
                case "ask" if len(self.asked) - len(self.answers) < MAX_WAITING:
                    await self._ask()
                case "plan":
                    status = self._chance.choice(("pending", "in_progress", "completed"))
                    entries = [{"content": "Step", "priority": "medium", "status": status}]
                    await self._say("plan", entries=entries[: self._chance.choice((0, 1, 1))])
                case "call":
                    name = f"call{len(self.asked)}-{self._chance.random()}"
                    await self._say("tool_call", toolCallId=name, title="Look", status="completed")
                case _:
                    pass

    async def pause(self) -> None:
        """Return when it says nothing more."""
        self._going, self._is_resting = anyio.Event(), anyio.Event()
        await self._is_resting.wait()

    def go_on(self) -> None:
        self._going.set()

    async def _ask(self) -> None:
        name = f"q{len(self.asked)}"
        self.asked.append(name)
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        call = {"toolCallId": name, "title": f"Delete {name}", "kind": "execute"}
        params = {"sessionId": "s1", "toolCall": call, "options": options}
        await self._wire.send(request(name, "session/request_permission", params))

    async def _say(self, kind: str, **update: Any) -> None:
        update = {"sessionUpdate": kind, **update}
        await self._wire.send(notification("session/update", {"sessionId": "s1", "update": update}))


class Terminals:
    """The terminals that attach."""

    def __init__(self, host: Hosted, cwd: Path, chance: random.Random) -> None:
        self._host = host
        self._cwd = cwd
        self._chance = chance
        self.left = ATTACHES
        self.shown: dict[str, AcpTuiApp] = {}
        """Those attached, by name."""
        self.streams: dict[str, ByteStream] = {}
        self.attached = 0
        self.detached = 0

    @asynccontextmanager
    async def connect(self, command: AgentCommand, *_: Any) -> AsyncIterator[MemoryProcess]:
        """Connect to the host over a socket; in place of a process."""
        near, far = [await SocketStream.from_socket(end) for end in socket.socketpair()]
        async with near, far, anyio.create_task_group() as tasks:
            tasks.start_soon(self._host.host.serve, far)
            self.streams[command.name] = near
            yield Reachable(near)
            tasks.cancel_scope.cancel()

    async def come_and_go(self, name: str, checked: Callable[[], anyio.Event]) -> None:
        """Attach, press keys, and detach, again and again."""
        while self.left > 0:
            self.left -= 1
            await anyio.sleep(self._chance.choice((0, 0.02, 0.1, 0.3)))
            async with open_hub() as hub:
                command = AgentCommand(name, (name,), is_host=True, protocol=1)
                app = AcpTuiApp(hub, command, self._cwd, settings=Settings())
                app.opening = self._open
                async with app.run_test(size=SIZES[0], notifications=True) as pilot:
                    self.attached += 1
                    self.shown[name] = app
                    await self._use(pilot, name)
                    await checked().wait()
                    del self.shown[name]
                    self.detached += 1
                    if self._chance.random() < 0.5:
                        app.exit()

    async def _open(self, sessions: Any) -> Session:
        session: Session = await sessions.open(SessionId("s1"), self._cwd)
        return session

    async def _use(self, pilot: Pilot[None], name: str) -> None:
        for _ in range(self._chance.randrange(12)):
            await anyio.sleep(self._chance.choice((0, 0, 0.01, 0.1, 0.5)))
            chance = self._chance.random()
            if chance < 0.1:
                size = Size(*self._chance.choice(SIZES))
                assert pilot.app._driver is not None
                pilot.app._driver._size = (size.width, size.height)
                pilot.app.post_message(Resized(size, size))
            elif chance < 0.15 and any(tab.session is not None for tab in self.shown[name].tabs):
                await self.streams[name].aclose()
            else:
                key = self._chance.choice(KEYS)
                pilot.app.post_message(Key(key, key if len(key) == 1 else None))


class Reachable(MemoryProcess):
    """A connection that can be made again."""

    def loss(self, title: str) -> AgentUnreachable:  # type: ignore[override]
        """Worth another try."""
        return AgentUnreachable(f"{title} is out of reach", is_temporary=True)


def said(conversation: Conversation) -> list[object]:
    """What the host and its clients must agree on.

    A terminal shows its own prompt at once, so before what was on its way to it just then, and the host has it behind
    that. So what the user and the agent said are compared one by one.
    """
    entries = [*conversation.entries]
    messages = [entry for entry in entries if isinstance(entry, Message)]
    calls = [f"{entry.call.title} {entry.call.status}" for entry in entries if isinstance(entry, ToolCallEntry)]
    asked = [conversation.tool_call(one.tool_call_id).call.shown_title for one in conversation.permissions.values()]
    return [
        "".join(entry.text for entry in messages if entry.role == "agent"),
        sorted(entry.text for entry in messages if entry.role == "user"),
        *calls,
        *asked,
        repr(conversation.plans),
    ]


def shows(app: AcpTuiApp, conversation: Conversation) -> bool:
    """Whether the terminal shows the same as the host knows, with the first question on the card."""
    tab = app.tabs.front
    if tab is None or tab.session is None or tab.panel is None:
        return False
    if tab.panel.conversation is not tab.session.conversation or said(tab.session.conversation) != said(conversation):
        return False
    card = tab.panel.card
    assert isinstance(card, PermissionCard)
    wanted = next(iter(tab.session.conversation.permissions), None)
    is_right = (card.asked.request.key if card.asked is not None else None) == wanted
    return is_right and card.display is (wanted is not None)


async def test_both_terminals_show_what_the_host_knows_and_each_answer_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(SEED)
    monkeypatch.setattr(hosts, "TEST_LIMIT_S", TEST_LIMIT_S * max(1, ATTACHES // 6))
    async with hosted(tmp_path) as host:
        agent = Busy(host.wire, chance)
        terminals = Terminals(host, tmp_path, chance)
        conversation = host.session.conversation
        checked = anyio.Event()
        # Undone before the host's own.
        async with anyio.create_task_group() as tasks, patched(agent_module, "open_channel", terminals.connect):
            tasks.start_soon(agent.listen)
            tasks.start_soon(agent.work)
            async with anyio.create_task_group() as users:
                users.start_soon(terminals.come_and_go, "one", lambda: checked)
                users.start_soon(terminals.come_and_go, "other", lambda: checked)
                while terminals.detached < ATTACHES:  # one that is about to attach waits to be looked at, too
                    await anyio.sleep(chance.choice((0.2, 0.5, 1.0)))
                    await agent.pause()
                    for name, app in tuple(terminals.shown.items()):

                        def is_right(name: str = name, app: AcpTuiApp = app) -> bool:
                            return name not in terminals.shown or app._exit or shows(app, conversation)

                        await until(is_right, partial(anyio.sleep, 0.05), lambda app=app: told(app, conversation))
                    agent.go_on()
                    now, checked = checked, anyio.Event()
                    now.set()
            await agent.pause()
            for key in tuple(conversation.permissions):
                host.session.answer_permission(key, "reject_once")
            await until(lambda: len(agent.answers) == len(agent.asked), partial(anyio.sleep, 0.02))
            assert set(agent.answers) == set(agent.asked)
            assert set(agent.answers.values()) <= {1}
            assert terminals.attached == ATTACHES
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def patched(module: object, name: str, value: object) -> AsyncIterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, value)
        yield


def told(app: AcpTuiApp, conversation: Conversation) -> str:
    """How the terminal differs from the host."""
    tab = app.tabs.front
    panel = getattr(tab, "panel", None)
    here = said(panel.conversation) if panel is not None else None
    return f"{tab} {getattr(tab, 'stage', None)}\n{app.screen}\nhere: {here}\nhost: {said(conversation)}"
