"""Past prompts in memory: which can be recalled, in which order, and how search finds them."""

from __future__ import annotations

import pytest

from acp_tui.client.prompts.history import PastPrompt, PromptHistory, Query

HERE = "/project"


def history_of(*texts: str, folder: str = HERE) -> PromptHistory:
    history = PromptHistory()
    history.take_in([PastPrompt(text, folder, "", "") for text in texts])
    return history


def test_the_prompts_of_a_project_come_latest_first_and_each_once() -> None:
    history = history_of("one", "two")
    history.add("elsewhere", "/other", "Agent")
    history.add("one", HERE, "Agent")

    assert history.texts_of(HERE) == ["one", "two"]
    assert history.texts_of("/other") == ["elsewhere"]


def test_the_prompts_of_this_run_come_before_those_of_other_terminals() -> None:
    history = PromptHistory()
    history.add("mine", HERE, "Agent")
    history.take_in([*history.take_unkept(), PastPrompt("theirs", HERE, "2026-01-01T00:00:00+00:00", "Agent")])

    assert history.texts_of(HERE) == ["mine", "theirs"]


@pytest.mark.parametrize("text", [" secret", "\n", ""])
def test_what_begins_with_a_space_or_is_blank_is_not_remembered(text: str) -> None:
    history = PromptHistory()
    history.add(text, HERE, "Agent")

    assert history.texts_of(HERE) == []
    assert history.take_unkept() == []


def test_each_prompt_is_kept_once() -> None:
    history = PromptHistory()
    history.add("one", HERE, "Agent")

    assert [(prompt.text, prompt.folder, prompt.agent) for prompt in history.take_unkept()] == [("one", HERE, "Agent")]
    assert history.take_unkept() == []


def test_a_prompt_that_could_not_be_kept_is_recalled_all_the_same() -> None:
    history = PromptHistory()
    history.add("too long to be kept", HERE, "Agent")
    history.take_in([PastPrompt("from another acp-tui", HERE, "", "")])

    assert history.texts_of(HERE) == ["too long to be kept", "from another acp-tui"]


def test_it_finds_in_one_project_or_in_all_as_many_as_wanted() -> None:
    history = history_of("fix one", "fix two", "fix three")
    history.add("fix one", "/other", "Agent")

    found = [prompt.text for prompt in history.find(Query("fix"), HERE, 2)]
    everywhere = [(prompt.text, prompt.folder) for prompt in history.find(Query("one"), None, 9)]
    assert found == ["fix three", "fix two"]
    assert everywhere == [("fix one", "/other")]


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
        ("", "anything", True),
        ("test fix", "fix the failing test", True),
        ("fix", "FIX it", True),
        ("Fix", "fix it", False),
        ("fix README", "Fix the README", True),
        ("a.c", "abc", False),
        ("second", "first\nand second", True),
    ],
)
def test_words_match_in_any_order_and_small_letters_stand_for_capitals_too(
    query: str, text: str, matches: bool
) -> None:
    assert Query(query).matches(text) is matches


def test_what_matches_can_be_shown() -> None:
    pattern = Query("fi Test (").pattern

    assert pattern is not None
    assert pattern.findall("FIx (Test) test") == ["FI", "(", "Test"]
    assert Query(" ").pattern is None


def test_it_finds_prompts_of_several_terminals_in_the_order_of_their_times() -> None:
    history = PromptHistory()
    history.add("mine", HERE, "Agent")
    history.take_in([PastPrompt("theirs", HERE, "2999-01-01T00:00:00+00:00", "Agent")])

    assert [prompt.text for prompt in history.find(Query(""), HERE, 9)] == ["theirs", "mine"]
