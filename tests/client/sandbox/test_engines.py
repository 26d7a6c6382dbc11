"""Which engine enforces a box, and that no agent starts without one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.processes import landlock
from acp_tui.client.sandbox import Access, engines
from acp_tui.client.sandbox.box import Box
from acp_tui.client.sandbox.engines import NoEngine, engine_for
from acp_tui.client.settings.settings import WORKSPACE, SandboxProfile
from acp_tui.client.temporary import TemporaryFolder

PLACES = {
    Path("/"): Access.READABLE,
    Path("/home"): Access.HIDDEN,
    Path("/tmp"): Access.SCRATCH,
    Path("/home/u/.agent"): Access.WRITABLE,
    Path("/home/u/project"): Access.WRITABLE,
    Path("/home/u/project/.envrc"): Access.READABLE,
    Path("/home/u/tools"): Access.READABLE,
}


@pytest.fixture
def folder() -> Iterator[TemporaryFolder]:
    folder = TemporaryFolder("acp-tui-test-")
    yield folder
    folder.remove()


@pytest.fixture
def box(folder: TemporaryFolder) -> Box:
    return Box(WORKSPACE, (Path("/home/u/project"),), PLACES, {"PATH": "/usr/bin"}, folder)


def of(box: Box, **profile: object) -> Box:
    return replace(box, profile=replace(box.profile, **profile))


def program(folder: Path, name: str, script: str = "exit 0") -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    file.chmod(0o755)
    return file


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH."""
    folder = tmp_path / "only"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


# Choosing


@pytest.mark.parametrize(
    ("manager", "how"), [("apt-get", "apt install bubblewrap"), ("dnf", "dnf install bubblewrap"), ("", "the package")]
)
def test_without_bubblewrap_nothing_starts(box: Box, only: Path, manager: str, how: str) -> None:
    if manager:
        program(only, manager)
    with pytest.raises(NoEngine, match="bubblewrap, which isn't installed") as refused:
        engine_for(box)
    assert how in refused.value.hint


def refusing(only: Path, monkeypatch: pytest.MonkeyPatch, abi: int) -> None:
    """A system that refuses user namespaces, with this version of Landlock."""
    program(only, "bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(engines, "may_be_refused", lambda: True)
    monkeypatch.setattr(landlock, "abi", lambda: abi)


def test_landlock_is_used_where_bubblewrap_is_refused(box: Box, only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(only, monkeypatch, abi=4)
    engine = engine_for(box)
    assert engine.name == "landlock"
    assert any("Docker" in gap for gap in engine.gaps)
    assert any("signal" in gap for gap in engine.gaps)


def test_where_both_are_refused_nothing_starts(box: Box, only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(only, monkeypatch, abi=0)
    with pytest.raises(NoEngine, match=r"refuses user namespaces .*, and this kernel has no Landlock"):
        engine_for(box)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda box: of(box, network=False), "can't turn off the network"),
        (
            lambda box: replace(box, places={**PLACES, Path("/home/u/project/.env"): Access.HIDDEN}),
            "can't hide /home/u/project/.env",
        ),
    ],
    ids=["network", "mask"],
)
def test_landlock_does_not_stand_in_for_what_it_cannot_do(
    box: Box, only: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Box], Box], why: str
) -> None:
    refusing(only, monkeypatch, abi=7)
    with pytest.raises(NoEngine, match=why):
        engine_for(change(box))


