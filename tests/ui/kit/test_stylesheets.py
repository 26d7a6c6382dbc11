"""Where the stylesheets are: inside the package in a wheel, beside it in a checkout."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_tui.ui.kit import themes as installed
from support.screens import ScreenApp
from support.settling import settle


@pytest.fixture
def find(tmp_path: Path) -> Callable[[], list[Path]]:
    """`stylesheets` of a copy of the package in tmp_path/acp_tui, which has no stylesheets yet."""
    copy = tmp_path / "acp_tui" / "ui" / "kit" / "themes.py"
    copy.parent.mkdir(parents=True)
    shutil.copy(installed.__file__, copy)
    spec = importlib.util.spec_from_file_location("copied_themes", copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[], list[Path]] = module.stylesheets
    return found


def _write(directory: Path, *names: str) -> list[Path]:
    directory.mkdir()
    for name in names:
        (directory / name).touch()
    return [directory / name for name in names]


def test_in_a_wheel_they_are_found_inside_the_package(tmp_path: Path, find: Callable[[], list[Path]]) -> None:
    inside = _write(tmp_path / "acp_tui" / "styles", "a.tcss", "b.tcss")
    assert find() == inside


def test_in_a_checkout_they_are_found_beside_the_package(tmp_path: Path, find: Callable[[], list[Path]]) -> None:
    beside = _write(tmp_path / "styles", "a.tcss", "b.tcss")
    assert find() == beside


def test_those_inside_the_package_come_first(tmp_path: Path, find: Callable[[], list[Path]]) -> None:
    _write(tmp_path / "styles", "other.tcss")  # someone else's, beside the package in site-packages
    inside = _write(tmp_path / "acp_tui" / "styles", "a.tcss")
    assert find() == inside


def test_without_any_it_says_where_it_looked_and_what_to_do(tmp_path: Path, find: Callable[[], list[Path]]) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        find()
    for words in (str(tmp_path / "acp_tui" / "styles"), str(tmp_path / "styles"), "reinstall acp-tui"):
        assert words in str(raised.value)


def test_this_installation_is_whole() -> None:
    names = {path.name for path in installed.stylesheets()}
    assert names == {path.name for path in (Path(__file__).parents[3] / "styles").glob("*.tcss")}


async def test_the_first_frame_waits_for_its_own_stylesheets_only() -> None:
    app = ScreenApp()
    sheets = installed.stylesheets()
    assert 0 < len(app.css_path) < len(sheets)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert all(app.stylesheet.has_source(str(sheet)) for sheet in sheets)
