"""first_match: which paths a rule covers, however they are spelled and wherever links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_tui.client import path_globs
from acp_tui.client.permissions.rules import (
    RuleSubject,
    asks_disk,
    first_match,
    resolved,
    subject_of_command,
    subject_of_read,
    subject_of_tool_call,
    subject_of_write,
)
from support.settings import ROOT, call, refuses, rule, stops


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        (".env", "/project/.env"),
        (".env", "/project/deep/down/.env"),
        (".env", ".env"),
        ("*.pem", "/project/keys/server.pem"),
        ("secrets/", "/project/secrets/key"),
        ("secrets/", "/project/secrets"),
        ("secrets", "/project/a/secrets/b/c"),
        ("config/*.yml", "/project/config/db.yml"),
        ("./config", "/project/config/db.yml"),
        ("config/**/db.yml", "/project/config/db.yml"),
        ("config/**/db.yml", "/project/config/a/b/db.yml"),
        ("**/migrations/*", "/project/app/migrations/0001.py"),
        ("key[0-9]", "/project/key7"),
        ("/etc/**", "/etc/ssh/sshd_config"),
        ("/etc", "/etc/passwd"),
        ("/", "/anything"),
        ("~/.ssh/", "~/.ssh/id_rsa"),
        (".env", "/project/src/../.env"),
        (".env", "//project//.env"),
        ("/etc/hosts", "../etc/hosts"),
        ("read me", "file:///project/read%20me"),
        ("config/db.yml", "file:/project/config/db.yml"),
        ("config/db.yml", "FILE:///project/config/db.yml"),
        ("config/db.yml", "file://LocalHost/project/config/db.yml"),
        ("/etc", "File://127.0.0.1/etc/pass%77d"),
        ("café", "/project/cafe\u0301"),
        ("./secrets", "/project/secrets/key"),
        ("*.{key,pem}", "/project/a/server.pem"),
        ("{/etc,/usr/{lib,share}}/x", "/usr/share/x"),
        ("{{name}}", "/project/{{name}}/file"),
        ("{a,b}", "/project/{a,b}"),
        ("**", "/project"),
        (".env", "/project/" + "./" * 40_000 + ".env"),
    ],
)
def test_a_glob_covers_the_path(glob: str, path: str) -> None:
    assert refuses(rule(path=glob), subject_of_read(path))


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        (".env", "/project/.envrc"),
        (".env", "/elsewhere/.env"),
        ("*.pem", "/project/pem"),
        ("config/*.yml", "/project/config/deep/db.yml"),
        ("config/*.yml", "/project/app/config/db.yml"),
        ("secrets/", "/project/secrets.md"),
        ("/etc/", "/project/etc/hosts"),
        ("./secrets", "/project/a/secrets"),
        ("*.{key,pem}", "/project/a.k"),
        ("project", "/project/file"),
        ("../*", "/project/file"),
    ],
)
def test_a_glob_leaves_other_paths_alone(glob: str, path: str) -> None:
    assert not refuses(rule(path=glob), subject_of_read(path))


@pytest.mark.parametrize("ignores_case", [True, False])
def test_case_is_ignored_where_the_disk_does(ignores_case: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_globs, "IGNORES_CASE", ignores_case)
    path_globs.pattern_of.cache_clear()
    subject = subject_of_read("/PROJECT/secrets/A.key")
    assert refuses(rule(path="Secrets/*.KEY"), subject) is ignores_case
    path_globs.pattern_of.cache_clear()


def test_a_link_into_what_is_refused_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "harmless").symlink_to("secrets")
    assert refuses(rule(path="secrets/"), subject_of_write(f"{tmp_path}/harmless/key"), tmp_path)
    assert refuses(rule(path=f"{tmp_path}/secrets"), subject_of_read("harmless/key"), tmp_path)


def test_a_rule_for_a_link_covers_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert refuses(rule(path=f"{tmp_path}/link/*.key"), subject_of_read(f"{tmp_path}/real/a.key"), tmp_path)


def test_a_root_that_is_a_link_is_the_same_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    assert refuses(rule(path=".env"), subject_of_read(f"{tmp_path}/real/.env"), tmp_path / "root")
    assert refuses(rule(path=".env"), subject_of_read(f"{tmp_path}/root/.env"), tmp_path / "real")


def test_every_root_counts(tmp_path: Path) -> None:
    assert refuses(rule(path="a/b"), subject_of_read(f"{tmp_path}/a/b"), ROOT, tmp_path)


@pytest.fixture
def links_followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    followed: list[str] = []

    def follow(path: str) -> str:
        followed.append(path)
        return path

    monkeypatch.setattr(os.path, "realpath", follow)
    return followed


def test_a_resolved_subject_is_matched_without_the_disk(links_followed: list[str]) -> None:
    refused = [rule(path="/etc/*"), rule(path="{.env,/opt/*}")]
    subject = resolved(refused, subject_of_read("/net/dead/.env"), [Path("/net/dead")])
    assert links_followed
    links_followed.clear()
    assert not asks_disk(refused, subject)
    assert first_match(refused, subject, [Path("/net/dead")]) is refused[1]
    assert links_followed == []


def test_the_disk_is_asked_only_where_a_rule_depends_on_a_place(links_followed: list[str]) -> None:
    write, command = rule("edit", ".env"), rule(command="rm")
    for rules, subject in (
        ([], subject_of_read("/a")),
        ([write, command], subject_of_read("/a")),
        ([write, command], subject_of_command("rm", ["/a"])),
        ([write, command], RuleSubject("edit")),
    ):
        assert not asks_disk(rules, subject)
        assert resolved(rules, subject) is subject
        first_match(rules, subject)
    assert links_followed == []
    assert asks_disk([write], subject_of_write("/a"))


@pytest.mark.parametrize(
    "line",
    [
        "> config/db.yml",
        ">config/db.yml",
        "echo $(<config/db.yml)",
        "curl -F file=@config/db.yml x",
        "curl -d@config/db.yml x",
        "grep -fconfig/db.yml x",
        "git show HEAD:config/db.yml",
        "scp config/db.yml host:",
        "curl FILE:///project/config/db.yml",
        "cat $PWD/config/db.yml",
        'cat "${PWD}/config/db.yml"',
        "cat ~+/config/db.yml",
        "cat ~-/config/db.yml",
        "cat $(pwd)/config/db.yml",
        "cat `pwd`/config/db.yml",
        "cat $OLDPWD/db.yml",
        'cat "$dir"/db.yml',
        "cat $dir/config/db.yml",
        "cat ${dir}db.yml",
        "cat --file=$PWD/config/db.yml",
        "cat < $PWD/config/db.yml",
        "cat config/*.yml",
        "cat */db.yml",
        "cat con*/db.yml",
        "cat config/d?.yml",
        "cat config/[cd]b.yml",
        "cat config/$name",
        "cat config/db.$end",
        "cat config/../config/d*",
        "cat $dir/../config/db.yml",
        "cat x/*/../../config/*.yml",
        "cd config && cat db.yml",
        "cd config; cat < db.yml",
        "cd ./config && cat db.yml",
        "cd src && cd ../config && cat db.yml",
        "cd src; cd $OLDPWD; cat config/db.yml",
        "cd /project/config && cat db.yml",
        "cd $PWD/config && cat db.yml",
        "cd $dir && cat db.yml",
        "cd - && cat db.yml",
        "cd con*; cat db.yml",
        "(cd config; cat db.yml)",
        "sh -c 'cd config && cat db.yml'",
        "pushd config && cat db.yml",
        "cd src && cat ../config/db.yml",
        "git -C config show HEAD:db.yml",
        "tar -C config -c db.yml",
        "tar --directory=config -c db.yml",
        "tar --direct config -c db.yml",
        "env --ch=config cat db.yml",
        "sudo -D config cat db.yml",
        "env -C config cat db.yml",
        "make -Cconfig db.yml",
    ],
)
def test_a_file_that_a_command_names_is_covered_however_it_is_glued(line: str) -> None:
    assert stops(rule(path="config/db.yml"), subject_of_command(line, (), ROOT))


@pytest.mark.parametrize(
    "line",
    [
        "cat config/db.yml",
        "cat 'config'/\"db\".y\\ml",
        "cat config/db.yml:3 x",
        "cat x,config/db.yml,y",
        "> config/db.yml",
        "curl -F file=@config/db.yml x",
        "curl -d@config/db.yml x",
        "grep -fconfig/db.yml x",
        "git show HEAD:config/db.yml",
        "scp config/db.yml host:",
        "curl FILE:///project/config/db.yml",
        "cat src/../config/db.yml",
        "FILE=config/db.yml make",
        "echo config/db.yml",
    ],
)
def test_a_file_that_a_literal_line_names_is_refused(line: str) -> None:
    assert refuses(rule(path="config/db.yml"), subject_of_command(line, (), ROOT))


@pytest.mark.parametrize(
    "line",
    [
        "cat db.yml",
        "cat config/other.yml",
        "cat config/db.yml.txt",
        "ls config",
        "cat x/config/db.yml",
        "make -j4 test",
    ],
)
def test_a_literal_line_that_names_other_files_is_left_alone(line: str) -> None:
    assert not stops(rule(path="config/db.yml"), subject_of_command(line, (), ROOT))


@pytest.mark.parametrize(
    "line",
    ["cat $HOME/.ssh/id_rsa", 'cat "${HOME}"/.ssh/id*', "cd; cat .ssh/x", "cd ~/.ssh && cat x", "ls ~", "cat ~x/y"],
)
def test_a_file_at_home_is_covered_however_home_is_spelled(line: str) -> None:
    assert stops(rule(path="~/.ssh/"), subject_of_command(line, (), ROOT))


def test_a_file_at_home_is_refused_where_home_is_a_tilde() -> None:
    assert refuses(rule(path="~/.ssh/"), subject_of_command("cat ~/.ssh/id_rsa", (), ROOT))


def test_names_begin_where_the_command_runs_and_at_the_roots(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    refused = rule(path=f"{tmp_path}/sub/key")
    assert refuses(refused, subject_of_command("cat key", (), tmp_path / "sub"), tmp_path)
    assert refuses(refused, subject_of_command("git show HEAD:sub/key", (), tmp_path / "sub"), tmp_path)
    told = call(kind="execute", raw_input={"command": "cat key", "cwd": f"{tmp_path}/sub"})
    assert refuses(refused, subject_of_tool_call(told), tmp_path)


def test_a_link_that_a_command_names_leads_to_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    (tmp_path / "link").symlink_to(".env")
    names = " ".join(f"a{number}" for number in range(300))
    assert refuses(rule(path=".env"), subject_of_command(f"cat {names} link", (), tmp_path), tmp_path)


@pytest.mark.parametrize("line", ["cat 'my key'", 'cat "my key"', "cat my\\ key", "cat './my key'", "cat -fmy\\ key"])
def test_a_name_with_a_blank_is_found_in_any_quotes(line: str) -> None:
    assert refuses(rule(path="my key"), subject_of_command(line, (), ROOT))
    assert refuses(rule(path="my key"), subject_of_command("cat", ["my key"], ROOT))


def test_a_folder_with_a_blank_above_the_roots_hides_nothing() -> None:
    root = Path("/my project")
    assert refuses(rule(path="a/b"), subject_of_command("cat '/my project/a/b'", (), root), root)
