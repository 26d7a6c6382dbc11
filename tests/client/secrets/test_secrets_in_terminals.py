"""An agent of version 2 sends output in base64; secrets in it are masked in recordings all the same."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import pytest

from acp_tui.client.secrets.masking import Masker

SECRET = "hunter2-of-mine-4711"


def message(update: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}


@pytest.mark.parametrize("printed", [f"token {SECRET}\n", "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n"])
def test_what_a_terminal_prints_in_base64_is_masked(printed: str) -> None:
    """R2-TERM."""
    masker = Masker({"MY_TOKEN": SECRET})
    data = b64encode(printed.encode()).decode()
    chunk = message({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data})
    whole = message({"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": data}})
    masked = [masker.message(chunk)["params"]["update"]["data"]]
    masked.append(masker.message(whole)["params"]["update"]["output"]["data"])
    for one in masked:
        kept = b64decode(one).decode()
        assert len(kept) == len(printed)
        assert printed.split()[1] not in kept
    assert masker.is_suspect(b'{"update":{"sessionUpdate":"terminal_output_chunk"}}')


def test_what_is_no_base64_is_left_as_it_is() -> None:
    broken = message({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "x"})
    assert Masker({}).message(broken) == broken
