"""What programs print when a sandbox is in their way becomes a sentence with the line of the settings that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sandbox import Access
from acp_tui.client.settings.settings import READ_ONLY, SandboxProfile
from support.settings import sandbox_of

HOME = Path("/home/me")
PROJECT = HOME / "work"
PLACES = {
    PROJECT / ".git/hooks": Access.READABLE,
    PROJECT / ".env": Access.HIDDEN,
    HOME / ".gitconfig": Access.READABLE,
    HOME / ".agent": Access.WRITABLE,
}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(HOME))


def noted(text: str, profile: SandboxProfile | None = None) -> list[str]:
    sandbox = sandbox_of(PROJECT, PLACES, profile or SandboxProfile("workspace"))
    if profile is READ_ONLY:
        sandbox = sandbox_of(PROJECT, {**PLACES, PROJECT: Access.READABLE}, profile)
    return [note for _, note in sandbox.refusals(text, PROJECT)]


HIDES_NOTES = 'The sandbox workspace hides ~/notes: readable = ["~/notes"] under [sandbox.workspace] would allow it.'


@pytest.mark.parametrize(
    "text",
    [
        "cat: /home/me/notes: No such file or directory",
        "cat: ~/notes: Permission denied",
        "cat: ../notes: No such file or directory",
        "\x1b[31mls: cannot access '/home/me/notes': No such file or directory\x1b[0m",
        "FileNotFoundError: [Errno 2] No such file or directory: '/home/me/notes'",
        "Error: ENOENT: no such file or directory, open '/home/me/notes'",
        'open("/home/me/notes"): permission denied (os error 13)',
    ],
)
def test_what_is_hidden_is_told_with_the_line_that_shows_it(text: str) -> None:
    assert noted(text) == [HIDES_NOTES]


@pytest.mark.parametrize(
    "text",
    [
        "touch: cannot touch '/home/me/.gitconfig': Read-only file system",
        "sh: 1: cannot create /home/me/.gitconfig: Read-only file system",
        "OSError: [Errno 30] Read-only file system: '/home/me/.gitconfig'",
        "Error: EROFS: read-only file system, open '/home/me/.gitconfig'",
    ],
)
def test_what_can_only_be_read_is_told_with_the_line_that_lets_it_be_written(text: str) -> None:
    assert noted(text) == [
        "In the sandbox workspace, the agent can only read ~/.gitconfig:"
        ' writable = [".", "~/.gitconfig"] under [sandbox.workspace] would allow it.'
    ]


def test_the_line_keeps_what_the_profile_has() -> None:
    (note,) = noted("cat: /home/me/b: Permission denied", SandboxProfile("mine", readable=("~/a",)))
    assert 'readable = ["~/a", "~/b"] under [sandbox.mine]' in note


def test_what_runs_later_and_what_the_settings_hide_have_no_such_line() -> None:
    assert noted("sh: cannot create .git/hooks/x: Read-only file system") == [
        "The sandbox workspace keeps ~/work/.git/hooks/x read-only,"
        " since it can run something later: change it yourself."
    ]
    assert noted("cat: '.env': Permission denied") == ["The sandbox workspace hides ~/work/.env, as your settings say."]


@pytest.mark.parametrize("key", [".ssh/id_ed25519", ".aws/credentials", ".netrc"])
def test_no_output_suggests_to_open_a_key(key: str) -> None:
    (note,) = noted(f"cat: /home/me/{key}: No such file or directory")
    assert note.startswith(f"The sandbox workspace hides ~/{key}, as it hides all keys")
    assert "readable" not in note


def test_a_sandbox_that_only_reads_leads_to_the_one_that_writes() -> None:
    (note,) = noted("sh: cannot create ./new: Read-only file system", READ_ONLY)
    assert note.endswith("in the sandbox workspace, it can write there.")
    (note,) = noted("cat: /home/me/notes: No such file or directory", READ_ONLY)
    assert "[sandbox.NAME]" in note


@pytest.mark.parametrize(
    "text",
    [
        "cat: missing.txt: No such file or directory",
        "cat: /home/me/work/missing.txt: No such file or directory",
        "cat: /usr/share/missing: No such file or directory",
        "cat: /usr/share/private: Permission denied",
        "cat: /home/me/.agent/x: No such file or directory",
        "/home/me/notes is a nice file",
        "cat: '~nobody-at-all/x': No such file or directory",
        "a\0b: '\0': Permission denied",
    ],
)
def test_nothing_is_said_of_what_the_sandbox_does_not_refuse(text: str) -> None:
    assert noted(text) == []


def test_only_the_end_of_a_flood_is_read() -> None:
    assert noted("cat: /home/me/notes: No such file or directory\n" + "x\n" * 20_000) == []
    assert noted("'" * 100_000 + "/" * 100_000 + ": Permission denied") == []
