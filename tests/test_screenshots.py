"""The pictures in screenshots/ show the program as it is; `python tests/make_screenshots.py` updates them."""

import pytest

from acp_tui.ui.replay import demo_recording
from make_screenshots import SCREENSHOTS, stale, take_all

MAX_BYTES = 150_000


async def test_the_screenshots_show_the_program_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyghostty", reason="the pictures were taken with its terminals")
    monkeypatch.setattr(  # the test acts as the user who answers the scripted agent
        demo_recording, "answer", lambda session, key, option: session.answer_permission(key, option)
    )
    assert stale(await take_all()) == []


def test_no_screenshot_names_a_place_on_the_machine_that_took_it_or_is_large() -> None:
    for path in SCREENSHOTS.glob("*.svg"):
        svg = path.read_text(encoding="utf-8")
        assert "/tmp" not in svg
        assert "/home" not in svg
        assert len(svg) < MAX_BYTES
