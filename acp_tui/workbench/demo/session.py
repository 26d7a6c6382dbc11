"""What the agent remembers of one session between its turns; it sends nothing."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from acp_tui.rpc import ErrorCode, RequestFailed
from acp_tui.workbench.demo.script import Scenario, ScriptedTurn, SessionSetup, Wire

if TYPE_CHECKING:
    from acp_tui.workbench.demo.turn import Turn

TITLE_CHARS: Final = 60


class Session:
    """One session: its settings, the turn it plays, how far the scenario went and, where it is kept, what was said."""

    def __init__(self, session_id: str, cwd: str, setup: SessionSetup, *, is_kept: bool = False) -> None:
        self.id = session_id
        self.cwd = cwd
        self.title: str | None = None
        self.updated_at: str | None = None
        self.past: list[Wire] | None = [] if is_kept else None
        """Every update so far, the user's prompts among them; None where nobody can ask for it again."""
        self.turn: Turn | None = None
        self.files_read: dict[str, str] = {}
        self._modes = dict(setup.modes) if setup.modes is not None else None
        self.takes_boolean_options = False
        self._config = [dict(option) for option in setup.config]
        self._turns_played: dict[str, int] = {}
        self._ids_given: Counter[str] = Counter()

    def next_id(self, kind: str) -> str:
        """A fresh id for a tool call, a message or the like: call-1, call-2, ..."""
        self._ids_given[kind] += 1
        return f"{kind}-{self._ids_given[kind]}"

    def remember(self, update: Wire) -> None:
        """Take note of an update that is sent."""
        if self.past is None:
            return
        self.past.append(update)
        if update["sessionUpdate"] == "session_info_update":
            self.title = update.get("title", self.title)
            self.updated_at = update.get("updatedAt", self.updated_at)

    def remember_prompt(self, text: str, blocks: list[Wire]) -> None:
        """Take note of what the user says."""
        self.updated_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.title = self.title or text[:TITLE_CHARS] or None
        for block in blocks:
            self.remember({"sessionUpdate": "user_message_chunk", "content": block})

    def summary(self, folder: str) -> dict[str, Any]:
        """How `session/list` tells of it; its cwd may be relative to the folder."""
        told = {"title": self.title, "updatedAt": self.updated_at}
        cwd = str(PurePath(folder) / self.cwd)
        return {"sessionId": self.id, "cwd": cwd} | {key: value for key, value in told.items() if value}

    def pick(self, scenario: Scenario, text: str) -> ScriptedTurn | None:
        """The turn that answers a prompt; None when the scenario has none for it."""
        return scenario.matching(text) or self._next_unmatched(scenario)

    def _next_unmatched(self, scenario: Scenario) -> ScriptedTurn | None:
        played = self._turns_played.get(scenario.name, 0)
        self._turns_played[scenario.name] = played + 1
        turns = scenario.unmatched
        return turns[min(played, len(turns) - 1)] if turns else None

    def declaration(self) -> dict[str, Any]:
        """Its modes and config options, as far as it has any."""
        declared: dict[str, Any] = {}
        if self._modes is not None:
            declared["modes"] = self._modes
        if self._shown_config:
            declared["configOptions"] = self.config_options()
        return declared

    def config_options(self) -> list[dict[str, Any]]:
        """Every config option with its value of now."""
        return [dict(option) for option in self._shown_config]

    @property
    def _shown_config(self) -> list[dict[str, Any]]:
        # A boolean option may only be sent to a client that said it takes them (ACP v1, session-config-options).
        return [o for o in self._config if self.takes_boolean_options or o["type"] != "boolean"]

    def set_mode(self, mode_id: Any) -> None:
        """Change the mode. Raises RequestFailed for one that is not available."""
        available = [mode["id"] for mode in self._modes["availableModes"]] if self._modes else []
        if self._modes is None or mode_id not in available:
            raise _invalid(f"There is no mode {mode_id!r}; available: {', '.join(available) or 'none'}")
        self._show_mode(mode_id)

    def set_option(self, option_id: Any, value: Any) -> None:
        """Change a config option. Raises RequestFailed for an unknown option or value."""
        option = next((option for option in self._config if option["id"] == option_id), None)
        if option is None:
            raise _invalid(f"There is no config option {option_id!r}")
        allowed = [True, False] if option["type"] == "boolean" else [o["value"] for o in option["options"]]
        if type(value) is not type(allowed[0]) or value not in allowed:
            raise _invalid(f"The option {option_id} cannot be {value!r}")
        option["currentValue"] = value
        if option.get("category") == "mode":
            self._show_mode(value)

    def _show_mode(self, mode_id: Any) -> None:
        """A mode and a config option of category "mode" are one setting, told in two ways."""
        if self._modes is not None:
            self._modes["currentModeId"] = mode_id
        for option in self._config:
            if option.get("category") == "mode":
                option["currentValue"] = mode_id


def _invalid(message: str) -> RequestFailed:
    return RequestFailed(ErrorCode.INVALID_PARAMS, message)
