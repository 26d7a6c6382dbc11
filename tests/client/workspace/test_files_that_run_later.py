"""Writing a file that runs later always asks, however its path is spelled and whatever the settings are."""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from acp_tui.client.sessions.consent import ALLOW, REFUSE, Grant, Policy
from acp_tui.client.workspace.runs_later import (
    BUILD_FILES,
    HARMLESS,
    HIDDEN,
    IN_A_REPOSITORY,
    OF_YOUR_HOME,
    ON_PATH,
    RUNS_LATER,
    STAYS_EXECUTABLE,
    is_build_file,
    why_it_runs_later,
)
from acp_tui.conversation.tool_calls import TextDiff
from support.agents import SERVING, in_session, until

HOSTILE_PATHS: Final = int(os.environ.get("ACP_TUI_HOSTILE_PATHS", "1000"))
README: Final = Path(__file__).parents[3] / "acp_tui/client/workspace/README.md"
ASKED: Final = (
    *(
        ".git/config",
        ".bazeliskrc",
        ".ocamlinit",
        ".rspec",
        ".rubocop.yml",
        ".git/hooks/pre-commit",
        ".git/info/attributes",
        ".git",
        "sub/.git/config",
        ".gitattributes",
    ),
    *(
        ".git/modules/x/config",
        ".git/worktrees/tree/gitdir",
        ".githooks/pre-push",
        "tools/commit-msg",
        "HEAD",
    ),
    *(
        ".envrc",
        "sub/.envrc",
        ".vscode/tasks.json",
        ".vscode/deep/er.json",
        ".idea/workspace.xml",
        ".zed/tasks.json",
    ),
    *(".nvim.lua", ".exrc", "my.code-workspace", ".mcp.json", ".acp-tui.toml", ".claude/settings.json"),
    *(".gemini/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".bashrc", ".zshrc", ".profile"),
    *(
        ".config/fish/config.fish",
        ".config/systemd/user/x.service",
        ".local/bin/ls",
        ".gitconfig",
        ".ssh/config",
    ),
    *(".ssh/authorized_keys", ".npmrc", ".pypirc", "pip.conf", ".tool-versions", "mise.toml", ".yarnrc.yml"),
    *(".github/workflows/ci.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml"),
    *("Jenkinsfile", ".pre-commit-config.yaml", ".husky/pre-commit", ".husky/_/x", "lefthook.yml"),
    *(
        ".devcontainer/devcontainer.json",
        "node_modules/left-pad/index.js",
        ".venv/bin/python",
        "x/y/site.pth",
    ),
    *("Library/LaunchAgents/x.plist", ".dir-locals.el", ".cargo/config.toml", ".gradle/init.gradle", ".env"),
    *(
        ".envrc.private",
        "rust-analyzer.toml",
        ".luarc.json",
        ".terraform/providers/x",
        ".git-credentials",
        "_netrc",
    ),
    *("gradle/wrapper/gradle-wrapper.properties", ".tmux.conf", ".netrc", ".docker/config.json", "flake.nix"),
)
ASKED_ABOUT_WHOEVER_READS_THEM: Final = (
    *(".bsp/x.json", ".lsp/config.edn", ".pylintrc", ".eslintrc.json", ".zuul.yaml", ".eslintrc.cjs", ".prettierrc"),
    *(".stylelintrc.json", ".babelrc", ".swcrc", ".postcssrc", ".browserslistrc", ".mocharc.yml", ".nycrc", ".taprc"),
    *(".storybook/main.js", ".changeset/config.json", ".release-it.json", ".releaserc", ".versionrc", ".czrc"),
    *(".flake8", ".isort.cfg", ".mypy.ini", ".pytest.ini", ".coveragerc", ".bandit", ".pyre_configuration", ".style"),
    *(".python-version", ".ruby-version", ".rvmrc", ".rbenv-vars", ".pryrc.local", ".irbrc_history", ".standard.yml"),
    *(".clang-tidy", ".clangd", ".ccls", ".gdbinit.local", ".cquery", ".projectile", ".project", ".classpath"),
    *(".settings/org.eclipse.jdt.core.prefs", ".factorypath", ".metals/x", ".bloop/x.json", ".scalafix.conf"),
    *(
        ".sbtrc",
        ".jvmopts.local",
        ".editor/x",
        ".lapce/run.toml",
        ".pulsar/init.js",
        ".kateproject",
        ".sourcekit-lsp/x",
    ),
    *(".swiftlint.yml", ".credo.exs", ".formatter.exs", ".iex.local.exs", ".php-cs-fixer.php", ".phpactor.json"),
    *(".tfsec/config.yml", ".tflint.hcl", ".terragrunt-cache/x", ".envs/local", ".secrets", ".htaccess", ".user.ini"),
    *(".ddev/config.yaml", ".lando.yml", ".okteto/x", ".tilt-dev/x", ".moon/tasks.yml", ".earthly/config.yml", ".nx/x"),
    *(".plzconfig", ".pants.rc", ".bazelversion", ".buckversion", ".gclient", ".repo/manifest.xml", ".gitlab-ci.d/x"),
    *(
        ".harness/x.yaml",
        ".concourse/pipeline.yml",
        ".kokoro/build.sh",
        ".taskcluster.yml",
        ".prow.yaml",
        ".packit.yml",
    ),
    *(".someone-makes-this-tomorrow", "a/.hidden/b.txt", "a/b/.c/d/e/f.md", ".env.production", ".github/.gitignore"),
    *(".gitignore/../.x/y", ".GitIgnore.local", "..config", ".well-known.d/x", "src/.DS_Store.d/x"),
)
"""No list has all the tools that read hidden files, so all of these are asked about."""
ASKED_ABOUT_BY_NAME: Final = (
    *("hie.yaml", "devfile.yaml", "tools/bazel", "pkgx.yaml", "amplify.yml", "pixi.toml", "aqua.yaml", "devenv.yaml"),
    *("appspec.yml", "zuul.yaml", "zuul.d/jobs.yaml", "render.yaml", "railway.toml", "fly.toml", "heroku.yml"),
    *("nixpacks.toml", "wrangler.toml", "wrangler.jsonc", "codeship-steps.yml", "codefresh.yml", "readthedocs.yml"),
    *("snapcraft.yaml", "ci.gocd.yaml", "grumphp.yml", "hk.pkl", "hermit.hcl", "coc-settings.json", "nbproject/x"),
    *("gemini-extension.json", "claude_desktop_config.json", "cline_mcp_settings.json", "poetry.toml", "pdm.toml"),
    *("user.bazelrc", "terraform.rc", "Rprofile.site", "startup.m", "desktop.ini", "autorun.inf", "pam.d/login"),
)
HARMLESS_ONES: Final = (*HARMLESS, *(f"src/{name}" for name in HARMLESS), ".well-known/security.txt")
NOT_ASKED: Final = (
    *("src/main.py", "README.md", "Makefile", "package.json", "pyproject.toml", "conftest.py", "setup.py"),
    *(
        "tests/test_git.py",
        "AGENTS.md",
        "CLAUDE.md",
        ".gitignore",
        ".editorconfig",
        "src/head.py",
        "docs/git",
    ),
    *("Dockerfile", "src/hooks/use-state.ts", "src/config", "github/workflows/ci.yml", "src/user.service.ts"),
    *(
        "a.gitx",
        "my.git.txt",
        "xgit/config",
        "env",
        "vscode/tasks.json",
        "build.rs",
        ".dockerignore",
        "bin/run",
    ),
    *(
        ".claude/worktrees/mine/src/main.py",
        "tsconfig.json",
        "eslint.config.js",
        "local/bin/ls",
        "ssh/config",
    ),
)


# Which files


@pytest.mark.parametrize("path", [*ASKED, *ASKED_ABOUT_BY_NAME])
def test_these_files_run_later(path: str, tmp_path: Path) -> None:
    assert why_it_runs_later(f"{tmp_path}/{path}", tmp_path / path)


@pytest.mark.parametrize("path", ASKED_ABOUT_WHOEVER_READS_THEM)
def test_whatever_is_hidden_is_asked_about_and_that_is_the_reason(path: str, tmp_path: Path) -> None:
    assert why_it_runs_later(f"{tmp_path}/{path}", tmp_path / "innocent") == HIDDEN
    assert why_it_runs_later(f"{tmp_path}/innocent", tmp_path / path) == HIDDEN


@pytest.mark.parametrize("path", [*HARMLESS_ONES, *NOT_ASKED])
def test_a_hidden_file_that_is_only_data_and_what_you_start_yourself_are_not(path: str, tmp_path: Path) -> None:
    assert why_it_runs_later(f"{tmp_path}/{path}", tmp_path / path) is None


def test_the_folder_where_you_work_may_be_hidden_and_what_is_hidden_in_it_counts(tmp_path: Path) -> None:
    for root in (tmp_path / ".work/project", tmp_path / ".work"):
        root.mkdir(parents=True, exist_ok=True)
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(root)
        for spelled, folder in ((root, root), (tmp_path / "link", tmp_path / "link")):
            assert why_it_runs_later(f"{spelled}/src/main.py", root / "src/main.py", [folder]) is None
            assert why_it_runs_later(f"{spelled}/.new/main.py", root / ".new/main.py", [folder]) == HIDDEN
            assert why_it_runs_later(f"{spelled}/../.other/x", root / "../.other/x", [folder]) == HIDDEN
    project = tmp_path / ".work/project"
    assert why_it_runs_later(f"{project}/main.py", project / "main.py", [tmp_path]) == HIDDEN


async def test_the_session_says_where_you_work(tmp_path: Path) -> None:
    root = tmp_path / ".work"
    root.mkdir()
    async with in_session(root, policy=SERVING) as (session, wire):
        await write(wire, root / "main.py", "fine")
        assert "result" in await wire.receive()
        await write(wire, root / ".new")
        await until(session, lambda: bool(session.conversation.permissions))
        [request] = session.conversation.permissions.values()
        assert HIDDEN in (request.note or "")
        session.answer_permission(request.key, REFUSE.option_id)
        assert "error" in await wire.receive()


def test_a_worktree_of_an_agent_has_files_that_run_later_as_well(tmp_path: Path) -> None:
    for path in (
        ".claude/worktrees/mine/.envrc",
        ".claude/worktrees/mine/.git",
        ".git/worktrees/mine/config",
    ):
        assert why_it_runs_later(f"{tmp_path}/{path}", tmp_path / path)


def test_a_repository_is_known_by_what_is_in_it_whatever_it_is_called(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for folder in ("objects", "refs", "hooks"):
        (store / folder).mkdir(parents=True)
    for name in ("config", "hooks/anything", "info/attributes"):
        assert why_it_runs_later(str(store / name), store / name) is None
    (store / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("config", "hooks/anything", "info/attributes"):
        assert why_it_runs_later(str(store / name), store / name) == IN_A_REPOSITORY


def test_a_folder_of_programs_is_known_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "link").symlink_to("tools")
    monkeypatch.setenv("PATH", f"relative:{tmp_path}/link:{os.environ['PATH']}")
    assert why_it_runs_later(f"{tmp_path}/tools/ls", (tmp_path / "tools/ls").resolve()) == ON_PATH
    assert why_it_runs_later(f"{tmp_path}/other/ls", (tmp_path / "other/ls").resolve()) is None


@pytest.mark.parametrize("spelled", [".wezterm.lua", ".NEWTOOL/conf", "./.x/../.newrc", "Library/Services/x"])
def test_whatever_is_hidden_in_your_home_is_some_programs_setting(
    spelled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    for home in ("home", "link"):
        monkeypatch.setenv("HOME", str(tmp_path / home))
        leads_to = tmp_path / "home" / os.path.normpath(spelled)
        assert why_it_runs_later(f"{tmp_path}/home/{spelled}", leads_to) == OF_YOUR_HOME
        assert why_it_runs_later(f"{tmp_path}/elsewhere", leads_to) == OF_YOUR_HOME


def test_what_is_seen_at_home_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("src/main.py", "src/.gitignore", ".claude/worktrees/mine/main.py"):
        assert why_it_runs_later(f"{tmp_path}/{path}", tmp_path / path) is None


def disguised(path: str, chance: random.Random) -> str:
    """The path in spellings that a file system may treat as the same, below any folders."""
    ways = [
        str.upper,
        str.title,
        str.swapcase,
        lambda name: unicodedata.normalize("NFD", name),
        lambda name: "".join(chr(ord(each) + 0xFEE0) if "a" <= each <= "z" else each for each in name),  # full width
        lambda name: name[:1] + chance.choice("\u200c\u200b\u2060\ufeff\u00ad") + name[1:],
        lambda name: name.replace("s", "\u017f").replace("k", "\u212a"),
        lambda name: name + chance.choice([".", "..", " ", ". ", "::$INDEX_ALLOCATION"]),
    ]
    names = path.split("/")
    at = chance.randrange(len(names))
    names[at] = chance.choice(ways)(names[at])
    joined = chance.choice(["/", "//", "/./"]).join(names)
    before = chance.choices(["", "sub/", "a/b/c/", "x y/", ".hidden/", "missing/../", "ä/"], k=chance.randint(0, 2))
    return "".join(before) + joined


def test_no_disguise_of_generated_ones_goes_unnoticed() -> None:
    chance = random.Random(20261122)
    for _ in range(HOSTILE_PATHS):
        path = "/w/" + disguised(chance.choice(ASKED), chance)
        assert why_it_runs_later(path, Path("/w/innocent")), path
        assert why_it_runs_later("/w/innocent", Path(path)), path


def generated_from_the_list(chance: random.Random) -> Iterator[str]:
    """A path for every pattern, with its wildcards filled in."""
    for entry in RUNS_LATER:
        for pattern in entry.patterns:
            name = pattern.replace("[0-9]", str(chance.randrange(10)))
            name = re.sub(r"\*", lambda _: chance.choice(["w", "x", "local.y"]), name)
            yield name + (chance.choice(["x", "deep/er/x"]) if pattern.endswith("/") else "")


def test_every_pattern_of_the_list_finds_what_it_means() -> None:
    chance = random.Random(20261122)
    for _ in range(max(1, HOSTILE_PATHS // 500)):
        for name in generated_from_the_list(chance):
            path = name if name.startswith("/") else f"/w/{name}"
            assert why_it_runs_later(path, Path("/w/innocent")), path


def test_the_documentation_has_the_whole_list() -> None:
    rows = [f"| {entry.reason} | {' '.join(f'`{each}`' for each in entry.patterns)} |" for entry in RUNS_LATER]

    assert [row for row in rows if row not in README.read_text()] == [], "\n".join(rows)
    assert HIDDEN in README.read_text()
    assert [name for name in HARMLESS if f"`{name}`" not in README.read_text()] == []


# Build files


@pytest.mark.parametrize(
    "path",
    [
        *(
            "package.json",
            "a/conftest.py",
            "pyproject.toml",
            "setup.py",
            "Makefile",
            "makefile.win",
            "Dockerfile.dev",
        ),
        *("compose.yaml", "docker-compose.override.yml", "justfile", "Taskfile.yml", "tox.ini", "noxfile.py"),
        *(
            "crate/build.rs",
            "build.gradle.kts",
            "CMakeLists.txt",
            "PACKAGE.JSON",
            "C:\\x\\Makefile",
            "setup.py. ",
        ),
        *("vite.config.ts", "main.tf", "requirements-dev.txt", "Jenkinsfile.mk"),
    ],
)
def test_what_runs_in_a_build_is_marked(path: str) -> None:
    assert is_build_file(path)


@pytest.mark.parametrize("path", ["src/main.py", "README.md", "make.py", "package.jsonx", "test_setup.py", "Make/x"])
def test_what_does_not_is_no_build_file(path: str) -> None:
    assert not is_build_file(path)


def test_a_name_for_every_pattern_of_build_files_is_found_and_is_documented() -> None:
    text = README.read_text()
    for name in BUILD_FILES.split():
        assert is_build_file("a/" + name.replace("*", "x"))
        assert f"`{name}`" in text


async def test_writing_a_build_file_is_not_asked_about(tmp_path: Path) -> None:
    async with in_session(tmp_path, policy=Policy(write=Grant.ON)) as (session, wire):
        await write(wire, tmp_path / "package.json", "{}")
        assert "result" in await wire.receive()
        assert session.conversation.permissions == {}
    assert (tmp_path / "package.json").read_text() == "{}"


# As an agent sees it


async def write(wire: Any, path: Path | str, content: str = "evil") -> None:
    about = {"sessionId": "s1", "path": str(path), "content": content}
    await wire.send({"jsonrpc": "2.0", "id": 1, "method": "fs/write_text_file", "params": about})


@pytest.mark.parametrize("path", [".git/config", ".envrc", ".github/workflows/ci.yml", ".GIT/Hooks/x", "new/.mcp.json"])
async def test_the_user_is_asked_with_the_reason_though_writing_is_on(tmp_path: Path, path: str) -> None:
    async with in_session(tmp_path, policy=Policy(write=Grant.ON)) as (session, wire):
        for answer, is_written in ((REFUSE, False), (ALLOW, True), (REFUSE, True)):  # allowed means allowed once
            await write(wire, tmp_path / path)
            await until(session, lambda: bool(session.conversation.permissions))
            [request] = session.conversation.permissions.values()
            assert "it can run later on its own: " in (request.note or "")
            (shown,) = session.conversation.tool_call(request.tool_call_id).call.content
            assert isinstance(shown, TextDiff)
            assert shown.new_text == "evil"
            session.answer_permission(request.key, answer.option_id)
            assert ("result" in await wire.receive()) == (answer is ALLOW)
            assert (tmp_path / path).exists() == is_written


async def test_a_link_to_such_a_file_is_asked_about_and_so_is_one_of_its_name(tmp_path: Path) -> None:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "folder").symlink_to(".git/hooks")
    (tmp_path / "file").symlink_to(".git/config")
    (tmp_path / ".envrc").symlink_to("plain")
    async with in_session(tmp_path) as (session, wire):
        for path in ("folder/x", "file", ".envrc", "folder/../hooks/y", "./.git//config"):
            await write(wire, f"{tmp_path}/{path}")
            await until(session, lambda: bool(session.conversation.permissions))
            [request] = session.conversation.permissions.values()
            session.answer_permission(request.key, REFUSE.option_id)
            assert "error" in await wire.receive()
    assert not any((tmp_path / name).exists() for name in (".git/hooks/x", ".git/config", "plain", ".git/hooks/y"))


async def test_that_a_hook_can_be_run_is_said_and_a_new_one_cannot(tmp_path: Path) -> None:
    hooks = tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("true")
    (hooks / "pre-commit").chmod(0o755)
    async with in_session(tmp_path) as (session, wire):
        for name, is_executable in (("pre-commit", True), ("pre-push", False)):
            await write(wire, hooks / name)
            await until(session, lambda: bool(session.conversation.permissions))
            [request] = session.conversation.permissions.values()
            assert (STAYS_EXECUTABLE in (request.note or "")) == is_executable
            session.answer_permission(request.key, ALLOW.option_id)
            assert "result" in await wire.receive()
            assert os.access(hooks / name, os.X_OK) == is_executable


async def test_reading_such_a_file_and_writing_others_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / ".envrc").write_text("x")
    async with in_session(tmp_path, policy=Policy(write=Grant.ON)) as (session, wire):
        about = {"sessionId": "s1", "path": str(tmp_path / ".envrc")}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": about})
        assert (await wire.receive())["result"]["content"] == "x"
        await write(wire, tmp_path / "src/main.py", "fine")
        assert "result" in await wire.receive()
        assert not session.conversation.permissions
    assert (tmp_path / "src/main.py").read_text() == "fine"
