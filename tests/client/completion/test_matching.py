"""Which paths match a few typed letters, and in which order."""

import pytest

from acp_tui.client.completion.matching import fit
from acp_tui.client.completion.workspace_files import LINES_AT_ONCE, MAX_MATCHES, MAX_SCORED, PathIndex

PROJECT = PathIndex(
    [
        "README.md",
        "acp_tui/ui/app.py",
        "acp_tui/ui/screens/session.py",
        "acp_tui/ui/screens/session_actions.py",
        "acp_tui/client/sessions/session.py",
        "acp_tui/client/settings/reader.py",
        "tests/ui/test_prompt_keys.py",
        "docs/Setup.md",
    ]
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("read", "README.md"),
        ("app", "acp_tui/ui/app.py"),
        ("session", "acp_tui/ui/screens/session.py"),
        ("sesact", "acp_tui/ui/screens/session_actions.py"),
        ("sa", "acp_tui/ui/screens/session_actions.py"),
        ("settings/re", "acp_tui/client/settings/reader.py"),
        ("promptkeys", "tests/ui/test_prompt_keys.py"),
        ("screens/ses", "acp_tui/ui/screens/session.py"),
        ("screens", "acp_tui/ui/screens/"),
    ],
)
def test_the_best_match_is_first(query: str, first: str) -> None:
    assert PROJECT.search(query)[0].text == first


def test_capitals_count_as_soon_as_one_is_typed() -> None:
    assert [match.text for match in PROJECT.search("Setup")] == ["docs/Setup.md"]
    assert PROJECT.search("SETUP") == []
    assert PROJECT.search("setup")[0].text == "docs/Setup.md"


def test_no_path_has_letters_that_it_has_not() -> None:
    assert PROJECT.search("zq") == []


def test_without_a_query_the_top_is_listed_folders_first() -> None:
    assert [match.text for match in PROJECT.search("")] == ["acp_tui/", "docs/", "tests/", "README.md"]


def test_a_whole_folder_lists_what_stands_right_in_it() -> None:
    assert [match.text for match in PROJECT.search("acp_tui/ui/")] == [
        "acp_tui/ui/screens/",
        "acp_tui/ui/app.py",
    ]


@pytest.mark.parametrize("query", ["app", "sesact", "a/u/app", "py"])
def test_the_places_are_the_letters_that_were_typed(query: str) -> None:
    for match in PROJECT.search(query):
        assert "".join(match.text[at] for at in match.places).lower() == query


def test_a_run_in_the_name_is_better_than_one_on_the_way() -> None:
    in_name, on_the_way = fit("core", "lib/core.py"), fit("core", "core/lib.py")
    assert in_name is not None
    assert on_the_way is not None
    assert in_name.score > on_the_way.score


def test_capitals_that_have_two_small_letters_shift_no_place() -> None:
    match = fit("x", "İİx")
    assert match is not None
    assert match.places == (2,)


def test_the_shorter_of_equal_matches_comes_first() -> None:
    found = PathIndex(["long_folder/main.py", "a/main.py"]).search("main")
    assert [match.text for match in found] == ["a/main.py", "long_folder/main.py"]


# Many


def test_only_some_of_many_paths_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    index = PathIndex(f"folder_{number}/some_module_{number}.py" for number in range(20 * MAX_SCORED))
    compared: list[str] = []

    def counting(query: str, text: str) -> object:
        compared.append(text)
        return fit(query, text)

    monkeypatch.setattr("acp_tui.client.completion.workspace_files.fit", counting)
    for query in ("s", "some", "smpy", "folder_1/some"):
        compared.clear()
        assert len(index.search(query)) == MAX_MATCHES
        assert len(compared) <= 4 * MAX_SCORED


def test_a_search_that_nobody_waits_for_ends_early() -> None:
    index = PathIndex(f"{number}/xyz.py" for number in range(20 * LINES_AT_ONCE))
    asked = 0

    def is_stale() -> bool:
        nonlocal asked
        asked += 1
        return asked > 1

    assert index.search("zyxq", is_stale) == []
    assert asked <= 3


def test_a_name_of_two_lines_is_left_out_and_shifts_no_other() -> None:
    index = PathIndex(["one\ntwo.py", "three.py"])
    assert [match.text for match in index.search("t")] == ["three.py"]
