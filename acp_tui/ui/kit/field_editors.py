"""Edits one field of a form: title, hint, control, and error. `client.form_answers` validates the answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from acp_tui.client.form_answers import Raw, pattern_note
from acp_tui.client.secrets.questions import field_asks_for_secret
from acp_tui.conversation import elicitation
from acp_tui.conversation.visible import make_visible, make_visible_line
from acp_tui.ui.commands.table import STEPS, bindings_of
from acp_tui.ui.kit.dialog import shown, shown_line
from acp_tui.ui.kit.row_list import GAP, MAX_NUMBERED, NO_ROW, PickerRow, RowList
from acp_tui.ui.rendering.wrapping import width_cells

MAX_ROWS: Final = 8


class ChoiceRows(RowList, can_focus=True):
    """Rows to choose from. There is no cursor until the user moves it."""

    PLACE: Final = "choices"
    BINDINGS = bindings_of(*STEPS, place=PLACE)
    mark_cells = 4
    card_takes_numbers = reactive(False)
    """Whether a number counts on the card, without the focus here."""

    class Moved(Message):
        """The cursor moved, or the choice changed."""

    class Finished(Message):
        """The user is done with these rows."""

    def __init__(self, rows: Sequence[PickerRow[str]], chosen: Iterable[str] = (), *, is_multi: bool) -> None:
        super().__init__(most_rows=MAX_ROWS)
        self._choices = rows
        self.numbers = f"1-{min(len(rows), MAX_NUMBERED)}" if len(rows) > 1 else "1"
        self.is_multi = is_multi
        self._chosen = {row.value for row in rows} & set(chosen)

    def on_mount(self) -> None:
        super().on_mount()
        values = [row.value for row in self._choices]
        start = min(map(values.index, self._chosen), default=NO_ROW)
        self.show(self._choices, start if self.can_focus else NO_ROW)  # a cursor there would be what Enter sends

    def show_whole(self) -> None:
        """Show all rows without scrolling, and leave the keys to the parent. Call it before mounting."""
        self.can_focus = False
        self._rows_around = self._rows_around_low = -len(self._choices)
        self._most_rows = len(self._choices)

    def choose(self, index: int) -> None:
        """Choose this row; with `is_multi`, toggle it."""
        value = self.rows[index].value
        if self.is_multi:
            self._chosen ^= {value}
        else:
            self._chosen = {value}
        self.move_to(index)
        self._changed()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the numbers, or hide them."""
        super().watch_has_focus(has_focus)
        self.refresh()

    @property
    def chosen(self) -> list[str]:
        """The chosen values, in display order."""
        return [row.value for row in self._choices if row.value in self._chosen]

    @property
    def cut_text(self) -> str:
        """The full text of the row under the cursor if it was cut; otherwise ""."""
        if self.row is None:
            return ""
        parts = [part for part in (self.row.label, self.row.description) if part]
        cells = width_cells(make_visible_line(GAP.join(parts)))
        return "\n".join(parts) if cells > self.scrollable_content_region.width - self.mark_cells else ""

    def mark_of(self, index: int) -> str:
        """The row's number while its key works, and a mark: round if one can be chosen, square if several can."""
        on, off = ("■ ", "□ ") if self.is_multi else ("◉ ", "○ ")
        takes_number = index < MAX_NUMBERED and (self.has_focus or self.card_takes_numbers)
        number = f"{index + 1} " if takes_number else "  "
        return number + (on if self.rows[index].value in self._chosen else off)

    def action_number(self, number: int) -> None:
        """Choose the row with this number; toggle it if several can be chosen. The focus stays here."""
        if number <= len(self.rows):
            self.choose(number - 1)

    def action_move(self, step: int) -> None:
        """Move the cursor, without choosing."""
        self.move(step)
        self.post_message(self.Moved())

    @on(RowList.Clicked)
    def action_choose(self) -> None:
        """Toggle the row under the cursor. Without a cursor, only show it."""
        if self.row is None:
            self.action_move(1)
            return
        value = self.row.value
        others = self._chosen - {value} if self.is_multi else set()
        self._chosen = others if value in self._chosen else {*others, value}
        self._changed()

    def action_finish(self) -> None:
        """Finish. If only one can be chosen, choose the row under the cursor."""
        if self.row is not None and not self.is_multi:
            self._chosen = {self.row.value}
            self._changed()
        self.post_message(self.Finished())

    def action_clear(self) -> None:
        self._chosen = set()
        self.cursor = NO_ROW
        self._changed()

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved())


SECRET_WARNING: Final = "This looks like a secret. The agent and its model would see it."
YES_NO: Final = (PickerRow("true", "Yes"), PickerRow("false", "No"))
_FORMAT_HINTS: Final = {
    "email": "an e-mail address",
    "uri": "an address such as https://example.org",
    "date": "a date such as 2026-01-31",
    "date-time": "a date and time such as 2026-01-31T13:45:00Z",
}
MAX_SHOWN_RAW: Final = 400


