"""Shows the agent's forms and pages, one card at a time, on the tab they belong to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from acp_tui.ui.commands.keymap import is_writing
from acp_tui.ui.commands.keys import note_question_gone
from acp_tui.ui.kit.desktop import open_page
from acp_tui.ui.kit.notice_lines import ASKING, AskingChanged
from acp_tui.ui.textual_gaps.internals import press_in

if TYPE_CHECKING:
    from textual.events import Key, Paste
    from textual.screen import Screen
    from textual.widget import Widget

    from acp_tui.client.sessions.agent import Agent
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.elicitation import Elicitation, FormValues
    from acp_tui.ui.kit.dialog import Dialog
    from acp_tui.ui.permission.form_card import FormCard
    from acp_tui.ui.tab.tab import Tab


class QuestionsController:
    """Handles the questions of one tab: those of its session, and those of its agent outside of any session."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._session: Session | None = None
        """The session whose questions were last checked."""
        self._shown: tuple[Any, Elicitation, FormCard] | None = None
        """Who asks, what, and the card to answer it."""
        self._is_here = True
        """Whether the card is on the tab's own screen."""
        self._answered = asyncio.Event()

    @property
    def card(self) -> FormCard | None:
        """The card on this tab's screen, or in the login dialog above it. It goes with that, and then comes anew."""
        card = self._shown[2] if self._shown is not None else None
        return card if card is not None and card.is_attached else None

    def look_for_questions(self, session: Session | None = None) -> None:
        """Show the next question, and remove one that was withdrawn. Cheap if there are none.

        Without `session`, the agent's own questions have changed; the last session's questions still count.
        """
        self._session = session or self._session
        owner, asked, _ = self._shown or (None, None, None)
        is_ours = owner is not None and (owner is self._session or owner is self._agent())
        if is_ours and asked is not None and asked.key in _waiting(owner) and self.card is not None:
            self.card.show_count(self._count)
        else:
            had_keyboard = self._take_away()
            following = self._whose_turn()
            if following is not None:
                self._show(*following, takes_keyboard=had_keyboard)
        if self._shown is None:
            self._answered.set()
        if self._tab.panel is not None:
            self._tab.panel.note_form(is_shown=self.card is not None and self._is_here)

    def _agent(self) -> Agent | None:
        """The agent, even before the handshake is done: it may already ask something."""
        return self._tab.link.agent or self._tab.link.starting

    def note_agents_questions(self) -> None:
        """Check the agent's own questions, which have changed. Called by tasks outside of the app."""
        self._tab.screen.call_later(self.look_for_questions)

    @property
    def _count(self) -> int:
        return len(_waiting(self._session)) + len(_waiting(self._agent()))

    def _whose_turn(self) -> tuple[Any, Elicitation] | None:
        """Who asks the oldest question, and what; None if there is none, or a permission request is older."""
        waiting = [(owner, asked) for owner in (self._session, self._agent()) for asked in _waiting(owner).values()]
        first = min(waiting, key=lambda each: each[1].key, default=None)
        request = next(iter(self._session.conversation.permissions), None) if self._session is not None else None
        return None if first is not None and request is not None and request < first[1].key else first

    def _show(self, owner: Any, asked: Elicitation, *, takes_keyboard: bool) -> None:
        from acp_tui.ui.permission.form_card import FormCard

        place = self._place()
        agent = self._agent()
        title = agent.title if agent is not None else "The agent"
        answer = partial(self._answer, owner, asked)
        card = FormCard(asked, title, answer, _Below(self._tab, place.screen), clock=self._tab.clock)
        self._shown, self._is_here = (owner, asked, card), place is self._tab.screen.place
        card.show_count(self._count)
        place.mount(card)
        if takes_keyboard or not self._is_here:
            card.call_later(self._focus, card)
        else:
            card.call_later(self._tab.prompt.give_way_to, card.guard)

    def _focus(self, card: FormCard) -> None:
        """Focus the card itself, once it is mounted."""
        if self.card is card:
            card.guard.come_unasked()

    def _place(self) -> Widget:
        """Where to show the card: in a login dialog, if one is open, otherwise above the prompt."""
        stack: list[Screen[Any]] = self._tab.app.screen_stack
        if self._tab.screen in stack:
            login: Widget | None = next((screen for screen in reversed(stack) if screen.has_class(ASKING)), None)
            if login is not None:
                return login
        return self._tab.screen.place

    def _take_away(self) -> bool:
        """Remove the card, if there is one. Returns whether it had the focus, which goes back to the prompt."""
        card, self._shown = self.card, None
        if card is None:
            return False
        had_keyboard = card.has_focus_within
        if had_keyboard:
            note_question_gone(card, took_text=not card.is_answered and is_writing(self._tab.app.focused))
            card.action_leave()
        card.display = False
        AskingChanged.tell(card)
        card.remove()
        return had_keyboard

    def cancel_all(self) -> None:
        for owner in (self._session, self._agent()):
            for key in tuple(_waiting(owner)):
                if owner is not None:
                    owner.questions.answer(key, "cancel", None)
        self.look_for_questions()

    async def until_nothing_is_asked(self) -> None:
        """Return when no card is shown."""
        while self._shown is not None:
            self._answered = asyncio.Event()
            await self._answered.wait()

    def _answer(self, owner: Any, asked: Elicitation, action: Any, values: FormValues | None) -> None:
        if self.card is not None and self.card.guard.strayed:
            self._tab.prompt.replace_draft("")
        owner.questions.answer(asked.key, action, values)
        if action == "accept" and asked.url:
            self._tab.run(self._visit(asked.url))
        self.look_for_questions()

    async def _visit(self, url: str) -> None:
        """Open the page that the user agreed to."""
        if problem := await open_page(url):
            self._tab.say(problem, severity="warning")


class _Below:
    """Where the focus goes when it leaves a card: to the prompt, or back to where it was in a dialog."""

    def __init__(self, tab: Tab, screen: Screen[Any]) -> None:
        self._tab = tab.screen
        self._prompt = tab.prompt
        self._screen = screen
        self._before = screen.focused

    def leave(self, *, to_read: bool = False) -> None:
        panel = self._tab.tab.panel
        if to_read and panel is not None and self._screen is self._tab:
            panel.view.focus()
        elif self._screen is self._tab:
            self._tab.set_focus(self._prompt)
        elif self._before is not None and self._before.is_attached:
            self._screen.set_focus(self._before)

    def write(self, text: str, keys: Sequence[Key | Paste], *, is_paste: bool) -> None:
        if self._screen is self._tab:
            self._prompt.take_text(text, keys, is_paste=is_paste)
            return
        self.leave()
        if self._before is not None:
            cast("Dialog[Any]", self._screen).write_below(text, is_paste=is_paste)
            for key in keys:
                press_in(self._before, key)


def _waiting(owner: Any) -> dict[Any, Elicitation]:
    """The questions of a session, or those of an agent outside of any session."""
    if owner is None:
        return {}
    found: dict[Any, Elicitation] = (
        owner.conversation.elicitations if hasattr(owner, "conversation") else owner.elicitations
    )
    return found
