"""The review of a changed file: what it shows, what it reverts, and what it refuses."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from acp_tui.client.changes import ChangeLimits
from acp_tui.ui.changes.follower import FolderChanges
from acp_tui.ui.changes.review import ReviewScreen
from support.changes import LOOKS, ChangesPage, looks_as_it_did, make_repository, open_changes, write

OLD = b"".join(b"line %d\n" % number for number in range(1, 101))
NEW = OLD.replace(b"line 1\n", b"first\n").replace(b"line 50\n", b"").replace(b"line 100\n", b"last")
MIDDLE_BACK = NEW.replace(b"line 49\n", b"line 49\nline 50\n")
WIDE, NARROW = (120, 40), (80, 24)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    make_repository(root, {"a.py": OLD, "b.py": b"b\n", "picture.bin": b"\0\1"})
    return root


def _is_open(page: ChangesPage) -> bool:
    return isinstance(page.app.screen, ReviewScreen)


# What is read


async def test_it_shows_path_counts_and_where_one_is(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW, "b.py": b"c\n"})
        await page.open_review()
        assert "a.py modified +2 -3" in page.words
        assert "hunk 1/3 · file 1/2 · since 14:03" in page.words
        await page.press("j")
        assert "hunk 2/3" in page.text
        assert "- line 50" in page.text
        await page.press("j", "j")
        assert "hunk 3/3" in page.text
        assert "\\ No newline at end of file" in page.text
        await page.press("k", "k", "k")
        assert "hunk 1/3" in page.text


async def test_old_and_new_stand_side_by_side_where_there_is_room_and_a_key_changes_that(root: Path) -> None:
    async with open_changes(root, size=WIDE) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        assert _is_side_by_side(page)
        await page.press("s")
        assert not _is_side_by_side(page)
        await page.press("s")
        assert _is_side_by_side(page)


def _is_side_by_side(page: ChangesPage) -> bool:
    return any("- line 1 " in line and "+ first" in line for line in page.lines)


async def test_all_lines_are_shown_on_demand(root: Path) -> None:
    async with open_changes(root, size=NARROW) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        assert "line 10" not in page.words
        await page.press("c")
        assert "line 10" in page.words


async def test_it_scrolls_and_the_keys_act_on_a_hunk_that_is_in_view(root: Path) -> None:
    async with open_changes(root, size=NARROW) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("c", "end")
        assert "hunk 3/3" in page.text
        await page.press("home")
        assert "hunk 1/3" in page.text
        await page.press("pagedown", "pagedown", "down", "up", "pageup")
        assert "line 20" in page.words


async def test_brackets_lead_from_file_to_file(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW, "b.py": b"c\n", "c.py": b"d\n"})
        await page.open_review()
        await page.press_until("b.py modified", "right_square_bracket")
        await page.press_until("c.py new", "right_square_bracket")
        await page.press_until("This is the last file.", "right_square_bracket")
        await page.press_until("b.py modified", "left_square_bracket")
        await page.press_until("a.py modified", "left_square_bracket")


async def test_changes_that_touch_are_hunks_of_their_own_and_are_marked(root: Path) -> None:
    near = OLD.replace(b"line 2\n", b"two\n").replace(b"line 4\n", b"four\n")
    async with open_changes(root) as page:
        await page.change({"a.py": near})
        await page.open_review()
        assert "hunk 1/2" in page.text
        assert "+ two" in _marked(page)
        await page.press("j")
        assert "+ four" in _marked(page)
        assert "+ two" not in _marked(page)
        await page.press_until("hunk 1/1", "x")
        assert (root / "a.py").read_bytes() == OLD.replace(b"line 2\n", b"two\n")


def _marked(page: ChangesPage) -> str:
    return "\n".join(line for line in page.lines if "▌" in line)


async def test_lines_that_differ_only_in_bytes_that_are_no_text_are_told_apart(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"b.py": b"caf\xe9\n"})
        await page.open_review()
        assert "+ caf�" in page.text
        assert "Bytes that aren't UTF-8 are shown as �." in page.words


async def test_binary_files_are_shown_by_size_and_revert_as_a_whole(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"picture.bin": b"\0\1\2"})
        await page.open_review()
        assert "Before: a file of 2 bytes" in page.words
        assert "Now: a file of 3 bytes" in page.words
        assert "x revert file" in page.words
        assert "hunk" not in page.words
        assert "whole file" not in page.words
        await page.press_until("It is unchanged.", "x")
        assert (root / "picture.bin").read_bytes() == b"\0\1"


@pytest.mark.parametrize("look", LOOKS)
def test_the_review_looks_as_it_did(
    root: Path, look: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)

    async def prepare(page: ChangesPage) -> None:
        await page.change({"a.py": NEW, "b.py": b"def f(x):\n    return x\n"})
        await page.open_review()
        await page.press("j")
        write(root, {"a.py": NEW.replace(b"line 60\n", b"return 60  # sixty\n")})
        await page.press_until("nothing was reverted", "x")

    assert looks_as_it_did(snap_compare, root, LOOKS[look], prepare)


# What is reverted


async def test_a_hunk_is_reverted_exactly_and_undo_brings_it_back(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        assert "u undo" not in page.words
        await page.press_until("Reverted the hunk", "j", "x")
        assert "u undo" in page.words
        assert (root / "a.py").read_bytes() == MIDDLE_BACK
        assert "hunk 2/2" in page.text
        await page.press_until("a.py has its changes back", "u")
        assert "u undo" not in page.words
        assert (root / "a.py").read_bytes() == NEW
        await page.press_until("Nothing to undo.", "u")


async def test_after_the_last_hunk_the_one_before_is_the_next(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("j", "j")
        await page.press_until("hunk 2/2", "x")
        await page.press_until("hunk 1/1", "x")
        await page.press_until("It is unchanged.", "x")
        await page.press("x", "X")
        assert (root / "a.py").read_bytes() == OLD


async def test_a_file_is_reverted_and_a_new_one_removed(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW, "new.py": b"new\n"})
        await page.open_review()
        await page.press_until("It is unchanged.", "X")
        assert (root / "a.py").read_bytes() == OLD
        await page.press_until("new.py new", "right_square_bracket")
        await page.press_until("It is unchanged.", "X")
        assert not (root / "new.py").exists()
        await page.press_until("has its changes back", "u")
        assert (root / "new.py").read_bytes() == b"new\n"


# What is refused


@pytest.mark.parametrize("key", ["x", "X"])
async def test_a_file_that_changed_meanwhile_is_left_alone_and_both_states_are_shown(root: Path, key: str) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        (root / "a.py").write_bytes(OLD + b"later\n")
        await page.press_until("The file has changed in the meantime, so nothing was reverted", key)
        assert (root / "a.py").read_bytes() == OLD + b"later\n"
        assert "+ later" in page.text
        page.app.screen.post_message(FolderChanges.Changed())  # the list may not know about it yet
        await page.settled()
        assert "The file has changed since it was shown" not in page.words
        await page.press("o")
        assert "This is what was there before" in page.words
        assert "+ first" in page.text
        await page.press(key)
        assert (root / "a.py").read_bytes() == OLD + b"later\n"
        await page.press("o")
        await page.press_until("It is unchanged.", "X")
        assert (root / "a.py").read_bytes() == OLD


async def test_a_revert_is_not_undone_once_the_file_has_changed(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"b.py": b"c\n"})
        await page.open_review()
        await page.press_until("It is unchanged.", "X")
        (root / "b.py").write_bytes(b"later\n")
        await page.press_until("The file has changed since the revert", "u")
        assert "+ later" in page.text
        assert "o before" in page.words
        assert (root / "b.py").read_bytes() == b"later\n"
        await page.press("o")
        assert "+ c" in page.text
        assert "o current state" in page.words
        await page.press("m", "down", "ctrl+c")
        await page.until(lambda: page.app.clipboard == "c")
        assert _is_open(page)
        await page.press("o")
        (root / "b.py").write_bytes(b"b\n")
        await page.press_until("has its changes back", "u")
        assert (root / "b.py").read_bytes() == b"c\n"


async def test_a_revert_is_undone_in_a_file_that_has_changed_elsewhere(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press_until("Reverted the hunk", "x")
        now = NEW.replace(b"first\n", b"line 1\n")
        (root / "a.py").write_bytes(now.replace(b"line 70\n", b"seventy\n"))
        await page.press_until("has its changes back", "u")
        assert (root / "a.py").read_bytes() == NEW.replace(b"line 70\n", b"seventy\n")


async def test_what_changes_while_it_is_read_is_said_and_shown_on_demand(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.change({"a.py": OLD + b"later\n"})
        await page.until_shown("The file has changed since it was shown")
        assert "+ first" in page.text
        await page.press_until("+ later", "f5")
        assert "has changed since" not in page.words


async def test_what_was_not_captured_cannot_be_reverted(root: Path) -> None:
    (root / "big").write_bytes(b"a" * 100 + b"\n")
    async with open_changes(root, limits=ChangeLimits(max_file_bytes=50)) as page:
        await page.change({"big": b"b\n"})
        await page.open_review()
        assert "before unknown" in page.words
        await page.press_until("'big' can't be reverted", "X")
        assert (root / "big").read_bytes() == b"b\n"


@pytest.mark.parametrize(
    ("editor", "problem"),
    [
        ("no-such-editor", "no-such-editor isn't on PATH: set $EDITOR."),
        ("'unclosed", "'unclosed couldn't edit it"),
    ],
)
async def test_where_no_editor_can_be_started_it_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch, editor: str, problem: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        monkeypatch.setattr(page.app, "suspend", nullcontext)
        await page.open_review()
        await page.press_until(problem, "e")


async def test_the_editor_gets_the_file_and_what_it_did_is_shown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "cp b.py")
    monkeypatch.chdir(root)
    async with open_changes(root) as page:
        await page.change({"a.py": NEW, "b.py": b"from the editor\n"})
        monkeypatch.setattr(page.app, "suspend", nullcontext)
        await page.open_review()
        await page.press_until("a.py modified +1 -100", "e")
        assert (root / "a.py").read_bytes() == b"from the editor\n"


@pytest.mark.parametrize("key", ["x", "X"])
async def test_a_key_behind_that_of_the_editor_reverts_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("VISUAL", "true")
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        monkeypatch.setattr(page.app, "suspend", nullcontext)
        await page.open_review()
        await page.press_at_once("e", key)
        await page.until_shown("x revert hunk")
        assert (root / "a.py").read_bytes() == NEW


@pytest.mark.parametrize("key", ["x", "b"])
async def test_a_key_behind_enter_in_the_list_does_nothing_to_the_file(root: Path, key: str) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_list()
        await page.press_at_once("enter", key)
        await page.until_shown("x revert hunk")
        assert (root / "a.py").read_bytes() == NEW


async def test_escape_leads_back_to_the_list(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("escape")
        assert not _is_open(page)
        assert "Changes 1 file +2 -3" in page.words


# Comments


async def test_comments_on_lines_of_several_files_are_for_the_next_prompt(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW, "b.py": b"c\n"})
        await page.open_review()
        await page.press("m", "shift+down", "m")
        await page.until_shown("Comment on a.py:1")
        await page.press(*"Why?", "enter")
        await page.press_until("b.py modified", "right_square_bracket")
        await page.press("m", "m", *"No", "enter")
        assert "2 comments for your next prompt" in page.words
        write(root, {"b.py": b"changed\n"})
        assert [comment.prompt() for comment in page.prompt.comments] == [
            "a.py:1\n```diff\n-line 1\n+first\n```\nWhy?",
            "b.py:1 before the change (the file has changed since)\n```diff\n-b\n```\nNo",
        ]


async def test_a_comment_on_several_lines_stands_behind_the_last_one(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": OLD + b"x" * 90 + b"\nthe end\n"})
        await page.open_review()
        await page.press("m", "shift+down", "m", *"Why?", "enter")
        assert page.words.count("Why?") == 1
        assert "+●the end  Why? " in page.text


async def test_lines_side_by_side_are_both_commented_on(root: Path) -> None:
    async with open_changes(root, size=WIDE) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("m", "m", *"Why?", "enter")
        assert page.prompt.comments[0].prompt() == "a.py:1\n```diff\n-line 1\n+first\n```\nWhy?"


async def test_a_comment_is_marked_and_can_be_changed_and_removed(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("m", "m", "W", "enter")
        assert "-●line 1  W " in page.text
        await page.press("m", "h", "enter")
        assert "-●line 1  Wh " in page.text
        await page.press("m", "ctrl+u", "x", "escape")
        assert "-●line 1  Wh " in page.text
        await page.press("m", "ctrl+u", "enter")
        assert "-●line 1" not in page.text
        assert page.prompt.comments == []


async def test_the_bar_is_at_the_hunk_of_what_is_selected(root: Path) -> None:
    near = OLD.replace(b"line 2\n", b"two\n").replace(b"line 4\n", b"four\n")
    async with open_changes(root) as page:
        await page.change({"a.py": near})
        await page.open_review()
        await page.press("j", "m", "m")
        assert "Comment on a.py:4 before the change" in page.text
        await page.press("escape", *["up"] * 4)
        assert "hunk 1/2" in page.text


async def test_lines_are_selected_with_the_mouse(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        row = next(at for at, line in enumerate(page.lines) if "+ first" in line)
        await page.pilot.mouse_down(offset=(20, row))
        await page.pilot.hover(offset=(20, row + 2))
        await page.pilot.mouse_up(offset=(20, row + 2))
        await page.press("m")
        assert "Comment on a.py:1" in page.text


async def test_on_a_small_screen_what_is_selected_stays_in_view(root: Path) -> None:
    async with open_changes(root, size=(40, 12)) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        await page.press("m", "shift+down", "shift+down")
        assert "line 2" in page.text
        await page.press("m")
        assert "Comment on a.py:1-2" in page.text


async def test_a_comment_on_what_was_there_before_is_stale_from_the_beginning(root: Path) -> None:
    async with open_changes(root) as page:
        await page.change({"a.py": NEW})
        await page.open_review()
        write(root, {"a.py": NEW.replace(b"line 60\n", b"sixty\n")})
        await page.press_until("nothing was reverted", "x")
        await page.press_until("This is what was there", "o")
        await page.press("m", "m", *"Why?", "enter")
        assert "(the file has changed since)" in page.prompt.comments[0].prompt()
