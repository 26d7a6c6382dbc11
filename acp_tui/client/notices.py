"""What users who look elsewhere are told about a session: the same on the screen, line by line, and in a host.

It decides what is news, and runs the user's own command. A notice leads to a question and has nothing of it: neither
what is asked, nor a way to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acp_tui.client.user_programs import run_program
from acp_tui.conversation.conversation import Conversation, TurnTime
from acp_tui.conversation.wording import duration, stop_words
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.settings.settings import NoticeChannel, Notifications

LIMIT_S: Final = 10.0
MAX_TEXT: Final = 200
BELL: Final = "\a"

Kind: TypeAlias = Literal["needs_you", "done", "failed"]
"""Also the names of the settings for where to report each kind."""


@dataclass(frozen=True, slots=True)
class News:
    kind: Kind
    text: str
    """In our own words."""
    seconds: float = 0.0
    """How long the turn took, if it has ended, without the time that the user was asked."""


@dataclass(frozen=True, slots=True)
class About:
    """The session of a notice. The agent chose some of the text."""

    agent: str
    session: str
    title: str
    cwd: str


def channels_of(news: News, settings: Notifications) -> tuple[NoticeChannel, ...]:
    """Where to report it; nowhere if a turn was short."""
    if news.kind == "done" and news.seconds < settings.minimum_turn_s:
        return ()
    channels: tuple[NoticeChannel, ...] = getattr(settings, news.kind)
    return channels


def question_in(conversation: Conversation) -> News | None:
    """That the session waits for its user; None if it doesn't."""
    if conversation.permissions:
        return News("needs_you", "needs your decision")
    return News("needs_you", "asks you something") if conversation.elicitations else None


class NewsWatch:
    def __init__(self) -> None:
        self._told: Kind | None = None
        """What it said when it was last looked at, apart from the end of a turn."""
        self._time = TurnTime()

    def news_in(self, conversation: Conversation, now_s: float) -> News | None:
        """What is new since the last call; None if nothing is, or the user did it."""
        self._time.note_change(conversation, now_s)
        news = question_in(conversation)
        if not conversation.is_connected:
            news, self._time.of_last = News("failed", "disconnected"), None
        before, self._told = self._told, None if news is None else news.kind
        if news is not None:
            return news if news.kind != before else None
        took_s, self._time.of_last = self._time.of_last, None
        return _of_end(conversation.last_stop_reason, took_s) if took_s is not None else None


def _of_end(stop_reason: str | None, seconds: float) -> News | None:
    match stop_reason:
        case None:
            return News("failed", "the turn failed", seconds)
        case "cancelled":
            return None  # the user knows
        case "end_turn":
            return News("done", f"done after {duration(seconds)}", seconds)
        case other:
            return News("done", stop_words(other), seconds)


def plain(text: str) -> str:
    """The text as one line without control and invisible characters, shortened if necessary."""
    kept = "".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT])
    line = " ".join(kept.split())
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"


class NoticeCommand:
    def __init__(self, warn: Callable[[str], None]) -> None:
        """`warn` is told once if the command fails."""
        self._warn = warn
        self._has_failed = False

    async def run(self, command: tuple[str, ...], news: News, about: About) -> None:
        """Run the command. What happened is in its environment, and in arguments that name a part, such as {title}.

        Only a whole argument is replaced, so that no text becomes part of a shell's line. It never looks like an
        option (-x) or a file to read (@x).
        """
        facts = {
            "event": news.kind,
            "agent": plain(about.agent),
            "session": plain(about.session),
            "title": plain(about.title),
            "cwd": about.cwd,
            "text": plain(news.text),
        }
        env = {f"ACP_TUI_{name.upper()}": value for name, value in facts.items()}
        env["ACP_TUI_SECONDS"] = f"{news.seconds:.0f}"
        words = {f"{{{name}}}": value.lstrip("-@ ") for name, value in facts.items()}
        argv = [command[0], *(words.get(word, word) for word in command[1:])]
        problem, _ = await run_program(argv, env, LIMIT_S)
        if problem and not self._has_failed:
            self._has_failed = True
            self._warn(f"notifications.command: {command[0]} {problem}")
