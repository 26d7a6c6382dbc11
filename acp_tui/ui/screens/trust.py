"""The question whether what a project brings along is used; remembering the answer is the caller's business."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from acp_tui.client.secrets.masking import masked_text
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.settings.mcp import Pairs, Server, StdioServer
from acp_tui.ui.widgets.answer_guard import AnswerGuard
from acp_tui.ui.widgets.fields.frame import Frame, shown_line

MASK: Final = "••••••"
_REFERENCE: Final = re.compile(r"([A-Za-z]+ )?\$\{[A-Za-z_][A-Za-z0-9_]*\}")
"""Names a variable of the user's: no secret itself, and the user must see which one would be handed out."""
_TOKEN: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-+=]{16,}")


class TrustQuestion(ModalScreen[bool]):
    """Gives True where the user trusts it; anything but a plain yes is no.

    It comes unasked, in the midst of what the user writes: only a key behind a pause is an answer.
    """

    clock: ClassVar[Callable[[], float]] = staticmethod(time.monotonic)

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "No", show=False),
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("left", "app.focus_previous", "Other answer", show=False),
        Binding("right", "app.focus_next", "Other answer", show=False),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
        Binding("pagedown", "scroll(10)", "Page down", show=False),
    ]

    def __init__(self, question: str | Content, lines: Sequence[Content], yes: str = "Yes, use them") -> None:
        """`lines` tell all that would be used."""
        super().__init__(classes="dialog")
        self._question = Content(question) if isinstance(question, str) else question
        self._lines = lines
        self._yes = yes
        self._guard = AnswerGuard(type(self).clock)
        self._is_told = False
        """That an answer came too soon."""

    def compose(self) -> ComposeResult:
        """All of it, and two answers."""
        no = Button("No", id="no", compact=True)
        yes = Button(self._yes, id="yes", compact=True)
        yield Frame(
            self._question,
            "y yes · n no · ↑ ↓ read on · Esc no",
            VerticalScroll(
                Static(Content("\n").join(self._lines), markup=False),
                classes="dialog-body",
                can_focus=False,
            ),
            Horizontal(no, yes, classes="dialog-buttons"),
        )

    def on_mount(self) -> None:
        """No is what Enter says."""
        self.query_one("#no").focus()

    def on_screen_resume(self) -> None:
        """It is to be seen only now."""
        self._guard.arm()

    def on_key(self, event: events.Key) -> None:
        """Whoever writes means something else, the next letters too."""
        if event.is_printable and event.key not in ("y", "n"):
            self._guard.arm()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """That is the answer."""
        self.action_answer(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """Answer, unless it was meant for something else."""
        if self._guard.is_open:
            self.dismiss(answer)
            return
        self._guard.arm()
        if not self._is_told:
            self._is_told = True
            self.notify("Too soon to count: answer again", severity="warning")

    def action_scroll(self, lines: int) -> None:
        """Read on."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


class TrustDialog(TrustQuestion):
    """Asks for a project's MCP servers."""

    def __init__(self, file: Path, servers: Sequence[Server]) -> None:
        """`file` is the project's, `servers` what stands in it, as written."""
        told = Content.assemble(
            shown_line(str(file), "bold"),
            " asks for these MCP servers. The agent would start their commands as you, with all that you may do.\n",
        )
        lines = [told, *(line for server in servers for line in _server_lines(server))]
        super().__init__("Trust this project's servers?", lines)


def _server_lines(server: Server) -> list[Content]:
    if isinstance(server, StdioServer):
        what, settings = shlex.join((server.command, *server.args)), _pairs(server.env, "=")
    else:
        what = f"over {server.kind}: {server.url}"
        settings = _pairs(tuple((name, _masked("secret", value)) for name, value in server.headers), ": ")
    head = Content.assemble(shown_line(server.name, "bold $text-accent"), "\n  ", shown_line(what))
    return [head, *settings]


def _pairs(pairs: Pairs, sign: str) -> list[Content]:
    """What decides where a program comes from, such as PATH, must be seen; what looks like a secret must not."""
    return [
        Content.assemble("  ", shown_line(f"{name}{sign}{_masked(name, value)}", "$foreground-muted"))
        for name, value in pairs
    ]


def _masked(name: str, value: str) -> str:
    if not value or _REFERENCE.fullmatch(value):
        return value
    is_secret = is_secret_name(name) or _TOKEN.fullmatch(value) or masked_text(value) != value
    return MASK if is_secret else value
