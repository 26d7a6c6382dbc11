"""The list of changed files: what it shows, how it stays current, and what it reverts."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from textual.events import Key
from textual.widget import Widget

from acp_tui.client.changes import ChangedPath, ChangeLimits, Review
from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.ui.changes.changed_files import change_segments, cut_left
from acp_tui.ui.changes.list import ChangeList, ChangesScreen
from acp_tui.ui.changes.review import NOT_SHOWN, ReviewScreen
from acp_tui.ui.kit.answer_guard import TOO_SOON
from acp_tui.ui.kit.question_screen import QuestionScreen
from acp_tui.ui.rendering.palette import PLAIN
from support.changes import LOOKS, ChangesPage, looks_as_it_did, make_repository, open_changes, write
from support.screens import Clock

FILES = {"a.py": b"one\ntwo\n", "b.py": b"b\n", "gone.py": b"1\n2\n3\n", "picture.bin": b"\0\1"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    make_repository(root, FILES)
    return root


def _is_open(page: ChangesPage) -> bool:
    return isinstance(page.app.screen, ChangesScreen)


def _cursor(page: ChangesPage) -> str:
    change = page.app.screen.query_one(ChangeList).change
    return "" if change is None else change.path


# What it shows


async def test_nothing_has_changed_at_first(root: Path) -> None:
    async with open_changes(root) as page:
        assert page.desk.summary() == ""
        await page.open_list()
        assert "F5 refresh · Esc back" in page.words
        assert "revert" not in page.words
        assert "u undo" not in page.words
        await page.until_shown("Nothing has changed since 14:03, when acp-tui opened this folder.")
        await page.pilot.resize_terminal(40, 12)
        await page.settled()
        assert "F5 refresh · Esc back" in page.words
        assert "`!git diff` in the prompt" in page.words


async def test_on_a_small_screen_its_keys_break_between_two(root: Path) -> None:
    async with open_changes(root, size=(40, 12)) as page:
        await page.change({"a.py": b"2\n"})
        await page.open_list()
        assert "Enter review · x revert · F5 refresh" in page.words
        lines = [line.strip("│ ") for line in page.text.splitlines()]
        assert "Esc back" in lines


async def test_without_a_repository_git_is_not_recommended(tmp_path: Path) -> None:
    async with open_changes(tmp_path) as page:
        await page.open_list()
        await page.until_shown("when acp-tui opened this folder.")
        assert "git diff" not in page.words


async def test_each_kind_of_change_has_its_letter_and_its_counts(root: Path) -> None:
    async with open_changes(root, size=(120, 40)) as page:
        (root / "gone.py").unlink()
        (root / "b.py").chmod(0o755)
        await page.change({"a.py": b"one\n2\n3\n", "new.py": b"x\n", "picture.bin": b"\0\2"})
        await page.open_list()
        assert "since 14:03, when acp-tui opened this folder (any program)" in page.words
        rows = [line.strip(" │").split() for line in page.lines]
        assert ["M", "a.py", "+2", "-1"] in rows
        assert ["M", "b.py", "permissions"] in rows
        assert ["D", "gone.py", "-3"] in rows
        assert ["A", "new.py", "+1"] in rows
        assert ["M", "picture.bin", "binary"] in rows


async def test_a_build_file_is_marked_in_the_list_and_in_its_review(root: Path) -> None:
    async with open_changes(root, size=(120, 40)) as page:
        await page.change({"package.json": b"{}\n"})
        await page.open_list()
        rows = [line.strip(" │").split() for line in page.lines]
        assert ["A", "package.json", "build", "file", "+1"] in rows
        assert "a build file: it runs when you or the agent build" in page.words
        await page.open_review()
        assert "package.json build file new +1" in page.words


async def test_the_summary_is_short_enough_for_the_status_line(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"one\n2\n3\n"})
        await page.until(lambda: page.desk.summary() == "1 file +2 -1")
        await page.change({"new.py": b"x\n"})
        await page.until(lambda: page.desk.summary() == "2 files +3 -1")
        await page.change({"a.py": FILES["a.py"]})
        await page.until(lambda: page.desk.summary() == "1 file +1")


async def test_a_change_appears_by_itself_and_the_cursor_stays_with_its_file(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"b.py": b"c\n"})
        await page.open_list()
        assert _cursor(page) == "b.py"
        write(root, {"a.py": b"later\n"})
        await page.until_shown("M a.py")
        assert _cursor(page) == "b.py"
        write(root, {"b.py": b"b\n"})
        await page.until(lambda: _cursor(page) == "a.py")


async def test_below_the_list_is_the_change_of_the_file_at_the_cursor(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"one\n2\n", "picture.bin": b"\0\2\3"})
        await page.open_list()
        await page.until_shown("1 1 one 2 - two 2 + 2")
        write(root, {"a.py": b"one\n3\n"})
        await page.until_shown("1 1 one 2 - two 2 + 3")
        await page.press_until("Now: a file of 3 bytes", "down")
        assert "+ 3" not in page.words
        await page.press_until("1 1 one", "up")
        await page.pilot.resize_terminal(60, 16)
        await page.settled()
        assert "1 1 one" not in page.words


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("right_square_bracket", "left_square_bracket"), ("down", "up")])
async def test_the_keys_of_a_review_move_in_the_list_too(root: Path, down: str, up: str) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n", "b.py": b"x\n"})
        await page.open_list()
        await page.press(down)
        assert _cursor(page) == "b.py"
        await page.press(up)
        assert _cursor(page) == "a.py"


async def test_what_was_not_captured_is_said_and_cannot_be_reverted(root: Path) -> None:
    write(root, {"big": b"a" * 100})
    async with open_changes(root, size=(120, 40), limits=ChangeLimits(max_file_bytes=50)) as page:
        await page.change({"big": b"b\n"})
        await page.open_list()
        assert "before unknown: it is larger than" in page.words
        await page.press_until("'big' can't be reverted", "x")
        await page.press("x")
        assert (root / "big").read_bytes() == b"b\n"


async def test_notes_are_said_once_and_stand_in_the_list(root: Path) -> None:
    write(root, {"untracked.py": b"u\n", "another.py": b"u\n"})
    limits = ChangeLimits(max_files=1)
    async with open_changes(root, limits=limits) as page:
        await page.change({"a.py": b"x\n"})
        await page.until(lambda: len(page.app.said) == 1)
        await page.change({"a.py": b"y\n"})
        await page.open_list()
        assert len(page.app.said) == 1
        assert "Of 5 files have a known earlier state" in page.words


async def test_where_files_cannot_be_followed_there_is_a_session_without_a_list(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(tracker: ChangeTracker, commit: str, **started: object) -> None:
        raise OSError("no room for it")

    monkeypatch.setattr(ChangeTracker, "run", fail)
    async with open_changes(root) as page:
        await page.until_shown("Changes aren't listed: no room for it")
        assert page.desk.summary() == ""
        await page.open_list()
        assert not _is_open(page)


async def test_a_fault_of_our_own_in_following_files_is_logged_beside_being_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(tracker: ChangeTracker, commit: str, **started: object) -> None:
        raise KeyError("a mistake")

    monkeypatch.setattr(ChangeTracker, "run", fail)
    async with open_changes(root) as page:
        await page.until_shown("Changes aren't listed: 'a mistake'")
    assert [record.getMessage() for record in caplog.records if record.exc_info] == [
        f"The changes in {root} can't be followed"
    ]


async def test_a_thousand_changed_files_are_listed_without_a_widget_for_each(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({f"many/{number:04}.py": b"x\n" for number in range(1000)})
        await page.open_list()
        assert "Changes 1,000 files +1,000" in page.words
        assert len(page.app.screen.query(Widget)) < 20
        await page.press("end")
        assert "many/0999.py" in page.text
        await page.press("pageup", "home")
        assert "many/0000.py" in page.text


@pytest.mark.parametrize("width", [30, 50, 80, 200])
def test_a_row_is_as_wide_as_there_is_room(width: int) -> None:
    path = "a/long/path/that/does/not/fit/into/a/narrow/list/of/files/解析器.py"
    for change in (
        ChangedPath(path, "modified", added=123_456, removed=7, is_approximate=True),
        ChangedPath(path, "modified", before_unknown="a reason " * 20),
        ChangedPath("\udcff\n", "added", added=1, removed=0),
    ):
        segments = change_segments(change, width, PLAIN)
        assert sum(segment.cell_length for segment in segments) <= width
    assert cut_left(path, 10) == "…解析器.py"


def test_a_row_ends_with_its_counts() -> None:
    segments = change_segments(ChangedPath("a.py", "added", added=1, removed=0), 60, PLAIN)
    assert "".join(segment.text for segment in segments).split("a.py")[1].strip() == "+1"


@pytest.mark.parametrize("look", LOOKS)
def test_the_list_looks_as_it_did(
    root: Path, look: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def prepare(page: ChangesPage) -> None:
        (root / "gone.py").unlink()
        (root / "b.py").chmod(0o755)
        code = {f"packages/parser/src/a/folder/far/down/{name}.py": b"x\n" * 40 for name in ("one", "two")}
        await page.change({**code, "a.py": b"one\n2\n3\n", "picture.bin": b"\0\2", "p\u0430y.py": b"x\n"})
        await page.open_list()
        await page.press("down", "down")
        await page.until_previewed()
        await page.press_until("Reverted gone.py", "x")
        await page.until_shown("1 + x")

    assert looks_as_it_did(snap_compare, root, LOOKS[look], prepare)


# What is reverted


async def test_an_edited_file_is_reverted_at_once_and_undo_brings_it_back(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"one\n2\n3\n"})
        await page.open_list()
        await page.press_until("Reverted a.py: u undoes that", "x")
        assert (root / "a.py").read_bytes() == FILES["a.py"]
        assert "Nothing has changed" in page.words
        assert "u undo · F5 refresh · Esc back" in page.words
        await page.press_until("a.py has its changes back", "u")
        assert "u undo" not in page.words
        assert (root / "a.py").read_bytes() == b"one\n2\n3\n"
        await page.press_until("Nothing to undo.", "u")


@pytest.mark.parametrize("place", ["list", "review"])
async def test_undo_typed_in_one_go_with_a_revert_comes_after_it(root: Path, place: str) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"one\n2\n3\n"})
        await (page.open_list() if place == "list" else page.open_review())
        for key in "xu":
            page.pilot.app.post_message(Key(key, key))
        await page.until_shown("has its changes back")
        assert (root / "a.py").read_bytes() == b"one\n2\n3\n"


@pytest.mark.parametrize("place", ["list", "review"])
@pytest.mark.parametrize("name", ["new.py", "picture.bin"])
async def test_any_file_is_reverted_at_once_and_undo_brings_it_back_with_its_mode(
    root: Path, place: str, name: str
) -> None:
    async with open_changes(root) as page:
        write(root, {name: b"x\0\n"})
        (root / name).chmod(0o750)
        await page.desk.rescan()
        await (page.open_list() if place == "list" else page.open_review())
        await page.press_until("undoes that", "x" if place == "list" else "X")
        assert not (root / name).exists() or (root / name).read_bytes() == FILES[name]
        await page.press_until(f"{name} has its changes back", "u")
        assert (root / name).read_bytes() == b"x\0\n"
        assert (root / name).stat().st_mode & 0o777 == 0o750


async def test_the_key_of_a_reviews_file_reverts_nothing_in_the_list(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n", "b.py": b"x\n"})
        await page.open_list()
        await page.press("X", "down")
        await page.until_previewed()
        await page.press_until("Reverted b.py: u undoes that", "x")
        assert (root / "a.py").read_bytes() == b"x\n"
        assert (root / "b.py").read_bytes() == FILES["b.py"]


@pytest.mark.parametrize("place", ["list", "review"])
async def test_one_undo_brings_back_all_files_that_were_put_back_together(root: Path, place: str) -> None:
    async with open_changes(root) as page:
        (root / "gone.py").unlink()
        await page.change({"a.py": b"x\n", "b.py": b"x\n", "new.py": b"x\n"})
        changes = page.desk.changes
        assert not await page.desk.revert([changes["a.py"], changes["gone.py"], changes["new.py"]])
        await page.until(lambda: [*page.desk.changes] == ["b.py"])
        await (page.open_list() if place == "list" else page.open_review())
        await page.press_until("3 files have their changes back", "u")
        assert (root / "a.py").read_bytes() == (root / "new.py").read_bytes() == b"x\n"
        assert not (root / "gone.py").exists()


async def test_what_of_several_files_cannot_be_undone_is_shown_and_the_rest_is_back(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n", "b.py": b"x\n"})
        await page.open_list()
        assert not await page.desk.revert([*page.desk.changes.values()])
        write(root, {"b.py": b"later\n"})
        await page.press_until("The file has changed since the revert", "u")
        assert (root / "a.py").read_bytes() == b"x\n"
        assert (root / "b.py").read_bytes() == b"later\n"
        write(root, {"b.py": FILES["b.py"]})
        await page.press_until("b.py has its changes back", "u")
        assert (root / "b.py").read_bytes() == b"x\n"


async def test_an_undo_typed_right_behind_a_revert_is_not_lost(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n"})
        await page.open_list()
        await page.press_until("a.py has its changes back", "x", "u")
        assert (root / "a.py").read_bytes() == b"x\n"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(QuestionScreen, "clock", staticmethod(clock))
    return clock


async def test_a_held_key_reverts_one_file_and_so_does_one_pressed_twice(root: Path, clock: Clock) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n", "b.py": b"x\n"})
        await page.open_list()
        clock.pass_guard()
        await page.press_until("Reverted a.py", "x")
        for pause_s in (0.2, *[0.03] * 20):
            clock.now_s += pause_s
            await page.press("x")
        assert {*page.app.said} == {TOO_SOON.format(wait_s=1, again="press it again")}
        assert (root / "b.py").read_bytes() == b"x\n"
        clock.pass_guard()
        await page.until_previewed()
        await page.press_until("Reverted b.py", "x")


@pytest.mark.parametrize("place", ["list", "review"])
async def test_a_file_is_reverted_only_once_its_change_is_shown(
    root: Path, place: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n", "b.py": b"y\n"})
        await (page.open_list() if place == "list" else page.open_review())
        may_read, review = anyio.Event(), page.desk.review

        async def read_late(path: str) -> Review:
            await may_read.wait()
            return await review(path)

        monkeypatch.setattr(page.desk, "review", read_late)
        await page.press("right_square_bracket", "x")
        await page.until(lambda: page.app.said == [NOT_SHOWN])
        may_read.set()
        await page.until_shown("+ y")
        assert [(root / name).read_bytes() for name in ("a.py", "b.py")] == [b"x\n", b"y\n"]
        clock.pass_guard()
        await page.press_until("Reverted", "x")
        assert [(root / name).read_bytes() for name in ("a.py", "b.py")] == [b"x\n", FILES["b.py"]]


async def test_a_file_that_changed_since_it_was_listed_is_left_alone_and_shown(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"new.py": b"x\n"})
        await page.open_list()
        write(root, {"new.py": b"later\nand more\n"})
        await page.press_until("nothing was reverted. This is its current state.", "x")
        assert (root / "new.py").read_bytes() == b"later\nand more\n"
        assert isinstance(page.app.screen, ReviewScreen)
        assert "+ later" in page.text


async def test_a_revert_is_not_undone_once_the_file_has_changed(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n"})
        await page.open_list()
        await page.press_until("Reverted a.py", "x")
        write(root, {"a.py": b"later\n"})
        await page.press_until("The file has changed since the revert", "u")
        assert (root / "a.py").read_bytes() == b"later\n"
        await page.press("o")
        assert "+ x" in page.text


async def test_a_rescan_finds_what_changed(root: Path) -> None:
    async with open_changes(root) as page:
        await page.open_list()
        write(root, {"a.py": b"x\n"})
        await page.press_until("Read all files.", "f5")
        assert "M a.py" in page.words


async def test_a_click_opens_a_review_and_escape_leads_back(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": b"x\n"})
        await page.open_list()
        await page.click("a.py")
        await page.until_shown("+ x")
        await page.press("escape")
        assert _is_open(page)
        await page.press("escape")
        assert not _is_open(page)


def test_the_desk_loads_no_list_before_it_is_opened() -> None:
    script = "import sys, acp_tui.ui.changes.follower; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "acp_tui.ui.changes.list" not in run.stdout.split()
