"""The permission card: what it shows of a request, how long it stays, and what the conversation keeps."""

import re
from itertools import product

import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.elicitation import Form
from acp_tui.conversation.entries import Decision
from acp_tui.conversation.facts import PermissionOption, RequestKey
from acp_tui.conversation.permission_requests import KIND_WORDS, chosen_words
from acp_tui.conversation.tool_calls import BlockContent, Location, TextDiff
from acp_tui.conversation.updates import Disconnected, PermissionAnswered, PermissionNoted
from acp_tui.ui.kit.answer_guard import REPEAT_S
from acp_tui.ui.permission.request_drawing import option_lines
from acp_tui.ui.rendering.palette import PLAIN
from support.folding import ALLOW, REJECT, agent, call
from support.scenes import plan
from support.screens import Page, open_page

LONG_DIFF = TextDiff("/project/long.py", "".join(f"line {number}\n" for number in range(1, 81)))
ONLY_ALLOW = (ALLOW, PermissionOption("opt-3", "Allow always", "allow_always"))


async def test_the_prompt_keeps_the_focus_and_the_draft_when_a_request_comes() -> None:
    async with open_page() as page:
        await page.write("a draft")
        await page.ask("call", title="Edit a file")
        assert page.prompt.has_focus
        assert page.draft == "a draft"
        assert "Permission  Edit a file" in page.text
        assert "Tab to answer" in page.text
        assert "needs your decision; Tab answers" in page.status
        await page.enter_card()
        assert "needs your decision; Shift+Tab conversation" in page.status
        assert "Ctrl+C cancels" not in page.status, "it would clear the draft first"


async def test_shift_tab_leads_from_a_card_to_what_was_said_before_and_tab_back() -> None:
    async with open_page(agent("Before"), call("read", raw_input={"path": "a"})) as page:
        for opens in (page.ask("call"), page.elicit(Form(RequestKey(9), "Please say", ()))):
            await opens
            await page.press_slowly("tab")
            assert "needs your decision; Shift+Tab conversation · Ctrl+C cancels" in page.status
            await page.press("shift+tab")
            assert page.view.has_focus_within
            assert "needs your decision; Tab answers" in page.status
            await page.press("tab")
            assert not page.view.has_focus_within
            assert not page.prompt.has_focus
            await page.press("escape")
            await page.start_over()


async def test_the_help_says_on_a_card_where_shift_tab_leads() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.press("tab", "f1")
        assert "Go to the conversation" in page.text


@pytest.mark.parametrize("is_quick", [True, False])
async def test_esc_right_after_it_led_away_from_the_card_does_not_cancel_the_turn(is_quick: bool) -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("call")
        await page.enter_card()
        await page.press("escape")
        page.clock.now_s += 0.3 if is_quick else 2
        await page.press("escape")
        assert page.connection.cancels == (0 if is_quick else 1)
        assert ("Esc again cancels the turn" in page.text) is is_quick
        page.clock.now_s += 2
        await page.press("escape")
        assert page.decisions == {"call": None}


async def test_it_shows_our_word_for_each_kind_and_the_agents_names_behind_sorted_by_kind() -> None:
    async with open_page() as page:
        odd = PermissionOption("odd", "Perhaps", "sometimes")
        never = PermissionOption("never", "Never", "reject_always")
        await page.ask("call", odd, never, REJECT, *reversed(ONLY_ALLOW))
        rows = [line.strip("│ ") for line in page.lines if line.strip("│ ")[:1].isdigit()]
        assert rows[-5:] == [
            "1 y  Allow once",  # the agent's name for it is the same
            "2    Allow always   “Perhaps” (of a kind acp-tui doesn't know: “sometimes”)",
            "3 a  Allow always",
            "4 n  Reject once    “No”",
            "5    Reject always  “Never”",
        ]


@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("Reject", "reject_once", "Reject once"),
        ("Always Allow", "allow_always", "Allow always"),
        ("Reject", "reject_always", "Reject always “Reject”"),
        ("Allow", "allow_always", "Allow always “Allow”"),
        ("Reject", "allow_once", "Allow once “Reject”"),
        ("Yes", "allow_once", "Allow once “Yes”"),
    ],
)
def test_the_agents_words_follow_ours_only_if_they_say_something_else(name: str, kind: str, shown: str) -> None:
    assert chosen_words(Decision(name, kind)) == shown


