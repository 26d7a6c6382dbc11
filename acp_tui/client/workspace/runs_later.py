"""Files that run later without being asked for, and files that run when the project is built, tested, or started.

The first kind is, for example, a hook, a shell profile, an editor task, or a CI step. Hidden files count, except a few
that are only data (`HARMLESS`), since no list has all the tools that read them; of the others there is a list
(`RUNS_LATER`). Both are in this folder's README. Code that serves a write must ask the user about each of these files,
whatever the settings. The limit is code that the user starts: a Makefile, a test, or a build script is part of the
project, and writing it is an agent's job. Files of the second kind are only marked where a change is shown
(`is_build_file`). Files are judged by name and place, not by content.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path
from posixpath import basename
from typing import Final, TypeAlias

from acp_tui.values import dataclass

Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunsLater:
    """Files that run on the same occasion."""

    reason: str
    """What runs them, to follow "it can run later: "."""
    listed: str
    """Patterns separated by blanks.

    Each consists of names joined by `/`, possibly with wildcards, and matches at any depth. With a `/` at the end, it
    matches everything in that folder.
    """

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(self.listed.split())


RUNS_LATER: Final = (
    RunsLater("version control runs the hooks and programs it names", "git~[0-9]/ HEAD"),
    RunsLater(
        "git runs hooks with that name",
        """
        applypatch-msg commit-msg fsmonitor-watchman p4-* post-applypatch post-checkout post-commit
        post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc
        pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive
        push-to-checkout reference-transaction sendemail-validate
        """,
    ),
    RunsLater(
        "a git hook manager runs the commands in it",
        """
        lefthook*.*ml lefthook*.json simple-git-hooks.* lint-staged.config.* captainhook.json grumphp.y*ml hk.pkl
        prek.toml
        """,
    ),
    RunsLater(
        "it is loaded when a shell enters the folder or an environment starts",
        """
        flake.nix shell.nix devenv.nix devenv*.y*ml devenv.local.nix devbox.json devfile.y*ml mise.toml mise.*.toml
        mise/config*.toml pkgx.y*ml tea.y*ml pixi.toml aqua.y*ml hermit.hcl daytona.y*ml coder.y*ml venv/bin/
        node_modules/
        """,
    ),
    RunsLater(
        "editors run tasks and code from it when they open the folder",
        """
        *.code-workspace *.sublime-project _vimrc _gvimrc _exrc coc-settings.json hie.y*ml rust-analyzer.toml
        devcontainer.json nbproject/
        """,
    ),
    RunsLater(
        "agents read servers, hooks, and permissions from it",
        "mcp.json *mcp_settings.json claude_desktop_config.json gemini-extension.json crush.json opencode.json*",
    ),
    RunsLater(
        "CI runs it, often with secrets",
        """
        Jenkinsfile* azure-pipelines*.y*ml bitbucket-pipelines.y*ml appveyor.y*ml cloudbuild.* buildspec*.y*ml
        appspec.y*ml amplify.y*ml apprunner.y*ml codemagic.y*ml codefresh.y*ml codeship-*.y*ml bitrise.y*ml
        renovate.json* netlify.toml vercel.json wrangler.toml wrangler.json* render.y*ml railway.json railway.toml
        nixpacks.toml heroku.y*ml fly.toml screwdriver.y*ml dagger.json ci_scripts/ wercker.y*ml circle.y*ml
        shippable.y*ml readthedocs.y*ml zuul.y*ml zuul.d/ *.gocd.y*ml packit.y*ml snapcraft.y*ml
        """,
    ),
    RunsLater("a shell runs it when it starts or ends", "profile.d/ *profile.ps1"),
    RunsLater(
        "the system runs it at login, on a schedule, or at startup",
        """
        *.desktop autostart/ systemd/ *.service *.timer LaunchAgents/ LaunchDaemons/ crontab crontabs/ cron.*/
        rc.local init.d/ sudoers sudoers.d/ pam.d/ authorized_keys* environment.d/ ld.so.preload ld.so.conf*
        ld.so.conf.d/ autorun.inf desktop.ini /etc/
        """,
    ),
    RunsLater(
        "package managers read their sources, hooks, and programs from it",
        """
        pnpmfile.* bunfig.toml pip.conf pip.ini uv.toml poetry.toml pdm.toml condarc rust-toolchain*
        gradle/wrapper/ init.gradle* nuget.config dotnet-tools.json vcpkg-configuration.json
        """,
    ),
    RunsLater(
        "a tool runs its commands or sends credentials to addresses in it",
        """
        tools/bazel *.bazelrc _netrc ansible.cfg terraform.rc Rprofile.site Renviron.site startup.m
        Library/Application?Support/
        """,
    ),
    RunsLater(
        "Python runs it whenever it starts",
        """
        sitecustomize.py usercustomize.py *.pth pyvenv.cfg site-packages/ dist-packages/
        """,
    ),
)
"""In the order in which to look for a reason. Hidden names aren't here: whatever is hidden is asked about.

