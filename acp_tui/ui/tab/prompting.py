"""What becomes of what the user writes: sent to the agent, queued, or run as a command of their own.

It draws nothing but what waits above the prompt, and loads the client only when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from acp_tui.ui.prompt import PastedImage, PromptInput
from acp_tui.ui.prompt.queue_lines import QueueLines, Waiting

if TYPE_CHECKING:
    from acp_tui.client.sessions.prompt_queue import PromptQueue
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.content import ContentBlock
    from acp_tui.ui.tab.host import TabHost


NOT_STOPPED: Final = (
    "The agent was asked to stop and has not done so yet; {restart} ends it and starts it again"
)


class Prompt(NamedTuple):
    """What is sent at once."""

    text: str
    images: tuple[PastedImage, ...] = ()


class QueuedImages:
    """The way into a queue and out of it for prompts with pictures."""

    def __init__(self) -> None:
        self._by_queue: WeakKeyDictionary[PromptQueue, dict[int, tuple[PastedImage, ...]]]
        self._by_queue = WeakKeyDictionary()

    def add(self, queue: PromptQueue, prompt: Prompt) -> None:
        """Behind the others."""
        queue.add(prompt.text)
        if prompt.images:
            self._by_queue.setdefault(queue, {})[queue.prompts[-1].key] = prompt.images

    def next(self, queue: PromptQueue) -> Prompt | None:
        """Take the one that is to be sent now."""
        key = queue.prompts[0].key if queue.prompts else 0
        text = queue.next()
        return None if text is None else Prompt(text, self.of(queue, key))

    def all_in(self, queue: PromptQueue) -> list[Prompt]:
        """What waits, in order; it stays there."""
        images = self._by_queue.get(queue, {})
        return [Prompt(prompt.text, images.get(prompt.key, ())) for prompt in queue.prompts]

    def of(self, queue: PromptQueue, key: int) -> tuple[PastedImage, ...]:
        """Take the pictures of a prompt that has left the queue."""
        return self._by_queue.get(queue, {}).pop(key, ())


class Prompting:
    """Serves one tab, whichever session it shows."""

    def __init__(self, host: TabHost) -> None:
        self._host = host
        self._shown: Session | None = None
        """The session of which the queue is shown."""
        self._queued_images = QueuedImages()

    def submit(self, session: Session, written: PromptInput.Submitted) -> None:
        """Run it, queue it where the agent is at work, or send it."""
        if written.is_command:
            self._give_back(written.images)
            self._host.run(self._run_command(session, written.text.removeprefix("!").strip()))
            return
        prompt, queue = Prompt(written.text, written.images), session.queue
        if session.conversation.is_idle:
            self._host.run(self._send(session, prompt))
        else:
            self._queued_images.add(queue, prompt)
            if written.is_reason:
                queue.move(queue.prompts[-1].key, -len(queue.prompts))
        self._show_changed(session)

    def go_on(self, session: Session) -> None:
        """What was held back is to be sent."""
        if not session.queue.is_held or not session.conversation.is_idle:
            return
        session.queue.go_on()
        prompt = self._queued_images.next(session.queue)
        if prompt is not None:
            self._host.run(self._send(session, prompt))

    def pull_back(self, session: Session) -> str | None:
        """The last queued prompt, to be changed or dropped."""
        key = session.queue.prompts[-1].key if session.queue.prompts else 0
        text = session.queue.pull_back()
        self._give_back(self._queued_images.of(session.queue, key))
        self._show_changed(session)
        return text

    def take(self, session: Session, key: int) -> str | None:
        """This queued prompt, to be changed or dropped; None where it has been sent meanwhile, which is said."""
        text = session.queue.take(key)
        self._give_back(self._queued_images.of(session.queue, key))
        if text is None:
            self._host.say("It was sent just now.", severity="warning")
        self._show_changed(session)
        return text

    def _give_back(self, images: tuple[PastedImage, ...]) -> None:
        """They go along with the next prompt."""
        for prompt in self._host.screen.query(PromptInput):
            prompt.attach(*images)

    def queued(self, session: Session) -> Sequence[Prompt]:
        """What waits, in order."""
        return self._queued_images.all_in(session.queue)

    def move(self, session: Session, key: int, step: int) -> None:
        """Have this queued prompt sent earlier or later."""
        session.queue.move(key, step)
        self._show_changed(session)

    def send_now(self, session: Session, key: int) -> None:
        """Send this queued prompt before the others, which follow in order; a turn that runs is cancelled for it."""
        queue = session.queue
        if all(prompt.key != key for prompt in queue.prompts):
            self._host.say("It was sent just now.", severity="warning")
            return
        queue.move(key, -len(queue.prompts))
        if session.conversation.is_idle:
            queue.hold()
            self.go_on(session)
        else:
            queue.go_on()
            session.cancel()
        self._show_changed(session)

    def drop_output(self, session: Session) -> None:
        """The next prompt is not to take the last output along."""
        session.commands.drop_last()
        self._show_changed(session)

    def cancel(self, session: Session) -> None:
        """Cancel the turn and hold back what is queued; where it is being cancelled already, say what else there is."""
        if session.conversation.is_cancelling:
            self._host.say(self._host.hint(NOT_STOPPED), severity="warning")
        if not session.conversation.is_idle:
            session.queue.hold()
            self._show_changed(session)
        session.cancel()

    def show_waiting(self, session: Session | None) -> None:
        """Show what waits right above the prompt, from now on of this session."""
        self._shown = session
        waiting = Waiting()
        if session is not None:
            outputs = tuple(offered.line for offered in session.commands.offered)
            waiting = Waiting(tuple(session.queue.prompts), session.queue.is_held, outputs)
        for lines in self._host.screen.query(QueueLines):  # none where the user has quit meanwhile
            lines.show(waiting)

    def _show_changed(self, session: Session) -> None:
        """Show what waits, unless the user has gone to another session meanwhile."""
        if session is self._shown:
            self.show_waiting(session)

    async def _run_command(self, session: Session, line: str) -> None:
        from acp_tui.client.errors import ClientError

        try:
            await session.commands.run(line)
        except ClientError as error:
            self._host.say(str(error), severity="error")
        self._show_changed(session)

    async def _send(self, session: Session, prompt: Prompt) -> None:
        """Send this prompt and, as long as all goes well, what was queued meanwhile."""
        from acp_tui.client.errors import ClientError

        wanted: Prompt | None = prompt
        while wanted is not None:
            blocks, notes = await _attached(wanted, session.cwd)
            if not session.conversation.is_idle:
                # While its files were read, another was sent.
                self._queued_images.add(session.queue, wanted)
                break
            try:
                await session.send_prompt((*blocks, *session.commands.take()), notes)
            except ClientError:
                session.queue.hold()  # the conversation says what went wrong, in its place
            wanted = self._queued_images.next(session.queue)
            self._show_changed(session)


async def _attached(prompt: Prompt, cwd: Path) -> tuple[Sequence[ContentBlock], Sequence[str]]:
    """The prompt with its pictures and the files that it mentions, and what is to be known of them."""
    from acp_tui.conversation.content import Text

    if "@" not in prompt.text and not prompt.images:
        return (Text(prompt.text),), ()
    from anyio import to_thread

    from acp_tui.client.attachments import attach, from_bytes

    attached = await to_thread.run_sync(attach, prompt.text, cwd)
    pictures = [await to_thread.run_sync(from_bytes, image.data, image.name) for image in prompt.images]
    text = () if pictures and not prompt.text.strip() else attached.blocks
    return (*text, *pictures), attached.problems
