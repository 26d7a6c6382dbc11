"""The sessions of one agent, open and stored, and what it remembers of each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import Any, Final

import anyio

from acp_tui.demo.script import KeptSession, Scenario, ScriptedTurn, SessionTerms, Step, Wire
from acp_tui.rpc import ErrorCode, RequestFailed

TITLE_CHARS: Final = 60
RESOURCE_NOT_FOUND: Final = -32002


class DemoSession:
    """One session: its settings, its turn, its progress in the scenario, and its history if it's stored."""

    def __init__(self, session_id: str, cwd: str, setup: SessionTerms, *, is_kept: bool = False) -> None:
        self.id = session_id
        self.cwd = cwd
        self.title: str | None = None
        self.updated_at: str | None = None
        self.past: list[Wire] | None = [] if is_kept else None
        """Every update so far, including the user's prompts; None if the history can't be requested."""
        self.cancel_turn: Callable[[], None] | None = None
        """Cancels the current turn; None if there isn't one."""
        self.held: list[anyio.CancelScope] = []
        """The prompts that wait for their turn; only in version 2."""
        self.is_free = anyio.Event()
        """Set when a turn ends, and then replaced."""
        self.files_read: dict[str, str] = {}
        self.subagents: dict[str, DemoSession] = {}
        self.modes = dict(setup.modes) if setup.modes is not None else None
        self.takes_boolean_options = False
        self._config = [dict(option) for option in setup.config]
        self._turns_played: dict[str, int] = {}
        self._ids_given: Counter[str] = Counter()
        self._open_message: tuple[str, str] | None = None
        self._calls: set[str] = set()

    def next_id(self, kind: str) -> str:
        """A new ID for a tool call, a message, and so on: call-1, call-2, ..."""
        self._ids_given[kind] += 1
        return f"{kind}-{self._ids_given[kind]}"

    def begin_subagent(self) -> DemoSession:
        session = DemoSession(f"{self.id}/{self.next_id('subagent')}", self.cwd, SessionTerms())
        self.subagents[session.id] = session
        return session

    def message_id(self, kind: str, given: str | None) -> str:
        if given is not None:
            self.end_message()
            return given
        if self._open_message is None or self._open_message[0] != kind:
            self._open_message = kind, self.next_id("message")
        return self._open_message[1]

    def end_message(self) -> None:
        """Start a new message with the next chunk."""
        self._open_message = None

    def knows(self, call_id: str) -> bool:
        """Whether the tool call was mentioned before. From now on it was."""
        is_known = call_id in self._calls
        self._calls.add(call_id)
        return is_known

    def end_turn(self) -> None:
        self.cancel_turn = None
        self.end_message()
        self.is_free.set()
        self.is_free = anyio.Event()

    def remember(self, update: Wire) -> None:
        if self.past is None:
            return
        self.past.append(update)
        if update["sessionUpdate"] == "session_info_update":
            self.title = update.get("title", self.title)
            self.updated_at = update.get("updatedAt", self.updated_at)

    def remember_prompt(self, text: str, updates: Iterable[Wire]) -> None:
        """Record a prompt, in the form of these updates."""
        self.updated_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.title = self.title or text[:TITLE_CHARS] or None
        for update in updates:
            self.remember(update)

    def summary(self, folder: str) -> dict[str, Any]:
        """The session's entry in `session/list`. Its cwd may be relative to the folder."""
        told = {"title": self.title, "updatedAt": self.updated_at}
        cwd = str(PurePath(folder) / self.cwd)
        return {"sessionId": self.id, "cwd": cwd} | {key: value for key, value in told.items() if value}

    def pick(self, scenario: Scenario, text: str) -> ScriptedTurn | None:
        """The turn that answers a prompt: one that matches it, or the next of the others; None if there is none."""
        if (turn := scenario.matching(text)) is not None:
            return turn
        played = self._turns_played.get(scenario.name, 0)
        self._turns_played[scenario.name] = played + 1
        turns = scenario.unmatched
        return turns[min(played, len(turns) - 1)] if turns else None

    def declaration(self) -> dict[str, Any]:
        """Its modes and config options, if it has any."""
        declared: dict[str, Any] = {}
        if self.modes is not None:
            declared["modes"] = self.modes
        if self._shown_config:
            declared["configOptions"] = self.config_options()
        return declared

    def config_options(self) -> list[dict[str, Any]]:
        return [dict(option) for option in self._shown_config]

    @property
    def _shown_config(self) -> list[dict[str, Any]]:
        # A boolean option may be sent only to a client that supports them (ACP v1, session-config-options).
        return [o for o in self._config if self.takes_boolean_options or o["type"] != "boolean"]

    def set_mode(self, mode_id: Any) -> None:
        """Change the mode. Raises RequestFailed if it isn't available."""
        available = [mode["id"] for mode in self.modes["availableModes"]] if self.modes else []
        if self.modes is None or mode_id not in available:
            raise invalid_params(f"There is no mode {mode_id!r}; available: {', '.join(available) or 'none'}")
        self._show_mode(mode_id)

    def set_option(self, option_id: Any, value: Any) -> None:
        """Change a config option. Raises RequestFailed for an unknown option or value."""
        option = next((option for option in self._config if option["id"] == option_id), None)
        if option is None:
            raise invalid_params(f"There is no config option {option_id!r}")
        allowed = [True, False] if option["type"] == "boolean" else [o["value"] for o in option["options"]]
        if type(value) is not type(allowed[0]) or value not in allowed:
            raise invalid_params(f"The option {option_id} can't be {value!r}")
        option["currentValue"] = value
        if option.get("category") == "mode":
            self._show_mode(value)

    def _show_mode(self, mode_id: Any) -> None:
        """Update the mode and the config option of category "mode", which are the same setting."""
        if self.modes is not None:
            self.modes["currentModeId"] = mode_id
        for option in self._config:
            if option.get("category") == "mode":
                option["currentValue"] = mode_id


