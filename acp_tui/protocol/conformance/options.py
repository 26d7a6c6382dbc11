"""Rules of a session's settings: modes, config options and commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from acp_tui.protocol import v1
from acp_tui.protocol.conformance.exchange import Answered, Event, Told
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import OPENING, Scene, as_object, objects, offers
from acp_tui.rpc.messages import Recent

MODE: Final = Rule(
    "A-MODE-1",
    Severity.ERROR,
    "The current mode is one of the available ones.",
    "List every mode that a session can be in.",
    "session-modes",
    "R-MODE-3",
)
MODE_SET: Final = Rule(
    "A-MODE-2",
    Severity.ERROR,
    "A mode that is available can be set.",
    "Answer session/set_mode with {}, or take the mode out of the list.",
    "session-modes",
    "R-MODE-2",
)
CURRENT: Final = Rule(
    "A-CFG-1",
    Severity.ERROR,
    "The current value of an option is one of its choices.",
    "List the value, also where it comes from a file of the user's.",
    "session-config-options",
    "R-CFG-2",
)
DISTINCT: Final = Rule(
    "A-CFG-2",
    Severity.ERROR,
    "Options have ids of their own, and the choices of an option values of their own.",
    "Take the repeated ones out.",
    "session-config-options",
    "R-CFG-2",
)
BOOLEAN: Final = Rule(
    "A-CFG-3",
    Severity.ERROR,
    "Options that are on or off only go to clients that asked for them.",
    "Look at clientCapabilities.session.configOptions.boolean; send a select with two values else.",
    "session-config-options",
    "R-CFG-4",
)
TAKEN: Final = Rule(
    "A-CFG-4",
    Severity.ERROR,
    "The answer to session/set_config_option has all options, with the value that was set.",
    "Answer with the whole new state, or with an error where the value wasn't taken.",
    "session-config-options",
    "R-CFG-7",
)
COMMANDS: Final = Rule(
    "A-CMD-1",
    Severity.WARNING,
    "Commands have names of their own, without a slash before.",
    "Clients write the slash; of two commands with one name only one can be meant.",
    "slash-commands",
    "R-CMD-2",
)
RULES: Final = (MODE, MODE_SET, CURRENT, DISTINCT, BOOLEAN, TAKEN, COMMANDS)


class OptionCheck:
    """Looks at every state of the options, and remembers the modes."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        self._judge = judge
        self._scene = scene
        self._modes: Recent[str, frozenset[str]] = Recent()
        """By session: those that can be chosen."""

    def see(self, event: Event) -> None:
        """A message passes."""
        if isinstance(event, Answered) and event.is_agents:
            self._look_at_answer(event)
        elif isinstance(event, Told) and event.is_agents and event.method == v1.SESSION_UPDATE:
            self._look_at_update(event.params)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _look_at_answer(self, answer: Answered) -> None:
        method, params, result = answer.request.method, answer.request.params, as_object(answer.result)
        if method in OPENING and answer.error is None:
            session_id = result.get("sessionId", params.get("sessionId"))
            if isinstance(session_id, str):
                self._look_at_modes(session_id, as_object(result.get("modes")))
            self._look_at_options(result.get("configOptions"))
        elif method == v1.SESSION_SET_MODE:
            if str(params.get("modeId")) in self._known_modes(params):
                text = f"{shown(params.get('modeId'))} was answered with {shown(answer.error)}"
                self._judge.check(MODE_SET, answer.error is None, text, answer.request.index)
        elif method == v1.SESSION_SET_CONFIG_OPTION and answer.error is None:
            self._look_at_options(result.get("configOptions"))
            self._look_at_taken(answer)

    def _look_at_taken(self, answer: Answered) -> None:
        wanted, value = answer.request.params.get("configId"), answer.request.params.get("value")
        options = objects(as_object(answer.result).get("configOptions"))
        option = next((each for each in options if each.get("id") == wanted), None)
        if option is None:
            text = f"the option {shown(wanted)} isn't in it"
        else:
            text = f"{shown(wanted)} was set to {shown(value)}, and is {shown(option.get('currentValue'))}"
        is_taken = option is not None and option.get("currentValue") == value
        self._judge.check(TAKEN, is_taken, text, answer.request.index)

    def _look_at_update(self, params: dict[str, Any]) -> None:
        update = as_object(params.get("update"))
        match update.get("sessionUpdate"):
            case "config_option_update":
                self._look_at_options(update.get("configOptions"))
            case "current_mode_update":
                known, mode = self._known_modes(params), update.get("currentModeId")
                if known and isinstance(mode, str):
                    self._judge.check(MODE, mode in known, f"the mode is now {shown(mode)}")
            case "available_commands_update":
                self._look_at_commands(update.get("availableCommands"))

    def _known_modes(self, params: dict[str, Any]) -> frozenset[str]:
        return self._modes.get(str(params.get("sessionId")), frozenset())

    def _look_at_modes(self, session_id: str, modes: dict[str, Any]) -> None:
        available = frozenset(str(mode.get("id")) for mode in objects(modes.get("availableModes")))
        if "currentModeId" in modes:
            self._modes[session_id] = available
            current = modes["currentModeId"]
            self._judge.check(MODE, str(current) in available, f"the current mode is {shown(current)}")

    def _look_at_options(self, options: Any) -> None:
        found = objects(options)
        if not found:
            return
        ids = [str(option.get("id")) for option in found]
        self._judge.check(DISTINCT, len(set(ids)) == len(ids), f"the ids are {', '.join(ids)[:200]}")
        for option in found:
            if option.get("type") == "boolean":
                path = ("session", "configOptions", "boolean")
                self._judge.check(
                    BOOLEAN, offers(self._scene.offer, path), f"{shown(option.get('id'))} is one"
                )
            elif option.get("type") == "select":
                self._look_at_select(option)

    def _look_at_select(self, option: dict[str, Any]) -> None:
        values, current = list(_values(option.get("options"))), option.get("currentValue")
        name = shown(option.get("id"))
        self._judge.check(CURRENT, current in values, f"{name} is {shown(current)}")
        self._judge.check(DISTINCT, len(set(values)) == len(values), f"{name} has a value twice")

    def _look_at_commands(self, commands: Any) -> None:
        names = [str(command.get("name")) for command in objects(commands)]
        twice = [name for name, times in Counter(names).items() if times > 1]
        self._judge.check(COMMANDS, not twice, f"there are two of {', '.join(twice[:5])}")
        slashed = [name for name in names if name.startswith("/")]
        self._judge.check(COMMANDS, not slashed, f"there is {', '.join(slashed[:5])}")


def _values(choices: Any) -> Iterator[str]:
    """Of a flat list, or of one with groups."""
    for choice in objects(choices):
        if "group" in choice:
            yield from (str(each.get("value")) for each in objects(choice.get("options")))
        else:
            yield str(choice.get("value"))
