"""What a test's user was asked, and what the test answers. What no word of the test fits is left open."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from acp_tui.conversation.elicitation import Elicitation, Form, FormValues
from acp_tui.conversation.facts import PermissionOption
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.values import dataclass

Wanted: TypeAlias = str | re.Pattern[str] | None
"""A part of a text, or what is to be found in it; None: any text will do."""


def fits(wanted: Wanted, text: str) -> bool:
    """Whether this is the text that is wanted."""
    if wanted is None:
        return True
    return wanted in text if isinstance(wanted, str) else wanted.search(text) is not None


@dataclass(frozen=True, slots=True)
class AskedPermission:
    """A permission request."""

    session_id: str
    tool_call: ToolCall
    """As it was when the agent asked."""
    options: tuple[PermissionOption, ...]
    note: str | None = None
    """Why acp-tui asks, where it is not the agent that does."""
    chosen: PermissionOption | None = None
    """None: nothing was, the turn was cancelled."""

    @property
    def title(self) -> str:
        """What the user reads."""
        return self.tool_call.shown_title

    @property
    def answer(self) -> str | None:
        """The kind of the option that was chosen."""
        return None if self.chosen is None else self.chosen.kind


@dataclass(frozen=True, slots=True)
class AskedElicitation:
    """A form or a page that the user was shown."""

    session_id: str | None
    """None: it belongs to no session."""
    elicitation: Elicitation
    action: ElicitationAction
    values: FormValues | None = None

    @property
    def message(self) -> str:
        """What the user reads."""
        return self.elicitation.message

    @property
    def url(self) -> str | None:
        """The page; None for a form. Nobody has looked at it."""
        return None if isinstance(self.elicitation, Form) else self.elicitation.url


CANCEL_TURN: Final = ""
"""Instead of an option."""

A = TypeVar("A")
Asked = TypeVar("Asked", AskedPermission, AskedElicitation)


@dataclass(frozen=True, slots=True)
class Rule(Generic[A]):
    """An answer, and to which questions."""

    answer: A
    text: Wanted
    tool: str | None = None
    """Of tool calls of this kind only."""

    def fits(self, text: str, tool: str) -> bool:
        """Whether it answers a question with this text, about a tool call of this kind."""
        return fits(self.text, text) and self.tool in (None, tool)

    def named(self, what: str) -> str:
        """The questions, for a message: "any permission", "the permission 'Edit'"."""
        text = getattr(self.text, "pattern", self.text)
        about = f"any {what}" if text is None else f"the {what} {text!r}"
        return about if self.tool is None else f"{about} (tool kind {self.tool})"


class Answers(Generic[A, Asked]):
    """Answers to one question each, which has to be asked, and answers to every question that they fit."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        """What was asked so far, in that order, with what became of it."""
        self._expected: list[Rule[A]] = []
        self._standing: list[Rule[A]] = []
        self._used: list[Rule[A]] = []

    def take(self, text: str, tool: str = "") -> Rule[A] | None:
        """What answers this question: what expects it, which is used up by that, else the latest that fits."""
        for rule in self._expected:
            if rule.fits(text, tool):
                self._expected.remove(rule)
                self._used.append(rule)
                return rule
        return next((rule for rule in reversed(self._standing) if rule.fits(text, tool)), None)

    def has_used(self, text: str, tool: str = "") -> bool:
        """Whether such a question was expected, and came before."""
        return any(rule.fits(text, tool) for rule in self._used)

    def take_missing(self) -> list[Rule[A]]:
        """What was expected and did not come; it is not expected any more."""
        missing, self._expected = self._expected, []
        return missing


class PermissionAnswers(Answers[str, AskedPermission]):
    """Permission requests: `agent.permissions`."""

    def expect(self, title: Wanted = None, *, tool: str | None = None) -> ExpectedPermission:
        """A request that has to come until the turn ends; say behind it how it is answered.

        `title` is a part of the tool call's title, or a pattern; `tool` the tool call's kind.
        """
        return ExpectedPermission(lambda option: self._expected.append(Rule(option, title, tool)))

    def on(self, kind: str, *, title: Wanted = None, tool: str | None = None) -> None:
        """Answer every request that fits, asked for or not, with the option of this kind (or id, or name)."""
        self._standing.append(Rule(kind, title, tool))


@dataclass(frozen=True, slots=True)
class ExpectedPermission:
    """Made by `PermissionAnswers.expect`; what is called here is the answer."""

    _answer: Callable[[str], None]

    def allow(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind allow_once, or allow_always."""
        self._answer("allow_always" if always else "allow_once")

    def reject(self, *, always: bool = False) -> None:
        """Choose the agent's option of the kind reject_once, or reject_always."""
        self._answer("reject_always" if always else "reject_once")

    def choose(self, option: str) -> None:
        """Choose an option by its kind, its id or its name."""
        self._answer(option)

    def cancel_turn(self) -> None:
        """Cancel the turn instead; the agent gets the outcome "cancelled"."""
        self._answer(CANCEL_TURN)


def option_of(options: Sequence[PermissionOption], wanted: str) -> PermissionOption | None:
    """The one of this kind, else of this id, else of this name."""
    for name in ("kind", "option_id", "name"):
        for option in options:
            if getattr(option, name) == wanted:
                return option
    return None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to an elicitation."""

    action: ElicitationAction
    values: FormValues | None = None


class ElicitationAnswers(Answers[Reply, AskedElicitation]):
    """Forms and pages: `agent.elicitations`."""

    def expect(self, message: Wanted = None) -> ExpectedElicitation:
        """A question that has to come until the turn ends; say behind it how it is answered."""
        return ExpectedElicitation(lambda reply: self._expected.append(Rule(reply, message)))

    def on(
        self, action: ElicitationAction, values: FormValues | None = None, *, message: Wanted = None
    ) -> None:
        """Answer every question that fits, asked or not; `values` is what a form is filled in with."""
        self._standing.append(Rule(Reply(action, values), message))


@dataclass(frozen=True, slots=True)
class ExpectedElicitation:
    """Made by `ElicitationAnswers.expect`; what is called here is the answer."""

    _answer: Callable[[Reply], None]

    def accept(self, **values: str | int | float | bool | list[str]) -> None:
        """Fill in the form, or agree to visit the page (which nobody does)."""
        self._answer(Reply("accept", dict(values)))

    def decline(self) -> None:
        """Say no."""
        self._answer(Reply("decline"))

    def cancel(self) -> None:
        """Close it without an answer."""
        self._answer(Reply("cancel"))
