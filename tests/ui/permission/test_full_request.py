"""A permission request on the full screen: what it shows, what answers it, and how it ends."""

import asyncio
import re
from types import SimpleNamespace

import pytest

from acp_tui.conversation.facts import WHY_ACTS_ITSELF, PermissionOption, RequestKey
from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.conversation.updates import Disconnected, PermissionAnswered, PermissionNoted
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.kit import answer_guard
from acp_tui.ui.kit.answer_guard import REPEAT_S
from acp_tui.ui.kit.themes import DARK, LIGHT
from acp_tui.ui.permission.full_request import RequestScreen
from acp_tui.ui.permission.permission_card import PermissionCard
from support.folding import ALLOW, REJECT, call
from support.screens import Page, open_page, rows

OLD = [f"line {number}\n" for number in range(1, 101)]
NEW = ["first\n", *OLD[1:50], "middle\n", *OLD[51:99], "last\n"]
EDIT = TextDiff("/project/long.py", "".join(NEW), "".join(OLD))
WHOLE = TextDiff("/project/whole.py", "".join(OLD))
WIDE, NARROW, TINY = (120, 40), (80, 24), (40, 20)


async def _open(page: Page, *options: PermissionOption, **reported: object) -> None:
    """A request is open on the full screen, and the user's actions on it count."""
    await page.ask("call", *options, **{"title": "Edit long.py", "content": (EDIT,), **reported})
    await page.enter_card()
    await page.press("f")
    assert _is_open(page)
    page.clock.pass_guard()


def _is_open(page: Page) -> bool:
    return isinstance(page.pilot.app.screen, RequestScreen)


# What it shows


async def test_the_card_says_which_key_opens_it() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press("tab")
        assert "f full screen" in page.text


async def test_it_begins_with_the_file_that_the_card_shows() -> None:
    async with open_page(size=NARROW) as page:
        await page.ask("call", title="Edit files", content=(EDIT, WHOLE))
        await page.enter_card()
        await page.press("right_square_bracket", "right_square_bracket")
        assert "file 2 of 2" in page.text
        await page.press("f")
        assert _is_open(page)
        assert "file 2 of 2" in page.text


async def test_the_keys_take_two_rows_and_the_rarest_are_left_out() -> None:
    async with open_page(size=(76, 24)) as page:
        await _open(page, content=(EDIT, WHOLE))
        await page.ask("another", title="Edit a file")
        first, second = page.text.partition("PgDn more")[2].splitlines()[:2]
        assert "[ ] files, other requests" in first
        assert "side by side" in second
        assert "Esc back" in second
        assert "raw" not in second


async def test_no_key_leads_on_where_the_end_is_in_view() -> None:
    async with open_page(size=(76, 24)) as page:
        await _open(page, content=(EDIT, WHOLE))
        assert "PgDn more" in page.text
        await page.press("end")
        await page.until(lambda: "PgDn more" not in page.text)
        assert "[ ] files" in page.text
        await page.press("home")
        await page.until(lambda: "PgDn more" in page.text)


async def test_every_line_can_be_read_while_title_or_answers_stay_in_view() -> None:
    async with open_page(size=WIDE) as page:
        await _open(page, content=(WHOLE,))
        for size in (WIDE, NARROW, TINY):
            await page.pilot.resize_terminal(*size)
            await page.press("home")
            seen, last = set[int](), ""
            while last != (last := page.text):
                seen |= {int(number) for number in re.findall(r"\+ line (\d+)", last)}
                assert "1 y  Allow once" in last, size
                assert "2 n  Reject once" in last, size
                await page.press("pagedown")
            assert seen == set(range(1, 101)), size


async def test_it_opens_at_its_top_if_something_is_said_above_the_changes() -> None:
    async with open_page(size=(40, 12)) as page:
        await page.ask("call", title="Edit long.py", content=(EDIT,))
        (key,) = page.session.conversation.permissions
        await page.apply(PermissionNoted(key, "The file to change doesn't exist"))
        await page.enter_card()
        await page.press("f")
        await page.until(lambda: "The file to change doesn't exist" in page.text)


