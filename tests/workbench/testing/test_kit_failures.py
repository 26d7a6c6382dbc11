"""What authors read when their agent, or their test, is wrong."""

import sys
from pathlib import Path

import pytest

from acp_tui.testing import (
    AgentFailure,
    AgentGone,
    AgentNotStarted,
    LoginNeeded,
    NotAsked,
    NotOffered,
    RequestRefused,
    StartAgent,
    TimedOut,
    Unanswered,
)
from support.agents import scripted_argv

SOON_S = 0.3
"""For an agent that never answers."""


def test_a_command_that_is_not_there_is_named(acp_agent: StartAgent) -> None:
    with pytest.raises(AgentNotStarted, match=r"the command no-such-agent wasn't found.*\n\n.*on PATH"):
        acp_agent("no-such-agent --acp")


def test_a_file_that_cannot_be_executed_is_named(acp_agent: StartAgent, tmp_path: Path) -> None:
    file = tmp_path / "agent"
    file.write_text("#!/bin/sh\n")

    with pytest.raises(AgentNotStarted, match=r"n't an executable file(?s:.*)[Cc]hmod \+x"):
        acp_agent(file)


def test_an_agent_that_exits_at_once_is_quoted(acp_agent: StartAgent) -> None:
    with pytest.raises(AgentGone, match=r"exited with code 3(?s:.*)initialize(?s:.*)no key is set"):
        acp_agent([sys.executable, "-c", "import sys; sys.stderr.write('no key is set'); sys.exit(3)"])


def test_an_agent_that_is_silent_is_told_what_may_be_missing(acp_agent: StartAgent) -> None:
    with pytest.raises(TimedOut, match=r"initialize(?s:.*)flush stdout(?s:.*)acp-tui replay /"):
        acp_agent(scripted_argv("serve_until_closed()"), timeout_s=SOON_S)


def test_what_an_agent_prints_beside_messages_is_shown(acp_agent: StartAgent) -> None:
    argv = scripted_argv("sys.stdout.write('Starting up\\n'); sys.stdout.flush(); serve_until_closed()")

    with pytest.raises(TimedOut, match=r"Write it to stderr instead: .*Starting up"):
        acp_agent(argv, timeout_s=SOON_S)


def test_another_version_of_the_protocol_is_named(acp_agent: StartAgent) -> None:
    with pytest.raises(AgentGone, match="speaks version 7 of ACP"):
        acp_agent(scripted_argv("answer(expect('initialize'), protocolVersion=7)"))