LIES = (
    " " * 200 + "reject this",
    "No\n\n2 n  Reject once   “Allow”",
    "\u2003" * 90 + "No",
    "\u202eeslaf",
    "許可" * 300,
    "لا تسمح" * 40,
    "n\u0301" * 500,
    "“” 1 y  Allow once  “",
    "",
    "\t",
)


@pytest.mark.parametrize("width", [116, 76, 36])
def test_no_name_gets_before_our_word_in_any_width(width: int) -> None:
    for name in LIES:
        options = (PermissionOption("lie", name, "allow_always"), REJECT)
        lie, rejection = ([strip.text for strip in lines] for lines in option_lines(options, None, PLAIN, width))
        assert lie[0].startswith("  1 a  Allow always"), name
        assert all(row.startswith(" " * len("  1 a  ")) for row in lie[1:]), name
        assert len(lie) <= 10, name
        assert rejection[0].startswith("  2 n  Reject once"), name


async def test_no_name_gets_before_our_word_or_looks_like_a_row_of_its_own() -> None:
    async with open_page(size=(80, 24)) as page:
        for name in LIES:
            await page.ask("call", PermissionOption("lie", name, "allow_always"), REJECT)
            shown = page.lines
            first = next(row for row, line in enumerate(shown) if "1 a  Allow always" in line)
            column = shown[first].index("1 a  Allow always")
            answers = [line[column:] for line in shown[first:]]
            end = next(at for at, row in enumerate(answers) if row.startswith("2 n  Reject once"))
            assert end <= 10, name
            assert all(row.startswith(" " * len("1 a  ")) for row in answers[1:end]), name
            await page.apply(PermissionAnswered(next(iter(page.session.conversation.permissions)), None))


async def test_an_id_that_is_offered_twice_counts_as_the_most_that_it_can_mean() -> None:
    async with open_page() as page:
        await page.ask(
            "call",
            PermissionOption("x", "No", "reject_once"),
            PermissionOption("x", "Yes", "allow_always"),
            ALLOW,
        )
        assert "2    Allow always  “No”" in page.text
        assert "3    Allow always  “Yes”" in page.text
        assert page.session.conversation.permissions[RequestKey(1)].rejection is None


async def test_a_queue_shows_the_oldest_first_and_how_many_wait() -> None:
    async with open_page() as page:
        for name in ("first", "second", "third"):
            await page.ask(name, title=f"The {name}")
        for waiting, name in (("1 of 3  ", "first"), ("1 of 2  ", "second"), ("", "third")):
            assert f"Permission  {waiting}The {name}" in page.text
            await page.enter_card()
            await page.press("2")
            page.clock.now_s += REPEAT_S
            await page.press("escape")
        assert not page.card.display


async def test_the_whole_diff_can_be_read_and_the_options_stay_in_view() -> None:
    async with open_page() as page:
        await page.ask("call", title="Write long.py", kind="edit", content=(LONG_DIFF,))
        await page.enter_card()
        seen, last = set[str](), ""
        while last != (last := page.text):
            seen |= set(_diff_lines(page))
            assert "1 y  Allow once" in last
            assert "2 n  Reject once" in last
            await page.press("pagedown")
        assert seen == {f"line {number}" for number in range(1, 81)}
        assert page.decisions == {}


def _diff_lines(page: Page) -> list[str]:
    """The lines of LONG_DIFF on the card, by the number and mark before each."""
    shown = (line.strip(" │▎").partition(" + ")[2].rstrip(" ▁▂▃▄▅▆▇█│") for line in page.lines)
    return [line.strip() for line in shown if line]


def _row_of(page: Page, text: str) -> int:
    return next(row for row, line in enumerate(page.lines) if text in line)


async def test_the_next_request_is_shown_from_its_beginning() -> None:
    async with open_page() as page:
        await page.ask("first", content=(LONG_DIFF,))
        await page.ask("second", title="The second", content=(LONG_DIFF,))
        await page.enter_card()
        await page.press("pagedown", "pagedown")
        page.clock.pass_guard()
        await page.press("2")
        assert "The second" in page.text
        assert "line 1" in _diff_lines(page)


