"""Several sessions at once: each in its own tab, which shows its state, whichever is in front."""

from __future__ import annotations

import gc
from inspect import CORO_CLOSED, getcoroutinestate
from weakref import ref

import pytest
from rich.cells import cell_len

from acp_tui.client.agents.catalogue import Catalogue, EntrySource, ListedAgent
from acp_tui.client.attachments.attach import mentions
from acp_tui.conversation.updates import Disconnected, Reconnected
from acp_tui.ui.conversation.view import ConversationView
from acp_tui.ui.dialogs.agents import AgentsScreen
from acp_tui.ui.session.status_line import Status, StatusLine, line_of
from acp_tui.ui.tab.sessions import last_line
from support.agents import scripted
from support.changes import ONE_FILE, make_repository
from support.desks import SESSION, Desk, OpenDesk
from support.folding import agent, fold
from support.pages import leave

TWO = """
answer(expect("session/new"), sessionId="s2")
"""


def tab_line(desk: Desk) -> str:
    """The first row of the screen."""
    return desk.text.split("\n")[0].strip()


async def test_one_tab_takes_no_line_and_each_has_its_own_draft_and_conversation(open_desk: OpenDesk) -> None:
    script = 'say("in the first")\n' + TWO + 'update("agent_message_chunk", session="s2",'
    script += ' content={"type": "text", "text": "in the second"})\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.shows("in the first")
        assert "1 " not in tab_line(desk)
        await desk.write("draft")
        await desk.press("ctrl+n")
        await desk.shows("in the second")
        assert "in the first" not in desk.text
        assert desk.draft == ""
        await desk.press("alt+1")
        await desk.shows("in the first")
        assert desk.draft == "draft"
        await desk.press("ctrl+pagedown")
        await desk.shows("in the second")


async def test_the_row_of_a_session_on_hold_says_why(open_desk: OpenDesk) -> None:
    script = 'sent = expect("session/prompt")\nexpect("session/cancel")\nend(sent, "cancelled")\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("one")
        await desk.send("two")
        await desk.press("escape")
        await desk.shows("1 queued, on hold (turn canceled)")
        await desk.press("f3")
        await desk.shows("1 ● one on hold, turn canceled")


async def test_that_a_draft_is_back_is_said_only_in_its_own_tab(open_desk: OpenDesk) -> None:
    script = 'opening = expect("session/new")\nexpect("_go_on")\nanswer(opening, sessionId="s2")\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        leave("s2", "for the second", folder=desk.tab.cwd)
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        first, second = desk.tabs
        await desk.press("alt+1")
        await desk.until(lambda: desk.tab is first)
        desk.let_go_on()
        await desk.until(lambda: second.prompt.draft == "for the second")
        await desk.settled()
        assert "draft is back" not in desk.text
        await desk.press("alt+2")
        await desk.shows("Your unsent draft is back")
        await desk.press("alt+1")
        await desk.hides("draft is back")


