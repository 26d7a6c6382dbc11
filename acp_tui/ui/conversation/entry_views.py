"""The widgets of entries: one class for each kind, with the entry's states as CSS classes, and the colors for drawing.

A `ConversationView` creates them, binds them to entries, and draws their lines. `styles/conversation.tcss` styles
them. CSS colors become palettes. An entry without CSS rules uses the base palette object itself. An entry is drawn
before it has a widget, so its colors depend on its kind and state, never on :hover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.css.styles import RenderStyles
from textual.geometry import Region
from textual.message import Message as TextualMessage
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.conversation import tool_calls
from acp_tui.conversation.entries import Entry, Message, OwnCommand, Question, Subagent, TerminalState, ToolCallEntry
from acp_tui.conversation.tool_calls import TerminalContent, TextDiff, ToolCallContent
from acp_tui.ui.conversation.drawing import DrawContext
from acp_tui.ui.conversation.notes import NOTE_STATES
from acp_tui.ui.conversation.spare_widgets import LiveView
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.textual_gaps.placing import rules_for

if TYPE_CHECKING:
    from acp_tui.ui.conversation.view import ConversationView

E_co = TypeVar("E_co", bound=Entry, covariant=True)

KNOWN_STATUSES: Final = frozenset({tool_calls.PENDING, tool_calls.IN_PROGRESS, *tool_calls.SETTLED})
KNOWN_KINDS: Final = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"})


class EntryView(LiveView, Generic[E_co], can_focus=True):
    """An entry in view. Scrolling binds it to another entry of the same kind, so don't keep a reference to it.

    CSS sets its colors and text styles: `color`, `background`, and `text-style`, with :hover and :focus for the
    background, and a component class `entry--NAME` for each style NAME of a palette, such as `entry--status`. CSS
    can't set borders, margins, and sizes, because an entry's height is known before it has a widget.
    """

    class Chosen(TextualMessage):
        """Posted when the cursor moves to the entry, by a click or by keys."""

        def __init__(self, view: EntryView[Entry], entry: Entry) -> None:
            super().__init__()
            self.view = view
            self.entry = entry

        @property
        def control(self) -> EntryView[Entry]:
            return self.view

    class Toggled(Chosen):
        """Posted when the user folds or unfolds the entry."""

    @property
    def conversation_view(self) -> ConversationView:
        return cast("ConversationView", self.parent)

    @property
    def index(self) -> int:
        """The entry's index in the conversation, from 0."""
        return cast(int, self.key)

    @property
    def entry(self) -> E_co:
        """The entry as it is now. Only the conversation changes it."""
        return cast(E_co, self.conversation_view.conversation.entries[self.index])

    @property
    def selected_text(self) -> str:
        return self.conversation_view.selected_text

    @property
    def is_open(self) -> bool:
        """Whether the entry is shown whole: it's unfolded, or has nothing to fold."""
        return self.conversation_view.column.is_open(self.index)

    def toggle(self) -> None:
        """Fold or unfold the entry, if it folds."""
        self.conversation_view.toggle(self.index)

    def on_mount(self) -> None:
        """Move to the place that was reserved for this widget."""
        self.is_ready = True
        if self.key is not None and self.is_attached:  # otherwise idle, or its conversation has just closed
            self.conversation_view.place_entries()
            self._look_at_ground()

    def allow_focus(self) -> bool:
        """Only the entry at the cursor can have the focus. For Tab, all entries are one stop."""
        return self.key == self.conversation_view.tab_stop

    def on_focus(self) -> None:
        self.conversation_view.note_focus(self)

    def on_blur(self) -> None:
        if self.parent is not None:
            self.conversation_view.note_focus(None)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted and self.parent is not None:
            self._look_at_ground()

    def _look_at_ground(self) -> None:
        before, self.ground = self.ground, self._find_ground()
        if before != self.ground:
            self.conversation_view.frames.schedule()

    ground: Style | None = None
    """The entry's background, if it differs from the conversation's."""

    def _find_ground(self) -> Style | None:
        styles = self.styles
        if not styles.has_rule("background") or styles.background.is_transparent:
            return None
        return self.visual_style.rich_style.background_style

    @property
    def tooltip(self) -> Content | None:
        """The full text of what is cut off in the entry; None if nothing is."""
        is_shown = self.key is not None and self.parent is not None
        text = self.conversation_view.column.cut_text(self.index) if is_shown else ""
        return Content(text) if text else None

    @tooltip.setter
    def tooltip(self, tooltip: object) -> None:
        raise AttributeError("an entry's tooltip is what is cut in it")

    # An entry's lines belong to the conversation, which keeps them whether or not there is a widget.

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of `crop`; blank ones if the widget has no parent, as when another conversation is shown."""
        if self.parent is None:
            return [Strip.blank(crop.width)] * crop.height
        return self.conversation_view.render_entry(self, crop)

    def render_line(self, y: int) -> Strip:
        return self.render_lines(Region(0, y, self.size.width, 1))[0]


class MessageView(EntryView[Message]):
    """A message of the user (`-user`) or the agent (`-agent`)."""


class ThoughtView(EntryView[Message]):
    """A thought of the agent."""


class ToolCallView(EntryView[ToolCallEntry]):
    """A tool call. One with a diff is a `DiffView`, one with a terminal a `TerminalView`; the first content decides.

    Its status is a class, such as `-failed` or `-in-progress`, and so is its kind: `-edit`, `-execute`.

    `-waiting` means that the user has to decide about it. `-run` means that it stands for several quiet calls in one
    line.
    """


class DiffView(ToolCallView):
    """A tool call that shows changes to one or more files."""

    @property
    def diffs(self) -> tuple[TextDiff, ...]:
        """The changes, in the agent's order."""
        return tuple(item for item in self.entry.call.content if isinstance(item, TextDiff))


