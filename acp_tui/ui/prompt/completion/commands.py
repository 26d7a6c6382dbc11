"""What may be meant by `/` at the beginning of the draft: the agent's commands, and ours.

It says what each is called here; doing ours is the screen's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acp_tui.client.completion.matching import fit
from acp_tui.conversation.facts import Command
from acp_tui.ui.commands.table import COMMANDS, OURS
from acp_tui.ui.prompt.completion.suggestion import Suggestion

OWN_GROUP: Final = "acp-tui"
MOST_NAME: Final = 100
MOST_DESCRIPTION: Final = 400
"""Letters of a description that count: an agent has sent half a megabyte of them."""
_BY_DESCRIPTION: Final = -1000
"""What fits by its description alone comes behind what fits by its name."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A command, ready to be found."""

    name: str
    suggestion: Suggestion
    about: str
    """Its description in small letters, with a space before each word."""
    hint: str


class Commands:
    """The commands of one agent and ours; made anew where the agent's change."""

    def __init__(self, of_agent: Sequence[Command], agent_title: str) -> None:
        theirs = [
            _theirs(command, agent_title or "The agent") for command in of_agent if _is_writable(command)
        ]
        taken = {known.name for known in theirs}
        self._known = [*theirs, *_ours(taken)]
        self._prefixed = list(_ours(None))
        self._hints = {f"/{known.name} ": known.hint for known in (*self._prefixed, *reversed(self._known))}

    def hint(self, draft: str) -> str:
        """What may follow a draft that is a command's name and a space; "" for all else."""
        return self._hints.get(draft, "")

    def find(self, query: str) -> list[Suggestion]:
        """Those that fit by name, then those that fit by description; the best one's group stands first."""
        known = self._prefixed if query.startswith(OURS) else self._known
        scored = [found for command in known if (found := _scored(command, query)) is not None]
        groups = [suggestion.group for _, suggestion in scored]
        best = {group: max(score for score, each in scored if each.group == group) for group in groups}
        order = {group: at for at, group in enumerate(dict.fromkeys(groups))}
        scored.sort(key=lambda found: (-best[found[1].group], order[found[1].group], -found[0]))
        return [suggestion for _, suggestion in scored]


def _scored(known: _Known, query: str) -> tuple[int, Suggestion] | None:
    if not query:
        return 0, known.suggestion
    match = fit(query, known.name)
    if match is not None:
        places = tuple(at + 1 for at in match.places)  # behind the slash
        return match.score, replace(known.suggestion, places=places)
    has_word = f" {query.lower()}" in known.about
    return (_BY_DESCRIPTION, known.suggestion) if has_word else None


def _is_writable(command: Command) -> bool:
    """Whether its name can be written as one word, and shown as it is."""
    name = command.name.removeprefix("/")
    return len(name) <= MOST_NAME and name.isprintable() and len(name.split()) == 1


def _theirs(command: Command, group: str) -> _Known:
    name = command.name.removeprefix("/")
    return _known(name, command.description, group, (command.hint or "").strip())


def _ours(taken: set[str] | None) -> Iterator[_Known]:
    """Ours, by a longer name where the agent has one of the same; None: all by the longer one."""
    for command in COMMANDS:
        if command.slash and command.action:
            is_long = taken is None or command.slash in taken
            name = f"{OURS}{command.slash}" if is_long else command.slash
            yield _known(
                name, command.title, OWN_GROUP, command.slash_argument, is_run=not command.slash_argument
            )


def _known(name: str, description: str, group: str, hint: str, *, is_run: bool = False) -> _Known:
    about = " ".join(description[:MOST_DESCRIPTION].split())
    suggestion = Suggestion(
        f"/{name}", f"/{name}" if is_run else f"/{name} ", is_run=is_run, description=about, group=group
    )
    return _Known(name, suggestion, f" {about.lower()}", hint)