def test_an_agent_that_wants_a_login_is_told_how(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            handshake(authMethods=[{"id": "key", "name": "With a key"}])
            refuse(expect("session/new"), -32000, "Authentication required")
            answer(expect("authenticate"))
            answer(expect("session/new"), sessionId="s1")
            end(expect("session/prompt"))
            serve_until_closed()
        """)
    )

    with pytest.raises(LoginNeeded, match=r"agent\.authenticate\('key'\)") as raised:
        agent.prompt("go")
    agent.authenticate("key")

    assert raised.value.code == -32000
    assert agent.prompt("go").stop_reason == "end_turn"


def test_an_error_keeps_its_code(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("refuse(open_session(), -32603, 'Out of credits', 'top up'); serve_until_closed()"))

    with pytest.raises(RequestRefused, match=r"Out of credits(?s:.*)-32603(?s:.*)top up") as raised:
        agent.prompt("go")

    assert raised.value.code == -32603


def test_what_is_not_offered_is_not_sent(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("handshake(); serve_until_closed()"))

    with pytest.raises(NotOffered, match="loadSession"):
        agent.load_session("s1")

    assert len(agent.frames) == 2


def test_a_permission_that_no_option_mentions_is_never_given(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("prompt = open_session(); ask('allow_once'); expect('session/cancel'); end(prompt, 'cancelled')")
    )

    with pytest.raises(Unanswered, match=r'expect\("Delete everything"\)\.allow\(\)'):
        agent.prompt("go")

    assert agent.permissions.asked[0].answer is None
    assert b'"outcome":"selected"' not in b"".join(frame.raw for frame in agent.frames)


def test_an_agent_that_goes_on_in_spite_of_the_cancel_fails_the_test_as_well(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("open_session(); ask('allow_once'); serve_until_closed()"))

    with pytest.raises(Unanswered):
        agent.prompt("go")


def test_an_option_that_is_not_offered_is_named_with_those_that_are(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("prompt = open_session(); ask('allow_once'); read(); end(prompt, 'cancelled')"))
    agent.on_permission("allow_always")

    with pytest.raises(Unanswered, match=r"no option 'allow_always'(?s:.*)kind 'allow_once'"):
        agent.prompt("go")


def test_a_request_that_was_expected_and_did_not_come_fails_the_test(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("end(open_session()); serve_until_closed()"))
    agent.permissions.expect("Edit a.py").allow()

    with pytest.raises(NotAsked, match=r"'Edit a.py'(?s:.*)Everything it asked:\n  \(nothing\)"):
        agent.prompt("go")


def test_a_turn_without_an_end_shows_what_came_of_it(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("open_session(); say('I am thin'); say('king'); serve_until_closed()"))

    with pytest.raises(TimedOut, match=r"the turn 'go' within 0.3 s(?s:.*)stopReason(?s:.*)I am thinking"):
        agent.prompt("go", timeout_s=SOON_S)


def test_a_turn_that_ends_only_by_the_cancel_is_too_late(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("prompt = open_session(); expect('session/cancel'); end(prompt, 'cancelled'); read()")
    )

    with pytest.raises(TimedOut, match="It ended after it was canceled"):
        agent.prompt("go", timeout_s=SOON_S)


def test_an_agent_that_dies_in_a_turn_leaves_its_last_words(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("open_session(); raise ValueError('a bug')"))

    with pytest.raises(AgentGone, match=r"exited with code 1 \(during the turn 'go'\)(?s:.*)ValueError: a bug"):
        agent.prompt("go")


def test_a_form_that_is_answered_wrongly_names_its_fields(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            params = {"sessionId": "s1", "mode": "form", "message": "Who?", "requestedSchema": schema}
            send(id=1, method="elicitation/create", params=params)
            read()
            end(prompt, "cancelled")
        """)
    )
    agent.elicitations.expect("Who?").accept(age=3)

    with pytest.raises(Unanswered, match=r"is invalid(?s:.*)field 'name': a text; required"):
        agent.prompt("go")


def test_a_form_that_no_option_mentions_is_not_filled_in(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            handshake()
            new = expect("session/new")
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            params = {"requestId": new["id"], "mode": "form", "message": "Who?", "requestedSchema": schema}
            send(id=1, method="elicitation/create", params=params)
            read()
            answer(new, sessionId="s1")
        """)
    )

    with pytest.raises(Unanswered, match=r'elicitations\.expect\("Who\?"\)\.accept\(\.\.\.\)'):
        agent.new_session()


def test_an_assertion_shows_what_there_is_instead(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            update("tool_call", toolCallId="c", title="Read a.py", status="completed")
            say("Done.")
            end(prompt)
            serve_until_closed()
        """)
    )
    turn = agent.prompt("go")

    with pytest.raises(AgentFailure, match=r"kind 'edit'(?s:.*)'Read a.py': kind 'other'(?s:.*)tool_call"):
        turn.assert_tool_call(kind="edit")
    with pytest.raises(AgentFailure, match=r"no diff of 'a.py'(?s:.*)none"):
        turn.assert_diff("a.py")
    with pytest.raises(AgentFailure, match=r"didn't say 'Sorry'(?s:.*)Done\."):
        turn.assert_text_contains("Sorry")


