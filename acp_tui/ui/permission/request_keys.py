"""The keys and clicks that answer a permission request, docked or full screen. Doesn't know how it is drawn.

Which of them count, and which are text, is decided by `ui/kit/answer_guard`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Final, Protocol

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from acp_tui.client.line_comments import Comment
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.conversation.permission_requests import (
    LETTERS,
    Rejection,
    answer_of,
    keys_told,
    kind_word,
    starting_answer,
)
from acp_tui.conversation.request_outline import ShownRequest
from acp_tui.ui.commands.keys import keys_in_force
from acp_tui.ui.commands.table import PAGES, STEPS, bindings_of
from acp_tui.ui.kit.answer_guard import QuestionGuard, TakesText
from acp_tui.ui.permission.request_body import RequestBody
from acp_tui.ui.textual_gaps.internals import bindings_of_key, take_waiting_keys

NOT_CHOSEN: Final = "Choose with {next_field}, then press Enter"
"""The key that chooses on the full screen, too, where arrows scroll."""
CANCEL_TO_REFUSE: Final = "to refuse, cancel the turn"
BRIEF_CELLS: Final = 60
"""Below this width, the keys have short descriptions."""
ANSWER_KEYS: Final = frozenset("0123456789") | set(LETTERS.values())


class TakesDecisions(TakesText, Protocol):
    """Who acts on what the user decides on a request, or writes instead."""

    @property
    def comments(self) -> list[Comment]:
        """Those on lines, for the next prompt, which may be the reason for a rejection."""

    def answer_request(self, key: RequestKey, option_id: str) -> None:
        """Send the user's choice."""

    def ask_why(self, rejection: Rejection, typed: str, keys: Sequence[events.Key | events.Paste]) -> None:
        """Let the user write the reason, beginning with `typed`. Nothing is decided until that is sent."""


