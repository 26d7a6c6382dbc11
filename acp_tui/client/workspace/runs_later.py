"""Files that run later without being asked for, and files that run when the project is built, tested, or started.

The first kind is, for example, a hook, a shell profile, an editor task, or a CI step. The list is data (`RUNS_LATER`),
shown in this folder's README. Code that serves a write must ask the user about each of these files, whatever the
settings. The limit is code that the user starts: a Makefile, a test, or a build script is part of the project, and
writing it is an agent's job. Files of the second kind are only marked where a change is shown (`is_build_file`). Files
are judged by name and place, not by content.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
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
        """The separate patterns."""
        return tuple(self.listed.split())


RUNS_LATER: Final = (
    RunsLater(
        "version control runs the hooks and programs it names",
        """
        .git/ .git git~[0-9]/ .gitconfig .gitmodules .gitattributes .lfsconfig .githooks/ .git-hooks/ .hg/
        .hgrc .jj/ .jjconfig.toml .svn/ .bzr/ .sl/ .arcconfig HEAD
        """,
    ),
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
        .husky/ .huskyrc* .pre-commit-config.y*ml .pre-commit-hooks.y*ml lefthook*.*ml lefthook*.json
        .lefthook* .lefthook/ .overcommit.yml .simple-git-hooks* simple-git-hooks.* .lintstagedrc*
        lint-staged.config.* captainhook.json prek.toml
        """,
    ),
    RunsLater(
        "it is loaded when a shell enters the folder or an environment starts",
        """
        .envrc .direnv/ .direnvrc .env .env.*local .envrc.* .shadowenv.d/ .flox/ .devbox/ .hermit/ .flaskenv
        .autoenv* .in .out flake.nix shell.nix devenv.nix devbox.json .tool-versions .asdfrc mise.toml
        mise.*.toml .mise.toml .mise.*.toml mise/config*.toml .mise/ .rtx.toml .prototools .venv/ venv/bin/
        node_modules/
        """,
    ),
    RunsLater(
        "editors run tasks and code from it when they open the folder",
        """
        .vscode/ .vscode-server/ *.code-workspace .idea/ .fleet/ .zed/ .vs/ .nova/ .theia/ *.sublime-project
        .externaltoolbuilders/ .nvim.lua .nvimrc .nvim/ .vim/ .vimrc _vimrc .gvimrc .exrc _exrc .lvimrc
        .local.vim .lazy.lua .neoconf.json .emacs .emacs.d/ .doom.d/ .spacemacs* .dir-locals*.el .helix/
        .kakrc .ycm_extra_conf.py .luarc.json* rust-analyzer.toml .rust-analyzer.toml .solargraph.y*ml
        .vimrc.* .run/ .devcontainer/ .devcontainer.json devcontainer.json .gitpod.y*ml .gitpod/ .replit
        .codesandbox/ .stackblitzrc .idx/
        """,
    ),
    RunsLater(
        "agents read servers, hooks, and permissions from it",
        """
        .mcp.json mcp.json .acp-tui.toml .agents/ .aider* .amp/ .augment/ .claude/ .claude.json .cline/
        .clinerules/ .codeium/ .codex/ .continue/ .copilot/ .crush.json crush.json .crush/ .cursor/
        .factory/ .gemini/ .goose/ .junie/ .kilocode/ .kimi/ .kiro/ .opencode/ opencode.json* .openhands/
        .qwen/ .roo/ .trae/ .vibe/ .windsurf/
        """,
    ),
    RunsLater(
        "CI runs it, often with secrets",
        """
        .github/ .gitlab-ci*.y*ml .gitlab/ .gitea/ .forgejo/ .circleci/ Jenkinsfile* .travis.y*ml
        azure-pipelines*.y*ml .azure-pipelines/ .azuredevops/ .buildkite/ bitbucket-pipelines.y*ml .drone.*
        .woodpecker* .woodpecker/ .cirrus.* appveyor.y*ml .appveyor.y*ml .teamcity/ .semaphore/ cloudbuild.*
        buildspec*.y*ml .builds/ .build.yml .tekton/ .ci/ codemagic.y*ml bitrise.y*ml renovate.json*
        .renovaterc* netlify.toml vercel.json .mergify.y*ml .screwdriver.y*ml screwdriver.y*ml .dagger/
        dagger.json .ebextensions/ .platform/ ci_scripts/ .xcode.env* .readthedocs.y*ml wercker.yml .werf/
        .argo/
        """,
    ),
    RunsLater(
        "a shell runs it when it starts or ends",
        """
        .bashrc* .bash_* .bashrc.d/ .profile .profile.d/ .zshrc* .zshenv .zprofile .zlogin .zlogout .zsh*
        .zsh/ .oh-my-zsh/ .zim/ .p10k.zsh .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .fish/
        .xonshrc .shrc .shinit .aliases .functions .exports .path .hushlogin profile.d/ *profile.ps1
        """,
    ),
    RunsLater(
        "the system runs it at login, on a schedule, or at startup",
        """
        .config/ .local/bin/ .local/lib/ .local/share/ .xinitrc .xprofile .xsession* .xserverrc
        .pam_environment *.desktop autostart/ systemd/ *.service *.timer LaunchAgents/ LaunchDaemons/
        crontab .crontab crontabs/ cron.*/ rc.local init.d/ sudoers sudoers.d/ authorized_keys* .ssh/
        .rhosts .shosts .forward .procmailrc .gnupg/ environment.d/ ld.so.preload ld.so.conf* ld.so.conf.d/
        /etc/
        """,
    ),
    RunsLater(
        "package managers read their sources, hooks, and programs from it",
        """
        .npmrc .yarnrc* .yarn/ .pnp.* .pnpmfile.* pnpmfile.* bunfig.toml .bunfig.toml .pypirc pip.conf
        pip.ini .pip/ .condarc uv.toml .cargo/ .rustup/ rust-toolchain* .gemrc .bundle/ .m2/ .mvn/ .gradle/
        gradle/wrapper/ init.gradle* .sbtopts .sbt/ .jvmopts .composer/ .nuget/ nuget.config
        dotnet-tools.json .brewfile .nixpkgs/ .nix-defexpr/ .stack/ .cabal/ .opam/ .npm/ .deno/ .bun/
        .volta/ .nvm/ .pyenv/ .rbenv/ .asdf/ .sdkman/ .jenv/
        """,
    ),
    RunsLater(
        "a tool runs its commands or sends credentials to addresses in it",
        """
        .tmux.conf .tmux/ .screenrc .lesskey .lessfilter .curlrc .wgetrc .netrc .docker/ .kube/ .aws/
        .azure/ .terraformrc .terraform.d/ .terraform/ _netrc .git-credentials ansible.cfg .ansible.cfg
        .psqlrc .sqliterc .my.cnf .gdbinit* .lldbinit* .pdbrc* .pythonrc* .rprofile .renviron .irbrc .pryrc
        .iex.exs .ghci .octaverc .ipython/ .jupyter/ .mailcap .muttrc .watchmanconfig .bazelrc .bazeliskrc
        .buckconfig* .ocamlinit .tmuxinator.yml .rspec .rubocop*.yml .rgrc .ripgreprc .fdignore
        .ackrc .mozilla/ .thunderbird/ Library/Application?Support/
        """,
    ),
    RunsLater(
        "Python runs it whenever it starts",
        """
        sitecustomize.py usercustomize.py *.pth pyvenv.cfg site-packages/ dist-packages/
        """,
    ),
)
"""In the order in which to look for a reason.

A file HEAD with two folders beside it makes its folder a git repository.
"""

