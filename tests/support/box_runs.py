"""Runs scripts in a box, started exactly as an agent's process is: by a guardian, a keeper, and the box's engine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio

from acp_tui.client.processes.guard import Order, guard
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import make_box
from acp_tui.client.sandbox.engines import engine_for
from acp_tui.client.settings.settings import WORKSPACE
from support.box_attempts import PRELUDE
from support.box_world import NEEDS, World

LIMIT_S: Final = 30.0


def run(world: World, request: Mapping[str, Any]) -> str:
    """What the script of this request prints."""
    described = json.dumps(world.described())
    script = f"{PRELUDE}\n_know({described!r})\n{request['script']}"
    argv = [sys.executable, "-I", "-S", "-c", script]
    folder = world.root / request.get("folder", "project")
    if not request["boxed"]:
        return _unboxed(world, argv, folder)
    return anyio.run(_boxed, world, request, argv, folder)


def _unboxed(world: World, argv: list[str], folder: Path) -> str:
    done = subprocess.run(
        argv,
        cwd=folder,
        env=dict(world.environ()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
        start_new_session=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


async def _boxed(world: World, request: Mapping[str, Any], argv: list[str], folder: Path) -> str:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in request["profile"].items()}
    profile = replace(WORKSPACE, **fields)
    os.environ["HOME"] = str(world.home)  # where our own folders are
    masks = [(world.root / mask, Access.HIDDEN) for mask in request.get("masks", ())]
    box = make_box(profile, NEEDS, [folder], argv[:1], world.environ(), {}, masks)
    way = engine_for(box).way_into(box, folder, {})
    order = Order([(argv[0], None, argv)], way.environment, 0.0, 0.0, confinement=way.confinement)
    place, (reading, writing) = os.open(folder, os.O_RDONLY), os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        guarded = guard.start(order, place, (nothing, writing, writing))
    finally:
        for each in (place, nothing, writing):
            os.close(each)
    with anyio.fail_after(LIMIT_S):
        await guarded.follow(asyncio.get_running_loop())
        output = b""
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                await guarded.exited.wait()
                guarded.end()
                await guarded.ended.wait()

            tasks.start_soon(end)
            output = await anyio.to_thread.run_sync(_all_of, reading)  # also of what would outlive the box
    box.discard()
    return output.decode("utf-8", "replace")


def _all_of(pipe: int) -> bytes:
    with open(pipe, "rb") as file:
        return file.read()
