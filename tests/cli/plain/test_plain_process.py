"""Plain mode as users run it: a process on a terminal that the test types on."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.agents import scripted_argv
from support.terminals import answers_to, asking, line_terminal, process_on_terminal

DEMO = ("demo", "--plain", "--speed", "0")
CHOICE = "Your choice: "
ENTER, CTRL_C, CTRL_D, CTRL_G = "\n", "\x03", "\x04", "\x07"
ASKS_TERMINAL = "\x1b[c"


def test_a_turn_is_told_in_plain_lines_and_asked_about_in_words(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path) as terminal:
        terminal.shows("acp-tui: plain mode is on, by --plain. A question mark lists the commands, Ctrl+D quits.\n")
        terminal.shows("you: ")
        terminal.type("The tests fail" + ENTER)
        terminal.shows("Permission needed: Edit durations.py")
        terminal.shows("added:\n            total += int(number) * SECONDS[unit]")
        terminal.shows("\nType 1-3 y a n, or w to reject and say why. Ctrl+C cancels the turn.\nYour choice: ")
        terminal.type("1" + ENTER)
        terminal.shows("done: Edit durations.py")
        terminal.shows("Permission needed: Run the tests")
        terminal.shows("\nYour choice: ")
        terminal.type("1" + ENTER)
        terminal.shows("done: Run the tests")
        terminal.shows("which is stricter still.")
        terminal.shows("\n\ndemo is done")
        terminal.shows("\nyou: ")
        terminal.type("/usage" + ENTER)
        terminal.shows("acp-tui: usage: 18,432 of 200,000 tokens")
        terminal.shows("\nyou: ")
        terminal.type(CTRL_D)
        assert terminal.end() == 0
    assert "\x1b" not in terminal.text, "a dumb terminal knows no marks"


def test_a_prompt_of_the_command_line_is_sent_first(tmp_path: Path) -> None:
    with line_terminal("demo", "The tests fail", "--plain", cwd=tmp_path) as terminal:
        terminal.shows("you: The tests fail")
        terminal.shows("Permission needed: Edit durations.py")
        terminal.shows(CHOICE)
        terminal.type("what" + ENTER)
        terminal.shows("“what” answers nothing here. These do: 1-3 y a n, or w to reject and say why.")
        terminal.shows(CHOICE)
        terminal.type("n" + ENTER)
        terminal.shows("demo is done")
        terminal.shows("you: ")
        terminal.type(CTRL_D)
        terminal.shows("Fix the duration parser\n  acp-tui --resume ")
        assert terminal.end() == 0


def test_an_end_that_is_typed_before_the_prompt_is_shown_counts(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path) as terminal:
        terminal.type(CTRL_D)
        assert terminal.end() == 0


@pytest.mark.parametrize(("channels", "bells"), [('["bell"]', 1), ('["desktop"]', 1), ('["command"]', 0)])
def test_the_bell_rings_for_a_question_where_the_settings_want_it(tmp_path: Path, channels: str, bells: int) -> None:
    settings = tmp_path / ".config" / "acp-tui" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[notifications]\nneeds_you = {channels}\n")
    with line_terminal(*DEMO, cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("Permission needed: Edit durations.py")
        terminal.shows(CHOICE)
        terminal.type("n" + ENTER)
        terminal.shows("\nyou: ")
        terminal.type(CTRL_D)
        assert terminal.end() == 0
    assert terminal.said.count(b"\a") == bells


def test_an_error_is_told_with_all_that_the_agent_says_of_it(tmp_path: Path) -> None:
    script = """
        refuse(open_session(), -32603, "Not now", {"details": "Busy", "scope": "team", "retryAfter": 30})
        serve_until_closed()
    """
    with line_terminal("run", "--plain", "--", *scripted_argv(script), cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("acp-tui: Not now")
        terminal.shows("Busy")
        terminal.shows("scope: team")
        terminal.shows("try again at ")
        terminal.shows("\nyou: ")
        terminal.type(CTRL_D)
        assert terminal.end() == 0
    assert terminal.text.count("scope: team") == 1


def test_an_agent_that_does_not_stop_is_told_of_with_what_else_there_is(tmp_path: Path) -> None:
    script = "open_session(); say('at work\\n\\nand on'); serve_until_closed()"
    with line_terminal("run", "--plain", "--", *scripted_argv(script), cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("at work\n")
        terminal.type(CTRL_C)
        terminal.shows("acp-tui: canceling; press Ctrl+C again to quit")
        terminal.shows("acp-tui: the agent hasn't stopped yet; to end and restart it: /restart")


def test_only_an_answer_typed_after_the_question_answers_and_rejecting_says_why(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("Permission needed")
        terminal.type("1" + ENTER)
        terminal.shows(CHOICE)
        terminal.type(ENTER)
        terminal.shows(CHOICE)
        for pasted in ("1\n2\n", "y\nis what I wrote", "1\n\n"):
            terminal.type(pasted)
            terminal.shows("Ignored: more was typed after it.")
            terminal.shows(CHOICE)
        terminal.type("w" + ENTER)
        terminal.shows("Reject: why? (Enter: no reason; Ctrl+C: back) ")
        terminal.type("no" + CTRL_C)
        terminal.shows(CHOICE)
        terminal.type("w" + ENTER)
        terminal.shows("Reject: why? (Enter: no reason; Ctrl+C: back) ")
        terminal.type("not today" + ENTER)
        terminal.shows('sending a queued prompt: About the rejected "Edit durations.py": not today')


def test_what_is_typed_before_the_terminal_has_shown_a_question_answers_nothing(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path, env={"TERM": "vt100"}) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("Permission needed: Edit durations.py")
        terminal.shows(ASKS_TERMINAL)
        # It may be asked more than once: the question is told anew if there is more to say about it.
        terminal.type("1" + ENTER + answers_to(terminal.said))
        terminal.answers = True
        terminal.shows("Your choice")
        terminal.type("3" + ENTER)
        terminal.shows("rejected: Edit durations.py")


def test_a_draft_outlives_a_question(tmp_path: Path) -> None:
    with line_terminal("demo", "--plain", "--speed", "2", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("plan: done: ")
        terminal.type("a draft")
        terminal.shows(CHOICE)
        terminal.type("3" + ENTER)
        terminal.shows("rejected: Edit durations.py")
        terminal.shows("a draft")
        terminal.type(" goes on" + ENTER)
        terminal.shows("acp-tui: queued until this turn ends; 1 prompt waits")
        terminal.type("/queue" + ENTER)
        terminal.shows("  1  a draft goes on")


def test_a_prompt_of_several_lines_attaches_a_file_and_takes_output_along(tmp_path: Path) -> None:
    with line_terminal("demo", "sessions", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("!echo out\\put" + ENTER)
        terminal.shows("its output goes with")
        terminal.shows("exit 0")  # otherwise this is printed in the middle of the answer
        terminal.type("first \\" + ENTER)
        terminal.shows("... ")
        terminal.type("second @nothing.py" + ENTER)
        terminal.shows("no such file: nothing.py")
        terminal.shows("You said “first \nsecond @nothing.py")


def test_a_command_that_asks_its_terminal_for_the_cursor_is_answered(tmp_path: Path) -> None:
    pytest.importorskip("pyghostty")
    (tmp_path / "asks.py").write_text(asking(b"ab\x1b[6n", until=b"R"))
    with line_terminal(*DEMO, cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type(f"!{sys.executable} -S {tmp_path}/asks.py" + ENTER)
        terminal.shows("got " + b"\x1b[1;3R".hex())


def test_ctrl_c_cancels_by_the_protocol_keeps_what_is_queued_and_twice_ends(tmp_path: Path) -> None:
    with line_terminal("demo", "wait_for_cancel", "--plain", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("\n\n")
        terminal.type("later" + ENTER)
        terminal.shows("1 prompt waits")
        terminal.type(CTRL_C)
        terminal.shows("acp-tui: canceled")
        terminal.shows("1 prompt waits, held back")
        terminal.shows("\nyou: ")
        terminal.type(CTRL_C)
        terminal.shows("Ctrl+C again")
        terminal.type(CTRL_C)
        assert terminal.end() == 130


def test_prompts_that_are_typed_while_the_agent_starts_are_sent_one_after_the_other(tmp_path: Path) -> None:
    script = """
        prompt = open_session()
        say("the first"), end(prompt)
        prompt = expect("session/prompt")
        say("the second"), end(prompt)
        serve_until_closed()
    """
    with line_terminal("run", "--plain", "--", *scripted_argv(script), cwd=tmp_path) as terminal:
        terminal.type(f"one{ENTER}two{ENTER}")
        terminal.shows("acp-tui: queued until this turn ends; 1 prompt waits")
        terminal.shows("the first")
        terminal.shows("acp-tui: sending a queued prompt: two")
        terminal.shows("the second")
        terminal.shows("\nyou: ")
    assert "wait, or cancel the turn" not in terminal.text


def test_ctrl_c_is_heard_while_readline_begins_a_line(tmp_path: Path) -> None:
    """Readline swallows what is raised meanwhile."""
    pytest.importorskip("readline")
    begins_late = """
        import readline, runpy, signal, sys
        set_hook, numbers = readline.set_startup_hook, [signal.SIGINT] * 2
        def interrupted(hook):
            return set_hook(lambda: (numbers and signal.raise_signal(numbers.pop()), hook()))
        readline.set_startup_hook = interrupted
        sys.argv[0] = "acp-tui"
        runpy.run_module("acp_tui", run_name="__main__")
    """
    command = (sys.executable, "-c", textwrap.dedent(begins_late))
    with process_on_terminal(DEMO, {"TERM": "dumb", "HOME": str(tmp_path)}, tmp_path, command=command) as terminal:
        terminal.shows("acp-tui: to quit: Ctrl+C again, Ctrl+D, or /quit")
        assert terminal.end() == 130


def test_a_form_is_asked_field_by_field_with_its_defaults(tmp_path: Path) -> None:
    with line_terminal("demo", "elicitations", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("Name [durations]: ")
        terminal.type("a" + ENTER)
        terminal.shows("Name needs at least 2 characters")
        terminal.shows("Name [durations]: ")
        terminal.type(ENTER)
        terminal.shows("Version [1.2.0]: ")
        terminal.type("/decline" + ENTER)
        terminal.shows("demo asks:")


def test_a_field_of_an_unknown_kind_is_left_out(tmp_path: Path) -> None:
    script = """
    prompt = open_session()
    fields = {"place": {"type": "hologram"}, "name": {"type": "string"}}
    asked = {"message": "Where?", "requestedSchema": {"type": "object", "properties": fields}}
    send(id=7, method="elicitation/create", params={"sessionId": "s1", "mode": "form", **asked})
    say(json.dumps(read()["result"])); end(prompt); read()
    """
    with line_terminal("run", "--plain", "--", *scripted_argv(script), cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("name: ")
        terminal.type("here" + ENTER)
        terminal.shows("Type send, decline or cancel: ")
        terminal.type("send" + ENTER)
        terminal.shows('{"action": "accept", "content": {"name": "here"}}')


def test_a_login_is_asked_for_in_words(tmp_path: Path) -> None:
    with line_terminal("demo", "login", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("needs you to log in")
        terminal.shows("1-2, or Enter for none: ")
        terminal.type(ENTER)
        assert terminal.end() == 6


def test_where_the_agent_has_a_help_of_its_own_ours_is_said_to_be_behind_acp(tmp_path: Path) -> None:
    scenario = tmp_path / "own.toml"
    scenario.write_text(
        'description = "has /help"\n[session]\ncommands = [{ name = "help", description = "theirs,\\nof two lines" }]\n'
        '[[prompt]]\n[[prompt.step]]\nsay = "The help of the agent."\n'
    )
    with line_terminal("demo", str(scenario), "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("/help" + ENTER)
        terminal.shows("/help is demo's own command; /acp:help lists what you can type")
        terminal.shows("The help of the agent.")
        terminal.shows("\nyou: ")
        terminal.type("/acp:help" + ENTER)
        terminal.shows("/acp:help [NAME]: this list")
        terminal.shows("/quit: quit acp-tui")
        terminal.shows("\n\ndemo's own commands, which /acp:help NAME explains: /help")
        terminal.shows("\nyou: ")
        terminal.type("/acp:help help" + ENTER)
        terminal.shows("\n/help: theirs, of two lines")


def test_a_question_mark_alone_prints_the_help(tmp_path: Path) -> None:
    with line_terminal("demo", "markdown", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("?" + ENTER)
        terminal.shows("/quit: quit acp-tui")


def test_words_are_whole_on_a_terminal_and_code_is_as_it_was_written(tmp_path: Path) -> None:
    code = "```\nmake --with-all -C a/b && echo it is done\n```"
    said = f"A paragraph that's broken before you: it looks like ours.\n\n{code}"
    script = f"prompt = open_session(); say({said!r}); end(prompt); serve_until_closed()"
    environ = {"TERM": "xterm", "COLUMNS": "42"}  # breaks there whether the interpreter is python or python3
    with line_terminal("run", "--plain", "--", *scripted_argv(script), cwd=tmp_path, env=environ) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("A paragraph that's broken before\n  you: it looks like ours.\n")
        terminal.shows(f"\n{code}\n")


def test_a_session_gets_the_name_that_is_typed_or_asked_for(tmp_path: Path) -> None:
    with line_terminal("demo", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("/rename Fix the parser" + ENTER)
        terminal.shows("acp-tui: renamed to Fix the parser")
        terminal.shows("\nyou: ")
        terminal.type("/rename" + ENTER)
        terminal.shows("Its new name: ")
        terminal.type("Fix it all" + ENTER)
        terminal.shows("acp-tui: renamed to Fix it all")
        terminal.shows("\nyou: ")
        terminal.type("/quit" + ENTER)
        assert terminal.end() == 0
    assert "Fix it all" in (tmp_path / ".local/state/acp-tui/session-marks.json").read_text()


def test_after_a_crash_the_agent_is_started_again(tmp_path: Path) -> None:
    with line_terminal("demo", "crash", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows("exited with code 3")
        terminal.shows("\nyou: ")
        terminal.type("/restart" + ENTER)
        terminal.shows("was started again")
        terminal.shows("\nyou: ")
        terminal.type("/quit" + ENTER)
        assert terminal.end() == 0


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({"ACP_TUI_PLAIN": "1", "TERM": "xterm"}, "ACP_TUI_PLAIN"),
        ({"TERM": "xterm"}, "the setting appearance.plain"),
        ({"ACP_TUI_PLAIN": "0"}, "this terminal, which can't be drawn on"),
    ],
    ids=["variable", "setting", "terminal"],
)
def test_the_first_line_says_what_turned_it_on(environ: dict[str, str], why: str, tmp_path: Path) -> None:
    if "setting" in why:
        settings = tmp_path / ".config/acp-tui/settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text("[appearance]\nplain = true\n")
    with line_terminal("demo", cwd=tmp_path, env=environ) as terminal:
        terminal.shows("you: ")
    words = " ".join(terminal.text.split())
    assert words.startswith(
        f"acp-tui: plain mode is on, by {why}. A question mark lists the commands, Ctrl+D quits. acp-tui:"
    )


def test_without_an_agent_it_lists_those_there_are(tmp_path: Path) -> None:
    with line_terminal(cwd=tmp_path, env={"ACP_TUI_PLAIN": "1"}) as terminal:
        assert terminal.end() == 0
    assert "demo" in terminal.text


def test_an_agent_that_is_not_there_is_said_with_the_status_of_exec(tmp_path: Path) -> None:
    with line_terminal("--plain", "--", "no-such-agent", cwd=tmp_path) as terminal:
        assert terminal.end() == 127
    assert "no-such-agent" in terminal.text


def test_without_a_terminal_it_points_to_exec(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "acp_tui", "--plain", "--", "true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert run.returncode == 2
    assert "acp-tui exec" in run.stderr


def test_prompts_are_marked_for_terminals_that_jump_between_them(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path, env={"TERM": "xterm-256color"}) as terminal:
        terminal.shows("\x1b]133;A\x07you: \x1b]133;B\x07")
        terminal.type("/usage" + ENTER)
        terminal.shows("acp-tui: usage")
        terminal.shows("\x1b]133;A\x07you: \x1b]133;B\x07")
        terminal.type(CTRL_D)
        assert terminal.end() == 0


def test_the_last_answer_the_changes_and_the_editor_are_a_command_away(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "%s, please\\nand more\\n" "$(cat "$1")" > "$1"\n')
    editor.chmod(0o755)
    env = {"TERM": "vt100", "EDITOR": str(editor)}
    with line_terminal(*DEMO, cwd=tmp_path, env=env) as terminal:
        terminal.answers = True
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows(CHOICE)
        terminal.type("1" + ENTER)
        terminal.shows("Your choice: ")
        terminal.type("3" + ENTER)
        terminal.shows("demo is done")
        terminal.type("/changes" + ENTER)
        terminal.shows("  1  durations.py: modified, 5 lines added, 2 removed")
        terminal.type("/changes 1" + ENTER)
        terminal.shows("added:\n          total += int(number) * SECONDS[unit]")
        terminal.type("/find nowhere said" + ENTER)
        terminal.shows("Not found.")
        terminal.type("/find READ durations" + ENTER)
        terminal.shows("tool: Read durations.py")
        terminal.type("/copy" + ENTER)
        terminal.shows("]52;c;")
        terminal.shows("acp-tui: Copied ")
        terminal.type("/last" + ENTER)
        terminal.shows("demo: ")
        terminal.type("thanks" + ENTER)
        terminal.shows("demo is done")
        terminal.type("/undo" + ENTER)
        terminal.shows("acp-tui: no file has changed in the turn; to take back more turns: /undo 2")
        terminal.type("/undo 3" + ENTER)
        terminal.shows("there was no such prompt yet")
        terminal.type("/undo 2" + ENTER)
        terminal.shows("Revert this file? The agent still remembers the 2 turns. [y/N] ")
        terminal.type(CTRL_C)
        terminal.shows("you: ")
        terminal.type("/undo 2" + ENTER)
        terminal.shows("Revert this file? The agent still remembers the 2 turns. [y/N] ")
        terminal.type("y" + ENTER)
        terminal.shows("acp-tui: reverted: durations.py")
        terminal.type("/changes" + ENTER)
        terminal.shows("No file has changed.")
        terminal.shows("you: ")
        terminal.type("@che\t")
        terminal.shows("@check.py")
        terminal.type(CTRL_G)
        terminal.shows("you: @check.py, please\nand more\n")
        terminal.shows("demo is done")


def test_the_key_of_the_editor_answers_no_question(tmp_path: Path) -> None:
    with line_terminal(*DEMO, cwd=tmp_path, env={"EDITOR": "true"}) as terminal:
        terminal.shows("you: ")
        terminal.type("go" + ENTER)
        terminal.shows(CHOICE)
        terminal.type(CTRL_G)
        terminal.type("n" + ENTER)
        terminal.shows("rejected: Edit durations.py")
    assert "/acp:edit" not in terminal.text


def test_another_agent_goes_on_with_a_summary(tmp_path: Path) -> None:
    with line_terminal("demo", "sessions", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("hello" + ENTER)
        terminal.shows("demo is done")
        terminal.type("/handover nobody" + ENTER)
        terminal.shows("no agent is named 'nobody'")
        terminal.type("/handover demo" + ENTER)
        terminal.shows("## I asked\n\nhello\n")
        terminal.shows("What is it to do now? (Enter: it gets nothing) ")
        terminal.type("Fix the tests" + ENTER)
        terminal.shows("Permission needed: Edit durations.py")


def test_a_command_that_no_one_has_is_sent_once_it_is_typed_again(tmp_path: Path) -> None:
    with line_terminal("demo", "markdown", "--plain", "--speed", "0", cwd=tmp_path) as terminal:
        terminal.shows("you: ")
        terminal.type("/nosuch" + ENTER)
        terminal.shows("neither demo nor acp-tui has /nosuch; to send it, type it again")
        terminal.shows("\nyou: ")
        terminal.type("/nosuch" + ENTER)
        terminal.shows("demo is done")


def test_the_demo_begins_in_a_mode_as_any_agent_does(tmp_path: Path) -> None:
    with line_terminal("demo", "--plain", "--mode", "nope", cwd=tmp_path) as terminal:
        terminal.shows("mode can't be 'nope'")
        terminal.shows("it is one of Ask, Plan")
