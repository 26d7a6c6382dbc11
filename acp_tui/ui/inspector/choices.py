"""What frames can be narrowed to, with how many there are of each; what is done with the choice is the screen's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.workbench.inspect.index import FrameIndex, Row
from acp_tui.workbench.inspect.search import DIRECTIONS, STATES, Field, Query, Term

_ABOUT = {
    "in": "from the agent",
    "out": "to the agent",
    "stderr": "the agent's stderr",
    "note": "what is known beside",
    "open": "requests without an answer",
    "error": "errors, and lines that are no message",
    "lint": "a rule of the protocol is broken",
    "junk": "lines that are no message",
}


def choices(index: FrameIndex, query: Query) -> list[PickerRow[Term]]:
    """A row for each term that could be added, or taken away again."""
    return [
        PickerRow(term, str(term), about, group, is_current=term in query)
        for group, term, about in _terms(index)
    ]


def _terms(index: FrameIndex) -> Iterator[tuple[str, Term, str]]:
    kinds: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    for label, count in zip(index.labels.values, index.labels.counts, strict=True):
        kinds[label.update] += count
        methods[label.method] += count
    yield from _of("kind", "Kinds of updates", kinds)
    yield from _of("method", "Methods", methods)
    yield from _of(
        "session", "Sessions", Counter(dict(zip(index.sessions.values, index.sessions.counts, strict=True)))
    )
    yield from (("Direction", Term("dir", value), _ABOUT[value]) for value in DIRECTIONS)
    yield from (("What it is", Term("is", value), _ABOUT.get(value, "")) for value in STATES)


def _of(field: Field, group: str, counts: Counter[str]) -> Iterator[tuple[str, Term, str]]:
    for value, count in counts.most_common():
        if value:
            yield group, Term(field, value.lower()), f"{count:,}"


def like(row: Row) -> Term:
    """What this frame and those like it are."""
    if row.label.update:
        return Term("kind", row.label.update.lower())
    if row.label.method:
        return Term("method", row.label.method.lower())
    return Term("dir", row.kind.value)
