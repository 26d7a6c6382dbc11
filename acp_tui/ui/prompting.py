"""What becomes of what the user writes: sent to the agent, queued, or run as a command of his own.

It draws nothing but what waits above the prompt, and loads the client only when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import Screen

from acp_tui.ui.preloading import BEFORE_AN_ANSWER, preload
from acp_tui.ui.widgets.queue_lines import QueueLines, Waiting

if TYPE_CHECKING:
    from acp_tui.client.sessions.session import Session
    from acp_tui.conversation.content import ContentBlock


class Prompting:
    """Serves one screen, whichever session it shows."""

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen

    def submit(self, session: Session, text: str, *, is_command: bool) -> None:
        """Run it, queue it where the agent is at work, or send it."""
        if is_command:
            self._screen.run_worker(self._run_command(session, text.removeprefix("!").strip()))
        elif session.conversation.is_idle:
            self._screen.run_worker(self._send(session, text))
        else:
            session.queue.add(text)
            self.show_waiting(session)

    def go_on(self, session: Session) -> None:
        """What was held back is to be sent."""
        if not session.queue.is_held or not session.conversation.is_idle:
            return
        session.queue.go_on()
        text = session.queue.next()
        if text is not None:
            self._screen.run_worker(self._send(session, text))

    def pull_back(self, session: Session) -> str | None:
        """The last queued prompt, to be changed or dropped."""
        text = session.queue.pull_back()
        self.show_waiting(session)
        return text

    def drop_output(self, session: Session) -> None:
        """The next prompt is not to take the last output along."""
        session.commands.drop_last()
        self.show_waiting(session)

    def cancel(self, session: Session) -> None:
        """Cancel the turn and hold back what is queued; where it is being cancelled already, say what else there is."""
        if session.conversation.is_cancelling:
            self._screen.notify(
                "The agent was asked to stop and has not done so yet. Ctrl+Q ends it.", severity="warning"
            )
        if not session.conversation.is_idle:
            session.queue.hold()
            self.show_waiting(session)
        session.cancel()

    def show_waiting(self, session: Session | None) -> None:
        """Show what waits right above the prompt."""
        waiting = Waiting()
        if session is not None:
            outputs = tuple(offered.line for offered in session.commands.offered)
            waiting = Waiting(tuple(session.queue.texts), session.queue.is_held, outputs)
        for lines in self._screen.query(QueueLines):  # none where the user has quit meanwhile
            lines.show(waiting)

    async def _run_command(self, session: Session, line: str) -> None:
        from acp_tui.client.errors import ClientError

        try:
            await session.commands.run(line)
        except ClientError as error:
            self._screen.notify(str(error), severity="error", markup=False)
        self.show_waiting(session)

    async def _send(self, session: Session, text: str) -> None:
        """Send this prompt and, as long as all goes well, what was queued meanwhile."""
        from acp_tui.client.errors import ClientError

        self._screen.run_worker(partial(preload, BEFORE_AN_ANSWER), thread=True)
        wanted: str | None = text
        while wanted is not None:
            blocks, notes = await _attached(wanted, session.cwd)
            if not session.conversation.is_idle:
                session.queue.add(wanted)  # while its files were read, another was sent
                break
            try:
                await session.send_prompt((*blocks, *session.commands.take()), notes)
            except ClientError:
                session.queue.hold()  # the conversation says what went wrong, in its place
            wanted = session.queue.next()
            self.show_waiting(session)


async def _attached(text: str, cwd: Path) -> tuple[Sequence[ContentBlock], Sequence[str]]:
    """The prompt with the files that it mentions, and what is to be known of them."""
    from acp_tui.conversation.content import Text

    if "@" not in text:
        return (Text(text),), ()
    from anyio import to_thread

    from acp_tui.client.attachments import attach

    attached = await to_thread.run_sync(attach, text, cwd)
    return attached.blocks, attached.problems
