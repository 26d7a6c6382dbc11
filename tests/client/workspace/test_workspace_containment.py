"""Nothing outside the workspace is read or written, however the path is spelled and whatever moves meanwhile."""

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from acp_tui.client.workspace.containment import ContainedPath
from acp_tui.client.workspace.errors import OutsideWorkspace, PathChanged, WorkspaceError
from acp_tui.client.workspace.workspace import Workspace
from support.waiting import LIMIT_S

SECRET = "secret"
HOSTILE_PATHS = int(os.environ.get("ACP_TUI_HOSTILE_PATHS", "1000"))


@dataclass(frozen=True, slots=True)
class Scene:
    """Two roots, `work` and `extra`, among folders the agent must not touch."""

    base: Path

    @property
    def work(self) -> Path:
        return self.base / "work"

    def outside(self) -> dict[str, str]:
        """Everything outside the roots, with file contents."""
        trees = [path for path in self.base.iterdir() if path.name not in ("work", "extra")]
        below = [path for tree in trees if not tree.is_symlink() for path in tree.rglob("*")]
        return {str(path): path.read_text() if path.is_file() else "" for path in trees + below}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    base = tmp_path.resolve()
    for name in ("work/sub/deep", "extra", "outside/sub", "work-evil"):
        (base / name).mkdir(parents=True)
    for name in ("work", "work/sub", "work/sub/deep", "extra"):
        (base / name / "file.txt").write_text(f"inside {name}")
    for name in ("outside", "outside/sub", "work-evil"):
        (base / name / "file.txt").write_text(SECRET)
        (base / name / "secret.txt").write_text(SECRET)
    links = {
        "work/to_sub": "sub",
        "work/chain": "to_sub/deep",
        "work/to_file": "sub/file.txt",
        "work/file_slash": "file.txt/",
        "work/up": "..",
        "work/back": "../work",
        "work/sub/top": "../../work",
        "work/absolute": f"{base}/work/sub",
        "work/to_extra": f"{base}/extra",
        "work/to_outside": "../outside",
        "work/to_outside_absolute": f"{base}/outside",
        "work/to_evil": "../work-evil/",
        "work/to_secret": "sub/../../outside/secret.txt",
        "work/sneaky": "to_outside/../work/file.txt",
        "work/new_inside": "sub/new.txt",
        "work/new_outside": "../outside/new.txt",
        "work/new_outside_deep": "../outside/new/new.txt",
        "work/loop": "loop",
        "work/ping": "pong",
        "work/pong": "ping/x",
        "work/root": "/",
        "door": "work",
        "outside/door": "../work/sub",
    }
    for name, target in links.items():
        (base / name).symlink_to(target)
    os.mkfifo(base / "work/pipe")
    return Scene(base)


@pytest.fixture
def workspace(scene: Scene) -> Workspace:
    return Workspace([scene.work, scene.base / "extra"])


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("work/file.txt", "inside work"),
        ("work//sub/./file.txt", "inside work/sub"),
        ("work/sub/../file.txt", "inside work"),
        ("work/to_sub/file.txt", "inside work/sub"),
        ("work/to_sub/../file.txt", "inside work"),
        ("work/chain/file.txt", "inside work/sub/deep"),
        ("work/chain/../file.txt", "inside work/sub"),
        ("work/to_file", "inside work/sub"),
        ("work/absolute/file.txt", "inside work/sub"),
        ("work/sub/top/file.txt", "inside work"),
        ("work/to_extra/file.txt", "inside extra"),
        ("work/../extra/file.txt", "inside extra"),
        ("work/root/../file.txt", None),
        ("door/file.txt", "inside work"),
        ("outside/door/file.txt", "inside work/sub"),
        ("outside/../work/file.txt", "inside work"),
        ("work/sneaky", "inside work"),
    ],
)
async def test_links_and_dots_that_end_inside_are_followed_as_the_system_does(
    scene: Scene, workspace: Workspace, path: str, content: str | None
) -> None:
    if content is None:
        with pytest.raises(OutsideWorkspace):
            await workspace.read_text_file(f"{scene.base}/{path}")
    else:
        assert await workspace.read_text_file(f"{scene.base}/{path}") == content


