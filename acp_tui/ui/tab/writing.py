"""What the user writes in a tab and where it goes: to the agent, into the queue, back into the draft.

How the prompt is edited is the widget's; what is queued and sent is `prompting`'s.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from acp_tui.ui.commands.table import slash_action
from acp_tui.ui.prompt import PromptInput
from acp_tui.ui.prompt.input import GONE
from acp_tui.ui.tab.host import TabHost
from acp_tui.ui.tab.loading import BEFORE_AN_ANSWER, BEFORE_WRITING, preload, preloaded
from acp_tui.ui.tab.prompting import Prompting
from acp_tui.ui.tab.stage import Failed, Live, Reread, Stage, Starting

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.ui.prompt.history.recall import Recall

ESCAPE_AGAIN_S: Final = 1.0
NOTHING_QUEUED: Final = "No prompt is queued. Enter queues one while the agent works."


class Writing:
    """Serves the prompt of one tab."""

    def __init__(self, host: TabHost) -> None:
        self._host = host
        self.prompting = Prompting(host)
        self.recall: Recall | None = None
        """Earlier prompts, once they are loaded."""
        self._is_written_in = False
        self._escaped_at = -ESCAPE_AGAIN_S
        self._sent_early: list[str] = []
        """Prompts for a history that is not loaded yet."""

    @property
    def _prompt(self) -> PromptInput:
        return self._host.screen.query_one(PromptInput)

    # Once the first frame is drawn

    async def help(self) -> None:
        """Suggest what could be written, and let earlier prompts come back; unless the tab is closed by then."""
        await preloaded(BEFORE_WRITING)
        if self._host.screen.query(
            PromptInput
        ):  # taken away where the tab, or the app, has been closed meanwhile
            self._begin_to_suggest()
            await self._begin_to_recall()

    async def _begin_to_recall(self) -> None:
        """Know earlier prompts, and offer the draft that was left."""
        from acp_tui.ui.prompt.history.recall import Recall  # loaded behind the first frame

        recall = Recall(self._host.screen, self._prompt, self._host.shell.prompt_memory, self._host.cwd)
        await recall.begin(lambda: not self._sent_early)
        # Not before: what is being written now is no draft that was left.
        self.recall = recall
        if self._host.session is not None:
            recall.show_session(self._host.session)
        for text in self._sent_early:
            recall.sent(text, self._host.agent_title)
        self._sent_early.clear()

    def _begin_to_suggest(self) -> None:
        from acp_tui.ui.prompt.completion import Completion, Surroundings  # loaded behind the first frame

        def surroundings() -> Surroundings:
            session, panel = self._host.session, self._host.panel
            cwd = session.cwd if session is not None else self._host.cwd
            return Surroundings(
                cwd, panel.conversation if panel is not None else None, self._host.agent_title
            )

        self._prompt.assistants.insert(0, Completion(self._prompt, surroundings))

    def show_session(self, session: Session | None) -> None:
        """The prompt is for this session from now on."""
        if self.recall is not None and session is not None:
            self.recall.show_session(session)

    async def end(self) -> None:
        """Keep what is written."""
        if self.recall is not None:
            session = self._host.session
            await self.recall.end(self.prompting.queued(session) if session is not None else ())

    # From the prompt to the session

    def begin(self) -> None:
        """With the first letter of a prompt, load what its answer will be drawn with."""
        if not self._is_written_in:
            self._is_written_in = True
            self._host.screen.run_worker(partial(preload, BEFORE_AN_ANSWER), thread=True)

    def submit(self, message: PromptInput.Submitted, stage: Stage) -> None:
        """Do what is written, or say why not and keep the draft; a blank draft lets the queue go on."""
        session = self._host.session
        if not message.text.strip() and not message.images:
            if session is not None:
                self.prompting.go_on(session)
            return
        own = self._own_command(message.text)
        if own is not None:
            self._prompt.attach(*message.images)
            self._host.screen.run_worker(self._host.screen.run_action(own))
            return
        reason = self._reason_not_to_send(stage)
        if reason:
            is_starting = isinstance(stage, Starting)
            self._prompt.take_back(message, for_later=is_starting)
            then = "It is sent then, unless you change it." if is_starting else "What you have written stays."
            self._host.say(f"{reason} {then}", severity="warning")
            return
        assert isinstance(stage, Live)
        if stage.session.conversation.is_idle or message.is_command:  # a queued prompt shows above the draft
            stage.panel.view.action_follow()
        self.prompting.submit(stage.session, message)
        if self.recall is not None:
            self.recall.sent(message.text, self._host.agent_title)
        else:
            self._sent_early.append(message.text)

    def _own_command(self, text: str) -> str | None:
        """The action for a slash command of ours; those of the agent go before them."""
        if not text.startswith("/"):
            return None
        commands = self._host.panel.conversation.commands if self._host.panel is not None else ()
        return slash_action(text, {command.name.removeprefix("/") for command in commands})

    def _reason_not_to_send(self, stage: Stage) -> str:
        match stage:
            case Starting(phase=phase):
                return f"There is no session yet: {phase}."
            case Failed():
                is_there = self._host.link.agent is not None
                ways = "{restart} tries again" + "; {begin_session} begins another" * is_there
                return f"There is no session. {self._host.hint(ways)}."
            case Reread():
                return f"This is {self.rereading}."
            case Live(session=session):
                return "" if session.conversation.is_connected else f"{self._host.hint(GONE)}."

    @property
    def rereading(self) -> str:
        """What can be done with a session that is shown from its recording."""
        if not self._host.link.can_start:
            return "re-read from a recording, only to be read"
        return self._host.hint("re-read from a recording; {restart} goes on with it in its agent")

    def escape(self) -> None:
        """Cancel the turn; pressed twice in an empty prompt while no turn runs, go back to an earlier prompt."""
        session = self._host.session
        if session is None:
            return
        if not session.conversation.is_idle:
            self.prompting.cancel(session)
        elif not self._prompt.draft:
            now = self._host.clock()
            before, self._escaped_at = self._escaped_at, now
            if now - before <= ESCAPE_AGAIN_S:
                self._host.screen.run_worker(self._host.screen.run_action("do('edit_earlier_prompt')"))

    # The queue

    def pull_back(self) -> None:
        """The last queued prompt becomes the draft again."""
        session = self._host.session
        self._put_before(self.prompting.pull_back(session) if session is not None else None)

    def take(self, key: int, *, is_edited: bool) -> None:
        """This queued prompt is not sent; it becomes the draft again, or is gone."""
        session = self._host.session
        text = self.prompting.take(session, key) if session is not None else None
        if is_edited and text is not None:
            self._put_before(text)
            self._prompt.focus()

    def _put_before(self, text: str | None) -> None:
        if text is not None:
            self._prompt.put_before(text)

    def send_next_now(self) -> None:
        """Send the next queued prompt and interrupt the turn for it."""
        session = self._host.session
        if session is not None and session.queue.prompts:
            self.prompting.send_now(session, session.queue.prompts[0].key)
        else:
            self._host.say(NOTHING_QUEUED)
