"""The question before code of others is run for the first time; the answer is kept, for that very code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from anyio import to_thread
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.consent import agree, consent_file, is_agreed, what_runs
from acp_tui.client.errors import SettingsError
from acp_tui.ui.widgets.fields.frame import Frame, shown_line


async def agreed_command(app: App[Any], command: AgentCommand) -> AgentCommand | None:
    """The command once the user has agreed to it, now or before; None where they do not. To be awaited in a worker."""
    if not await to_thread.run_sync(is_agreed, command, consent_file()):
        if not await app.push_screen_wait(FirstRunDialog(command)):
            return None
        try:
            await to_thread.run_sync(agree, command, consent_file())
        except SettingsError as error:
            app.notify(f"{error}; {error.hint}", severity="warning", markup=False)
    return replace(command, package=None)


class FirstRunDialog(ModalScreen[bool]):
    """Gives True where the user agrees; anything but a plain yes is no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "dismiss(False)", "No", show=False),
        Binding("y", "dismiss(True)", "Yes", show=False),
        Binding("left", "app.focus_previous", "Other answer", show=False),
        Binding("right", "app.focus_next", "Other answer", show=False),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
    ]

    def __init__(self, command: AgentCommand) -> None:
        """`command` has a package."""
        super().__init__(classes="dialog")
        self._command = command

    def compose(self) -> ComposeResult:
        """What would run, whole, and two answers."""
        about, line, *env = what_runs(self._command)
        told = [shown_line(about), Content(), shown_line(line, "bold")]
        told += [shown_line(each, "$foreground-muted") for each in env]
        told += [Content(), Content("You are asked again when the version or the command changes.")]
        no = Button("No", id="no", compact=True)
        yes = Button("Yes, run it", id="yes", compact=True)
        yield Frame(
            Content.assemble("Run ", shown_line(self._command.name), " for the first time?"),
            "y yes · n no · ↑ ↓ read on · Esc no",
            VerticalScroll(
                Static(Content("\n").join(told), markup=False), classes="dialog-body", can_focus=False
            ),
            Horizontal(no, yes, classes="dialog-buttons"),
        )

    def on_mount(self) -> None:
        """No is what Enter says."""
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """That is the answer."""
        self.dismiss(event.button.id == "yes")

    def action_scroll(self, lines: int) -> None:
        """Read on."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