def test_a_breach_of_the_protocol_is_shown_with_its_frames(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            update("tool_call_update", toolCallId="never", status="completed")
            send(id=77, result={})
            end(prompt)
            serve_until_closed()
        """)
    )
    agent.prompt("go")

    with pytest.raises(AgentFailure, match=r"breaks (?s:.*)\(error\)(?s:.*)<- .*77"):
        agent.assert_conformant()


def test_a_turn_without_a_stop_reason_is_not_taken_for_one_that_runs(acp_agent: StartAgent) -> None:
    agent = acp_agent(scripted_argv("answer(open_session()); serve_until_closed()"))

    with pytest.raises(AgentFailure, match=r"'go' without a stop reason(?s:.*)stopReason"):
        agent.prompt("go")


def test_a_question_that_comes_once_more_than_expected_is_called_so(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            for _ in range(2):
                ask("allow_once")
                read()
            end(prompt, "cancelled")
        """)
    )
    agent.permissions.expect("Delete").allow()

    with pytest.raises(Unanswered, match="which the test doesn't expect"):
        agent.prompt("go")


def test_a_turn_that_ends_before_its_question_is_answered_is_called_so(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            flush, sys.stdout.flush = sys.stdout.flush, lambda: None  # both in one breath
            ask("allow_once")
            end(prompt)
            flush()
            serve_until_closed()
        """)
    )
    agent.permissions.expect("Delete").allow()

    with pytest.raises(Unanswered, match="didn't wait for the answer to the permission 'Delete everything'"):
        agent.prompt("go")

    assert agent.permissions.asked[0].answer is None


def test_where_nothing_is_asked_the_reason_of_a_failed_tool_call_is_shown(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            why = {"type": "content", "content": {"type": "text", "text": "no such folder"}}
            update("tool_call", toolCallId="c", title="Write", status="failed", content=[why])
            end(prompt)
            serve_until_closed()
        """)
    )
    agent.permissions.expect().allow()

    with pytest.raises(NotAsked, match=r"any permission(?s:.*)'Write': .*status 'failed': no such folder"):
        agent.prompt("go")


def test_a_form_is_shown_with_its_fields(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            prompt = open_session()
            fields = {
                "branch": {"type": "string", "enum": ["main", "dev"]},
                "commit-count": {"type": "integer", "minimum": 2},
            }
            schema = {"type": "object", "properties": fields, "required": list(fields)}
            params = {"sessionId": "s1", "mode": "form", "message": "Where?", "requestedSchema": schema}
            send(id=1, method="elicitation/create", params=params)
            read()
            end(prompt, "cancelled")
        """)
    )

    with pytest.raises(Unanswered, match="'branch': one of 'main', 'dev'; required") as raised:
        agent.prompt("go")

    assert '.expect("Where?").accept(...)' in str(raised.value)


def test_a_file_that_is_not_there_is_named_with_the_places(acp_agent: StartAgent) -> None:
    with pytest.raises(AgentNotStarted, match=r"no file .*/nowhere.py nor .*/testing/nowhere.py"):
        acp_agent(Path("nowhere.py"))


def test_frames_are_shortened_to_what_matters(acp_agent: StartAgent) -> None:
    agent = acp_agent(
        scripted_argv("""
            handshake()
            answer(expect("session/new"), sessionId="0123456789abcdef")
            sys.exit(1)
        """)
    )
    agent.new_session()

    with pytest.raises(AgentGone, match=r'"cwd":"<workspace>"(?s:.*)"sessionId": ?"012345…"'):
        agent.prompt("go")


def test_failures_are_called_as_they_are_imported() -> None:
    assert {AgentFailure.__module__, LoginNeeded.__module__, TimedOut.__module__} == {"acp_tui.testing"}


def test_files_stay_in_the_workspace(acp_agent: StartAgent) -> None:
    with pytest.raises(ValueError, match="isn't in the workspace"):
        acp_agent("anything", files={"../a.py": ""})