async def test_a_request_without_content_shows_its_raw_input() -> None:
    async with open_page() as page:
        await page.ask("call", title="push", kind="other", raw_input={"command": "git push --force"})
        assert "command: git push --force" in page.text


async def test_a_request_without_anything_says_that_nothing_is_known() -> None:
    async with open_page() as page:
        await page.ask("call", title="Trust me")
        assert "the agent didn't say exactly what this does" in page.text


async def test_text_that_the_agent_gives_for_its_request_is_shown() -> None:
    async with open_page() as page:
        await page.ask("call", content=(BlockContent(Text("first line\nsecond line")),))
        assert "first line" in page.text
        assert "second line" in page.text


async def test_the_raw_report_is_shown_on_demand() -> None:
    async with open_page() as page:
        await page.ask("call", content=(TextDiff("/project/a", "a\n"),), raw_input={"mode": "fast"})
        await page.enter_card()
        assert "mode: fast" in page.text
        assert '"mode": "fast"' not in page.text
        await page.press("r")
        assert '"mode": "fast"' in page.text
        assert "raw output" not in page.text
        assert "a  new file" in page.text
        await page.press("r")
        assert '"mode": "fast"' not in page.text


async def test_a_note_of_the_clients_stands_beside_the_request() -> None:
    async with open_page() as page:
        await page.ask("call")
        key = next(iter(page.session.conversation.permissions))
        await page.apply(PermissionNoted(key, "A rule of yours would refuse this"))
        assert "A rule of yours would refuse this" in page.text


async def test_a_place_outside_of_the_workspace_is_shown_whole() -> None:
    async with open_page() as page:
        places = (
            Location("/project/inside.py", 7),
            Location("/project/../etc/passwd"),
            Location("/etc/hosts"),
        )
        await page.ask("call", locations=places)
        assert "at inside.py:7" in page.text
        assert "at /project/../etc/passwd" in page.text
        assert "at /etc/hosts" in page.text


async def test_without_an_option_that_refuses_it_says_how_to_refuse() -> None:
    async with open_page() as page:
        await page.ask("call")
        assert "to refuse" not in page.text
        await page.start_over()
        await page.send("go")
        await page.ask("call", *ONLY_ALLOW)
        assert "to refuse, cancel the turn" in page.text, "in the prompt"
        await page.press("tab")
        assert "to refuse, cancel the turn" in page.text, "on the card"


async def test_a_change_of_the_tool_call_is_shown_while_its_request_waits() -> None:
    async with open_page() as page:
        await page.ask("call", title="Edit a file")
        await page.apply(call("call", title="Edit two files"))
        assert "Permission  Edit two files" in page.text


async def test_in_a_narrow_and_low_terminal_the_options_are_in_view() -> None:
    async with open_page(size=(30, 16)) as page:
        await page.ask("call", title="Write long.py", content=(LONG_DIFF,))
        assert "1 y  Allow once" in page.text
        assert "2 n  Reject once" in page.text


MANY = tuple(PermissionOption(f"o{number}", f"Way {number}", "allow_once") for number in range(1, 13))


@pytest.mark.parametrize("size", [(80, 24), (40, 20)])
async def test_among_many_options_the_chosen_one_stays_in_view(
    size: tuple[int, int],
) -> None:
    async with open_page(size=size) as page:
        await page.ask("call", *MANY, REJECT, title="Write long.py", content=(LONG_DIFF,))
        await page.enter_card()
        for number in range(1, 13):
            shown = " ".join(page.text.split())
            await page.press("down")
            assert f"❯ {number if number < 10 else '·'} Allow once “Way {number}”" in shown
            assert "Write long.py" in shown
            assert "↑↓ Enter answer" in shown
        assert page.lines[-6].strip().endswith("╯"), "the card is whole"


async def test_the_keys_are_named_whole_in_every_width() -> None:
    async with open_page(size=(120, 40)) as page:
        await page.ask("call", content=(LONG_DIFF,))
        await page.enter_card()
        for size in ((120, 40), (80, 24), (40, 20)):
            await page.pilot.resize_terminal(*size)
            await page.settled()
            shown = page.text
            for key in ("PgDn more", "f full screen", "w "):
                assert key in shown, size


