"""How users who look elsewhere are notified."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path

import anyio
import pytest

from acp_tui.client.notices import About, News, NewsWatch, NoticeCommand, plain
from acp_tui.client.user_programs import run_program
from acp_tui.conversation import reducer
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import (
    CancelRequested,
    Disconnected,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    SessionUpdate,
    TurnEnded,
    TurnFailed,
)
from acp_tui.ui.app.notifier import best_channel, notice, window_title
from support.desks import SESSION, OpenDesk
from support.waiting import LIMIT_S

PROMPT = PromptSent((Text("go"),))
KEY = RequestKey(1)
ASKED = PermissionAsked(
    PermissionRequest(KEY, ToolCallId("c"), (PermissionOption("y", "Yes", "allow_once"),)),
    ToolCallPatch(ToolCallId("c"), title="Delete it"),
)
ANSWERED = PermissionAnswered(KEY, "y", None)


def told(*updates: SessionUpdate) -> list[News]:
    """The notifications of a tab that receives these, one every five seconds."""
    conversation, watch, news = Conversation(), NewsWatch(), []
    for at, update in enumerate((None, *updates)):
        if update is not None:
            reducer.apply(conversation, update)
        news.append(watch.news_in(conversation, at * 5.0))
    return [each for each in news if each is not None]


def test_the_end_of_a_turn_is_told_with_its_length():
    assert told(PROMPT, TurnEnded("end_turn")) == [News("done", "done after 5 s", 5.0)]


def test_a_decision_that_waits_is_told_and_does_not_begin_the_turn_anew():
    news = told(PROMPT, ASKED, ANSWERED, TurnEnded("end_turn"))
    assert [each.kind for each in news] == ["needs_you", "done"]
    assert news[0].text == "needs your decision"  # and not what it is about
    assert news[1].seconds == 10.0, "the time that the user took isn't the agent's"


def test_the_end_of_a_question_without_a_turn_is_no_news():
    assert [each.kind for each in told(PROMPT, TurnEnded("end_turn"), ASKED, ANSWERED)] == ["done", "needs_you"]


def test_failures_are_told_apart_from_ends():
    assert [each.kind for each in told(PROMPT, TurnFailed("no", ""))] == ["failed"]
    assert told(PROMPT, Disconnected("gone", "")) == [News("failed", "disconnected")]
    assert told(PROMPT, TurnEnded("max_tokens"))[0].text == "stopped: token limit reached"


def test_what_the_user_cancelled_is_no_news():
    assert told(PROMPT, CancelRequested(), TurnEnded("cancelled")) == []


# Sequences


@pytest.mark.parametrize(
    ("environ", "channel"),
    [
        ({"TERM": "xterm-kitty"}, "osc99"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "ITERM_SESSION_ID": "x"}, "osc9"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, "osc777"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm"}, "bell"),
    ],
)
def test_a_terminal_gets_what_it_understands(environ: dict[str, str], channel: str):
    assert best_channel(environ) == channel


def test_each_channel_has_its_sequence():
    def of(channel: str) -> str:
        return notice([channel], "Title; here", "done", {})

    assert of("bell") == "\a"
    assert of("osc9") == "\x1b]9;acp-tui: Title; here: done\x1b\\"
    assert of("osc777") == "\x1b]777;notify;Title, here;done\x1b\\"
    assert [b64decode(part.split(";")[2]) for part in of("osc99").split("\x1b\\")[:-1]] == [
        b"Title; here",
        b"done",
    ]
    assert of("command") == ""


def test_a_channel_is_used_once_even_if_it_is_the_best_one_too():
    assert notice(["desktop", "bell"], "t", "x", {"TERM": "xterm"}) == "\a"


def test_tmux_hands_notices_on_and_rings_itself():
    text = notice(["osc9", "bell"], "t", "x", {"TMUX": "1"})
    assert text == "\x1bPtmux;\x1b\x1b]9;acp-tui: t: x\x1b\x1b\\\x1b\\\a"


def test_an_agents_text_cannot_act(hostile: str = "a\x1b]0;x\x07\x9c\u202eb\r\nc"):
    assert plain(hostile) == "a ]0;x b c"
    assert len(plain("x" * 1000)) == 200
    for channel in ("osc9", "osc99", "osc777"):
        sequences = notice([channel], hostile, hostile, {})
        assert all(part.isprintable() for part in sequences.replace("\x1b\\", "").split("\x1b]"))
    assert window_title(hostile) == "\x1b]2;a ]0;x b c\x1b\\"


# The user's command


async def test_the_command_finds_what_happened_in_its_environment_and_its_arguments(tmp_path: Path):
    """Only in whole arguments, and never as an option or a file's name."""
    write = "import json, os, sys; json.dump([sys.argv[2:], dict(os.environ)], open(sys.argv[1], 'w'))"
    file = tmp_path / "it's; $(here)"
    names = ("event", "agent", "session", "title", "cwd", "text")
    argv = (sys.executable, "-c", write, str(file), *(f"{{{name}}}" for name in names), "a {title}")
    problems: list[str] = []
    about = About("--an agent", "s1", "@/etc/passwd\n$(done)", "/here")
    with anyio.fail_after(LIMIT_S):
        await NoticeCommand(problems.append).run(argv, News("done", "done after 12 s", 12.0), about)
    assert problems == []
    arguments, env = json.loads(file.read_text())
    assert arguments == ["done", "an agent", "s1", "/etc/passwd $(done)", "/here", "done after 12 s", "a {title}"]
    assert [env[f"ACP_TUI_{name.upper()}"] for name in names] == [
        *("done", "--an agent", "s1", "@/etc/passwd $(done)", "/here", "done after 12 s")
    ]
    assert env["ACP_TUI_SECONDS"] == "12"


async def test_what_goes_wrong_with_the_command_is_said(tmp_path: Path):
    with anyio.fail_after(LIMIT_S):
        assert "can't be run" in (await run_program([str(tmp_path / "none")], {}, LIMIT_S)).problem
        assert (await run_program(["sh", "-c", "exit 4"], {}, LIMIT_S)).problem == "ended with status 4"
        assert "was ended" in (await run_program(["sleep", "60"], {}, 0.05)).problem


async def test_a_notice_of_the_agent_is_shown(open_desk: OpenDesk) -> None:
    script = """
    update("notice", severity="warning", title="Quota", description="Ten requests are left")
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.shows("Quota", "Ten requests are left")
        [params] = desk.sent("initialize")
        assert "notices" in params["clientCapabilities"]["session"]
