"""The bindings that widgets take from the table of commands."""

from __future__ import annotations

import pytest
from textual.binding import Binding
from textual.widget import Widget

from acp_tui.ui.commands.table import bindings_of
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.permission.full_request import FullRequest
from acp_tui.ui.permission.permission_card import PermissionCard


def test_a_command_of_several_places_is_bound_as_it_is_at_one_of_them() -> None:
    with pytest.raises(ValueError, match="several places"):
        bindings_of("next_field")
    assert [each.action for each in bindings_of("next_field", at="card") if isinstance(each, Binding)] == ["choose(1)"]


@pytest.mark.parametrize("asks", [PermissionCard, FullRequest, FormCard])
def test_no_key_passes_by_the_guard_of_a_question(asks: type[Widget]) -> None:
    """A binding with priority acts before the question gets the key."""
    bound = [each for base in asks.mro() for each in vars(base).get("BINDINGS", ()) if isinstance(each, Binding)]
    assert any(each.action == "answer('1')" for each in bound) or asks is FormCard
    assert not [each for each in bound if each.priority]