async def test_a_small_screen_begins_at_the_top_and_early_answers_lead_on_from_there() -> None:
    async with open_page(size=(40, 12)) as page:
        await _open(page, content=(EDIT,), raw_input={"reason": "it is the first"})
        await page.until(lambda: "reason: it is the first" in page.text)
        await page.press_slowly("y")
        assert "Not all seen yet" in page.words
        assert "reason: it is the first" not in page.text


async def test_an_answer_too_early_leads_on_also_where_something_above_was_skipped() -> None:
    async with open_page(size=(40, 12)) as page:
        await _open(page, content=(EDIT,))
        await page.press("j", "j")
        await page.until(lambda: "middle" in page.text)
        await page.press_slowly("y")
        assert "Pages went by too fast or were skipped: press y again to read on" in page.words
        assert min(int(number) for number in re.findall(r"line (\d+)", page.text)) > 45


async def test_a_reason_above_the_changes_makes_room_for_the_first_of_them() -> None:
    async with open_page(size=(60, 14)) as page:
        await page.ask("call", title="Edit long.py", content=(EDIT,), raw_input={"reason": "it is the first"})
        await page.until(lambda: "- line 1" in page.text)
        await page.enter_card()
        await page.press("pageup", "pageup", "pageup")
        await page.until(lambda: "reason: it is the first" in page.text)


@pytest.mark.parametrize(("note", "is_in_view"), [(WHY_ACTS_ITSELF, False), ("Your rule can't refuse it", True)])
async def test_a_reason_makes_room_for_a_command_and_a_warning_all_but_its_first_row(
    note: str, is_in_view: bool
) -> None:
    async with open_page(size=(40, 14)) as page:
        given = {"command": "make", "reason": "to see whether it all works there"}
        await page.ask("call", title="Run command?", kind="execute", raw_input=given)
        (key,) = page.session.conversation.permissions
        await page.apply(PermissionNoted(key, note))
        await page.until(lambda: "$ make" in page.text)
        assert (note[:20] in page.text) == is_in_view
        await page.enter_card()
        await page.press("pageup", "pageup", "pageup")
        await page.until(lambda: note[:20] in page.text)


async def test_a_low_card_shows_a_change_below_all_words_of_a_warning() -> None:
    async with open_page(size=(60, 16)) as page:
        diff = TextDiff("/outside/a/folder/with/a/long/name/a.py", "new = 1\n", "old = 1\n")
        await page.ask("call", title="Edit it because the test needs it", content=(diff,))
        await page.enter_card()
        await page.until(lambda: "old = 1" in page.text)
        assert "Permission  a.py  Edit it" in page.text
        assert "outside the session's folder: /outsi…a/long/name/a.py" in page.text


async def test_it_scrolls_by_lines_pages_and_to_either_end() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page, content=(WHOLE,))
        await page.press("down", "down")
        assert "whole.py" not in page.text
        await page.press("up", "up")
        assert "whole.py" in page.text
        await page.press("end")
        assert "+ line 100" in page.text
        await page.press("pageup", "pageup", "home")
        assert "whole.py" in page.text


async def test_the_title_says_which_rows_are_in_view_if_not_all_are() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page, content=(WHOLE,))
        assert re.search(r"Edit long.py +1-\d+ of 101 ", page.text), page.text
        await page.press("end")
        await page.until(lambda: bool(re.search(r"Edit long.py +\d+-101 of 101 ", page.text)))
        await page.pilot.resize_terminal(80, 120)
        await page.until(lambda: "line 1 " in page.text and "of 101" not in page.text)


async def test_a_wide_terminal_shows_old_and_new_side_by_side_and_a_key_changes_that() -> None:
    async with open_page(size=WIDE) as page:
        await _open(page)
        assert _is_side_by_side(page)
        await page.press("s")
        assert not _is_side_by_side(page)
        await page.press("s")
        assert _is_side_by_side(page)


def _is_side_by_side(page: Page) -> bool:
    return any("- line 1 " in line and "+ first" in line for line in page.lines)


async def test_a_narrow_terminal_shows_one_column_until_it_is_told_otherwise() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        assert not _is_side_by_side(page)
        await page.press("s")
        assert _is_side_by_side(page)