class TerminalView(ToolCallView):
    """A tool call that shows a command's output in a terminal."""

    @property
    def terminal(self) -> TerminalState | None:
        """The first of its terminals; None if acp-tui doesn't know it."""
        ids = (item.terminal_id for item in self.entry.call.content if isinstance(item, TerminalContent))
        return self.conversation_view.conversation.terminals.get(next(ids))


class QuestionView(EntryView[Question]):
    """A form or a page that the user has answered: `-accept`, `-decline`, or `-cancel`."""


class CommandView(EntryView[OwnCommand]):
    """The user's own command and its output: `-running`, `-completed`, or `-failed`."""


class SubagentView(EntryView[Subagent]):
    """Another agent that works for this one."""


class NoteView(EntryView[Entry]):
    """Any other entry: `-failure`, `-turn-end`, `-restart`, `-remark`, `-compaction`, `-unknown`."""


Kind = tuple[type[EntryView[Entry]], frozenset[str]]
"""The widget class of an entry, and its state classes."""

_STATES: dict[tuple[str, ...], frozenset[str]] = {}


def _states(*words: str) -> frozenset[str]:
    """The classes of these states, always as the same object. An empty word has no class."""
    if words not in _STATES:
        _STATES[words] = frozenset(f"-{word.replace('_', '-')}" for word in words if word)
    return _STATES[words]


def command_state(state: TerminalState | None) -> str:
    """The state of a user's command, in one word."""
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
    """The widget class for an entry, and its states. `command` is the state of the user's own command."""
    match entry:
        case Message(role="thought"):
            return ThoughtView, _states()
        case Message(role=role):
            return MessageView, _states("user" if role == "user" else "agent")
        case ToolCallEntry(call=call):
            # An agent may send values the protocol doesn't define.
            status = entry.shown_status if entry.shown_status in KNOWN_STATUSES else ""
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
            return NoteView, _states(NOTE_STATES[type(entry)])


PARTS: Final = {f"entry--{each.name.replace('_', '-')}": each.name for each in fields(Palette) if each.type == "Style"}
"""The palette field that each component class sets."""
THEME_COLORS: Final = {
    "foreground": "text",
    "accent": "accent",
    "warning": "warning",
    "error": "error",
    "success": "success",
}
"""Theme colors, and the palette fields that have them with enough contrast on every background."""


class EntryContexts:
    """The contexts to draw entries in, one for each kind and state."""

    def __init__(self, parent: Widget) -> None:
        self._parent = parent
        self._base: DrawContext | None = None
        self._scenes: dict[Kind, DrawContext] = {}
        self._by_styles: dict[frozenset[tuple[str, Style]], DrawContext] = {}
        self._rules: dict[Kind, dict[str, Style]] = {}
        self._legible: Mapping[Color, Style] = {}

    def context(self, kind: Kind, base: DrawContext) -> DrawContext:
        """`base` with the palette of this kind of entry. Kinds that look the same share one context."""
        if self._base is not base:
            self._scenes.clear()
            self._by_styles.clear()
            if self._base is None or self._base.palette is not base.palette:
                self._rules.clear()
                generated = self._parent.app.current_theme.to_color_system().generate()
                self._legible = {
                    Color.parse(generated[name]): getattr(base.palette, field) for name, field in THEME_COLORS.items()
                }
            self._base = base
        context = self._scenes.get(kind)
        if context is None:
            context = self._scenes[kind] = self._resolve(kind, base)
        return context

    def forget(self) -> None:
        """Read the stylesheet again: it may have changed."""
        self._base = None

    def _resolve(self, kind: Kind, base: DrawContext) -> DrawContext:
        if kind not in self._rules:
            self._rules[kind] = self._read(kind, base)
        styles = self._rules[kind]
        if not styles:
            return base
        key = frozenset(styles.items())
        if key not in self._by_styles:
            self._by_styles[key] = replace(base, palette=base.palette.with_styles(styles))
        return self._by_styles[key]

    def _read(self, kind: Kind, base: DrawContext) -> dict[str, Style]:
        styles: dict[str, Style] = {}
        for part, rules in rules_for(self._parent, *kind, PARTS):
            name = PARTS[part] if part else "text"
            before: Style = getattr(base.palette, name)
            own = self._style(rules, has_ground=bool(part))
            if own:
                # If a theme has no shades, muted text is dim. A color of its own turns that off.
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