@pytest.mark.parametrize(
    ("path", "real_path"),
    [
        ("work-evil/secret.txt", "work-evil/secret.txt"),
        ("work/../work-evil/secret.txt", "work-evil/secret.txt"),
        ("work/to_outside/secret.txt", "outside/secret.txt"),
        ("work/to_outside_absolute/sub/secret.txt", "outside/sub/secret.txt"),
        ("work/to_evil/secret.txt", "work-evil/secret.txt"),
        ("work/to_secret", "outside/secret.txt"),
        ("work/up/outside/secret.txt", "outside/secret.txt"),
        ("work/new_outside", "outside/new.txt"),
        ("work/new_outside_deep", "outside/new/new.txt"),
        ("", ""),
    ],
)
async def test_what_ends_outside_is_refused_with_the_place_that_it_leads_to_r_fs_7(
    scene: Scene, workspace: Workspace, path: str, real_path: str
) -> None:
    before = scene.outside()
    asked = f"{scene.base}/{path}"
    for call in (workspace.read_text_file(asked), workspace.write_text_file(asked, "x")):
        with pytest.raises(OutsideWorkspace, match="outside the workspace") as caught:
            await call
        place = str(scene.base / real_path)
        assert (f"(it leads to {place!r})" in str(caught.value)) == (place != asked)
    assert await workspace.locate(asked) == ContainedPath(scene.base / real_path, inside=False)
    assert scene.outside() == before


async def test_a_path_outside_is_served_once_the_user_has_allowed_it(scene: Scene, workspace: Workspace) -> None:
    asked = f"{scene.work}/to_outside/new/file"
    await workspace.write_text_file(asked, "allowed", allowed_at=scene.base / "outside/new/file")
    assert (scene.base / "outside/new/file").read_text() == "allowed"
    assert await workspace.read_text_file(asked, allowed_at=scene.base / "outside/new/file") == "allowed"


async def test_a_link_that_leads_elsewhere_than_what_the_user_has_allowed_is_not_followed(
    scene: Scene, workspace: Workspace
) -> None:
    allowed = scene.base / "outside/agreed"
    before = scene.outside()
    with pytest.raises(PathChanged):
        await workspace.write_text_file(f"{scene.work}/to_outside/other", "x", allowed_at=allowed)
    assert scene.outside() == before


async def test_a_missing_path_is_located_where_it_would_be_created(scene: Scene, workspace: Workspace) -> None:
    located = await workspace.locate(f"{scene.work}/to_sub/new/file")
    assert located == ContainedPath(scene.work / "sub/new/file", inside=True)
    assert await workspace.locate(str(scene.work)) == ContainedPath(scene.work, inside=True)


async def test_a_root_given_by_a_link_is_reached_by_either_spelling(scene: Scene) -> None:
    workspace = Workspace([scene.base / "door"])
    assert workspace.roots == (scene.work,)
    for root in ("door", "work"):
        assert await workspace.read_text_file(f"{scene.base}/{root}/file.txt") == "inside work"


async def test_a_root_stays_what_it_was_when_its_link_is_turned_elsewhere(scene: Scene) -> None:
    workspace = Workspace([scene.base / "door"])
    (scene.base / "door").unlink()
    (scene.base / "door").symlink_to("outside")
    assert await workspace.read_text_file(f"{scene.base}/door/file.txt") == "inside work"


async def test_a_root_inside_another_is_no_way_out_when_it_becomes_a_link(scene: Scene) -> None:
    workspace = Workspace([scene.work / "sub/deep", scene.work])
    (scene.work / "sub").rename(scene.work / "parked")
    (scene.base / "outside/deep").mkdir()
    (scene.base / "outside/deep/file.txt").write_text(SECRET)
    (scene.work / "sub").symlink_to("../outside")
    with pytest.raises(OutsideWorkspace):
        await workspace.read_text_file(f"{scene.work}/sub/deep/file.txt")


async def test_the_root_of_the_file_system_holds_everything(scene: Scene) -> None:
    workspace = Workspace([Path("/")])
    assert await workspace.read_text_file(f"{scene.base}/outside/secret.txt") == SECRET


def test_a_relative_root_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Workspace([Path("relative")])


