"""Secrets of many kinds, through every way into a run of the real client with an agent process.

The table in `acp_tui/client/secrets/README.md` says what is masked where, and what is kept on purpose. These tests
prove it, cell by cell.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import anyio
import pytest

import acp_tui.client.secrets as secrets_room
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import AgentRefused
from acp_tui.client.prompts.memory import PromptMemory
from acp_tui.client.sessions.hub import open_hub
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.store import RecordingStore
from acp_tui.conversation.content import Text
from acp_tui.conversation.facts import HttpServer, StdioServer
from acp_tui.workbench.redact import RedactOptions, redact
from support.agents import scripted_argv
from support.recordings import EVERYTHING, User
from support.secrets import NAMED, SHAPED, UNTOLD, some
from support.waiting import LIMIT_S

IN_TEXTS = (
    "message", "thought", "diff", "title", "raw input", "path", "plan", "session title", "terminal in _meta", "stderr",
    "terminal", "error", "prompt", "form",
)  # fmt: skip
IN_PLACES = ("MCP variable", "MCP header", "MCP argument", "MCP address", "secret key in _meta", "form answer",
             "option")  # fmt: skip
STORES = ("recording", "index", "prompt history", "redact")

SCRIPT = """
said = json.loads(open(SAID).read())
handshake(agentCapabilities={"mcpCapabilities": {"http": True}})
answer(expect("session/new"), sessionId="s1")
prompt = expect("session/prompt")
print(said["stderr"], file=sys.stderr, flush=True)
say(said["message"])
update("agent_thought_chunk", content={"type": "text", "text": said["thought"]})
update("tool_call", toolCallId="c", title=said["title"], status="completed",
       rawInput={"command": said["raw input"], "args": ["deploy", "--api-token", said["option"]]},
       locations=[{"path": "/work/" + said["path"]}],
       content=[{"type": "diff", "path": "/work/x.py", "oldText": "a", "newText": said["diff"]}],
       _meta={"terminal_output": {"terminal_id": "t", "data": said["terminal in _meta"]},
              "io.example/accessToken": said["secret key in _meta"]})
update("plan", entries=[{"content": said["plan"], "priority": "low", "status": "pending"}])
update("session_info_update", title=said["session title"])
for piece in ("\\n", said["in pieces"][:20], said["in pieces"][20:]):
    say(piece)
say("\\n" + said["echo"])
send(id=90, method="terminal/create", params={"sessionId": "s1", "command": "cat", "args": [TERMINAL], "cwd": CWD})
terminal = None
while terminal is None:
    answered = read()
    if answered.get("id") == 90:
        terminal = answered["result"]["terminalId"]
send(id=91, method="terminal/wait_for_exit", params={"sessionId": "s1", "terminalId": terminal})
while read().get("id") != 91:
    pass
send(id=92, method="elicitation/create", params={"sessionId": "s1", "mode": "form", "message": said["form"],
     "requestedSchema": {"type": "object", "properties": {"password": {"type": "string",
                         "default": said["form answer"]}}, "required": ["password"]}})
while read().get("id") != 92:
    pass
