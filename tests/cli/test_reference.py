"""The references of settings and keys, as the command line prints them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.cli.main import main
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.project_settings import FILE_NAME, read_project_settings
from acp_tui.client.settings.trust import Trust, remember, trust_file


def given_settings(text: str) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(text)


def test_settings_are_printed_with_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    given_settings("workspace.write = 'ask'\nappearance.asci = true\nappearance.theme = 'nrod'\nkeys.find = 'f99'")

    assert main(["settings"]) == 0

    told = capsys.readouterr()
    assert told.out.startswith(f"To change these: F12 in acp-tui, or {settings_file()}.\n")
    assert 'workspace.write = "ask"\n    Files an agent writes through acp-tui.' in told.out
    assert 'Default: "ask-if-unasked".' in told.out
    assert 'appearance.theme = "acp-dark"' in told.out
    unknown_key, unknown_theme, key, usual = told.err.splitlines()
    assert "did you mean ascii?" in unknown_key
    assert "there is no theme 'nrod'; known: " in unknown_theme
    assert unknown_theme.endswith("; acp-dark is shown instead")
    assert "keys.find: 'f99' is ignored" in key
    assert "keys.find: the default key stays in effect" in usual


def test_settings_that_match_a_word_are_printed_the_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "theme"]) == 0
    keys = [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines() if " = " in line[:40]]
    assert keys[0] == "appearance.theme"
    assert len(keys) < 10


@pytest.mark.parametrize("word", ["vim", "preset"])
def test_the_keys_of_vim_are_found(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", word]) == 0
    assert '`preset = "vim"`' in capsys.readouterr().out


def test_the_basic_keys_are_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys"]) == 0
    printed = capsys.readouterr().out.splitlines()
    column = next(line.index("Send the prompt") for line in printed if line.startswith("  send "))
    rows = [line for line in printed if line.startswith("  ")]
    assert all(line[column - 2 : column] == "  " and not line[column].isspace() for line in rows)


def test_the_themes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "appearance.theme"]) == 0
    assert "acp-dark, acp-light," in " ".join(capsys.readouterr().out.split())


def test_a_setting_of_a_key_is_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    given_settings('[keys]\nsend = "alt+s"\npreset = "vim"\n')
    assert main(["settings", "keys.send"]) == 0
    first, about, *_ = capsys.readouterr().out.splitlines()[1:]
    assert first == 'keys.send = ["alt+s"]'
    assert "Send the prompt" in about
    assert main(["settings", "keys.preset"]) == 0
    assert 'keys.preset = ["vim"]' in capsys.readouterr().out


@pytest.mark.parametrize(("typed", "shown"), [("ctrl+o", "toggle_all"), ("alt", "close_tab"), ("shot", "screenshot")])
def test_keys_are_found_by_their_own_names(typed: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", typed]) == 0
    assert shown in capsys.readouterr().out


def test_the_keys_begin_with_those_of_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys"]) == 0
    headings = re.findall(r"^\S.*", capsys.readouterr().out, re.MULTILINE)
    assert headings[:2] == ["In the prompt", "In several places"]


@pytest.mark.parametrize("key", ["move_up", "move_down", "page_up", "page_down"])
def test_what_scrolls_is_found(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "scroll"]) == 0
    assert key in capsys.readouterr().out


def test_keys_that_match_a_word_are_printed_rare_ones_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "unfold"]) == 0
    told = capsys.readouterr().out
    assert "toggle_all" in told
    assert "open_paste" in told
    assert "send_form" not in told


@pytest.mark.parametrize(("typed", "has_others"), [("fold", False), ("fol", True)])
def test_where_a_word_is_whole_longer_ones_are_not_meant(
    typed: str, has_others: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", typed]) == 0
    told = capsys.readouterr().out
    assert "toggle_all" in told
    assert ("sessions_folders" in told) is has_others
    assert main(["help", typed]) == 0
    told = capsys.readouterr().out
    assert "Keys: In the conversation" in told
    assert ("Permissions: In a sandbox" in told) is has_others


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("settings foo", "no setting matches 'foo'"),  # its letters are in needs_you, among others
        ("settings theme nord", "no setting matches 'theme nord'"),
        ("settings themee", "no setting matches 'themee'; did you mean theme?"),
        ("keys nothing", "no key or command matches 'nothing'"),  # its letters are in "Send the prompt into …"
        ("keys vim", "no key or command matches 'vim'; to turn it on: acp-tui settings vim"),
        ("keys mouse", "no key or command matches 'mouse'"),
        ("keys serach", "no key or command matches 'serach'; did you mean search?"),
        ("keys qweue now", "no key or command matches 'qweue now'; did you mean queue now?"),
        ("sessions foo --all", "No recorded session contains 'foo'."),
    ],
)
def test_words_that_nothing_contains_are_said_and_fail(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed.split()) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.partition("; to change one: ")[0].rstrip()) == ("", f"acp-tui: {said}")
    assert main([*typed.split(), "--format", "json"]) == 1
    assert '"data": []' in capsys.readouterr().out


def test_without_a_file_of_settings_its_place_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings"]) == 0
    where = f"F12 in acp-tui, or {settings_file()}, which is not there yet"
    assert capsys.readouterr().out.startswith(f"To change these: {where}.\n")


def test_who_wants_to_set_something_is_told_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "theme", "nord"]) == 1
    where = f"F12 in acp-tui, or {settings_file()}, which is not there yet"
    assert capsys.readouterr().err == f"acp-tui: no setting matches 'theme nord'; to change one: {where}\n"


def test_a_trusted_projects_settings_hold_where_it_lies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FILE_NAME).write_text("workspace.read = 'off'")
    project = read_project_settings(tmp_path)
    assert project is not None
    main(["settings", "--cwd", str(tmp_path)])
    before = capsys.readouterr()
    remember(project, Trust.TRUSTED, trust_file())
    main(["settings", "--cwd", str(tmp_path)])
    after = capsys.readouterr()

    assert ('workspace.read = "on"' in before.out, 'workspace.read = "off"' in after.out) == (True, True)
    assert "you haven't trusted it yet" in before.err
    assert after.err == ""


def test_keys_are_printed_as_the_user_chose_them(capsys: pytest.CaptureFixture[str]) -> None:
    given_settings('[keys]\nfind = "ctrl+o"\n')

    assert main(["keys"]) == 0

    told = capsys.readouterr()
    assert "Ctrl+O /find                  Find in the conversation" in told.out
    assert "Ctrl+O is taken from toggle_all" in told.err


def test_a_command_without_a_key_is_printed_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "/rename"]) == 0
    assert "  rename_session  /rename                       Rename the session" in capsys.readouterr().out


def test_a_rule_that_cannot_be_read_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    given_settings("[[refuse]]\nkind = 3")

    assert main(["settings"]) == 2
    assert "refuse[0].kind" in capsys.readouterr().err


def test_output_that_nobody_reads_to_its_end_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stdout:
        ended = subprocess.run(
            (sys.executable, "-m", "acp_tui", "settings"), stdout=stdout, stderr=subprocess.PIPE, check=False
        )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_on_a_terminal_what_a_key_does_is_wrapped_in_its_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["keys"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    column = next(line.index("Send the prompt") for line in lines if "Send the prompt" in line)
    assert " " * column + "the turn" in lines
    ways = next(at for at, line in enumerate(lines) if line.endswith("Ctrl+J Shift+Enter Alt+Enter"))
    assert lines[ways + 1] == " " * column + "New line"

    monkeypatch.setenv("COLUMNS", "40")
    assert main(["keys"]) == 0
    assert "      Send the prompt" in capsys.readouterr().out.splitlines()
