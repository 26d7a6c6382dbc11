"""Dialogs about what an agent offers: login methods, a session's options, and its capabilities.

They don't send requests to the agent: the caller acts on what was chosen.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.widgets import Static
from textual.worker import Worker

from acp_tui.client.errors import ClientError
from acp_tui.conversation.facts import AuthMethod, BooleanOption, Choice, ConfigOption, SelectOption
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import value_name
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.answer_guard import AnswerGuard
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.dialog import Dialog, shown, shown_line
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.notice_lines import ASKING
from acp_tui.ui.kit.pickers import ListDialog, Picker
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.kit.row_list import PickerRow, aligned
from acp_tui.values import dataclass

if TYPE_CHECKING:
    from acp_tui.client.sessions.allowances import UnaskedKind

LOG_LINES: Final = 20
ACTS_ITSELF: Final = "no: it reads and writes files and runs commands itself; you decide only what it asks about"
NO_SANDBOX: Final = "none: it can do what you can; --sandbox confines it"
SANDBOX_ELSEWHERE: Final = "none of acp-tui's: it runs elsewhere, so start it in one there"
UNASKED: Final = {
    ("write", True): "writes without asking: you allowed it in this session",
    ("write", False): "what it writes without asking is refused, in this session",
    ("run", True): "runs commands without asking: you allowed it in this session",
    ("run", False): "what it runs without asking is refused, in this session",
}
INEXACT: Final = "doesn't say when it has shown a question, so answers that allow count {lag_s:g} s later"
LABEL_CELLS: Final = 10
WAITING: Final = "Waiting for the agent; it may have opened a browser. {dialog_close} cancels"


@dataclass(frozen=True, slots=True)
class AgentFacts:
    title: str
    name: str
    version: str
    protocol: str
    command: tuple[str, ...]
    capabilities: Any
    """`meta`, and an attribute for each name in `CAPABILITIES`, true if it is offered. A missing one isn't offered."""
    auth_methods: Sequence[AuthMethod] = ()
    login: str = ""
    """Whether and as whom the agent is logged in; "" if it hasn't told."""
    log: Sequence[str] = ()
    """Its stderr, and what it wrote to stdout that wasn't a message, the latest line last."""
    place: str = ""
    """What follows from where the agent runs; "" if it runs here."""
    chain: Sequence[tuple[str, str]] = ()
    """Its proxies and, last, the agent behind them, each with a label; empty without proxies."""
    sandbox: Sequence[tuple[str, str]] = ()
    """What there is to say of its sandbox, each with a label of at most ten characters."""
    lag_s: float = 0.0
    """How long answers wait for a terminal that doesn't say what it has shown."""
    unasked: Mapping[UnaskedKind, bool] = field(default_factory=dict)
    """What the user decided for this session about `write` and `run` without asking: whether the agent may."""
    turn: Sequence[tuple[str, str]] = ()
    """What there is to say of the turn that runs, each with a label."""
    hosting: Sequence[tuple[str, str]] = ()
    """What there is to say of the session's host, each with a label."""
    system_prompt: str = ""
    """The user's instructions for each session; "" for none."""
    prompt_use: str = ""
    """What becomes of them, as a sentence."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that an agent may offer."""

    attribute: str
    name: str
    without: str
    """The consequence for the user if it is missing."""


