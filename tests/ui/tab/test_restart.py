"""Restarting a stopped agent: the session continues as far as the agent remembers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.conversation.entries import Failure
from acp_tui.conversation.updates import Reconnected
from support.desks import SESSION
from support.tabs import OpenTabs, TabDesk

FIRST_RUN = """
from pathlib import Path
mark = Path(MARK)
ran_before = mark.exists()
mark.touch()
handshake(agentCapabilities=CAPABILITIES)
if not ran_before:
    answer(expect("session/new"), sessionId="s1")
    say("before the crash")
    expect("session/prompt")
    sys.stderr.write("out of memory\\n")
    sys.exit(3)
"""
RESUMES = 'CAPABILITIES = {"sessionCapabilities": {"resume": {}}}'
LOADS = 'CAPABILITIES = {"loadSession": True}'
FORGETS = "CAPABILITIES = {}"
SLOW_TO_OPEN = """
choices = [{"id": each, "name": each.title()} for each in ("default", "plan")]
def modes(current):
    return {"currentModeId": current, "availableModes": choices}
handshake(agentCapabilities={"sessionCapabilities": {"resume": {}}})
opening = read()
if opening["method"] == "session/new":
    answer(opening, sessionId="s1", modes=modes("plan"))
    say("before the crash")
    expect("session/prompt")
    sys.exit(3)
