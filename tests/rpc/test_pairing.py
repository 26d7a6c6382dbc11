"""Which answer belongs to which request: matched by the asking side, and by IDs of the same type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.rpc import Direction, Pairing

IN, OUT = Direction.IN, Direction.OUT
IDS = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from([0.0, 1.0, 1.5]), st.sampled_from("01"))


def test_an_answer_goes_to_the_other_sides_request_and_only_once() -> None:
    pairing: Pairing[str] = Pairing()
    pairing.ask(OUT, 1, "ours")
    pairing.ask(IN, 1, "theirs")
    assert pairing.answer(IN, 1) == "ours"
    assert pairing.answer(IN, 1) is None
    assert pairing.answer(OUT, 1) == "theirs"


@pytest.mark.parametrize("other", [1.0, True, "1", None, [1], {"id": 1}])
def test_ids_of_another_type_are_others(other: Any) -> None:
    pairing: Pairing[str] = Pairing()
    pairing.ask(OUT, 1, "ours")
    assert pairing.answer(IN, other) is None
    assert list(pairing.all_waiting(OUT)) == ["ours"]


def test_a_second_request_of_the_same_id_takes_the_place_of_the_first() -> None:
    pairing: Pairing[str] = Pairing()
    assert pairing.ask(IN, "a", "first") is None
    assert pairing.ask(IN, "a", "second") == "first"
    assert pairing.answer(OUT, "a") == "second"


def test_with_a_limit_the_oldest_is_forgotten_and_that_is_known() -> None:
    pairing: Pairing[int] = Pairing(limit=2)
    for number in range(3):
        pairing.ask(OUT, number, number)
    assert list(pairing.all_waiting(OUT)) == [1, 2]
    assert (pairing.has_forgotten(OUT), pairing.has_forgotten(IN)) == (True, False)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(Direction), IDS)))
def test_any_stream_is_paired_as_a_plain_list_would(frames: list[tuple[bool, Direction, Any]]) -> None:
    pairing: Pairing[int] = Pairing()
    waiting: list[tuple[Direction, type, Any, int]] = []
    for number, (is_request, side, request_id) in enumerate(frames):
        asker = side if is_request else side.opposite
        same = [each for each in waiting if each[:3] == (asker, type(request_id), request_id)]
        expected = same[0][3] if same else None
        waiting = [each for each in waiting if each not in same]
        if is_request:
            assert pairing.ask(side, request_id, number) == expected
            waiting.append((asker, type(request_id), request_id, number))
        else:
            assert pairing.answer(side, request_id) == expected
    for side in Direction:
        assert list(pairing.all_waiting(side)) == [each[3] for each in waiting if each[0] is side]
