"""Where a host may listen beside its socket."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Thread

import anyio
import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.hosting.finding import bound, hosted_sessions
from acp_tui.client.hosting.serving import read_listening

pytest.importorskip("websockets", reason="hosts need the extra `remote`")


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "example.com:1", "192.168.0.1:8765"])
def test_beyond_this_machine_only_with_tls(address: str) -> None:
    with pytest.raises(ClientError, match="so it needs TLS"):
        read_listening(address)
    assert read_listening(address, Path("cert.pem"), Path("key.pem")).certificate is not None


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0", "localhost:8765", ":8765"])
def test_on_this_machine_without(address: str) -> None:
    assert read_listening(address).certificate is None


@pytest.mark.parametrize("address", ["8765", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(ClientError, match="isn't an address to listen on"):
        read_listening(address)


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(ClientError, match="TLS needs both files"):
        read_listening("127.0.0.1:0", Path("cert.pem"))


def test_who_looks_for_hosts_leaves_the_socket_of_one_that_is_about_to_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def listen_late(listener: socket.socket) -> None:
        looks.append(Thread(target=anyio.run, args=(hosted_sessions,)))
        looks[0].start()
        looks[0].join(0.5)  # it doesn't wait for a host that it doesn't know to be one
        listen(listener)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    listen = socket.socket.listen
    monkeypatch.setattr(socket.socket, "listen", listen_late)
    place, listener = bound("agent")
    assert place.socket.exists()
    listener.close()
    looks[0].join()