def test_a_bubblewrap_that_works_is_used(box: Box, only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(only, monkeypatch, abi=7)
    program(only, "bwrap")
    assert engine_for(box).name == "bubblewrap"


@pytest.mark.parametrize("name", ["srt", "seatbelt"])
def test_an_engine_that_is_named_and_missing_is_not_replaced(box: Box, only: Path, name: str) -> None:
    with pytest.raises(NoEngine, match="isn't on PATH"):
        engine_for(of(box, engine=name))


# What engines are told


def test_bubblewrap_hides_first_and_then_opens_what_is_deeper(tmp_path: Path, folder: TemporaryFolder) -> None:
    home, project, envrc = tmp_path / "home", tmp_path / "home/project", tmp_path / "home/project/.envrc"
    project.mkdir(parents=True)
    envrc.touch()
    places = {
        Path("/"): Access.READABLE,
        envrc: Access.READABLE,
        project: Access.WRITABLE,
        home: Access.HIDDEN,
        home / "gone.sock": Access.HIDDEN,
        project / "gone": Access.READABLE,
    }
    box = Box(WORKSPACE, (project,), places, {}, folder)
    words = engines.bubblewrap_arguments(box, project, {"X": "1"}, has_disable_userns=True)

    order = [words.index(str(path)) for path in (home, project, envrc)]
    assert order == sorted(order)
    assert words[words.index("X") - 1] == "--setenv"
    assert not {str(home / "gone.sock"), str(project / "gone")} & {*words}, "what is gone can't be mounted"
    assert "--unshare-net" not in words
    assert "--unshare-net" in engines.bubblewrap_arguments(of(box, network=False), project, {}, has_disable_userns=True)


def test_landlock_opens_no_folder_that_holds_something_hidden(tmp_path: Path, folder: TemporaryFolder) -> None:
    for name in ("shown", "part/shown", "part/hidden", "project"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "part")
    places = {
        Path("/"): Access.READABLE,
        tmp_path / "part/hidden": Access.HIDDEN,
        tmp_path / "part/hidden/open": Access.READABLE,
        tmp_path / "project": Access.WRITABLE,
    }
    box = Box(WORKSPACE, (), places, {}, folder)
    allowed = dict(engines.landlock_places(box))
    assert allowed[str(tmp_path / "shown")] is allowed[str(tmp_path / "part/shown")] is False
    assert allowed[str(tmp_path / "part/hidden/open")] is False
    assert allowed[str(tmp_path / "project")] is allowed[str(box.tmp)] is True
    closed = {"/", str(tmp_path), str(tmp_path.parent), *(str(tmp_path / name) for name in ("part", "link"))}
    assert not closed & allowed.keys()


def test_landlock_opens_nothing_of_a_folder_that_has_gone_meanwhile(tmp_path: Path, folder: TemporaryFolder) -> None:
    (tmp_path / "shown").mkdir()
    gone = tmp_path / "gone/service.sock"
    places = {Path("/"): Access.READABLE, gone.parent: Access.READABLE, gone: Access.HIDDEN}
    box = Box(WORKSPACE, (), places, {}, folder)
    allowed = dict(engines.landlock_places(box))
    assert str(tmp_path / "shown") in allowed
    assert not {str(gone.parent), str(gone)} & allowed.keys()


def test_the_profile_for_macos_ends_with_what_decides(box: Box) -> None:
    odd = Path('/home/u/a "quoted" \\ name')
    text = engines.seatbelt_profile(replace(box, places={**PLACES, odd: Access.HIDDEN}))
    lines = text.splitlines()
    assert lines[0] == "(version 1)"
    order = [
        lines.index('(deny file-read* file-write* (subpath "/home"))'),
        lines.index('(allow file-read* file-write* (subpath "/home/u/project"))'),
        lines.index('(deny file-write* (subpath "/home/u/project/.envrc"))'),
    ]
    assert order == sorted(order)
    assert '(deny file-read* file-write* (subpath "/home/u/a \\"quoted\\" \\\\ name"))' in lines
    assert "(deny network*)" not in lines
    assert "(deny network*)" in engines.seatbelt_profile(of(box, network=False)).splitlines()


def test_srt_gets_the_hosts_and_never_its_own_settings(box: Box) -> None:
    file = engines.srt_settings(replace(box, profile=SandboxProfile("own", engine="srt", hosts=("example.com",))))
    written = json.loads(file.read_text("utf-8"))
    assert written["network"]["allowedDomains"] == ["example.com"]
    assert "/home" in written["filesystem"]["denyRead"]
    assert "/home/u/project" in written["filesystem"]["allowWrite"]
    assert written["filesystem"]["denyWrite"] == ["/home/u/project/.envrc", "/home/u/tools"]
    assert not any(file.is_relative_to(path) for path in written["filesystem"]["allowWrite"])


@pytest.mark.parametrize("engine", ["seatbelt", "srt"])
def test_variables_that_an_agent_chose_do_not_reach_what_leads_in(box: Box, engine: str) -> None:
    way = engines.Engine(engine, "/bin/x").way_into(box, Path("/"), {"DYLD_INSERT_LIBRARIES": "evil"})
    assert "DYLD_INSERT_LIBRARIES" not in way.environment
    assert "DYLD_INSERT_LIBRARIES=evil" in way.confinement.words
