"""An agent's questions reach the screen one at a time, and the user's answers reach the agent."""

from __future__ import annotations

import socket
import webbrowser

import pytest

from support.desks import SESSION, OpenDesk

ASKING = """
def ask_form(request_id, message, **scope):
    schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}}
    scope = scope or {"sessionId": "s1"}
    send(id=request_id, method="elicitation/create",
         params={"mode": "form", "message": message, "requestedSchema": schema, **scope})

def ask_visit(request_id, message, **scope):
    page = {"elicitationId": f"visit-{request_id}", "url": "https://pages.example/login"}
    scope = scope or {"sessionId": "s1"}
    send(id=request_id, method="elicitation/create", params={"mode": "url", "message": message, **page, **scope})
"""
FORM = """
ask_form(1, "Who are you?")
say("answered with " + json.dumps(read()["result"]))
serve_until_closed()
"""
VISIT = """
ask_visit(1, "Please log in.")
say("answered with " + json.dumps(read()["result"]))
serve_until_closed()
"""


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages opened in the browser."""
    pages: list[str] = []

    def visit(url: str) -> bool:
        pages.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", visit)
    return pages


# Forms


async def test_forms_are_asked_after_each_other_and_filled_in_declined_or_cancelled(open_desk: OpenDesk) -> None:
    """R-ELIC-3, R-ELIC-10."""
    script = """
    for number in range(3):
        ask_form(number, f"Question {number}")
    for _ in range(3):
        say("answered with " + json.dumps(read()["result"]))
    serve_until_closed()
    """
    answers = (
        (("tab", "A", "d", "a", "enter"), {"action": "accept", "content": {"name": "Ada"}}),
        (("tab", "tab", "tab", "enter"), {"action": "decline"}),
        (("tab", "A", "tab", "tab", "tab", "enter"), {"action": "cancel"}),
    )
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.hears("Question 2")
        for number, (keys, answer) in enumerate(answers):
            await desk.shows("scripted asks", f"Question {number}", "Name")
            assert f"Question {number + 1}" not in desk.words
            await desk.press_slowly(*keys)
            assert (await desk.gets_answers(number + 1))[number:] == [answer]
        await desk.hides("scripted asks")
        await desk.shows("Question 0", "answered with")


async def test_what_is_typed_while_a_form_comes_up_goes_on_in_the_draft(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, ASKING, FORM) as desk:
        await desk.shows("Who are you?")
        await desk.press(*"my draft")
        assert desk.draft == "my draft"
        await desk.press("tab", *" goes on")
        assert desk.draft == "my draft goes on"
        assert desk.answers() == []


async def test_a_form_that_the_agent_withdraws_goes_and_the_next_question_comes(open_desk: OpenDesk) -> None:
    """R-CREQ-2."""
    script = """
    ask_form(1, "Who are you?")
    expect("_go_on")
    send(method="$/cancel_request", params={"requestId": 1})
    ask_visit(2, "Please log in.")
    serve_until_closed()
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Who are you?")
        desk.let_go_on()
        await desk.shows("Please log in.")
        assert "Name optional" not in desk.words
        [answer] = desk.answers()
        assert answer["code"] == -32800


async def test_a_form_that_is_withdrawn_below_the_help_is_gone_when_the_help_is_closed(
    open_desk: OpenDesk,
) -> None:
    """R-CREQ-2."""
    script = """
    ask_form(1, "Who are you?")
    expect("_go_on")
    send(method="$/cancel_request", params={"requestId": 1})
    serve_until_closed()
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Who are you?")
        await desk.press("tab", "f1")
        await desk.shows("On an agent's form or page")
        desk.let_go_on()
        await desk.gets_answers()
        await desk.press("f1")
        await desk.hides("Name optional")
        await desk.shows("canceled without an answer")


async def test_the_question_of_an_agent_that_dies_goes_with_it(open_desk: OpenDesk) -> None:
    script = """
    ask_form(1, "Who are you?")
    expect("_go_on")
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Who are you?")
        desk.let_go_on()
        await desk.hides("scripted asks")
        await desk.shows("canceled without an answer", "✗ scripted exited")


