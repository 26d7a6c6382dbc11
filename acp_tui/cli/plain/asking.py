"""Questions in line mode: choices, yes or no, and an agent's forms and pages.

Only a number or letter typed by the user allows anything. `client.form_answers` validates the fields of forms.
"""

from __future__ import annotations

import os
import shlex
import webbrowser
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import anyio
from anyio import to_thread

from acp_tui.cli.permissions import OneByOne
from acp_tui.cli.plain.console import Console, Outbox
from acp_tui.client.form_answers import InvalidAnswer, Raw, check, check_all, pattern_note
from acp_tui.client.loading_variables import rows_of
from acp_tui.client.secrets.questions import field_asks_for_secret, form_asks_for_secret
from acp_tui.client.sessions.agent import Agent
from acp_tui.client.sessions.session import Session
from acp_tui.client.settings import mcp
from acp_tui.conversation import elicitation, facts, web_address
from acp_tui.conversation.visible import make_visible, make_visible_line

Answered: TypeAlias = tuple[Literal["accept", "decline", "cancel"], elicitation.FormValues | None]
SECRET_WARNING: Final = "Warning: this looks like a secret. The agent gets what you type, and it shows here."
CANCEL: Final[Answered] = ("cancel", None)
DECLINE: Final[Answered] = ("decline", None)
_WORDS: Final[dict[str, Answered]] = {"/cancel": CANCEL, "/decline": DECLINE}
WITHDRAWN: Final = "(no longer needed)"
"""Printed when the agent withdraws a question or the turn is canceled."""


async def choose(console: Console, question: str, choices: Sequence[str]) -> int | None:
    """Return the index of the choice whose number is typed; None for an empty line, Ctrl+C, or the end of the input."""
    width = len(str(len(choices)))
    rows = [f"  {number:<{width}}  {make_visible_line(choice)}" for number, choice in enumerate(choices, 1)]
    console.say("\n".join([question, *rows]))
    is_guarded, numbers = True, "1" if len(choices) == 1 else f"1-{len(choices)}"
    while True:
        line = await console.ask(f"{numbers}, or Enter for none: ", is_guarded=is_guarded, can_be_left=True)
        if not line:
            return None
        number = number_in(line, len(choices))
        if number is not None:
            return number - 1
        console.say(f"“{make_visible_line(line)}” is none of these numbers.")
        is_guarded = False


def number_in(line: str, most: int) -> int | None:
    """Return a line's number from 1 to `most`; None for anything else."""
    is_number = line.isascii() and line.isdigit() and len(line) < 10
    return int(line) if is_number and 1 <= int(line) <= most else None


async def confirm(console: Console, question: str) -> bool:
    """Whether the user says yes. An empty line or Ctrl+C means no."""
    return (await console.ask(f"{question} [y/N] ", can_be_left=True) or "").lower() in ("y", "yes")


class Questions:
    """The questions of a session, or of an agent outside of any session."""

    def __init__(self, owner: Session | Agent, title: str, console: Console, outbox: Outbox) -> None:
        """`title` is the agent's."""
        self._owner = owner
        self._title = make_visible_line(title)
        self._console = console
        self._outbox = outbox
        kept_in = owner.conversation if isinstance(owner, Session) else owner
        self.waiting = OneByOne(lambda: kept_in.elicitations, self._answer, lambda: console.say(WITHDRAWN))

    async def _answer(self, asked: elicitation.Elicitation) -> None:
        await self._outbox.flush()
        action, values = await self._ask(asked)
        with anyio.CancelScope(shield=True):  # the answer withdraws the question, not the page
            self._owner.questions.answer(asked.key, action, values)
            if not isinstance(asked, elicitation.UrlVisit) or action != "accept":
                return
            if not await to_thread.run_sync(_open_in_window, asked.url):
                self._console.say(f"Open this page in your browser: {make_visible_line(asked.url)}")

    async def _ask(self, asked: elicitation.Elicitation) -> Answered:
        if not isinstance(asked, elicitation.UrlVisit):
            return await self._ask_form(asked)
        host = make_visible_line(web_address.host_of(asked.url)) or "none"
        lines = [
            f"\n{self._title} asks you to visit a page: {make_visible(asked.message)}",
            f"Host: {host}",
            f"Page: {make_visible_line(asked.url)}",
            *(f"Warning: {make_visible_line(warning)}" for warning in web_address.warnings_of(asked.url)),
        ]
        self._console.say("\n".join(lines))
        return await self._decide("open", ("accept", None), is_possible=web_address.is_openable(asked.url))

    # Forms

    async def _ask_form(self, form: elicitation.Form) -> Answered:
        head = [text for text in (form.title, form.message, form.description) if text]
        if form_asks_for_secret(form):
            head.append(SECRET_WARNING)
        self._console.say(f"\n{self._title} asks:\n" + make_visible("\n".join(head)))
        self._console.say("Enter takes the value in brackets. To answer the whole question: /decline or /cancel.")
        unanswerable = [
            field for field in form.fields if isinstance(field, elicitation.UnknownField) and field.is_required
        ]
        if unanswerable:
            name = make_visible_line(unanswerable[0].name)
            self._console.say(f"Can't send this: {name} is required, and its kind can't be answered here.")
        raws: dict[str, Raw] = {}
        for field in form.fields:
            raw = await self._ask_field(field)
            if isinstance(raw, tuple):
                return raw
            raws[field.name] = raw
        values, wrong = check_all(form.fields, raws)
        return await self._decide("send", ("accept", values), is_possible=not wrong)

    async def _ask_field(self, field: elicitation.Field) -> Raw | Answered:
        """Return the user's valid input for a field, or the answer to the whole form."""
        if isinstance(field, elicitation.UnknownField):
            return None
        self._console.say("\n".join(_about(field)))
        while True:
            line = await self._console.ask(f"{_name(field)}{_default_words(field)}: ")
            if line is None:
                return CANCEL
            if line in _WORDS:
                return _WORDS[line]
            raw = _raw(field, line)
            try:
                check(field, raw)
            except InvalidAnswer as error:
                self._console.say(f"{_name(field)} {make_visible_line(str(error))}.")
            else:
                return raw

    async def _decide(self, yes: str, accepted: Answered, *, is_possible: bool) -> Answered:
        """Ask for the final decision: `accepted` for `yes`, if that's possible, or else no, or no answer."""
        answers = {yes: accepted} if is_possible else {}
        answers |= {"decline": DECLINE, "cancel": CANCEL}
        *others, last = answers
        while True:
            line = await self._console.ask(f"Type {', '.join(others)} or {last}: ")
            said = "cancel" if line is None else line.lower().removeprefix("/")
            if said in answers:
                return answers[said]
            self._console.say(f"“{make_visible_line(said)}” is none of these words.")


