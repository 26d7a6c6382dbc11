"""`fs/*` as an agent sees it on the wire. The workspace has its own tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.workspace.workspace import Workspace
from acp_tui.protocol.roles import ClientOffer
from support.agents import SERVING, Counterpart, in_session, request, settle


async def call(wire: Counterpart, method: str, **params: Any) -> Any:
    """The whole response."""
    await wire.send(request(1, method, {"sessionId": "s1", **params}))
    return await wire.receive()


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    return folder


async def test_a_file_of_the_session_is_read_whole_and_in_part(cwd: Path):
    """R-FS-1, R-FS-2."""
    path = str(cwd / "a.txt")
    async with in_session(cwd, policy=SERVING) as (_, wire):
        whole = await call(wire, "fs/read_text_file", path=path)
        part = await call(wire, "fs/read_text_file", path=path, line=2, limit=1)
    assert whole["result"] == {"content": "one\ntwo\nthree\n"}
    assert part["result"] == {"content": "two\n"}


async def test_a_file_is_written_and_the_answer_is_empty(cwd: Path):
    """R-FS-4, R-RPC-8."""
    async with in_session(cwd, policy=SERVING) as (_, wire):
        written = await call(wire, "fs/write_text_file", path=str(cwd / "new/b.txt"), content="b\r\n")
    assert written["result"] == {}
    assert (cwd / "new/b.txt").read_bytes() == b"b\r\n"


async def test_files_are_read_one_at_a_time_and_none_while_answers_are_unread(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
):
    """Forty answers of sixty megabytes must not be in memory at once."""
    read, has_room, under_way, most, count = Workspace.read_text_file, anyio.Event(), 0, 0, 0

    async def read_and_count(*args: Any, **options: Any) -> str:
        nonlocal under_way, most, count
        under_way, count = under_way + 1, count + 1
        most = max(most, under_way)
        text = await read(*args, **options)
        under_way -= 1
        return text

    monkeypatch.setattr(Workspace, "read_text_file", read_and_count)
    params = {"sessionId": "s1", "path": str(cwd / "a.txt")}
    async with in_session(cwd, policy=SERVING) as (session, wire):
        monkeypatch.setattr(session.connection, "until_room", has_room.wait)
        for number in range(40):
            await wire.send(request(f"r{number}", "fs/read_text_file", params))
        await settle()
        assert count == 0
        has_room.set()
        for _ in range(40):
            assert (await wire.receive())["result"] == {"content": "one\ntwo\nthree\n"}
    assert (count, most) == (40, 1)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("fs/read_text_file", {"path": "/cwd/missing"}, -32002),
        ("fs/read_text_file", {"path": "a.txt"}, -32602),
        ("fs/write_text_file", {"path": "a.txt", "content": ""}, -32602),
        ("fs/read_text_file", {"path": "/cwd/a.txt", "line": "2"}, -32602),
        ("fs/read_text_file", {}, -32602),
        ("fs/read_text_file", {"path": "/cwd"}, -32603),
    ],
)
async def test_each_refusal_has_its_code(cwd: Path, method: str, params: dict[str, Any], code: int):
    """R-FS-3, R-FS-5, R-LEN-5."""
    given = {name: value.replace("/cwd", str(cwd)) if name == "path" else value for name, value in params.items()}
    async with in_session(cwd, policy=SERVING) as (_, wire):
        assert (await call(wire, method, **given))["error"]["code"] == code


@pytest.mark.parametrize("name", ["gemini-cli", "gemini-cli-of-another"])
async def test_a_missing_file_is_empty_for_gemini_cli_alone(cwd: Path, name: str):
    async with in_session(cwd, name=name, policy=SERVING) as (_, wire):
        answer = await call(wire, "fs/read_text_file", path=str(cwd / "missing"))
        relative = await call(wire, "fs/read_text_file", path="missing")
    assert answer.get("result") == ({"content": ""} if name == "gemini-cli" else None)
    assert relative["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("offer", "method"),
    [
        (ClientOffer(read_text_file=False), "fs/read_text_file"),
        (ClientOffer(write_text_file=False), "fs/write_text_file"),
        (ClientOffer(terminal=False), "terminal/create"),
        (ClientOffer(terminal=False), "terminal/output"),
        (ClientOffer(), "_vendor/anything"),
    ],
)
async def test_what_is_not_offered_is_not_served(cwd: Path, offer: ClientOffer, method: str):
    """R-FS-6, R-RPC-5."""
    async with in_session(cwd, offer=offer, policy=SERVING) as (_, wire):
        assert (await call(wire, method, path=str(cwd / "a.txt")))["error"]["code"] == -32601
