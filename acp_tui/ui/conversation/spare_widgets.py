"""A few widgets, rebound to what is in view. Idle ones leave the DOM, so queries find what you see."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from textual.geometry import Region
from textual.widget import Widget

from acp_tui.ui.textual_gaps.placing import PlacedLayout, add, attach, detach, place, restyle

MAX_IDLE: Final = 16
"""Widgets kept for reuse."""
SPARE: Final = 4
"""How many widgets to make in advance when one was missing: making one takes as long as drawing a line."""


class LiveView(Widget):
    """A widget that can be rebound to something else of the same kind."""

    ALLOW_SELECT = False

    key: Hashable = None
    """What it is bound to."""
    is_ready = False
    """Whether it can be placed: true from its `Mount` event, before Textual counts it as mounted."""
    states: frozenset[str] = frozenset()

    def take(self, slot: Slot) -> None:
        self.key = slot.key
        if slot.states != self.states:
            # Keep other classes: they are the user's.
            wanted = (self.classes - self.states) | slot.states
            self.states = slot.states
            self.set_classes(wanted)


class Slot(NamedTuple):
    """Something in view that needs a widget."""

    key: Hashable
    kind: type[LiveView]
    states: frozenset[str]
    region: Region | None
    """The part of the parent it covers in view; None if it isn't in view."""


class SpareWidgets:
    """The live children of one widget, which uses `layout` as its layout."""

    def __init__(self, parent: Widget) -> None:
        self._parent = parent
        self.layout = PlacedLayout()
        self.views: dict[Hashable, LiveView] = {}
        self.idle: list[LiveView] = []
        self._slots: Sequence[Slot] = ()
        self.wanting: type[LiveView] | None = None
        """The kind that had no free widget in the last call of `show`."""
        self._styles_seen = 0
        self._styled: dict[LiveView, int] = {}
        """For each idle widget, the stylesheet's version when it left the DOM."""

    def show(self, slots: Sequence[Slot]) -> bool:
        """Bind a widget to each of these slots, from top to bottom. Returns False if nothing changes."""
        if slots == self._slots:
            return False
        self._slots = slots
        before, self.views = self.views, {}
        wanting = []
        for slot in slots:
            view = before.get(slot.key)
            if view is not None and type(view) is slot.kind:
                self.views[slot.key] = before.pop(slot.key)
            else:
                wanting.append(slot)
        free = [*before.values(), *self.idle]
        made: list[LiveView] = []
        for slot in wanting:
            view = _fitting(slot, free)
            if view is None:
                view = slot.kind()
                made.append(view)
            else:
                free.remove(view)
                if view in self.idle:
                    self.idle.remove(view)
                    attach(self._parent, view)
                    if self._styled.pop(view) != self._styles_seen:
                        restyle(view)
            self.views[slot.key] = view
        for slot in slots:
            self.views[slot.key].take(slot)
        self._put_aside(free)
        if made:
            add(self._parent, made)
            self.wanting = made[-1].__class__
        self.place()
        return True

    def prepare(self) -> None:
        """Make a few spare widgets of the kind that was missing, at an idle moment."""
        kind, self.wanting = self.wanting, None
        if kind is not None and len(self.idle) < MAX_IDLE - SPARE:
            spare = [kind() for _ in range(SPARE)]
            add(self._parent, spare)
            self._put_aside(spare)

    def place(self) -> None:
        """Move the widgets to their places. Widgets that aren't mounted yet have none."""
        regions: dict[Widget, Region] = {
            self.views[slot.key]: slot.region for slot in self._slots if slot.region is not None
        }
        place(self._parent, self.layout, regions)

    def note_styles(self) -> None:
        """The stylesheet was applied again. Idle widgets missed it."""
        self._styles_seen += 1

    def _put_aside(self, views: Iterable[LiveView]) -> None:
        for view in views:
            if view not in self.idle:
                view.mouse_hover = False
                detach(self._parent, view)
                self.idle.append(view)
                self._styled[view] = self._styles_seen
        for view in self.idle[:-MAX_IDLE]:
            self.idle.remove(view)
            del self._styled[view]
            attach(self._parent, view)
            view.remove()


def _fitting(slot: Slot, free: Sequence[LiveView]) -> LiveView | None:
    """A free widget of this kind, preferably with the same states: other classes cost a stylesheet lookup."""
    same = [view for view in free if type(view) is slot.kind]
    return next((view for view in same if view.states == slot.states), next(iter(same), None))
