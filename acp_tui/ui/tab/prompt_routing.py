"""Where a written prompt goes: to the agent, into the queue, or back into the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from acp_tui.client.errors import ClientError, PromptInProgress
from acp_tui.client.sessions.prompt_queue import PastedImage, Prompt, PromptQueue
from acp_tui.conversation.content import with_pastes
from acp_tui.conversation.wording import comments_prompt, how_ended
from acp_tui.ui.commands.table import COMMANDS, slash_action
from acp_tui.ui.kit.answer_guard import has_left_question
from acp_tui.ui.prompt.input import PromptInput
from acp_tui.ui.tab.loading import BEFORE_A_COMMAND, BEFORE_WRITING, preload_for_answer, preload_in_thread
from acp_tui.ui.tab.queue_lines import QueueSummary
from acp_tui.ui.tab.stage import NOT_CONNECTED, STILL_OPENING, Failed, Live, Recorded, Starting

if TYPE_CHECKING:
    from textual.timer import Timer

    from acp_tui.client.prompts.templates import Template
    from acp_tui.client.sessions.schedule import Schedule
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.content import ContentBlock
    from acp_tui.conversation.entries import EntryId
    from acp_tui.conversation.tool_calls import TerminalId
    from acp_tui.ui.prompt.completion import Completion
    from acp_tui.ui.prompt.recall import Recall
    from acp_tui.ui.tab.tab import Tab

WATCHING: Final = "You can only watch this session"
NOT_STOPPED: Final = "The agent hasn't stopped yet; {restart} ends and restarts it"
ESCAPE_AGAIN_S: Final = 1.0
MAX_NAP_S: Final = 30.0
NOTHING_QUEUED: Final = "No prompt is queued. While the agent works, Enter queues one."
MAX_FORGOTTEN: Final = 12
"""A draft of one word, no longer than this, is none of the earlier prompts when it is cleared."""


class PromptController:
    """Handles the prompt of one tab: sends and queues what is written, whichever session the tab shows."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self.recall: Recall | None = None
        """Earlier prompts, once they are loaded."""
        self.slash_command = ""
        """The last one of ours, as it was written: where it can't be done, it goes back into the draft."""
        self.entered = 0
        """How many prompts and commands the user has entered."""
        self._early = PromptQueue()
        """What is entered before there is a session, whose queue it joins."""
        self._is_written_in = False
        self._escaped_at = -ESCAPE_AGAIN_S
        self._failed: tuple[PromptQueue, int, Prompt] | None = None
        """The prompt whose turn failed last, its session's queue, and how many turns that had."""
        self._completion: Completion | None = None
        """Once it's loaded."""
        self._clock: Timer | None = None
        """Waits for the next prompt that was scheduled."""
        self._about_to_send: dict[Session, Prompt] = {}
        """What begins a turn in a moment, while files are read: of the queue, it's shown there until then."""
        self._sending: list[PromptQueue] = []
        """The queues of the sessions whose prompts are being sent, until their turns have ended."""
        self._is_helped = asyncio.Event()
        """Set when completion is loaded, which knows all commands."""
        self._doubted = ""
        """A prompt that wasn't sent, because it begins with what may be meant otherwise."""

    @property
    def _prompt(self) -> PromptInput:
        return self._tab.prompt

    @property
    def queue(self) -> PromptQueue:
        """What waits in the session, or for one."""
        return self._early if self._tab.session is None else self._tab.session.queue

    def use_vim(self) -> None:
        """Let the prompt be edited as in Vim, by users who choose that."""
        from acp_tui.ui.prompt import vim  # loading point: BEFORE_WRITING

        if self._prompt.editing_mode is None:
            self._prompt.editing_mode = vim.VimKeys(self._prompt)

    # After the first frame

    async def help(self) -> None:
        """Load completion and earlier prompts, and bring back the saved draft."""
        await preload_in_thread(BEFORE_WRITING)
        from acp_tui.ui.prompt import completion, recall  # loading point: BEFORE_WRITING

        tab = self._tab

        def context() -> completion.CompletionContext:
            return completion.CompletionContext((tab.session or tab).cwd, tab.conversation, tab.agent_title)

        self._completion = completion.Completion(self._prompt, context)
        self._prompt.key_helpers.insert(0, self._completion)
        self.use_vim()
        await self._completion.read_templates()
        self._is_helped.set()
        memory, past = tab.app.prompt_memory, tab.starter.past if tab.session is None else None

        def whose() -> str:
            return recall.agent_of(tab.link.command) or tab.agent_name

        earlier = recall.Recall(tab.screen, self._prompt, memory, tab.cwd, whose, past, self._early)
        await earlier.begin()
        # Not before: what the user is writing now isn't a saved draft.
        self.recall = earlier
        if tab.session is not None:
            await earlier.show_session(tab.session, was_sent=self.entered > 0)

    async def show_session(self, session: Session | None) -> None:
        """Use the prompt for this session from now on, and send what waited for it."""
        if session is None:
            return
        session.queue.take_over(self._early)
        if self.recall is not None:
            await self.recall.show_session(session, was_sent=bool(session.queue.prompts))
        if session.queue.scheduled:
            self._look_at_clock(session)
        if session.queue.prompts and self.why_not:
            self._tab.say(f"{self.why_not}. What is queued stays.", is_over=lambda: not self.why_not)
        self.send_next()

    async def end(self) -> None:
        """Save what is written, also while the agent starts."""
        if self.recall is None and (self.entered or not self._prompt.is_blank):
            await self.help()
        if self.recall is not None:
            await self.recall.end()

    # From the prompt to the session

    def begin(self) -> None:
        """At the first letter of a prompt, load what its answer will be drawn with."""
        if not self._is_written_in:
            self._is_written_in = True
            self._tab.screen.run_worker(preload_for_answer, thread=True)

    def submit(self, message: PromptInput.Submitted) -> None:
        """Submit what is written, or say why not and keep the draft. A blank draft sends what is held."""
        self.entered += 1
        self._tab.app.notices.drop_outdated()
        stage, session = self._tab.stage, self._tab.session
        if not (message.text.strip() or message.images or self._prompt.comments):
            if session is not None:
                self._go_on(session)
            return
        own = self._own_action(message.text)
        if own and (session is not None or self._is_possible(own)):
            self._prompt.attach(*message.images)
            self.slash_command = message.text
            self._tab.screen.run_worker(self._tab.screen.run_action(own))
            return
        if isinstance(stage, Starting) or self._tab.starter.is_reconnecting:
            is_early = message.is_command or not message.text.startswith("!")  # what was pasted runs nothing
            text = message.text if message.text.startswith(("/", "!")) else self._with_comments(message.text)
            self.queue.add(text, message.images, is_early=is_early)
            self.remember(message.text)
            self.show_waiting()
            return
        if why := self.why_not:
            self._prompt.take_back(message)
            self._tab.say(f"{why}. Your draft stays.", severity="warning", is_over=lambda: not self.why_not)
            return
        assert isinstance(stage, Live)
        typed = message.text
        doubted, self._doubted = self._doubted, ""
        text, doubt = (typed, "") if message.is_reason else self._meant(typed)
        if doubt and typed != doubted:
            self._doubted = text
            self._prompt.take_back(PromptInput.Submitted(text, images=message.images))
            draft = self._prompt.text
            self._tab.say(doubt, severity="warning", is_over=lambda: self._prompt.text != draft)
            return
        is_shown_at_end = stage.session.conversation.is_idle or message.is_command  # queued ones are above the draft
        if is_shown_at_end and self._tab.panel is not None:
            self._tab.panel.view.action_follow()
        self._submit(stage.session, message, text)
        self.remember(typed)

    def _own_action(self, text: str) -> str:
        """What one of our commands does; "" for any other text."""
        is_ours = text.startswith("/") and self._template(text) is None
        return (is_ours and slash_action(text, self._taken)) or ""

    def _is_possible(self, action: str) -> bool:
        """Whether the command of this action does anything yet. Most of them need a session."""
        commands = (one for one in COMMANDS if one.action and action.startswith(one.action.removesuffix(")")))
        return all(command.when(self._tab.actions) for command in commands)

    def _meant(self, text: str) -> tuple[str, str]:
        """What to send for this, and what the user has to hear first; "" for nothing."""
        template = self._template(text)
        if template is None:
            return text, self._doubt(text)
        asked = template.prompt("".join(text.split(maxsplit=1)[1:]))
        if not template.is_projects:
            return asked, ""
        if asked.startswith(("!", "/")):
            asked = f" {asked}"  # a project's prompt runs nothing
        return asked, f"This is what {template.file.name} asks, which came with the project: Enter sends it."

    def _doubt(self, text: str) -> str:
        """What to say of a prompt that begins with a command that no one has or that takes no words, or an answer."""
        if text.startswith("/") and slash_action(text, self._taken) == "":
            return f"{text.split()[0]} takes nothing after it. Enter sends it as it is."
        if self._tab.panel is not None and (key := self._tab.panel.key_in(text)):
            return self._tab.hint(f"Not sent: {key} can answer the request ({{leave_prompt}}). Enter sends it anyway.")
        return self._completion.unknown(text) if self._completion is not None else ""

    def remember(self, text: str) -> None:
        """Add it to the earlier prompts of the tab's folder."""
        if self.recall is not None:
            self.recall.sent(text)
        else:
            pasted = self._prompt.pasted_in(text)
            self._tab.app.prompt_memory.history.add(text, str(self._tab.cwd), self._tab.agent_title, pasted)

    def drop_draft(self) -> None:
        """Clear the draft, which is then the latest of the earlier prompts, its pictures as files.

        One short word isn't kept: undo is enough for that.
        """
        text, images = self._prompt.draft, self._prompt.images
        left = self.recall.left if self.recall is not None else ()
        is_kept = bool(images or left) or len(text.split()) > 1 or len(text) > MAX_FORGOTTEN
        self._prompt.discard_draft(is_kept=is_kept)
        if not is_kept:
            return
        if self.recall is not None and images:
            self._tab.run(self.recall.dropped(text, images))
        else:
            self.remember(text)

    def _template(self, text: str) -> Template | None:
        """The template that a prompt names. The agent's commands take precedence, and ours come last."""
        name, *_ = text[1:].split(maxsplit=1) or [""]
        if self._completion is None or not text.startswith("/") or name in self._taken:
            return None
        return self._completion.templates.get(name)

    @property
    def _taken(self) -> set[str]:
        """The names of the agent's commands."""
        commands = self._tab.conversation.commands if self._tab.conversation is not None else ()
        return {command.name.removeprefix("/") for command in commands}

    @property
    def why_not(self) -> str:
        """Why no prompt can be sent in the session that is shown, and what to do; "" if one can, or there is none."""
        match self._tab.stage:
            case Recorded(session=session):
                if not self._tab.link.can_start:
                    return ": ".join(filter(None, ("This session is read-only", session.why_read_only)))
                agent = self._tab.link.agent
                can = agent is None or agent.capabilities.load_session or agent.capabilities.resume_session
                way = "continues this session with its agent" if can else "starts a new session below this one"
                return self._tab.hint(f"{{restart}} {way}")
            case Failed(error=error):
                return self._tab.hint(f"There is no session{self._tab.try_again(error)}")
            case Live(session=session) if not session.conversation.is_connected:
                return self._tab.hint(NOT_CONNECTED[self._tab.loss])
            case Live(session=session) if session.connection.is_lost:
                return STILL_OPENING  # a new process continues the conversation
            case Live(session=session) if session.is_read_only:
                return WATCHING
            case _:
                return ""

    # Sending and queueing

    def _with_comments(self, text: str) -> str:
        """The prompt with the comments on lines, which are gone from then on."""
        if not (comments := self._prompt.comments):
            return text
        told = comments_prompt([comment.prompt() for comment in comments])
        comments.clear()
        return f"{text}\n\n{told}" if text.strip() else told

    def _submit(self, session: Session, written: PromptInput.Submitted, text: str) -> None:
        """Run a command; send a prompt, or queue it if the agent is working."""
        if written.is_command:
            self._prompt.attach(*written.images)  # to the next prompt
            self._tab.run(self._run_command(session, written.text.removeprefix("!").strip()))
            return
        text = self._with_comments(text)
        queue, is_idle = session.queue, session.conversation.is_idle
        queue.take_over(self._early)
        if is_idle and session not in self._about_to_send and (queue.is_held or not queue.prompts):
            self._begin_sending(session, Prompt(text, written.images))
        elif not is_idle and self._steers(written):
            self._tab.run(self._steer(session, Prompt(text, written.images)))
        else:
            queue.add(text, written.images, is_reason=written.is_reason)
        self.send_next(session)

    def _begin_sending(self, session: Session, prompt: Prompt) -> None:
        self._about_to_send[session] = prompt
        self._tab.run(self._bring_back(session))
        self._tab.run(self._send(session, prompt))

    def send_next(self, session: Session | None = None, *, is_asked_for: bool = False) -> None:
        """Send what is queued next, by default in the session that is shown, if its agent is idle.

        Not while a prompt of it is being sent, which does the same at its end.
        """
        shown = self._tab.session
        if session is None or (shown is not None and shown.queue is session.queue):
            session = shown
        if session is not None and session not in self._about_to_send and self._can_go_on(session):
            is_free = is_asked_for or session.queue not in self._sending
            if is_free and (queued := session.queue.next(is_asked_for=is_asked_for)) is not None:
                self._begin_sending(session, queued)
        self.show_waiting()

    async def _bring_back(self, session: Session) -> None:
        await preload_in_thread(BEFORE_A_COMMAND)
        await self._tab.actions.history.bring_back(session)

    def _steers(self, written: PromptInput.Submitted) -> bool:
        """Whether the prompt goes into the running turn: by the setting, or by the key for the other way."""
        agent = self._tab.link.agent
        if agent is None or not agent.capabilities.takes_prompts_at_work or written.is_reason:
            if written.is_other_way and agent is not None:
                self._tab.say(f"{agent.title} doesn't accept prompts while it works, so yours is queued.")
            return False
        return (self._tab.settings.agent.enter_while_working == "steer") is not written.is_other_way

    async def _steer(self, session: Session, prompt: Prompt) -> None:
        """Send the prompt into the running turn. If that fails, queue it and say why."""
        blocks, notes = await self._attached(prompt, session.cwd)
        why = "the turn has ended"
        try:
            if await session.steer(blocks, notes):
                return
        except ClientError as error:
            why = str(error)
        session.queue.add(prompt.text, prompt.images)
        self._tab.say(f"Your prompt is queued: {why}.")
        self.send_next(session)

    async def _run_command(self, session: Session, line: str) -> None:
        await self._tab.starter.stock_taken()
        try:
            await session.commands.run(line)
        except ClientError as error:
            self._tab.say(str(error), severity="error")
        self.show_waiting()

    async def _send(self, session: Session, prompt: Prompt) -> None:
        """Send this prompt, then what was queued during its turn, as long as nothing fails."""
        queue = session.queue
        self._sending.append(queue)
        try:
            await self._send_one(session, prompt)
        finally:
            self._sending.remove(queue)
            self._about_to_send.pop(session, None)
        self.send_next(session)

    async def _early_meant(self, session: Session, early: Prompt) -> Prompt | None:
        """What to send for what was entered before there was a session. None for a command, or to ask the user."""
        text, images = early.text, early.images
        if text.startswith("/"):
            await self._is_helped.wait()
        own = self._own_action(text)
        if is_command := text.startswith("!") or own.startswith("do("):
            self._about_to_send[session] = Prompt("")  # not shown as one
            self.show_waiting()
            self._prompt.attach(*images)
        if text.startswith("!"):
            await self._run_command(session, text[1:].strip())
        elif is_command:
            self.slash_command = text
            try:
                await self._tab.actions.do_in_turn(own)
            except ClientError as error:
                session.queue.hold("command failed")
                self._tab.say_error(error)
        if is_command:
            return None
        text, doubt = self._meant(text)
        if doubt:
            self._doubted = text
            session.queue.add(text, images, is_first=True)
            session.queue.hold()
            self._tab.say(doubt, severity="warning", is_over=lambda: not session.queue.is_held)
            return None
        return Prompt(text, images)

    async def _send_one(self, session: Session, wanted: Prompt) -> None:
        """Send it. If that isn't possible by now, such as while another prompt is done, queue it instead."""
        prompt = await self._early_meant(session, wanted) if wanted.is_early else wanted
        if prompt is None:
            return
        blocks, notes = await self._attached(prompt, session.cwd)
        await self._tab.starter.stock_taken()
        if self._tab.moments is not None:
            await self._tab.moments.remember()
        if self.recall is not None:
            await self.recall.keep()  # even if acp-tui is killed now, what was sent is in no draft
        if not self._can_go_on(session):
            session.queue.add(prompt.text, prompt.images, is_first=True)
            return
        self._failed = None
        self._about_to_send.pop(session, None)
        try:
            await self._tab.app.outlasting(session.send_prompt((*blocks, *session.commands.take()), notes))
        except PromptInProgress:
            session.queue.add(prompt.text, prompt.images, is_first=True)
        except ClientError:
            session.queue.hold("turn failed")  # the conversation shows what
            self._failed = (session.queue, len(session.conversation.turns), prompt)

    def cancel(self, session: Session) -> None:
        """Cancel the turn and hold the queue. If that takes long, or was tried before, hint at restarting the agent."""
        if session.is_read_only:
            self._tab.say(f"{WATCHING}.")
            return
        if session.conversation.is_cancelling:
            self._say_not_stopped(session, session.conversation.turn_start)
        if not session.conversation.is_idle:
            session.queue.hold("turn canceled")
            if session.queue.end_repeats():
                self._tab.say("Your prompt isn't repeated any more.")
            self.show_waiting()
        if not (session.conversation.is_idle or session.conversation.is_cancelling):
            late = partial(self._say_not_stopped, session, session.conversation.turn_start)
            self._tab.screen.set_timer(session.cancel_patience_s, late)
        session.cancel()

    def _say_not_stopped(self, session: Session, turn_start: EntryId | None) -> None:
        def is_over() -> bool:
            said = session.conversation
            return not (session is self._tab.session and said.is_cancelling and said.turn_start == turn_start)

        if not is_over():
            self._tab.say(self._tab.hint(NOT_STOPPED), severity="warning", is_over=is_over)

    def escape(self, *, may_be_for_reason: bool) -> bool:
        """Cancel the turn, or what the agent asks. Returns True to go back to an earlier prompt.

        That is twice in an empty prompt, without a turn. What `may_be_for_reason`, which is gone, cancels nothing.
        """
        session = self._tab.session
        if session is None:
            if self._tab.screen.offers_to_stop:
                self._tab.link.stop_start()
            return False
        is_asked = session.conversation.is_asking or self._tab.questions.card is not None
        is_at_work = is_asked or not session.conversation.is_idle
        if (is_at_work and may_be_for_reason) or (is_asked and has_left_question(self._tab.clock, ESCAPE_AGAIN_S)):
            self._prompt.say(self._tab.hint("{cancel} again cancels the turn"))
        elif not session.conversation.is_idle:
            self.cancel(session)
        elif is_asked:
            self._tab.actions.stop_asking()
        elif not self._prompt.draft:
            now = self._tab.clock()
            is_again = now - self._escaped_at <= ESCAPE_AGAIN_S
            self._escaped_at = -ESCAPE_AGAIN_S if is_again else now
            return is_again
        return False

    # The queue

    def show_waiting(self) -> None:
        """Show the queue, and what goes with the next prompt, right above it."""
        session, queue = self._tab.session, self.queue
        offered = session.commands.offered if session is not None else ()
        leaving = tuple(prompt for sent_in, prompt in self._about_to_send.items() if sent_in is session and prompt.key)
        waiting = QueueSummary(
            (*leaving, *queue.prompts),
            tuple(queue.scheduled),
            queue.is_held,
            queue.why_held,
            tuple(output.line for output in offered),
            len(self._prompt.comments),
            can_send=session is not None and not self.why_not and not self._tab.starter.is_reconnecting,
            can_go_on=session is not None and self._can_go_on(session),
            is_sending=bool(leaving),
        )
        if self._tab.screen.queue_lines.show(waiting) and self.recall is not None:
            self.recall.draft_changed()  # what waits is saved with the draft

    def _go_on(self, session: Session) -> None:
        """Send the first prompt that is held, if the agent is there and idle."""
        if session.queue.is_held and self.why_not:
            self._tab.say(f"{self.why_not}. What is queued stays.", is_over=lambda: not self.why_not)
            return
        self.send_next(is_asked_for=True)

    def _can_go_on(self, session: Session) -> bool:
        """Whether a prompt can be sent in this session now, also if another one is shown by now."""
        is_shown = session is self._tab.session
        can = not (self.why_not or self._tab.starter.is_reconnecting) if is_shown else self._can_send(session)
        return can and session.conversation.is_idle

    @property
    def failed(self) -> Prompt | None:
        """What was sent here in the last turn, if that failed: perhaps in an agent that is restarted since."""
        session, failed = self._tab.session, self._failed
        if session is None or failed is None or not session.conversation.is_idle:
            return None
        queue, turns, prompt = failed
        return prompt if queue is session.queue and len(session.conversation.turns) <= turns else None

    def send_again(self, again: Schedule, images: tuple[PastedImage, ...]) -> None:
        """Send a prompt whose turn failed when it is due; if that's now, what is held follows it."""
        session = self._tab.session
        if session is None:
            return
        if any(waiting.written == again.text for waiting in session.queue.scheduled):
            self._tab.say("Your prompt is queued already.")
            return
        if again.due <= (session.now() or again.due):
            session.queue.go_on()
        self.schedule(session, again, images)

    def schedule(self, session: Session, schedule: Schedule, images: tuple[PastedImage, ...] = ()) -> None:
        """Send a prompt at a time, or again and again."""
        session.queue.schedule(schedule, images)
        self._look_at_clock(session)

    def _look_at_clock(self, session: Session) -> None:
        """Send what is due, and look again for the next. Sessions that aren't shown any more send nothing.

        Without an agent, it waits for the restart, which shows a session again.
        """
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        if session is not self._tab.session:
            return
        now = session.now() or 0.0
        for prompt, due in session.queue.take_due(now) if self._can_send(session) else ():
            self._tab.run(self._send_scheduled(session, prompt, due))
        if session.queue.times and self._can_send(session):  # in short waits, because the machine may sleep
            left = min(max(session.queue.times[0] - now, 0.0), MAX_NAP_S)
            self._clock = self._tab.screen.set_timer(left, partial(self._look_at_clock, session))
        self.show_waiting()

    def _can_send(self, session: Session) -> bool:
        """Whether its agent runs. A new one may be opening the session, which then goes on in another object."""
        return session.conversation.is_connected and not session.connection.is_lost

    async def _send_scheduled(self, session: Session, prompt: Prompt, due: Schedule) -> None:
        queue, said, now, key = session.queue, session.conversation, session.now() or due.due, prompt.key
        if due.every_s and (queue in self._sending or not said.is_idle):  # the last one still runs
            queue.reschedule(key, due._replace(due=now + due.every_s))
        elif due.until and await self.run_to_end(session, due.until) == "exit 0":
            if queue.reschedule(key, None):
                self._tab.say(f"`{due.until}` succeeds, so your prompt isn't repeated.")
        elif not self._can_send(session):
            queue.reschedule(key, due._replace(due=now))
        elif queue.reschedule(key, due.sent(now)):
            if said.is_idle and session not in self._about_to_send:
                sent = self._about_to_send[session] = Prompt(due.text, prompt.images, 0 if due.every_s else key)
                self._tab.run(self._send(session, sent))
            else:
                queue.add(due.text, prompt.images)
        self._look_at_clock(session)

    async def run_to_end(self, session: Session, line: str) -> str:
        """Run a command of the user's, and return how it ended: "exit 0" if it succeeded."""
        try:
            status = await session.commands.run_to_end(line)
        except ClientError as error:
            self._tab.say(str(error), severity="error")
            return "failed"
        self.show_waiting()
        return how_ended(status.exit_code, status.signal)

    def pull_back(self) -> None:
        """Turn the last queued prompt into the draft again."""
        if queued := (*self.queue.prompts, *self.queue.scheduled):
            self.take(queued[-1].key, is_edited=True)

    def take(self, key: int, *, is_edited: bool) -> None:
        """Remove this queued prompt, or turn it into the draft again. Gives a notice if it was just sent."""
        taken = self.queue.take(key)
        if taken is None:
            self._tab.say("That prompt was just sent.", severity="warning")
        elif is_edited:
            self._prompt.attach(*taken.images)
            self._prompt.put_before(taken.text)
            self._tab.screen.set_focus(self._prompt)
        self.show_waiting()

    def move(self, key: int, step: int) -> None:
        """Move this queued prompt up or down."""
        self.queue.move(key, step)
        self.show_waiting()

    def send_now(self, key: int) -> None:
        """Send this queued prompt before the others, which follow in order. Cancels a running turn.

        One that waits for a time is due now, and one that waits for a session is the first.
        """
        session = self._tab.session
        if session is None:
            self.move(key, -len(self.queue.prompts))
            return
        queue = session.queue
        if queue.hurry(key):
            self._look_at_clock(session)
            return
        if all(prompt.key != key for prompt in queue.prompts):
            self._tab.say("That prompt was just sent.", severity="warning")
            return
        queue.move(key, -len(queue.prompts))
        if not session.conversation.is_idle:
            queue.go_on()
            session.cancel()
        elif queue.is_held:
            self._go_on(session)
        self.show_waiting()

    def drop_output(self, session: Session, terminal_id: TerminalId) -> None:
        """Don't send the output of this command of the user along with the next prompt."""
        session.commands.drop(terminal_id)
        self.show_waiting()

    def drop_attached(self) -> None:
        """Don't send along the last output, or without one the last comment."""
        session, comments = self._tab.session, self._prompt.comments
        if session is not None and session.commands.offered:
            self.drop_output(session, session.commands.offered[-1].terminal_id)
        elif comments:
            comments.pop()
            self.show_waiting()

    async def _attached(self, prompt: Prompt, cwd: Path) -> tuple[Sequence[ContentBlock], Sequence[str]]:
        """The prompt with its pictures and the files it mentions, and notes about problems with them."""
        text = with_pastes(prompt.text, self._prompt.pasted_in(prompt.text))
        if "@" not in prompt.text and not prompt.images:
            return (text,), ()

        from acp_tui.client.attachments import attach, files

        attached = await to_thread.run_sync(attach.attach, prompt.text, cwd, abandon_on_cancel=True)
        pictures = [await to_thread.run_sync(files.from_bytes, image.data, image.name) for image in prompt.images]
        said = () if pictures and not prompt.text.strip() else (text, *attached.blocks[1:])
        return (*said, *pictures), attached.problems
