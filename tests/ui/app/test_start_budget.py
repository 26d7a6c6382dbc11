"""What a start may load, counted in modules and classes, never in seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROBE = """
import dataclasses, gc, json, sys

made = []
make = dataclasses._process_class
def counted(cls, *arguments):
    made.append(cls.__module__)
    return make(cls, *arguments)
dataclasses._process_class = counted

def loaded():
    gc.collect()
    ours = [name for name in sys.modules if name.partition(".")[0] == "acp_tui"]
    return {"all": len(sys.modules), "ours": len(ours), "objects": len(gc.get_objects()),
            "standard": [name for name in made if name in ours], "names": sorted(filter(sys.modules.get, sys.modules))}

import acp_tui.__main__
early = loaded()
from acp_tui.cli.put_off import put_off
put_off()
import acp_tui.cli.screen, acp_tui.client.sessions.hub, acp_tui.ui.app.app
first = loaded()
from acp_tui.ui.tab import loading
loading.preload([*loading.BEFORE_AN_AGENT, *loading.BEFORE_A_SESSION])
session = loaded()
loading.preload([*loading.BEFORE_WRITING, *loading.BEFORE_TRACKING_CHANGES, *loading.BEFORE_A_COMMAND])
print(json.dumps({"version": early, "first frame": first, "session": session, "idle": loaded()}))
"""
LIMIT = {
    "version": {"all": 80, "ours": 2, "objects": 9_900},
    "first frame": {"all": 472, "ours": 71, "objects": 40_700},
    "session": {"all": 668, "ours": 239, "objects": 57_800},
    "idle": {"all": 743, "ours": 307, "objects": 64_700},
}
"""The modules that load now, plus a few, and the objects that the garbage collector knows then, plus 5%.

Before you raise one, look for something to load later.
"""
OF_NEWER_PYTHON = 18 if sys.version_info >= (3, 14) else 5 if sys.version_info >= (3, 13) else 0
"""The standard library's parts that the same imports load only from these versions on."""
AFTER_A_SESSION = (
    "acp_tui.client.changes.tracker",
    "email",
    "urllib.request",
    "pydantic",
    "watchfiles",
    "markdown_it",
    "pygments",
    "acp_tui.client.export",
    "acp_tui.ui.prompt.completion",
    "acp_tui.demo",
)


@pytest.fixture(scope="module")
def start() -> dict[str, Any]:
    """What is loaded at each stage of a start."""
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=120)
    stages: dict[str, Any] = json.loads(run.stdout)
    return stages


@pytest.mark.parametrize("stage", LIMIT)
@pytest.mark.parametrize("whose", ["all", "ours", "objects"])
def test_no_more_is_loaded_than_the_start_has_room_for(stage: str, whose: str, start: dict[str, Any]) -> None:
    most = LIMIT[stage][whose] + (OF_NEWER_PYTHON if whose == "all" else 0)
    assert start[stage][whose] <= most


@pytest.mark.parametrize("stage", ["version", "first frame", "session"])
def test_the_standard_decorator_makes_next_to_none_of_our_classes(stage: str, start: dict[str, Any]) -> None:
    # Those without slots: each takes as long to create as forty others.
    assert len(start[stage]["standard"]) <= 2


@pytest.mark.parametrize("module", AFTER_A_SESSION)
def test_a_session_is_shown_before_this_is_loaded(module: str, start: dict[str, Any]) -> None:
    assert module not in start["session"]["names"]


@pytest.mark.parametrize("package", ["markdown_it", "html", "pygments"])
def test_what_answers_are_drawn_with_is_not_loaded_before_the_first_prompt(package: str, start: dict[str, Any]) -> None:
    assert package not in start["idle"]["names"]  # markdown-it and its entities take 1.3 MB


@pytest.mark.parametrize("package", ["_ssl", "_hashlib", "_ctypes", "multiprocessing.context"])
def test_what_only_other_packages_import_is_put_off(package: str, start: dict[str, Any]) -> None:
    assert package not in start["idle"]["names"]  # OpenSSL alone takes 5 MB


@pytest.mark.parametrize("stage", ["first frame", "session"])
def test_of_the_room_for_authors_only_the_keys_are_loaded(stage: str, start: dict[str, Any]) -> None:
    loaded = [name for name in start[stage]["names"] if name.startswith("acp_tui.workbench")]
    assert loaded == ["acp_tui.workbench", "acp_tui.workbench.key_table"]