A file HEAD with two folders beside it makes its folder a git repository.
"""

HARMLESS: Final = (
    *(".gitignore", ".gitkeep", ".keep", ".mailmap", ".git-blame-ignore-revs", ".hgignore", ".editorconfig"),
    *(".ignore", ".rgignore", ".fdignore", ".dockerignore", ".containerignore", ".prettierignore", ".eslintignore"),
    *(".stylelintignore", ".npmignore", ".vscodeignore", ".helmignore", ".gcloudignore", ".clang-format", ".nvmrc"),
    *(".node-version", ".nojekyll", ".well-known", ".env.example", ".env.sample", ".env.template"),
)
"""Hidden names that are only data for whatever reads them: nothing in them names a program, a module, or an address.

`.gitattributes` isn't one, since it applies the filters and drivers that git's settings name; nor is
`.python-version`, which may be a path to an interpreter.
"""

HIDDEN: Final = "it is hidden or in a hidden folder, where tools look for settings and commands without being asked"
OF_YOUR_HOME: Final = "programs read settings and commands from hidden files in your home folder"
IN_A_REPOSITORY: Final = "its folder is a git repository, and git runs its hooks and programs"
ON_PATH: Final = "your shell looks for programs in its folder"
STAYS_EXECUTABLE: Final = "The file is executable and stays executable."


_WORKTREES: Final = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf"})
"""Folders of agents in which `worktrees/NAME` is an ordinary workplace."""


def why_it_runs_later(asked: str, leads_to: Path, folders: Sequence[Path] = ()) -> str | None:
    """What runs a file later, as the end of a sentence; None for all others. Accesses the disk.

    `asked` is the path as spelled; `leads_to` is its target, with links followed. That one of `folders`, where the user
    works, is hidden itself doesn't matter.
    """
    paths = asked, str(leads_to)
    both = [_in_worktree(_names(path)) for path in paths]
    spelled = [f"/{'/'.join(names)}" for names in both]
    for entry, pattern in _compiled():
        if any(map(pattern.search, spelled)):
            return entry.reason
    if any(map(_is_hidden_at_home, both)):
        return OF_YOUR_HOME
    workplaces = [_names(each) for folder in folders for each in (str(folder), os.path.realpath(folder))]
    if any(map(_is_hidden, (name for names in both for name in _below(names, workplaces)))):
        return HIDDEN
    if any(map(_is_repository, leads_to.parents)):
        return IN_A_REPOSITORY
    programs = (each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if each.startswith("/"))
    return ON_PATH if any(os.path.realpath(each) == str(leads_to.parent) for each in programs) else None


@cache
def _compiled() -> tuple[tuple[RunsLater, re.Pattern[str]], ...]:
    return tuple((entry, re.compile("|".join(map(_expression, entry.patterns)))) for entry in RUNS_LATER)


def _expression(pattern: str) -> str:
    """A pattern for a path as normalized by `_names`, with a slash before each name."""
    names = re.escape("/".join(_names(pattern))).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    start = "^/" if pattern.startswith("/") else "/"
    return start + names.replace(r"\[0\-9\]", "[0-9]") + ("(?:/|$)" if pattern.endswith("/") else "$")


def _names(path: str) -> Names:
    """The names of a path as the most permissive file system would read them.

    Case-folded, normalized, without invisible characters (HFS+ ignores them), and without dots, blanks, and streams at
    the end (like Windows). Asking once too often is harmless.
    """
    return tuple(name for each in path.split("/") if (name := _plain(each)) not in ("", "."))


def _in_worktree(names: Names) -> Names:
    """The names below the last worktree that an agent has created in its own folder."""
    for at in range(len(names) - 2, 0, -1):
        if names[at] == "worktrees" and names[at - 1] in _WORKTREES:
            return names[at + 2 :]
    return names


def _plain(name: str) -> str:
    if not name.isascii():
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        name = "".join(each for each in folded if unicodedata.category(each) not in ("Cf", "Mn"))
    name = name.lower()
    stripped = name.partition(":")[0].rstrip(" .")
    return stripped or name


def _below(names: Names, folders: Iterable[Names]) -> Names:
    """The names below the deepest of these folders, or all of them."""
    above = max((len(folder) for folder in folders if names[: len(folder)] == folder), default=0)
    return names[above:]


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name != ".." and name not in HARMLESS


def _is_hidden_at_home(names: Names) -> bool:
    """Whether the path goes through a hidden name directly in the home folder. No list contains all programs' files."""
    for home in {os.path.expanduser("~"), os.path.realpath(os.path.expanduser("~"))}:  # noqa: PTH111 - text
        above = _names(home)
        below = names[len(above) :]
        if above and below and names[: len(above)] == above:
            return _is_hidden(below[0]) or below[0] == "library"
    return False


