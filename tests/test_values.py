"""`acp_tui.values.dataclass` compared with the standard one: classes made by either behave the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import weakref
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from acp_tui import values

Decorator = Callable[..., Any]
T = TypeVar("T")


def point_made_by(dataclass: Decorator) -> type[Any]:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        KIND: ClassVar[str] = "point"
        x: int
        y: int = 0
        """A field's docstring stands below it."""
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)
        sum: int = field(init=False)
        seen: list[str] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            object.__setattr__(self, "sum", self.x + self.y)

        @property
        def is_origin(self) -> bool:
            """A property of its own."""
            return self.x == 0 == self.y

    return Point


@values.dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, as pickle requires."""

    name: str
    size: int = 3


BOTH = pytest.mark.parametrize("dataclass", [values.dataclass, dataclasses.dataclass], ids=["ours", "standard"])


@BOTH
def test_arguments_become_fields(dataclass: Decorator) -> None:
    point = point_made_by(dataclass)

    made = point(1, tags=["a"], note="n")

    assert (made.x, made.y, made.tags, made.note, made.sum, made.seen) == (1, 0, ["a"], "n", 1, [])
    assert point(1).tags is not point(1).tags
    assert point.KIND == "point"
    assert point(0).is_origin


@BOTH
@pytest.mark.parametrize("arguments", [{}, {"x": 1, "z": 2}, {"x": 1, "sum": 2}])
def test_wrong_arguments_are_refused(dataclass: Decorator, arguments: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="__init__"):
        point_made_by(dataclass)(**arguments)


@BOTH
def test_values_are_compared_by_what_counts(dataclass: Decorator) -> None:
    point = point_made_by(dataclass)

    assert point(1, 2, note="a") == point(1, 2, note="b")
    assert point(1, 2) != point(1, 3)
    assert point(1) != point_made_by(dataclass)(1)


@BOTH
def test_values_without_lists_are_hashed(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Name(Generic[T]):
        first: T

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert len({Name("a"), Name("a"), Name("b"), Nothing(), Nothing()}) == 3
    assert Name[str].__origin__ is Name  # type: ignore[attr-defined]  # of every subscripted generic


@BOTH
def test_the_text_of_a_value_is_how_it_is_made(dataclass: Decorator) -> None:
    text = repr(point_made_by(dataclass)(1))

    assert text.endswith(".<locals>.Point(x=1, y=0, tags=[], sum=1, seen=[])")


@BOTH
def test_a_value_cannot_be_changed(dataclass: Decorator) -> None:
    made = point_made_by(dataclass)(1)

    with pytest.raises(dataclasses.FrozenInstanceError):
        made.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del made.x
    assert not hasattr(made, "__dict__")


@BOTH
def test_a_mutable_class_can_be_changed_and_not_hashed(dataclass: Decorator) -> None:
    @dataclass(slots=True, weakref_slot=True)
    class Counted:
        count: int = 0
        names: list[str] = field(default_factory=list)

    made = Counted()
    made.count += 1

    assert made == Counted(1)
    assert weakref.ref(made)() is made
    assert not hasattr(made, "__dict__")
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


@BOTH
def test_the_tools_of_the_standard_library_know_it(dataclass: Decorator) -> None:
    point = point_made_by(dataclass)
    made = point(1, 2)

    assert dataclasses.is_dataclass(point)
    names = ["x", "y", "tags", "note", "sum", "seen"]
    assert [each.name for each in dataclasses.fields(made)] == names
    assert dataclasses.replace(made, x=5).sum == 7
    assert dataclasses.asdict(made)["tags"] == []
    assert point.__match_args__ == ("x", "y", "tags", "note")
    match made:
        case point(1, y):
            assert y == 2
        case _:
            pytest.fail("it matches no pattern")


@BOTH
def test_methods_of_its_own_are_kept(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Word:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Word) and other.text.lower() == self.text.lower()

        def __repr__(self) -> str:
            return self.text

    @dataclass(frozen=True, slots=True, eq=False)
    class Thing:
        text: str

    assert Word("A") == Word("a")
    assert repr(Word("A")) == "A"
    assert hash(Word("A")) == hash(Word("A"))
    assert Thing("a") != Thing("a")


def test_a_value_is_copied_and_packed() -> None:
    made = Kept("a")

    assert copy.copy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made
