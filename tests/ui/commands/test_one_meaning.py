"""A key that decides, rejects, or reverts somewhere means that and nothing else on each screen that can do so."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import Any, Final

from textual.binding import Binding

from acp_tui.conversation.permission_requests import LETTERS
from acp_tui.ui.changes.list import ChangesScreen
from acp_tui.ui.changes.review import ReviewScreen
from acp_tui.ui.dialogs.trust import TrustDialog
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.permission.full_request import FullRequest
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.replay.screen import ReplayScreen
from acp_tui.ui.tab.sessions_dialog import SessionsDialog

SCREENS: Final = (
    PermissionCard,
    FullRequest,
    FormCard,
    QuestionScreen,
    SessionsDialog,
    ChangesScreen,
    ReviewScreen,
    ReplayScreen,
)
MEANINGS: Final = {
    "answer('y')": "yes",
    "answer(True)": "yes",
    "confirm": "yes",
    "answer('n')": "no",
    "answer(False)": "no",
    "refuse": "no",
    "answer('a')": "always",
    "reject_and_say_why": "reject and say why",
    "revert": "revert",
    "revert_hunk": "revert",
    "revert_file": "revert the file",
    "undo": "undo a revert",
    "delete": "delete",
    "copy_back": "copy a file back",
    "decline": "decline",
    **{f"{name}({quote}{number}{quote})": f"answer {number}" for number in range(1, 10)
       for name, quote in (("answer", "'"), ("number", ""))},
}  # fmt: skip
"""What the actions mean that decide, reject, or revert. Enter, which confirms what is chosen, is the same anywhere."""


def _keys_of(screen: Any) -> list[tuple[str, str]]:
    bindings = Binding.make_bindings(chain(*(kind.__dict__.get("BINDINGS", ()) for kind in screen.__mro__)))
    return [(binding.key, binding.action) for binding in bindings]


def test_a_key_that_decides_somewhere_means_nothing_else_elsewhere() -> None:
    told: dict[str, set[str]] = defaultdict(set)
    for screen in SCREENS:
        for key, action in _keys_of(screen):
            told[key].add(MEANINGS.get(action, action))
    deciding = {key for key, meanings in told.items() if meanings & {*MEANINGS.values()}} - {"enter", "escape"}
    assert {"y", "n", "a", "w", "x", "X", "1", "0"} <= deciding
    assert {key: told[key] for key in deciding if len(told[key]) > 1} == {}


def test_each_letter_that_answers_a_request_is_one_of_those() -> None:
    bound = dict(_keys_of(PermissionCard))
    assert all(bound[letter] == f"answer('{letter}')" for letter in LETTERS.values())


def test_no_dialog_that_comes_by_itself_has_other_keys() -> None:
    dialogs = _below(QuestionScreen)
    assert TrustDialog in dialogs
    assert [kind for kind in dialogs if "BINDINGS" in vars(kind)] == []


def _below(kind: type) -> list[type]:
    return [each for below in kind.__subclasses__() for each in (below, *_below(below))]
