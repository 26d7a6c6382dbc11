"""Changing one setting in the file leaves everything else in it unchanged."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client import private_files
from acp_tui.client.errors import SettingsError
from acp_tui.client.settings import writing
from acp_tui.client.settings.writing import TomlValue, write_setting

COMMENTED = """\
# mine

[workspace]  # what agents may have
read = 'on'   # all of it
# the end

[[refuse]]
command = 'git push'
"""
READ = ("workspace", "read")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


def given_file(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


# What changes, and what does not


def test_a_value_is_changed_and_comments_and_order_stay(file: Path) -> None:
    given_file(file, COMMENTED)

    write_setting(file, READ, "ask")

    assert file.read_text() == COMMENTED.replace("'on'", '"ask"')


def test_a_new_key_goes_into_the_section_that_is_there(file: Path) -> None:
    given_file(file, COMMENTED)

    write_setting(file, ("workspace", "write"), "off")

    assert tomllib.loads(file.read_text())["workspace"] == {"read": "on", "write": "off"}
    assert "# the end" in file.read_text()


def test_a_reset_takes_only_its_key_out(file: Path) -> None:
    given_file(file, COMMENTED)

    write_setting(file, READ, None)

    assert file.read_text() == COMMENTED.replace("read = 'on'   # all of it\n", "")


@pytest.mark.parametrize("path", [("workspace", "write"), ("appearance", "theme"), ("agent", "a", "b")])
def test_a_reset_of_what_is_not_set_leaves_the_file_alone(path: tuple[str, ...], file: Path) -> None:
    given_file(file, COMMENTED)

    write_setting(file, path, None)

    assert file.read_text() == COMMENTED


@pytest.mark.parametrize(
    "text",
    [
        "appearance.theme = 'nord'\n[workspace]\n",
        "appearance = { theme = 'nord' }\n",
        "[appearance]\ntheme = 'nord'\n[agent.trace_context]\nbaggage = 'b'\n",
        "[agent.trace_context]\nbaggage = 'b'\n[appearance]\ntheme = 'nord'",
        "[[refuse]]\nkind = 'edit'\n",
    ],
)
@pytest.mark.parametrize(
    ("path", "value"), [(("appearance", "ascii"), True), (("agent", "trace_context", "tracestate"), "x")]
)
def test_however_the_file_is_written_only_that_key_is_another(
    text: str, path: tuple[str, ...], value: TomlValue, file: Path
) -> None:
    given_file(file, text)
    wanted = tomllib.loads(text)
    table = wanted
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value

    write_setting(file, path, value)

    assert tomllib.loads(file.read_text()) == wanted


@given(value=st.text() | st.booleans() | st.integers(-(2**40), 2**40) | st.lists(st.text(max_size=8), max_size=3))
def test_every_value_is_read_back_as_it_was_written(value: TomlValue, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("any") / "settings.toml"

    write_setting(file, ("section", "key"), value)

    assert tomllib.loads(file.read_text(encoding="utf-8")) == {"section": {"key": value}}


# The file itself


def test_a_new_file_is_for_the_user_only_and_so_is_its_folder(file: Path) -> None:
    write_setting(file, READ, "ask")

    assert file.read_text() == '[workspace]\nread = "ask"\n'
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file)] == [0o700, 0o600]


def test_the_mode_of_a_file_stays(file: Path) -> None:
    given_file(file, "")
    file.chmod(0o644)

    write_setting(file, READ, "ask")

    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    given_file(file, "")
    link = tmp_path / "settings.toml"
    link.symlink_to(file)

    write_setting(link, READ, "ask")

    assert link.is_symlink()
    assert "ask" in file.read_text()


def test_what_was_written_meanwhile_is_not_lost(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_file(file, COMMENTED)
    contents = iter([COMMENTED, COMMENTED + "kind = 'edit'\n"])
    real = writing.content_of

    def content(path: Path) -> bytes:
        for text in contents:
            file.write_text(text)
            break
        return real(path)

    monkeypatch.setattr(writing, "content_of", content)
    write_setting(file, READ, "ask")

    assert tomllib.loads(file.read_text())["refuse"] == [{"command": "git push", "kind": "edit"}]
    assert tomllib.loads(file.read_text())["workspace"] == {"read": "ask"}


def test_nothing_is_left_behind_beside_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_file(file, COMMENTED)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(private_files.os, "fsync", fail)
    with pytest.raises(SettingsError, match=r"settings\.toml can't be changed: No space left on device"):
        write_setting(file, READ, "ask")

    assert [path.name for path in file.parent.iterdir()] == ["settings.toml"]
    assert file.read_text() == COMMENTED


# What can't be changed


def test_a_file_that_cannot_be_understood_is_left_alone_and_the_line_is_named(file: Path) -> None:
    given_file(file, "[workspace]\nread = on\n")

    with pytest.raises(SettingsError, match=r"settings\.toml can't be changed.*line 2"):
        write_setting(file, READ, "ask")

    assert file.read_text() == "[workspace]\nread = on\n"


def test_a_section_that_is_no_table_is_left_alone(file: Path) -> None:
    given_file(file, "workspace = 3\n")

    with pytest.raises(SettingsError, match=r"workspace\.read is written in a way"):
        write_setting(file, READ, "ask")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(file: Path) -> None:
    given_file(file, "")
    file.parent.chmod(0o500)

    with pytest.raises(SettingsError, match="Permission denied") as raised:
        write_setting(file, READ, "ask")

    assert "rights" in raised.value.hint
