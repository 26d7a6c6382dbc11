"""The inspector's rows in the command table are what its widgets bind."""

from __future__ import annotations

import pytest
from textual.dom import DOMNode

import acp_tui.workbench
from acp_tui.workbench.inspector.frame_list import FrameList
from acp_tui.workbench.inspector.screen import InspectorScreen, QueryBar
from support.screen_checks import actions_without_methods, keys_not_bound, keys_without_rows


@pytest.mark.parametrize(
    ("place", "kind"),
    [("inspector", InspectorScreen), ("frames", FrameList), ("query", QueryBar)],
)
def test_the_table_and_the_inspector_have_the_same_keys(place: str, kind: type[DOMNode]) -> None:
    assert keys_not_bound(place, kind) == set()
    assert actions_without_methods(place, kind) == []


def test_each_key_of_the_room_is_in_the_table() -> None:
    assert keys_without_rows(acp_tui.workbench) == []
