"""Choose how to log in to an agent, and wait while the agent does it; what a login is, its caller knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Protocol, TypeAlias

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from acp_tui.client.errors import ClientError
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import Frame, close_when_in_front, shown, shown_line
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.kit.toasts import ASKING


class LoginMethod(Protocol):
    """A way to log in."""

    @property
    def method_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def kind(self) -> str: ...


Authenticate: TypeAlias = Callable[[LoginMethod], Awaitable[None]]
"""Lets the agent log in; may take minutes, and be cancelled. Raises ClientError."""


class LoginDialog(ModalScreen[LoginMethod | None]):
    """Gives the method that has worked, for one in a terminal the method that was chosen; None for no login."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Cancel", show=False)]

    def __init__(
        self,
        agent_title: str,
        methods: Sequence[LoginMethod],
        authenticate: Authenticate,
        *,
        reason: str = "",
    ) -> None:
        """`reason` is what the agent said when it asked for a login."""
        super().__init__(classes=f"dialog {ASKING}")
        self._agent_title = agent_title
        self._methods = methods
        self._authenticate = authenticate
        self._reason = reason
        self._waiting: Worker[None] | None = None
        self._said = Static(classes="dialog-said", markup=False)

    def compose(self) -> ComposeResult:
        """The methods, and below them how it goes."""
        rows = FilteredList(
            [_row(method) for method in self._methods],
            has_search=False,
            empty="This agent names no way to log in: log in with its own program, then try again",
        )
        reason = Static(shown(self._reason), classes="dialog-text", markup=False)
        reason.display = bool(self._reason)
        title = Content.assemble("Log in to ", shown_line(self._agent_title))
        yield Frame(title, "↑ ↓ move · Enter log in · Esc cancel", reason, rows, self._said)

    def on_filtered_list_chosen(self, message: FilteredList.Chosen) -> None:
        """A terminal is the caller's to open; else the agent is asked."""
        method: LoginMethod = message.row.value
        if self._waiting is not None:
            return
        if method.kind == "terminal":
            self.dismiss(method)
        else:
            self._waiting = self._log_in(method)

    @work
    async def _log_in(self, method: LoginMethod) -> None:
        waiting = "Waiting for the agent; it may have opened a browser. Esc cancels"
        self._said.update(Content.styled(waiting, "$text-accent"))
        try:
            await self._authenticate(method)
        except ClientError as error:
            parts = filter(None, (str(error), error.detail, error.hint))
            self._said.update(shown("\n".join(parts), "$text-error"))
        else:
            close_when_in_front(self, method)
        finally:
            self._waiting = None

    def action_back(self) -> None:
        """Stop waiting; without anything to wait for, close."""
        if self._waiting is None:
            self.dismiss(None)
            return
        self._waiting.cancel()
        self._said.update("Cancelled. Choose again, or Esc to leave")


def _row(method: LoginMethod) -> PickerRow[LoginMethod]:
    how = "in a terminal of its own" if method.kind == "terminal" else "done by the agent"
    about = " · ".join(filter(None, (method.description, how)))
    return PickerRow(method, method.name, about)
