"""Entries of an agent registry, each with one peculiarity."""

from __future__ import annotations

from typing import Any

BASE = {"name": "Some Agent", "version": "1.2.3", "description": "Does things"}


def entry(agent_id: str, **distribution: Any) -> dict[str, Any]:
    """An agent with this distribution."""
    return {"id": agent_id, **BASE, "distribution": distribution}


def npx(agent_id: str = "some", package: str = "some-agent@1.2.3", **more: Any) -> dict[str, Any]:
    """An agent that npx fetches."""
    return entry(agent_id, npx={"package": package, **more})


def binary(agent_id: str = "some", *platforms: str, **more: Any) -> dict[str, Any]:
    """An agent to be downloaded."""
    build = {"archive": "https://example.org/some.tar.gz", "cmd": "./dist/some", "args": ["acp"], **more}
    return entry(agent_id, binary=dict.fromkeys(platforms or ("linux-x86_64",), build))
