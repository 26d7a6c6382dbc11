"""What the user writes in a tab and where it goes: to the agent, into the queue, back into the draft.

How the prompt is edited is the widget's; what is queued and sent is `prompting`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import work
from textual.events import Key

from acp_tui.ui.commands import slash_action
from acp_tui.ui.keyed_app import keys_in_force
from acp_tui.ui.preloading import BEFORE_AN_ANSWER, BEFORE_WRITING, preload
from acp_tui.ui.screens.session_start import Opening, SessionStart
from acp_tui.ui.widgets.prompt import PromptInput
from acp_tui.ui.widgets.prompt.input import GONE
from acp_tui.ui.widgets.queue_lines import QueueLines

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.agent_link import AgentLink
    from acp_tui.ui.widgets.history.recall import Recall
    from acp_tui.ui.widgets.history.search import HistorySearch

ESCAPE_AGAIN_S: Final = 1.0


class SessionWriting(SessionStart):
    """The part of the session screen that the user writes in."""

    def __init__(
        self, link: AgentLink | None, cwd: Path, opening: Opening | None, clock: Callable[[], float]
    ) -> None:
        """As `SessionStart`."""
        super().__init__(link, cwd, opening, clock)
        self._recall: Recall | None = None
        """Earlier prompts, once they are loaded."""
        self._is_written_in = False
        self._escaped_at = -ESCAPE_AGAIN_S
        self._sent_early: list[str] = []
        """Prompts for a history that is not loaded yet."""

    # Once the first frame is drawn

    @work
    async def _help_writing(self) -> None:
        """Suggest what could be written, and let earlier prompts come back; unless the tab is closed by then."""
        from anyio import to_thread

        await to_thread.run_sync(preload, BEFORE_WRITING)
        if self.query(PromptInput):  # taken away where the tab, or the app, has been closed meanwhile
            self._begin_to_suggest()
            await self._begin_to_recall()

    async def _begin_to_recall(self) -> None:
        """Know earlier prompts, and offer the draft that was left."""
        from acp_tui.ui.widgets.history.recall import Recall

        recall = Recall(self, self._prompt, self.tabbed.prompt_memory, self._cwd)
        await recall.begin(lambda: not self._sent_early)
        # Not before: what is being written now is no draft that was left.
        self._recall = recall
        if self._session is not None:
            recall.show_session(self._session)
        for text in self._sent_early:
            recall.sent(text, self._agent_title)
        self._sent_early.clear()

    async def on_unmount(self) -> None:
        """Keep what is written."""
        if self._recall is not None:
            await self._recall.end()

    def _begin_to_suggest(self) -> None:
        from acp_tui.ui.widgets.completion import Completion, Surroundings

        def surroundings() -> Surroundings:
            cwd = self._session.cwd if self._session is not None else self._cwd
            conversation = self._panel.conversation if self._panel is not None else None
            return Surroundings(cwd, conversation, self._agent_title)

        self._prompt.assistants.insert(0, Completion(self._prompt, surroundings))

    # From the prompt to the session

    def on_text_area_changed(self) -> None:
        """With the first letter of a prompt, load what its answer will be drawn with."""
        if not self._is_written_in:
            self._is_written_in = True
            self.run_worker(partial(preload, BEFORE_AN_ANSWER), thread=True)

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        """Do what is written, or say why not and keep the draft; a blank draft lets the queue go on."""
        if not message.text.strip() and not message.images:
            if self._session is not None:
                self._prompting.go_on(self._session)
            return
        own = self._own_command(message.text)
        if own is not None:
            self._prompt.attach(*message.images)
            self.run_worker(self.run_action(own))
            return
        reason = self._reason_not_to_send()
        if reason is not None:
            is_starting = self._panel is None
            self._prompt.take_back(message, for_later=is_starting)
            then = "It is sent then, unless you change it." if is_starting else "What you have written stays."
            self.notify(f"{reason} {then}", severity="warning", markup=False)
            return
        assert self._panel is not None
        assert self._panel.session is not None
        if self._panel.conversation.is_idle or message.is_command:  # a queued prompt shows above the draft
            self._panel.view.action_follow()
        self._prompting.submit(self._panel.session, message)
        if self._recall is not None:
            self._recall.sent(message.text, self._agent_title)
        else:
            self._sent_early.append(message.text)

    def on_prompt_input_rejected(self, message: PromptInput.Rejected) -> None:
        """Pass it on."""
        if self._session is not None:
            self._session.answer_permission(message.rejection.key, message.rejection.option_id)

    def _own_command(self, text: str) -> str | None:
        """The action for a slash command of ours; those of the agent go before them."""
        if not text.startswith("/"):
            return None
        commands = self._panel.conversation.commands if self._panel is not None else ()
        return slash_action(text, {command.name.removeprefix("/") for command in commands})

    def _reason_not_to_send(self) -> str | None:
        if self._panel is None:
            return f"There is no session yet: {self._phase}."
        if self._panel.session is None:
            is_there = self._desk is not None and self._desk.agent is not None
            ways = "{restart} tries again" + "; {begin_session} begins another" * is_there
            return f"There is no session. {keys_in_force(self).hint(ways)}."
        if self._is_reread:
            return f"This is {self._rereading}."
        return None if self._panel.conversation.is_connected else f"{keys_in_force(self).hint(GONE)}."

    @property
    def _rereading(self) -> str:
        """What can be done with a session that is shown from its recording."""
        if self._link is None or not self._link.can_start:
            return "re-read from a recording, only to be read"
        return keys_in_force(self).hint("re-read from a recording; {restart} goes on with it in its agent")

    def on_prompt_input_pull_back_requested(self) -> None:
        """The last queued prompt becomes the draft again."""
        text = self._prompting.pull_back(self._session) if self._session is not None else None
        if text is not None:
            self._prompt.put_before(text)

    def on_prompt_input_paste_requested(self) -> None:
        """Put what is on the desktop's clipboard into the prompt."""
        from acp_tui.ui.pasting import paste_from_clipboard

        agent = self._desk.agent if self._desk is not None else None
        self.run_worker(paste_from_clipboard(self._prompt, agent))

    def on_prompt_input_drop_requested(self) -> None:
        """The next prompt is not to take the last output along."""
        if self._session is not None:
            self._prompting.drop_output(self._session)

    def on_prompt_input_escape_requested(self) -> None:
        """Cancel the turn; pressed twice in an empty prompt while no turn runs, go back to an earlier prompt."""
        if self._session is None:
            return
        if not self._session.conversation.is_idle:
            self._prompting.cancel(self._session)
        elif not self._prompt.draft:
            now = self._clock()
            if now - self._escaped_at <= ESCAPE_AGAIN_S:
                self.run_worker(self._choose_earlier_prompt(self._session))
            self._escaped_at = now

    async def _choose_earlier_prompt(self, session: Session) -> None:
        """Put one of the session's prompts into the draft, to be changed and sent again."""
        from acp_tui.conversation.entries import Message
        from acp_tui.conversation.visible import make_visible_line
        from acp_tui.ui.screens.picker import Picker, PickerRow

        entries = reversed(session.conversation.entries)
        prompts = (entry.text for entry in entries if isinstance(entry, Message) and entry.role == "user")
        rows = [
            PickerRow(text, make_visible_line(text.strip().partition("\n")[0]))
            for text in prompts
            if text.strip()
        ]
        dialog = Picker(
            "Edit an earlier prompt · the agent keeps what was said since", rows, empty="No prompts yet"
        )
        text = await self.app.push_screen_wait(dialog)
        if text is not None and not self._prompt.draft:
            self._prompt.set_draft(text)

    def on_prompt_input_leave_requested(self) -> None:
        """To the card where something waits, else into the conversation, or to the sessions in its place."""
        if self._desk is not None and self._desk.questions.card is not None:
            self._desk.questions.card.enter()
        elif self._panel is not None:
            places = (self._panel.card, self._panel.welcome, self._panel.view)
            place = next((one for one in places if one.display and one.can_focus), None)
            if place is not None:
                place.focus()

    def on_prompt_input_page_requested(self, message: PromptInput.PageRequested) -> None:
        """Page without leaving the prompt."""
        if self._panel is not None:
            self._panel.view.action_page(message.direction)

    def before_key(self, event: Key) -> None:
        """What is typed where nothing can be written goes to the draft, and the keys behind it go there too."""
        is_text = getattr(self.focused, "is_text", None)
        if is_text is not None and is_text(event):
            self.set_focus(self._prompt)

    # Earlier prompts, and those that wait

    async def action_search_history(self) -> None:
        """Look for an earlier prompt."""
        if self._recall is None:
            self.notify("Your earlier prompts are still being loaded.")
        else:
            await self._recall.search()

    def on_history_search_chosen(self, message: HistorySearch.Chosen) -> None:
        """Put it into the draft."""
        if self._recall is not None:
            self._recall.choose(message.text)

    def action_edit_queue(self) -> None:
        """Go to the prompts that wait."""
        if not self.query_one(QueueLines).enter():
            self.notify("No prompt is queued. Enter queues one while the agent works.")

    def on_queue_lines_edit_requested(self, message: QueueLines.EditRequested) -> None:
        """Back into the draft."""
        text = self._prompting.take(self._session, message.key) if self._session is not None else None
        if text is not None:
            self._prompt.put_before(text)
            self._prompt.focus()

    def on_queue_lines_remove_requested(self, message: QueueLines.RemoveRequested) -> None:
        """It is not sent."""
        if self._session is not None:
            self._prompting.take(self._session, message.key)

    def on_queue_lines_move_requested(self, message: QueueLines.MoveRequested) -> None:
        """It is sent earlier or later."""
        if self._session is not None:
            self._prompting.move(self._session, message.key, message.step)

    def on_queue_lines_send_requested(self, message: QueueLines.SendRequested) -> None:
        """It is sent now."""
        if self._session is not None:
            self._prompting.send_now(self._session, message.key)

    def action_send_queued_now(self) -> None:
        """Send the next queued prompt and interrupt the turn for it."""
        queued = self._session.queue.prompts if self._session is not None else ()
        if self._session is not None and queued:
            self._prompting.send_now(self._session, queued[0].key)
        else:
            self.notify("No prompt is queued. Enter queues one while the agent works.")

    def on_queue_lines_left(self) -> None:
        """Back to the draft."""
        self._prompt.focus()
