"""What screens show in pictures: every kind of entry in each state, typical scenes, and small images.

How it should look is up to the tests.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Final, TypeAlias

from PIL import Image as Picture
from PIL import ImageDraw

from acp_tui.conversation import KINDS
from acp_tui.conversation.content import Image, ResourceLink, Text
from acp_tui.conversation.facts import (
    Choice,
    PermissionOption,
    PermissionRequest,
    PlanStep,
    RequestKey,
    SelectOption,
    Usage,
)
from acp_tui.conversation.tool_calls import (
    BlockContent,
    Location,
    TerminalContent,
    TerminalId,
    TextDiff,
    ToolCallId,
    ToolCallPatch,
)
from acp_tui.conversation.updates import (
    CommandRun,
    CompactionChanged,
    Disconnected,
    MessageChunk,
    OptionsReplaced,
    PermissionAnswered,
    PermissionAsked,
    PlanReplaced,
    Reconnected,
    SessionUpdate,
    TerminalExited,
    TerminalOpened,
    TerminalOutput,
    TerminalWaiting,
    TurnEnded,
    TurnFailed,
    UnknownUpdate,
    UsageReported,
)
from support.folding import ALLOW, agent, ask, call, prompt, thought

# Everything a conversation can contain

Updates: TypeAlias = list[SessionUpdate]

OLD_CODE: Final = '''"""Durations as people write them."""

import re

SECONDS = {"s": 1, "m": 60, "h": 3600}
PART = re.compile(r"(\\d+)\\s*([smh])")


def parse(text):
    """The seconds that `text` stands for."""
    total = 0
    for number, unit in PART.findall(text):
        total = int(number) * SECONDS[unit]
    return total
'''
NEW_CODE: Final = OLD_CODE.replace("total = int", "total += int").replace(
    "    total = 0\n",
    '    if not PART.search(text):\n        raise ValueError("not a duration: %r" % text)\n    total = 0\n',
)
EDIT: Final = TextDiff("/project/durations.py", NEW_CODE, OLD_CODE)
LONG_DIFF: Final = TextDiff(
    "/project/table.py",
    "".join(f"VALUE_{number} = {number * 2}\n" for number in range(60)),
    "".join(f"VALUE_{number} = {number}\n" for number in range(60)),
)
TESTS: Final = (
    "\x1b[1m4 tests\x1b[0m\r\n\r\n"
    "\x1b[32m  ✓  \x1b[0m a single part\r\n\x1b[32m  ✓  \x1b[0m several parts\r\n"
    "\x1b[31m  ✗  \x1b[0m no spaces\r\n\x1b[2m       AssertionError: 4 != 93784\x1b[0m\r\n"
    "\x1b[32m  ✓  \x1b[0m nonsense\r\n\r\n\x1b[32m3 passed\x1b[0m, \x1b[31m1 failed\x1b[0m\r\n"
)
ANSWER: Final = """\
Found it: `total = …` drops every part but the last, so `1h 30m` is only **30 minutes**.

| input     | before | after |
|-----------|-------:|------:|
| `45s`     |     45 |    45 |
| `1h 30m`  |   1800 |  5400 |

```python
for number, unit in PART.findall(text):
    total += int(number) * SECONDS[unit]
```