@pytest.mark.parametrize("size", [(120, 40), (160, 50), (200, 60)])
async def test_the_conversation_keeps_a_third_of_a_large_screen(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        await page.ask("call", content=(LONG_DIFF,))
        first = next(at for at, line in enumerate(page.lines) if line.lstrip().startswith("╭"))
        assert size[1] // 3 <= first <= size[1] // 3 + 2


async def test_on_a_small_screen_the_way_to_read_all_is_named_before_other_keys() -> None:
    async with open_page(size=(60, 16)) as page:
        await page.ask("first", title="Edit long.py", content=(LONG_DIFF,))
        await page.ask("second", title="Edit other.py", content=(LONG_DIFF,))
        await page.enter_card()
        assert "f full screen · PgDn more · [ ] other requests" in page.text


async def test_the_card_says_which_lines_are_in_view_unless_all_are() -> None:
    lines = "".join(f"line {number:03}\n" for number in range(1, 101))
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", content=(TextDiff("/project/long.py", lines),))
        last = max(int(number) for number in re.findall(r"line (\d{3})", page.text))
        assert f"  1-{last + 1} of 101" in page.lines[_row_of(page, "Permission")]
        await page.enter_card()
        await page.press("pagedown")
        first = min(int(number) for number in re.findall(r"line (\d{3})", page.text))
        assert f"  {first + 1}-" in page.lines[_row_of(page, "Permission")]
        await page.pilot.resize_terminal(80, 200)
        await page.until(lambda: "line 100" in page.text)
        assert "of 101" not in page.text


async def test_a_free_row_is_between_a_change_that_is_cut_and_the_options() -> None:
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", content=(LONG_DIFF,))
        assert page.lines[_row_of(page, "1 y  Allow once") - 1].strip(" │") == ""


async def test_options_stay_in_place_when_the_card_gets_the_focus_and_says_something() -> None:
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", content=(LONG_DIFF,))
        rows = [_row_of(page, "Allow once")]
        await page.press("tab")
        rows.append(_row_of(page, "Allow once"))
        await page.press("2")
        assert "Too soon" in page.text
        rows.append(_row_of(page, "Allow once"))
        assert len(set(rows)) == 1


async def test_a_draft_that_grows_takes_no_room_from_the_answers() -> None:
    async with open_page(size=(80, 24)) as page:
        await page.ask("call", content=(LONG_DIFF,))
        await page.write("line\n" * 8)
        assert "1 y  Allow once" in page.text
        assert "2 n  Reject once" in page.text


async def test_what_the_agent_says_meanwhile_draws_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_page() as page:
        await page.ask("call", content=(LONG_DIFF,))
        drawn: list[None] = []
        monkeypatch.setattr(type(page.card.body), "redraw", lambda _: drawn.append(None))
        await page.apply(agent("one"), agent("two"), call("another", title="Read"))
        assert drawn == []
        await page.apply(call("call", title="Edit two files"))
        assert len(drawn) == 1


# How it ends


async def test_an_answer_takes_the_card_away_and_leads_back_to_the_prompt() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.enter_card()
        await page.press("1")
        assert not page.card.display
        assert page.prompt.has_focus


async def test_a_cancelled_turn_takes_the_card_away() -> None:
    async with open_page() as page:
        await page.send("go")
        await page.ask("call")
        await page.press("escape")
        assert not page.card.display
        assert "permission: canceled" in page.text


async def test_the_end_of_the_agent_takes_the_card_away_and_leads_back_to_the_prompt() -> None:
    async with open_page() as page:
        await page.ask("call")
        await page.enter_card()
        await page.apply(Disconnected("it exited with 1"))
        assert not page.card.display
        assert page.prompt.has_focus
        assert page.decisions == {}


async def test_a_request_that_the_agent_withdraws_takes_the_card_away() -> None:
    async with open_page() as page:
        await page.ask("call")
        key = next(iter(page.session.conversation.permissions))
        await page.apply(PermissionAnswered(key, None))
        assert not page.card.display


async def test_the_decision_stands_in_the_conversation() -> None:
    async with open_page(agent("Before")) as page:
        for key, option in (("1", ALLOW), ("2", REJECT)):
            await page.ask(f"call {key}", title="Edit a file")
            assert "needs your decision" in page.text, key
            await page.enter_card()
            await page.press(key)
            assert f"╰ you chose: {KIND_WORDS[option.kind]}" in page.text, key
            assert "needs your decision" not in page.text, key
            await page.start_over()


async def test_the_decision_says_what_was_done_whatever_the_agent_calls_it() -> None:
    async with open_page() as page:
        await page.ask("call", PermissionOption("1", "Reject", "allow_always"))
        await page.enter_card()
        await page.press("1")
        assert "╰ you chose: Allow always “Reject”" in page.text
        await page.ask("other", PermissionOption("1", "allow once", "allow_once"))
        page.clock.pass_guard()
        await page.press("tab")
        page.clock.pass_guard()
        await page.press("1")
        assert "╰ you chose: Allow once\n" in page.text


async def test_the_card_speaks_of_reading_on_only_where_there_is_more_to_read() -> None:
    async with open_page() as page:
        await page.ask("short", title="Edit a file")
        await page.ask("long", content=(LONG_DIFF,))
        await page.enter_card()
        assert "PgDn" not in page.text
        assert "f full screen" in page.text
        await page.press("1")
        assert "PgDn more" in page.text


# With little space

OLD = "".join(f"line {number}\n" for number in range(1, 61))
EDIT = TextDiff("/project/durations.py", OLD.replace("line 12\n", "changed\n" + "more\n" * 20), OLD)
LONG_TITLE = "Make the parser of the durations take what people write without spaces"


@pytest.mark.parametrize("size", [(80, 24), (40, 20), (40, 16)])
async def test_title_file_first_changed_line_and_options_are_in_view_together(size: tuple[int, int]) -> None:
    async with open_page(size=size) as page:
        for title, keys in product(("Edit durations.py", LONG_TITLE), ((), ("tab",))):
            await page.ask("call", title=title, content=(EDIT,))
            await page.press(*keys)
            shown = " ".join(" ".join(page.lines).replace("│", " ").split())
            assert title in shown
            for text in (
                "durations.py",
                "- line 12",
                "1 y Allow once",
                "2 n Reject once",
            ):
                assert text in shown, (title, keys)
            await page.start_over()


@pytest.mark.parametrize("rows", range(16, 30))
async def test_it_begins_at_its_head_if_the_first_changed_line_is_in_view_from_there(rows: int) -> None:
    async with open_page(size=(80, rows)) as page:
        await page.ask("call", title="Edit durations.py", raw_input={"reason": "to be shorter"}, content=(EDIT,))
        await page.enter_card()
        assert "- line 12" in page.text
        if "reason: to be shorter" not in page.text:
            await page.press("pageup")
            assert "- line 12" not in page.text, "it would have been in view with its head"


async def test_a_plan_makes_room_for_a_request_that_needs_it_and_comes_back() -> None:
    async with open_page(*plan(), size=(40, 20)) as page:
        assert "Plan 1" in page.text
        await page.ask("call", title="Edit durations.py", content=(EDIT,))
        assert "Plan 1" not in page.text
        assert "- line 12" in page.text
        await page.enter_card()
        await page.press("2")
        assert "Plan 1" in page.text


@pytest.mark.parametrize("size", [(30, 10), (20, 8), (20, 5)])
async def test_where_the_request_has_no_room_nothing_answers_it_but_the_full_screen(
    size: tuple[int, int],
) -> None:
    async with open_page(size=size) as page:
        await page.ask("call", title="Edit durations.py", content=(EDIT,))
        await page.enter_card()
        await page.until(lambda: "f to see it" in page.text)
        await page.press("down")
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {}, "it isn't in view"
        page.clock.now_s += REPEAT_S
        await page.until(lambda: "durations.py +21 -1" in page.words)
        assert "1 y  Allow once" in page.text
        await page.press_until_decided("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_screen_that_becomes_large_enough_lets_answers_count() -> None:
    async with open_page(size=(20, 5)) as page:
        await page.ask("call", title="Edit durations.py", content=(EDIT,))
        await page.enter_card()
        await page.pilot.resize_terminal(40, 20)
        await page.until(lambda: "- line 12" in page.text)
        await page.press("1")
        assert page.decisions == {}, "it wasn't in view"
        page.clock.pass_guard()
        await page.press("1")
        assert page.decisions == {}, "not all of it fits"
        await page.press_until_decided("1")
        assert page.decisions == {"call": ALLOW.option_id}


async def test_a_title_that_is_cut_stands_whole_above_the_subject() -> None:
    async with open_page(size=(40, 16)) as page:
        await page.ask("call", title=" ".join(f"word{number}" for number in range(40)), content=(EDIT,))
        await page.enter_card()
        assert "…" in page.text
        assert "word20" not in page.text
        await page.press(*["pageup"] * 20)
        seen = ""
        for _ in range(12):
            seen += page.text
            await page.press("pagedown")
        assert all(f"word{number}" in seen for number in range(40))


@pytest.mark.parametrize("full", [(), ("f",)], ids=["card", "full screen"])
async def test_the_raw_report_comes_into_view_and_the_beginning_when_it_goes(full: tuple[str, ...]) -> None:
    async with open_page(size=(40, 20)) as page:
        await page.ask("call", title="Edit durations.py", content=(EDIT,), raw_input={"mode": "fast"})
        await page.enter_card()
        await page.press(*full, "r")
        await page.until(lambda: '"mode": "fast"' in page.text)
        await page.press("r")
        await page.until(lambda: "- line 12" in page.text)


@pytest.mark.parametrize(("lines", "is_whole"), [(16, True), (40, False)])
async def test_on_a_large_screen_it_takes_the_few_rows_that_show_all_of_it(lines: int, is_whole: bool) -> None:
    diff = TextDiff("/project/new.py", "".join(f"line {number}\n" for number in range(1, lines + 1)))
    async with open_page(size=(120, 40)) as page:
        await page.ask("call", content=(diff,))
        await page.until(lambda: "+ line 1" in page.text)
        assert (f"+ line {lines}" in page.text) is is_whole


FEW_CHANGES = TextDiff(
    "/project/old.py",
    "".join(f"line {number}{' new' * (number in (12, 13, 17, 24))}\n" for number in range(40)),
    "".join(f"line {number}\n" for number in range(40)),
)


@pytest.mark.parametrize(
    ("size", "context", "is_whole"),
    [((80, 24), 3, False), ((120, 40), 1, True), ((160, 50), 3, True), ((200, 60), 3, True)],
)
async def test_it_shows_fewer_unchanged_lines_if_all_changes_are_in_view_then(
    size: tuple[int, int], context: int, is_whole: bool
) -> None:
    async with open_page(*(agent(f"{number}\n\n") for number in range(60)), size=size) as page:
        await page.ask("call", content=(FEW_CHANGES,))
        await page.until(lambda: "- line 12" in page.text)
        above = [number for number in range(12) if re.search(rf" line {number}\b", page.text)]
        assert above == list(range(12 - context, 12))
        assert ("+ line 24 new" in page.text) is is_whole


async def test_it_has_what_a_short_conversation_leaves_empty_and_stays_in_place() -> None:
    diff = TextDiff("/project/new.py", "".join(f"line {number}\n" for number in range(1, 22)))
    async with open_page(agent("One line"), size=(120, 40)) as page:
        await page.ask("first", content=(diff,))
        await page.until(lambda: "+ line 21" in page.text)
        assert "One line" in page.text
        rows = _row_of(page, "Permission"), _row_of(page, "Allow once")
        await page.apply(agent("".join(f"{number}\n\n" for number in range(60))))
        await page.until(lambda: "59" in page.text)
        assert rows == (_row_of(page, "Permission"), _row_of(page, "Allow once"))
        await page.apply(PermissionAnswered(RequestKey(1), "opt-1"))
        await page.ask("second", content=(diff,))
        await page.until(lambda: "+ line 1" in page.text)
        assert "+ line 21" not in page.text
        assert _row_of(page, "Permission") > 40 // 3


async def test_the_conversation_keeps_a_command_with_another_title_that_was_allowed() -> None:
    async with open_page() as page:
        await page.ask("call", kind="execute", title="Build all of it", raw_input={"command": "make all"})
        assert page.text.count("make all") == 1
        await page.enter_card()
        await page.press("1")
        await page.until(lambda: "• Build all of it  $ make all" in page.text)
