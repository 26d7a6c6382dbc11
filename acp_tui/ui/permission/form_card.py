"""A form or page that the agent asks about, docked above the prompt.

Reports the answer. `client.form_answers` validates fields, the guard checks keys, and nothing is fetched (R-ELIC-11).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from acp_tui.client.form_answers import check_all
from acp_tui.client.secrets.questions import form_asks_for_secret
from acp_tui.conversation import GUARD_S, elicitation
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.web_address import host_of, is_openable, split_at_host, warnings_of
from acp_tui.ui.commands.keys import keys_in_force, keys_of
from acp_tui.ui.commands.table import PAGES, STEPS, bindings_of
from acp_tui.ui.kit.answer_guard import STRAYED, QuestionGuard, TakesText
from acp_tui.ui.kit.desktop import copy
from acp_tui.ui.kit.dialog import key_lines, shown, shown_line
from acp_tui.ui.kit.field_editors import SECRET_WARNING, ChoiceRows, FieldEditor, name_of
from acp_tui.ui.kit.notice_lines import ASKING, AskingChanged
from acp_tui.ui.rendering.wrapping import cut
from acp_tui.ui.textual_gaps.internals import bindings_of_key, press_in, take_waiting_keys

MAX_TITLE_CELLS: Final = 30
"""The maximum width of the agent's name, so that the number of waiting questions stays in view."""
FRAME_FROM_ROWS: Final = 14
"""On a lower screen, the card has no frame, as a request has none on its full screen."""
KEYS_OF_ALL: Final = frozenset({"escape", "tab", "shift+tab", "ctrl+s", "pageup", "pagedown"})
"""These keys act on the card, whichever field has the focus."""


class Parts(Vertical):
    """Fields or buttons of the card. Records which keys bubble up from them."""

    DEFAULT_CSS = "Parts { height: auto; }"

    def __init__(self, bubbling: set[events.Event], widget_id: str | None = None) -> None:
        super().__init__(id=widget_id)
        self._bubbling = bubbling

    @on(events.Key)
    @on(events.Paste)
    def _record(self, event: events.Key | events.Paste) -> None:
        self._bubbling.add(event)


