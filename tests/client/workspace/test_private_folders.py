"""No agent is served acp-tui's own folders, even if they are in the workspace and the user allows everything."""

from __future__ import annotations

import os
import random
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from acp_tui.client.settings.location import own_folders
from acp_tui.client.workspace.errors import PrivatePath, WorkspaceError
from acp_tui.client.workspace.workspace import Workspace
from support.agents import in_session

SECRET: Final = "what acp-tui runs"
HOSTILE_PATHS: Final = int(os.environ.get("ACP_TUI_HOSTILE_PATHS", "1000"))
OURS: Final = (".config/acp-tui", ".local/state/Acp-Tüi", ".cache/acp-tui")


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder as the workspace, which contains our folders; the settings are elsewhere, behind a link."""

    path: Path

    @property
    def ours(self) -> list[Path]:
        return [self.path / name for name in OURS]

    def contents(self) -> dict[str, str]:
        """All private contents, as they are now."""
        files = [self.path / "dotfiles/mine.toml", *(file for each in self.ours for file in each.rglob("*"))]
        return {str(file): file.read_text() for file in files if file.is_file()}

    def workspace(self, *roots: Path) -> Workspace:
        return Workspace(roots or [self.path], private=self.ours)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path.resolve())
    for folder in home.ours:
        (folder / "deep").mkdir(parents=True)
        (folder / "agents.toml").write_text(SECRET)
        (folder / "deep/trusted.json").write_text(SECRET)
    (home.path / "dotfiles").mkdir()
    (home.path / "dotfiles/mine.toml").write_text(SECRET)
    (home.ours[0] / "settings.toml").symlink_to("../../dotfiles/mine.toml")
    (home.path / "sub").mkdir()
    (home.path / "sub/file").write_text("public")
    links = {
        "conf": ".config",
        "ours": ".config/acp-tui",
        "sub/up": "..",
        "sub/settings": "../.config/acp-tui/settings.toml",
        "sub/chain": "../ours/deep",
        "sub/root": "/proc/self/root",
        "loop": "loop",
    }
    for name, target in links.items():
        (home.path / name).symlink_to(target)
    os.link(home.ours[1] / "deep/trusted.json", home.path / "sub/hard")
    return home


@pytest.mark.parametrize(
    "path",
    [
        ".config/acp-tui/agents.toml",
        ".config/acp-tui/new.toml",
        ".config/acp-tui/new/folder/file",
        ".config/acp-tui",
        "sub/../.config//./acp-tui/agents.toml",
        "ours/agents.toml",
        "sub/chain/trusted.json",
        "sub/hard",
        "dotfiles/mine.toml",
        ".config/acp-tui/settings.toml",
        ".config/ACP-TUI/agents.toml",
        ".local/state/aCP-TU\u0308I/agents.toml",
    ],
)
async def test_no_spelling_leads_to_what_is_ours(home: Home, path: str) -> None:
    before = home.contents()
    workspace = home.workspace()
    asked = f"{home.path}/{path}"
    with pytest.raises(PrivatePath, match="belongs to acp-tui itself"):
        await workspace.locate(asked)
    for allowed_at in (None, Path(asked), Path(os.path.realpath(asked))):
        with pytest.raises(PrivatePath):
            await workspace.read_text_file(asked, allowed_at=allowed_at)
        with pytest.raises(PrivatePath):
            await workspace.write_text_file(asked, "changed", allowed_at=allowed_at)
    assert home.contents() == before


async def test_what_is_not_there_yet_cannot_be_made(tmp_path: Path) -> None:
    home = Home(tmp_path.resolve() / "home")
    (home.path / ".config").mkdir(parents=True)
    for folder in home.ours:
        with pytest.raises(PrivatePath):
            await home.workspace().write_text_file(f"{folder}/settings.toml", "changed")
    assert [path.name for path in home.path.rglob("*")] == [".config"]


async def test_a_link_to_settings_that_are_not_there_yet_does_not_help(tmp_path: Path) -> None:
    home = Home(tmp_path.resolve() / "home")
    home.ours[0].mkdir(parents=True)
    (home.ours[0] / "settings.toml").symlink_to(home.path / "later.toml")
    with pytest.raises(PrivatePath):
        await home.workspace().write_text_file(f"{home.path}/later.toml", "changed")
    assert not (home.path / "later.toml").exists()


async def test_a_workspace_in_our_own_folder_is_served_nothing(home: Home) -> None:
    inside = home.ours[0] / "deep"
    workspace = home.workspace(inside)
    with pytest.raises(PrivatePath):
        await workspace.read_text_file(str(inside / "trusted.json"))
    with pytest.raises(PrivatePath):
        await workspace.write_text_file(str(inside / "new"), "changed")


async def test_what_lies_beside_ours_is_served(home: Home) -> None:
    workspace = home.workspace()
    await workspace.write_text_file(f"{home.path}/.config/acp-tui-other/settings.toml", "other")
    assert await workspace.read_text_file(f"{home.path}/sub/file") == "public"
    assert await workspace.read_text_file(f"{home.path}/.config/acp-tui-other/settings.toml") == "other"


def spellings(home: Home, count: int) -> Iterator[str]:
    """Paths that tend to end in our folders; the same in every run."""
    chance = random.Random(20261122)
    ways = ["sub/..", "sub/up", ".", "", "conf/..", "sub/root" + str(home.path), "missing/..", "loop/.."]
    starts = [str(home.path), f"/proc/self/root{home.path}", f"{home.path}/sub/up", f"//{home.path}"]
    places = [*OURS, "ours", "conf/acp-tui", "sub/chain", "dotfiles", "sub", ".config", "proc/self/cwd"]
    ends = [
        "settings.toml",
        "agents.toml",
        "mine.toml",
        "trusted.json",
        "deep/trusted.json",
        "new",
        "hard",
        "",
    ]
    changes = [
        str.upper,
        str.swapcase,
        lambda name: unicodedata.normalize("NFD", name),
        lambda name: f"{name}.",
        lambda name: f"{name}/.",
        lambda name: f"./{name}",
        lambda name: name.replace("/", "//"),
        lambda name: f"{name}\u200b",
    ]
    for _ in range(count):
        place, end = chance.choice(places), chance.choice(ends)
        if chance.random() < 0.4:
            place = chance.choice(changes)(place)
        if chance.random() < 0.2:
            end = chance.choice(changes)(end)
        yield "/".join([chance.choice(starts), *chance.choices(ways, k=chance.randint(0, 3)), place, end])


async def test_no_generated_spelling_reaches_our_own_files(home: Home) -> None:
    before = home.contents()
    workspace = home.workspace()
    refused = 0
    for path in spellings(home, HOSTILE_PATHS // 5):
        for allowed_at in (None, Path(os.path.realpath(path))):
            try:
                assert await workspace.read_text_file(path, allowed_at=allowed_at) != SECRET, path
            except PrivatePath:
                refused += 1
            except WorkspaceError:
                pass
            with suppress(WorkspaceError):
                await workspace.write_text_file(path, "changed", allowed_at=allowed_at)
    assert home.contents() == before
    assert refused > HOSTILE_PATHS / 50  # most of them lead there


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {}),
        ("fs/write_text_file", {"content": "changed"}),
        ("terminal/create", {"command": sys.executable, "args": ["-c", ""]}),
    ],
)
async def test_an_agent_is_refused_and_the_user_is_not_even_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, object]
) -> None:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    if sys.platform == "darwin":
        monkeypatch.setenv("HOME", str(tmp_path))
    async with in_session(tmp_path) as (session, wire):
        for number, folder in enumerate(own_folders()):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "settings.toml").write_text(SECRET)
            where = {"cwd": str(folder)} if method == "terminal/create" else {"path": f"{folder}/settings.toml"}
            about = {"sessionId": "s1", **params, **where}
            await wire.send({"jsonrpc": "2.0", "id": number, "method": method, "params": about})
            answer = await wire.receive()
            assert "belongs to acp-tui itself" in answer["error"]["message"]
            assert not session.conversation.permissions
            assert (folder / "settings.toml").read_text() == SECRET
