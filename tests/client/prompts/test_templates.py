"""Prompt templates: files that become slash commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.prompts.templates import MAX_BYTES, templates
from acp_tui.client.settings.location import settings_file
from acp_tui.conversation.facts import OfferedCommand


def yours(name: str, text: str) -> Path:
    return _written(settings_file().parent / "prompts" / f"{name}.md", text)


def projects(root: Path, name: str, text: str) -> Path:
    return _written(root / ".acp-tui" / "prompts" / f"{name}.md", text)


def _written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_is_a_command_with_what_its_head_says_or_its_first_line(home: Path, tmp_path: Path) -> None:
    yours("review", "---\ndescription: Look over a file\nargument-hint: FILE\n---\nReview $1.\n")
    yours("tidy", "# Tidy up\n\nRemove what is dead.\n")
    found = templates(tmp_path)
    assert [one.offered for one in found.values()] == [
        OfferedCommand("review", "Look over a file", "FILE"),
        OfferedCommand("tidy", "Tidy up", None),
    ]
    assert found["tidy"].prompt("") == "# Tidy up\n\nRemove what is dead."


@pytest.mark.parametrize(
    ("text", "arguments", "prompt"),
    [
        ("Review $1 for $2, not $3.", "a.py speed", "Review a.py for speed, not ."),
        ("Say: $ARGUMENTS!", "two  words", "Say: two  words!"),
        ("Cost: $10, $x, $1", "a $2", "Cost: $10, $x, a"),
        ("Do it.", "", "Do it."),
        ("Do it.", "with care", "Do it.\n\nwith care"),
    ],
)
def test_arguments_go_where_the_text_wants_them(
    home: Path, tmp_path: Path, text: str, arguments: str, prompt: str
) -> None:
    yours("it", text)
    assert templates(tmp_path)["it"].prompt(arguments) == prompt


def test_a_projects_templates_come_after_the_users_own(home: Path, tmp_path: Path) -> None:
    yours("release", "mine")
    projects(tmp_path, "release", "theirs")
    projects(tmp_path, "check", "theirs")
    found = templates(tmp_path)
    assert {name: (one.text, one.is_projects) for name, one in found.items()} == {
        "release": ("mine", False),
        "check": ("theirs", True),
    }


def test_what_is_no_plain_file_of_a_fitting_size_is_no_template(home: Path, tmp_path: Path) -> None:
    projects(tmp_path, "huge", "a" * (MAX_BYTES + 1))
    link = projects(tmp_path, "good", "good").with_name("link.md")
    link.symlink_to("/etc/passwd")
    link.with_name("folder.md").mkdir()
    link.with_name("notes.txt").write_text("no")
    for name in (".hidden", "two words", "new\nline", "red\x1b[31m", "\u202eright"):
        projects(tmp_path, name, "no")
    projects(tmp_path, "empty", "\n")
    assert [*templates(tmp_path)] == ["good"]


def test_a_byte_order_mark_is_not_of_the_head(home: Path, tmp_path: Path) -> None:
    yours("review", "\ufeff---\ndescription: Look over a file\n---\nReview it.\n")
    assert templates(tmp_path)["review"].offered.description == "Look over a file"
