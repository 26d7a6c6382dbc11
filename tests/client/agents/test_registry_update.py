"""Fetching the registry from a local server: what is kept, and that a failure keeps the previous copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from acp_tui.client.agents import registry
from acp_tui.client.agents.registry import RegistryUnavailable, cached_registry, update_registry
from support.installers import npx

INDEX = json.dumps({"version": "1.0.0", "agents": [npx()]}).encode()


class Server:
    """Answers as the test says, and stores the requests."""

    def __init__(self) -> None:
        self.status = 200
        self.body = INDEX
        self.headers: dict[str, str] = {}
        self.asked: list[dict[str, str]] = []
        self.hangs = False
        self.ended = Event()
        self.url = ""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(dict(self.headers))
            self.send_response(made.status)
            for name, value in {"Content-Length": str(len(made.body)), **made.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(made.body)
            if made.hangs:
                made.ended.wait(30)

        def log_message(self, *_: Any) -> None:
            """Discard it."""

    with _serving(Handler) as url:
        made.url = url
        yield made
        made.ended.set()


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/registry.json"
    finally:
        http.shutdown()
        thread.join(10)
        http.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "registry.json"


def test_what_is_fetched_is_kept_with_its_time_for_the_user_only(server: Server, file: Path):
    assert cached_registry(file) is None
    update_registry(file, server.url, now=lambda: 1234.5)
    kept = cached_registry(file)
    assert kept is not None
    assert [entry.agent_id for entry in kept.registry.entries] == ["some"]
    assert kept.fetched_at == 1234.5
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["registry.json"]


def test_a_registry_that_has_not_changed_is_not_sent_again(server: Server, file: Path):
    server.headers = {"ETag": '"one"'}
    update_registry(file, server.url, now=lambda: 1.0)
    assert "If-None-Match" not in server.asked[0]
    server.status, server.body = 304, b""
    assert update_registry(file, server.url, now=lambda: 2.0).registry.entries
    assert server.asked[1]["If-None-Match"] == '"one"'
    kept = cached_registry(file)
    assert kept is not None
    assert (kept.fetched_at, kept.etag, len(kept.registry.entries)) == (2.0, '"one"', 1)


@pytest.mark.parametrize(
    ("status", "body", "headers", "said"),
    [
        (404, b"", {}, "the server answered 404 Not Found"),
        (304, b"", {}, "the server answered 304"),
        (200, b"<html>", {}, "Expecting value"),
        (200, b"{}", {}, "it doesn't list agents"),
        (200, b"\xff", {}, "utf-8|invalid start byte"),
        (200, INDEX, {"Content-Length": "100000"}, "timed out|cut off|broken"),
        (200, INDEX + b" " * 5000, {}, "larger than"),
        (302, b"", {"Location": "file:///etc/passwd"}, "302|file"),
    ],
)
def test_a_failed_fetch_says_what_failed_and_keeps_what_there_was(
    server: Server,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    headers: dict[str, str],
    said: str,
):
    monkeypatch.setattr(registry, "MAX_BYTES", 5000)
    update_registry(file, server.url)
    before = file.read_bytes()
    server.status, server.body, server.headers = status, body, headers
    with pytest.raises(RegistryUnavailable, match=said) as failure:
        update_registry(file, server.url)
    assert server.url in str(failure.value)
    assert "still in use" in failure.value.hint
    assert file.read_bytes() == before


def test_a_server_that_goes_silent_is_given_up(server: Server, file: Path):
    server.hangs, server.headers = True, {"Content-Length": "100000"}
    with pytest.raises(RegistryUnavailable, match="timed out"):
        update_registry(file, server.url, limit_s=0.2)
    assert cached_registry(file) is None


def test_where_nobody_listens_that_is_said(file: Path):
    with pytest.raises(RegistryUnavailable, match="refused") as failure:
        update_registry(file, "http://127.0.0.1:9/registry.json")
    assert failure.value.hint == ""


def test_a_cache_that_cannot_be_written_is_said(server: Server, tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(RegistryUnavailable, match=r"can't be kept in .*(Not a directory|File exists)"):
        update_registry(tmp_path / "file" / "registry.json", server.url)


@pytest.mark.parametrize("content", ["", "[]", '{"index": 5}', '{"index": "{}", "fetched_at": 1, "etag": ""}'])
def test_a_broken_cache_is_ignored(file: Path, content: str):
    file.parent.mkdir()
    file.write_text(content)
    assert cached_registry(file) is None