class FieldEditor(Vertical):
    DEFAULT_CSS = "FieldEditor, FieldEditor > Static { height: auto; }"

    def __init__(self, field: elicitation.Field) -> None:
        super().__init__()
        self.field = field
        self.control = _control_for(field)
        self._more = Static(classes="field-about", markup=False)
        self._wrong = Static(classes="field-wrong", markup=False)
        self._judged: Raw = None
        """The answer that was invalid."""

    def compose(self) -> ComposeResult:
        yield Static(_title(self.field), classes="field-title", markup=False)
        # If the control leaves its keys to the card, the card lists them.
        about = _about(self.field, _hint(self.field) if self.control.can_focus else "")
        if about is not None:
            yield Static(about, classes="field-about", markup=False)
        if field_asks_for_secret(self.field):
            yield Static(f"⚠ {SECRET_WARNING}", classes="field-warning", markup=False)
        yield self.control
        yield self._more
        yield self._wrong

    def on_mount(self) -> None:
        self._more.display = self._wrong.display = False

    @property
    def raw(self) -> Raw:
        match self.control:
            case Input():
                return self.control.value
            case TextArea():
                return self.control.text
            case ChoiceRows():
                return self._choice(self.control.chosen)
        return None

    def _choice(self, chosen: list[str]) -> Raw:
        if isinstance(self.field, elicitation.MultiChoiceField):
            return chosen
        if isinstance(self.field, elicitation.BooleanField):
            return chosen == ["true"] if chosen else None
        return chosen[0] if chosen else None

    def focus_control(self) -> None:
        self.screen.set_focus(self.control)  # at once, because the next key is for it
        self.reveal()

    @on(events.DescendantFocus)
    def reveal(self) -> None:
        """Scroll the whole field into view, or at least what the user answers with, and what is wrong with that."""
        for part in (self, self.control, *([self._wrong] * self._wrong.display)):
            self.call_after_refresh(part.scroll_visible, animate=False, immediate=True)

    def show_wrong(self, what: str) -> None:
        """Show why the current answer is invalid, until it changes; "" for valid."""
        self._judged = self.raw
        self._wrong.update(shown_line(f"✗ {what}", "$text-error"))
        self._wrong.display = bool(what)

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _forgive(self) -> None:
        if self.control.has_focus:
            self.reveal()
        # The event may arrive late, when the changed answer has already been validated.
        if self._wrong.display and self.raw != self._judged:
            self.show_wrong("")

    @on(ChoiceRows.Moved)
    def _show_row(self, event: ChoiceRows.Moved) -> None:
        """Hide the error if the answer changed, and show the full text of a row that was cut."""
        event.stop()
        self._forgive()
        assert isinstance(self.control, ChoiceRows)
        self._more.update(shown(self.control.cut_text))
        self._more.display = bool(self.control.cut_text)
        if self._more.display:
            self.reveal()


def name_of(field: elicitation.Field) -> str:
    title = None if isinstance(field, elicitation.UnknownField) else field.title
    return title or field.name


def _title(field: elicitation.Field) -> Content:
    required = ("  required", "$text-warning") if field.is_required else ("  optional", "$foreground-muted")
    return Content.assemble(shown_line(name_of(field), "bold"), required)


def _about(field: elicitation.Field, hint: str) -> Content | None:
    if isinstance(field, elicitation.UnknownField):
        raw = json.dumps(field.raw, ensure_ascii=False, default=str)
        cut = raw if len(raw) <= MAX_SHOWN_RAW else raw[:MAX_SHOWN_RAW] + " …"
        return shown(f"Can't be answered here ({field.kind}): {cut}")
    lines = [field.description or "", hint]
    if isinstance(field, elicitation.TextField) and not _is_plain(field.default or ""):
        lines.append(f"The agent's default contains invisible characters, so it isn't filled in: {field.default}")
    return shown("\n".join(filter(None, lines))) if any(lines) else None


def _hint(field: elicitation.Field) -> str:
    match field:
        case elicitation.TextField():
            parts = [
                _FORMAT_HINTS.get(field.format or "", ""),
                _span(field.min_length, field.max_length, "characters"),
                pattern_note(field),
            ]
        case elicitation.NumberField():
            kind = "a whole number" if field.is_integer else "a number"
            parts = [kind, _span(_shortest(field.minimum), _shortest(field.maximum), "")]
        case elicitation.MultiChoiceField():
            parts = [_span(field.min_items, field.max_items, "of them")]
        case elicitation.ChoiceField() | elicitation.BooleanField() | elicitation.UnknownField():
            parts = []
    return " · ".join(filter(None, parts))


def _span(least: float | None, most: float | None, what: str) -> str:
    if least is None and most is None:
        return ""
    if most is None:
        words = f"at least {least}"
    elif least is None:
        words = f"at most {most}"
    else:
        words = f"{least} to {most}"
    return f"{words} {what}".rstrip()


def _shortest(number: float | None) -> float | None:
    """2 for 2.0."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _is_plain(text: str) -> bool:
    return make_visible(text) == text


def _control_for(field: elicitation.Field) -> Widget:
    match field:
        case elicitation.TextField():
            text = field.default if field.default is not None and _is_plain(field.default) else ""
            if "\n" not in text and "\t" not in text:
                return _line(text)
            return TextArea(text, compact=True, highlight_cursor_line=False)
        case elicitation.NumberField():
            return _line(_number_text(field))
        case elicitation.BooleanField():
            chosen = () if field.default is None else ("true" if field.default else "false",)
            return ChoiceRows(YES_NO, chosen, is_multi=False)
        case elicitation.ChoiceField():
            chosen = () if field.default is None else (field.default,)
            return ChoiceRows(_rows(field.choices), chosen, is_multi=False)
        case elicitation.MultiChoiceField():
            return ChoiceRows(_rows(field.choices), field.default, is_multi=True)
        case elicitation.UnknownField():
            return Static()


def _line(text: str) -> Input:
    return Input(text, compact=True, select_on_focus=False)


def _number_text(field: elicitation.NumberField) -> str:
    if field.default is None:
        return ""
    is_whole = field.is_integer and float(field.default).is_integer()
    return str(int(field.default) if is_whole else field.default)


def _rows(choices: tuple[elicitation.FieldChoice, ...]) -> list[PickerRow[str]]:
    return [PickerRow(choice.value, choice.title, choice.description or "") for choice in choices]