async def test_in_a_very_wide_terminal_the_card_and_the_conversation_have_two_columns_too() -> None:
    for size, is_wide in ((WIDE, False), ((200, 60), True)):
        async with open_page(size=size) as page:
            await page.ask("call", title="Edit long.py", content=(EDIT,))
            await page.until(lambda page=page: "+ first" in page.text)
            assert _is_side_by_side(page) is is_wide
            await page.apply(PermissionAnswered(RequestKey(1), ALLOW.option_id))
            await page.press("ctrl+o")
            await page.until(lambda page=page: not page.card.display and "+ first" in page.text)
            assert _is_side_by_side(page) is is_wide


async def test_where_two_columns_have_no_room_it_says_so() -> None:
    async with open_page(size=TINY) as page:
        await _open(page)
        await page.press("s")
        assert not _is_side_by_side(page)
        assert "Too narrow for two columns" in page.text


async def test_keys_lead_to_the_next_change_and_the_one_before() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await page.press("j", "j")
        assert "+ middle" in page.text
        await page.press("j")
        assert "+ last" in page.text
        await page.press("k", "k", "k")
        assert "+ first" in page.text


async def test_with_one_change_the_key_goes_to_its_first_line_and_says_it_is_the_only_one() -> None:
    new = [*OLD[:20], "changed\n", *OLD[21:]]
    async with open_page(size=TINY) as page:
        await _open(page, content=(TextDiff("/project/long.py", "".join(new), "".join(OLD)),))
        for key in ("j", "k", "j"):
            await page.press("end", key)
            assert "- line 21" in page.text
            assert "This is the only change" in page.text


async def test_behind_the_last_change_and_before_the_first_it_says_so() -> None:
    async with open_page(size=TINY) as page:
        await _open(page)
        await page.press("k")
        assert "This is the first change" in page.text
        await page.press("j", "j", "j", "j")
        assert "This is the last change" in page.text
        assert "+ last" in page.text


async def test_the_whole_file_is_shown_on_demand_with_the_change_still_in_view() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await page.press("j", "j")
        assert "c whole file" in page.text
        assert "+ middle" in page.text
        assert "line 45" not in page.text
        await page.press("c")
        assert "c changes only" in page.text
        assert "+ middle" in page.text
        await page.press("up", "up", "up", "up", "up")
        assert "line 45" in page.text
        await page.press("j", "c")
        assert "line 45" not in page.text
        assert "+ middle" in page.text


async def test_a_long_diff_is_compared_a_little_at_a_time_until_it_is_there() -> None:
    lines = [f"line {number}\n" for number in range(5_000)]
    new = "".join([f"new {at}\n" if at % 5 == 0 else line for at, line in enumerate(lines)])
    async with open_page(size=NARROW) as page:
        await _open(page, content=(TextDiff("/project/long.py", new, "".join(lines)),))
        await page.until(lambda: "long.py  +1000  -1000" in page.text)
        await page.press("j")


async def test_the_raw_report_is_shown_on_demand() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page, content=(), raw_output={"lines": 3})
        await page.press("r")
        assert "raw input" not in page.text
        assert '"lines": 3' in page.text


async def test_what_the_agent_reports_meanwhile_is_shown() -> None:
    async with open_page() as page:
        await _open(page)
        await page.apply(call("call", title="Edit another file"))
        assert "Edit another file" in page.text


# What answers


async def test_a_number_and_a_click_answer_and_lead_back() -> None:
    async with open_page() as page:
        for press, answer, option in (
            (page.press, "1", ALLOW),
            (page.press, "2", REJECT),
            (page.click, "2 n  Reject once", REJECT),
        ):
            await _open(page)
            await press(answer)
            assert page.decisions == {"call": option.option_id}, answer
            assert not _is_open(page), answer
            assert page.prompt.has_focus, answer
            await page.start_over()


async def test_tab_chooses_among_options_beyond_the_numbers() -> None:
    many = tuple(PermissionOption(f"o{number}", f"Way {number}", "allow_once") for number in range(1, 13))
    async with open_page(size=NARROW) as page:
        await _open(page, *many)
        await page.press(*["tab"] * 11)
        assert "❯ ·    Allow once  “Way 12”" in page.text
        await page.press("shift+tab")
        await page.press_until_decided("enter")
        assert page.decisions == {"call": "o11"}