class Sessions:
    """Opens, finds, lists, and deletes sessions. Raises RequestFailed if a requested session doesn't exist."""

    def __init__(self, scenario: Scenario, run: str = "") -> None:
        """The IDs of new sessions are numbered and contain `run`."""
        self._prefix = "-".join(filter(None, ("demo", run)))
        self._setup = scenario.session
        self._keeping = scenario.keeping
        self.keeps = bool(scenario.keeping.offers)
        """Whether sessions can be opened again; in version 2, always."""
        self._open: dict[str, DemoSession] = {}
        self._kept = {old.session_id: self._session_of(old) for old in scenario.keeping.sessions}
        self._untold = {old.session_id: old.history for old in scenario.keeping.sessions}
        self._begun = 0
        self._folder = str(Path.cwd())

    def _session_of(self, old: KeptSession) -> DemoSession:
        session = DemoSession(old.session_id, old.cwd, self._setup, is_kept=True)
        session.title, session.updated_at = old.title, old.updated_at
        return session

    def begin(self, cwd: str) -> DemoSession:
        self._begun += 1
        session = DemoSession(f"{self._prefix}-{self._begun}", cwd, self._setup, is_kept=self.keeps)
        if self.keeps:
            self._kept = {session.id: session} | self._kept
        return self._opened(session, cwd)

    def reopen(self, session_id: Any, cwd: str) -> DemoSession:
        """Open a stored session. If it's open, its turn is cancelled."""
        session = self._kept.get(session_id)
        if session is None:
            raise RequestFailed(RESOURCE_NOT_FOUND, f"There is no session {session_id!r}")
        self.close(session_id)
        return self._opened(session, cwd)

    def _opened(self, session: DemoSession, cwd: str) -> DemoSession:
        session.cwd = self._folder = cwd
        self._open[session.id] = session
        return session

    def get(self, session_id: Any) -> DemoSession | None:
        return self._open.get(session_id)

    def with_subagents(self) -> list[DemoSession]:
        sessions = list(self._open.values())
        for session in sessions:  # grows during the loop
            sessions += session.subagents.values()
        return sessions

    def close(self, session_id: Any) -> None:
        """Close a session and cancel its turn. Does nothing if it isn't open."""
        session = self._open.pop(session_id, None)
        if session is not None and session.cancel_turn is not None:
            session.cancel_turn()

    def delete(self, session_id: Any) -> None:
        self.close(session_id)
        self._kept.pop(session_id, None)

    def untold(self, session: DemoSession) -> tuple[Step, ...]:
        """The scenario's history of a stored session, once: afterwards the session itself remembers it."""
        return self._untold.pop(session.id, ())

    def page(self, cwd: Any, cursor: Any) -> dict[str, Any]:
        """A page of the `session/list` response, newest sessions first."""
        told = [session.summary(self._folder) for session in self._kept.values()]
        found = [summary for summary in told if cwd is None or summary["cwd"] == cwd]
        start = self._start(found, cursor)
        page, rest = found[start:][: self._keeping.page_size], found[start + self._keeping.page_size :]
        return {"sessions": page} | ({"nextCursor": _cursor(page[-1])} if rest else {})

    def _start(self, found: list[dict[str, Any]], cursor: Any) -> int:
        if cursor is None:
            return 0
        for number, summary in enumerate(found, 1):
            if _cursor(summary) == cursor:
                return number
        raise RequestFailed(ErrorCode.INVALID_PARAMS, "There is no such cursor, or it has expired")


def _cursor(last: dict[str, Any]) -> str:
    """The cursor for the page after this session, opaque to clients."""
    return str(last["sessionId"]).encode().hex()


def invalid_params(message: str) -> RequestFailed:
    return RequestFailed(ErrorCode.INVALID_PARAMS, message)