refuse(prompt, -32603, said["error"])
serve_until_closed()
"""


@dataclass
class Stores:
    """What a run left behind, as text."""

    kept: Mapping[str, str]

    def where(self, secret: str) -> set[str]:
        """The stores that contain it."""
        return {store for store, text in self.kept.items() if secret in text}


async def run(folder: Path, said: Mapping[str, str], env: Mapping[str, str]) -> Stores:
    """A turn that contains all of them; each key is the way it takes."""
    (folder / "said.json").write_text(json.dumps(said))
    (folder / "terminal.txt").write_text(said["terminal"] + "\n")
    names = {"SAID": folder / "said.json", "TERMINAL": folder / "terminal.txt", "CWD": folder}
    script = "".join(f"{name} = {str(path)!r}\n" for name, path in names.items()) + SCRIPT
    raw, store = folder / "raw.jsonl", RecordingStore(folder / "recordings")
    plan = RecordingPlan(folder, store=store, file=raw, is_file_raw=True)
    servers = [
        StdioServer("files", "/usr/bin/npx", ("--key", said["MCP argument"]), (("TOKEN", said["MCP variable"]),)),
        HttpServer("http", "docs", f"https://docs.example/{said['MCP address']}", (("X-Key", said["MCP header"]),)),
    ]
    memory = PromptMemory(folder / "prompts")
    with anyio.fail_after(LIMIT_S):
        async with open_hub() as hub:
            agent = await hub.start_agent(
                AgentCommand("scripted", scripted_argv(script), env), offer=EVERYTHING, recordings=plan
            )
            await agent.initialize()
            session = await agent.new_session(folder, mcp_servers=servers)
            user = User(agent, session)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(user.attend)
                memory.history.add(said["prompt"], str(folder), "scripted")
                with pytest.raises(AgentRefused):
                    await session.send_prompt([Text(said["prompt"])])
                tasks.cancel_scope.cancel()
    assert await memory.write() == ""
    redact(raw, folder / "redacted.jsonl", RedactOptions(), env, "host")
    kept = "".join(path.read_text() for path in store.files())
    index = b"".join(path.read_bytes() for path in (folder / "recordings").glob("index*")).decode("latin-1")
    assert "scripted" in index
    return Stores(
        {
            "recording": kept,
            "index": index,
            "prompt history": (folder / "prompts" / "history.jsonl").read_text(),
            "redact": (folder / "redacted.jsonl").read_text(),
            "raw": raw.read_text(),
        }
    )


def table() -> Iterator[tuple[str, dict[str, bool]]]:
    """The table's rows, and for each store whether it keeps what the row is about."""
    text = (Path(str(secrets_room.__file__)).parent / "README.md").read_text()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\|$", text, re.MULTILINE)]
    head = rows[0][1:]
    assert tuple(head) == STORES
    for name, *cells in rows[2:]:
        assert all(cell.startswith(("masked", "kept", "never there")) for cell in cells)
        yield name, {store: cell.startswith("kept") for store, cell in zip(head, cells, strict=True)}


KEPT = dict(table())


async def test_each_cell_of_the_table_is_true(tmp_path: Path) -> None:
    told = {name: ("see {} there", made) for name, made in SHAPED.items()} | NAMED
    sorts = {**dict.fromkeys(told, "of a known form, or after the name of a secret"),
             **dict.fromkeys(UNTOLD, "of no known form, and after no name")}  # fmt: skip
    assert len(sorts) >= 36
    env_secret, wrong = some("abcdefghjkmnp23456789", 24)(Random("env")), []
    for number, name in enumerate(list(sorts)[:: 1 if "ACP_TUI_SECRETS" in os.environ else 9]):
        text, made = (told | UNTOLD)[name]
        random = Random(name)
        secrets = {way: made(random) for way in IN_TEXTS}
        placed = {way: some("abcdefghjkmnp23456789", 22)(random) for way in IN_PLACES}
        pieces = SHAPED["GitHub"](random)
        said = {way: text.format(secret) for way, secret in secrets.items()} | placed
        said |= {"in pieces": pieces, "echo": env_secret}
        folder = tmp_path / str(number)
        folder.mkdir()
        stores = await run(folder, said, {"ACME_TOKEN": env_secret})
        rows = [(sorts[name], way, secret) for way, secret in secrets.items()]
        rows += [
            ("in the address of an MCP server" if way == "MCP address" else "by its place", way, secret)
            for way, secret in placed.items()
        ]
        rows += [
            ("of a known form, cut in pieces", "message", pieces[4:20]),
            ("of the environment", "echo", env_secret),
        ]
        for row, way, secret in rows:
            found = stores.where(secret.split("\n")[0])
            allowed = {store for store, is_kept in KEPT[row].items() if is_kept} | {"raw"}
            if not found <= allowed:
                wrong.append((row, name, way, found - allowed))
            assert "raw" in found, (name, way)
    assert {(row, way, *stores) for row, _, way, stores in wrong} == set()