def _open_in_window(url: str) -> bool:
    """Whether a browser in its own window opened the page. One that would take over the terminal isn't used."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser and browser.open(url)


# Fields


def _name(field: elicitation.Field) -> str:
    title = None if isinstance(field, elicitation.UnknownField) else field.title
    return make_visible_line(title or field.name)


def _about(field: elicitation.Field) -> Iterator[str]:
    """Yield what the user should know before answering."""
    assert not isinstance(field, elicitation.UnknownField)
    description = f": {make_visible_line(field.description)}" if field.description else ""
    yield f"\n{_name(field)} ({'required' if field.is_required else 'optional'}){description}"
    if isinstance(field, elicitation.ChoiceField | elicitation.MultiChoiceField):
        for number, choice in enumerate(field.choices, 1):
            about = f" - {choice.description}" if choice.description else ""
            yield f"  {number}  {make_visible_line(choice.title + about)}"
    if isinstance(field, elicitation.MultiChoiceField):
        yield "Choose any: type their numbers with spaces between."
    elif isinstance(field, elicitation.ChoiceField):
        yield "Choose one: type its number."
    elif isinstance(field, elicitation.BooleanField):
        yield "y or n."
    elif isinstance(field, elicitation.NumberField):
        yield "A whole number." if field.is_integer else "A number."
    if note := pattern_note(field):
        yield note
    if field_asks_for_secret(field):
        yield SECRET_WARNING


def _default_words(field: elicitation.Field) -> str:
    """Return what an empty line stands for, in brackets; "" for nothing."""
    match field:
        case elicitation.ChoiceField(choices=choices, default=str(default)):
            numbers = [str(at) for at, choice in enumerate(choices, 1) if choice.value == default]
            return f" [{numbers[0]}]" if numbers else ""
        case elicitation.MultiChoiceField(choices=choices, default=defaults) if defaults:
            return f" [{' '.join(str(at) for at, choice in enumerate(choices, 1) if choice.value in defaults)}]"
        case elicitation.BooleanField(default=bool(default)):
            return f" [{'y' if default else 'n'}]"
        case elicitation.TextField(default=default) | elicitation.NumberField(default=default) if default is not None:
            return f" [{make_visible_line(str(default))}]"
        case _:
            return ""


def _raw(field: elicitation.Field, line: str) -> Raw:
    """Convert a line to what a form's control would give. Invalid input is left to the check."""
    if not line:
        return _default(field)
    match field:
        case elicitation.BooleanField():
            return {"y": True, "yes": True, "n": False, "no": False}.get(line.lower(), line)
        case elicitation.ChoiceField(choices=choices):
            number = number_in(line, len(choices))
            return choices[number - 1].value if number is not None else line
        case elicitation.MultiChoiceField(choices=choices):
            numbers = [number_in(word, len(choices)) for word in line.replace(",", " ").split()]
            return [choices[number - 1].value if number is not None else "" for number in numbers]
        case _:
            return line


def _default(field: elicitation.Field) -> Raw:
    if isinstance(field, elicitation.NumberField):
        return None if field.default is None else str(field.default)
    return None if isinstance(field, elicitation.UnknownField) else field.default


def server_words(server: mcp.Server) -> str:
    """Describe what would run or be contacted, and which of the user's variables it would get."""
    if isinstance(server, facts.StdioServer):
        names = ", ".join(name for name, _ in server.env)
        line = shlex.join([server.command, *server.args])
        words = f"{server.name}: runs {line}" + (f", with {names} set" if names else "")
    else:
        names = ", ".join(name for name, _ in server.headers)
        words = f"{server.name}: {server.kind} at {server.url}" + (f", with {names}" if names else "")
    rows = (f"    {'Warning: ' if row.is_warning else ''}{row.text}" for row in rows_of(server, os.environ))
    return "\n".join([f"  {make_visible_line(words)}", *map(make_visible_line, rows)])
