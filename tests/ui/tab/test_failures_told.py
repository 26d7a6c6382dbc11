"""Problems with an agent are reported in the conversation: what failed, on what, and what to do."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentNotFound, AgentRefused
from acp_tui.conversation.facts import Choice, SelectOption
from acp_tui.conversation.updates import (
    CancelRequested,
    Disconnected,
    OptionsReplaced,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
)
from support.agents import scripted
from support.desks import SESSION, OpenDesk
from support.folding import agent, call, prompt
from support.screens import open_agent_page, open_page

CRASH = AgentCommand("demo", (sys.executable, "-m", "acp_tui.demo", "crash", "--speed", "0"))
BANNER = "import sys; print('not installed properly', file=sys.stderr); sys.exit(7)"


async def test_a_command_that_does_not_exist_is_named_with_what_to_do(tmp_path: Path) -> None:
    command = AgentCommand("mine", ("no-such-agent",), install_hint="npm install -g no-such-agent")
    async with open_agent_page(command, tmp_path) as page:
        await page.until(lambda: "✗" in page.text)
        assert "no-such-agent" in page.text
        assert "npm install -g no-such-agent" in page.text
        assert page.status.startswith("○ no session; Alt+R tries again")


async def test_an_agent_that_exits_before_it_answers_is_told_with_its_last_words(tmp_path: Path) -> None:
    async with open_agent_page(AgentCommand("mine", (sys.executable, "-c", BANNER)), tmp_path) as page:
        await page.until(lambda: "✗" in page.text)
        assert "✗ mine exited with code 7" in page.text
        assert "not installed properly" in page.text
        await page.send("hello?")
        assert page.draft == "hello?"
        assert page.status.startswith("○ no session; Alt+R tries again")
        await page.press("f4")
        assert page.notices[-1].message == "There is no session; Alt+R tries again."


async def test_an_option_that_the_agent_does_not_have_offers_no_second_try(tmp_path: Path) -> None:
    command = replace(scripted(SESSION + "serve_until_closed()"), options=(("mode", "bogus"),))
    async with open_agent_page(command, tmp_path) as page:
        await page.until(lambda: "the agent has no mode to choose" in page.text)
        await page.until(lambda: page.status.startswith("○ no session; Ctrl+Q quits"))
        await page.press("f3")
        await page.until(lambda: "the agent has no mode to choose; its options: none" in page.words)


async def test_an_agent_that_dies_in_mid_turn_leaves_the_conversation_and_its_last_words(
    tmp_path: Path,
) -> None:
    async with open_agent_page(CRASH, tmp_path) as page:
        await page.until(lambda: page.status.startswith("●"))
        await page.send("go")
        await page.until(lambda: "gone; Alt+R restarts it" in page.status)
        await page.settled()
        assert "▌ go" in page.text
        assert "exited with code" in page.text
        assert "its last lines:" in page.text
        await page.send("still there?")
        assert page.draft == "still there?"


async def test_a_session_that_ended_without_its_agent_is_closed_and_says_so(open_desk: OpenDesk) -> None:
    async with open_desk(SESSION, "serve_until_closed()") as desk:
        await desk.has_session()
        desk.shown_session.disconnect("The session was closed in another terminal.")
        await desk.settled()
        assert "session closed; Alt+R opens it again" in desk.status
        await desk.send("go on")
        await desk.shows("The session is closed; Alt+R opens it again. Your draft stays.")


# Each kind of failure, as the conversation shows it


async def test_an_agents_error_is_told_with_its_detail_and_the_next_prompt_can_be_sent() -> None:
    async with open_page(prompt("go"), TurnFailed("Internal error", "the model is overloaded", -32603)) as page:
        assert "✗ Internal error" in page.text
        assert "the model is overloaded" in page.text
        await page.send("again")
        assert page.connection.prompts == ["again"]


async def test_a_turn_that_ended_otherwise_than_by_being_done_says_how() -> None:
    reasons = {
        "refusal": "■ refused: the agent drops this prompt and everything after it from its context",
        "max_tokens": "■ stopped: token limit reached",
        "max_turn_requests": "■ stopped: reached the limit of requests in one turn",
        "cancelled": "■ canceled",
        "out_of_coffee": "■ out_of_coffee",
    }
    async with open_page() as page:
        for reason, words in reasons.items():
            await page.apply(prompt("go"), agent("Hm."), TurnEnded(reason))
            assert words in page.text, reason


async def test_a_turn_that_is_done_says_nothing_more() -> None:
    async with open_page(prompt("go"), agent("Done."), TurnEnded("end_turn")) as page:
        assert "■" not in page.text


STACK = "".join(f'  File "agent.py", line {number}, in step\n' for number in range(1, 31))


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (f"Traceback (most recent call last):\n{STACK}KeyError: 'x'\n", ("Traceback", "KeyError: 'x'")),
        (f"agent.js:10\n\nError: boom\n{STACK}\nNode.js v22\n", ("agent.js:10", "Error: boom", "Node.js v22")),
        (STACK, ("line 27,", "line 28,", "line 29,", "line 30,")),
    ],
    ids=["python", "node", "stack alone"],
)
async def test_a_long_stderr_shows_what_it_says_besides_the_stack_and_all_when_opened(
    stderr: str, told: tuple[str, ...]
) -> None:
    async with open_page(prompt("go"), Disconnected("it exited with 1", stderr), size=(80, 24)) as page:
        assert f"its last lines, … {len(stderr.splitlines()) - len(told)} more lines:" in page.text
        assert all(line in page.text for line in told)
        assert "▌ go" in page.text
        assert "line 26," not in page.text
        await page.press("ctrl+o")
        assert "line 26," in page.text


async def test_five_lines_of_stderr_are_shown_whole() -> None:
    async with open_page(Disconnected("it exited with 1", "a\n  b\n  c\n  d\ne\n")) as page:
        assert "its last lines:\n" in page.text
        assert all(f"{line}\n" in page.text for line in ("a", "  b", "  c", "  d", "e"))


async def test_a_long_line_of_a_failure_stays_behind_its_indentation() -> None:
    async with open_page(TurnFailed("failed", "word " * 40)) as page:
        lines = [line for line in page.lines if "word" in line]
        assert len(lines) > 1
        assert all(line.startswith("    word") for line in lines)


async def test_unfinished_calls_of_a_cancelled_turn_are_marked_at_once() -> None:
    async with open_page(prompt("go"), call("c", title="Run", status="in_progress"), CancelRequested()) as page:
        assert "⊘ • Run  canceled" in page.text


async def test_an_update_that_is_not_known_is_named_and_shown_whole_when_opened() -> None:
    async with open_page(UnknownUpdate("hologram", {"beam": [1, 2]})) as page:
        assert "? hologram: an update acp-tui doesn't know" in page.text
        assert "beam:" not in page.text
        await page.press("tab", "space")
        assert "beam:" in page.text


async def test_where_the_user_has_quit_meanwhile_a_failure_is_told_to_nobody() -> None:
    async with open_page() as page:
        tab = page.tab
        await page.prompt.remove()  # an exiting app removes its widgets while its workers still run
        await tab.show_failure(AgentNotFound("no-such-agent"))
        await page.settled()
        assert "no-such-agent" in page.text


async def test_what_a_command_fails_with_is_told() -> None:
    mode = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"), Choice("code", "Code")), "mode")
    async with open_page(OptionsReplaced((mode,))) as page:
        page.connection.refusal = AgentRefused("Agent: Not in this project", code=-32603)
        await page.press("shift+tab")
        await page.until(lambda: "Agent: Not in this project" in page.text)
