"""A few widgets, bound again to whatever is in view; idle ones leave the DOM, so queries find what you see."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from textual.geometry import Region
from textual.widget import Widget

from acp_tui.ui.textual_gaps.placing import PlacedLayout, add, attach, detach, place, restyle

MAX_IDLE: Final = 16
"""Widgets that wait to be needed again."""
SPARE: Final = 4
"""So many are made ahead where one was lacking: to make one takes as long as to draw a line."""


class LiveView(Widget):
    """A widget that can be bound to another thing of its kind."""

    ALLOW_SELECT = False

    key: Hashable = None
    """What it is bound to."""
    is_ready = False
    """Whether it can be placed: from its `Mount` on, and so before Textual counts it as mounted."""
    states: frozenset[str] = frozenset()
    """Its state classes, as they follow from what it is bound to."""

    def take(self, slot: Slot) -> None:
        """Show this from now on."""
        self.key = slot.key
        if slot.states != self.states:
            # Other classes stay: they are the user's.
            wanted = (self.classes - self.states) | slot.states
            self.states = slot.states
            self.set_classes(wanted)


class Slot(NamedTuple):
    """Something in view that wants a widget."""

    key: Hashable
    kind: type[LiveView]
    states: frozenset[str]
    region: Region | None
    """Where it is in the parent, as far as it is in view; None: it is not."""


class Pool:
    """The live children of one widget, which has `layout` as its layout."""

    def __init__(self, parent: Widget) -> None:
        self._parent = parent
        self.layout = PlacedLayout()
        self.views: dict[Hashable, LiveView] = {}
        """What is in the DOM, by what it is bound to."""
        self.idle: list[LiveView] = []
        self._slots: Sequence[Slot] = ()
        self._wanting: type[LiveView] | None = None
        self._styles_seen = 0
        self._styled: dict[LiveView, int] = {}
        """At which state of the stylesheet an idle one left the DOM."""

    def show(self, slots: Sequence[Slot]) -> bool:
        """Have a widget for each of these, from top to bottom; False where that is so."""
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
                self._wake(view)
            self.views[slot.key] = view
        for slot in slots:
            self.views[slot.key].take(slot)
        self._put_aside(free)
        if made:
            add(self._parent, made)
            self._wanting = made[-1].__class__
        self.place()
        return True

    def prepare(self) -> None:
        """Make a few more widgets of the kind that was lacking, at a moment when nobody waits for them."""
        kind, self._wanting = self._wanting, None
        if kind is not None and len(self.idle) < MAX_IDLE - SPARE:
            spare = [kind() for _ in range(SPARE)]
            add(self._parent, spare)
            self._put_aside(spare)

    @property
    def is_lacking(self) -> bool:
        """Whether the last look found no widget of some kind."""
        return self._wanting is not None

    def place(self) -> None:
        """Put the widgets where they belong; those that are not mounted yet have no place."""
        regions: dict[Widget, Region] = {
            self.views[slot.key]: slot.region for slot in self._slots if slot.region is not None
        }
        place(self._parent, self.layout, regions)

    def clear(self) -> None:
        """Nothing is in view."""
        self.show(())

    def note_styles(self) -> None:
        """The stylesheet was applied anew: those that wait did not hear of it."""
        self._styles_seen += 1

    def _wake(self, view: LiveView) -> None:
        if view in self.idle:
            self.idle.remove(view)
            attach(self._parent, view)
            if self._styled.pop(view) != self._styles_seen:
                restyle(view)

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
    """One of this kind, best one that has its states already: other classes cost a look at the stylesheet."""
    same = [view for view in free if type(view) is slot.kind]
    return next((view for view in same if view.states == slot.states), next(iter(same), None))
