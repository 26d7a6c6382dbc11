"""What can be set: defaults, and what it costs to know them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acp_tui.client.settings.settings import RefusalRule, Settings, TraceContext
from acp_tui.protocol.connection import TRACE_KEYS

COSTLY = ("pydantic", "anyio", "asyncio", "tomllib", "hashlib", "json", "textual")


@pytest.mark.parametrize("module", ["settings", "reader", "wording"])
def test_settings_are_known_before_anything_costly_is_loaded(module: str) -> None:
    code = f"import sys, acp_tui.client.settings.{module}; print([n for n in {COSTLY} if n in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert loaded.stdout.strip() == "[]"


def test_only_the_trace_context_that_is_set_is_sent() -> None:
    assert TraceContext().as_mapping() == {}
    assert TraceContext(traceparent="a", baggage="b").as_mapping() == {"traceparent": "a", "baggage": "b"}
    assert tuple(TraceContext("a", "b", "c", "d").as_mapping()) == TRACE_KEYS


def test_settings_are_values() -> None:
    assert Settings() == Settings()
    assert hash(Settings(refuse=(RefusalRule("read", None, None, "why"),)))
