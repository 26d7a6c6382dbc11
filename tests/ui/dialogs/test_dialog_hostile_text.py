"""An agent's text in dialogs: nothing that a terminal obeys or that misleads a reader gets there raw."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.screen import Screen

from acp_tui.client.errors import ClientError
from acp_tui.client.settings.mcp import Server
from acp_tui.conversation.elicitation import (
    BooleanField,
    ChoiceField,
    Elicitation,
    FieldChoice,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    UnknownField,
    UrlVisit,
)
from acp_tui.conversation.facts import (
    AuthMethod,
    BooleanOption,
    Choice,
    HttpServer,
    RequestKey,
    SelectOption,
    StdioServer,
)
from acp_tui.conversation.visible import hidden_characters
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.dialogs.agent_offers import AgentFacts, CapabilityCard, LoginDialog, OptionsDialog
from acp_tui.ui.dialogs.trust import TrustDialog
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.tab.sessions_dialog import SessionsDialog
from support.dialogs import HostileSessions, open_dialog

CORPUS = Path(__file__).parents[2] / "data/hostile_strings.json"
TEXTS = {
    "every character": "".join(sorted(hidden_characters() - set(map(chr, range(0xD800, 0xE000))))),
    "sequences": "tab\tand\nline \x1b[2J \x1b]52;c;aGk=\x07 \x9b31m \r\x08 a\u202eb \u2066c\u2069 d\u200be \ud83d",
    "corpus": " ".join(
        text[:20]
        for category, texts in json.loads(CORPUS.read_text()).items()
        for text in texts.values()
        if isinstance(text, str) and category != "ordinary writing"
    ),
}
MARKUP = "[bold]x[/bold][/]"
IN_ONE = " ".join((MARKUP, TEXTS["sequences"], TEXTS["corpus"], TEXTS["every character"]))
TALL = (300, 100)


def _picker(text: str) -> Screen[Any]:
    return Picker(text, [PickerRow(1, text, text, text), PickerRow(2, text, "", "", False, text)])


def _options(text: str) -> Screen[Any]:
    select = SelectOption("a", text, text, (Choice("v", text, text, text),), text, text)
    return OptionsDialog([select, BooleanOption("b", text, True, text, text)])


def _sessions(text: str) -> Screen[Any]:
    return SessionsDialog(HostileSessions(text))


def _login(text: str) -> Screen[Any]:
    async def refuse(method: AuthMethod) -> None:
        raise ClientError(text, hint=text, detail=text)

    return LoginDialog(text, [AuthMethod(text, text, text)], refuse, reason=text)


def _card(text: str) -> Screen[Any]:
    capabilities = AgentCapabilities(meta={text: {text: text}})
    methods = (AuthMethod(text, text, text, "terminal"),)
    return CapabilityCard(AgentFacts(text, text, text, text, (text, text), capabilities, methods, text, (text,)))


class _Asking(Screen[Any]):
    """Shows a question, and sends keys nowhere else."""

    def __init__(self, asked: Elicitation, agent_title: str) -> None:
        super().__init__()
        self._asked, self._agent_title = asked, agent_title

    def compose(self) -> ComposeResult:
        """Only the card."""
        yield FormCard(self._asked, self._agent_title, lambda *_: None, self)

    def leave(self, *, to_read: bool = False) -> None:
        """There is no other screen."""

    def write(self, text: str, *, is_paste: bool) -> None:
        """There is no prompt."""


def _form(text: str) -> Screen[Any]:
    choices = (FieldChoice("a", text, text), FieldChoice(text, text))
    fields = (
        TextField("t", text, text, True, text, pattern="(" + text, format=text),
        TextField("p" + text, pattern="^$", default=text.replace("\x1b", "")),
        NumberField("n" + text, text, text, default=1),
        BooleanField("b" + text, text, text),
        ChoiceField("c" + text, choices, text, text, default=text),
        MultiChoiceField("m" + text, choices, text, text),
        UnknownField("u" + text, text, {text: text}, True),
    )
    return _Asking(Form(RequestKey(1), text, fields, text, text), text)


def _visit(text: str) -> Screen[Any]:
    return _Asking(UrlVisit(RequestKey(1), text, text, f"https://{text}@{text}/{text}"), text)


def _trust(text: str) -> Screen[Any]:
    servers: list[Server] = [
        StdioServer(text, text, (text,), ((text, text),)),
        HttpServer("http", text, text, ((text, text),)),
    ]
    return TrustDialog(Path(text.replace("\0", "")), servers)


DIALOGS: tuple[tuple[Callable[[str], Screen[Any]], tuple[str, ...]], ...] = (
    (_picker, ("down",)),
    (_options, ("enter", "down")),
    (_sessions, ("d", "enter", "ctrl+end", "down")),
    (_login, ("enter",)),
    (_card, ("space",)),
    (_form, ("tab", "tab", "tab", "tab", "down", "ctrl+s")),
    (_visit, ()),
    (_trust, ()),
)


@pytest.mark.parametrize(("make", "keys"), DIALOGS, ids=[make.__name__.strip("_") for make, _ in DIALOGS])
async def test_nothing_hostile_reaches_the_screen_and_markup_is_shown_as_it_was_written(
    make: Callable[[str], Screen[Any]], keys: tuple[str, ...]
) -> None:
    async with open_dialog(make(IN_ONE), size=TALL) as page:
        for key in (None, *keys):
            await page.press(*([key] if key else []))
            shown = "".join(page.lines)
            assert set(shown) & {*hidden_characters(), *"\n\t"} == set(), f"after {key}"
            assert MARKUP in shown, f"after {key}"
