"""Installs an agent that the user has chosen: what it would be, the question, and the progress. Starts none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Generic, TypeVar

from textual import work
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.installed import Offer, terms_of
from acp_tui.client.agents.installing import InstallFailed, Tell, install, look_up
from acp_tui.ui.kit.dialog import Dialog, Frame, shown, shown_line
from acp_tui.ui.kit.question_screen import QuestionScreen

R = TypeVar("R")


async def installed_command(app: App[Any], offer: Offer) -> AgentCommand | None:
    """The command of the agent, once it's installed; None if the user doesn't agree, or it failed, as they have read.

    Await it in a worker.
    """
    name = offer.name
    found = await app.push_screen_wait(StepDialog(f"Looking up {name} …", lambda _: look_up(offer)))
    if found is None or not await app.push_screen_wait(InstallQuestion(found)):
        return None
    made = await app.push_screen_wait(StepDialog(f"Installing {name} {found.version} …", partial(install, found)))
    return None if made is None else made.command


class InstallQuestion(QuestionScreen):
    """Returns True if the user agrees to install the agent."""

    def __init__(self, offer: Offer) -> None:
        """Shows all that is downloaded and run."""
        about, line, checked, *rest = terms_of(offer)
        checked_style = "$text-warning" if checked.startswith("⚠") else ""
        told = [shown_line(about), Content(), shown_line(line, "bold"), Content()]
        told += [shown_line(checked, checked_style), *map(shown_line, rest)]
        super().__init__(Content.assemble("Install ", shown_line(offer.name), "?"), told, yes="Yes, install it")


class StepDialog(Dialog[R | None], Generic[R]):
    """Shows how a step of an installation goes. Returns its result; None if it failed, or the user has canceled it."""

    def __init__(self, title: str, step: Callable[[Tell], Awaitable[R]]) -> None:
        super().__init__()
        self._heading = title
        self._step = step
        self._said = Static(classes="dialog-said", markup=False)

    def compose(self) -> ComposeResult:
        yield Frame(shown_line(self._heading), "{dialog_close} cancel", self._said)

    def on_mount(self) -> None:
        self._working = self._work()

    @work(exit_on_error=False)
    async def _work(self) -> None:
        try:
            result = await self._step(lambda text: self._said.update(shown_line(text)))
        except InstallFailed as error:
            self._said.update(shown("\n".join(filter(None, (str(error), error.hint))), "$text-error"))
            self.query_one(Frame).show_keys("{dialog_close} back")
        else:
            self.dismiss(result)

    def action_close(self) -> None:
        """Close it once nothing is left of a step that goes on."""
        if self._working.is_finished:
            self.dismiss(None)
        else:
            self._said.update("Canceling …")
            self._working.cancel()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.CANCELLED:
            self.dismiss(None)