answer(opening, modes=modes("default"))
setting = read()
expect("_go_on")
answer(setting)
say(read()["method"] + " in " + setting["params"]["modeId"])
serve_until_closed()
"""
"""It dies in the first turn, and is then asked for the mode that it had, which it takes only once it may go on."""


@pytest.fixture
def first_run(tmp_path: Path) -> str:
    """What the agent does first, and only once."""
    return f"MARK = {str(tmp_path / 'ran')!r}\n{FIRST_RUN}"


async def crashed(desk: TabDesk) -> None:
    """The agent has died in the middle of a turn."""
    await desk.shows("before the crash")
    await desk.send("Go on")
    await desk.shows("exited with code 3", "out of memory", "gone; Alt+R restarts it")


async def test_a_session_that_the_agent_remembers_goes_on_below_what_was_said(
    open_tabs: OpenTabs, first_run: str
) -> None:
    script = """
    answer(expect("session/resume"))
    say("where were we")
    serve_until_closed()
    """
    async with open_tabs(RESUMES, first_run, script) as desk:
        await crashed(desk)
        await desk.restart()
        await desk.shows("before the crash", "where were we")
        assert Reconnected(remembers=True) in desk.shown_session.conversation.entries
        await desk.has_session()


async def test_one_below_which_nothing_was_said_and_that_it_does_not_list_begins_anew(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    script = f"""
    from pathlib import Path
    mark = Path({str(tmp_path / "ran")!r})
    ran = mark.read_text() if mark.exists() else ""
    mark.write_text(ran + "x")
    handshake(agentCapabilities={{"sessionCapabilities": {{"resume": {{}}, "list": {{}}}}}})
    if ran == "x":
        refuse(expect("session/resume"), -32002, "not found")
    elif ran:
        answer(expect("session/list"), sessions=[])
    answer(expect("session/new"), sessionId=f"s{{len(ran) + 1}}")
    if not ran:
        say("before the crash")
        expect("session/prompt")
    else:
        expect("_go_on")
    sys.exit(3)
    """
    async with open_tabs(script) as desk:
        await desk.shows("before the crash")
        await desk.send("Go on")
        await desk.shows("exited with code 3")
        await desk.restart()
        await desk.until(lambda: desk.shown_session.session_id == "s2")
        desk.let_go_on()
        await desk.until(lambda: not desk.shown_session.conversation.is_connected)
        await desk.restart()
        await desk.until(lambda: desk.shown_session.session_id == "s3")
        assert len(desk.sent("session/resume")) == 1, "only for the session in which something was said"
        told = [one for one in desk.shown_session.conversation.entries if isinstance(one, Reconnected)]
        assert told[-1].why == "scripted keeps no session in which nothing was said."


async def test_one_that_it_can_load_is_shown_as_it_replays_it(open_tabs: OpenTabs, first_run: str) -> None:
    script = """
    load = expect("session/load")
    say("as I kept it")
    answer(load)
    serve_until_closed()
    """
    async with open_tabs(LOADS, first_run, script) as desk:
        await crashed(desk)
        await desk.restart()
        await desk.shows("as I kept it")
        await desk.until(lambda: Reconnected(True, is_loaded=True) in desk.shown_session.conversation.entries)
        assert "out of memory" not in desk.words


async def test_one_that_is_loaded_keeps_its_title(open_tabs: OpenTabs, first_run: str) -> None:
    script = """
    load = expect("session/load")
    say("as I kept it")
    answer(load)
    serve_until_closed()
    """
    titled = first_run.replace('say("before', 'update("session_info_update", title="About it"); say("before')
    async with open_tabs(LOADS, titled, script) as desk:
        await crashed(desk)
        assert desk.tab.title == "About it"
        await desk.restart()
        await desk.shows("as I kept it")
        await desk.until(lambda: Reconnected(True, is_loaded=True) in desk.shown_session.conversation.entries)
        assert desk.tab.title == "About it"


HEARS = """
say(expect("session/prompt")["params"]["prompt"][0]["text"] + ", again")
serve_until_closed()
"""
GIVES_BACK = {
    RESUMES: 'answer(expect("session/resume"))',
    LOADS: 'answer(expect("session/load"))',
    FORGETS: 'answer(expect("session/new"), sessionId="s1")',
}


@pytest.mark.parametrize("capabilities", GIVES_BACK, ids=["resumed", "loaded", "forgotten"])
async def test_the_prompt_in_whose_turn_it_died_is_sent_again_after_the_restart(
    open_tabs: OpenTabs, first_run: str, capabilities: str
) -> None:
    async with open_tabs(capabilities, first_run, GIVES_BACK[capabilities], HEARS) as desk:
        await crashed(desk)
        await desk.do("send_again")
        await desk.shows("The agent is gone; Alt+R restarts it.")
        await desk.restart()
        await desk.has_session()
        await desk.do("send_again")
        await desk.shows("Go on, again")


async def test_an_agent_that_forgets_begins_below_what_was_said_and_that_is_told(
    open_tabs: OpenTabs, first_run: str
) -> None:
    script = """
    answer(expect("session/new"), sessionId="s1")
    say("a clean sheet")
    serve_until_closed()
    """
    async with open_tabs(FORGETS, first_run, script) as desk:
        await crashed(desk)
        await desk.write("my next thought")
        await desk.restart()
        await desk.shows("before the crash", "a clean sheet")
        assert Reconnected(remembers=False) in desk.shown_session.conversation.entries
        assert desk.draft == "my next thought"


async def test_a_session_that_it_cannot_resume_after_all_is_begun_anew(open_tabs: OpenTabs, first_run: str) -> None:
    script = """
    refuse(expect("session/resume"), -32603, "no such session")
    answer(expect("session/new"), sessionId="s1")
    say("a clean sheet")
    serve_until_closed()
    """
    async with open_tabs(RESUMES, first_run, script) as desk:
        await crashed(desk)
        await desk.restart()
        await desk.shows("a clean sheet", "Session s1 wasn't opened. scripted: no such session")
        said = [entry.why for entry in desk.shown_session.conversation.entries if isinstance(entry, Reconnected)]
        assert any("no such session" in why for why in said)


async def test_a_session_in_which_nothing_was_said_is_replaced_by_a_new_one(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    script = f"""
    from pathlib import Path
    mark = Path({str(tmp_path / "ran")!r})
    ran_before = mark.exists()
    mark.touch()
    handshake(agentCapabilities={{"loadSession": True, "sessionCapabilities": {{"resume": {{}}}}}})
    answer(expect("session/new"), sessionId="s2" if ran_before else "s1")
    if not ran_before:
        expect("_go_on")
        sys.exit(3)
    serve_until_closed()
    """
    async with open_tabs(script) as desk:
        await desk.has_session()
        desk.let_go_on()
        await desk.shows("gone; Alt+R restarts it")
        await desk.restart()
        await desk.has_session()
        assert desk.shown_session.session_id == "s2"
        assert not desk.sent("session/resume")
        assert [entry.text for entry in desk.shown_session.conversation.entries] == [
            "The agent was restarted; this is a new session."
        ]


async def test_what_was_queued_waits_until_the_user_says_so(open_tabs: OpenTabs, first_run: str) -> None:
    script = """
    answer(expect("session/resume"))
    serve_until_closed()
    """
    async with open_tabs(
        RESUMES, first_run.replace("    sys.std", '    expect("_go_on")\n    sys.std'), script
    ) as desk:
        await desk.shows("before the crash")
        await desk.give("first")
        await desk.send("second")
        assert [prompt.text for prompt in desk.queue.prompts] == ["second"]
        desk.let_go_on()
        await desk.shows("gone")
        await desk.enter()
        assert desk.notices[-1].message == "The agent is gone; Alt+R restarts it. What is queued stays."
        await desk.until(lambda: desk.queue.is_held and not desk.queue.can_send)
        await desk.restart()
        await desk.until(lambda: desk.queue.can_go_on)
        assert Reconnected(remembers=True) in desk.shown_session.conversation.entries
        assert desk.queue.is_held
        assert desk.app.notices.is_over["The agent is gone; Alt+R restarts it. What is queued stays."]()
        assert [params["prompt"][0]["text"] for params in desk.sent("session/prompt")] == ["first"]
        assert [prompt.text for prompt in desk.queue.prompts] == ["second"]


async def test_an_agent_at_work_is_stopped_only_when_the_user_is_sure(open_tabs: OpenTabs) -> None:
    async with open_tabs(SESSION, 'say("hello")', "serve_until_closed()") as desk:
        await desk.shows("hello")
        await desk.restart()
        await desk.shows("Restart the agent? Its turn ends; the conversation goes on as far as the agent remembers it.")
        assert not desk.dialog.lines, "there is nothing else to read"
        await desk.answer(False)
        assert len(desk.sent("initialize")) == 1
        await desk.restart()
        await desk.answer(True)
        await desk.until(lambda: Reconnected(remembers=False) in desk.shown_session.conversation.entries)
        failures = [entry for entry in desk.shown_session.conversation.entries if isinstance(entry, Failure)]
        assert not failures, "it's what the user wanted"
        assert len(desk.sent("initialize")) == 2


async def test_which_other_tabs_a_restart_ends_stands_in_the_question(open_tabs: OpenTabs) -> None:
    script = """
    prompt = expect("session/prompt")
    answer(prompt, stopReason="end_turn")
    answer(expect("session/new"), sessionId="s2")
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.give("Count the stars")
        await desk.do("begin_session")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.has_session()
        await desk.restart()
        await desk.shows("also ends another tab of this agent: “Count the stars”")


