"""No command lets bytes that a terminal obeys through from an agent, a file's name, or a recording.

Every string of the schema, every `_meta`, lines on stderr, and the folder's name contain what terminals obey.
ACP_TUI_HOSTILE_BYTES=50 plays that many agents.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from acp_tui.conversation.visible import hidden_characters
from support.agents import scripted_argv
from support.command_line import one_after_the_other
from support.schema import SCHEMA_V1, Messages, schema_v2
from support.terminals import kept, on_terminal, process_on_terminal

AGENTS: Final = range(int(os.environ.get("ACP_TUI_HOSTILE_BYTES", "1")))
UPDATES: Final = 150
END: Final = "that was all"
LIMIT_S: Final = 120

PAYLOADS: Final = (
    "\x1b]0;Zz9\x07",
    "\x1b]2;Zz9\x1b\\",
    "\x1b]52;c;Wno5\x07",
    "\x1b]8;;http://zz9.example\x1b\\",
    "\x1b]1337;Zz9\x07",
    "\x1b[1337;7331m",
    "\x1b[2J\x1b[1337H",
    "\x1b[>1337c",
    "\x1bP1337q\x1b\\",
    "\x1b_G1337\x1b\\",
    "\x1bc",
    "\x9b1337m",
    "\x9d0;Zz9\x9c",
    "\x901337q\x9c",
    "\x9f1337\x9c",
    "\r\x08\x07\x7f\x0e\x0f\x05",
    "\u202e\u2066\u200b\u2028\u2029\ufeff\u00ad",
    "\ud83d",
    "\udc9b1337m",
    "\x1b",
    "]0;Zz9\x07",
    "\n\x1b[1337A",
)
KINDS_OF_ANSWERS: Final = ("allow_once", "reject_once")
KINDS: Final = {"sessionUpdate", "type"}
"""Keys that decide how a value is read; these change only now and then."""


def poisoned(value: Any, random: Random, key: str = "") -> Any:
    """The value with something a terminal obeys in nearly every string, including keys of maps."""
    match value:
        case dict():
            made = {name: poisoned(each, random, name) for name, each in value.items()}
            if random.random() < 0.3:
                made["_meta"] = {random.choice(PAYLOADS): random.choice(PAYLOADS)}
            return made
        case list():
            return [poisoned(each, random) for each in value]
        case str() if random.random() < (0.03 if key in KINDS else 0.9):
            at = random.randint(0, len(value))
            return value[:at] + random.choice(PAYLOADS) + value[at:]
    return value


def updates(seed: int) -> Iterator[dict[str, Any]]:
    """Every kind of update in the schema, then those that exist only in `_meta`."""
    random, messages = Random(seed), Messages(seed)
    for _ in range(UPDATES):
        update = messages.valid("SessionUpdate")
        if isinstance(update, dict):
            yield poisoned(update, random)
    for payload in PAYLOADS:
        terminal = f"t{payload}"
        call = {
            "sessionUpdate": "tool_call",
            "toolCallId": f"c{payload}",
            "title": payload,
            "kind": "execute",
        }
        yield {
            **call,
            "status": payload,
            "content": [{"type": "terminal", "terminalId": terminal}],
            "_meta": {"terminal_info": {"terminal_id": terminal, "cwd": payload}},
        }
        exited = {"terminal_id": terminal, "exit_code": None, "signal": payload}
        output = {"terminal_id": terminal, "data": payload}
        for status in (payload, "failed"):
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": f"c{payload}",
                "status": status,
                "_meta": {"terminal_output": output, "terminal_exit": exited},
            }
        yield {"sessionUpdate": "session_info_update", "title": payload}
        for kind in ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk"):
            yield {"sessionUpdate": kind, "content": {"type": "text", "text": payload}}


def updates_of_two(seed: int) -> Iterator[dict[str, Any]]:
    """The same for version 2, with terminals run by the agent, whose bytes arrive in base64 and in pieces."""
    random, messages = Random(seed), Messages(seed, schema_v2()["$defs"])
    for _ in range(UPDATES):
        update = messages.valid("SessionUpdate")
        # The end of a turn must come after all of them.
        if isinstance(update, dict) and update.get("sessionUpdate") != "state_update":
            yield poisoned(update, random)
    for number, payload in enumerate(PAYLOADS):
        raw = payload.encode("utf-8", "surrogatepass") + b"\x9b1337m"
        half = len(raw) // 2
        terminal = {"sessionUpdate": "terminal_update", "terminalId": f"t{number}", "command": payload}
        yield {**terminal, "cwd": payload, "output": {"data": b64encode(raw).decode()}}
        for piece in (raw[:half], raw[half:], raw * 100):
            chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": f"t{number}"}
            yield {**chunk, "data": b64encode(piece).decode()}
        changes = [{"operation": payload, "path": f"/w/{payload}", "fileType": payload}]
        patch = f"--- /w/{payload}\n+++ /w/{payload}\n@@ -1 +1 @@ {payload}\n-{payload}\n+{payload}\n"
        diff = {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": patch}}
        shown = [diff, {"type": "terminal", "terminalId": f"t{number}"}]
        yield {"sessionUpdate": "tool_call_update", "toolCallId": payload, "title": payload, "content": shown}
        exited = {"exitCode": None, "signal": payload}
        yield {"sessionUpdate": "terminal_update", "terminalId": f"t{number}", "exitStatus": exited}
        for kind in ("markdown", "file"):
            plan = {"type": kind, "planId": payload, "content": payload, "uri": payload}
            yield {"sessionUpdate": "plan_update", "plan": plan}


def agent_of_two(seed: int, folder: Path) -> tuple[str, ...]:
    """The command of an agent that speaks version 2."""
    file = folder / "messages.json"
    file.write_text(json.dumps(list(updates_of_two(seed))))
    random = Random(seed)
    named = poisoned({"name": "agent", "title": "Agent", "version": "1"}, random)
    subject = {"type": "command", "command": random.choice(PAYLOADS), "cwd": f"/{random.choice(PAYLOADS)}"}
    asked = poisoned({"title": "Do it", "description": "Now"}, random)
    options = [{"optionId": kind, "kind": kind, "name": random.choice(PAYLOADS)} for kind in KINDS_OF_ANSWERS]
    failure = {"code": -32603, "message": PAYLOADS[0], "data": PAYLOADS[1]}
    return scripted_argv(
        f"""
        answer(expect("initialize"), protocolVersion=2, info={named!r}, capabilities={{"session": {{}}}})
        answer(expect("session/new"), sessionId="s1")
        prompt = expect("session/prompt")
        answer(prompt, messageId="p")
        update("state_update", state="running")
        for each in json.load(open({str(file)!r})):
            send(method="session/update", params={{"sessionId": "s1", "update": each}})
        send(id=1, method="session/request_permission", params={{"sessionId": "s1", "subject": {subject!r},
             "options": {options!r}, **{asked!r}}})
        send(method="$/cancel_request", params={{"requestId": 1}})
        while read().get("id") != 1: pass
        update("agent_message", messageId="last", content=[{{"type": "text", "text": "\\n\\n{END}\\n\\n"}}])
        update("state_update", state="idle", stopReason="error", error={failure!r})
        while True: read()
        """
    )


def agent_of(seed: int, folder: Path) -> tuple[str, ...]:
    """The command of an agent that sends all of them, and asks questions with such text."""
    file = folder / "messages.json"
    file.write_text(json.dumps(list(updates(seed))))
    random = Random(seed)
    named = poisoned({"name": "agent", "title": "Agent", "version": "1"}, random)
    call = {"toolCallId": "asked", **poisoned({"title": "Do it", "kind": "execute"}, random)}
    options = [{"optionId": kind, "kind": kind, "name": random.choice(PAYLOADS)} for kind in KINDS_OF_ANSWERS]
    return scripted_argv(
        f"""
        handshake(agentInfo={named!r})
        answer(expect("session/new"), sessionId="s1")
        prompt = expect("session/prompt")
        for payload in {PAYLOADS!r}:
            sys.stderr.buffer.write(payload.encode("utf-8", "surrogatepass") + b"\\x9b1337m\\xff\\n")
            sys.stderr.flush()
        for each in json.load(open({str(file)!r})):
            send(method="session/update", params={{"sessionId": "s1", "update": each}})
        send(id=1, method="session/request_permission", params={{"sessionId": "s1", "toolCall": {call!r},
             "options": {options!r}}})
        send(method="$/cancel_request", params={{"requestId": 1}})
        while read().get("id") != 1: pass
        update("agent_message_chunk", messageId="last", content={{"type": "text", "text": "\\n\\n{END}\\n\\n"}})
        refuse(prompt, -32603, {PAYLOADS[0]!r}, {PAYLOADS[1]!r})
        while True: read()
        """
    )


# What the terminal is sent

ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # our own sequences; an agent's would be among those below
    r"|\x1b\](?:2|8|9|10|11|22|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\)"
    r"|\x1b_G[^\x00-\x1f\x7f-\x9f]*\x1b\\"
    r"|\x1b[=>78M]"
)
THEIRS: Final = re.compile(
    r"\x1b\[[^@-~]*1337|\x1b\](?:0|52|1337)|\x1bP|\x1b_G1337|\x1bc|\x1b\]8;;[^\x1b\x07]"  # links of ours have an ID
)


def assert_harmless(sent: bytes, *, escapes: re.Pattern[str] | None = None) -> None:
    """Only text, and these sequences of ours."""
    text = sent.decode("utf-8")  # strict: a lone byte may be a control character to a terminal
    found = THEIRS.search(text)
    assert found is None, text[found.start() - 80 : found.end() + 80].__repr__()
    text = text.replace("\r\n", "\n")
    if escapes is not None:
        text = escapes.sub("", text)
    for hidden in hidden_characters():
        at = text.find(hidden)
        assert at < 0, repr(text[max(at - 80, 0) : at + 80])


@pytest.fixture(
    params=[(made, seed) for seed in AGENTS for made in (agent_of, agent_of_two)],
    ids=lambda each: f"{each[0].__name__} {each[1]}",
)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    if not SCHEMA_V1.exists():
        pytest.skip("the schema isn't there")
    made, seed = request.param
    command: tuple[str, ...] = made(seed, tmp_path)
    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder where acp-tui runs: its name and its files' names contain payloads, too."""
    made = tmp_path / "a\x1b]0;Zz9\x07\x9b1337m\u202e"
    made.mkdir()
    for number, payload in enumerate(PAYLOADS):
        name = f"{number}{payload}".encode("utf-8", "surrogatepass").replace(b"/", b"")
        Path(os.fsdecode(os.fsencode(made) + b"/" + name + b"\x9b1337m")).write_text("x")
    return made


