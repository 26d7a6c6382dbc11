"""The widgets of entries: one class for each kind of entry, with its states as CSS classes, and what they are drawn in.

A `ConversationView` makes them, binds them to entries and draws their lines. `styles/conversation.tcss` styles them.
Colors become palettes; a palette without rules stays the same object. An entry is drawn before it has a widget, so its
colors follow from kind and state, never from :hover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final, Generic, Protocol, TypeVar, cast

from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.css.styles import RenderStyles
from textual.geometry import Region
from textual.message import Message as TextualMessage
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

from acp_tui.conversation import tool_calls
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import (
    Compaction,
    Entry,
    Failure,
    Message,
    OwnCommand,
    Question,
    Remark,
    Restart,
    Subagent,
    TerminalState,
    ToolCallEntry,
    TurnEnd,
    Unknown,
)
from acp_tui.conversation.tool_calls import TerminalContent, TextDiff, ToolCallContent
from acp_tui.ui.conversation.drawing import Scene
from acp_tui.ui.conversation.pool import LiveView
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.textual_gaps.placing import rules_for

E_co = TypeVar("E_co", bound=Entry, covariant=True)

KNOWN_STATUSES: Final = frozenset({tool_calls.PENDING, tool_calls.IN_PROGRESS, *tool_calls.SETTLED})
KNOWN_KINDS: Final = frozenset(
    {"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"}
)


class EntryHost(Protocol):
    """What an entry asks of the view that shows it, which is a `ConversationView`."""

    conversation: Conversation
    tab_stop: int | None

    @property
    def selected_text(self) -> str: ...

    def is_open(self, index: int) -> bool: ...

    def toggle(self, index: int) -> None: ...

    def cut_text(self, index: int) -> str: ...

    def place_entries(self) -> None: ...

    def note_focus(self, view: EntryView[Entry] | None) -> None: ...

    def note_ground(self) -> None: ...

    def render_entry(self, view: EntryView[Entry], crop: Region) -> list[Strip]: ...


class EntryView(LiveView, Generic[E_co], can_focus=True):
    """An entry in view. It comes to another entry of its kind when the conversation scrolls: keep no reference to it.

    Its colors and text styles are CSS: `color`, `background` and `text-style`, with :hover and :focus for the
    background, and component classes `entry--NAME` for each style NAME of a palette, such as `entry--status`.
    Borders, margins and sizes are not: an entry's height is known before it has a widget.
    """

    class Chosen(TextualMessage):
        """The cursor has come to the entry: the user clicked on it, or went there by keys."""

        def __init__(self, view: EntryView[Entry], entry: Entry) -> None:
            super().__init__()
            self.view = view
            self.entry = entry

        @property
        def control(self) -> EntryView[Entry]:
            """The widget of the entry."""
            return self.view

    class Toggled(Chosen):
        """The user has folded or unfolded the entry."""

    @property
    def conversation_view(self) -> EntryHost:
        """What the entry is shown in."""
        return cast(EntryHost, self.parent)

    @property
    def index(self) -> int:
        """The entry's place in the conversation, from 0."""
        return cast(int, self.key)

    @property
    def entry(self) -> E_co:
        """The entry, as it is now; only the conversation changes it."""
        return cast(E_co, self.conversation_view.conversation.entries[self.index])

    @property
    def selected_text(self) -> str:
        """What is selected in the conversation, of which this is a part."""
        return self.conversation_view.selected_text

    @property
    def is_open(self) -> bool:
        """Whether all of it is shown: it was unfolded, or has nothing to fold."""
        return self.conversation_view.is_open(self.index)

    def toggle(self) -> None:
        """Fold or unfold it, where it folds."""
        self.conversation_view.toggle(self.index)

    def on_mount(self) -> None:
        """Take the place that was waiting for it."""
        self.is_ready = True
        if self.key is not None and self.parent is not None:
            self.conversation_view.place_entries()
            self._look_at_ground()

    def allow_focus(self) -> bool:
        """The entry at the cursor; for Tab, all of them are one stop."""
        return self.key == self.conversation_view.tab_stop

    def on_focus(self) -> None:
        """Come under the cursor."""
        self.conversation_view.note_focus(self)

    def on_blur(self) -> None:
        """Draw the cursor no longer."""
        if self.parent is not None:
            self.conversation_view.note_focus(None)

    def notify_style_update(self) -> None:
        """Lie on another background."""
        super().notify_style_update()
        if self.is_mounted and self.parent is not None:
            self._look_at_ground()

    def _look_at_ground(self) -> None:
        before, self._ground = self._ground, self._find_ground()
        if before != self._ground:
            self.conversation_view.note_ground()

    @property
    def ground(self) -> Style | None:
        """What the entry lies on, where that is something else than the conversation."""
        return self._ground

    _ground: Style | None = None

    def _find_ground(self) -> Style | None:
        styles = self.styles
        if not styles.has_rule("background") or styles.background.is_transparent:
            return None
        return self.visual_style.rich_style.background_style

    @property
    def tooltip(self) -> Content | None:
        """The whole of what is cut in it; None where nothing is."""
        is_shown = self.key is not None and self.parent is not None
        text = self.conversation_view.cut_text(self.index) if is_shown else ""
        return Content(text) if text else None

    @tooltip.setter
    def tooltip(self, tooltip: object) -> None:
        raise AttributeError("an entry's tooltip is what is cut in it")

    # Its lines belong to the conversation, which keeps them whether there is a widget or not.

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`; blank ones where the conversation was taken away with it, as when another is shown."""
        if self.parent is None:
            return [Strip.blank(crop.width)] * crop.height
        return self.conversation_view.render_entry(self, crop)

    def render_line(self, y: int) -> Strip:
        """One row."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]


class MessageView(EntryView[Message]):
    """What the user (`-user`) or the agent (`-agent`) said."""


class ThoughtView(EntryView[Message]):
    """What the agent thought."""


class ToolCallView(EntryView[ToolCallEntry]):
    """A tool call; one with a diff is a `DiffView`, one with a terminal a `TerminalView`, whichever it shows first.

    Its status is a class, `-failed` or `-in-progress`, and so is its kind: `-edit`, `-execute`.

    `-waiting`: the user has to decide about it; `-run`: it stands for several quiet calls in one line.
    """


class DiffView(ToolCallView):
    """A tool call that shows a change of one or more files."""

    @property
    def diffs(self) -> tuple[TextDiff, ...]:
        """The changes, in the agent's order."""
        return tuple(item for item in self.entry.call.content if isinstance(item, TextDiff))


class TerminalView(ToolCallView):
    """A tool call that shows what a command prints in a terminal."""

    @property
    def terminal(self) -> TerminalState | None:
        """The first of its terminals; None if acp-tui does not know it."""
        ids = (item.terminal_id for item in self.entry.call.content if isinstance(item, TerminalContent))
        return self.conversation_view.conversation.terminals.get(next(ids))


class QuestionView(EntryView[Question]):
    """A form or a page that the user has answered: `-accept`, `-decline` or `-cancel`."""


class CommandView(EntryView[OwnCommand]):
    """A command of the user's own, and what it prints: `-running`, `-completed` or `-failed`."""


class SubagentView(EntryView[Subagent]):
    """Another agent that works for this one."""


class NoteView(EntryView[Entry]):
    """What is neither said nor done: `-failure`, `-turn-end`, `-restart`, `-remark`, `-compaction`, `-unknown`."""


Kind = tuple[type[EntryView[Entry]], frozenset[str]]
"""Which widget shows an entry, and its state classes."""

_STATES: dict[tuple[str, ...], frozenset[str]] = {}


def _states(*words: str) -> frozenset[str]:
    """The classes of these states, as the same object each time; "" is none."""
    if words not in _STATES:
        _STATES[words] = frozenset(f"-{word.replace('_', '-')}" for word in words if word)
    return _STATES[words]


_NOTES: Final[dict[type[object], str]] = {
    Failure: "failure",
    TurnEnd: "turn-end",
    Restart: "restart",
    Remark: "remark",
    Compaction: "compaction",
    Unknown: "unknown",
}


def command_state(state: TerminalState | None) -> str:
    """How a command of the user's stands, in a word."""
    if state is None or not state.has_exited:
        return "running"
    return tool_calls.COMPLETED if state.exit_code == 0 else tool_calls.FAILED


def _tool_call_view(content: Sequence[ToolCallContent]) -> type[ToolCallView]:
    for item in content:
        if isinstance(item, TextDiff):
            return DiffView
        if isinstance(item, TerminalContent):
            return TerminalView
    return ToolCallView


def kind_of(entry: Entry, *, is_run: bool = False, command: str = "") -> Kind:
    """The kind of widget for an entry, and its states; `command` is how the user's own command stands."""
    match entry:
        case Message(role="thought"):
            return ThoughtView, _states()
        case Message(role=role):
            return MessageView, _states("user" if role == "user" else "agent")
        case ToolCallEntry(call=call):
            # An agent may send other words.
            status = call.status if call.status in KNOWN_STATUSES else ""
            kind = call.kind if call.kind in KNOWN_KINDS else "other"
            waiting, run = "waiting" if entry.waiting else "", "run" if is_run else ""
            return _tool_call_view(call.content), _states(status, kind, waiting, run)
        case Question(action=action):
            return QuestionView, _states(action)
        case Subagent():
            return SubagentView, _states()
        case OwnCommand():
            return CommandView, _states(command)
        case _:
            return NoteView, _states(_NOTES[type(entry)])


PARTS: Final = {
    f"entry--{each.name.replace('_', '-')}": each.name for each in fields(Palette) if each.name != "dark"
}
"""The field of a palette that a component class stands for."""
THEME_COLORS: Final = {
    "foreground": "text",
    "accent": "accent",
    "warning": "warning",
    "error": "error",
    "success": "success",
}
"""Colors of a theme, and the fields of a palette that have them with enough contrast on every ground."""


class Looks:
    """The scenes to draw entries in, for each kind and state once."""

    def __init__(self, parent: Widget) -> None:
        self._parent = parent
        self._base: Scene | None = None
        self._scenes: dict[Kind, Scene] = {}
        self._by_styles: dict[frozenset[tuple[str, Style]], Scene] = {}
        self._rules: dict[Kind, dict[str, Style]] = {}
        """What the stylesheet says, by the fields of a palette."""
        self._legible: Mapping[Color, Style] = {}

    def scene(self, kind: Kind, base: Scene) -> Scene:
        """`base` with the palette of this kind of entry; kinds that look the same share one."""
        if self._base is not base:
            self._scenes.clear()
            self._by_styles.clear()
            if self._base is None or self._base.palette is not base.palette:
                self._rules.clear()
                self._legible = _legible_colors(self._parent.app.current_theme, base.palette)
            self._base = base
        scene = self._scenes.get(kind)
        if scene is None:
            scene = self._scenes[kind] = self._resolve(kind, base)
        return scene

    def forget(self) -> None:
        """The stylesheet may say something else now."""
        self._base = None

    def _resolve(self, kind: Kind, base: Scene) -> Scene:
        if kind not in self._rules:
            self._rules[kind] = self._read(kind, base)
        styles = self._rules[kind]
        if not styles:
            return base
        key = frozenset(styles.items())
        if key not in self._by_styles:
            self._by_styles[key] = replace(base, palette=base.palette.with_styles(styles))
        return self._by_styles[key]

    def _read(self, kind: Kind, base: Scene) -> dict[str, Style]:
        styles: dict[str, Style] = {}
        for part, rules in rules_for(self._parent, *kind, PARTS):
            name = PARTS[part] if part else "text"
            before: Style = getattr(base.palette, name)
            own = self._style(rules, has_ground=bool(part))
            if own:
                # Where there are no shades, what is muted is dim: another color is not.
                bright = Style(dim=False) if before.dim and own.color is not None else Style.null()
                styles[name] = before + bright + own
        return styles

    def _style(self, rules: RenderStyles, *, has_ground: bool) -> Style:
        style = Style.null()
        if rules.has_rule("color") and not rules.auto_color:
            style += self._legible.get(rules.color) or Style(color=rules.color.rich_color)
        if has_ground and rules.has_rule("background") and not rules.background.is_transparent:
            style += Style(bgcolor=rules.background.rich_color)
        if rules.has_rule("text_style"):
            style += rules.text_style
        return style


def _legible_colors(theme: Theme, palette: Palette) -> dict[Color, Style]:
    generated = theme.to_color_system().generate()
    return {Color.parse(generated[name]): getattr(palette, field) for name, field in THEME_COLORS.items()}
