"""Facts about a session in words. Where and how they appear is up to the caller.

Text from the agent is unchanged: the caller makes it visible.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_tui.conversation.facts import BooleanOption, Choice, ConfigOption, ErrorFacts, TurnSpent, TurnUsage, Usage
from acp_tui.conversation.visible import make_visible_line

if TYPE_CHECKING:
    # The first frame needs some of these words, but no conversation yet.
    from acp_tui.conversation.conversation import Conversation, SubagentState
    from acp_tui.conversation.entries import Failure, Question, TerminalState

_STOP_REASONS: Final = {
    "cancelled": "canceled",
    "unfinished": "unfinished: the turn was cut off here",
    "refusal": "refused: the agent drops this prompt and everything after it from its context",
    "max_tokens": "stopped: token limit reached",
    "max_turn_requests": "stopped: reached the limit of requests in one turn",
}
_OF_LOGIN: Final = re.compile(
    r"\b(?:api.?key|(?:log(?:ged)?|sign(?:ed)?) ?in|(?:un)?auth(?:entic|ori[sz])\w*|credentials?|401)\b", re.I
)


def stop_words(stop_reason: str) -> str:
    """Return how a turn ended that isn't done. An agent's own reason stays as is."""
    return _STOP_REASONS.get(stop_reason, stop_reason)


def value_name(option: ConfigOption) -> str:
    """Return the agent's name for an option's current value; a value without a name stays as is (R-MODE-3).

    Behind a mode in which the agent asks less, say so.
    """
    if isinstance(option, BooleanOption):
        return "on" if option.value else "off"
    unknown = Choice(option.value, option.value)
    choice = next((choice for choice in option.choices if choice.value == option.value), unknown)
    caution = option.caution(choice)
    return f"{choice.name} ({caution})" if caution else choice.name


def answer_words(question: Question) -> str:
    if question.action == "accept":
        return "you answered" if question.url is None else "you opened the page"
    return "you declined" if question.action == "decline" else "canceled without an answer"


def usage_words(usage: Usage | None) -> str:
    """Return the context and cost as last reported by the agent, without calculations."""
    if usage is None:
        return "not reported by the agent"
    tokens = f"{usage.used:,} of {usage.size:,} tokens" if usage.size else f"{usage.used:,} tokens"
    if usage.cost_amount is None:
        return tokens
    return f"{tokens}, {money(usage.cost_amount, usage.cost_currency)}"


def sentences(text: str) -> str:
    """Join lines in one: a line that begins like a sentence ends the one before."""
    joined, *others = filter(None, map(str.strip, text.split("\n"))) if text.strip() else [""]
    for line in others:
        end = " " if joined[-1] in ".:;!?…" else ". " if line[0].isupper() else "; "
        joined += end + line
    return joined


def money(amount: float, currency: str | None) -> str:
    """Format an amount in the agent's unit, such as $0.42; small ones get two significant digits."""
    if 0 < amount < 0.0001:
        return "<$0.0001" if currency == "USD" else f"<0.0001 {currency or ''}".rstrip()
    digits = f"{amount:.2f}" if amount == 0 or abs(amount) >= 0.01 else f"{amount:#.2g}"
    return f"${digits}" if currency == "USD" else f"{digits} {currency or ''}".rstrip()


def turn_words(conversation: Conversation) -> str:
    """Return the last turn's tokens and cost, as far as the agent counts them; "" for neither."""
    usage = conversation.usage
    currency = usage.cost_currency if usage is not None else None
    return turn_spent_words(TurnSpent(0, conversation.turn_usage, conversation.turn_cost, currency))


def turn_spent_words(turn: TurnSpent) -> str:
    """Return a turn's tokens and cost, as far as the agent counts them; "" for neither."""
    words = [tokens_words(turn.usage)] if turn.usage is not None else []
    if turn.cost:
        words.append(money(turn.cost, turn.currency))
    return ", ".join(words)


def spent_words(conversation: Conversation) -> str:
    """Return the tokens and cost of all turns, as far as the agent counts them; "" for neither."""
    spent, usage = conversation.spent, conversation.usage
    tokens = spent.total if spent is not None else usage.used if usage is not None else 0
    words = [f"{short_count(tokens)} tokens"] if tokens else []
    if usage is not None and usage.cost_amount is not None:
        words.append(money(usage.cost_amount, usage.cost_currency))
    return " · ".join(words)


def subagent_state(subagent: SubagentState) -> str:
    """Return a subagent's state: "running", "needs you", "done", "canceled", "failed", "stopped", or "idle"."""
    said = subagent.conversation
    if not said.is_idle:
        return "needs you" if said.state == "requires_action" else "running"
    if said.turn_start is None:
        return "idle"
    ends = {"end_turn": "done", "cancelled": "canceled", None: "failed"}
    return ends.get(said.last_stop_reason, "stopped")


