"""Every demo scenario as text. To update them, run this file with `--snapshot-update`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from acp_tui import demo as shipped
from acp_tui.client.agents.demo_agent import demo_command
from acp_tui.client.errors import ClientError
from acp_tui.ui.replay import demo_recording
from acp_tui.ui.replay.demo_recording import DemoUser
from acp_tui.ui.replay.player import Spot
from acp_tui.ui.replay.render import View, render, timeline_of_demo
from support.waiting import TEST_LIMIT_S

SIZE = (100, 60)
PICTURES = Path(__file__).parent / "__snapshots__/test_demo_pictures"

pytest.importorskip("pyghostty", reason="the texts were taken with its terminals")


class _Text(SingleFileSnapshotExtension):
    file_extension = "txt"
    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture(autouse=True)
def _the_test_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a test, only the test may answer."""
    monkeypatch.setattr(demo_recording, "answer", lambda session, key, option: session.answer_permission(key, option))


async def pictured(name: str, user: DemoUser, at: Spot | None = None) -> str:
    with anyio.fail_after(TEST_LIMIT_S):
        async with timeline_of_demo(name, user, SIZE) as timeline:
            return (await render(timeline, View(at, SIZE), ".txt")).decode()


@pytest.mark.parametrize("name", shipped.names())
async def test_every_scenario_ends_as_it_did(name: str, snapshot: SnapshotAssertion) -> None:
    assert await pictured(name, DemoUser()) == snapshot(extension_class=_Text)


@pytest.mark.parametrize("name", ["coding", "session_updates", "terminal", "tool_calls"])
async def test_it_looks_the_same_where_the_agent_speaks_version_2(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2-TURN, R2-MSG, R2-TOOL, R2-DIFF, R2-TERM, R2-PERM, R2-PLAN."""
    monkeypatch.setattr(demo_recording, "demo_command", partial(demo_command, protocol=2))
    picture = PICTURES / f"test_every_scenario_ends_as_it_did[{name}].txt"
    assert await pictured(name, DemoUser()) == picture.read_text(encoding="utf-8")


async def test_it_stops_where_it_is_asked_for() -> None:
    assert "needs your decision" in await pictured("coding", DemoUser(("Fix it",)), Spot(is_question=True))


async def test_nothing_tells_where_it_was_played() -> None:
    async with timeline_of_demo("callbacks", DemoUser(), SIZE) as timeline:
        recorded = timeline.recording.paths[0].read_text()
    assert '"cwd":"/project"' in recorded.replace(": ", ":")
    assert str(Path(__file__).parents[3]) not in recorded


async def test_the_folder_is_the_same_where_the_agent_streams_it(tmp_path: Path) -> None:
    script = tmp_path / "own.toml"
    script.write_text('description = "d"\n[[prompt]]\n[[prompt.step]]\nsay = "This is done in {cwd} and there."\n')
    assert "This is done in /project and there." in await pictured(str(script), DemoUser())


def test_what_cannot_be_allowed_once_is_rejected_and_the_turn_goes_on() -> None:
    shown = (PICTURES / "test_every_scenario_ends_as_it_did[permissions].txt").read_text(encoding="utf-8")
    assert "you chose: Allow once" in shown
    assert "you chose: Reject once “[red]Reject[/red]”" in shown
    assert "That was all." in shown


async def test_a_scenario_that_is_wrong_is_said_with_its_file(tmp_path: Path) -> None:
    script = tmp_path / "own.toml"
    script.write_text('description = "d"\n[[prompt]]\n[[prompt.step]]\nsya = "a"\n')
    with pytest.raises(ClientError, match=r"own\.toml: a step needs") as raised:
        await pictured(str(script), DemoUser())
    assert not raised.value.hint


async def test_nothing_is_written_outside_of_the_sample_project(tmp_path: Path) -> None:
    script, outside = tmp_path / "own.toml", tmp_path / "outside.txt"
    script.write_text(
        f'description = "d"\n[[prompt]]\n[[prompt.step]]\nwrite = {{ path = "{outside}", content = "new" }}\n'
    )
    assert "you chose: Refuse" in await pictured(str(script), DemoUser())
    assert not outside.exists()


async def test_a_missing_scenario_is_reported() -> None:
    with pytest.raises(ClientError, match="nope"):
        await pictured("nope", DemoUser())