async def test_keys_and_clicks_count_only_some_time_after_it_appeared() -> None:
    async with open_page() as page:
        await page.ask("call", content=(EDIT,))
        await page.enter_card()
        await page.press("f", "1")
        assert "Too soon: pause 1 s, then press 1 again" in page.text
        await page.click("Allow once")
        assert "Too soon: pause 1 s, then click again" in page.text
        await page.press("tab", "shift+tab", "enter")
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.press("enter")
        assert page.decisions == {"call": ALLOW.option_id}


@pytest.mark.parametrize("content", [(), (EDIT,)])
async def test_only_what_the_card_had_not_shown_needs_time_to_get_to_the_users_screen(
    content: tuple[TextDiff, ...], request: pytest.FixtureRequest
) -> None:
    async with open_page(size=NARROW) as page:
        await page.ask("call", content=content)
        await page.enter_card()
        request.getfixturevalue("far_screen")
        await page.press("f")
        page.clock.pass_guard()
        await page.press("y")
        assert bool(page.decisions) == (not content)


async def test_enter_gives_the_first_answer_to_who_came_to_it() -> None:
    async with open_page() as page:
        await _open(page)
        assert "❯ 1 y  Allow once" in page.text
        await page.press("enter")
        assert page.decisions == {"call": ALLOW.option_id}


@pytest.mark.parametrize("full", [(), ("f",)])
@pytest.mark.parametrize("kind", ["reject_once", "reject_always"])
async def test_where_nothing_allows_once_enter_starts_on_what_rejects(kind: str, full: tuple[str, ...]) -> None:
    always, never = PermissionOption("always", "Trust", "allow_always"), PermissionOption("no", "No", kind)
    async with open_page() as page:
        await page.ask("call", always, never, title="Run it")
        await page.press("tab", *full)
        assert "❯ 2" in page.text
        page.clock.pass_guard()
        await page.press("enter")
        assert page.decisions == {"call": "no"}


@pytest.mark.parametrize("full", [(), ("f",)])
async def test_where_all_answers_allow_always_enter_starts_on_none(full: tuple[str, ...]) -> None:
    async with open_page() as page:
        await page.ask("call", PermissionOption("a", "Trust", "allow_always"), PermissionOption("b", "Yes", "odd"))
        await page.press("tab", *full)
        page.clock.pass_guard()
        await page.press("enter")
        assert "❯ 1" not in page.text
        assert "Choose with Tab, then press Enter" in page.text
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.press("tab", "tab")
        page.clock.pass_guard()
        await page.press("enter")
        assert page.decisions == {"call": "b"}


async def test_q_leads_back_to_the_card_as_it_closes_a_page() -> None:
    async with open_page() as page:
        await _open(page)
        await page.press("q")
        assert not _is_open(page)
        assert page.card.has_focus
        assert (page.decisions, page.draft) == ({}, "")


async def test_escape_leads_back_to_the_card_where_keys_count_a_moment_later() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await _open(page)
        await page.press("escape")
        assert not _is_open(page)
        assert page.card.has_focus
        await page.press("1")
        assert page.decisions == {}
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {"call": ALLOW.option_id}
        assert page.draft == "a draft"


async def test_text_typed_there_leads_to_the_prompt_whole() -> None:
    async with open_page() as page:
        await page.ask("call", content=(EDIT,))
        await page.enter_card()
        await page.press(*"for", "space", *"1")
        assert not _is_open(page)
        assert page.prompt.has_focus
        assert page.draft == "for 1"
        assert page.decisions == {}


async def test_after_an_answer_the_next_request_waits_on_the_card() -> None:
    async with open_page() as page:
        await page.ask("first", content=(EDIT,))
        await page.ask("second", title="The second")
        await page.enter_card()
        await page.press("f")
        page.clock.pass_guard()
        await page.press("1", "1")
        assert page.decisions == {"first": ALLOW.option_id}
        assert not _is_open(page)
        assert "The second" in page.text
        assert page.card.has_focus