async def test_a_question_of_the_session_follows_one_that_belongs_to_none(open_desk: OpenDesk) -> None:
    script = """
    ask_form(1, "In this session?")
    read()
    sys.stdout.flush = lambda: None  # the next two come at once
    ask_form(2, "Who are you?", requestId=7)
    ask_form(3, "And in this session?")
    del sys.stdout.flush
    sys.stdout.flush()
    serve_until_closed()
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        for question in ("In this session?", "Who are you?", "And in this session?"):
            await desk.shows("scripted asks", question)
            await desk.click_slowly("Cancel")
        await desk.hides("scripted asks")
        await desk.gets_answers(3)


async def test_a_question_before_any_session_is_asked_too(open_desk: OpenDesk) -> None:
    """R-ELIC-1."""
    script = """
    handshake()
    new = expect("session/new")
    ask_form("first", "Where do you work?", requestId=new["id"])
    read()
    answer(new, sessionId="s1")
    say("welcome")
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("Where do you work?")
        await desk.press_slowly("tab", "H", "enter")
        await desk.shows("welcome")
        assert desk.answers() == [{"action": "accept", "content": {"name": "H"}}]


async def test_a_question_before_the_handshake_is_answered_is_asked(open_desk: OpenDesk) -> None:
    """R-ELIC-1: an agent may need the user's input to get that far."""
    script = """
    request = expect("initialize")
    ask_form(1, "Which of your accounts?", requestId=request["id"])
    answer_to_it = read()["result"]
    answer(request, protocolVersion=1)
    answer(expect("session/new"), sessionId="s1")
    say("answered with " + json.dumps(answer_to_it))
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("Which of your accounts?")
        await desk.press("f4")
        assert desk.sent("session/new") == []
        await desk.press_slowly("tab", "A", "enter")
        await desk.shows('"content": {"name": "A"}')


async def test_a_question_that_comes_with_the_handshake_is_asked(open_desk: OpenDesk) -> None:
    script = """
    start = expect("initialize")
    ask_form("first", "Where do you work?", requestId=start["id"])
    answer(start, protocolVersion=1)
    new = expect("session/new")
    read()
    answer(new, sessionId="s1")
    say("welcome")
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("Where do you work?")
        await desk.click_slowly("Cancel")
        await desk.shows("welcome")


async def test_a_question_in_the_middle_of_a_login_is_asked_over_its_dialog(open_desk: OpenDesk) -> None:
    script = """
    handshake(authMethods=[{"id": "key", "name": "With a key"}])
    refuse(expect("session/new"), -32000, "who are you?")
    login = expect("authenticate")
    ask_form("code", "Which code?", requestId=login["id"])
    read()
    answer(login)
    answer(expect("session/new"), sessionId="s1")
    say("welcome")
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("With a key")
        await desk.press("enter")
        await desk.shows("Which code?")
        await desk.press_slowly("tab", "4", "2", "enter")
        await desk.shows("welcome")
        assert desk.answers() == [{"action": "accept", "content": {"name": "42"}}]


async def test_text_typed_on_a_question_over_the_login_goes_to_the_draft(open_desk: OpenDesk) -> None:
    script = """
    handshake(authMethods=[{"id": "key", "name": "With a key"}])
    refuse(expect("session/new"), -32000, "who are you?")
    ask_form("code", "Which code?", requestId=expect("authenticate")["id"])
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("With a key")
        await desk.press("enter")
        await desk.shows("Which code?")
        await desk.press_at_once(*"fix")
        await desk.press_slowly(*"it")
        await desk.until(lambda: desk.draft == "fixit")
        assert desk.answers() == []


async def test_a_login_waits_for_a_form_that_is_being_filled_in(open_desk: OpenDesk) -> None:
    script = """
    handshake(authMethods=[{"id": "browser", "name": "In the browser"}])
    new = expect("session/new")
    ask_form(1, "Who are you?", requestId=new["id"])
    expect("_go_on")
    refuse(new, -32000, "who are you?")
    form = read()
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("Who are you?")
        await desk.press_slowly("tab", "A")
        desk.let_go_on()
        await desk.shows("First answer what it asks here", "Who are you?")
        await desk.press("d", "a")
        assert "Log in to" not in desk.words
        await desk.press("enter")
        await desk.shows("Log in to scripted", "In the browser")
        assert desk.answers() == [{"action": "accept", "content": {"name": "Ada"}}]


async def test_a_login_that_ends_before_its_question_is_answered_leaves_the_question(
    open_desk: OpenDesk,
) -> None:
    script = """
    handshake(authMethods=[{"id": "key", "name": "With a key"}])
    refuse(expect("session/new"), -32000, "who are you?")
    login = expect("authenticate")
    ask_form("code", "Which code?", requestId=login["id"])
    expect("_go_on")
    answer(login, _meta={"how": "logged in"})
    answer(expect("session/new"), sessionId="s1")
    say("welcome")
    ask_form("name", "Who are you?")
    serve_until_closed()
    """
    async with open_desk(ASKING, script) as desk:
        await desk.shows("With a key")
        await desk.press("enter")
        await desk.shows("Which code?")
        desk.let_go_on()
        await desk.hears("logged in")
        await desk.press_slowly("tab", "4", "2", "enter")
        await desk.shows("Who are you?", "welcome")
        await desk.click_slowly("Cancel")
        await desk.gets_answers(2)
        assert desk.answers() == [{"action": "accept", "content": {"name": "42"}}, {"action": "cancel"}]


# Pages


async def test_nothing_of_a_page_is_fetched_or_opened_before_the_user_agrees(
    open_desk: OpenDesk, visited: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-ELIC-11."""
    reached: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *place, **_: reached.append(place))
    monkeypatch.setattr(socket.socket, "connect", lambda _, place: reached.append(place))
    async with open_desk(SESSION, ASKING, VISIT) as desk:
        await desk.shows("scripted asks you to visit a page", "Please log in.", "https://pages.example/login")
        await desk.press_slowly("tab", "enter", "space")
        assert (desk.answers(), reached, visited) == ([], [], [])
        await desk.press("escape")
        await desk.press_slowly("tab", "1")
        assert await desk.gets_answers() == [{"action": "accept"}]
        await desk.until(lambda: visited == ["https://pages.example/login"])


