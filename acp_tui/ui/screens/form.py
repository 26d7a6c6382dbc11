"""A form that an agent asks the user to fill in; what is right for a field, `client.form_answers` knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static, TextArea

from acp_tui.client.form_answers import check_all
from acp_tui.client.secrets.questions import form_asks_for_secret
from acp_tui.conversation.elicitation import Form, FormValues, UnknownField
from acp_tui.ui.asking import ASKING
from acp_tui.ui.screens.question_screen import QuestionScreen
from acp_tui.ui.widgets.fields.editors import SECRET_WARNING, FieldEditor, name_of
from acp_tui.ui.widgets.fields.frame import Frame, shown, shown_line

Answered: TypeAlias = tuple[Literal["accept", "decline", "cancel"], FormValues | None]
"""What to answer, and for accept the values."""


KEYS: Final = "Tab, Enter next field · Enter on the last, Ctrl+Enter send · Esc cancel"
KEYS_BEFORE: Final = "Tab fill in · Ctrl+Enter send · Esc cancel"
"""Until the user has gone to a field."""


class FormDialog(QuestionScreen[Answered]):
    """Gives the user's answer; it is accepted only by a key or a button meant for that, and only when all fits.

    It comes unasked, in the midst of what the user writes: no field takes a letter before the user has gone to it, and
    no key counts that comes with the letters.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("ctrl+enter", "accept", "Send", show=False),
        Binding("tab", "go_on", "Next field", show=False),
    ]

    def __init__(
        self, form: Form, agent_title: str, on_typed: Callable[[str], None] = lambda _: None
    ) -> None:
        """`on_typed` gets what is typed before the user has gone to a field: it was meant for something else."""
        super().__init__()
        self.add_class(ASKING)
        self._on_typed = on_typed
        self._form = form
        self._agent_title = agent_title
        self._editors: list[FieldEditor] = []
        self._is_enter_meant = False
        """Whether the key that came last can be an answer; what an Enter does in a field comes a moment later."""
        self._said = Static(classes="dialog-warning", markup=False)

    def compose(self) -> ComposeResult:
        """Who asks what, the fields, and the answers."""
        self._editors = [FieldEditor(field) for field in self._form.fields]
        head = [
            shown(text) for text in (self._form.title, self._form.message, self._form.description) if text
        ]
        if form_asks_for_secret(self._form):
            head.append(shown_line(f"⚠ {SECRET_WARNING}", "$text-warning"))
        send = Button("Send", id="accept", compact=True)
        send.disabled = bool(self._unanswerable)
        yield Frame(
            Content.assemble(shown_line(self._agent_title), " asks"),
            KEYS_BEFORE,
            VerticalScroll(
                self._said,
                Static(Content("\n").join(head), classes="dialog-head", markup=False),
                *self._editors,
                classes="dialog-body",
            ),
            Horizontal(send, Button("Decline", id="decline", compact=True), classes="dialog-buttons"),
        )

    @property
    def _unanswerable(self) -> list[str]:
        fields = self._form.fields
        return [name_of(field) for field in fields if isinstance(field, UnknownField) and field.is_required]

    def on_mount(self) -> None:
        """Begin beside the fields; say at once what can never be sent (R-ELIC-7)."""
        self._body.focus()
        self._say_unanswerable()

    @property
    def _body(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def _say_unanswerable(self) -> None:
        names = ", ".join(f"“{name}”" for name in self._unanswerable)
        why = f"This cannot be sent: {names} is required and of a kind that cannot be answered here. Decline or cancel."
        self._said.display = bool(names)
        self._said.update(shown_line(why, "$text-warning"))

    # What the user does

    async def on_key(self, event: events.Key) -> None:
        """Pass on what was not written into a field; the key's own meaning comes after this, from the class above."""
        self._is_enter_meant = self.guard.takes(event)
        if self.focused is self._body and event.is_printable and event.character:
            self._on_typed(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """As for keys."""
        if self.focused is self._body:
            self._on_typed(event.text)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Name the keys of where the user is now."""
        self.query_one(Frame).show_keys(KEYS_BEFORE if event.widget is self._body else KEYS)

    def action_go_on(self) -> None:
        """To the next field, or button; to the first one only behind a pause."""
        if self.focused is not self._body or self.may_answer():
            self.focus_next()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Whoever writes into a field means what comes next for this form."""
        if event.input is self.focused:
            self.guard.note_text()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """As for a field of one line."""
        if event.text_area is self.focused:
            self.guard.note_text()

    def on_field_editor_finished(self, event: FieldEditor.Finished) -> None:
        """To the next field; from the last one, send."""
        following = self._editors[self._editors.index(event.sender) + 1 :]
        answerable = [editor for editor in following if not isinstance(editor.field, UnknownField)]
        if answerable:
            answerable[0].focus_control()
        else:
            self._is_answer = self._is_enter_meant
            self.action_accept()
            self._is_answer = False

    def action_accept(self) -> None:
        """Send where all fits; else say beside each field what does not."""
        if self._unanswerable or not self.may_answer():
            return
        values, wrong = check_all(
            self._form.fields, {editor.field.name: editor.raw for editor in self._editors}
        )
        for editor in self._editors:
            editor.show_wrong(wrong.get(editor.field.name, ""))
        if not wrong:
            self.dismiss(("accept", values))
            return
        next(editor for editor in self._editors if editor.field.name in wrong).focus_control()

    def action_cancel(self) -> None:
        """Neither yes nor no."""
        if self.may_answer():
            self.dismiss(("cancel", None))

    def answer_by(self, button: Button) -> None:
        """Send or decline."""
        if button.id == "accept":
            self.action_accept()
        elif self.may_answer():
            self.dismiss(("decline", None))
