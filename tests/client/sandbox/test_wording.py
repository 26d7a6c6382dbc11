"""What is said about a sandbox: what its agent may write, read, and reach, and what it can't prevent."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sandbox import Access
from acp_tui.client.settings.settings import SandboxProfile
from support.settings import sandbox_of


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", "/home/me")
    return Path("/home/me")


def test_the_facts_list_what_an_agent_may_write_read_and_reach(home: Path) -> None:
    places = {
        home / "work/.git": Access.WRITABLE,
        home / "work/.git/hooks": Access.READABLE,
        home / ".agent": Access.WRITABLE,
        home / ".gitconfig": Access.READABLE,
        home / ".cache": Access.SCRATCH,
        Path("/run"): Access.HIDDEN,
    }
    told = sandbox_of(home / "work", places, gaps=("It can see the moon.",), note="It hums.").facts

    assert all(len(label) <= 10 for label, _ in told)
    rows = dict(told)
    assert rows["Sandbox"] == "workspace, enforced by bubblewrap"
    assert rows["Writes"].startswith("~/.agent, ~/work; a private folder")
    assert rows["Only reads"].startswith("~/work/.git/hooks: ")
    assert rows["Reads"] == "programs and what else isn't hidden; ~/.gitconfig"
    assert rows["Hidden"].startswith("~, /run; other processes")
    assert rows["Network"] == "on: what you can reach, it can reach"
    assert rows["Variables"] == "PATH"
    assert (rows["Gap"], rows["Note"]) == ("It can see the moon.", "It hums.")


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (SandboxProfile("mine", network=False), "off"),
        (SandboxProfile("mine", hosts=("a.example", "b.example"), engine="srt"), "only a.example, b.example"),
    ],
)
def test_the_facts_say_what_is_left_of_the_network(home: Path, profile: SandboxProfile, words: str) -> None:
    assert dict(sandbox_of(home / "work", {}, profile).facts)["Network"] == words


def test_the_first_question_says_what_the_agent_may_do_without_asking(home: Path) -> None:
    told = sandbox_of(home / "work", {home / ".agent": Access.WRITABLE}).unasked_words
    assert told == (
        "This agent runs in the sandbox workspace. Without asking, it can change ~/.agent, ~/work, read what isn't"
        " hidden, and use the network. The rest of your home folder is hidden."
    )


def test_the_first_question_leads_to_what_the_sandbox_cannot_prevent(home: Path) -> None:
    offline = SandboxProfile("mine", network=False)
    told = sandbox_of(home / "work", {}, offline, gaps=("It can signal your other processes.",)).unasked_words
    assert told.endswith(
        "it can change ~/work, and read what isn't hidden."
        " The rest of your home folder is hidden. F4 lists what the sandbox can't prevent here."
    )


def test_the_first_question_counts_an_agents_own_places_if_they_are_many(home: Path) -> None:
    own = dict.fromkeys((home / name for name in (".a", ".b", ".c")), Access.WRITABLE)
    told = sandbox_of(home / "work", own).unasked_words
    assert "it can change ~/work and 3 places of its own (F4), read what isn't hidden, and" in told


def test_nothing_is_promised_that_landlock_cannot_hold(home: Path) -> None:
    told = dict(sandbox_of(home / "work", {home / "work/.envrc": Access.READABLE}, engine="landlock").facts)
    assert "Only reads" not in told
    assert told["Hidden"] == "~"
