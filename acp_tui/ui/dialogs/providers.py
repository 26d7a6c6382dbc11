"""Dialogs about who serves an agent's models: the providers that it lists, and the form that sets one.

They don't send requests to the agent: the caller does, and the form shows what it answers.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

from textual import on, work
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from acp_tui.client.errors import ClientError, SettingsError
from acp_tui.client.settings.location import expand
from acp_tui.conversation.facts import Provider, ProviderRoute
from acp_tui.ui.commands.command import Place
from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.kit.dialog import Dialog, shown
from acp_tui.ui.kit.field_editors import ChoiceRows
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow

DISABLED: Final = ""
"""The choice that stands for no route."""
HEADERS: Final = "Headers, one on each line, as in Authorization: Bearer ${API_KEY}"
REPLACES: Final = (
    "They replace the agent's own, which it doesn't show. Nothing is kept: all of it holds until the agent ends."
)

Change: TypeAlias = Callable[[ProviderRoute | None, Mapping[str, str]], Awaitable[None]]
"""Sends requests to the route, with these headers; None disables the provider. Raises ClientError."""


def provider_picker(providers: Sequence[Provider]) -> Picker[Provider]:
    rows = [PickerRow(each, f"{each.provider_id}: {_route(each)}", _about(each)) for each in providers]
    return Picker("Model providers", rows, search=False, empty="This agent lists no model providers")


def _route(provider: Provider) -> str:
    return f"{provider.route.api_type} at {provider.route.base_url}" if provider.route is not None else "disabled"


def _about(provider: Provider) -> str:
    can_be = ", ".join(provider.supported) or "nothing that it names"
    return f"can be {can_be}" + (" · can't be disabled" if provider.is_required else "")


class ProviderDialog(Dialog[bool | None]):
    """Sets one provider, and returns whether it did."""

    PLACE: ClassVar[Place] = "setting"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("setting_save")

    def __init__(self, provider: Provider, change: Change) -> None:
        self._provider = provider
        self._change = change
        route = provider.route
        rows = [PickerRow(kind, kind) for kind in dict.fromkeys(provider.supported)]
        if not provider.is_required:
            rows.append(PickerRow(DISABLED, "Disabled", "the agent uses its own, if it has one"))
        self._kind = ChoiceRows(rows, [DISABLED if route is None else route.api_type], is_multi=False)
        self._url = Input(compact=True, select_on_focus=False)
        self._headers = TextArea(compact=True, highlight_cursor_line=False)
        self._said = Static(classes="setting-wrong", markup=False)
        self._said.display = False
        super().__init__(
            f"Model provider {provider.provider_id}",
            "Tab next field · Enter or {setting_save} save · {dialog_close} close",
            Static(shown(_about(provider)), classes="setting-about", markup=False),
            self._kind,
            Static("Base URL", classes="field-title", markup=False),
            self._url,
            Static(HEADERS, classes="field-title", markup=False),
            self._headers,
            Static(REPLACES, classes="setting-about", markup=False),
            self._said,
        )

    def on_mount(self) -> None:
        if self._provider.route is not None:
            self._url.value = self._provider.route.base_url
        self.set_focus(self._kind)

    @on(ChoiceRows.Finished)
    @on(Input.Submitted)
    def _finish(self, event: Message) -> None:
        event.stop()
        self.action_accept()

    def action_accept(self) -> None:
        """Ask the agent for it. What is wrong is said here, and the fields stay."""
        if not self._kind.chosen:
            self._say("Choose what it is first")
            return
        kind = self._kind.chosen[0]
        try:
            headers = _read_headers(self._headers.text) if kind != DISABLED else {}
        except SettingsError as error:
            self._say(str(error))
            return
        self._send(ProviderRoute(kind, self._url.value.strip()) if kind != DISABLED else None, headers)

    @work(exclusive=True)
    async def _send(self, route: ProviderRoute | None, headers: Mapping[str, str]) -> None:
        self._say("Waiting for the agent", "$text-accent")
        try:
            await self._change(route, headers)
        except ClientError as error:
            self._say("\n".join(filter(None, (str(error), error.detail, error.hint))))
        else:
            self.dismiss(True)

    def _say(self, text: str, style: str = "$text-error") -> None:
        self._said.update(shown(text, style))
        self._said.display = True


def _read_headers(text: str) -> dict[str, str]:
    """Read one header on each line, with variables expanded. Raises SettingsError, which repeats no value."""
    headers: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not (colon and name.strip()):
            raise SettingsError(f"Line {number} of the headers isn't a name and a value with a colon between them")
        headers[name.strip()] = expand(value.strip(), os.environ)
    return headers
