"""Terminals inside tool calls: live output, colors, the end of the command, folding."""

from acp_tui.conversation.tool_calls import TerminalContent, TerminalId
from acp_tui.conversation.updates import (
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalReported,
    TerminalWaiting,
)
from support.folding import call
from support.screens import open_page

TERMINAL = TerminalId("term-1")


def _open_terminal(*, columns: int = 60, rows: int = 10) -> list[SessionUpdate]:
    """A tool call that shows one of our terminals."""
    return [
        TerminalOpened(TERMINAL, "make test", "/project", columns=columns, rows=rows),
        call(
            "run",
            title="Run the tests",
            kind="execute",
            status="in_progress",
            content=(TerminalContent(TERMINAL),),
        ),
    ]


def _prints(text: str) -> TerminalOutput:
    return TerminalOutput(TERMINAL, text.encode())


async def test_output_appears_in_the_tool_call_as_it_comes() -> None:
    async with open_page(*_open_terminal(), _prints("first\r\n")) as page:
        await page.emulator_loaded()
        assert "│ first" in page.text
        await page.apply(_prints("sec"), _prints("ond\r\n"))
        assert "│ second" in page.text


async def test_a_terminal_that_two_calls_show_is_as_new_in_both() -> None:
    """Some agents ask about a command in a call of its own. Their output came before the emulator was loaded."""
    again = call("ask", title="May I?", kind="execute", content=(TerminalContent(TERMINAL),))
    async with open_page(*_open_terminal(), _prints("first\r\n"), again) as page:
        await page.emulator_loaded()
        assert page.text.count("│ first") == 2
        await page.apply(_prints("second\r\n"), TerminalExited(TERMINAL, 0, None))
        assert page.text.count("│ second") == page.text.count("│ exit 0") == 2


async def test_a_line_that_redraws_itself_is_shown_once() -> None:
    async with open_page(*_open_terminal()) as page:
        await page.emulator_loaded()
        await page.apply(*(_prints(f"\r\x1b[2K{percent}% done") for percent in range(0, 101, 10)))
        assert "│ 100% done" in page.text
        assert page.text.count("% done") == 1


async def test_a_long_output_shows_its_end_and_how_much_is_hidden() -> None:
    async with open_page(*_open_terminal(), size=(100, 60)) as page:
        await page.emulator_loaded()
        await page.apply(_prints("".join(f"line {number}\r\n" for number in range(1, 41))))
        assert "… 28 more lines" in page.text
        assert "│ line 40" in page.text
        assert "│ line 28\n" not in page.text
        await page.press("ctrl+o")
        assert "│ line 1\n" in page.text


async def test_the_end_of_the_command_is_told() -> None:
    for exited, words in (
        (TerminalExited(TERMINAL, 0, None), "│ exit 0"),
        (TerminalExited(TERMINAL, 3, None), "│ exit 3"),
        (TerminalExited(TERMINAL, None, "SIGKILL"), "│ ended by SIGKILL"),
        (TerminalExited(TERMINAL, None, None), ""),
        (TerminalExited(TERMINAL, 0, None, 1.234), "│ exit 0 · 1.2 s"),
        (TerminalExited(TERMINAL, 1, None, 59.94), "│ exit 1 · 59.9 s"),
        (TerminalExited(TERMINAL, None, "SIGTERM", 125), "│ ended by SIGTERM · 2 min 5 s"),
        (TerminalExited(TERMINAL, 0, None, 7260), "│ exit 0 · 2 h 1 min"),
    ):
        async with open_page(*_open_terminal(), _prints("out\r\n"), exited) as page:
            await page.emulator_loaded()
            assert words in page.text
            assert ("│ ended" in page.text) == ("ended" in words)
            assert "│ out" in page.text


async def test_a_command_that_waits_for_input_says_so_until_it_goes_on() -> None:
    async with open_page(*_open_terminal(), _prints("Proceed? [y/N] ")) as page:
        await page.emulator_loaded()
        assert "waits for input" not in page.text
        await page.apply(TerminalWaiting(TERMINAL, True))
        assert "│ waiting for input" in page.text
        await page.apply(TerminalWaiting(TERMINAL, False))
        assert "waits for input" not in page.text
        await page.apply(TerminalWaiting(TERMINAL, True), TerminalExited(TERMINAL, 0, None))
        assert "waits for input" not in page.text


async def test_a_flood_goes_to_the_emulator_whole_and_its_end_is_shown() -> None:
    flood = "".join(f"\x1b[32m{number:06d}\x1b[0m of a flood\r\n" for number in range(40_000))
    async with open_page(*_open_terminal()) as page:
        await page.emulator_loaded()
        for start in range(0, len(flood), 64 * 1024):
            page.session.apply(_prints(flood[start : start + 64 * 1024]))
        await page.apply(TerminalExited(TERMINAL, 0, None))
        assert "│ 039999 of a flood" in page.text
        assert "│ exit 0" in page.text
        assert "more lines" in page.text


async def test_terminals_that_agents_own_are_shown_by_the_same_means() -> None:
    theirs = TerminalOpened(TERMINAL, cwd="/project", is_ours=False, columns=60, rows=10)
    async with open_page(*_open_terminal(), theirs, _prints("10%\r\x1b[1m99%\x1b[0m\r\n")) as page:
        await page.emulator_loaded()
        assert "│ 99%" in page.text
        assert "10%" not in page.text


async def test_bare_line_feeds_of_an_agents_command_begin_lines() -> None:
    """R2-TERM: output read from a pipe has no carriage returns, as with Codex; a snapshot may or may not."""
    theirs = TerminalOpened(TERMINAL, is_ours=False)
    async with open_page(*_open_terminal(), theirs, _prints("one\ntwo\r\nthree\n")) as page:
        await page.emulator_loaded()
        rows = [line.partition("│ ")[2] for line in page.lines if "│ " in line]
        assert rows[:3] == ["one", "two", "three"]
        await page.apply(TerminalReported(TERMINAL, output=b"four\nfive\n"))
        await page.until(lambda: "four" in page.text)
        assert "│ five" in page.text


async def test_output_that_came_before_its_tool_call_is_shown() -> None:
    opened, report = _open_terminal()
    async with open_page(opened, _prints("early\r\n"), report) as page:
        await page.emulator_loaded()
        assert "│ early" in page.text


async def test_a_terminal_that_is_not_known_is_said_to_be() -> None:
    async with open_page(call("run", content=(TerminalContent(TerminalId("other")),))) as page:
        assert "the agent shows a terminal that it hasn't opened" in page.text


async def test_output_wider_than_the_screen_is_cut_and_leaves_the_frame_whole() -> None:
    async with open_page(*_open_terminal(columns=120), _prints("x" * 120 + "\r\n"), size=(50, 20)) as page:
        await page.emulator_loaded()
        row = next(line for line in page.lines if "xxx" in line)
        assert len(row) <= 50
        assert row.startswith("    │ x")
