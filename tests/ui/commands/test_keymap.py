"""Which keys are in effect: the user's choices, what they take from other commands, and what isn't possible."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path

import pytest
from textual.dom import DOMNode

import acp_tui.ui
from acp_tui.client.settings.settings import KeyChoice
from acp_tui.ui.app.settings.screen import SettingEditor, SettingsScreen
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.changes.list import ChangesScreen
from acp_tui.ui.changes.review import ReviewScreen
from acp_tui.ui.commands.command import PLACES
from acp_tui.ui.commands.keymap import BY_ID, DEFAULT_KEYMAP, NEEDED, keymap_of
from acp_tui.ui.commands.table import BASIC, COMMANDS, FIRST, LATER, bindings
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.dialogs.agent_offers import CapabilityCard
from acp_tui.ui.dialogs.agents import AgentsScreen
from acp_tui.ui.kit.dialog import Dialog
from acp_tui.ui.kit.field_editors import ChoiceRows
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.pickers import ReadingScreen
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.permission.form_card import FormCard
from acp_tui.ui.permission.full_request import FullRequest, RequestScreen
from acp_tui.ui.permission.permission_card import PermissionCard
from acp_tui.ui.prompt.input import PLACEHOLDER, PromptInput
from acp_tui.ui.prompt.recall import HistorySearch
from acp_tui.ui.replay.panel import RecordedView
from acp_tui.ui.replay.screen import ReplayScreen
from acp_tui.ui.session.find_bar import KEYS, FindBar
from acp_tui.ui.session.plan_view import PlanView
from acp_tui.ui.session.sidebar import Sidebar
from acp_tui.ui.session.status_line import STATES
from acp_tui.ui.session.welcome import Welcome
from acp_tui.ui.tab import queue_lines
from acp_tui.ui.tab.going_back import GoBackDialog
from acp_tui.ui.tab.queue_lines import QueueLines
from acp_tui.ui.tab.sessions_dialog import SessionsDialog
from acp_tui.ui.tab.several import CompareDialog, SeveralDialog
from support.screen_checks import actions_without_methods, keys_not_bound, keys_without_rows

PROMPT = ("prompt", "session", "app")
CARD = ("card", "session", "app")
CONVERSATION = ("conversation", "session", "app")
SHARED = {"reading", "moving"}
WIDGETS: dict[str, tuple[type[DOMNode], ...]] = {
    "prompt": (PromptInput,),
    "queue": (QueueLines,),
    "history": (HistorySearch,),
    "conversation": (ConversationView,),
    "plan": (PlanView,),
    "welcome": (Welcome,),
    "card": (PermissionCard,),
    "question": (FormCard,),
    "review": (FullRequest, RequestScreen),
    "find": (FindBar,),
    "sidebar": (Sidebar,),
    "replay": (ReplayScreen, RecordedView),
    "sessions": (SessionsDialog,),
    "prompts": (GoBackDialog,),
    "agents": (AgentsScreen,),
    "several": (SeveralDialog,),
    "comparison": (CompareDialog,),
    "agent": (CapabilityCard,),
    "changes": (ChangesScreen,),
    "diff": (ReviewScreen,),
    "settings": (SettingsScreen,),
    "setting": (SettingEditor,),
    "dialog": (BaseApp, Dialog),
    "page": (ReadingScreen,),
    "list": (FilteredList,),
    "choices": (ChoiceRows,),
    "ask": (QuestionScreen,),
}


def chosen(**keys: str | list[str]) -> tuple[KeyChoice, ...]:
    return tuple(
        KeyChoice(id_, tuple(key if isinstance(key, list) else [key] if key else [])) for id_, key in keys.items()
    )


# The table


def test_a_command_has_the_same_keys_in_each_of_its_places() -> None:
    keys = {command.id: (command.keys, command.fixed_characters) for command in COMMANDS}
    assert [row.id for row in COMMANDS if (row.keys, row.fixed_characters) != keys[row.id]] == []
    assert len({(row.id, row.where) for row in COMMANDS}) == len(COMMANDS)


def test_what_comes_first_exists() -> None:
    assert {*BASIC, *FIRST, *LATER} <= {*BY_ID, "inspect"}  # which the workbench brings


def test_the_widgets_of_all_places_are_known_here() -> None:
    not_here = {"session", "app", "inspector", "query", "frames", "frame", *SHARED} | {
        "terminal"
    }  # which takes all keys but one
    assert {*PLACES} - not_here == {*WIDGETS}


def test_whoever_takes_a_shared_key_does_what_it_says() -> None:
    shared = {command.id: command for command in COMMANDS if command.where in SHARED}
    for widget in {widget for widgets in WIDGETS.values() for widget in widgets}:
        for binding in vars(widget).get("BINDINGS", ()):
            command = shared.get(binding.id)
            if command is not None:
                assert hasattr(widget, f"action_{command.own_action.partition('(')[0]}"), (widget, command.id)


def test_a_key_for_moving_moves_wherever_one_moves() -> None:
    keymap = keymap_of(chosen(move_down=["down", "ctrl+n"]))
    assert keymap.notes == ("keys.move_down: Ctrl+N is taken from begin_session (in several places)",)
    for places in (CARD, CONVERSATION, ("sessions", "dialog", "app"), ("diff", "reading", "dialog", "app")):
        assert keymap.meaning((*places, "moving"), "ctrl+n") == "down"
        assert keymap.meaning((*places, "moving"), "down") == "down"


def test_in_one_place_a_key_means_one_thing() -> None:
    at = sorted(
        ("all" if command.where in ("session", "app") else command.where, key, command.id)
        for command in COMMANDS
        for key in DEFAULT_KEYMAP.keys[command.id]
    )
    assert [list(group) for _, group in groupby(at, lambda one: one[:2]) if len(list(group)) > 1] == []


@pytest.mark.parametrize("place", WIDGETS)
def test_the_table_and_the_widgets_have_the_same_keys(place: str) -> None:
    # The text area itself handles what moves the cursor in the prompt.
    assert keys_not_bound(place, *WIDGETS[place]) <= {"up", "down"}


def test_each_key_of_ours_is_in_the_table() -> None:
    assert keys_without_rows(acp_tui.ui) == []


@pytest.mark.parametrize("place", [place for place in WIDGETS if place != "dialog"])
def test_each_action_in_the_table_is_a_method(place: str) -> None:
    assert actions_without_methods(place, *WIDGETS[place]) == []


def test_no_binding_of_the_session_takes_what_is_typed() -> None:
    assert [each for each in bindings() if "question_mark" in each.key.split(",")] == []


# What the user chooses


def test_without_a_choice_every_key_is_what_it_was() -> None:
    assert keymap_of(()) == DEFAULT_KEYMAP
    assert {DEFAULT_KEYMAP.meaning(PROMPT, key) for key in ("f9", "enter", "x")} == {"f9", "enter", "x"}


def test_a_chosen_key_runs_the_command_and_the_usual_one_does_nothing() -> None:
    keymap = keymap_of(chosen(find="ctrl+f"))

    assert keymap.meaning(PROMPT, "ctrl+f") is BY_ID["find"]
    assert keymap.meaning(PROMPT, "f9") == ""
    assert keymap.shown("find") == "Ctrl+F"


def test_for_a_widget_a_chosen_key_becomes_the_one_that_it_knows() -> None:
    keymap = keymap_of(chosen(review="v", send="ctrl+g", edit_draft="f11"))

    assert keymap.meaning(CARD, "v") == "f"
    assert keymap.meaning(CARD, "f") == ""
    assert keymap.meaning(PROMPT, "ctrl+g") == "enter"
    assert keymap.meaning(PROMPT, "enter") == ""


def test_two_commands_can_change_their_keys() -> None:
    keymap = keymap_of(chosen(toggle_plan="ctrl+o", toggle_all="ctrl+t"))

    assert keymap.meaning(PROMPT, "ctrl+o") is BY_ID["toggle_plan"]
    assert keymap.meaning(PROMPT, "ctrl+t") is BY_ID["toggle_all"]
    assert keymap.notes == ()


def test_a_key_of_the_card_is_not_taken_for_what_is_below_it() -> None:
    keymap = keymap_of(chosen(field_before="q", next_mode="ctrl+g"))

    assert keymap.meaning(CARD, "shift+tab") == ""
    assert keymap.meaning(PROMPT, "ctrl+g") is BY_ID["next_mode"]


def test_no_key_is_a_choice_too() -> None:
    keymap = keymap_of(chosen(toggle_plan=""))

    assert (keymap.keys["toggle_plan"], keymap.notes) == ((), ())
    assert keymap.meaning(PROMPT, "ctrl+t") == ""


def test_a_question_mark_is_help_outside_of_texts_only_and_can_be_given_up() -> None:
    assert DEFAULT_KEYMAP.meaning(CARD, "question_mark") is BY_ID["help"]
    assert keymap_of(chosen(help="f1")).meaning(CARD, "question_mark") == "question_mark"


def test_a_dialog_has_keys_to_choose_and_help_has_the_same_key_everywhere() -> None:
    keymap = keymap_of(chosen(sessions_remove="ctrl+g", help="f11"))
    sessions = ("sessions", "dialog", "app")
    assert [keymap.meaning(sessions, key) for key in ("ctrl+g", "ctrl+x", "y")] == ["ctrl+x", "", "y"]
    assert [keymap.meaning(sessions, key) for key in ("f11", "f1")] == [BY_ID["help"], ""]
    assert keymap.notes == ()


# What a choice costs, and what isn't possible


def notes(**keys: str | list[str]) -> str:
    return "\n".join(keymap_of(chosen(**keys)).notes)


def test_a_key_that_is_taken_from_another_command_is_named() -> None:
    keymap = keymap_of(chosen(find="ctrl+o"))

    assert keymap.notes == ("keys.find: Ctrl+O is taken from toggle_all (in several places)",)
    assert keymap.keys["toggle_all"] == ()


def test_the_first_of_two_choices_for_a_key_holds() -> None:
    keymap = keymap_of(chosen(find="f3", toggle_plan="f3"))

    assert (keymap.keys["find"], keymap.keys["toggle_plan"]) == (("f3",), ("ctrl+t",))
    assert "keys.toggle_plan: 'f3' is ignored: you already gave it to find" in keymap.notes


@pytest.mark.parametrize(
    ("id_", "key", "why"),
    [
        ("find", "nokey", "there is no such key"),
        ("send", "x", "in the prompt it types a character"),
        ("quit", "q", "everywhere it types a character"),
        ("sessions_pin", "p", "in the list of sessions it types a character"),
        ("find", "enter", "text field needs it"),
        ("review", "3", "digits and y, a, n always answer permission requests"),
        ("find", "3", "digits and y, a, n always answer permission requests"),
        ("restart", "shift+3", "digits and y, a, n always answer permission requests"),
        ("find", "ctrl+q", "quit would be left no key"),
        ("new_line", "enter", "send would be left no key"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason_and_the_usual_key_holds(id_: str, key: str, why: str) -> None:
    keymap = keymap_of(chosen(**{id_: key}))

    assert keymap.keys == DEFAULT_KEYMAP.keys
    assert keymap.notes[0].startswith(f"keys.{id_}: {key!r} is ignored: ")
    assert why in keymap.notes[0]
    assert "the default key stays in effect" in keymap.notes[1]


def test_enter_can_make_a_new_line_where_another_key_sends() -> None:
    keymap = keymap_of(chosen(send="ctrl+enter", new_line="enter"))

    assert keymap.meaning(PROMPT, "enter") == "ctrl+j"
    assert keymap.meaning(PROMPT, "ctrl+enter") == "enter"
    assert keymap.notes == ()


@pytest.mark.parametrize("id_", sorted(NEEDED))
def test_there_is_always_a_way_out_and_to_an_answer(id_: str) -> None:
    keymap = keymap_of(chosen(**{id_: ""}))

    assert keymap.keys[id_] == DEFAULT_KEYMAP.keys[id_]
    assert "must have a key" in keymap.notes[0]


def test_a_misspelt_command_is_named_with_what_may_be_meant() -> None:
    assert notes(fnid="f3") == (
        "keys.fnid: there is no command with that name and a key you can set; did you mean find?"
    )
    assert notes(presett="vim").endswith("did you mean preset?")
    assert "`acp-tui keys` lists the commands" in notes(zzz="f3")


def test_what_is_typed_is_no_key_to_choose() -> None:
    assert "there is no command with that name" in notes(shell="f3")


# Hints


def test_hints_name_the_keys_in_force_and_leave_out_what_has_none() -> None:
    keymap = keymap_of(chosen(find="ctrl+f", toggle_plan=""))

    assert keymap.hint("look; {find} finds; {toggle_plan} folds") == "look; Ctrl+F finds"
    assert keymap.hint("{toggle_plan} folds") == ""
    assert keymap.hint("↑ ↓ read · {toggle_plan} fold · Esc close") == "↑ ↓ read · Esc close"
    assert keymap.hint("It is folded. Press {toggle_plan} to unfold it.") == "It is folded."
    assert keymap.hint(" · {find}") == " · Ctrl+F"


@pytest.mark.parametrize(
    "hints",
    [
        (PLACEHOLDER,),
        KEYS,
        (PermissionCard.RAW_HINT, FullRequest.RAW_HINT),
        (*queue_lines.KEYS, *queue_lines.WAYS_IN[:-1]),
        tuple(words for _, _, words in STATES.values() if words),
    ],
)
def test_every_hint_has_a_key(hints: tuple[str, ...]) -> None:
    assert "" not in map(DEFAULT_KEYMAP.hint, hints)


def test_no_hint_names_a_command_that_is_gone() -> None:
    """Where a hint names a command without a key, that part isn't shown, so a wrong name would go unseen."""
    strings = chain.from_iterable(map(_strings, Path(acp_tui.ui.__file__).parent.rglob("*.py")))
    named = [re.findall(r"(?<!{){(\w+)}(?!})", text) for text in strings]
    assert {name for names in named if {*names} & {*BY_ID} for name in names} - {*BY_ID} == set()


def _strings(file: Path) -> Iterator[str]:
    """The texts in a module, a formatted one as it's written."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


# Presets


def test_the_vim_preset_adds_keys_for_reading_and_takes_none_from_the_prompt() -> None:
    keymap = keymap_of(chosen(preset="vim"))
    reading, writing = ("conversation", "session", "app", "moving"), ("prompt", "app")
    assert keymap.command_at(reading, "j") is BY_ID["move_down"]
    assert keymap.command_at(reading, "down") is BY_ID["move_down"]
    assert keymap.command_at(reading, "slash") is BY_ID["find"]
    assert keymap.command_at(writing, "j") is None
    assert keymap.notes == ()


def test_keys_you_set_go_before_those_of_a_preset() -> None:
    keymap = keymap_of(chosen(preset="vim", move_down="x", page_up="k"))
    assert keymap.keys["move_down"] == ("x",)
    assert keymap.keys["page_up"] == ("k",)
    assert keymap.keys["move_up"] == ("up",)


def test_an_unknown_preset_is_named_with_the_known_ones() -> None:
    assert keymap_of(chosen(preset="emacs")).notes == (
        "keys.preset: there is no preset 'emacs'; known: vim, vim-prompt",
    )