def _is_repository(folder: Path) -> bool:
    """Whether git would treat the folder as a repository, whatever its name."""
    return os.path.lexists(folder / "HEAD") and ((folder / "objects").is_dir() or os.path.lexists(folder / "commondir"))


BUILD_FILE: Final = "build file"
"""The mark."""
BUILD_FILE_MEANS: Final = "a build file: it runs when you or the agent builds, tests, or starts the project"

BUILD_FILES: Final = """
Makefile* GNUmakefile *.mk justfile .justfile *.just Taskfile*.y*ml Rakefile *.rake Gemfile *.gemspec Guardfile
Vagrantfile Procfile* Tiltfile Earthfile Brewfile Fastfile Podfile Snakefile* SConstruct SConscript wscript
configure configure.ac configure.in *.m4 *.cmake CMakeLists.txt CMakePresets.json meson.build meson_options.txt
meson.options BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel *.bzl BUCK build.ninja *.pro *.pri xmake.lua
premake*.lua Dockerfile* Containerfile* *.dockerfile docker-compose*.y*ml compose*.y*ml docker-bake.* skaffold.y*ml
package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock* deno.json*
*.config.js *.config.ts *.config.mjs *.config.cjs *.config.mts *.config.cts .*rc.js .*rc.cjs .*rc.mjs .*rc.ts
gulpfile.* Gruntfile.* Jakefile* webpack.*.js rollup.*.js vite.*.ts karma.conf.* wdio.conf.* cypress.json turbo.json
nx.json project.json lerna.json angular.json babel.config.* tsup.*.ts
pyproject.toml setup.py setup.cfg conftest.py tox.ini noxfile.py tasks.py fabfile.py dodo.py manage.py pytest.ini
.coveragerc Pipfile* requirements*.txt requirements*.in constraints*.txt poetry.lock pdm.lock uv.lock hatch.toml
hatch_build.py environment.y*ml meta.yaml pavement.py
build.rs Cargo.toml Cargo.lock go.mod go.sum go.work magefile.go build.zig build.zig.zon *.nimble shard.yml
build.gradle* settings.gradle* gradle.properties gradlew gradlew.bat pom.xml build.xml ivy.xml build.sbt *.sbt build.sc
mvnw mvnw.cmd project.clj deps.edn bb.edn shadow-cljs.edn
*.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets *.sln *.slnx build.cake global.json Package.swift Cartfile
*.xcconfig project.pbxproj mix.exs rebar.config* rebar.lock erlang.mk stack.yaml *.cabal cabal.project* Setup.hs
package.yaml dune dune-project *.opam dub.json dub.sdl composer.json composer.lock phpunit.xml* phpcs.xml* phpstan.neon*
Makefile.PL Build.PL cpanfile DESCRIPTION NAMESPACE Project.toml Manifest.toml info.rkt *.asd *.rockspec elm.json
pubspec.yaml build.yaml v.mod foundry.toml hardhat.config.* truffle*.js Anchor.toml flake.lock default.nix
*.tf *.tfvars *.hcl Chart.yaml helmfile.y*ml kustomization.y*ml serverless.y*ml Pulumi.y*ml cdk.json playbook*.y*ml
build.sh test.sh run.sh start.sh install.sh setup.sh bootstrap.sh entrypoint.sh docker-entrypoint.sh
"""


@lru_cache(maxsize=1024)
def is_build_file(path: str) -> bool:
    """Whether a file with this name runs in builds, tests, or starts. Ignores case."""
    return _pattern().fullmatch(basename(path.replace("\\", "/")).rstrip(" .").lower()) is not None


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(translate(name.lower()) for name in BUILD_FILES.split()))
