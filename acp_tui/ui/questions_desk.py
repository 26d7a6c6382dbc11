"""What an agent asks the user beside permissions: forms, and pages to visit. One dialog at a time.

It opens the dialogs over the tab that they belong to; what they look like is `screens.form`'s and `screens.visit`'s.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import Event, to_thread
from textual.screen import Screen

from acp_tui.conversation.elicitation import Form, UrlVisit
from acp_tui.conversation.visible import make_visible
from acp_tui.ui.asking import ASKING

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.elicitation import Elicitation, FormValues
    from acp_tui.ui.screens.session_actions import SessionActions

T = TypeVar("T")


class QuestionsDesk:
    """Serves one tab: the questions of its session, and those of its agent outside of any session."""

    def __init__(self, screen: SessionActions, agent: Callable[[], Agent | None]) -> None:
        """`agent` gives the agent as far as it has come; it may ask before the handshake is done."""
        self._screen = screen
        self._agent = agent
        self._session: Session | None = None
        """The one whose questions were looked for last."""
        self._asked: tuple[Any, Elicitation, Screen[Any]] | None = None
        self._answered = Event()

    def look_for_questions(self, session: Session | None = None) -> None:
        """Show the next question of the agent, and take away one that has been withdrawn. Cheap where there is none.

        Without `session`, the agent's own questions have changed, and those of the session last given still count.
        """
        self._session = session or self._session
        if self._screen not in self._screen.app.screen_stack:
            return  # another tab is in front; this one says that it needs the user
        if self._asked is not None:
            owner, asked, dialog = self._asked
            # Textual cannot take away a dialog that it still builds: `_open` looks again once it has.
            if asked.key not in _waiting(owner) and dialog.is_active and dialog.is_mounted:
                dialog.dismiss(("cancel", None) if isinstance(asked, Form) else "cancel")
            return
        front = self._screen.app.screen
        if front is not self._screen and not front.has_class(ASKING):
            return  # the keys are for what the user has opened; when that is closed, the screen looks again
        for owner in (self._session, self._agent()):
            waiting = next(iter(_waiting(owner).values()), None)
            if owner is not None and waiting is not None:
                self._screen.run_worker(self._ask(owner, waiting))
                return

    def cancel_all(self) -> None:
        """Answer every question that waits as cancelled: the user wants to see none of them."""
        for owner in (self._session, self._agent()):
            for key in tuple(_waiting(owner)):
                if owner is not None:
                    owner.answer_elicitation(key, "cancel", None)

    async def until_nothing_is_asked(self) -> None:
        """Return when no dialog of ours is open."""
        while self._asked is not None:
            self._answered = Event()
            await self._answered.wait()

    async def _ask(self, owner: Any, elicitation: Elicitation) -> None:
        if self._asked is not None or elicitation.key not in _waiting(owner):
            return
        agent = self._agent()
        title = agent.title if agent is not None else "The agent"
        if isinstance(elicitation, UrlVisit):
            await self._ask_to_visit(owner, elicitation, title)
        else:
            from acp_tui.ui.screens.form import FormDialog

            form = FormDialog(elicitation, title, self._screen.type_on)
            self._asked = (owner, elicitation, form)
            action, values = await self._open(form)
            self._answer(owner, elicitation, action, values)
        self.look_for_questions()

    async def _ask_to_visit(self, owner: Any, visit: UrlVisit, title: str) -> None:
        from acp_tui.ui.screens.visit import VisitDialog

        dialog = VisitDialog(visit, title)
        self._asked = (owner, visit, dialog)
        consent = await self._open(dialog)
        self._answer(owner, visit, consent, None)
        if consent == "accept" and not await to_thread.run_sync(webbrowser.open, visit.url):
            said = make_visible(f"No browser could be started. The page is {visit.url}")
            self._screen.notify(said, severity="warning", markup=False)

    async def _open(self, dialog: Screen[T]) -> T:
        """Over this tab: another may have come to the front by now. Withdrawn below its help, it goes behind that."""
        dialog.watch(dialog, "stack_updates", lambda: self.look_for_questions(), init=False)
        dialog.call_later(self.look_for_questions)  # comes behind its being built
        return await self._screen.app.push_screen_wait(dialog, mode=self._screen.mode)

    def _answer(self, owner: Any, elicitation: Elicitation, action: Any, values: FormValues | None) -> None:
        self._asked = None
        self._answered.set()
        owner.answer_elicitation(elicitation.key, action, values)


def _waiting(owner: Any) -> dict[Any, Elicitation]:
    """The questions of a session, or those of an agent outside of any session."""
    if owner is None:
        return {}
    found: dict[Any, Elicitation] = (
        owner.conversation.elicitations if hasattr(owner, "conversation") else owner.elicitations
    )
    return found
