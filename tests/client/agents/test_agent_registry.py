"""The registry's index: what of it counts, and that nothing can be smuggled in by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.agents.registry import Registry, read_registry
from support.registry_index import BASE, binary, entry, npx

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
    (only,) = read(
        binary("some", "linux-x86_64", "windows-x86_64", sha256="a" * 64, cmd="dist\\some.exe")
    ).entries
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
        (5, "agent 2: it is not an object"),
        ({}, "agent 2: distribution is not an object"),
        ({**npx("Bad")}, "agent 2: id is not of the form"),
        ({**npx("bad\x1b[31m")}, "agent 2: id is not of the form"),
        ({**npx("bad"), "version": "1 && x"}, "bad: version is not of the form"),
        ({**npx("bad"), "name": ""}, "bad: name is not a string"),
        ({**npx("bad"), "description": "x" * 5000}, "bad: description is not a string"),
        (entry("bad"), "bad: it names no way to run it"),
        (entry("bad", snap={"package": "x"}), "bad: it names no way to run it"),
        (npx("bad", "--call=evil"), "bad: npx: '--call=evil' is no package of one version"),
        (npx("bad", "../evil@1.0.0"), "is no package of one version"),
        (npx("bad", "github:evil/evil@1.0.0"), "is no package of one version"),
        (npx("bad", "https://evil.example/x.tgz"), "is no package of one version"),
        (npx("bad", "evil@latest"), "is no package of one version"),
        (npx("bad", "evil"), "is no package of one version"),
        (npx("bad", "evil@1.0.0\n"), "is no package of one version"),
        (npx("bad", cmd="--evil"), "cmd is not of the form"),
        (npx("bad", args="x"), "args is not a list"),
        (npx("bad", args=["a\u202eb"]), "args holds characters that cannot be seen"),
        (npx("bad", args=["a\x00"]), "args holds characters that cannot be seen"),
        (npx("bad", args=["x"] * 65), "args is not a list"),
        (npx("bad", env={"A=B": "x"}), "env holds what is no name"),
        (npx("bad", env={"A": 1}), "env.A is not made of strings"),
        (npx("bad", env={"A": "\x1b"}), "env.A holds characters that cannot be seen"),
        (entry("bad", uvx={"package": "git+https://evil.example/x"}), "is no package of one version"),
        (binary("bad", archive="http://evil.example/x.zip"), "linux-x86_64: its archive has no https address"),
        (binary("bad", archive="https://evil.example/x\x1b.zip"), "has no https address"),
        (binary("bad", cmd="../"), "cmd names no program"),
        (binary("bad", cmd="./-rf"), "cmd names no program"),
        (binary("bad", sha256="abc"), "sha256 is not of the form"),
        (binary("bad", "\x1b[31m"), "binary holds what is no platform"),
    ],
)  # fmt: skip
def test_an_invalid_entry_is_left_out_and_said_and_costs_no_other(bad: Any, said: str):
    registry = read(npx("good"), bad)
    assert [each.agent_id for each in registry.entries] == ["good"]
    (problem,) = registry.problems
    assert said in problem
    assert problem.isprintable()


def test_of_an_entry_with_two_ways_the_valid_one_counts():
    both = {"id": "some", **BASE, "distribution": {**npx()["distribution"], **binary(cmd="")["distribution"]}}
    registry = read(both)
    assert registry.entries[0].packages
    assert not registry.entries[0].archives
    assert registry.problems == ("some: linux-x86_64: cmd is not a string of at most 2000 characters",)


def test_of_two_entries_with_one_id_the_first_counts():
    registry = read(npx("some", "first@1.0.0"), npx("some", "second@1.0.0"))
    assert [each.packages[0].package for each in registry.entries] == ["first@1.0.0"]
    assert "listed twice" in registry.problems[0]


def test_keys_that_are_not_known_are_passed_over():
    assert not read({**npx(), "preview": {"version": "x"}, "icon": 5, "authors": None}).problems


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"agents": {}}', "\x00", "[" * 100_000])
def test_what_is_no_registry_is_refused_as_a_whole(text: str):
    with pytest.raises(ValueError, match=r"."):
        read_registry(text)


@pytest.mark.skipif(
    not SNAPSHOT.is_file(), reason="the snapshot of the registry is not beside the repository"
)
def test_all_of_the_real_registry_is_valid():
    registry = read_registry(SNAPSHOT.read_bytes())
    assert len(registry.entries) == 39
    assert not registry.problems
