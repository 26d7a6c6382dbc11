"""What has a terminal ring, show a notice or change its title. Texts may be an agent's: they are made plain."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Final

BELL: Final = "\a"
MAX_TEXT: Final = 200
KEEP_TITLE: Final = "\x1b[22;2t"
"""The terminal is to remember the title of its window, ..."""
PUT_TITLE_BACK: Final = "\x1b[23;2t"
"""... and to show it again."""
_OSC_9: Final = frozenset({"iTerm.app", "WezTerm", "ghostty", "WarpTerminal"})
"""Values of TERM_PROGRAM."""
_MARKS_OF_OSC_9: Final = ("ITERM_SESSION_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")
"""Variables that are seen in tmux too."""


def notice(channels: Iterable[str], title: str, text: str, environ: Mapping[str, str]) -> str:
    """The sequences for the channels of the settings, each once; `command` is none of them."""
    wanted = dict.fromkeys(best_channel(environ) if each == "desktop" else each for each in channels)
    return "".join(_sequence(channel, plain(title), plain(text), environ) for channel in wanted)


def best_channel(environ: Mapping[str, str]) -> str:
    """What this terminal is known to understand; a bell where none is known."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term == "xterm-kitty" or (environ.get("KITTY_WINDOW_ID") and program in ("", "tmux")):
        return "osc99"
    if program in _OSC_9 or any(name in environ for name in _MARKS_OF_OSC_9):
        return "osc9"
    if term.startswith(("rxvt", "foot")) or environ.get("VTE_VERSION"):
        return "osc777"
    return "bell"


def _sequence(channel: str, title: str, text: str, environ: Mapping[str, str]) -> str:
    match channel:
        case "bell":
            return BELL  # tmux has its own ways with a bell
        case "osc9":
            # A digit at the start would be another command, such as a progress bar.
            sequences = [f"\x1b]9;acp-tui: {title}: {text}\x1b\\"]
        case "osc99":
            parts = (("d=0:p=title", title), ("d=1:p=body", text))
            sequences = [f"\x1b]99;i=acp-tui:e=1:{keys};{_encoded(part)}\x1b\\" for keys, part in parts]
        case "osc777":
            sequences = [f"\x1b]777;notify;{title.replace(';', ',')};{text}\x1b\\"]
        case _:
            return ""
    if not environ.get("TMUX"):
        return "".join(sequences)
    from acp_tui.ui.rendering.kitty import through_tmux  # it brings along all that pictures need

    return "".join(map(through_tmux, sequences))


def window_title(text: str) -> str:
    """The title of the window from now on; tmux takes it for its own pane."""
    return f"\x1b]2;{plain(text)}\x1b\\"


def plain(text: str) -> str:
    """A line without control characters, invisible ones and line ends, and not too long."""
    kept = "".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT])
    line = " ".join(kept.split())
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"


def _encoded(text: str) -> str:
    return b64encode(text.encode("utf-8", "replace")).decode("ascii")
