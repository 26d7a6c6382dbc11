"""What a box contains: the session's folders, what the agent needs, and none of the rest of the home folder."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box, make_box
from acp_tui.client.sandbox.needs import Needs
from acp_tui.client.settings.settings import READ_ONLY, WORKSPACE, SandboxProfile

NEEDS = Needs(state=("~/.agent",))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for name in ("project", ".ssh", "documents", ".agent"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / f".xdg-{kind.lower()}"))
    return home


def make(
    home: Path,
    profile: SandboxProfile = WORKSPACE,
    *,
    folders: Sequence[Path] = (),
    program: str = "/usr/bin/true",
    masks: Iterable[tuple[Path, Access]] = (),
    **environ: str,
) -> Box:
    variables = {"HOME": str(home), "PATH": "/usr/bin", **environ}
    box = make_box(profile, NEEDS, folders or [home / "project"], [program], variables, {"GIVEN": "1"}, masks)
    box.discard()
    return box


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    subprocess.run(("git", "-C", folder, *who, *words), check=True, capture_output=True)


def test_an_agent_may_write_where_its_session_works_and_keep_its_own_state(home: Path) -> None:
    box = make(home)
    assert box.access(home / "project/new/file") is Access.WRITABLE
    assert box.access(home / ".agent/sessions") is Access.WRITABLE
    assert box.access(home / "documents/letter") is Access.HIDDEN
    assert box.access(home / ".ssh/id_ed25519") is Access.HIDDEN
    assert box.access(Path("/usr/include")) is Access.READABLE
    assert box.access(Path("/tmp/x")) is Access.SCRATCH


def test_a_read_only_box_has_nothing_writable_but_the_agents_own_state(home: Path) -> None:
    box = make(home, READ_ONLY)
    assert box.listed(Access.WRITABLE) == [home / ".agent"]
    assert box.access(home / "project") is Access.READABLE


def test_keys_are_hidden_even_where_the_home_folder_is_the_sessions_folder(home: Path) -> None:
    (home / ".netrc").touch()
    box = make(home, folders=[home])
    assert box.access(home / "documents") is Access.WRITABLE
    assert box.access(home / ".ssh/id_ed25519") is Access.HIDDEN
    assert box.access(home / ".netrc") is Access.HIDDEN


def test_no_session_can_work_above_the_home_folder(home: Path) -> None:
    with pytest.raises(OSError, match="holds your home folder"):
        make(home, folders=[home.parent])


def test_acp_tuis_own_folders_are_hidden(home: Path) -> None:
    for folder in (home / ".xdg-config/acp-tui", home / ".xdg-state/acp-tui"):
        folder.mkdir(parents=True)
        box = make(home, folders=[home])
        assert box.access(folder / "settings.toml") is Access.HIDDEN


def test_a_profile_of_ones_own_opens_and_hides_places(home: Path) -> None:
    (home / ".ssh/known_hosts").touch()
    (home / "project/secret").touch()
    own = SandboxProfile(
        "own",
        writable=(".", "~/documents"),
        readable=("~/.ssh/known_hosts",),
        hidden=(f"{home}/project/secret",),
    )
    box = make(home, own)
    assert box.access(home / "documents/letter") is Access.WRITABLE
    assert box.access(home / ".ssh/known_hosts") is Access.READABLE
    assert box.access(home / ".ssh/id_ed25519") is Access.HIDDEN
    assert box.access(home / "project/secret") is Access.HIDDEN


def test_a_relative_place_of_a_profile_is_in_the_sessions_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("project", "documents"):
        (home / folder / "secrets").mkdir()
    monkeypatch.chdir("/")
    own = SandboxProfile("own", writable=("out",), hidden=("secrets",))
    (home / "project/out").mkdir()
    box = make(home, own, folders=[home / "project", home / "documents"])
    assert box.access(home / "project/secrets/key") is Access.HIDDEN
    assert box.access(home / "documents/secrets/key") is Access.HIDDEN
    assert box.access(home / "project/out/x") is Access.WRITABLE
    assert box.access(home / "project/x") is Access.READABLE


def test_a_mask_holds_against_everything_else(home: Path) -> None:
    env, notes = home / "project/.env", home / "documents/notes"
    env.touch()
    notes.touch()
    own = replace(WORKSPACE, readable=(str(env),), writable=(".", str(notes)))
    box = make(home, own, masks=[(env, Access.HIDDEN), (notes, Access.READABLE)])
    assert box.access(env) is Access.HIDDEN
    assert box.access(notes) is Access.READABLE


def test_only_listed_variables_get_in(home: Path) -> None:
    own = replace(WORKSPACE, env=("MY_*",))
    box = make(home, own, MY_TOKEN="in", AWS_SECRET_ACCESS_KEY="out", LC_ALL="C", TMP="/elsewhere", SSH_AUTH_SOCK="/x")
    assert box.environment == {
        "HOME": str(home),
        "PATH": "/usr/bin",
        "MY_TOKEN": "in",
        "LC_ALL": "C",
        "GIVEN": "1",
        "TMPDIR": "/tmp",
    }


def test_what_runs_later_is_read_only_where_it_exists(home: Path) -> None:
    (home / "project/.envrc").touch()
    (home / "project/.vscode").mkdir()
    box = make(home)
    assert box.access(home / "project/.envrc") is Access.READABLE
    assert box.access(home / "project/.vscode/tasks.json") is Access.READABLE
    assert box.access(home / "project/.mcp.json") is Access.WRITABLE  # it can't be kept from being made


# Repositories


def test_git_works_but_its_settings_and_hooks_stay(home: Path) -> None:
    git(home / "project", "init", "-q", "--template=")
    box = make(home)
    repository = home / "project/.git"
    assert box.places[repository] is Access.WRITABLE  # a mount of its own, so that it can't be moved away
    assert box.access(repository / "objects/ab/cd") is Access.WRITABLE
    assert box.access(repository / "config") is Access.READABLE
    assert box.access(repository / "hooks/pre-commit") is Access.READABLE


def test_what_is_replaced_outside_is_known_to_be_kept_no_longer(home: Path) -> None:
    git(home / "project", "init", "-q")
    (home / "project/.envrc").touch()
    box = make(home)
    assert box.replaced == []

    git(home / "project", "config", "user.name", "changed")
    (home / "project/.envrc").unlink()

    assert box.replaced == [home / "project/.git/config"]


def test_nothing_of_ours_stays_in_a_repository_when_its_last_box_has_gone(home: Path) -> None:
    git(home / "project", "init", "-q")
    before = {*(home / "project/.git").iterdir()}
    variables = {"HOME": str(home)}
    boxes = [make_box(WORKSPACE, NEEDS, [home / "project"], ["/usr/bin/true"], variables, {}) for _ in range(2)]
    mark = home / "project/.git/commondir"
    assert mark.exists()

    boxes[0].discard()
    assert mark.exists(), "the other box still needs it"
    git(home / "project", "status")

    boxes[1].discard()
    assert {*(home / "project/.git").iterdir()} == before


def test_a_repository_that_needs_its_mark_keeps_it(home: Path) -> None:
    main, tree = home / "documents/main", home / "project/tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tree))
    make(home, folders=[tree])
    assert (main / ".git/worktrees/tree/commondir").exists()
    git(tree, "status")


def test_in_a_folder_of_a_repository_the_rest_of_it_can_be_read(home: Path) -> None:
    git(home / "project", "init", "-q")
    (home / "project/part").mkdir()
    box = make(home, folders=[home / "project/part"])
    assert box.access(home / "project/README") is Access.READABLE
    assert box.access(home / "project/part/file") is Access.WRITABLE
    assert box.access(home / "project/.git/index") is Access.WRITABLE


def test_a_repository_of_the_home_folder_opens_nothing(home: Path) -> None:
    git(home, "init", "-q")
    box = make(home)
    assert box.access(home / ".git/config") is Access.HIDDEN
    assert box.access(home / "documents") is Access.HIDDEN


def test_a_worktree_has_its_repository(home: Path) -> None:
    main, tree = home / "documents/main", home / "project/tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tree))
    box = make(home, folders=[tree])
    assert box.access(tree / ".git") is Access.READABLE
    assert box.access(main / ".git/worktrees/tree/index") is Access.WRITABLE
    assert box.access(main / ".git/config") is Access.READABLE
    assert box.access(main / "file") is Access.HIDDEN


@pytest.mark.parametrize("target", ["documents", ".ssh"])
def test_a_git_file_opens_no_folder_that_does_not_know_it(home: Path, target: str) -> None:
    for name in ("HEAD", "commondir", "gitdir"):
        (home / target / name).write_text("..", "utf-8")
    (home / "project/.git").write_text(f"gitdir: {home / target}\n", "utf-8")
    box = make(home)
    assert box.access(home / target / "x") is Access.HIDDEN


# Links that an agent may have made in an earlier session


def links_of(project: Path) -> Iterable[Path]:
    yield project / ".envrc"
    yield project / ".vscode"
    yield project / ".git"
    yield project / "venv/bin/python"


@pytest.mark.parametrize("target", ["documents", ".ssh"])
def test_a_link_in_the_workspace_opens_nothing(home: Path, target: str) -> None:
    project, secret = home / "project", home / target / "bin"
    secret.mkdir()
    (project / "venv/bin").mkdir(parents=True)
    (project / "venv/pyvenv.cfg").touch()
    for link in links_of(project):
        link.symlink_to(secret)
    box = make(home, program=str(project / "venv/bin/python"), PATH=f"/usr/bin:{project}/venv/bin")
    assert box.access(secret) is Access.HIDDEN


def test_a_repository_whose_hooks_are_a_link_has_no_box(home: Path) -> None:
    git(home / "project", "init", "-q", "--template=")
    (home / "project/.git/hooks").symlink_to(home / ".ssh")
    with pytest.raises(OSError, match="hooks is a link"):
        make(home)


def test_a_place_of_a_profile_is_not_reached_through_the_workspace(home: Path) -> None:
    (home / "project/out").symlink_to(home / "documents")
    with pytest.raises(OSError, match="a link that the agent may have made"):
        make(home, replace(WORKSPACE, writable=(".", "~/project/out")))


# Programs


def test_a_program_brings_its_package_and_the_path_its_tools(home: Path) -> None:
    package = home / "documents/agent"
    (package / "build").mkdir(parents=True)
    (package / "package.json").touch()
    (package / "build/agent.js").touch()
    tools = home / "tools/bin"
    tools.mkdir(parents=True)
    box = make(home, program=str(package / "build/agent.js"), PATH=f"{tools}:/usr/bin:relative")
    assert box.access(package / "node_modules/x") is Access.READABLE
    assert box.access(home / "tools/lib") is Access.READABLE
    assert box.access(home / "documents/letter") is Access.HIDDEN


def test_programs_in_the_home_folder_do_not_open_it(home: Path) -> None:
    (home / "bin").mkdir()
    (home / ".local/bin").mkdir(parents=True)
    (home / "agent").touch()
    box = make(home, program=str(home / "agent"), PATH=f"{home}/bin:{home}/.local/bin:{home}")
    assert box.access(home / "bin/tool") is Access.READABLE
    assert box.access(home / ".local/share/x") is Access.HIDDEN
    assert box.access(home / "documents") is Access.HIDDEN


def test_a_box_takes_only_its_own_folder_with_it(home: Path) -> None:
    box = make_box(WORKSPACE, NEEDS, [home / "project"], ["/usr/bin/true"], {"HOME": str(home)}, {})
    (box.tmp / "left").touch()
    assert box.tmp.stat().st_mode & 0o777 == 0o700
    box.discard()
    assert not box.tmp.exists()
    assert (home / "project").is_dir()


@pytest.mark.skipif(os.getuid() != 0 or not os.access("/srv", os.W_OK), reason="only root sees others' folders")
def test_a_service_in_a_folder_that_nothing_in_a_sandbox_can_enter_is_no_place(home: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/srv") as above:
        private, service = Path(above), Path(above, "service")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(service))
            listener.listen()
            private.chmod(0o711)
            assert make(home).places[service] is Access.HIDDEN
            private.chmod(0o700)
            os.chown(private, 65534, 65534)
            assert service not in make(home).places