# How it ends without an answer


async def test_a_request_that_is_withdrawn_closes_it() -> None:
    async with open_page() as page:
        await _open(page)
        key = next(iter(page.session.conversation.permissions))
        await page.apply(PermissionAnswered(key, None))
        assert not _is_open(page)
        assert not page.card.display


async def test_the_end_of_the_agent_closes_it() -> None:
    async with open_page() as page:
        await _open(page)
        await page.apply(Disconnected("it exited with 1"))
        assert not _is_open(page)
        assert page.prompt.has_focus


async def test_a_request_that_is_cancelled_under_another_screen_is_not_seen_again() -> None:
    async with open_page() as page:
        await page.send("go")
        await _open(page)
        page.pilot.app.push_screen(HelpScreen())
        await page.settled()
        page.session.cancel()
        await page.settled()
        assert isinstance(page.pilot.app.screen, HelpScreen)
        await page.press("escape")
        assert not _is_open(page)
        assert page.decisions == {"call": None}


async def test_the_app_can_end_while_it_is_open() -> None:
    async with open_page() as page:
        await _open(page)
        page.withdraw()


async def test_a_request_that_goes_while_its_full_screen_opens_ends_nothing() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.enter_card()
        for rounds in range(4):
            page.card.action_review()
            for _ in range(rounds):
                await asyncio.sleep(0)
            page.withdraw()
            await page.settled()
            assert page.pilot.app.screen is page.pilot.app.screen_stack[0]
            await page.start_over()
            await page.ask("call")
            await page.enter_card()


# Several files


def _edit(name: str, *, lines: int = 30) -> TextDiff:
    old = [f"{name} {number}\n" for number in range(lines)]
    return TextDiff(f"/project/{name}", "".join(f"new {line}" for line in old), "".join(old))


FILES = tuple(map(_edit, ("a.py", "b.py", "c.py")))


async def test_several_files_are_listed_first_with_what_changes_in_each() -> None:
    async with open_page(size=WIDE) as page:
        await _open(page, content=FILES)
        await page.until(lambda: "3 files  +90 -90" in page.text)
        for name in ("a.py", "b.py", "c.py"):
            assert f"+30 -30  {name}" in page.text


async def test_keys_lead_from_file_to_file_and_the_title_says_which_it_is() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page, content=FILES)
        for number, name in enumerate(("a.py", "b.py", "c.py"), 1):
            await page.press("right_square_bracket")
            assert f"file {number} of 3 {name} +30 -30" in page.words  # the last is the title of the change
            await page.press("down")
            assert f"file {number} of 3  +30 -30  {name}" in page.text
        await page.press("right_square_bracket")
        assert "This is the last file" in page.text
        await page.press("pageup")
        assert "file 2 of 3" in page.text
        await page.press(*["left_square_bracket"] * 3)
        assert "3 files  +90 -90" in page.text
        await page.press("left_square_bracket")
        assert "This is the first file" in page.text


async def test_an_answer_that_leads_to_several_files_has_none_of_them_named_in_the_title() -> None:
    async with open_page(size=NARROW) as page:
        await page.ask("call", content=FILES, title="Edit 3 files")
        await page.enter_card()
        await page.press("y")
        await page.until(lambda: "file 1 of 3  +30 -30  a.py" in page.text)
        await page.press("right_square_bracket", "down")
        assert "file 2 of 3  +30 -30  b.py" in page.text
        assert "Permission  Edit 3 files" in page.text


async def test_the_last_files_are_reached_where_all_of_them_fit() -> None:
    async with open_page(size=WIDE) as page:
        await _open(page, content=tuple(_edit(name, lines=2) for name in ("a.py", "b.py", "c.py")))
        await page.press("right_square_bracket")
        assert "This is the last file" in page.text


async def test_two_edits_of_one_file_are_one_file() -> None:
    first, second = (TextDiff("/project/a.py", f"{word}\n", f"{word} before\n") for word in ("one", "two"))
    async with open_page(size=WIDE) as page:
        await _open(page, content=(first, second))
        assert "files" not in page.text
        await page.apply(call("call", content=(first, _edit("b.py"), second)))
        await page.until(lambda: "2 files  +32 -32" in page.text)