async def test_a_hidden_tab_lays_out_no_status_line_and_is_right_when_it_comes_up(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = TWO + 'expect("_go_on")\nupdate("usage_update", used=5, size=10)\nsay("in the first")\n'
    shown: list[Status] = []
    async with open_desk(SESSION, script + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        first, second = desk.tabs
        await desk.until(lambda: desk.tab is second)
        await desk.has_session()
        line = first.screen.query_one(StatusLine)
        monkeypatch.setattr(line, "show", shown.append)
        desk.let_go_on()
        await desk.hears("in the first")
        assert shown == []
        await desk.press("alt+1")
        await desk.shows("in the first")
        assert shown[-1].facts == ("5/10",)


async def test_the_key_that_also_deletes_quits_several_tabs_only_at_the_second_press(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.press("ctrl+d")
        await desk.until(lambda: [one.message for one in desk.notices] == ["Ctrl+D again quits: 2 tabs are open"])
        assert desk.pilot.app.is_running
        await desk.press("ctrl+d")
        await desk.until(lambda: not desk.pilot.app.is_running)


async def test_a_turn_that_ends_unseen_is_said_in_its_tab_until_it_is_seen(open_desk: OpenDesk) -> None:
    script = (
        'prompt = expect("session/prompt")\n'
        + TWO
        + 'expect("_go_on")\nanswer(prompt, stopReason="end_turn")\nserve_until_closed()'
    )
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("Count the stars")
        await desk.press("ctrl+n")
        await desk.until(lambda: "1 ◐ scripted: Count the stars" in tab_line(desk))
        await desk.has_session()
        desk.let_go_on()
        await desk.until(lambda: "1 ✓ scripted: Count the stars" in tab_line(desk))
        first, _ = desk.tabs
        assert first.state.value == "done"
        await desk.press("alt+n")
        await desk.until(lambda: first.state.value == "idle")


async def test_a_question_in_another_tab_waits_there_and_one_key_leads_to_it(
    open_desk: OpenDesk,
) -> None:
    script = 'expect("session/prompt")\n' + TWO + 'ask("allow_once", "reject_once")\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("Tidy up")
        await desk.press("ctrl+n")
        await desk.until(lambda: "1 ▲ scripted: Tidy up" in tab_line(desk))
        assert "Delete everything" not in desk.text
        await desk.until(lambda: "tab 1 needs you · Alt+N · F1 help" in desk.status)
        await desk.press("alt+n")
        await desk.shows("Delete everything")
        assert "tab 1 needs you" not in desk.status
        assert "Tab, then" not in desk.text  # the card has the keyboard
        assert desk.answers() == []


async def test_tabs_and_the_status_line_go_on_under_a_dialog(open_desk: OpenDesk) -> None:
    script = 'expect("session/prompt")\n' + TWO + 'expect("session/prompt")\nexpect("_go_on")\n'
    async with open_desk(SESSION, script + 'ask("allow_once", "reject_once")\nserve_until_closed()') as desk:
        await desk.has_session()
        await desk.give("Tidy up")
        await desk.press("ctrl+n")
        await desk.until(lambda: "1 ◐ scripted: Tidy up" in tab_line(desk))
        await desk.has_session()
        await desk.send("Count")
        await desk.press("f4")
        await desk.shows("Protocol")
        before = desk.status
        await desk.until(lambda: desk.status != before)  # the time
        desk.let_go_on()
        await desk.until(lambda: "1 ▲ scripted: Tidy up" in tab_line(desk))
        await desk.until(lambda: "tab 1 needs you" in desk.status)
        assert "Protocol" in desk.text


async def test_under_a_dialog_nothing_is_drawn_without_a_change(
    open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.press("f4")
        await desk.shows("Protocol")
        drawn: list[object] = []
        monkeypatch.setattr(desk.pilot.app.screen, "refresh", lambda *regions, **_: drawn.extend(regions))
        desk.pilot.app.tabs.tell()
        assert drawn == []


@pytest.mark.parametrize(("width", "shown"), [(80, True), (48, True), (40, True), (24, False)])
def test_what_waits_elsewhere_is_left_out_last(width: int, shown: bool) -> None:
    status = Status(agent="Agent", facts=("mode: Ask", "12k/200k"), elsewhere="tab 2 needs you · Alt+N")
    line = line_of(status, width).plain
    assert ("tab 2 needs you" in line) is shown
    assert cell_len(line) <= width
    assert "Agent" in line


async def test_where_not_all_labels_fit_tabs_of_one_agent_are_told_apart_by_their_titles(
    open_desk: OpenDesk,
) -> None:
    script = TWO + TWO.replace("s2", "s3") + "serve_until_closed()"
    async with open_desk(SESSION, script) as desk:
        for number, name in enumerate(("Fix the parser", "Fix the printer", "Fix the tests"), 1):
            await desk.until(lambda number=number: len(desk.tabs) == number)  # type: ignore[misc]
            await desk.has_session()
            await desk.do("rename_session")
            await desk.shows("Rename the session")
            await desk.press(*name.replace(" ", "_"), "enter", "ctrl+n" if number < 3 else "alt+2")
        whole = "1 ● scripted: Fix_the_parser  2 ● scripted: Fix_the_printer  3 ● scripted: Fix_the_tests"
        for width, line in (
            (100, whole),
            (80, "1 ● Fix_the_parser  2 ● scripted: Fix_the_printer  3 ● Fix_the_tests"),
            (60, "1 ● Fix_the_parser  2 ● Fix_the_printer  3 ● Fix_the_tests"),
            (48, "1 ● Fix_th…  2 ● Fix_the_printer  3 ● Fix_th…"),
            (34, "1 ●  2 ● Fix_the_printer  3 ●"),
        ):
            await desk.pilot.resize_terminal(width, 24)
            await desk.until(lambda line=line: tab_line(desk) == line)  # type: ignore[misc]
        desk.tabs[2].agent_title = "codex"
        await desk.pilot.resize_terminal(61, 24)
        await desk.until(lambda: tab_line(desk) == "1 ● Fix_the_parser  2 ● Fix_the_printer  3 ● codex")
        desk.tabs[2].agent_title = "scripted"
        title = "Find out why the printer stops"
        await desk.send(f"/rename {title}")
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: tab_line(desk) == f"1 ● Fix_the_parser  2 ● {title}  3 ● Fix_the_tests")
        await desk.pilot.resize_terminal(120, 24)
        await desk.press("alt+1")
        label = f"2 ● scripted: {title}"  # whole, though it's long and isn't in front
        await desk.until(
            lambda: tab_line(desk) == f"1 ● scripted: Fix_the_parser  {label}  3 ● scripted: Fix_the_tests"
        )
        await desk.press("alt+2")
        await desk.pilot.resize_terminal(80, 24)
        await desk.send(f"/rename {'word ' * 40}")
        await desk.until(lambda: tab_line(desk) == f"1 ● Fix_t…  2 ● {'word ' * 9}word…  3 ● Fix_t…")


async def test_labels_that_are_cut_keep_what_tells_their_titles_apart(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO, TWO.replace("s2", "s3"), "serve_until_closed()") as desk:
        for number, name in enumerate(("Fix the parser now", "Fix the lexer now", "Say why the lexer stops"), 1):
            await desk.until(lambda number=number: len(desk.tabs) == number)  # type: ignore[misc]
            await desk.has_session()
            await desk.send(f"/rename {name}")
            await desk.until(lambda name=name: desk.tab.title == name)  # type: ignore[misc]
            if number < 3:
                await desk.press("ctrl+n")
        for width, line in (
            (76, "1 ● Fix the parser now  2 ● Fix the lexer now  3 ● Say why the lexer stops"),
            (56, "1 ● …parse…  2 ● …lexer…  3 ● Say why the lexer stops"),
            (40, "1 ●  2 ●  3 ● Say why the lexer stops"),
        ):
            await desk.pilot.resize_terminal(width, 24)
            await desk.until(lambda line=line: tab_line(desk) == line)  # type: ignore[misc]
        await desk.send("/rename Fix the lexer now")  # as the second one is called: nothing tells them apart
        await desk.pilot.resize_terminal(56, 24)
        await desk.until(lambda: tab_line(desk) == "1 ● …parser n…  2 ● …lexer now  3 ● Fix the lexer now")
        await desk.send("/rename Fix the lexer at 9")  # where there is room beside what differs, it's used
        await desk.until(lambda: tab_line(desk) == "1 ● …parser n…  2 ● Fix th…now  3 ● Fix the lexer at 9")


async def test_worktrees_that_are_called_as_their_agent_have_a_number(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO, TWO.replace("s2", "s3"), "serve_until_closed()") as desk:
        make_repository(desk.tabs[0].cwd, ONE_FILE)
        await desk.has_session()
        for number, name in enumerate(("scripted", "scripted-2"), 2):
            await desk.send(f"/worktree {name}")
            await desk.until(lambda number=number: len(desk.tabs) == number)  # type: ignore[misc]
            await desk.has_session()
            await desk.send("/rename Fix the parser so that it works")
        await desk.press("alt+1")
        await desk.pilot.resize_terminal(50, 24)
        await desk.until(lambda: tab_line(desk) == "1 ● scripted  2 ● scripted 1  3 ● scripted 2")


async def test_a_new_title_is_in_the_tabs_at_once(open_desk: OpenDesk) -> None:
    script = TWO + 'expect("_go_on")\nupdate("session_info_update", title="The stars")\nserve_until_closed()'
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        desk.let_go_on()
        await desk.until(lambda: "1 ● scripted: The stars" in tab_line(desk))
        await desk.send("/rename The moon")
        await desk.until(lambda: "2 ● scripted: The moon" in tab_line(desk))


async def test_a_form_in_another_tab_opens_only_when_the_user_comes_there(open_desk: OpenDesk) -> None:
    form = (
        'send(id=7, method="elicitation/create", params={"sessionId": "s1", "mode": "form", "message":'
        ' "Which name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})'
    )
    script = 'expect("session/prompt")\n' + TWO + form + "\nserve_until_closed()"
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("Begin")
        await desk.press("ctrl+n")
        await desk.until(lambda: "1 ▲ scripted: Begin" in tab_line(desk))
        assert "Which name?" not in desk.text
        await desk.press("alt+1")
        await desk.shows("Which name?")


async def test_closing_a_tab_closes_its_session_and_shows_the_one_beside_it(open_desk: OpenDesk) -> None:
    handshake = 'handshake(agentCapabilities={"sessionCapabilities": {"close": {}}})\n'
    script = 'answer(expect("session/new"), sessionId="s1")\nsay("the first")\n' + TWO
    script += 'update("agent_message_chunk", session="s2", content={"type": "text", "text": "the second"})\n'
    async with open_desk(handshake, script, 'answer(expect("session/close"))', "serve_until_closed()") as desk:
        await desk.shows("the first")
        await desk.press("ctrl+n")
        await desk.shows("the second")
        await desk.press("alt+w")
        await desk.shows("the first")
        assert len(desk.tabs) == 1
        assert [params["sessionId"] for params in await desk.gets("session/close")] == ["s2"]


async def test_the_sessions_dialog_shows_all_tabs_closes_one_and_leads_to_another(open_desk: OpenDesk) -> None:
    script = 'expect("session/prompt")\n' + TWO + "serve_until_closed()"
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("Count the stars")
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        assert "needs you" not in desk.status
        await desk.press("f3")
        await desk.shows("Sessions", "Working 1 ◐ Count the stars", "Open ◉ 2 ● scripted")
        await desk.press("up", "enter")
        await desk.hides("Esc close")
        assert desk.shown_session.session_id == "s1"
        await desk.press("f3")
        await desk.shows("Esc close")
        await desk.press("down", "alt+w")
        await desk.until(lambda: len(desk.tabs) == 1)
        assert desk.shown_session.session_id == "s1"


async def test_a_row_of_the_sessions_dialog_has_the_agents_last_line_as_it_is_shown(open_desk: OpenDesk) -> None:
    script = 'prompt = expect("session/prompt")\nsay("Sure.\\n\\nI am **ready** to `help`.\\n")\nend(prompt)\n'
    async with open_desk(SESSION, script, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.give("Can you help?")
        await desk.shows("I am ready")
        await desk.press("f3")
        await desk.shows("1 ● Can you help?", "I am ready to help.")


def test_what_is_shown_of_a_long_last_line_begins_with_a_whole_word() -> None:
    said = last_line(fold(agent("one-two " * 100 + "three")))
    assert said == "… " + "one-two " * ((len(said) - 7) // 8) + "three"


def test_a_restart_leaves_the_failure_before_it_out_of_a_sessions_last_line() -> None:
    failed = (agent("Half of it"), Disconnected("Agent exited with code 1"))
    assert last_line(fold(*failed)) == "Agent exited with code 1"
    assert last_line(fold(*failed, Reconnected(remembers=True))) == "Half of it"


async def test_a_tab_behind_another_draws_nothing_until_it_comes_to_the_front(open_desk: OpenDesk) -> None:
    script = (
        'prompt = expect("session/prompt")\n'
        + TWO
        + 'expect("_go_on")\nfor number in range(50):\n    say(f"line {number}\\n\\n")\n'
        + 'answer(prompt, stopReason="end_turn")\nserve_until_closed()'
    )
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("Count")
        first = desk.tabs[0]
        await desk.press("ctrl+n")
        await desk.has_session()
        desk.let_go_on()
        await desk.until(lambda: first.state.value == "done")
        assert first.screen.query_one(ConversationView).top_line == 0
        await desk.press("alt+1")
        await desk.shows("line 49")
        assert first.screen.query_one(ConversationView).top_line > 0


async def test_a_fork_is_a_tab_that_shows_what_was_said_and_where_it_came_from(open_desk: OpenDesk) -> None:
    script = (
        'say("the answer")\nanswer(expect("session/fork"), sessionId="s2")\n'
        'prompt = expect("session/prompt")\n'
        'update("agent_message_chunk", session="s2", content={"type": "text", "text": "only here"})\n'
        'answer(prompt, stopReason="end_turn")\nserve_until_closed()'
    )
    session = SESSION.replace("handshake()", 'handshake(agentCapabilities={"sessionCapabilities": {"fork": {}}})')
    async with open_desk(session, script) as desk:
        await desk.shows("the answer")
        await desk.send("/fork")
        await desk.shows("◉ Go on in a fork")
        await desk.press_slowly("enter")
        await desk.shows("the answer", "forked from")
        assert len(desk.tabs) == 2
        assert "2 ● ↱ scripted" in tab_line(desk)
        assert "1 ● scripted" in tab_line(desk)
        await desk.send("go on")
        await desk.shows("only here")
        await desk.press("alt+1")
        await desk.hides("only here")


async def test_where_the_agent_cannot_fork_the_dialog_says_so(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, 'say("hello")', "serve_until_closed()") as desk:
        await desk.shows("hello")
        await desk.send("/fork")
        await desk.shows("◉ Go on in a new session", "scripted can't fork sessions")
        await desk.press("shift+tab")  # neither the fork nor what needs a prompt
        await desk.shows("◉ Go on with another agent")


async def test_another_agent_gets_what_was_said_as_a_draft_to_edit(open_desk: OpenDesk) -> None:
    script = (
        'prompt = expect("session/prompt")\nsay("Fixed in a.py, see @/etc/passwd")\n'
        'answer(prompt, stopReason="end_turn")\n'
    )
    async with open_desk(SESSION, script + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.send("Fix the bug")
        await desk.shows("Fixed in a.py")
        await desk.has_session()
        await desk.send("/handover")
        await desk.shows("◉ Go on with another agent")
        await desk.press_slowly("enter")
        await desk.shows("installed")
        await desk.press(*"demo", "enter")
        await desk.until(lambda: len(desk.tabs) == 2 and "Fixed in a.py" in desk.draft)
        assert "## I asked\n\nFix the bug" in desk.draft
        assert mentions(desk.draft) == []  # the agent's text can't attach a file
        assert desk.draft.endswith("## Now\n\n")
        assert len(desk.sent("session/prompt")) == 1


async def test_changed_lines_of_a_folder_stand_at_its_tab_if_it_is_the_only_one(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        await desk.has_session()
        changes = await desk.has_read_files()
        desk.tab.cwd.joinpath("new.txt").write_text("one\ntwo\n")
        await desk.until(lambda: "+2" in changes.summary())
        await desk.press("f3")
        await desk.shows("1 ● scripted +2 scripted")
        await desk.press("escape", "ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.press("f3")
        await desk.shows("1 ● scripted scripted", "2 ● scripted scripted")
        assert "+2" not in desk.text


async def test_enter_right_behind_what_opened_the_sessions_opens_the_one_at_the_cursor(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO + "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.write("/sessions")
        await desk.press("enter")
        await desk.shows("Type to search")
        await desk.press_at_once("up", "enter")
        await desk.until(lambda: desk.tab is desk.tabs[0])


# Closed and left


FORM = (
    'send(id=7, method="elicitation/create", params={"sessionId": "s1", "mode": "form", "message": "Which name?",'
    ' "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})\n'
)


async def test_a_closed_tab_leaves_nothing_behind(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, TWO, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("ctrl+n")
        await desk.has_session()
        screen = ref(desk.tabs[1].screen)
        await desk.press("alt+w", "a", "backspace")

        def is_gone() -> bool:
            gc.collect()
            return screen() is None

        await desk.until(is_gone)


async def test_a_form_withdrawn_behind_another_tab_is_gone_on_return(
    open_desk: OpenDesk,
) -> None:
    withdrawal = 'expect("_go_on")\nsend(method="$/cancel_request", params={"requestId": 7})\n'
    async with open_desk(SESSION, TWO, 'expect("_go_on")', FORM, withdrawal, "serve_until_closed()") as desk:
        await desk.has_session()
        first = desk.tabs[0]
        await desk.press("ctrl+n")
        await desk.has_session()
        await desk.press("alt+1")
        await desk.has_session()
        desk.let_go_on()
        await desk.shows("Which name?")
        await desk.pilot.app.switch_mode(desk.tabs[1].mode)
        desk.let_go_on()
        await desk.until(lambda: first.state.value != "needs you")
        await desk.press("alt+1")
        await desk.shows("canceled without an answer")
        await desk.hides("scripted asks")


async def test_work_that_is_canceled_before_it_begins_is_closed(open_desk: OpenDesk) -> None:
    async def work() -> None:
        pass

    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        all_work = [work(), work()]
        for each in all_work:
            desk.tabs[0].run(each, group="the same")
        await desk.until(lambda: all(getcoroutinestate(each) == CORO_CLOSED for each in all_work))


async def test_the_agent_that_a_tab_runs_by_a_command_is_the_first_to_start_again(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("alt+a")
        await desk.shows("Used last 1 scripted")
        await desk.press("enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        assert desk.tabs[1].link is not desk.tabs[0].link
        assert desk.tabs[1].link.command == desk.tabs[0].link.command


async def test_an_agent_that_has_not_answered_yet_is_listed_by_its_name(open_desk: OpenDesk) -> None:
    async with open_desk('expect("initialize")', "serve_until_closed()") as desk:
        await desk.shows("Starting scripted")
        await desk.press("alt+a")
        await desk.shows("Used last 1 scripted")


async def test_another_agent_is_started_in_a_worktree(open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        home = desk.tabs[0].cwd
        make_repository(home, ONE_FILE)
        await desk.has_session()
        other = ListedAgent(scripted(SESSION + "serve_until_closed()"), EntrySource.USER, "Other")
        monkeypatch.setattr(AgentsScreen.__init__, "__defaults__", (lambda: Catalogue((other,)), lambda: None))
        await desk.press("alt+a")
        await desk.shows("It works in this folder · Tab: in a new worktree")
        await desk.press("tab")
        await desk.shows("It works in a new git worktree of this folder")
        await desk.press("down", "enter")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        assert desk.tabs[1].cwd.parent == home.parent / f"{home.name}.worktrees"
        assert desk.tabs[1].link is not desk.tabs[0].link
        await desk.until(lambda: f"worktree {desk.tabs[1].cwd.name} · F1 help" in desk.status)
        await desk.press("alt+1")
        await desk.until(lambda: "F1 help" in desk.status and "worktree" not in desk.status)
