"""Moves child widgets without the full screen layout that Textual 8.2.8 does for every move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import NULL_SPACING, Offset, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.map_geometry import MapGeometry
from textual.widget import Widget


class PlacedLayout(Layout):
    """Puts children where the parent has placed them, at its full width. Others have no place."""

    name = "placed"

    def __init__(self) -> None:
        self.regions: Mapping[Widget, Region] = {}
        """Relative to the parent."""

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Place the children that have a region."""
        mounted = set(children)
        return [
            WidgetPlacement(Region(0, region.y, size.width, region.height), Offset(), NULL_SPACING, child)
            for child, region in self.regions.items()
            if child in mounted
        ]


class DetachedOwner(Widget):
    """A widget whose detached children end with it. Textual ends only what is in the DOM."""

    @property
    def detached(self) -> Iterable[Widget]:
        """The children that were detached, and still run."""
        raise NotImplementedError

    def _get_virtual_dom(self) -> Iterable[Widget]:
        yield from super()._get_virtual_dom()
        yield from self.detached


def place(parent: Widget, layout: PlacedLayout, regions: Mapping[Widget, Region]) -> None:
    """Move the children. Does a full layout if the parent itself isn't laid out yet.

    The parent decides what to repaint.
    """
    before, layout.regions = layout.regions, regions
    parent._clear_arrangement_cache()
    compositor = parent.screen._compositor
    maps = [known for known in (compositor._full_map, compositor._visible_map) if known is not None]
    if not all(parent in known for known in maps):
        parent.refresh(layout=True)
        return
    gone = before.keys() - regions.keys()
    compositor.widgets.difference_update(gone)
    placed = [(child, region) for child, region in reversed(list(regions.items())) if getattr(child, "is_ready", True)]
    compositor.widgets.update(child for child, _ in placed)
    for known in maps:
        for child in gone:
            known.pop(child, None)
        at = known[parent]
        clip, depth = at.clip.intersection(at.region), at.order[-1][2]
        for number, (child, virtual) in enumerate(placed):
            # Exactly what a layout would compute; otherwise the next layout would repaint everything.
            order = (*at.order, (0, 0, depth - number))
            size = virtual.size
            region = virtual.translate(at.region.offset)
            known[child] = MapGeometry(region, order, clip, size, size, virtual, NULL_SPACING)
    for child, region in placed:
        child._size_updated(region.size, region.size, region.size, layout=False)
    compositor._cuts = compositor._layers = compositor._layers_visible = compositor._visible_widgets = None
    over = parent.app.mouse_over
    if over is parent or (over is not None and over.parent is parent):
        parent.app._update_mouse_over(parent.screen)


def add(parent: Widget, children: Iterable[Widget]) -> None:
    """Mount new children, without a place yet. `Widget.mount` would lay out and paint the whole parent."""
    parent.app._register(parent, *children)


def detach(parent: Widget, child: Widget) -> None:
    """Remove a child from the DOM. It keeps running; a `DetachedOwner` ends it."""
    parent._nodes._remove(child)


def attach(parent: Widget, child: Widget) -> None:
    """Put a detached child back."""
    parent._nodes._append(child)


def restyle(child: Widget) -> None:
    """Apply the stylesheet, which may have changed while the child was detached."""
    child.app.stylesheet.apply(child)


def rules_for(
    parent: Widget, kind: type[Widget], classes: Collection[str], parts: Iterable[str]
) -> Iterator[tuple[str, RenderStyles]]:
    """The stylesheet's styles for a child of this kind, under "", and for its component classes.

    Yields only component classes that appear in a rule.
    """
    stylesheet = parent.app.stylesheet
    wanted = frozenset(classes)
    child = next((each for each in parent.children if type(each) is kind and each.classes == wanted), None)
    if child is None:
        child = kind(classes=" ".join(classes))
        child._attach(parent)
        stylesheet.apply(child)
    yield "", child.styles
    named = stylesheet.rules_map
    for part in parts:
        if f".{part}" in named:
            node = DOMNode(classes=part)
            node._attach(child)
            stylesheet.apply(node)
            yield part, node.styles