async def test_of_a_long_path_both_ends_are_shown_and_each_file_has_one_row() -> None:
    deep = "deep/" * 40
    async with open_page(size=NARROW) as page:
        await _open(page, content=(_edit(f"{deep}a.py"), _edit(f"{deep}寿司.py"), _edit("two\nlines.py")))
        assert any("+30 -30  deep/" in line and "…" in line and "deep/a.py" in line for line in page.lines)
        assert any("+30 -30  deep/" in line and "…" in line and "deep/寿司.py" in line for line in page.lines)
        assert any("+30 -30  two␊lines.py" in line for line in page.lines)
        await page.press("right_square_bracket", "down")
        assert any("file 1 of 3" in line and "deep/a.py" in line for line in page.lines)


async def test_many_files_are_listed_up_to_a_number() -> None:
    async with open_page(size=WIDE) as page:
        await _open(page, content=tuple(_edit(f"{number:03}.py", lines=1) for number in range(400)))
        await page.until(lambda: "400 files  +400 -400" in page.text)
        assert "380 more files" in page.text


# Comments


async def _comment(page: Page, text: str) -> None:
    await page.press("m", "m", *text, "enter")
    assert _is_open(page)


COMMENTED = "Comments on lines:\n\nlong.py:1 before the change\n```diff\n-line 1\n```\n"
WITH_NEXT = "with your next prompt (Backspace removes it)"


async def test_a_reason_ends_with_the_comments_and_they_may_be_all_of_it() -> None:
    async with open_page(size=NARROW) as page:
        await page.send("go")
        await _open(page)
        await _comment(page, "any")
        assert "1 comment for your next prompt" in page.words
        page.clock.pass_guard()
        await page.press("w")
        assert "Why not?" in page.text
        assert f"+ 1 comment {WITH_NEXT}" in page.words
        assert page.draft == ""
        assert page.decisions == {}
        await page.press("enter")
        assert page.decisions == {"call": REJECT.option_id}
        await page.end_turn()
        reason, _, comments = page.connection.prompts[-1].partition("\n\n")
        assert reason.startswith("About the rejected")
        assert comments == f"{COMMENTED}any"


@pytest.mark.parametrize("theme", [DARK.name, LIGHT.name])
async def test_selected_lines_have_one_background_but_for_the_signs(theme: str) -> None:
    edit = TextDiff("/project/long.py", "def new(): return 2\n", "def old(): return 1\n")
    async with open_page(size=NARROW, theme=theme) as page:
        await _open(page, content=(edit,))
        await page.press("m", "shift+down")
        selected = [each for row in rows(page.pilot) for each in row if each.style is not None and each.style.reverse]
        looks = {
            each.text.strip(): {each.style.color, each.style.bgcolor} for each in selected if each.style is not None
        }
        signs = looks.pop("+"), looks.pop("-")
        assert "return" in " ".join(looks)
        assert all(look == looks["1"] for look in looks.values())
        assert len({*map(frozenset, (*signs, looks["1"]))}) == 3


async def test_a_comment_goes_with_the_next_prompt_as_the_prompt_says() -> None:
    async with open_page(size=NARROW) as page:
        await page.send("go")
        await _open(page)
        await _comment(page, "any")
        page.clock.pass_guard()
        await page.press("n")
        assert page.decisions == {"call": REJECT.option_id}
        assert f"+ 1 comment {WITH_NEXT}" in page.words
        await page.end_turn()
        await page.send("Fix it")
        assert page.connection.prompts[-1] == f"Fix it\n\n{COMMENTED}any"
        assert WITH_NEXT not in page.words


async def test_comments_are_sent_without_a_word_more() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await _comment(page, "any")
        await page.press("escape", "escape", "enter")
        assert page.connection.prompts == [f"{COMMENTED}any"]


