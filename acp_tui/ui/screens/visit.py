"""The question whether to visit a page that an agent names (R-ELIC-11); nothing is opened or fetched here."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.web_address import host_of, is_openable, split_at_host, warnings_of
from acp_tui.ui.asking import ASKING
from acp_tui.ui.screens.question_screen import QuestionScreen
from acp_tui.ui.widgets.fields.frame import Frame, shown, shown_line

Consent: TypeAlias = Literal["accept", "decline", "cancel"]


class VisitDialog(QuestionScreen[Consent]):
    """Gives accept where the user wants the page opened. Enter without a choice does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('cancel')", "Cancel", show=False),
        # Each arrow leads to the answer on its side, wherever the focus was: none of them is a step from nothing.
        Binding("left", "go_to('decline')", "The answer on the left", show=False),
        Binding("right", "go_to('accept')", "The answer on the right", show=False),
        Binding("c", "copy", "Copy the address", show=False),
    ]

    def __init__(self, visit: UrlVisit, agent_title: str) -> None:
        super().__init__()
        self.add_class(ASKING)
        self._visit = visit
        self._agent_title = agent_title

    def compose(self) -> ComposeResult:
        """What the agent says, where it leads, what is odd about that, and the answers."""
        url = self._visit.url
        odd = [Content.styled(f"⚠ {warning}", "$text-warning") for warning in warnings_of(url)]
        lines = [
            shown(self._visit.message),
            Content(""),
            Content.assemble(("Host  ", "$foreground-muted"), shown_line(host_of(url) or "none", "bold")),
            Content.assemble(("Page  ", "$foreground-muted"), marked_url(url)),
            *([Content(""), *odd] if odd else ()),
        ]
        yield Frame(
            Content.assemble(shown_line(self._agent_title), " asks you to visit a page"),
            "← → Tab and Enter answer · c copies the address · Esc cancel",
            VerticalScroll(Static(Content("\n").join(lines), markup=False), classes="dialog-body"),
            Horizontal(*self._buttons(), classes="dialog-buttons"),
        )

    def _buttons(self) -> list[Button]:
        accept = Button("Open in the browser", id="accept", compact=True)
        accept.disabled = not is_openable(self._visit.url)
        return [Button("Decline", id="decline", compact=True), accept]

    def on_mount(self) -> None:
        """Keys that were meant for something else answer nothing."""
        self.query_one(VerticalScroll).focus()

    def answer_by(self, button: Button) -> None:
        """That is the answer."""
        self.action_answer("accept" if button.id == "accept" else "decline")

    def action_answer(self, answer: Consent) -> None:
        """Answer, unless it was meant for something else."""
        if self.may_answer():
            self.dismiss(answer)

    def action_go_to(self, answer: str) -> None:
        """Stand on this answer, where it can be given; that does not give it."""
        self.query_one(f"#{answer}", Button).focus()

    def action_copy(self) -> None:
        """For a browser on another machine."""
        self.app.copy_to_clipboard(make_visible_line(self._visit.url))
        self.notify("The address was sent to the terminal's clipboard (OSC 52).")


def marked_url(url: str) -> Content:
    """The whole address, the host in it made to stand out."""
    before, host, after = split_at_host(url)
    if not host:
        return shown_line(url)
    return Content.assemble(shown_line(before), shown_line(host, "bold $text-accent"), shown_line(after))