SECTIONS: Final[Mapping[str, tuple[Capability, ...]]] = {
    "Sessions": (
        Capability("list_sessions", "list sessions", "earlier sessions can't be listed here"),
        Capability("load_session", "load a session", "it can't tell an earlier session again"),
        Capability("resume_session", "resume a session", "a session can be continued only by loading it"),
        Capability("close_session", "close a session", "a closed tab leaves the session open in the agent"),
        Capability("delete_session", "delete a session", "sessions can be deleted only with its own tools"),
        Capability("additional_directories", "work in several folders", "a session works in one folder"),
        Capability("fork_session", "fork a session", "/fork isn't available"),
        Capability("set_title", "rename a session", "/rename names it in acp-tui only"),
        Capability("archive", "archive a session", "only acp-tui remembers which you archived"),
        Capability("session_status", "report what sessions do", "shown only for those in a tab"),
        Capability("system_prompt", "take a system prompt", "one in agents.toml isn't sent"),
        Capability("takes_prompts_at_work", "steer a turn", "a prompt waits until the turn ends"),
    ),
    "In prompts, besides text and links": (
        Capability("image", "images", "images are sent as links to their files"),
        Capability("audio", "audio", "recordings are sent as links to their files"),
        Capability("embedded_context", "whole files", "attached files are sent as links"),
    ),
    "MCP servers": (
        Capability("mcp_stdio", "started by the agent", "such servers in your settings are skipped"),
        Capability("mcp_http", "over HTTP", "such servers in your settings are skipped"),
        Capability("mcp_sse", "over SSE", "such servers in your settings are skipped"),
        Capability("mcp_acp", "run here, for an agent elsewhere", "an agent elsewhere starts its servers there"),
    ),
    "Login": (
        Capability("auth_status", "say who is logged in", "it can't be asked; what it says by itself is shown"),
        Capability("logout", "log out", "log out with its own tools"),
    ),
    "Models": (Capability("providers", "choose who serves them (/providers)", "set that with its own tools"),),
}
CAPABILITIES: Final = tuple(capability.attribute for group in SECTIONS.values() for capability in group)


class CapabilityCard(ListDialog[None]):
    """Shows what this agent can do."""

    PLACE: ClassVar[Place] = "agent"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(place=PLACE)

    def __init__(self, facts: AgentFacts, forget: Callable[[], None] = lambda: None) -> None:
        """`forget` is called if the user wants to be asked again about what the agent doesn't ask for."""
        self.facts = facts
        self._forget = forget
        self._body = Static(markup=False)
        self._page = VerticalScroll(self._body, classes="dialog-body")
        forgets = "{agent_forget} forget what you decided · " if facts.unasked else ""
        keys = f"↑ ↓ PgUp PgDn scroll · {forgets}{{copy}} copy as text · {{dialog_close}} close"
        super().__init__(facts.title, keys, self._page)

    def on_mount(self) -> None:
        self._draw()
        self.set_focus(self._page)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self._page.scrollable_content_region.width
        self._body.update(card_text(self.facts, width))

    def show_login(self, words: str) -> None:
        """Show who is logged in, which may change while this is open."""
        self.facts = replace(self.facts, login=words)
        self._draw()

    def action_forget(self) -> None:
        """Ask again about what the agent doesn't ask for."""
        if self.facts.unasked:
            self._forget()
            self.facts = replace(self.facts, unasked={})
            self._draw()

    def action_copy(self) -> None:
        self.run_worker(copy(self, card_text(self.facts).plain))


def card_text(facts: AgentFacts, width: int = 0) -> Content:
    """The text of the card. What is wider than `width` goes on beside its label; with 0, nothing is wrapped."""
    unlabeled = partial(zip, repeat(Content()))
    prompt = [shown_line(facts.prompt_use, "$foreground-muted"), shown(facts.system_prompt)]
    sections: dict[str, Iterable[tuple[Content, Content]]] = {
        "": _identity(facts),
        "Your system prompt": unlabeled(prompt if facts.system_prompt else ()),
        **{name: [_line(each, facts.capabilities) for each in group] for name, group in SECTIONS.items()},
        "Its own extensions": [_custom(*each) for each in (facts.capabilities.meta or {}).items()],
        "Last lines of its log": unlabeled(map(shown_line, facts.log[-LOG_LINES:])),
    }
    sections["Login"] = [*map(_method, facts.auth_methods), *sections["Login"]]
    blocks = ((name, [_beside(*row, width) for row in rows]) for name, rows in sections.items())
    return Content("\n\n").join(
        Content("\n").join([*[Content.styled(name, "bold")] * bool(name), *rows]) for name, rows in blocks if rows
    )