def do_before_opening(monkeypatch: pytest.MonkeyPatch, name: str, swap: Callable[[], None]) -> None:
    """Run `swap` once, at the last moment before a component with this name is opened."""
    open_file, pending = os.open, [swap]

    def swap_and_open(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == name and pending:
            pending.pop()()
        return open_file(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_and_open)


async def test_a_directory_swapped_for_a_link_right_before_it_is_entered_is_no_way_out(
    scene: Scene, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (scene.work / "sub").rename(scene.work / "parked")
        (scene.work / "sub").symlink_to("../outside")

    do_before_opening(monkeypatch, "sub", swap)
    with pytest.raises(OutsideWorkspace):
        await workspace.read_text_file(f"{scene.work}/sub/file.txt")


async def test_a_file_swapped_for_a_link_right_before_it_is_opened_is_no_way_out(
    scene: Scene, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = scene.work / "file.txt"

    def swap() -> None:
        file.unlink()
        file.symlink_to("../outside/secret.txt")

    do_before_opening(monkeypatch, "file.txt", swap)
    with pytest.raises(PathChanged, match="try again"):
        await workspace.read_text_file(str(file))
    assert scene.outside()[str(scene.base / "outside/secret.txt")] == SECRET


def swap_for_a_moment(directory: Path, target: str, parked: Path) -> bool:
    """Replace a folder with a link, and remove it again; False if a write created the folder meanwhile."""
    directory.rename(parked)
    swapped = False
    with suppress(FileExistsError):
        directory.symlink_to(target)
        directory.unlink()
        swapped = True
    with suppress(OSError):
        parked.rename(directory)
    return swapped


async def test_a_thousand_swaps_under_way_let_nothing_out(scene: Scene, workspace: Workspace) -> None:
    before = scene.outside()
    enough_calls, ended = threading.Event(), threading.Event()
    swaps: list[bool] = []

    def swap_a_thousand_times() -> None:
        try:
            while sum(swaps) < 1000 or not enough_calls.is_set():
                parked = scene.work / f"parked{len(swaps)}"
                swaps.append(swap_for_a_moment(scene.work / "sub", "../outside", parked))
        finally:
            ended.set()

    swapper = threading.Thread(target=swap_a_thousand_times, daemon=True)
    swapper.start()
    calls = 0
    with anyio.fail_after(LIMIT_S):
        while not ended.is_set():
            await read_and_write_below(workspace, scene.work / "sub")
            calls += 1
            if calls == 100:
                enough_calls.set()
    swapper.join(10)
    assert sum(swaps) >= 1000
    assert scene.outside() == before


async def read_and_write_below(workspace: Workspace, directory: Path) -> None:
    with suppress(WorkspaceError):
        assert SECRET not in await workspace.read_text_file(f"{directory}/file.txt")
    for name in ("file.txt", "written.txt", "new/deep.txt"):
        with suppress(WorkspaceError):
            await workspace.write_text_file(f"{directory}/{name}", "x")


def hostile_paths(scene: Scene, count: int) -> Iterator[str]:
    """Paths made of everything that could mislead; the same in every run."""
    chance = random.Random(20240229)
    starts = [
        str(scene.work),
        str(scene.base),
        f"{scene.base}/extra",
        f"{scene.base}/door",
        "",
        "/proc/self/cwd",
    ]
    weights = [6, 2, 1, 1, 1, 1]
    parts = [path.name for path in scene.work.iterdir()]
    parts += ["..", "..", "..", ".", "", "work", "work-evil", "outside", "top", "deep", "door"]
    parts += ["missing", "missing/deep", str(scene.base)[1:], "sub", "sub"]
    ends = [
        "file.txt",
        "file.txt",
        "file.txt",
        "secret.txt",
        "new.txt",
        "to_file",
        "to_secret",
        ".",
        "..",
        "",
    ]
    for _ in range(count):
        (start,) = chance.choices(starts, weights)
        yield "/".join([start, *chance.choices(parts, k=chance.randint(0, 5)), chance.choice(ends)])


def content_for_the_system(scene: Scene, path: str) -> str | None:
    """What the system itself reads there; None if that isn't a file in the workspace."""
    real = Path(os.path.realpath(path))
    inside = any(real.is_relative_to(scene.base / root) for root in ("work", "extra"))
    with suppress(OSError):
        if inside and Path(path).is_file():
            with open(path) as file:  # noqa: PTH123 - pathlib would tidy the path up
                return file.read()
    return None


async def test_exactly_the_inside_ones_of_the_hostile_paths_are_served(scene: Scene, workspace: Workspace) -> None:
    before = scene.outside()
    served = 0
    for number, path in enumerate(hostile_paths(scene, HOSTILE_PATHS)):
        expected = content_for_the_system(scene, path)
        try:
            text = await workspace.read_text_file(path)
        except WorkspaceError:
            text = None
        assert text == expected, path
        served += text is not None
        if number % 3 == 0:
            with suppress(WorkspaceError):
                place = (await workspace.locate(path)).path
                await workspace.write_text_file(path, f"written {number}")
                assert content_for_the_system(scene, str(place)) == f"written {number}", path
    assert scene.outside() == before
    assert served > 50  # some of the paths are plausible
