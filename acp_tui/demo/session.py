"""What the agent remembers of one session between its turns; it sends nothing."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from acp_tui.demo.script import Scenario, ScriptedTurn, SessionSetup
from acp_tui.rpc import ErrorCode, RequestFailed

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


class Session:
    """One session: its settings, the turn it plays and how far the scenario went."""

    def __init__(self, session_id: str, cwd: str, setup: SessionSetup, *, boolean_options: bool) -> None:
        self.id = session_id
        self.cwd = cwd
        self.turn: Turn | None = None
        self.files_read: dict[str, str] = {}
        self._modes = dict(setup.modes) if setup.modes is not None else None
        # A boolean option may only be sent to a client that said it takes them (ACP v1, session-config-options).
        shown = [option for option in setup.config if boolean_options or option["type"] != "boolean"]
        self._config = [dict(option) for option in shown]
        self._turns_played: dict[str, int] = {}
        self._call_numbers = count(1)

    def next_call_id(self) -> str:
        """A fresh tool call id: call-1, call-2, ..."""
        return f"call-{next(self._call_numbers)}"

    def pick(self, scenario: Scenario, text: str) -> ScriptedTurn | None:
        """The turn that answers a prompt; None when the scenario has none for it."""
        return scenario.matching(text) or self._next_unmatched(scenario)

    def _next_unmatched(self, scenario: Scenario) -> ScriptedTurn | None:
        played = self._turns_played.get(scenario.name, 0)
        self._turns_played[scenario.name] = played + 1
        turns = scenario.unmatched
        return turns[min(played, len(turns) - 1)] if turns else None

    def declaration(self) -> dict[str, Any]:
        """What `session/new` answers."""
        declared: dict[str, Any] = {"sessionId": self.id}
        if self._modes is not None:
            declared["modes"] = self._modes
        if self._config:
            declared["configOptions"] = self.config_options()
        return declared

    def config_options(self) -> list[dict[str, Any]]:
        """Every config option with its value of now."""
        return [dict(option) for option in self._config]

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
