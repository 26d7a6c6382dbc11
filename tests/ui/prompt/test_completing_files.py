"""`@` in the prompt: the list of files above it, and what its keys insert."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from acp_tui.client.completion.workspace_files import PathIndex
from acp_tui.ui.prompt.completion import READING, Completion, SuggestionList
from support.folding import agent
from support.screens import SIZE, Page, open_page

OpenPage = Callable[..., AbstractAsyncContextManager[Page]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path in ("README.md", "src/app.py", "src/deep/core.py", "a name.txt", "src/my files/x.py"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    os.utime(tmp_path / "README.md", (2**33, 2**33))  # the newest
    return tmp_path


@pytest.fixture
def open_project(project: Path) -> OpenPage:
    """Opens a page whose session works in `project`."""

    @asynccontextmanager
    async def opened(*, size: tuple[int, int] = SIZE) -> AsyncIterator[Page]:
        async with open_page(agent("hello"), size=size) as page:
            page.session.cwd = project
            await page.until(lambda: any(isinstance(one, Completion) for one in page.prompt.key_helpers))
            yield page

    return opened


def suggestions(page: Page) -> SuggestionList | None:
    """The list, while it shows."""
    found = page.pilot.app.screen_stack[0].query(SuggestionList)
    return found.first() if found and found.first().display else None


def labels(page: Page) -> list[str]:
    """What is in the list."""
    shown = suggestions(page)
    return [row.label for row in shown.rows if row.value != READING] if shown is not None else []


async def drafted(page: Page, text: str) -> None:
    """Wait until the prompt contains this: a key that comes before its list waits for it."""
    await page.until(lambda: page.draft == text)
    await page.settled()


async def type_mention(page: Page, text: str, first: str) -> None:
    """Type, and wait until this is first in the list, or for "", until the list is gone."""
    await page.press(*text)
    await page.until(lambda: (labels(page) or [""])[0] == first)
    await page.settled()


async def test_typing_narrows_down_chooses_and_enter_or_tab_writes_the_path(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "see @", "README.md")
        await type_mention(page, "core", "src/deep/core.py")
        assert "src/deep/core.py" in page.text
        await page.press("enter")
        await drafted(page, "see @src/deep/core.py ")
        assert suggestions(page) is None
        page.prompt.clear_draft()
        await type_mention(page, "@name", "a name.txt")
        await page.press("tab")
        await drafted(page, '@"a name.txt" ')
        page.prompt.clear_draft()
        await type_mention(page, "@src/", "src/deep/")
        await page.press("down", "down", "enter")
        await drafted(page, "@src/app.py ")
        assert page.connection.prompts == []


async def test_tab_goes_into_a_folder_and_enter_takes_it(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@my", "src/my files/")
        await page.press("tab")
        await page.until(lambda: labels(page) == ["src/my files/x.py"])
        await drafted(page, '@"src/my files/')
        await page.press("enter")
        await drafted(page, '@"src/my files/x.py" ')
        await type_mention(page, "@deep", "src/deep/")
        await page.press("enter")
        await page.until(lambda: page.draft.endswith("@src/deep/ "))


async def test_escape_closes_the_list_and_leaves_what_was_typed(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@rea", "README.md")
        await page.press("escape")
        await drafted(page, "@rea")
        await page.press("d")
        assert suggestions(page) is None
        await page.press("enter")
        await page.until(lambda: page.connection.prompts == ["@read"])


async def test_where_nothing_is_left_to_write_enter_sends(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@README.md", "README.md")
        await page.press("enter")
        await page.until(lambda: page.connection.prompts == ["@README.md"])


async def test_what_is_recalled_or_put_there_opens_no_list(open_project: OpenPage) -> None:
    async with open_project() as page:
        await page.write("@README")
        await page.press("left")
        assert suggestions(page) is None


async def test_a_mention_in_a_shell_command_is_not_meant(open_project: OpenPage) -> None:
    async with open_project() as page:
        await page.press(*"!git show @")
        assert suggestions(page) is None


async def test_the_list_closes_when_the_prompt_loses_the_focus(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@rea", "README.md")
        page.view.focus()
        await page.settled()
        assert suggestions(page) is None


async def test_a_click_chooses(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@src/", "src/deep/")
        await page.click("src/app.py")
        await drafted(page, "@src/app.py ")
        assert page.prompt.has_focus


async def test_the_conversation_does_not_move(open_project: OpenPage) -> None:
    async with open_project() as page:
        before = page.view.region
        await type_mention(page, "@", "README.md")
        assert page.view.region == before


@pytest.mark.parametrize("typed", [":10-20", ",", ".", ")", "?"])
async def test_lines_and_punctuation_join_a_path_that_was_chosen(open_project: OpenPage, typed: str) -> None:
    async with open_project() as page:
        await type_mention(page, "(see @core", "src/deep/core.py")
        await page.press("enter")
        await drafted(page, "(see @src/deep/core.py ")
        await page.press(*typed)
        await drafted(page, f"(see @src/deep/core.py{typed}")


async def test_a_space_that_is_typed_after_a_path_is_the_one_that_is_there(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@core", "src/deep/core.py")
        await page.press("enter")
        await drafted(page, "@src/deep/core.py ")
        await page.press("space", *"and")
        await drafted(page, "@src/deep/core.py and")


async def test_the_space_after_a_path_stays_before_words_and_after_other_keys(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@core", "src/deep/core.py")
        await page.press("enter")
        await drafted(page, "@src/deep/core.py ")
        await page.press("a", "backspace", ":")
        await drafted(page, "@src/deep/core.py :")


async def test_a_range_shows_the_lines_and_enter_sends_it(open_project: OpenPage) -> None:
    async with open_project() as page:
        await type_mention(page, "@src/app.py", "src/app.py")
        await type_mention(page, ":10-", "src/app.py")
        await page.until(lambda: "15 │ line 15" in page.text)
        assert "30 lines" in page.text
        assert "10 │ line 10" in page.text
        await page.press("1", "2")
        await page.until(lambda: "13 │" not in page.text)
        await page.press("enter")
        await page.until(lambda: page.connection.prompts == ["@src/app.py:10-12"])


async def test_paths_outside_of_the_workspace_are_looked_up_there(open_project: OpenPage, project: Path) -> None:
    (project / "src/deep/only.txt").touch()
    async with open_project() as page:
        page.session.cwd = project / "src" / "my files"
        await type_mention(page, "@../de", "../deep/")
        await page.press("tab")
        await page.until(lambda: "../deep/only.txt" in labels(page))


async def test_names_that_the_draft_could_not_show_as_they_are_are_left_out(
    open_project: OpenPage, project: Path
) -> None:
    for name in ("evil.txt", "evil\x1b[31m.txt", "evil\n.txt", "evil\u202etxt.exe", 'evil".txt'):
        (project / name).touch()
    async with open_project() as page:
        await page.press(*"@evil")
        await page.until(lambda: labels(page) == ["evil.txt"])
        await page.press("tab")
        await drafted(page, "@evil.txt ")


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24)])
async def test_the_list_fits_over_the_prompt(open_project: OpenPage, size: tuple[int, int]) -> None:
    async with open_project(size=size) as page:
        await type_mention(page, "@", "README.md")
        shown = suggestions(page)
        assert shown is not None
        assert shown.region.y >= 0
        assert shown.region.bottom == page.prompt.region.y
        assert shown.size.height <= max(page.prompt.region.y // 2, 8)
        assert any("README.md" in line for line in page.lines)


async def test_a_long_path_still_shows_its_name(open_project: OpenPage, project: Path) -> None:
    (project / "src/deep" / ("very_" * 6 + "long.py")).touch()
    async with open_project(size=(30, 20)) as page:
        await page.press(*"@very")
        await page.until(lambda: bool(labels(page)))
        await page.settled()
        assert "long.py" in page.text


async def test_a_key_starts_one_search_and_reads_the_files_once(
    open_project: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[PathIndex] = []
    searches: list[str] = []
    search, init = PathIndex.search, PathIndex.__init__
    monkeypatch.setattr(PathIndex, "__init__", lambda self, files: (made.append(self), init(self, files))[1])
    monkeypatch.setattr(
        PathIndex,
        "search",
        lambda self, query, stale: (searches.append(query), search(self, query, stale))[1],
    )
    async with open_project() as page:
        await type_mention(page, "@", "README.md")
        searches.clear()
        await type_mention(page, "app", "src/app.py")
        await page.until(lambda: searches[-1] == "app")
        assert len(searches) <= len("app")  # one that nobody waits for any more isn't started
        assert len(made) == 1


async def test_while_the_list_is_closed_a_key_asks_for_nothing(
    open_project: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_project() as page:
        monkeypatch.setattr(page.prompt, "run_worker", lambda *_, **__: pytest.fail("work was begun"))
        await page.press(*"me@example.org and more")
        await drafted(page, "me@example.org and more")


async def test_a_mention_that_no_file_matches_says_so_and_enter_sends(open_project: OpenPage) -> None:
    async with open_project() as page:
        await page.press(*"Ask @nosuchfile")
        await page.until(lambda: "No file matches, so this is sent as text" in page.text)
        await page.press("enter")
        await page.until(lambda: page.connection.prompts == ["Ask @nosuchfile"])


async def test_only_a_mention_of_a_file_that_exists_has_the_color_of_one(open_project: OpenPage) -> None:
    async with open_project() as page:
        await page.write("see @README.md, @nosuch.md and @./src/x.py")
        await page.until(lambda: colored(page) == ["@README.md"])
        await page.press("backspace", "backspace", "backspace", "backspace")
        await page.write("app.py")
        await page.until(lambda: colored(page) == ["@README.md", "@./src/app.py"])


def colored(page: Page) -> list[str]:
    line = page.prompt.get_line(0)
    return [line.plain[span.start : span.end] for span in line.spans]