def short_count(count: int) -> str:
    """Format a number of tokens briefly, such as 18k."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def tokens_words(usage: TurnUsage) -> str:
    """Return the tokens of turns, and what they were used for as far as the agent counts that."""
    parts = (
        (usage.input, "in"),
        (usage.output, "out"),
        (usage.thought, "thinking"),
        (usage.cached_read, "from cache"),
        (usage.cached_write, "to cache"),
    )
    named = ", ".join(f"{short_count(count)} {what}" for count, what in parts if count)
    return f"{usage.total:,} tokens" + (f" ({named})" if named else "")


def session_facts(
    conversation: Conversation,
    agent: str,
    folder: str,
    servers: Iterable[str] | None,
    told: Container[str | None] = (),
) -> tuple[tuple[str, str], ...]:
    """Return a session's main facts as pairs of label and value.

    `servers` has the names of the MCP servers; None if unknown. `told` has the parts that the status line shows.
    """
    running = [state.command or "a command" for state in conversation.terminals.values() if conversation.runs(state)]
    return (
        ("Agent", agent),
        ("Folder", folder),
        *((option.name, value_name(option)) for option in conversation.options if option.category not in told),
        *((("Usage", usage_words(conversation.usage)),) if "tokens" not in told else ()),
        *((("Last turn", words),) if (words := turn_words(conversation)) else ()),
        *((("Session", tokens_words(conversation.spent)),) if conversation.spent else ()),
        *((("MCP", ", ".join(servers) or "no servers"),) if servers is not None else ()),
        *(("Running", command) for command in running),
    )


def how_ended(exit_code: int | None, signal: str | None) -> str:
    if signal is not None:
        return f"ended by {signal}"
    return "ended" if exit_code is None else f"exit {exit_code}"


def command_end(state: TerminalState, between: str = " · ") -> str:
    """Return how a terminal's command ended, and after how long; "still running" before that."""
    if not state.has_exited:
        return "still running"
    how, seconds = how_ended(state.exit_code, state.signal), state.seconds
    if seconds is None:
        return how
    return f"{how}{between}{f'{seconds:.1f} s' if seconds < 60 else duration(seconds)}"


def from_home(path: Path) -> str:
    """Shorten a path with `~`, as a shell would."""
    home = Path.home()
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)


def duration(seconds: float) -> str:
    """Format a time: "<1 s", "12 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 1:
        return "<1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


NO_MESSAGE: Final = "[stdout] "
"""Begins each line of an agent's log that isn't from its stderr."""


def clock(seconds: float) -> str:
    """Format a time that goes on: "0:05", "12:40", "1:02:03". It's as wide from one second to the next."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def error_words(said: ErrorFacts | None) -> list[str]:
    return [*facts_words(said), *filter(None, [retry_words(said)])] if said is not None else []


def is_of_login(failure: Failure) -> bool:
    """Whether the words of an error name a login. Few agents answer a prompt with the protocol's error for it."""
    return _OF_LOGIN.search(f"{failure.message} {failure.detail}") is not None


def facts_words(said: ErrorFacts) -> list[str]:
    """Return what an agent says of its error besides another try, in one line or none."""
    named = (
        ("reason", said.reason),
        ("scope", said.scope),
        ("correlation ID", said.correlation_id),
        ("login methods", ", ".join(said.auth_methods)),
    )
    words = " · ".join(f"{label}: {value}" for label, value in named if value)
    return [words] if words else []


def retry_words(said: ErrorFacts, now: float | None = None) -> str:
    """Return when the agent says to try again, or how long from `now`; "" if it doesn't say."""
    if said.retry_at is None:
        return "" if said.retry_after_s is None else f"try again in {duration(said.retry_after_s)}"
    if now is None:
        return f"try again at {clock_time(said.retry_at)}"
    left = math.ceil(said.retry_at - now)
    return f"try again in {duration(left)}" if left > 0 else "you can try again now"


def clock_time(at: float) -> str:
    """Format a moment, in seconds since the epoch, as the time of the day, with the day unless that is today."""
    local = time.localtime(at)
    is_today = local[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S", local)


def age(seconds: float) -> str:
    """Format how long something has existed, in its largest unit: "less than 1 min", "5 min", "3 h", "2 d"."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "less than 1 min"


MAX_TITLE: Final = 120
"""A title may be a whole program; this much identifies it."""


def reason_prompt(title: str, reason: str) -> str:
    """Return a prompt that gives `reason` for rejecting the call with this title, labeled as such."""
    line = make_visible_line(" ".join(title.split()))
    short = line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"
    return f'About the rejected "{short}": {reason}'


def comments_prompt(comments: Sequence[str]) -> str:
    """A prompt with these comments on lines. Without its title, one that begins with a path would be a command."""
    return "\n\n".join(("Comments on lines:", *comments))


MOST_LAST_WORDS: Final = 4
"""A few lines leave room for the conversation on a small screen."""


def last_words(stderr: Sequence[str]) -> Sequence[str]:
    """The last lines of a program that failed which aren't indented, as those of a stack are; all if they're few."""
    if len(stderr) <= MOST_LAST_WORDS + 1:
        return stderr
    return ([line for line in stderr if line.strip() and not line[0].isspace()] or stderr)[-MOST_LAST_WORDS:]


def forked(title: str) -> str:
    """Say in one line that a conversation was forked from another session."""
    return f"forked from “{title.strip()}”; the agent remembers the conversation above"