OF_YOUR_HOME: Final = "programs read settings and commands from hidden files in your home folder"
IN_A_REPOSITORY: Final = "its folder is a git repository, and git runs its hooks and programs"
ON_PATH: Final = "your shell looks for programs in its folder"
STAYS_EXECUTABLE: Final = "The file is executable and stays executable."


_WORKTREES: Final = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf"})
"""Folders of agents in which `worktrees/NAME` is an ordinary workplace."""


def why_it_runs_later(asked: str, leads_to: Path) -> str | None:
    """What runs a file later, as the end of a sentence; None for all others. Accesses the disk.

    `asked` is the path as spelled; `leads_to` is its target, with links followed.
    """
    both = [_in_worktree(_names(path)) for path in (asked, str(leads_to))]
    spelled = [f"/{'/'.join(names)}" for names in both]
    for entry, pattern in _compiled():
        if any(map(pattern.search, spelled)):
            return entry.reason
    if any(map(_is_hidden_at_home, both)):
        return OF_YOUR_HOME
    if any(map(_is_repository, leads_to.parents)):
        return IN_A_REPOSITORY
    return ON_PATH if _is_on_path(leads_to.parent) else None


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


def _is_hidden_at_home(names: Names) -> bool:
    """Whether the path goes through a hidden name directly in the home folder. No list contains all programs' files."""
    for home in {os.path.expanduser("~"), os.path.realpath(os.path.expanduser("~"))}:  # noqa: PTH111 - text
        above = _names(home)
        below = names[len(above) :]
        if above and below and names[: len(above)] == above:
            return (below[0].startswith(".") and below[0] != "..") or below[0] == "library"
    return False


def _is_repository(folder: Path) -> bool:
    """Whether git would treat the folder as a repository, whatever its name."""
    return os.path.lexists(folder / "HEAD") and ((folder / "objects").is_dir() or os.path.lexists(folder / "commondir"))


def _is_on_path(folder: Path) -> bool:
    return any(os.path.realpath(each) == str(folder) for each in _folders_of_programs())


def _folders_of_programs() -> Iterator[str]:
    for each in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if each.startswith("/"):
            yield each


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