class AnswerableRequest(Vertical, can_focus=True):
    """A request that keys and clicks answer. Its body shows it."""

    body: RequestBody
    RAW_HINT = "press {raw} to see what else is reported: _meta"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("answer", "answer_by_kind", "confirm", "raw", "reject_and_say_why", at="card"),
        *bindings_of("field_before", "next_field", at="card"),
        *bindings_of(*STEPS, *PAGES, "read_on", "previous_file", "next_file"),
    ]

    def __init__(self, user: TakesDecisions, clock: Callable[[], float]) -> None:
        super().__init__()
        self.guard = QuestionGuard(self, clock)
        self.user = user
        self.clock = clock
        self._chosen: int | None = None

    def compose(self) -> ComposeResult:
        yield self.body

    @property
    def asked(self) -> ShownRequest | None:
        return self.body.asked

    @property
    def options(self) -> tuple[PermissionOption, ...]:
        return self.asked.request.answers if self.asked is not None else ()

    @property
    def has_room(self) -> bool:
        """Whether users see enough to answer here."""
        return self.body.rows is not None

    def note_request(self, asked: ShownRequest | None, *, is_other: bool) -> None:
        """Begin anew with another request."""
        if is_other and asked is not None:
            self._chosen = None
            # Unless the user turned to it, it came by itself, even to somebody who has just answered another.
            self.guard.is_unasked |= self.asked is None or asked.request.key != self.body.source.turned_to

    def watch_has_focus(self, has_focus: bool) -> None:
        """Rearm the guard, so that keys count only a moment after the focus arrives."""
        super().watch_has_focus(has_focus)
        self.guard.note_focus()
        self.body.warn("")

    def show_rest(self) -> None:
        """Show what the user has to see before answering."""
        self.body.go_to_unseen()

    @property
    def chosen(self) -> int | None:
        """The user's choice; where to start if the user came here without choosing one."""
        if self._chosen is None and not self.guard.is_unasked and self.has_focus:
            return starting_answer(self.options)
        return self._chosen

    def _ways_to_answer(self, *, is_cut: bool, has_more_files: bool, choose: Sequence[str] = ()) -> Iterator[str]:
        """The keys that lead on, also to other files and requests, and those that answer.

        `choose` has those of a choice for Enter, if something is chosen: not on a card that came by itself.
        """
        others = ["files"] * (has_more_files and bool(self.body.drawn.files))
        others += ["other requests"] * (self.asked is not None and self.asked.waiting > 1)
        yield from ["{page_down} more"] * is_cut
        yield from [f"{{previous_file}} {{next_file}} {', '.join(others)}"] if others else []
        yield from choose if self.chosen is not None else ["{next_field} choose"]
        why = "no + why" if self.content_size.width < BRIEF_CELLS else "reject and say why"
        yield CANCEL_TO_REFUSE if self._rejection is None else f"{{reject_and_say_why}} {why}"

    @property
    def _rejection(self) -> PermissionOption | None:
        return self.asked.request.rejection if self.asked is not None else None

    # What the user does

    def action_choose(self, step: int) -> None:
        """Move the choice, from the last option to the first. Nothing is chosen where the keyboard came by itself."""
        if not self.options:
            return
        if self.chosen is not None:
            self._chosen = (self.chosen + step) % len(self.options)
        else:
            self._chosen = len(self.options) - 1 if step < 0 else starting_answer(self.options) or 0
        self.warn("")

    def action_go_to_file(self, step: int) -> None:
        """Go to another file or request. Whoever does that has come here, and begins no text with this key."""
        self.guard.take_typed()
        self.guard.come()
        self.body.go_to_file(step)

    def action_page(self, direction: int) -> None:
        self.body.page(direction)

    def action_toggle_raw(self) -> None:
        self.body.toggle_raw()

    def action_choose_before(self) -> None:
        self.action_choose(-1)

    def action_confirm(self) -> None:
        """Answer with the chosen option; if none is chosen, say so."""
        if self.chosen is not None:
            self._answer(self.chosen, "press Enter again")
        elif not self.has_room:
            self.show_rest()
        else:
            self.guard.warn(keys_in_force(self).hint(NOT_CHOSEN))

    def action_answer(self, key: str) -> None:
        index = answer_of(self.options, key)
        if index is not None:
            self._answer(index, f"press {key} again")
        elif not self.has_room:
            self.show_rest()
        elif self._is_unclear(key):
            self.warn(f"{key} could mean several answers: press the number of one")

    def _is_unclear(self, letter: str) -> bool:
        """Whether the letter could mean several answers."""
        return sum(LETTERS.get(option.kind) == letter for option in self.options) > 1

    async def on_key(self, event: events.Key) -> None:
        self.body.show_changes()
        is_letter = event.key in LETTERS.values()  # it answers other requests, so it isn't the beginning of a text
        no_answer = f"No answer has that letter; these keys answer: {keys_told(self.options)}" if is_letter else ""
        option = self._option_of(event.key)
        rejects = option is not None and option.is_rejection
        # What decides and is no option says why not.
        decides = "" if option is not None and self._leads_on(option) else self._decision(event.key)
        await self.guard.take_key(event, decides, no_answer, rejects=rejects, asks_on=option is None)

    def _option_of(self, key: str) -> PermissionOption | None:
        """The answer that the key stands for; None if it stands for none."""
        index = answer_of(self.options, key) if key in ANSWER_KEYS else None
        return self.options[index] if index is not None else None

    def _decision(self, key: str) -> str:
        """What the key would decide; "" if it decides nothing, as without room, where it shows the request."""
        binding = self.binding_of(key)
        if binding is None or not self.has_room:
            return ""
        if key in ANSWER_KEYS:
            option = self._option_of(key)
            return "" if option is None else kind_word(option)
        return binding.description if binding.action == "reject_and_say_why" else ""

    def _leads_on(self, option: PermissionOption) -> bool:
        """Whether to choose it only shows what wasn't in view yet. That allows nothing, so it's never too soon."""
        return not option.is_rejection and self.body.has_more

    def binding_of(self, key: str) -> Binding | None:
        """The key's binding; None if it would do nothing here, as a number without an option."""
        if key in ANSWER_KEYS and self._option_of(key) is None and not self._is_unclear(key):
            return None
        binding = next(iter(bindings_of_key(self, key)), None)
        is_all = not self.body.drawn.files and (self.asked is None or self.asked.waiting == 1)
        idle = {"reject_and_say_why": self._rejection is None, "go_to_file(1)": is_all, "go_to_file(-1)": is_all}
        return None if binding is None or idle.get(binding.action) else binding

    def on_paste(self, event: events.Paste) -> None:
        self.guard.take_paste(event)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.body.show_changes()
        self.guard.press(event, self.body.option_at(event))

    def on_click(self, event: events.Click) -> None:
        self.body.show_changes()
        index = self.body.option_at(event)
        self.guard.click(index, partial(self._answer, index, "click again"))

    def action_reject_and_say_why(self) -> None:
        """Let the user write a reason, however soon the key came: the request waits until that is sent."""
        option = self._rejection
        if not self.has_room:
            self.show_rest()
        elif option is not None and self.asked is not None:
            rejection = Rejection(self.asked.request.key, option.option_id, self.asked.call.shown_title)
            # Other keys had an effect.
            typed = "".join(letter for letter in self.guard.take_typed() if letter in ANSWER_KEYS)
            self.user.ask_why(rejection, typed, self.make_way())

    def _answer(self, index: int | None, again: str) -> None:
        """Answer if the key or click can be a deliberate answer. If not, tell the user what to do."""
        if self.asked is None or index is None or index >= len(self.options):
            return
        option = self.options[index]
        self.guard.can_answer &= self.has_focus
        leads_on = self._leads_on(option)
        self.guard.is_early |= not self.body.drawing.seen.is_all_seen  # the terminal may have yet to show the end
        if not self.has_room:
            self.show_rest()
        elif leads_on or self.guard.may_answer(again, rejects=option.is_rejection):
            may_allow = option.is_rejection or self.body.may_allow(option.option_id, again)
            if may_allow and not leads_on:
                self.guard.take_typed()
                self.user.answer_request(self.asked.request.key, option.option_id)
            else:
                self.guard.arm()
                self.show_rest()

    def warn(self, text: str) -> None:
        self.body.warn(text)

    def write(self, text: str, *, is_paste: bool = False) -> None:
        self.user.write(text, self.make_way(), is_paste=is_paste)

    def make_way(self) -> Sequence[events.Key | events.Paste]:
        """Uncover the prompt. Returns the keys that wait here."""
        return take_waiting_keys(self)