async def test_backspace_removes_the_last_comment() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await _comment(page, "one")
        await page.press("down")
        await _comment(page, "two")
        await page.press("escape", "escape")
        assert f"+ 2 comments {WITH_NEXT}" in page.words
        await page.press("backspace")
        assert [comment.text for comment in page.prompt.comments] == ["one"]
        assert f"+ 1 comment {WITH_NEXT}" in page.words
        await page.press("backspace")
        assert WITH_NEXT not in page.words


async def test_keys_of_a_comment_never_answer_nor_does_the_enter_that_ends_it() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await page.press("tab", "m", "m")
        page.clock.pass_guard()
        await page.press(*"1yan", "enter", "enter", "enter")
        assert _is_open(page)
        assert page.decisions == {}
        assert len(page.prompt.comments) == 1


async def test_a_selection_does_not_change_what_must_be_seen_before_an_answer() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await _comment(page, "why")
        page.clock.pass_guard()
        await page.press("y")
        assert "press y again to allow it" in page.words
        assert page.decisions == {}


async def test_a_comment_being_written_when_the_request_ends_is_kept() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await page.press("m", "m", *"wh")
        await page.apply(PermissionAnswered(RequestKey(1), ALLOW.option_id))
        await page.press("y")
        page.clock.pass_guard()
        await page.press("enter")
        assert not _is_open(page)
        assert page.prompt.has_focus
        assert len(page.prompt.comments) == 1


async def test_what_is_said_of_a_key_ends_with_the_next_one() -> None:
    async with open_page(size=NARROW) as page:
        await _open(page)
        await page.press("k")
        assert "This is the first change" in page.text
        await page.press("up")
        assert "This is the first change" not in page.text
        assert "m select a line" in page.words
        await page.press("m")
        assert "m comment" in page.words


async def test_ctrl_c_copies_the_selected_lines() -> None:
    async with open_page() as page:
        await page.send("go")
        await _open(page, content=(EDIT,))
        await page.press("m", "ctrl+c")
        await page.until(lambda: bool(page.notices) and page.notices[-1].message.startswith("Copied "))
        assert _is_open(page)
        assert page.connection.cancels == 0
        await page.press("escape", "ctrl+c")
        await page.until(lambda: page.connection.cancels == 1)


async def test_ctrl_c_cancels_the_turn_as_it_does_on_the_card() -> None:
    async with open_page() as page:
        await page.send("go")
        await _open(page, content=(EDIT,))
        await page.press("ctrl+c")
        await page.until(lambda: not _is_open(page))
        assert page.connection.cancels == 1
        assert page.decisions == {"call": None}


async def test_on_a_small_screen_with_long_answers_the_way_back_is_in_view() -> None:
    long = PermissionOption("always", "Yes, and don't ask again for commands that start with `touch`", "allow_always")
    async with open_page(size=(40, 12)) as page:
        command = "touch it && " * 30
        await page.ask("call", ALLOW, long, REJECT, kind="execute", raw_input={"command": command})
        await page.press("tab", "f")
        await page.until(lambda: "Esc back" in page.text)
        assert "PgDn more · w no + why" in page.text


async def test_the_full_screen_says_its_keys_in_the_words_and_order_of_the_card() -> None:
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", kind="execute", raw_input={"command": "make"})
        await page.enter_card()
        assert "f full screen · w reject and say why  " in page.text
        await page.press("f")
        assert "w reject and say why · Ctrl+C cancel the turn · r raw · Esc back" in page.text


async def test_keys_that_do_nothing_for_a_new_file_with_one_change_are_not_told() -> None:
    async with open_page() as page:
        new, changed = TextDiff("/project/new.py", "one\n"), TextDiff("/project/a.py", "one\n", "two\n")
        added = TextDiff("/project/a.py", "one\ntwo\n", "one\n")
        for diff, has_rest, has_pairs in ((new, False, False), (added, True, False), (changed, True, True)):
            await page.ask("call", content=(diff,))
            await page.press("tab", "f")
            assert ("whole file" in page.text) is has_rest
            assert ("side by side" in page.text) is has_pairs
            assert "j k changes" not in page.text
            await page.press("escape")
            await page.start_over()


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 24), (40, 12)])
@pytest.mark.parametrize("opens", [(), ("f",)], ids=["card", "full screen"])
async def test_a_key_that_is_held_answers_however_its_words_move_the_answers(
    size: tuple[int, int], opens: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_guard, "HOLD_S", 0.05)
    async with open_page(size=size) as page:
        await page.ask("call", kind="execute", raw_input={"command": "touch made-by-it && echo hi-from-it"})
        page.pilot.app.screen.query_one(PermissionCard).guard.come_unasked()
        await page.press("down", *opens)
        page.clock.now_s += REPEAT_S
        await page.press("n")
        await page.until(lambda: "call" in page.decisions)