class FormCard(VerticalScroll, can_focus=True):
    """One question. Only a deliberate key or click accepts it, and only if all fields are valid.

    It can appear while the user is typing. So letters go to the prompt until the user has moved to a field, and no key
    counts right after letters. A number answers a page, or a form with a single choice; it chooses in a first field.
    """

    # What it asks scrolls between who asks, above, and the buttons and keys, below.
    DEFAULT_CSS = """
    FormCard { height: auto; }
    FormCard > #asker { dock: top; text-wrap: nowrap; text-overflow: ellipsis; }
    FormCard > #foot { dock: bottom; }
    """

    PLACE: Final = "question"
    BINDINGS = bindings_of(*STEPS, *PAGES, "read_on", place=PLACE)

    def __init__(
        self,
        asked: elicitation.Elicitation,
        agent_title: str,
        answer: Callable[[ElicitationAction, elicitation.FormValues | None], None],
        below: TakesText,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`answer` is called once, with the user's decision."""
        super().__init__(classes=ASKING)
        self.asked = asked
        self.guard = QuestionGuard(self, clock)
        self._agent_title = agent_title
        self._answer = answer
        self._below = below
        self._count = 1
        self._editors = [FieldEditor(field) for field in asked.fields] if isinstance(asked, elicitation.Form) else []
        self._first = next((each.control for each in self._editors[:1] if isinstance(each.control, ChoiceRows)), None)
        """The rows of the first field, if it has any. Until the user goes to a field, a number chooses one."""
        self._rows = None if self._first is None or self._first.is_multi or self._editors[1:] else self._first
        """Those of a form with a single choice. They belong to the card, where a number is an answer."""
        if self._rows is not None:
            self._rows.show_whole()
        self._leads_to_field = self._rows is None and bool(self._editors)
        """Whether Tab is meant for the first field, because the question itself takes no answers."""
        self._seen = set[FieldEditor]()
        """The fields whose answer was in view whole, or that had the focus: some don't fit."""
        self._bubbling = set[events.Event]()
        """Keys that a field or button has had before the card."""
        self._parts, self._foot = Parts(self._bubbling), Parts(self._bubbling, "foot")
        self._title, self._keys = Static(id="asker", markup=False), Static(id="keys", markup=False)
        self._said = Static(classes="dialog-warning", markup=False)
        self.is_answered = False
        """Whether the user has answered. If not, a question that disappears was withdrawn."""
        self._has_keyboard = False
        self._warning = self._told = ""

    # What it shows

    def compose(self) -> ComposeResult:
        yield self._title
        with self._parts:
            yield self._said
            yield Static(Content("\n").join(self._head()), classes="dialog-head", markup=False)
            yield from self._editors
        with self._foot:
            yield Horizontal(*self._buttons(), classes="dialog-buttons")
            yield self._keys

    def _head(self) -> Iterator[Content]:
        match self.asked:
            case elicitation.Form():
                texts = (self.asked.title, self.asked.message, self.asked.description)
                yield from (shown(text) for text in texts if text)
                if form_asks_for_secret(self.asked):
                    yield shown_line(f"⚠ {SECRET_WARNING}", "$text-warning")
            case elicitation.UrlVisit(message=message, url=url):
                yield shown(message)
                host = shown_line(host_of(url) or "none", "bold")
                yield Content.assemble(("Host  ", "$foreground-muted"), host)
                yield Content.assemble(("Page  ", "$foreground-muted"), marked_url(url))
                yield from (Content.styled(f"⚠ {warning}", "$text-warning") for warning in warnings_of(url))

    def _buttons(self) -> Iterator[Button]:
        if isinstance(self.asked, elicitation.UrlVisit):
            accept = Button("1 Open in the browser", id="accept", compact=True)
            accept.disabled = not is_openable(self.asked.url)
        else:
            accept = Button("Send", id="accept", compact=True)
            accept.disabled = bool(self._unanswerable)
        yield accept
        yield Button("0 Decline", id="decline", compact=True)
        yield Button("Cancel", id="cancel", compact=True)

    @property
    def _unanswerable(self) -> list[str]:
        fields = [editor.field for editor in self._editors]
        return [name_of(field) for field in fields if isinstance(field, elicitation.UnknownField) and field.is_required]

    def on_mount(self) -> None:
        """Report at once what can never be sent (R-ELIC-7), and move other things off the question."""
        names = ", ".join(f"“{name}”" for name in self._unanswerable)
        why = f"Can't send this: {names} is required, but it can't be answered here. Decline or cancel."
        self._said.display = bool(names)
        self._said.update(shown_line(why, "$text-warning"))
        AskingChanged.tell(self)
        self.show_count(self._count)
        # The card is visible again only once the screens above it are gone.
        self.watch(self.screen, "stack_updates", self.guard.arm)
        self.watch(self, "scroll_y", self._show_title, init=False)

    def _note_in_view(self) -> None:
        if self.is_attached and self.screen.is_current:  # the question may be gone by now
            shows = self._window.contains_region
            self._seen |= {each for each in self._answerable if each.control.has_focus or shows(each.control.region)}

    def show_count(self, count: int) -> None:
        """Show how many questions are waiting, including this one."""
        self._count = count
        self._show_title()
        self._show_keys()

    def _show_title(self) -> None:
        """Show who asks, and how the question begins where it isn't in view."""
        what = " asks you to visit a page" if isinstance(self.asked, elicitation.UrlVisit) else " asks"
        more = f"  1 of {self._count:,}" if self._count > 1 else ""
        begins = self.asked.message.strip().partition("\n")[0] if self.scroll_offset.y else ""
        title = shown_line(cut(make_visible_line(self._agent_title), MAX_TITLE_CELLS), "bold $text-warning")
        question = shown_line(f": {begins}" if begins else "")
        self._title.update(Content.assemble(title, (what, "bold"), (more, "$foreground-muted"), question))
        self.call_after_refresh(self._note_in_view)

    def _show_keys(self) -> None:
        """Show the keys that apply now. A warning replaces them, and the buttons don't move for it."""
        if self._first is not None:
            is_in_part = self._has_keyboard and self.screen.focused is not self
            self._first.card_takes_numbers = self._rows is not None or not is_in_part
        lines = key_lines(self._keys_told(), max(self.content_size.width, 1), self.app.size.height)
        if self.has_class("-bare"):
            lines = lines[:1]
        keys = "" if self._has_keyboard else " ".join(self.guard.strayed)
        strayed = STRAYED.format(keys=keys, where="your prompt", way_in="{leave_prompt}") if keys else ""
        warning = self._warning or keys_in_force(self).hint(strayed)
        told = "\n".join([warning, *[" "] * (len(lines) - 1)] if warning else lines)
        if told.count("\n") != self._told.count("\n"):
            self.guard.note_move()
        self._told = told
        self._keys.update(Content.styled(told, "$text-warning" if warning else "$foreground-muted"))

    def _keys_told(self) -> list[str]:
        hint = keys_in_force(self).hint
        if not self._has_keyboard:
            return [hint("{leave_prompt} to answer")]
        back, send, decline = hint("{leave_question} back"), hint("{send_form} send"), "0 decline"
        if self.screen.focused is not self:
            return [*self._keys_in_part(), back]
        if isinstance(self.asked, elicitation.UrlVisit):
            return ["1 open", decline, back, hint("{copy} copy the address")]
        if self._rows is not None:
            return [f"{self._rows.numbers} ↑↓ Enter answer", decline, back]
        choose = [] if self._first is None else [f"{self._first.numbers} choose"]
        return [*choose, hint("{next_field} fill in"), decline, back, send]

    def _keys_in_part(self) -> list[str]:
        """The keys of the field or button that has the focus."""
        hint, focused = keys_in_force(self).hint, self.screen.focused
        next_field, send = hint("{next_field} next"), hint("{send_form} send")
        if isinstance(focused, Button):
            return ["Enter answer"]
        if isinstance(focused, TextArea):  # Enter starts a new line
            return [next_field, send]
        choose = [f"{focused.numbers} Space choose"] if isinstance(focused, ChoiceRows) else []
        if focused is self._answerable[-1].control:
            return [*choose, "Enter send", next_field]
        return [*choose, hint("Enter {next_field} next"), send]

    @property
    def _answerable(self) -> list[FieldEditor]:
        return [editor for editor in self._editors if not isinstance(editor.field, elicitation.UnknownField)]

    def warn(self, text: str) -> None:
        """Show this in place of the keys; "" shows the keys again."""
        self._warning = text
        self._show_keys()

    # The keyboard

    def enter(self) -> None:
        """Focus the card at the user's request; the first field if the key wasn't one of several pressed in a row."""
        keys = keys_of(self)
        is_meant = self.guard.is_open and keys is not None and keys.pause_s >= GUARD_S
        self.guard.enter(self._stops[1] if is_meant and self._leads_to_field else self)

    @property
    def _stops(self) -> list[Widget]:
        """The widgets that Tab visits, beginning with the card itself."""
        return [self, *(each for each in self.screen.focus_chain if self in each.ancestors)]

    @on(events.Focus)
    @on(events.Blur)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _note_focus(self) -> None:
        """Note whether the card, or a field of it, receives keys now."""
        had, self._has_keyboard = self._has_keyboard, self.has_focus_within
        self.guard.had_keyboard |= self._has_keyboard
        if self._has_keyboard != had:
            self._warning = ""
        if self._has_keyboard and not had:
            self.guard.take_typed()
            self.guard.note_focus()
        self._note_in_view()
        self._show_keys()

    def on_resize(self) -> None:
        self.set_class(self.app.size.height < FRAME_FROM_ROWS, "-bare")
        self.guard.note_move()
        self.call_after_refresh(self._show_keys)
        for editor in self._editors:
            if editor.control.has_focus:
                self.call_after_refresh(editor.reveal)

    async def on_key(self, event: events.Key) -> None:
        if not self.guard.is_bound_above(event.key):
            event.stop()  # the app would act on it in the widget that has the focus by then
        if event in self._bubbling:
            self._bubbling.remove(event)
            await self._take_key_of_part(event)
        elif self.screen.focused is self:
            chooses = self._first is not self._rows and event.key != "0"
            decides = f"{event.key} {'chooses' if chooses else 'answers'}" if event.key.isdecimal() else ""
            await self.guard.take_key(event, decides, rejects=event.key == "0")
        else:  # it was on its way here when the focus moved
            event.stop()
            keys = keys_of(self)
            if self.screen.focused is not None and not (keys is not None and keys.is_stray(event)):
                press_in(self.screen.focused, event)

    async def _take_key_of_part(self, event: events.Key) -> None:
        """Handle a key that a field or a button didn't use: now, because the next one may be for another field."""
        self.guard.takes(event)
        focused, fields = self.screen.focused, self._answerable
        at = next((at for at, field in enumerate(fields) if field.control is focused), len(fields))
        own = next((each for field in fields[at : at + 1] for each in bindings_of_key(field.control, event.key)), None)
        is_on_button = event.key == "enter" and isinstance(focused, Button)
        is_of_all = event.key in KEYS_OF_ALL or (event.key in ("up", "down") and own is None)
        binding = self._binding(event.key) if is_on_button or is_of_all else None
        if event.is_printable or own is not None:
            event.stop()
        if own is not None and isinstance(focused, ChoiceRows):
            await focused.run_action(own.action)
        if binding is not None:
            await self.guard.act(event, binding.action)
        elif event.key == "enter" and own is not None and at + 1 < len(fields):
            fields[at + 1].focus_control()
        elif event.key == "enter" and own is not None:
            await self.guard.act(event, "send")

    def binding_of(self, key: str) -> Binding | None:
        """The key's binding when no field has the focus. A number that answers nothing has none."""
        if key == "c" and not isinstance(self.asked, elicitation.UrlVisit):
            return None
        rows = self._first.rows if self._first is not None else ()
        last = 1 if isinstance(self.asked, elicitation.UrlVisit) else len(rows)
        return None if key.isdecimal() and int(key) > last else self._binding(key)

    def _binding(self, key: str) -> Binding | None:
        return next(iter(bindings_of_key(self, key)), None)

    def on_paste(self, event: events.Paste) -> None:
        """Send text pasted on the card itself to the prompt. Fields have taken theirs."""
        if event in self._bubbling:
            self._bubbling.remove(event)
            event.stop()
            self.guard.takes(event)
        else:
            self.guard.take_paste(event)

    def write(self, text: str, *, is_paste: bool = False) -> None:
        self._below.write(text, take_waiting_keys(self), is_paste=is_paste)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.guard.press(event, self.screen.get_widget_at(*event.screen_offset)[0])

    # What the user does

    def action_leave(self) -> None:
        """Return to the prompt. The question waits."""
        self._below.leave()

    def action_go(self, step: int) -> None:
        """Go to the next field or button, or to the conversation. It decides nothing, so it's never too soon."""
        stops = self._stops
        at = stops.index(self.screen.focused) if self.screen.focused in stops else 0
        has_just_come = self.guard.is_unasked and not self.guard.can_answer
        if at == 0 and step < 0:
            self._below.leave(to_read=True)
        elif at or not has_just_come or self._leads_to_field:  # otherwise, the key was pressed to get here
            self.screen.set_focus(stops[(at + step) % len(stops)])

    def action_move(self, step: int) -> None:
        """Move the cursor over the rows that answer; if there are none, scroll."""
        if self._rows is None:
            self.scroll_relative(y=step, animate=False)
        else:
            self._rows.action_move(step)
            self.warn("")
            self._reveal_row(self._rows.cursor)

    def action_page(self, direction: int) -> None:
        """Scroll by a page: up for -1, down for 1."""
        self.scroll_relative(y=direction * self._window.height, animate=False)

    def action_confirm(self) -> None:
        """Answer with the focused button, or with the row under the cursor; without either, do nothing."""
        if isinstance(self.screen.focused, Button):
            self._answer_by(self.screen.focused)
        elif self._rows is not None and self._rows.row is not None:
            self._answer_with(self._rows.cursor, "press Enter again")

    def action_number(self, number: int) -> None:
        if isinstance(self.asked, elicitation.UrlVisit):
            self._accept_page(f"press {number} again")
        elif self._rows is not None:
            self._answer_with(number - 1, f"press {number} again")
        elif self._first is not None and self.guard.may_answer(f"press {number} again"):
            self.guard.enter(self._first)
            self._first.choose(number - 1)

    def _answer_with(self, index: int, again: str) -> None:
        assert self._rows is not None
        if not self.guard.may_answer(again):
            return
        if not self._window.contains_region(self._at(index)):
            self._reveal_row(index)
            self.guard.arm()
            self.guard.warn(f"You hadn't seen that row: {again}")
            return
        self._rows.choose(index)
        self._send()

    def _at(self, index: int) -> Region:
        """Where a row is on the screen."""
        assert self._rows is not None
        region = self._rows.region
        return Region(region.x, region.y + index, 1, 1)

    @property
    def _window(self) -> Region:
        """Where what scrolls is in view: between the title and the buttons."""
        return self.content_region.shrink(self._parts.dock_gutter)

    def _reveal_row(self, index: int) -> None:
        """Scroll a row into view."""
        within = self._at(index).translate(self.scroll_offset - self.content_region.offset)
        self.scroll_to_region(within, spacing=self._parts.dock_gutter, animate=False)

    def action_send(self) -> None:
        """Send a form if all fields are valid. A page is opened by its own key."""
        is_sendable = isinstance(self.asked, elicitation.Form) and not self._unanswerable
        if is_sendable and self.guard.may_answer("press it again"):
            self._send()

    def _send(self) -> None:
        """Send the form if all fields are valid, and were in view. Otherwise go to the first one that isn't."""
        raw = {editor.field.name: editor.raw for editor in self._editors}
        values, wrong = check_all([editor.field for editor in self._editors], raw)
        for editor in self._editors:
            editor.show_wrong(wrong.get(editor.field.name, ""))
        unseen = set(self._answerable) - self._seen if self._rows is None else set[FieldEditor]()
        first = next((each for each in self._editors if each.field.name in wrong or each in unseen), None)
        if first is None:
            self._give("accept", values)
        elif self._rows is not None:
            first.reveal()
        else:
            first.focus_control()
            if first in unseen:
                self.guard.arm()
                self.guard.warn("You hadn't seen this field: read on, then send again")

    def action_decline(self) -> None:
        if self.guard.may_answer("press 0 again", rejects=True):
            self._give("decline", None)

    def action_copy(self) -> None:
        """Copy the address, for a browser on another machine."""
        if isinstance(self.asked, elicitation.UrlVisit):
            self.run_worker(copy(self.screen, make_visible_line(self.asked.url)))

    def _accept_page(self, again: str) -> None:
        is_acceptable = isinstance(self.asked, elicitation.UrlVisit) and is_openable(self.asked.url)
        if is_acceptable and self.guard.may_answer(again):
            self._give("accept", None)

    def _answer_by(self, button: Button) -> None:
        """Give the answer of this button, if it was pressed on purpose."""
        if button.id == "accept":
            self.action_send()
            self._accept_page("press it again")
        elif self.guard.may_answer("press it again", rejects=True):
            self._give("decline" if button.id == "decline" else "cancel", None)

    def _give(self, action: ElicitationAction, values: elicitation.FormValues | None) -> None:
        if not self.is_answered:
            self.is_answered = True
            self._answer(action, values)

    # Events of its fields and buttons

    @on(Button.Pressed)
    def _answer_by_click(self, event: Button.Pressed) -> None:
        """Handle a mouse click. Keys were handled before."""
        event.stop()
        self.guard.click(event.button, partial(self._answer_by, event.button))

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _note_text(self, event: Input.Changed | TextArea.Changed) -> None:
        """Note that the user writes into a field, so what follows is meant for this form."""
        event.stop()
        if event.control is self.screen.focused:
            self.guard.note_text()


def marked_url(url: str) -> Content:
    """The whole address, with its host emphasized."""
    before, host, after = split_at_host(url)
    return Content.assemble(shown_line(before), shown_line(host, "bold $text-accent"), shown_line(after))
