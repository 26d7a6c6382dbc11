"""None of our calls makes git run what a repository configures, whatever is planted and however fast it is swapped."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import pytest

from acp_tui.client.changes.tracker import ChangeTracker
from acp_tui.client.completion.workspace_files import list_files
from acp_tui.client.safe_git import GitFailed, ask_git
from acp_tui.workbench.redact import full_names
from support.waiting import LIMIT_S

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")

FLIPS: Final = int(os.environ.get("ACP_TUI_GIT_FLIPS", "10"))
"""Reads a repository while its configuration is being swapped."""
SOURCE: Final = Path(__file__).parents[2] / "acp_tui"
NAMES_OF_GIT: Final = {
    "client/safe_git.py": "the door itself",
    "client/doctor.py": "asks the program for its version only",
    "client/sandbox/defaults.py": "a folder of its settings",
    "workbench/redact/pseudonyms.py": "a user's name in ssh addresses",
}
STARTS_A_PROGRAM: Final = re.compile(
    r"open_process\(|run_process\(|Popen\(|subprocess\.(run|call|check_)|create_subprocess|os\.(exec|spawn|popen|system)"
    r"|posix_spawn\("
)
STARTERS: Final = {
    "cli/leaving.py": "itself, to show a session that it has left",
    "client/hosting/finding.py": "itself, to host a session again",
    "client/agents/channel.py": "the command that prints a token, from agents.toml",
    "client/agents/terminal_login.py": "an agent's own login",
    "client/sandbox/engines.py": "bubblewrap, about its version and whether it works",
    "client/sandbox/proof.py": "a process of our own that a sandbox must not end",
    "client/clipboard.py": "the system's clipboard",
    "client/desktop.py": "the same, and tmux's buffer",
    "client/doctor.py": "programs, for their versions, and tmux, about its options",
    "client/processes/guard.py": "the guardian, which is ours",
    "client/processes/table.py": "ps",
    "client/safe_git.py": "git",
    "client/processes/launcher.py": "the agents that the user starts, and commands in terminals",
    "demo/version_two.py": "the demo agent's own commands, as its scenario has them",
    "client/user_programs.py": "the user's own, for notices and the status line",
    "ui/kit/desktop.py": "the user's editor",
    "cli/plain/__init__.py": "the same",
}
HOOKS: Final = (
    *("applypatch-msg", "post-applypatch", "post-checkout", "post-commit", "post-index-change", "post-merge"),
    *("post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push"),
    *("pre-rebase", "prepare-commit-msg", "reference-transaction", "sendemail-validate", "update"),
    *("fsmonitor-watchman", "query-watchman", "virtual-filesystem", "pre-command", "post-command"),
)
# Each key's value is a command that creates a file with the key's name.
COMMAND_KEYS: Final = (
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.lfs.clean"),
    *("filter.lfs.process", "filter.a=b.clean", "diff.external", "diff.evil.command", "diff.evil.textconv"),
    *("merge.evil.driver", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
    *("core.gitProxy", "core.alternateRefsCommand", "core.virtualFilesystem", "sequence.editor"),
    *("credential.helper", "credential.https://example.invalid.helper", "gpg.program", "gpg.ssh.program"),
    *("gpg.x509.program", "gpg.ssh.defaultKeyCommand", "uploadpack.packObjectsHook", "man.evil.cmd"),
    *("browser.evil.cmd", "web.browser", "interactive.diffFilter", "trailer.evil.command"),
    *(
        "trailer.evil.cmd",
        "difftool.evil.cmd",
        "mergetool.evil.cmd",
        "sendemail.smtpServer",
        "init.templateDir",
    ),
    *("remote.evil.uploadpack", "remote.evil.receivepack", "remote.evil.vcs", "instaweb.httpd"),
    *(f"alias.{name}" for name in ("ls-files", "rev-parse", "cat-file", "check-attr", "check-ignore")),
    *(f"pager.{name}" for name in ("ls-files", "rev-parse", "cat-file", "check-attr", "check-ignore", "config")),
)
FILE_KEYS: Final = ("trace2.eventTarget", "trace2.normalTarget", "trace2.perfTarget")
ATTRIBUTES: Final = "* filter=evil diff=evil merge=evil ident text=auto eol=crlf\n*.lfs filter=lfs\n"


class Plant:
    """A repository with every kind of trap, and the folder where a sprung trap leaves its name."""

    def __init__(self, base: Path) -> None:
        self.root = base / "root"
        self.sprung = base / "sprung"
        for folder in (self.root / "sub", self.sprung):
            folder.mkdir(parents=True)
        for name in ("clean", "sub/clean", "large.lfs"):
            (self.root / name).write_bytes(b"one\ntwo\n")
        (self.root / ".gitattributes").write_text(ATTRIBUTES)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "first")
        self.harmless = (self.root / ".git/config").read_text()
        (base / "included").write_text(self._configuration("included."))
        self.hostile = (
            self.harmless
            + self._configuration()
            + f'[include]\n\tpath = {base}/included\n[includeIf "gitdir:/**"]\n\tpath = {base}/included\n'
            '[filter "evil"]\n\trequired = true\n'
            f"[core]\n\thooksPath = {self.root}/.git/evil-hooks\n\tattributesFile = {base}/attributes\n"
            "[extensions]\n\tpartialClone = evil\n\tworktreeConfig = true\n"
            '[remote "evil"]\n\tpromisor = true\n'
            f"\turl = ext::touch% {self.sprung}/promisor\n\tpartialclonefilter = blob:none\n"
        )
        self.hostile_by_clean = self.harmless + self._configuration(but=("process", "vcs"))
        """Without what fails before anything else can."""
        (base / "attributes").write_text(ATTRIBUTES)
        (self.root / ".git/info/attributes").write_text(ATTRIBUTES)
        (self.root / ".git/config.worktree").write_text(self._configuration("worktree."))
        for folder in ("hooks", "evil-hooks"):
            for hook in HOOKS:
                self.script(self.root / ".git" / folder / hook, f"hook.{hook}")

    def git(self, *words: str) -> None:
        """Call git as a user would."""
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, timeout=LIMIT_S)

    def configure(self, text: str) -> None:
        """Replace the current configuration with another."""
        (self.root / ".git/config.new").write_text(text)
        (self.root / ".git/config.new").replace(self.root / ".git/config")

    def unsettle(self) -> None:
        """Leave git only contents to tell what has changed."""
        for name in ("clean", "sub/clean", "large.lfs"):
            os.utime(self.root / name)
        os.utime(self.root / ".git/index", (1, 1))

    def lose_a_blob(self) -> None:
        """What a partial clone would fetch."""
        told = subprocess.run(
            ["git", "rev-parse", "HEAD:clean"], cwd=self.root, check=True, capture_output=True, text=True
        )
        blob = told.stdout.strip()
        (self.root / ".git/objects" / blob[:2] / blob[2:]).unlink()

    def names(self) -> set[str]:
        """The sprung traps."""
        return {path.name for path in self.sprung.iterdir()}

    def _configuration(self, prefix: str = "", but: Sequence[str] = ()) -> str:
        lines = []
        for key in COMMAND_KEYS:
            section, _, rest = key.partition(".")
            subsection, _, name = rest.rpartition(".")
            if name in but:
                continue
            heading = f'[{section} "{subsection}"]' if subsection else f"[{section}]"
            script = self.script(self.sprung.parent / "traps" / f"{prefix}{key}".replace("/", "_"), prefix + key)
            is_shell = section == "alias"
            lines.append(f'{heading}\n\t{name} = "{"!" if is_shell else ""}{script}"\n')
        for key in FILE_KEYS:
            section, _, name = key.partition(".")
            lines.append(f"[{section}]\n\t{name} = {self.sprung}/{prefix}{key}\n")
        return "".join(lines)

    def script(self, path: Path, name: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        canary = self.sprung / name.replace("/", "_")
        path.write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    return Plant(tmp_path)


async def look_at_everything(root: Path) -> None:
    """Everything we ever ask of git in a folder."""
    with anyio.fail_after(LIMIT_S):
        await list_files(root)
        tracker = ChangeTracker(root)
        async with anyio.create_task_group() as tasks:
            await tasks.start(tracker.run)
            (root / "clean").write_bytes(b"one\n2\n")
            (root / "new").write_bytes(b"x\n")
            await tracker.rescan()
            for path in ("clean", "sub/clean", "large.lfs"):
                await tracker.review(path)
            tasks.cancel_scope.cancel()
    await full_names(os.environ)


def test_the_traps_are_sprung_by_git_as_a_user_calls_it(plant: Plant) -> None:
    """Otherwise the other tests here could not fail."""
    for text in (plant.hostile, plant.hostile_by_clean):
        plant.configure(text)
        plant.unsettle()
        for words in (
            ["diff-files"],
            ["cat-file", "--textconv", "HEAD:clean"],
            ["status"],
            ["commit", "-am", "x"],
        ):
            with suppress(subprocess.SubprocessError):
                plant.git(*words)
    sprung = {name.removeprefix("worktree.").removeprefix("included.") for name in plant.names()}
    wanted = {"core.fsmonitor", "filter.evil.process", "filter.evil.clean", "diff.evil.textconv"}
    assert wanted <= sprung
    assert any(name.startswith("hook.") for name in sprung)


@pytest.mark.parametrize("by", ["hostile", "hostile_by_clean"])
async def test_nothing_that_is_planted_is_run(plant: Plant, by: str) -> None:
    plant.configure(getattr(plant, by))
    plant.unsettle()
    await look_at_everything(plant.root)
    plant.lose_a_blob()
    await look_at_everything(plant.root)
    assert plant.names() == set()


async def test_nothing_is_run_of_a_configuration_that_is_swapped_all_the_time(plant: Plant) -> None:
    """Like an agent that may write files: what is checked before a call appears only after it."""
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            for text in (plant.hostile, plant.harmless, plant.hostile_by_clean):
                plant.configure(text)
                (plant.root / ".gitattributes").write_text(ATTRIBUTES if text != plant.harmless else "")

    swapper = threading.Thread(target=swap, daemon=True)
    swapper.start()
    try:
        for _ in range(FLIPS):
            (plant.root / "clean").write_bytes(b"one\ntwo\n")
            plant.unsettle()
            await look_at_everything(plant.root)
    finally:
        is_over.set()
        swapper.join(10)
    assert plant.names() == set()


@pytest.mark.parametrize("kind", ["gitdir file", "worktree", "core.worktree", "bare", "submodule"])
async def test_nothing_is_run_wherever_the_configuration_stands(plant: Plant, kind: str) -> None:
    plant.unsettle()
    folder = plant.root
    if kind == "gitdir file":
        (plant.root / ".git").rename(plant.root.parent / "elsewhere")
        (plant.root / ".git").write_text(f"gitdir: {plant.root.parent}/elsewhere\n")
        (plant.root.parent / "elsewhere/config").write_text(plant.hostile)
    elif kind == "worktree":
        folder = plant.root.parent / "tree"
        plant.git("-c", "core.hooksPath=/dev/null", "worktree", "add", "-q", str(folder))
        plant.configure(plant.hostile)
    elif kind == "core.worktree":
        plant.configure(f"{plant.hostile}[core]\n\tworktree = /\n")
    elif kind == "bare":
        folder = plant.root.parent / "bare"
        (plant.root / ".git").rename(folder)
        (folder / "config").write_text(plant.hostile.replace("bare = false", "bare = true"))
    else:
        folder = plant.root.parent / "outer"
        folder.mkdir()
        subprocess.run(["git", "init", "-q", folder], check=True, capture_output=True)
        shutil.copytree(plant.root, folder / "inner", symlinks=True)
        shutil.copytree(plant.root / "sub", folder / "sub")
        (folder / "inner/.git/config").write_text(plant.hostile)
        (folder / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\tupdate = !touch x\n')
    await look_at_everything(folder)
    assert plant.names() == set()


async def test_no_variable_of_gits_own_and_no_relative_folder_counts(
    plant: Plant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = plant.script(plant.root / "git", "git")
    plant.script(tmp_path / "exec/git-ls-files", "exec-path")
    for name in (
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_PROXY_COMMAND",
    ):
        monkeypatch.setenv(name, str(fake))
    monkeypatch.setenv("GIT_EXEC_PATH", str(tmp_path / "exec"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(fake))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor={fake}'")
    monkeypatch.setenv("GIT_TRACE", str(plant.sprung / "trace"))
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(plant.sprung / "trace2"))
    monkeypatch.setenv("GIT_REDIRECT_STDERR", str(plant.sprung / "stderr"))
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    monkeypatch.chdir(plant.root)
    await look_at_everything(plant.root)
    assert plant.names() == set()


async def test_git_traces_into_no_file_from_any_configuration(
    plant: Plant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Git takes these from the user's own file, which an agent may have written if the home is its workspace."""
    user = tmp_path / "user"
    user.write_text("".join(f"[trace2]\n\t{key[7:]} = {plant.sprung}/{key}\n" for key in FILE_KEYS))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
    subprocess.run(["git", "ls-files"], cwd=plant.root, check=True, capture_output=True)
    assert plant.names() == set(FILE_KEYS)  # so that the following can fail
    for name in FILE_KEYS:
        (plant.sprung / name).unlink()
    await look_at_everything(plant.root)
    assert plant.names() == set()


