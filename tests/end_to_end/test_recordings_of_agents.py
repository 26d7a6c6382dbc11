"""Recorded sessions with real agents: the replay equals the session, and a redacted one keeps its shape and look.

All requested agents run at the same time, offline, each in its own home. Those with a model take half a minute and run
only with LONG_TOURS=1 in the environment. With it, all are also canceled, and load their session again.
"""

from __future__ import annotations

import re

import anyio
import pytest

from support.real_agents import (
    LONG_TOURS,
    NAMES,
    RECORDINGS,
    WITHOUT_A_MODEL,
    given_away,
    lead_agent,
    version_in,
    why_not,
)
from support.recorded_sessions import shape
from support.recordings import Led, as_recorded, redacted, replayed_whole
from support.screen_checks import LARGE, SMALL, pictured

CHANGING = ("qwen",)
"""Lines that contain the number of a process."""
COST = re.compile(r" +(\S+ \$)[\d.]+")
"""Claude Code asks its model for titles and suggestions beside the turns, which count if they end in time."""


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    missing = _why_not_now(request.param)
    if missing is not None:
        pytest.skip(missing)
    return str(request.param)


def _why_not_now(name: str) -> str | None:
    if name in WITHOUT_A_MODEL or LONG_TOURS:
        return why_not(name)
    return f"{name} runs with LONG_TOURS=1"


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Led | Exception]:
    """The result of each agent that a test asked for."""
    runs: dict[str, Led | Exception] = {}
    here = [item for item in request.session.items if item.path == request.path]
    asked_for = {str(item.callspec.params["name"]) for item in here if isinstance(item, pytest.Function)}
    folder = tmp_path_factory.mktemp("agents")

    async def run(name: str) -> None:
        try:
            runs[name] = await lead_agent(name, folder / name)
        except Exception as error:  # noqa: BLE001 - of one; the test of it fails by it
            runs[name] = error

    async def run_all() -> None:
        async with anyio.create_task_group() as tasks:
            for name in sorted(asked_for):
                if _why_not_now(name) is None:
                    tasks.start_soon(run, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        anyio.run(run_all)
    return runs


@pytest.fixture
def led(name: str, runs: dict[str, Led | Exception]) -> Led:
    run = runs[name]
    if isinstance(run, Exception):
        raise run
    return run


def test_a_replay_equals_the_session_with_a_real_agent(led: Led) -> None:
    """fold(live) == fold(replay(recording)), including terminals."""
    replay = replayed_whole(led.recording)
    assert replay.conversations == led.as_recorded
    assert replay.outside == as_recorded(led.outside)


def test_redacted_it_has_the_same_shape(led: Led) -> None:
    replay = replayed_whole(redacted(led.recording))
    assert shape(replay.conversations) == shape(led.as_recorded)
    assert shape(replay.outside) == shape(as_recorded(led.outside))


def test_redacted_it_looks_as_the_recording_that_is_kept_of_it(led: Led, name: str) -> None:
    kept, new = RECORDINGS / f"{name}.jsonl", given_away(led.recording)
    if name in CHANGING:
        pytest.skip(f"{name} never says the same twice")
    if (then := version_in(kept)) != (now := version_in(new)):
        pytest.skip(f"here is {name} {now}, and the recording is of {then}")
    for size in (LARGE, SMALL):
        looks = [COST.sub(r" \1", anyio.run(pictured, recording, size)) for recording in (new, kept)]
        assert looks[0] == looks[1]