@pytest.mark.parametrize("is_killed", [True, False])
async def test_the_tabs_of_an_agent_come_back_together(open_tabs: OpenTabs, tmp_path: Path, is_killed: bool) -> None:
    script = f"""
    from pathlib import Path
    mark = Path({str(tmp_path / "ran")!r})
    ran_before = mark.exists()
    mark.touch()
    handshake(agentCapabilities={{"sessionCapabilities": {{"resume": {{}}}}}})
    for session in ("s1", "s2"):
        opening = read()
        answer(opening, sessionId=session)
        chunk = {{"sessionUpdate": "agent_message_chunk", "content": {{"type": "text", "text": "Hello"}}}}
        send(method="session/update", params={{"sessionId": session, "update": chunk}})
    if not ran_before and {is_killed}:
        expect("session/prompt")
        sys.exit(3)
    serve_until_closed()
    """
    async with open_tabs(script) as desk:
        await desk.shows("Hello")
        await desk.do("begin_session")
        await desk.until(lambda: len(desk.tabs) == 2)
        await desk.shows("Hello")
        if is_killed:
            await desk.send("Go on")
            await desk.shows("gone; Alt+R restarts it")
        await desk.restart()
        if not is_killed:
            await desk.shows("also ends another tab")
            await desk.answer(True)
        await desk.until(lambda: len(desk.sent("session/resume")) == 2)
        await desk.until(lambda: all(tab.session and tab.session.conversation.is_connected for tab in desk.tabs))
        assert {params["sessionId"] for params in desk.sent("session/resume")} == {"s1", "s2"}
        assert len(desk.sent("initialize")) == 2


async def test_a_prompt_waits_until_the_session_is_in_the_mode_in_which_it_was_left(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    async with open_tabs(SLOW_TO_OPEN) as desk:
        await desk.shows("before the crash")
        await desk.send("Go on")
        await desk.shows("exited with code 3")
        await desk.restart()
        await desk.gets("session/set_mode")
        await desk.do("send_again")
        await desk.shows("The session is still being opened.")
        await desk.send("And now?")
        assert [prompt.text for prompt in desk.queue.prompts] == ["And now?"]
        desk.let_go_on()
        await desk.shows("session/prompt in plan")
        assert [option.value for option in desk.shown_session.conversation.options] == ["plan"]


async def test_what_is_entered_while_a_session_is_loaded_in_view_is_sent_after_that(
    open_tabs: OpenTabs, first_run: str
) -> None:
    script = """
    load = expect("session/load")
    ask("allow_once")
    expect("_go_on")
    answer(load)
    say("I got: " + expect("session/prompt")["params"]["prompt"][0]["text"])
    serve_until_closed()
    """
    async with open_tabs(LOADS, first_run, script) as desk:
        await crashed(desk)
        await desk.restart()
        await desk.until(lambda: desk.shown_session.conversation.is_asking)
        await desk.send("And now?")
        desk.let_go_on()
        await desk.shows("I got: And now?")


async def test_a_prompt_that_is_due_before_the_session_is_open_waits_for_that(open_tabs: OpenTabs) -> None:
    async with open_tabs(SLOW_TO_OPEN) as desk:
        await desk.shows("before the crash")
        await desk.send("/later 5m Report")
        await desk.send("Go on")
        await desk.shows("exited with code 3")
        await desk.restart()
        await desk.gets("session/set_mode")
        (later,) = desk.queue.scheduled
        desk.tab.writing.send_now(later.key)
        (later,) = desk.queue.scheduled
        assert later.schedule.words.startswith("now: Report")
        desk.let_go_on()
        await desk.shows("session/prompt in plan")


async def test_why_it_could_not_be_restarted_stays_below_what_was_said(open_tabs: OpenTabs, first_run: str) -> None:
    async with open_tabs(RESUMES, first_run, 'sys.stderr.write("disk full\\n")\nsys.exit(4)') as desk:
        await crashed(desk)
        await desk.restart()
        await desk.shows("exited with code 3", "exited with code 4", "disk full", "gone; Alt+R restarts it")
        assert not desk.notices, "a notice would be gone before it is read"