async def test_answers_are_directly_below_what_they_are_about_on_a_large_screen() -> None:
    async with open_page(size=(200, 60)) as page:
        await page.ask("call", kind="execute", raw_input={"command": "make"})
        await page.enter_card()
        await page.press("f")
        rows = [row.strip("│ ") for row in page.text.split("\n")]
        assert rows.index("❯ 1 y  Allow once") == rows.index("$ make") + 2


async def test_a_key_shows_a_request_without_room_at_once_and_says_no_half_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer_guard, "HOLD_S", 3600)
    async with open_page(size=(40, 12)) as page:
        await page.ask("call", title="Edit long.py", content=(EDIT,))
        page.pilot.app.screen.query_one(PermissionCard).guard.come_unasked()
        await page.settled()
        page.clock.now_s += REPEAT_S
        await page.press("y")
        assert _is_open(page)
        page.clock.now_s += REPEAT_S
        await page.press("n")
        assert "Reject once in a moment; to write instead, type on" in page.words
        assert page.decisions == {}


@pytest.mark.usefixtures("keys_are_held")
async def test_a_key_that_allows_turns_pages_and_types_nothing_however_fast() -> None:
    async with open_page(size=NARROW) as page:
        await page.ask("call", content=(EDIT, WHOLE))
        page.pilot.app.screen.query_one(PermissionCard).guard.come_unasked()
        await page.settled()
        page.clock.now_s += REPEAT_S
        shown = [page.text]
        while "Too soon" not in page.text:
            await page.press("y")
            assert _is_open(page)
            assert page.text not in shown
            shown.append(page.text)
            page.clock.now_s += 0.15
        await page.press("y", "y")
        assert _is_open(page)
        assert (len(shown) > 4, page.decisions, page.draft) == (True, {}, "")
        page.clock.now_s += REPEAT_S
        await page.press("y")
        await page.until(lambda: page.decisions == {"call": ALLOW.option_id})


async def test_no_key_that_allows_leads_on_from_a_page_before_it_was_there_for_a_moment(
    far_screen: SimpleNamespace,
) -> None:
    async with open_page(size=NARROW) as page:
        await _open(page, content=(EDIT, WHOLE))
        shown = re.findall(r"[\d,]+-[\d,]+ of", page.text)
        page.clock.now_s += REPEAT_S
        far_screen.was_glanced_at = lambda _: False
        for _ in range(3):
            await page.press("y")
            assert (_is_open(page), re.findall(r"[\d,]+-[\d,]+ of", page.text)) == (True, shown)
        far_screen.was_glanced_at = lambda _: True
        await page.press("y")
        assert re.findall(r"[\d,]+-[\d,]+ of", page.text) != shown
        assert page.decisions == {}


@pytest.mark.usefixtures("keys_are_held")
async def test_text_that_leads_away_leaves_no_key_to_read_on_that_the_prompt_would_get() -> None:
    async with open_page(size=NARROW) as page:
        await page.ask("call", content=(EDIT, WHOLE))
        page.card.guard.come_unasked()
        await page.settled()
        page.clock.now_s += REPEAT_S
        await page.press(*"yG")
        assert not _is_open(page)
        assert page.draft.endswith("G")
        assert "read on" not in page.text


async def test_a_letter_that_is_no_answer_does_nothing_but_say_which_keys_answer() -> None:
    async with open_page() as page:
        await _open(page, PermissionOption("always", "Always", "allow_always"), REJECT)
        await page.press("y")
        assert "these keys answer: 1-2 a n" in page.text
        assert _is_open(page)
        assert (page.decisions, page.draft) == ({}, "")