def _beside(label: Content, text: Content, width: int) -> Content:
    cells = label.cell_length
    lines = text.wrap(max(width - cells, 1)) if width else [text]
    return label + Content("\n" + " " * cells).join(lines)


def _identity(facts: AgentFacts) -> list[tuple[Content, Content]]:
    pairs = (
        *facts.turn,
        ("Name", f"{facts.name} {facts.version}".strip()),
        ("Protocol", f"ACP {facts.protocol}"),
        *(facts.chain or (("Command", shlex.join(facts.command)),)),
        *((("Place", facts.place),) if facts.place else ()),
        *((("Logged in", facts.login),) if facts.login else ()),
        *facts.sandbox,
        *((("Terminal", INEXACT.format(lag_s=facts.lag_s)),) if facts.lag_s else ()),
        *facts.hosting,
        *(("Unasked", UNASKED[kind, may]) for kind, may in facts.unasked.items()),
    )
    cells = max(LABEL_CELLS, *(len(label) + 1 for label, _ in pairs))
    return [(Content.styled(label.ljust(cells), "$foreground-muted"), shown_line(value)) for label, value in pairs]


def _line(capability: Capability, offered: Any) -> tuple[Content, Content]:
    if getattr(offered, capability.attribute, False):
        return Content.styled("✓ ", "$text-success"), Content(capability.name)
    without = Content.styled(f": {capability.without}", "$foreground-muted")
    return Content.styled("✗ ", "$foreground-muted"), Content(capability.name) + without


def _method(method: AuthMethod) -> tuple[Content, Content]:
    how = " (in a terminal)" if method.kind == "terminal" else ""
    about = f": {method.description}" if method.description else ""
    return Content("· "), Content.assemble(shown_line(method.name), how, shown_line(about, "$foreground-muted"))


def _custom(key: str, value: Any) -> tuple[Content, Content]:
    compact = json.dumps(value, ensure_ascii=False, default=str)
    return Content("· "), shown_line(key) + shown_line(f"  {compact}", "$foreground-muted")


MAX_COLUMN_CELLS: Final = 24

Chosen: TypeAlias = tuple[str, str | bool]
"""An option's ID and its new value."""


class OptionsDialog(ListDialog["Chosen | None"]):
    """Returns the option and the value to ask the agent for, or None."""

    def __init__(self, options: Sequence[ConfigOption]) -> None:
        rows = FilteredList(_option_rows(options), has_search=False, empty="This agent has no options")
        keys = "{move_up} {move_down} move · {list_choose} change · {dialog_close} close"
        super().__init__("Options of the session", keys, rows)

    def on_screen_suspend(self) -> None:
        """Hide below the values: a second border would look like a part of theirs."""
        self.frame.visible = False

    def on_screen_resume(self) -> None:
        self.frame.visible = True

    @on(FilteredList.Chosen)
    def _change_option(self, message: FilteredList.Chosen) -> None:
        """Switch a boolean option at once; let the user choose among the values of others."""
        option: ConfigOption = message.row.value
        if isinstance(option, BooleanOption):
            self.dismiss((option.option_id, not option.value))
            return

        def take(value: str | None) -> None:
            if value is not None:
                self.dismiss((option.option_id, value))

        self.app.push_screen(value_picker(option), take)


def value_picker(option: SelectOption) -> Picker[str]:
    rows = [_choice_row(choice, option) for choice in option.choices]
    return Picker(option.name, rows, search=bool(rows), empty="The agent offers no values for it")


def _option_rows(options: Sequence[ConfigOption]) -> list[PickerRow[ConfigOption]]:
    names = aligned([make_visible_line(f"{option.name}:") for option in options], MAX_COLUMN_CELLS)
    values = aligned([make_visible_line(value_name(option)) for option in options], MAX_COLUMN_CELLS)
    return [
        PickerRow(option, f"{name} {value}", option.description or "")
        for option, name, value in zip(options, names, values, strict=True)
    ]