async def test_a_page_that_the_user_declines_is_not_opened(open_desk: OpenDesk, visited: list[str]) -> None:
    """R-ELIC-3, R-ELIC-11."""
    script = """
    for number in range(2):
        ask_visit(number, f"Please visit {number}.")
        read()
    serve_until_closed()
    """
    refusals = ((("tab", "0"), "decline"), (("tab", "tab", "tab", "tab", "enter"), "cancel"))
    async with open_desk(SESSION, ASKING, script) as desk:
        for number, (keys, action) in enumerate(refusals):
            await desk.shows(f"Please visit {number}.", "Decline")
            await desk.press_slowly(*keys)
            assert (await desk.gets_answers(number + 1))[number:] == [{"action": action}]
        await desk.hides("Decline")
        assert visited == []


async def test_without_a_browser_the_address_is_told(open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    async with open_desk(SESSION, ASKING, VISIT) as desk:
        await desk.shows("Please log in.")
        await desk.press_slowly("tab", "1")
        await desk.shows("Couldn't start a browser.", "https://pages.example/login")


async def test_a_page_that_is_done_with_ends_no_session_and_no_question(
    open_desk: OpenDesk, visited: list[str]
) -> None:
    """R-ELIC-12."""
    script = """
    ask_visit(1, "Please log in.")
    read()
    for elicitation_id in ("visit-1", "visit-1", "never-heard-of"):
        send(method="elicitation/complete", params={"elicitationId": elicitation_id})
    ask_form(2, "Who are you?")
    serve_until_closed()
    """
    async with open_desk(SESSION, ASKING, script) as desk:
        await desk.shows("Please log in.")
        await desk.press_slowly("tab", "1")
        await desk.shows("Who are you?")
        assert desk.shown_session.conversation.visits == {}


async def test_a_page_that_is_never_reported_done_is_shown_until_the_user_is_done_with_it(
    open_desk: OpenDesk, visited: list[str]
) -> None:
    """R-ELIC-12."""
    async with open_desk(SESSION, ASKING, VISIT) as desk:
        await desk.shows("Please log in.")
        await desk.press_slowly("tab", "1")
        await desk.shows("page open: pages.example")
        await desk.choose("Clear the pages you opened for the agent")
        await desk.hides("page open: pages.example")
        assert desk.shown_session.conversation.visits == {}


# Permissions


async def test_a_permission_request_is_answered_on_its_card(open_desk: OpenDesk) -> None:
    """R-PERM-4."""
    script = """
    prompt = expect("session/prompt")
    ask("allow_once", "reject_once")
    say("decided: " + outcome())
    end(prompt)
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("Delete everything", "allow_once")
        await desk.enter_card()
        await desk.press("2")
        await desk.shows("decided: reject_once")


async def test_esc_cancels_the_turn_and_the_permission_request_with_it(open_desk: OpenDesk) -> None:
    """R-CANC-1, R-CANC-5."""
    script = """
    prompt = expect("session/prompt")
    ask("allow_once", "reject_once")
    expect("session/cancel")
    say("decided: " + outcome())
    end(prompt, "cancelled")
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("Delete everything")
        await desk.press("escape")
        await desk.shows("decided: cancelled", "■ canceled")
