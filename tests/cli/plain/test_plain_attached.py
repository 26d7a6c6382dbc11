"""Plain mode in sessions that were there before: those of a host, and recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from support.agents import scripted_argv
from support.hosts import User, a_user
from support.terminals import TerminalProcess, environment, process_on_terminal

ASKS = scripted_argv("""
    prompt = open_session()
    say("Shall I?")
    ask("allow_once", "reject_once")
    say(f" I hear: {outcome()}")
    end(prompt)
    serve_until_closed()
""")

REMEMBERS = scripted_argv("""
    handshake(agentCapabilities={"loadSession": True})
    opened = read()
    if opened["method"] == "session/load":
        update("user_message_chunk", content={"type": "text", "text": "hello"})
        say("as you say")
    answer(opened, sessionId="s1")
    prompt = expect("session/prompt")
    say("as you say")
    end(prompt)
    serve_until_closed()
""")


@contextmanager
def lines_of(user: User, *argv: str) -> Iterator[TerminalProcess]:
    with process_on_terminal(argv, {**environment(user.home), "TERM": "dumb"}, user.home) as terminal:
        yield terminal


def test_two_terminals_show_a_hosted_session_and_either_answers() -> None:
    with a_user() as user:
        user.host("--", *ASKS)
        with lines_of(user, "attach", "--plain") as one, lines_of(user, "attach", "--plain") as other:
            one.shows("you: ")
            other.shows("you: ")
            one.type("go\n")
            other.shows("you: go\n")
            for terminal in (one, other):
                terminal.shows("Shall I?")
                terminal.shows("Permission needed: ")
                terminal.shows("Your choice")
            other.type("n\n")
            one.shows("(no longer needed)")
            for terminal in (one, other):
                terminal.shows(" is done")
                terminal.shows("\nyou: ")
                terminal.type("\x04")
                assert terminal.end() == 0
        assert "idle" in user.run("hosts").stdout
        assert one.text.partition(" is done")[0].count("go\n") == 1
        assert one.text.endswith("go\n  acp-tui attach s1    (still running)\n")


def test_a_recorded_session_goes_on_in_lines() -> None:
    with a_user() as user:
        with lines_of(user, "--plain", "--", *REMEMBERS) as terminal:
            terminal.shows("you: ")
            terminal.type("hello\n")
            terminal.shows(" is done")
            terminal.shows("\nyou: ")
            terminal.type("\x04")
            assert terminal.end() == 0
        with lines_of(user, "--resume", "--plain") as terminal:
            terminal.shows("you: hello\n")
            terminal.shows("as you say")
            terminal.shows("you: ")


def test_the_sessions_to_choose_from_are_those_that_the_command_lists_of_any_agent() -> None:
    with a_user() as user:
        with lines_of(user, "--plain", "--", *REMEMBERS) as terminal:
            terminal.shows("you: ")
            terminal.type("hello\n")
            terminal.shows(" is done")
            terminal.type("/rename Greetings\n")
            terminal.shows("renamed to Greetings")
            terminal.shows("\nyou: ")
            terminal.type("\x04")
            assert terminal.end() == 0
        (row,) = user.run("sessions").stdout.splitlines()
        assert row.endswith("Greetings")
        with lines_of(user, "demo", "markdown", "--plain") as terminal:
            terminal.shows("you: ")
            terminal.type("/sessions no-such-word\n")
            terminal.shows("No recorded session contains 'no-such-word'")
            terminal.type("/sessions all\n")
            terminal.shows(f"  1  {row}\n")
            terminal.shows(", or Enter for none: ")
            terminal.type("1\n")
            terminal.shows("as you say")
            terminal.shows("\nyou: ")
