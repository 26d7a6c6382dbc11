"""Rules of the client's terminals as an agent uses them."""

from __future__ import annotations

from typing import Final

from acp_tui.protocol.conformance.exchange import Answered, Asked, Event
from acp_tui.protocol.conformance.rule import Judge, Rule, Severity, shown
from acp_tui.protocol.conformance.scene import as_object
from acp_tui.protocol.v1 import methods
from acp_tui.rpc.pairing import Recent

# Required, and yet no error: a connection may end in the middle of a command.
RELEASED: Final = Rule(
    "A-TERM-1",
    Severity.WARNING,
    "Every terminal that is created is released.",
    "Send terminal/release when the command is done with: until then the client keeps its output.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
LIVE: Final = Rule(
    "A-TERM-2",
    Severity.ERROR,
    "Only terminals are used that were created and not released.",
    "Read the output and the exit before you release.",
    "terminals#releasing-terminals",
    "R-TERM-10",
)
PROGRAM: Final = Rule(
    "A-TERM-3",
    Severity.WARNING,
    "The command of a terminal is a program, its arguments stand in args.",
    'For a line of the shell send {"command": "sh", "args": ["-c", line]}: many clients run the command as it is.',
    "terminals#executing-commands",
    "R-TERM-3",
)
RULES: Final = (RELEASED, LIVE, PROGRAM)

USES: Final = (
    methods.TERMINAL_OUTPUT,
    methods.TERMINAL_WAIT_FOR_EXIT,
    methods.TERMINAL_KILL,
    methods.TERMINAL_RELEASE,
)


class TerminalCheck:
    """Follows each terminal from its creation to its release."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._live: Recent[tuple[str, str], int] = Recent()
        """By session and terminal: the frame in which its id was told."""

    def see(self, event: Event) -> None:
        """A message passes."""
        match event:
            case Answered(is_agents=False, request=request, result=result, index=index):
                if request.method == methods.TERMINAL_CREATE:
                    terminal_id = as_object(result).get("terminalId")
                    if isinstance(terminal_id, str):
                        self._live[str(request.params.get("sessionId")), terminal_id] = index
            case Asked(is_agents=True, method=methods.TERMINAL_CREATE, params=params):
                self._look_at_command(params.get("command"), params.get("args"))
            case Asked(is_agents=True, method=method, params=params) if method in USES:
                key = (str(params.get("sessionId")), str(params.get("terminalId")))
                text = f"{method} came for {shown(key[1])}"
                self._judge.check(LIVE, self._live.may_know(key), text)
                if method == methods.TERMINAL_RELEASE and self._live.pop(key, None) is not None:
                    self._judge.check(RELEASED, True, "")

    def _look_at_command(self, command: object, args: object) -> None:
        """A space may stand in the path of a program, hardly in its name."""
        if isinstance(command, str):
            is_line = not args and " " in command.strip() and not command.startswith(("/", "./"))
            self._judge.check(PROGRAM, not is_line, f"a command is {shown(command)}, without args")

    def finish(self) -> None:
        """What was not released up to now will not be."""
        for (_, terminal_id), index in self._live.items():
            self._judge.check(RELEASED, False, f"{shown(terminal_id)} was not", index)
