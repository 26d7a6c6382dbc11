"""Files that run when the project is built, tested or started, by you or by the agent, told by their names.

Writing them is ordinary work, so nobody is asked because of them; they are marked where a change is shown. What runs
without anybody's asking is `client.workspace.runs_later`'s matter.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from posixpath import basename
from typing import Final

BUILD_FILE: Final = "build file"
"""The mark."""
MEANS: Final = "a build file: it runs when you or the agent build, test or start the project"

NAMES: Final = """
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
    """Whether a file of this name runs in builds, tests or starts; case does not count."""
    return _pattern().fullmatch(basename(path.replace("\\", "/")).rstrip(" .").lower()) is not None


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(translate(name.lower()) for name in NAMES.split()))
