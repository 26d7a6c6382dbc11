"""The question whether to visit a page that an agent names (R-ELIC-11); nothing is opened or fetched here."""

from __future__ import annotations

import re
import unicodedata
from typing import ClassVar, Final, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from acp_tui.conversation.elicitation import UrlVisit
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.widgets.fields.frame import Frame, shown, shown_line

Consent: TypeAlias = Literal["accept", "decline", "cancel"]

_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0]")
_SCRIPTS: Final = (
    "LATIN",
    "CYRILLIC",
    "GREEK",
    "ARMENIAN",
    "HEBREW",
    "ARABIC",
    "CHEROKEE",
    "THAI",
    "GEORGIAN",
)


class VisitDialog(ModalScreen[Consent]):
    """Gives accept where the user wants the page opened. Enter without a choice does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('cancel')", "Cancel", show=False),
        # Each arrow leads to the answer on its side, wherever the focus was: none of them is a step from nothing.
        Binding("left", "go_to('decline')", "The answer on the left", show=False),
        Binding("right", "go_to('accept')", "The answer on the right", show=False),
        Binding("c", "copy", "Copy the address", show=False),
    ]

    def __init__(self, visit: UrlVisit, agent_title: str) -> None:
        super().__init__(classes="dialog")
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

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """That is the answer."""
        self.dismiss("accept" if event.button.id == "accept" else "decline")

    def action_go_to(self, answer: str) -> None:
        """Stand on this answer, where it can be given; that does not give it."""
        self.query_one(f"#{answer}", Button).focus()

    def action_copy(self) -> None:
        """For a browser on another machine."""
        self.app.copy_to_clipboard(make_visible_line(self._visit.url))
        self.notify("The address was sent to the terminal's clipboard (OSC 52).")


# What there is to know of an address


def is_openable(url: str) -> bool:
    """False for an address of which nobody can say what a browser would make of it."""
    parts = _split(url)
    return bool(
        parts is not None
        and parts.scheme in ("http", "https")
        and parts.hostname
        and "\\" not in url
        and make_visible_line(url) == url
        and not _UNPRINTABLE.search(url)
    )


def host_of(url: str) -> str:
    """The host that the address leads to, as written and, for Punycode, as it would look; "" without one."""
    parts = _split(url)
    host = (parts.hostname or "") if parts is not None else ""
    decoded = _decoded(host)
    return f"{host}  (shown as {decoded})" if decoded != host else host


def warnings_of(url: str) -> tuple[str, ...]:
    """What could mislead about where the address leads, each in a sentence."""
    found = []
    if _UNPRINTABLE.search(url) or make_visible_line(url) != url:
        found.append("It holds characters that cannot be seen, so it is not opened.")
    if "\\" in url:
        found.append("It holds a backslash, which browsers read in their own way, so it is not opened.")
    parts = _split(url)
    if parts is None:
        return (*found, "It is not an address that can be read, so it is not opened.")
    return (*found, *_scheme_warnings(parts), *_host_warnings(parts.hostname or ""), *_user_warnings(parts))


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked only when it is read
    except ValueError:
        return None
    return parts


def _scheme_warnings(parts: SplitResult) -> list[str]:
    if parts.scheme == "https" and parts.hostname:
        return []
    if parts.scheme == "http" and parts.hostname:
        return ["It is not encrypted (http): others on the way can read and change what you see."]
    scheme = make_visible_line(parts.scheme) or "none"
    return [f"It is not a web page (scheme: {scheme}), so it is not opened."]


def _user_warnings(parts: SplitResult) -> list[str]:
    if "@" not in parts.netloc:
        return []
    return [
        "What stands before the @ is not the host: it is a user's name, and may be made to look like a host."
    ]


def _host_warnings(host: str) -> list[str]:
    found = []
    decoded = _decoded(host)
    if any(label.startswith("xn--") for label in host.split(".")):
        found.append(
            "The host is written in Punycode: letters of other scripts may look like the ones you know."
        )
    elif not host.isascii():
        found.append("The host has letters beyond ASCII, which may look like the ones you know.")
    if any(len(_scripts(label)) > 1 for label in decoded.split(".")):
        found.append("The host mixes scripts, as addresses made to deceive do.")
    return found


def _decoded(host: str) -> str:
    return ".".join(_decoded_label(label) for label in host.split("."))


def _decoded_label(label: str) -> str:
    if not label.startswith("xn--") or len(label) > 63:
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except ValueError:
        return label


def _scripts(label: str) -> set[str]:
    names = (unicodedata.name(char, "") for char in label if char.isalpha())
    return {name.split()[0] for name in names if name.split() and name.split()[0] in _SCRIPTS}


def marked_url(url: str) -> Content:
    """The whole address, the host in it made to stand out."""
    parts = _split(url)
    host = parts.netloc.rpartition("@")[2] if parts is not None else ""
    before, found, after = url.partition(f"//{parts.netloc}") if host and parts else (url, "", "")
    if not found:
        return shown_line(url)
    lead = found[: len(found) - len(host)]
    return Content.assemble(
        shown_line(before + lead), shown_line(host, "bold $text-accent"), shown_line(after)
    )