- It is *one* character, see [ISO 8601](https://en.wikipedia.org/wiki/ISO_8601#Durations).
- [x] Tests pass
"""


def _terminal(name: str, title: str, output: str, status: str, *exited: int | str) -> Updates:
    """A tool call with a terminal, whose command may have ended with an exit code or a signal."""
    terminal = TerminalId(name)
    ends: Updates = [
        TerminalExited(terminal, end, None) if isinstance(end, int) else TerminalExited(terminal, None, end)
        for end in exited
    ]
    return [
        TerminalOpened(terminal, title, "/project", columns=90, rows=12),
        call(name, title=title, kind="execute", status=status, content=(TerminalContent(terminal),)),
        TerminalOutput(terminal, output.encode()),
        *ends,
    ]


# Entries


def messages() -> Updates:
    """A prompt of several lines, an answer, and blocks that aren't text."""
    return [
        prompt("Why does `parse` forget the hours?\n\nAnd please add a test."),
        agent(ANSWER),
        MessageChunk("agent", ResourceLink("file:///project/durations.py", "durations.py"), "file"),
        MessageChunk("agent", Image("aGVsbG8=" * 400, "image/png"), "picture"),
    ]


def thoughts() -> Updates:
    """A short one, a long one."""
    long = "A single unit passes and several units fail, so each part replaces the one before. " * 3
    return [
        thought("Let me look at the parser.", "a"),
        thought(long + "\n\nThe loop is wrong.", "b"),
        agent("I see."),
    ]


def tool_call_statuses() -> Updates:
    """Every status, including an unknown one."""
    statuses = ("pending", "in_progress", "completed", "failed", "cancelled", "paused")
    places = (Location("/project/durations.py", 7),)
    return [
        call(status, title=f"A call that is {status}", kind="edit", status=status, locations=places)
        for status in statuses
    ]


def tool_call_kinds() -> Updates:
    """Every kind, including an unknown one, with some content."""
    content = (BlockContent(Text("one\n\ntwo\n\nthree\n\nfour\n\nfive")),)
    return [
        call(kind, title=f"A call of the kind {kind}", kind=kind, status="completed", content=content)
        for kind in (*KINDS, "teleport")
    ]


def raw_input() -> Updates:
    """A call without content, to open."""
    return [call("c", title="fetch", kind="fetch", status="completed", raw_input={"url": "https://example.org"})]


def diffs() -> Updates:
    """A file that is edited, a new one, and a deleted one."""
    return [
        call("edit", title="Edit durations.py", kind="edit", status="completed", content=(EDIT,)),
        call(
            "new",
            title="Write notes.md",
            kind="edit",
            status="completed",
            content=(TextDiff("/project/notes.md", "# Notes\n\n- parts add up\n"),),
        ),
        call(
            "gone",
            title="Empty old.py",
            kind="delete",
            status="completed",
            content=(TextDiff("/project/old.py", "", "print('old')\n"),),
        ),
    ]


def long_diff() -> Updates:
    """A folded diff."""
    return [call("long", title="Edit table.py", kind="edit", status="completed", content=(LONG_DIFF,))]


def terminals() -> Updates:
    """Running, done, failed, killed."""
    return [
        *_terminal("t1", "npm run dev", "listening on \x1b[36mhttp://localhost:3000\x1b[0m\r\n", "in_progress"),
        *_terminal("t2", "true", "", "completed", 0),
        *_terminal("t3", "python -m unittest", TESTS, "failed", 1),
        *_terminal("t4", "sleep 100", "^C\r\n", "failed", "SIGTERM"),
    ]


def long_terminal() -> Updates:
    """More output than fits."""
    output = "".join(f"\x1b[2m{number:4}\x1b[0m compiling module_{number}.py\r\n" for number in range(1, 101))
    return _terminal("t", "make", output, "completed", 0)


def own_commands() -> Updates:
    """The user's own commands: one that waits for input, and a finished one with long output."""
    lines = "".join(f"{number:4} compiled\r\n" for number in range(1, 41))
    first, second = TerminalId("o1"), TerminalId("o2")
    return [
        *(TerminalOpened(first, "make"), CommandRun("make", first), TerminalOutput(first, lines.encode())),
        TerminalExited(first, 0, None, 2.5),
        *(TerminalOpened(second, "ssh host"), CommandRun("ssh host", second)),
        *(TerminalOutput(second, b"Password: "), TerminalWaiting(second, True)),
    ]


def restarts() -> Updates:
    """The agent restarts: it remembers, doesn't remember, can't resume, or replays everything."""
    return [
        prompt("go"),
        Disconnected("Agent exited with code 1"),
        Reconnected(True),
        Reconnected(False),
        Reconnected(False, why="Session s1 wasn't opened: Agent: no such session"),
        Reconnected(True, is_loaded=True),
    ]


def turn_ends() -> Updates:
    """Every way a turn can end early."""
    reasons = ("cancelled", "refusal", "max_tokens", "max_turn_requests", "out_of_coffee")
    return [TurnEnded(reason) for reason in reasons]


def failures() -> Updates:
    """The agent's own error, and its exit."""
    stderr = "".join(f'  File "agent.py", line {number}, in step\n' for number in range(1, 16)) + "KeyError: 'x'\n"
    return [
        prompt("go"),
        TurnFailed("Internal error", "the model is overloaded, try again in a minute"),
        prompt("again"),
        Disconnected("Agent exited with code 1", stderr),
    ]


def rare_updates() -> Updates:
    """Compactions, and an unknown update."""
    return [
        CompactionChanged("a", "in_progress"),
        CompactionChanged("b", "completed", (Text("The user wants the parser fixed; it is."),)),
        CompactionChanged("c", "failed", error="the summary was empty"),
        UnknownUpdate("hologram", {"beam": [1, 2], "text": "Help me"}),
    ]


def plan() -> Updates:
    """Steps of every status and priority."""
    return [
        agent("I have a plan."),
        PlanReplaced(
            (
                PlanStep("Read the parser", "high", "completed"),
                PlanStep("Find out why 1h 30m is 1800", "high", "in_progress"),
                PlanStep("Fix durations.py", "medium", "pending"),
                PlanStep("Tidy up the tests", "low", "pending"),
            )
        ),
    ]


PUSH_OPTIONS: Final = (
    PermissionOption("yes", "Push", "allow_once"),
    PermissionOption("always", "Push, and don't ask again", "allow_always"),
)


def one_request() -> Updates:
    """A diff to approve."""
    return [
        agent("Here is the change:"),
        ask(1, "fix", title="Edit durations.py", kind="edit", status="pending", content=(EDIT,)),
    ]


def three_requests() -> Updates:
    """A command without a reject option, and two more requests that wait."""
    push = ToolCallPatch(
        ToolCallId("push"),
        title="git push --force origin main",
        kind="execute",
        raw_input={"command": "git", "args": ["push", "--force", "origin", "main"]},
    )
    return [
        PermissionAsked(PermissionRequest(RequestKey(1), ToolCallId("push"), PUSH_OPTIONS), push),
        ask(2, "second", title="Read /etc/hosts", kind="read"),
        ask(3, "third", title="Edit durations.py", kind="edit", content=(EDIT,)),
    ]


def long_request() -> Updates:
    """A diff longer than the card."""
    return [ask(1, "long", title="Edit table.py", kind="edit", content=(LONG_DIFF,))]


# Sessions to take pictures of


def _facts() -> Updates:
    """What the status line shows."""
    mode = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"),), "mode")
    model = SelectOption("model", "Model", "large", (Choice("large", "Large 4"),), "model")
    return [OptionsReplaced((model, mode)), UsageReported(Usage(18_432, 200_000, 0.0421, "USD"))]


def empty_start() -> Updates:
    """An empty session."""
    return _facts()


def streaming() -> Updates:
    """In the middle of an answer."""
    read = call(
        "read",
        title="Read durations.py",
        kind="read",
        status="completed",
        content=(BlockContent(Text(f"```\n{OLD_CODE}```")),),
    )
    half = ANSWER[: ANSWER.index(" += ")]
    return [
        *_facts(),
        prompt("Fix the duration parser"),
        thought("The loop."),
        read,
        *plan()[1:],
        agent(half),
    ]


def permission() -> Updates:
    """A decision to make."""
    return [*_facts(), prompt("Fix the duration parser"), *plan()[1:], *one_request()]


def terminal() -> Updates:
    """Tests are running."""
    return [
        *_facts(),
        prompt("Run the tests"),
        ask(1, "t3", title="python -m unittest", kind="execute"),
        PermissionAnswered(RequestKey(1), ALLOW.option_id),
        *_terminal("t3", "python -m unittest", TESTS, "failed", 1),
        agent("One test fails: `1d2h` needs no spaces."),
        TurnEnded("end_turn"),
    ]


def failure() -> Updates:
    """The agent has stopped."""
    return [*_facts(), *failures()]


def long_conversation() -> Updates:
    """More than fits on the screen."""
    said = [
        update
        for number in range(1, 31)
        for update in (
            prompt(f"Question {number}"),
            agent(f"Answer {number}: *yes*.\n\n- because\n- therefore"),
        )
    ]
    return [*_facts(), *said, TurnEnded("end_turn")]


Scene: TypeAlias = Callable[[], Updates]

SCENES: Final[Mapping[str, tuple[Scene, tuple[str, ...]]]] = {
    "empty_start": (empty_start, ()),
    "streaming": (streaming, ()),
    "permission": (permission, ("tab", "down")),
    "terminal": (terminal, ()),
    "failure": (failure, ()),
    "long_conversation": (long_conversation, ("pageup",)),
}
"""The scenes, with the keys that lead to each."""

STATES: Final[Mapping[str, tuple[Scene, tuple[str, ...]]]] = {
    "messages": (messages, ()),
    "thoughts_folded": (thoughts, ()),
    "thoughts_open": (thoughts, ("ctrl+o",)),
    "tool_call_statuses": (tool_call_statuses, ()),
    "tool_call_kinds": (tool_call_kinds, ()),
    "tool_call_raw_input": (raw_input, ("ctrl+o",)),
    "diffs": (diffs, ()),
    "diff_long": (long_diff, ()),
    "terminals": (terminals, ()),
    "terminal_long": (long_terminal, ()),
    "own_commands": (own_commands, ()),
    "restarts": (restarts, ()),
    "turn_ends": (turn_ends, ()),
    "failures": (failures, ()),
    "rare_updates_folded": (rare_updates, ()),
    "rare_updates_open": (rare_updates, ("ctrl+o",)),
    "entry_at_the_cursor": (tool_call_kinds, ("tab", "up")),
    "everything_selected": (messages, ("tab", "ctrl+a")),
    "found": (messages, ("f9", *"one", "enter")),
    "found_in_a_fold": (tool_call_kinds, ("f9", *"four", "enter")),
    "plan_line": (plan, ()),
    "plan_open": (plan, ("ctrl+t",)),
    "card_unfocused": (one_request, ()),
    "card_focused": (one_request, ("tab", "up")),
    "card_three_requests": (three_requests, ("tab",)),
    "card_long": (long_request, ("tab", "pagedown")),
    "help": (plan, ("f1",)),
}
"""Every kind of entry, and everything beside the conversation, in each state."""


# Small images, made on demand, as base64

RED: Final = (200, 30, 40)
GREEN: Final = (30, 160, 60)
BLUE: Final = (40, 70, 210)
WHITE: Final = (240, 240, 240)


def encoded(image: Picture.Image, form: str = "PNG") -> str:
    """The picture in this format; WebP is lossless."""
    file = BytesIO()
    image.save(file, form, lossless=True) if form == "WEBP" else image.save(file, form)
    return b64encode(file.getvalue()).decode("ascii")


def quarters(side: int = 2) -> Picture.Image:
    """Red and green above, blue and white below."""
    small = Picture.new("RGB", (2, 2))
    small.putdata([RED, GREEN, BLUE, WHITE])
    return small.resize((side, side), Picture.Resampling.NEAREST)


def chart() -> Picture.Image:
    """Bars and a disc on a transparent background, 64 by 36 pixels."""
    image = Picture.new("RGBA", (64, 36), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    for number, (height, color) in enumerate(((12, BLUE), (20, GREEN), (16, RED), (30, BLUE))):
        draw.rectangle((4 + number * 15, 36 - height, 13 + number * 15, 35), fill=color)
    draw.ellipse((20, 2, 31, 13), fill=(230, 180, 40))
    return image


def png_header(width: int, height: int) -> str:
    """A PNG file that claims this size but contains no pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for chunk in (header, b"IDAT" + zlib.compress(bytes(100)), b"IEND"):
        data += struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return b64encode(data).decode("ascii")
