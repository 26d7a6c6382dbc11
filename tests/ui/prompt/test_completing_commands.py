"""`/` at the beginning of the prompt: the agent's commands and ours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.settings.location import settings_file
from acp_tui.conversation.facts import Choice, OfferedCommand, SelectOption
from acp_tui.conversation.updates import CommandsReplaced, OptionsReplaced
from acp_tui.ui.commands.table import COMMANDS, slash_action
from acp_tui.ui.prompt.completion import MAX_DESCRIPTION, Commands, Completion, SuggestionList
from acp_tui.ui.prompt.input import PromptInput
from support.desks import SESSION, OpenDesk
from support.screens import AGENT, SIZE, Page, open_page, show

REVIEW = OfferedCommand("review", "Look over the changes", "what to look at")
STATUS = OfferedCommand("status", "How things stand")
OWN_HELP = OfferedCommand("help", "The agent's own help")


@asynccontextmanager
async def page_with(*commands: OfferedCommand, size: tuple[int, int] = SIZE) -> AsyncIterator[Page]:
    """A page with an agent that has these commands."""
    async with open_page(CommandsReplaced(commands), size=size) as page:
        await page.until(lambda: any(isinstance(one, Completion) for one in page.prompt.key_helpers))
        yield page


def template(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def labels(page: Page) -> list[str]:
    """What is in the list."""
    found = page.pilot.app.screen_stack[0].query(SuggestionList)
    return [row.label for row in found.first().rows] if found and found.first().display else []


async def test_the_agents_commands_stand_before_ours_each_under_its_heading() -> None:
    async with page_with(REVIEW, STATUS) as page:
        await page.press("/")
        assert labels(page)[:2] == ["/review", "/status"]
        assert "/quit" in labels(page)
        assert page.text.index(AGENT) < page.text.index("/review") < page.text.index("Look over the changes")
        assert page.text.index("Look over the changes") < page.text.rindex("acp-tui")


async def test_templates_stand_after_the_agents_commands_and_the_users_are_sent(home: Path) -> None:
    template(settings_file().parent / "prompts" / "tests.md", "Run the tests of $1.")
    template(settings_file().parent / "prompts" / "review.md", "never: the agent has one of its own")
    template(settings_file().parent / "prompts" / "help.md", "What can you do?")
    async with page_with(REVIEW) as page:
        await page.press("/")
        await page.until(lambda: labels(page)[:3] == ["/review", "/help", "/tests"])
        assert "/acp:help" in labels(page)
        await page.press(*"tests src", "enter")
        await page.until(lambda: "Run the tests of src." in page.text)
        assert page.draft == ""


async def test_a_projects_template_is_put_into_the_draft_first(open_desk: OpenDesk, tmp_path: Path) -> None:
    template(tmp_path / ".acp-tui" / "prompts" / "check.md", "Check everything\u202e, and $ARGUMENTS.")
    async with open_desk(SESSION, "serve_until_closed()") as page:
        await page.has_session()
        await page.until(lambda: any(isinstance(one, Completion) for one in page.prompt.key_helpers))
        await page.press("/")
        await page.until(lambda: "/check" in page.text)
        await page.press(*"check twice", "enter")
        await page.until(lambda: page.draft.startswith("Check everything"))
        assert page.draft.endswith(", and twice.")
        assert "\u202e" not in page.draft
        assert "This is what check.md asks" in page.words
        await page.press("enter")
        await page.until(lambda: page.draft == "")


async def test_each_of_several_sessions_puts_a_projects_template_into_the_draft(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    template(tmp_path / ".acp-tui" / "prompts" / "check.md", "Check everything.")
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.until(lambda: any(isinstance(one, Completion) for one in desk.prompt.key_helpers))
        prompt = PromptInput.Submitted("/check")
        desk.tab.writing.submit(prompt)
        assert desk.draft == "Check everything."
        assert prompt.text == "/check", "the next session gets the same"


async def test_commands_are_found_by_name_then_by_description() -> None:
    async with page_with(STATUS, REVIEW) as page:
        await page.press(*"/rev")
        assert labels(page)[0] == "/review"
        await page.press(*["backspace"] * 3, *"stand")
        assert labels(page) == ["/status"]


async def test_the_best_match_comes_first_whatever_its_source() -> None:
    async with page_with(OfferedCommand("x", "The helper"), OfferedCommand("helpless", "None")) as page:
        await page.press(*"/help")
        assert labels(page) == ["/help", "/helpless"]


async def test_before_there_is_a_session_enter_only_writes_the_name_out() -> None:
    async with open_page(is_shown=False) as page:
        await page.until(lambda: any(isinstance(one, Completion) for one in page.prompt.key_helpers))
        await page.press(*"/comp", "enter")
        assert page.draft == "/compare "
        await show(page.pilot, page.session)
        await page.press("ctrl+u", *"/comp", "enter")
        assert page.draft == ""


async def test_what_has_the_letters_nowhere_is_left_out_if_a_name_has_them() -> None:
    async with page_with(OfferedCommand("x", "Does this and that"), OfferedCommand("touch", "A file")) as page:
        await page.press(*"/th")
        assert labels(page)
        assert all("th" in label for label in labels(page))


async def test_enter_does_one_of_ours_at_once() -> None:
    async with page_with(REVIEW) as page:
        await page.press(*"/hel", "enter")
        assert page.draft == ""
        assert len(page.pilot.app.screen_stack) == 2


async def test_enter_writes_a_command_with_its_hint_until_something_is_typed() -> None:
    async with page_with(REVIEW) as page:
        await page.press(*"/rev", "enter")
        assert page.draft == "/review "
        assert "what to look at" in page.text
        await page.press("right")
        assert page.draft == "/review "
        await page.press("w")
        assert "what to look at" not in page.text
        assert "hat to look at" not in page.text
        await page.press("enter")
        assert page.connection.prompts == ["/review w"]


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        (STATUS, ["/status"]),
        (OfferedCommand("statistics", "", "[what of]"), ["/statistics"]),
        (OfferedCommand("stash", "", "<optional name>"), ["/stash"]),
        (OfferedCommand("start", "", "[what] how"), []),
    ],
)
async def test_enter_sends_the_agents_command_at_once_if_nothing_has_to_follow(
    command: OfferedCommand, sent: list[str]
) -> None:
    async with page_with(command) as page:
        await page.press(*"/sta", "enter")
        assert page.connection.prompts == sent
        assert page.draft == ("" if sent else f"/{command.name} ")


async def test_ours_is_done_at_once_too_if_nothing_has_to_follow() -> None:
    async with page_with() as page:
        await page.press(*"/late", "enter")
        assert page.draft == "/later "
        await page.press("ctrl+u", *"/fin", "enter")
        assert page.draft == ""
        await page.until(lambda: "Find" in page.text)


@pytest.mark.parametrize("typed", ["/sta", "/set", "/status", "/settings"])
async def test_tab_only_writes_a_command(typed: str) -> None:
    async with page_with(STATUS) as page:
        await page.press(*typed, "tab")
        assert page.draft in ("/status ", "/settings ")
        assert page.connection.prompts == []
        assert len(page.pilot.app.screen_stack) == 1


async def test_a_command_that_more_text_follows_is_only_written() -> None:
    async with page_with(STATUS) as page:
        await page.write(" all of it")
        page.prompt.move_cursor((0, 0))
        await page.press(*"/hel", "enter")
        assert page.draft == "/help all of it"
        assert len(page.pilot.app.screen_stack) == 1


async def test_a_command_that_is_written_out_is_sent_by_enter() -> None:
    async with page_with(STATUS) as page:
        await page.press(*"/status", "enter")
        assert page.connection.prompts == ["/status"]


async def test_enter_sends_what_was_typed_before_the_list_could_close() -> None:
    async with page_with(REVIEW) as page:
        await page.press("/")
        await page.press_at_once(*"review it", "enter")
        await page.until(lambda: page.connection.prompts)
        assert page.connection.prompts == ["/review it"]


async def test_ours_is_still_there_where_the_agent_has_one_of_that_name() -> None:
    async with page_with(OWN_HELP) as page:
        await page.press(*"/hel")
        assert labels(page)[:2] == ["/help", "/acp:help"]
        await page.press("down", "enter")
        assert page.connection.prompts == []
        assert len(page.pilot.app.screen_stack) == 2


@pytest.mark.parametrize("taken", [(), ("find",)])
def test_the_long_name_of_ours_always_means_ours(taken: tuple[str, ...]) -> None:
    assert slash_action("/acp:find two words", taken) == "do('find', 'two words')"
    assert (slash_action("/find x", taken) is None) == bool(taken)


def test_an_agent_may_even_take_the_long_name() -> None:
    assert slash_action("/acp:help", ("acp:help",)) is None


async def test_a_slash_elsewhere_is_just_text() -> None:
    async with page_with(REVIEW) as page:
        await page.press(*"a /")
        assert labels(page) == []


async def test_on_a_narrow_screen_the_description_goes_first() -> None:
    async with page_with(OfferedCommand("a-rather-long-command", "Described at length"), size=(40, 20)) as page:
        await page.press("/")
        assert "/a-rather-long-command" in page.text
        assert "Described" not in page.text


async def test_what_is_hostile_in_a_command_is_shown_safely() -> None:
    async with page_with(
        OfferedCommand("ok", "a\x1b[2Jb"), OfferedCommand("bad name", ""), OfferedCommand("b\x1bad", "")
    ) as page:
        await page.press("/")
        assert labels(page)[0] == "/ok"
        assert labels(page)[1] == f"/{next(command.slash for command in COMMANDS if command.slash)}"
        assert "a␛[2Jb" in page.text


def test_only_the_start_of_a_long_description_is_searched() -> None:
    command = OfferedCommand("big", "word " * 100_000 + "needle")
    known = Commands((command,), "Agent")
    assert known.find("needle") == []
    assert len(known.find("big")[0].description) <= MAX_DESCRIPTION


# The table

MODEL = SelectOption("m", "Model", "small", (Choice("small", "Small"), Choice("large", "Large")), "model")


async def test_slash_model_opens_the_models() -> None:
    async with page_with() as page:
        await page.apply(OptionsReplaced((MODEL,)))
        await page.press(*"/model", "enter")
        await page.until(lambda: "Large" in page.text)
        await page.press("down", "enter")
        await page.until(lambda: page.connection.options == [("m", "large")])


async def test_letters_find_one_of_a_few_models() -> None:
    async with page_with() as page:
        await page.apply(OptionsReplaced((MODEL,)))
        await page.send("/model")
        await page.until(lambda: "Large" in page.text)
        await page.press(*"lar", "enter")
        await page.until(lambda: page.connection.options == [("m", "large")])
        assert page.draft == ""


async def test_slash_model_with_a_name_sets_it_at_once() -> None:
    async with page_with() as page:
        await page.apply(OptionsReplaced((MODEL,)))
        await page.send("/model large")
        await page.until(lambda: page.connection.options == [("m", "large")])
        await page.send("/model larger")
        await page.until(lambda: "m can't be 'larger'" in page.text and "one of Small, Large" in page.text)
        assert page.draft == "/model larger"


async def test_the_values_of_a_command_are_offered_and_enter_sets_one_at_once() -> None:
    url = Choice("https://example.org/modes#plan", "Plan", "It changes nothing")
    mode = SelectOption("o", "Mode", "yolo", (Choice("yolo", "Yolo"), url), "mode")
    async with page_with(OfferedCommand("model", "The agent's own")) as page:
        await page.apply(OptionsReplaced((mode, MODEL)))
        await page.press(*"/mode", "tab")
        assert labels(page) == ["/mode", "/mode yolo", "/mode Plan"]
        assert "no questions · Yolo" in page.text
        await page.press("p")
        assert labels(page) == ["/mode Plan"]
        await page.press("enter")
        await page.until(lambda: page.connection.options == [("o", url.value)])
        assert page.draft == ""
        await page.press(*"/acp:model ")
        assert labels(page) == ["/acp:model", "/acp:model small", "/acp:model large"]
        await page.press("ctrl+c", *"/model ")
        assert labels(page) == []
        await page.press("ctrl+c")
        await page.press(*"/theme acp-l")
        assert labels(page) == ["/theme acp-light"]


async def test_enter_before_a_value_is_written_lets_the_user_choose_one() -> None:
    async with page_with() as page:
        await page.apply(OptionsReplaced((MODEL,)))
        await page.press(*"/model ", "enter")
        await page.until(lambda: "Large" in page.text)
        assert page.connection.options == []


@pytest.mark.parametrize("written", ["/mode nosuch", "/acp:mode nosuch"])
async def test_slash_mode_with_a_name_stays_in_the_draft_where_there_is_no_mode(written: str) -> None:
    async with page_with() as page:
        await page.send(written)
        await page.until(lambda: "has no mode to choose" in " ".join(page.text.split()))
        assert page.draft == written


async def test_one_esc_leads_from_the_models_back_to_the_prompt() -> None:
    async with page_with() as page:
        await page.apply(OptionsReplaced((replace(MODEL, option_id="e", name="Effort", category="effort"), MODEL)))
        await page.send("/model")
        await page.until(lambda: "Large" in page.text)
        assert "Options of the session" not in page.text
        await page.press("escape")
        await page.until(lambda: "Large" not in page.text)
        assert page.prompt.has_focus
        assert page.connection.options == []


async def test_slash_mode_says_where_there_is_none() -> None:
    async with page_with() as page:
        await page.press(*"/mode", "enter")
        await page.until(lambda: "has no mode to choose" in " ".join(page.text.split()))


def test_a_shortcut_tells_its_command_what_was_typed() -> None:
    assert slash_action("/undo", ()) == "do('go_back', 'undo')"
    assert slash_action("/acp:fork", ("fork",)) == "do('go_back', 'fork')"
    assert slash_action("/fork", ("fork",)) is None
    assert slash_action("/model  opus 4", ()) == "do('choose_option', 'model opus 4')"


def test_each_slash_command_has_one_name_and_an_action() -> None:
    names = [name for command in COMMANDS for name in (*command.slashes, *command.aliases.split())]
    assert len(names) == len(set(names))
    assert all(command.action for command in COMMANDS if command.slashes)
    assert {
        "help", "copy", "find", "export", "model", "mode", "sessions", "changes", "mcp", "quit", "settings", "options"
    } <= set(names)  # fmt: skip


# Commands that no one has


async def test_a_command_that_no_one_has_is_sent_only_by_a_second_enter() -> None:
    async with page_with(STATUS) as page:
        await page.press(*"/statsu now", "enter")
        assert "Neither Agent nor acp-tui has /statsu. Did you" in page.text
        assert "mean /status? Enter sends it as it is." in page.text
        assert (page.draft, page.connection.prompts) == ("/statsu now", [])
        await page.press("enter")
        assert page.connection.prompts == ["/statsu now"]


async def test_nothing_of_the_conversation_shows_beside_the_list() -> None:
    async with page_with(STATUS, size=(80, 24)) as page:
        await page.send("one\ntwo\nthree")
        await page.press("/")
        rows = page.text.splitlines()
        top = next(at for at, row in enumerate(rows) if "╭" in row)
        bottom = next(at for at, row in enumerate(rows) if "╰" in row)
        assert bottom - top > 2
        assert all((row[0] + row[79]) in ("╭╮", "││", "╰╯") for row in rows[top : bottom + 1])


@pytest.mark.parametrize("typed", ["/sidebar off", "/new feature", "/undo 2", "/acp:help me", "/clear it"])
async def test_a_command_that_takes_no_words_says_so_and_a_second_enter_sends_them(typed: str) -> None:
    async with page_with(STATUS) as page:
        await page.write(typed)
        await page.press("enter")
        assert f"{typed.split()[0]} takes nothing after it. Enter sends it as it is." in page.text
        assert (page.draft, page.connection.prompts) == (typed, [])
        await page.press("x")
        assert "takes nothing after it" not in page.text
        await page.press("backspace", "enter")
        assert page.connection.prompts == [typed]


async def test_a_changed_draft_with_an_unknown_command_is_asked_about_again() -> None:
    async with page_with(STATUS) as page:
        await page.press(*"/nope", "enter", "s", "enter")
        assert "Neither Agent nor acp-tui has /nopes." in page.text
        assert page.connection.prompts == []


@pytest.mark.parametrize("text", ["/etc/hosts is wrong", "/usr is full", "and/or", "// a comment", "/ alone", "/*.py"])
async def test_a_path_or_other_text_with_a_slash_is_sent_at_once(text: str) -> None:
    async with page_with(STATUS) as page:
        await page.write(text)
        await page.press("enter")
        assert page.connection.prompts == [text]


@pytest.mark.parametrize(("alias", "label"), [("clear", "/new"), ("resume", "/sessions"), ("diff", "/changes")])
async def test_a_command_by_its_name_elsewhere_is_found(alias: str, label: str) -> None:
    async with page_with(OfferedCommand("debug", f"Shows a {alias} of it")) as page:
        await page.press(*f"/{alias}")
        assert labels(page)[0] == label


def test_a_name_from_elsewhere_does_the_same_unless_the_agent_has_it() -> None:
    assert slash_action("/clear", ()) == "do('begin_session')"
    assert slash_action("/clear", ("clear",)) is None


async def test_the_name_that_is_written_out_comes_first() -> None:
    async with page_with(OfferedCommand("mode-of-work", "")) as page:
        await page.press(*"/mode")
        assert labels(page)[0] == "/mode"


@pytest.mark.parametrize(("size", "rows"), [((120, 40), 18), ((80, 24), 10), ((40, 12), 6)])
async def test_the_list_takes_half_of_a_high_screen(size: tuple[int, int], rows: int) -> None:
    async with page_with(size=size) as page:
        await page.press("/")
        assert page.pilot.app.screen.query_one(SuggestionList).content_size.height == rows


@pytest.mark.parametrize("asks", ["!touch run", "/later 1s go on"])
async def test_a_projects_template_is_a_prompt_whatever_it_begins_with(
    open_desk: OpenDesk, tmp_path: Path, asks: str
) -> None:
    template(tmp_path / ".acp-tui" / "prompts" / "check.md", asks)
    script = """
        prompt = expect("session/prompt")
        say("heard" + prompt["params"]["prompt"][0]["text"])
        end(prompt)
        serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.until(lambda: any(isinstance(one, Completion) for one in desk.prompt.key_helpers))
        await desk.send("/check ")
        assert desk.draft == f" {asks}"
        await desk.press("enter")
        await desk.shows(f"heard {asks}")
    assert not (tmp_path / "run").exists()