async def test_a_repository_whose_files_never_end_is_given_up(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(plant.root / ".git/objects/info/alternates")
    monkeypatch.setattr("acp_tui.client.safe_git.LIMIT_S", 0.2)
    with pytest.raises(GitFailed, match="longer than"):
        await ask_git(plant.root, "cat-file", "--batch", question=b"1" * 40 + b"\n")


# The only entry point


def calls(count: int) -> Iterator[list[str]]:
    """Calls of any subcommand with any options; the same in every run."""
    chance = random.Random(20261122)
    told = subprocess.run(["git", "--list-cmds=builtins"], check=True, capture_output=True, text=True)
    commands = [
        *told.stdout.split(),
        "",
        "-c",
        "--exec-path=/tmp",
        "evil",
        "LS-FILES",
        "ls-files ",
        "--paginate",
    ]
    options = [
        *("--filters", "--textconv", "--batch-command", "--batch-check", "--batch=%(objectname)", "-m", "-d"),
        *("--modified", "--deleted", "--recurse-submodules", "-c", "core.fsmonitor=x", "--ext-diff", "-w"),
        *(
            "--upload-pack=x",
            "--exec=x",
            "--local",
            "--file=x",
            "--path=x",
            "--edit",
            "--debug",
            "-z",
            "--stdin",
        ),
    ]
    for _ in range(count):
        yield [chance.choice(commands), *chance.choices(options, k=chance.randint(1, 3))]


DANGEROUS: Final = frozenset(
    {"--filters", "--textconv", "-m", "-d", "--modified", "--deleted", "--recurse-submodules", "-c", "-w"}
)


HARMLESS: Final = frozenset(
    {
        *("ls-files", "rev-parse", "cat-file", "check-attr", "check-ignore", "config"),
        *("ls-tree", "read-tree", "update-ref"),
    }
)


async def test_calls_that_could_run_a_program_are_not_made(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    async def record(line: list[str], **_: object) -> None:
        called.append(line)
        raise OSError("not run")

    monkeypatch.setattr(anyio, "open_process", record)
    for words in calls(2_000):
        with suppress(ValueError, GitFailed):
            await ask_git(plant.root, *words)
    ours = [line[line.index("submodule.recurse=false") + 1 :] for line in called]
    assert ours  # some of them are harmless
    for words in ours:
        assert DANGEROUS.isdisjoint(words) or words[:2] == ["update-ref", "-d"]
        assert set(words) & HARMLESS


def test_worktrees_are_only_made_without_a_checkout_and_removed_without_a_look() -> None:
    for words in (
        ["worktree", "add", "x"],
        ["worktree add", "x"],
        ["worktree remove", "x"],
        ["merge-file", "a"],
    ):
        with pytest.raises(ValueError, match="git must not be called like this"):
            anyio.run(ask_git, Path("/"), *words)


def test_nobody_else_names_git_and_all_who_start_programs_are_known() -> None:
    naming, starting = set(), set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text()
        name = str(file.relative_to(SOURCE))
        if '"git"' in text or '/git"' in text:
            naming.add(name)
        if STARTS_A_PROGRAM.search(text):
            starting.add(name)
    assert naming == NAMES_OF_GIT.keys()
    assert starting == STARTERS.keys()
