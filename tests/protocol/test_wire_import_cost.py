"""Importing the wire types must not slow down the start: it builds no model and loads no screen library."""

from __future__ import annotations

import subprocess
import sys

PROBE = """
import sys
import acp_tui.protocol.v1.inbound, acp_tui.protocol.v1.outbound
from acp_tui.protocol.validators import fields_of, reader_of
from acp_tui.protocol.wire import WireModel

def models(base):
    for model in base.__subclasses__():
        yield model
        yield from models(model)

print(sum(1 for _ in models(WireModel)) > 50)
print(fields_of.cache_info().currsize + reader_of.cache_info().currsize)
print([name for name in ("pydantic", "textual", "rich", "anyio", "acp_tui.ui") if name in sys.modules])
"""


def test_importing_the_adapters_builds_no_model_and_loads_no_screen() -> None:
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60)
    assert probe.stdout.split("\n") == ["True", "0", "[]", ""]