def environ(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "TERM": "dumb",
        **kept(),
        "LANG": "C.UTF-8",
        "WORDS": PAYLOADS[0],
    }


def piped(*commands: tuple[str, ...], folder: Path) -> bytes:
    """Everything that these commands, in one process, write into a pipe."""
    run = subprocess.run(
        one_after_the_other(*commands),
        cwd=folder,
        env=environ(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        check=False,
    )
    return run.stdout


def shown(*commands: tuple[str, ...], folder: Path, types: str = "") -> bytes:
    """Everything that these commands, in one process, write to their terminal."""
    command = one_after_the_other(*commands)
    with process_on_terminal((), environ(folder), folder, command=command) as terminal:
        if types:
            terminal.type(types)
        terminal.end()
        return terminal.said


def test_exec_and_what_reads_its_recording(agent: tuple[str, ...], folder: Path) -> None:
    turn = ("--prompt", "go", "--", *agent)
    commands = (
        ("exec", "--record", "run.jsonl", *turn),
        ("exec", "--format", "ndjson", *turn),
        ("redact", "run.jsonl", "-o", "out.jsonl"),
        *(("render", "run.jsonl", "-o", f"out.{suffix}") for suffix in ("txt", "svg")),
        ("check", "--limit", "3", "--", *agent),
        ("doctor", "--", *agent),
    )
    written = piped(*commands, folder=folder)
    text, _, lines = written.partition(b'\n{"')
    assert END.encode() in text
    assert lines.count(b'\n{"') > UPDATES
    assert_harmless(written)
    assert (folder / "out.jsonl").exists()
    for suffix in ("txt", "svg"):
        assert_harmless((folder / f"out.{suffix}").read_bytes())
    on_its_terminal = shown(("exec", *turn), folder=folder)
    assert END.encode() in on_its_terminal
    assert_harmless(on_its_terminal)


def test_plain_lines_and_the_list_of_its_sessions(agent: tuple[str, ...], folder: Path) -> None:
    with process_on_terminal(("--plain", "--", *agent), environ(folder), folder) as terminal:
        terminal.until(lambda: b"\nyou: " in terminal.said)
        terminal.type("go\n")
        # Before the next prompt appears, the terminal itself would take Ctrl+D.
        terminal.until(lambda: {b"Zz9", b"\nyou: "} <= _found(terminal.said.partition(END.encode())[2]))
        terminal.type("\x04")
        terminal.end()
    assert_harmless(re.sub(rb"(?<=\n)\x07+", b"", terminal.said))  # ours, for a question and for the end of a turn
    commands = (("sessions",), ("sessions", "--format", "json"), ("agents",), ("settings",), ("keys",))
    assert_harmless(piped(*commands, folder=folder))
    assert_harmless(shown(*commands, folder=folder))


def _found(said: bytes) -> set[bytes]:
    return {each for each in (b"Zz9", b"\nyou: ") if each in said}


MISTAKES: Final = (
    ("exec", PAYLOADS[0], "--prompt", "go"),
    ("--" + PAYLOADS[0],),
    ("doctor", PAYLOADS[5]),
    ("replay", f"no{PAYLOADS[10]}"),
    ("render", "x.jsonl", "-o", f"x{PAYLOADS[11]}"),
    ("completion", PAYLOADS[1]),
    ("sessions", PAYLOADS[1]),
    ("render", f"no{PAYLOADS[11]}", "-o", "a.md"),
    ("exec", "--prompt", "x", "--", f"./no{PAYLOADS[0]}"),
    ("demo", f"{PAYLOADS[12]}.toml"),
)


@pytest.mark.parametrize("told", [shown, piped])
def test_what_the_command_line_repeats(told: Callable[..., bytes], folder: Path) -> None:
    written = told(*MISTAKES, folder=folder)
    assert written.count(b"acp-tui") >= len(MISTAKES)
    assert_harmless(written)


def test_the_screen_its_end_and_a_replay_of_it(agent: tuple[str, ...], folder: Path) -> None:
    with on_terminal(folder, "--record", "screen.jsonl", "--", *agent, size=(120, 40)) as terminal:
        terminal.prompt("go")
        terminal.wait_for(END)
        for keys in ("\x1b[5~", "\x1b[5~", "\x1b[5~", "\x1b[1;5H"):  # pages up, and to the top
            before = terminal.shown
            terminal.type(keys)
            terminal.until(lambda before=before: terminal.shown != before)  # type: ignore[misc]
        terminal.type("\x1bOS")  # F4
        terminal.wait_for("Protocol")
        # After a pause, because a question was there; and alone, because a key right after Esc counts as one with Alt.
        terminal.insist("\x1b", lambda: "Protocol" not in terminal.shown)
        terminal.type("\x11\x11")
        terminal.wait_for_end()
    assert_harmless(bytes(terminal.written), escapes=ESCAPES)
    with on_terminal(folder, "replay", "screen.jsonl", "--speed", "0", size=(120, 40)) as terminal:
        terminal.wait_for(END)
        terminal.type("\x11")
        terminal.wait_for_end()
    assert_harmless(bytes(terminal.written), escapes=ESCAPES)