def _choice_row(choice: Choice, option: SelectOption) -> PickerRow[str]:
    caution = option.caution(choice)
    return PickerRow(
        choice.value,
        choice.name,
        ": ".join(filter(None, (caution, choice.description))),
        choice.group or "",
        is_current=choice.value == option.value,
        needs_care=bool(caution),
    )


Authenticate: TypeAlias = Callable[[AuthMethod], Awaitable[None]]
"""Asks the agent to log in. It may take minutes, and can be canceled. Raises ClientError."""


class LoginDialog(Dialog[AuthMethod | None]):
    """Returns the method that worked, or the chosen method if it needs a terminal; None if there was no login."""

    def __init__(
        self,
        agent_title: str,
        methods: Sequence[AuthMethod],
        authenticate: Authenticate,
        *,
        reason: str = "",
        tried: AuthMethod | None = None,
    ) -> None:
        """`reason` says why the agent asks for a login; without one, the user wants it, so that Enter is meant for it.

        The cursor begins on the method that was `tried` before.
        """
        self._authenticate = authenticate
        self._waiting: Worker[None] | None = None
        self._said = Static(classes="dialog-said", markup=False)
        self._guard = AnswerGuard(QuestionScreen.clock, self)
        self._is_writing = False
        """Whether the user types what is meant for the draft."""
        self._is_met = self.only_opens = not reason
        """Whether an Enter was pressed that was meant for this."""
        names = aligned([make_visible_line(method.name) for method in methods], MAX_COLUMN_CELLS)
        rows = FilteredList(
            [
                PickerRow(
                    method, name, _about(method), is_current=tried is not None and method.method_id == tried.method_id
                )
                for method, name in zip(methods, names, strict=True)
            ],
            has_search=False,
            empty="This agent lists no login methods: log in with its own program, then try again",
        )
        why = Static(shown(reason), classes="dialog-text", markup=False)
        why.display = bool(reason)
        keys = "{move_up} {move_down} move · {list_choose} log in · {dialog_close} cancel"
        super().__init__(f"Log in to {agent_title}", keys, why, rows, self._said)
        self.add_class(ASKING)

    def on_mount(self) -> None:
        self._guard.arm()

    def on_key(self, event: Key) -> None:
        """Put text into the draft, and drop the Enter after it: the dialog may come while the user types."""
        can_be_meant = self._guard.takes(event)
        if event.key != "enter":
            self._is_writing = self.write_key(event)
        elif self._is_writing or not self._is_met:
            self._is_met = can_be_meant and not (self._guard.is_early or self._is_writing)
            self._is_writing = False
            if not self._is_met:
                event.stop()
                self._said.update(Content.styled(self._guard.why_not("press it again"), "$text-warning"))

    @on(FilteredList.Chosen)
    def _use_method(self, message: FilteredList.Chosen) -> None:
        """Return a terminal method, which the caller handles; otherwise ask the agent to log in."""
        method: AuthMethod = message.row.value
        if self._waiting is not None:
            return
        if method.kind == "terminal":
            self.dismiss(method)
        else:
            self._waiting = self._log_in(method)

    @work
    async def _log_in(self, method: AuthMethod) -> None:
        waiting = keys_in_force(self).hint(WAITING)
        self._said.update(Content.styled(waiting, "$text-accent"))
        try:
            await self._authenticate(method)
        except ClientError as error:
            parts = filter(None, (str(error), error.detail, error.hint))
            self._said.update(shown("\n".join(parts), "$text-error"))
        else:
            self.dismiss(method)
        finally:
            self._waiting = None

    def action_close(self) -> None:
        """Stop waiting for the agent; if not waiting, close."""
        if self._waiting is None:
            self.dismiss(None)
            return
        self._waiting.cancel()
        self._said.update(keys_in_force(self).hint("Canceled. Choose again, or press {dialog_close} to leave"))


def _about(method: AuthMethod) -> str:
    return " · ".join(filter(None, (method.description, "in its own terminal" * (method.kind == "terminal"))))
