"""Agents behind real proxies."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from acp_tui.client.agents.command import AgentCommand
from support.agents import scripted

SCRIPTED_PROXY = Path(__file__).with_name("scripted_proxy.py")
SCRIPTED_CONDUCTOR = Path(__file__).with_name("scripted_conductor.py")


def proxy(*ways: str) -> tuple[str, ...]:
    """The command of a proxy that passes messages on in these ways."""
    return (sys.executable, "-I", "-S", str(SCRIPTED_PROXY), *ways)


def behind(script: str, *proxies: Sequence[str]) -> AgentCommand:
    """A scripted agent behind proxies, the first one next to the client."""
    return replace(scripted(script), proxies=tuple(map(tuple, proxies)))


def conducted(mode: str, *commands: Sequence[str]) -> tuple[str, ...]:
    """The command of another conductor than ours, for these: as an "agent", or as a "proxy" of proxies."""
    return (sys.executable, "-I", "-S", str(SCRIPTED_CONDUCTOR), mode, json.dumps(commands))
