"""Where a host may listen beside its socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.hosting.finding import HostNotStarted
from acp_tui.client.hosting.serving import read_listening

pytest.importorskip("websockets", reason="hosts need the extra `remote`")


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "example.com:1", "192.168.0.1:8765"])
def test_beyond_this_machine_only_with_tls(address: str) -> None:
    with pytest.raises(HostNotStarted, match="so it needs TLS"):
        read_listening(address)
    assert not read_listening(address, Path("cert.pem"), Path("key.pem")).is_loopback


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0", "localhost:8765", ":8765"])
def test_on_this_machine_without(address: str) -> None:
    assert read_listening(address).is_loopback


@pytest.mark.parametrize("address", ["8765", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(HostNotStarted, match="isn't an address to listen on"):
        read_listening(address)


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(HostNotStarted, match="TLS needs both files"):
        read_listening("127.0.0.1:0", Path("cert.pem"))
