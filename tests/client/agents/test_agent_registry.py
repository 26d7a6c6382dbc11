"""The registry's index: which entries count, and that nothing can be smuggled in through it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_tui.client.agents.registry import Registry, read_registry
from support.installers import BASE, binary, entry, npx

SNAPSHOT = Path(__file__).parents[4] / "shared" / "acp" / "registry-snapshot.json"


def read(*entries: Any) -> Registry:
    return read_registry(json.dumps({"version": "1.0.0", "agents": entries, "extensions": []}))


@pytest.mark.parametrize(
    ("run", "argv"),
    [
        ({"npx": {"package": "@a/b@1.2.3", "args": ["--acp"]}}, "npx -y @a/b@1.2.3 --acp"),
        ({"npx": {"package": "b@1.2.3", "cmd": "b-acp"}}, "npx -y --package b@1.2.3 b-acp"),
        ({"uvx": {"package": "b==1.2.3", "args": ["-x"]}}, "uvx b==1.2.3 -x"),
        ({"uvx": {"package": "b[acp]@1.2", "cmd": "b-acp"}}, "uvx --from b[acp]@1.2 b-acp"),
    ],
)
def test_a_package_is_run_by_its_runner(run: dict[str, Any], argv: str):
    """R-REG-4."""
    (only,) = read(entry("some", **run)).entries
    assert " ".join(only.packages[0].argv) == argv


def test_a_build_is_kept_by_its_platform_with_its_address_and_checksum():
    (only,) = read(binary("some", "linux-x86_64", "windows-x86_64", sha256="a" * 64, cmd="dist\\some.exe")).entries
    assert sorted(only.archives) == ["linux-x86_64", "windows-x86_64"]
    build = only.archives["linux-x86_64"]
    assert (build.url, build.program, build.args, build.sha256) == (
        "https://example.org/some.tar.gz",
        "some.exe",
        ("acp",),
        "a" * 64,
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (5, "agent 2: it isn't an object"),
        ({}, "agent 2: distribution isn't an object"),
        ({**npx("Bad")}, "agent 2: id doesn't have the form"),
        ({**npx("bad\x1b[31m")}, "agent 2: id doesn't have the form"),
        ({**npx("bad"), "version": "1 && x"}, "bad: version doesn't have the form"),
        ({**npx("bad"), "name": ""}, "bad: name isn't a string"),
        ({**npx("bad"), "description": "x" * 5000}, "bad: description isn't a string"),
        (entry("bad"), "bad: it doesn't say how to run it"),
        (entry("bad", snap={"package": "x"}), "bad: it doesn't say how to run it"),
        (npx("bad", "--call=evil"), "bad: npx: '--call=evil' doesn't name one version"),
        (npx("bad", "../evil@1.0.0"), "doesn't name one version"),
        (npx("bad", "github:evil/evil@1.0.0"), "doesn't name one version"),
        (npx("bad", "https://evil.example/x.tgz"), "doesn't name one version"),
        (npx("bad", "evil@latest"), "doesn't name one version"),
        (npx("bad", "evil"), "doesn't name one version"),
        (npx("bad", "evil@1.0.0\n"), "doesn't name one version"),
        (npx("bad", "evil@1"), "doesn't name one version"),
        (npx("bad", "evil@1.2"), "doesn't name one version"),
        (npx("bad", "evil@1.x"), "doesn't name one version"),
        (npx("bad", "evil@1.2.x"), "doesn't name one version"),
        (npx("bad", "_evil@1.2.3"), "doesn't name one version"),
        (npx("bad", "~evil@1.2.3"), "doesn't name one version"),
        (npx("bad", "Evil@1.2.3"), "doesn't name one version"),
        (npx("bad", "a@npm:evil@1.2.3"), "doesn't name one version"),
        (entry("bad", uvx={"package": "evil==1.*"}), "doesn't name one version"),
        (entry("bad", uvx={"package": "evil>=1.0"}), "doesn't name one version"),
        (entry("bad", uvx={"package": "evil@latest"}), "doesn't name one version"),
        (npx("bad", env={"npm_config_registry": "x"}), "npx: env sets npm_config_registry, which decides"),
        (npx("bad", env={"Npm_Config_Registry": "x"}), "env sets Npm_Config_Registry"),
        (npx("bad", env={"NODE_OPTIONS": "--require=x"}), "env sets NODE_OPTIONS, which loads code"),
        (entry("bad", uvx={"package": "a==1", "env": {"UV_INDEX": "x"}}), "uvx: env sets UV_INDEX"),
        (entry("bad", uvx={"package": "a==1", "env": {"XDG_CONFIG_HOME": "x"}}), "env sets XDG_CONFIG_HOME"),
        (binary("bad", env={"LD_PRELOAD": "x"}), "linux-x86_64: env sets LD_PRELOAD"),
        (npx("bad", args=["--registry", "x"]), "args holds '--registry', which would fetch packages from elsewhere"),
        (npx("bad", args=["--registry=https://evil.example"]), "would fetch packages from elsewhere"),
        (npx("bad", args=["--@evil:registry=https://evil.example"]), "would fetch packages from elsewhere"),
        (entry("bad", uvx={"package": "a==1", "args": ["--extra-index-url=x"]}), "from elsewhere"),
        (entry("bad", uvx={"package": "a==1", "args": ["--default-index", "x"]}), "from elsewhere"),
        (npx("bad", cmd="sh", args=["-c", "x"]), "cmd is sh, which isn't an agent"),
        (entry("bad", uvx={"package": "a==1", "cmd": "python3"}), "cmd is python3, which isn't an agent"),
        (binary("bad", cmd="./bash", args=["-c", "x"]), "cmd is bash, which isn't an agent"),
        (npx("bad", cmd="--evil"), "cmd doesn't have the form"),
        (npx("bad", args="x"), "args isn't a list"),
        (npx("bad", args=["a\u202eb"]), "args contains invisible characters"),
        (npx("bad", args=["a\x00"]), "args contains invisible characters"),
        (npx("bad", args=["x"] * 65), "args isn't a list"),
        (npx("bad", env={"A=B": "x"}), "env has a key that isn't the name"),
        (npx("bad", env={"A": 1}), "env.A isn't made of strings"),
        (npx("bad", env={"A": "\x1b"}), "env.A contains invisible characters"),
        (entry("bad", uvx={"package": "git+https://evil.example/x"}), "doesn't name one version"),
        (binary("bad", archive="http://evil.example/x.zip"), "linux-x86_64: its archive has no https address"),
        (binary("bad", archive="https://evil.example/x\x1b.zip"), "has no https address"),
        (binary("bad", cmd="../"), "cmd doesn't name a program"),
        (binary("bad", cmd="./-rf"), "cmd doesn't name a program"),
        (binary("bad", sha256="abc"), "sha256 doesn't have the form"),
        (binary("bad", "\x1b[31m"), "binary has a key that isn't a platform"),
    ],
)  # fmt: skip
def test_an_invalid_entry_is_left_out_and_said_and_costs_no_other(bad: Any, said: str):
    registry = read(npx("good"), bad)
    assert [each.agent_id for each in registry.entries] == ["good"]
    (problem,) = registry.problems
    assert said in problem
    assert problem.isprintable()


ODD: Final = st.text("aA1.@/:=~^*x-_+><| #\\\n", max_size=12)


@given(ODD, st.sampled_from(["npx", "uvx"]))
@example("some-agent", "npx")
@example("some-agent", "uvx")
def test_whatever_package_is_taken_is_a_name_and_one_version(text: str, runner: str):
    for package in (text, f"some-agent@{text}", f"{text}@1.2.3", f"some-agent=={text}"):
        for listed in read(entry("some", **{runner: {"package": package}})).entries:
            [run] = listed.packages
            name, _, version = run.package.replace("==", "@").rpartition("@")
            assert run.version == version
            assert all(part.isdigit() or runner == "uvx" for part in re.split("[-+]", version)[0].split("."))
            assert version.count(".") >= 2 or runner == "uvx"
            assert re.fullmatch(r"(@[a-z0-9._-]+/)?[A-Za-z0-9._-]+(\[[\w.,-]+\])?", name)


INDEXES: Final = (
    *(
        "npm_config_registry",
        "NPM_CONFIG_REGISTRY",
        "npm_config_userconfig",
        "NPM_CONFIG_CACHE",
        "YARN_REGISTRY",
    ),
    *(
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_CONFIG_FILE",
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_DEFAULT_INDEX",
    ),
    *(
        "UV_EXTRA_INDEX_URL",
        "UV_FIND_LINKS",
        "UV_CONFIG_FILE",
        "UV_INSECURE_HOST",
        "HTTPS_PROXY",
        "https_proxy",
    ),
    *(
        "NODE_EXTRA_CA_CERTS",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "HOME",
        "PATH",
    ),
)


@pytest.mark.parametrize("name", INDEXES)
def test_an_environment_that_redirects_packages_is_refused(name: str):
    for bad in (
        npx("bad", env={name: "x"}),
        entry("bad", uvx={"package": "a==1", "env": {"OK": "1", name: "x"}}),
    ):
        registry = read(bad)
        assert not registry.entries
        assert f"env sets {name}" in registry.problems[0]


def test_the_version_that_is_fetched_is_the_one_that_is_named():
    """Some entries state a different version than their package has."""
    (only,) = read(npx("some", "some-agent@1.2.4-beta.1")).entries
    assert (only.version, only.packages[0].version) == ("1.2.3", "1.2.4-beta.1")


def test_an_entry_with_two_transports_uses_the_valid_one():
    both = {"id": "some", **BASE, "distribution": {**npx()["distribution"], **binary(cmd="")["distribution"]}}
    registry = read(both)
    assert registry.entries[0].packages
    assert not registry.entries[0].archives
    assert registry.problems == ("some: linux-x86_64: cmd isn't a string of at most 2000 characters",)


def test_the_first_of_two_entries_with_one_id_counts():
    registry = read(npx("some", "first@1.0.0"), npx("some", "second@1.0.0"))
    assert [each.packages[0].package for each in registry.entries] == ["first@1.0.0"]
    assert "listed twice" in registry.problems[0]


def test_keys_that_are_not_known_are_passed_over():
    assert not read({**npx(), "preview": {"version": "x"}, "icon": 5, "authors": None}).problems


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"agents": {}}', "\x00", "[" * 100_000])
def test_what_is_no_registry_is_refused_as_a_whole(text: str):
    with pytest.raises(ValueError, match=r"."):
        read_registry(text)


@pytest.mark.skipif(not SNAPSHOT.is_file(), reason="the snapshot of the registry isn't beside the repository")
def test_all_of_the_real_registry_is_valid():
    registry = read_registry(SNAPSHOT.read_bytes())
    assert len(registry.entries) == 39
    assert not registry.problems
