"""first_match: which commands a rule covers, anywhere in a line or a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.permissions.command_words import MAX_LINE, MAX_NAMES, names_in
from acp_tui.client.permissions.rules import (
    doubtful,
    resolved,
    subject_of_command,
    subject_of_tool_call,
)
from support.settings import call, refuses, rule, stops


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rm", "rm -rf x"),
        ("rm", "/bin/rm -rf x"),
        ("/bin/rm", "/bin/rm x"),
        ("git push", "git push --force"),
        ("git push", "git -C project --no-pager push"),
        ("git push", "  git   push"),
        ("git push", "'git' pu\"sh\""),
        ("git commit -m 'a b'", 'git commit -m "a b"'),
        ("git push", "$'git' push"),
        ("git push", r"$'\x67it' $'\160ush'"),
        ("git push", "$'\\u0067it' $\"push\""),
        ("git push", "{git,push} origin"),
        ("git push", "{git,pu{sh,}} origin"),
        ("git push", "git${IFS}push$IFS'x'"),
        ("git push", "g$@i${*}t push"),
        ("git push", "cd x && sudo $'git' push"),
        ("git push", "bash -c $'git\\tpush'"),
        ("git push", 'gi\\\nt pu""sh'),
        ("git push", "/usr/lib/git-core/git-push x"),
        ("git push", "function f { git push; }; f"),
        ("git push", "trap 'git push' EXIT"),
        ("git push", "trap -- 'git push' EXIT"),
        ("git push", "flock -n lock git push"),
        ("git push", "chroot / git push"),
        ("git push", "ssh host git push"),
        ("git push", "unshare -r git push"),
        ("git push", "parallel git push ::: a"),
        ("rm", "cd x; rm y"),
        ("rm", "true && rm y || false"),
        ("rm", "true&&rm y"),
        ("rm", "ls | xargs rm"),
        ("rm", "ls |rm"),
        ("rm", "sleep 1 & rm x"),
        ("rm", "echo $(rm x)"),
        ("rm", 'echo "so $(rm x)"'),
        ("rm", "echo `rm x`"),
        ("rm", "ls\nrm x"),
        ("rm", "(cd x; rm y)"),
        ("rm", "{ rm x; }"),
        ("rm", "if true; then rm x; fi"),
        ("rm", "for f in *; do rm $f; done"),
        ("rm", "! rm x"),
        ("rm", "r\\\nm x"),
        ("rm", "sh -c 'rm x'"),
        ("rm", "bash -lc 'cd /; sh -c \"rm x\"'"),
        ("rm", "/usr/bin/env bash --norc -c 'rm x'"),
        ("rm", "su root -c 'rm x'"),
        ("rm", "eval 'rm x'"),
        ("rm", "X=1 Y=2 rm x"),
        ("rm", "env -i X=1 rm x"),
        ("rm", "env -u NAME rm x"),
        ("rm", "sudo rm x"),
        ("rm", "sudo -u root -g wheel -- rm x"),
        ("rm", "sudo nohup nice -n 5 timeout -s KILL 5m rm x"),
        ("rm", "find . -name x -exec rm {} +"),
        ("rm", "2>/dev/null rm x"),
        ("rm", "rm>log x"),
        ("rm", 'echo "$(rm x'),
        ("rm", "time -p rm x"),
        ("rm", "time { rm x; }"),
        ("rm", "bash -c -- 'rm x'"),
        ("rm", "su --command='rm x'"),
        ("rm", "script -qc 'rm x' log"),
        ("rm", "env -S 'rm x'"),
        ("rm", "env -S'-i X=1 rm x'"),
        ("rm", "env --split-string='rm x'"),
        ("rm", "uv run --with y rm x"),
        ("rm", "npx -y rm x"),
        ("rm", "npx -c 'rm x'"),
        ("rm -rf", "rm -fr x"),
        ("rm -rf", "rm -r -f x"),
        ("rm -rf", "rm x -vrf"),
        ("git push --force", "git push origin main --force"),
        ("git push --force-with-lease", "git push origin --force-with-lease=main"),
        ("git push origin -f", "git -C x push -uf origin"),
        ("find -delete", "find . -type f -delete"),
        ("cat -- -", "cat -"),
    ],
)
def test_a_command_is_found_in_the_line(command: str, line: str) -> None:
    assert stops(rule(command=command), subject_of_command(line))
    assert stops(rule(command=command), subject_of_command("sh", ["-c", line]))
    assert stops(rule(command=command), subject_of_tool_call(call(raw_input={"command": line})))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rm", "rmdir x"),
        ("rm", "docker run --rm x"),
        ("rm", "ls rm-old rm.py farm rm/x x_rm"),
        ("curl", "apt-get install libcurl4 python3-curl"),
        ("git push", "git pull"),
        ("git push", "git"),
        ("git push", "push; git pull"),
        ("rm", ""),
        ("rm -rf", "rm -r f"),
        ("rm -rf", "rm --rf"),
        ("git push --force", "git push --force-with-lease"),
        ("git push --force", "git commit --force"),
        ("find -delete", "find . -maxdepth 2 -type f -ls"),
        ("git branch -D", "git branch -d x"),
    ],
)
def test_another_command_is_left_alone(command: str, line: str) -> None:
    assert not refuses(rule(command=command), subject_of_command(line))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rm", "echo rm"),
        ("rm", "echo 'a; rm x'"),
        ("rm", "git rm x"),
        ("rm", "ls > rm"),
        ("/bin/rm", "rm x"),
        ("/bin/rm", "/usr/bin/rm x"),
        ("./deploy.sh", "sh deploy.sh"),
        ("curl", 'git commit -m "remove curl."'),
        ("curl", "tar -Icurl -cf x y"),
        ("curl", "tar -cIcurl -f x y"),
        ("curl", "tar --use-compress-program=curl -cf x y"),
        ("curl", "git clone ext::curl"),
        ("curl", "a=curl"),
        ("curl", "GIT_EDITOR=/usr/bin/curl git commit"),
        ("curl", "true # don't\ncurl"),
        ("git push", "git commit -m push"),
        ("git push", "git log push"),
        ("uv sync", "uv run sync"),
        ("git push --force", "git push --forc"),
    ],
)
def test_a_line_that_has_the_words_is_refused_whatever_they_are_there(command: str, line: str) -> None:
    """Also where it's only text. The user can write more words into the rule, and nothing is missed for it."""
    assert refuses(rule(command=command), subject_of_command(line))


def test_words_of_a_command_that_no_shell_reads_count_too() -> None:
    assert refuses(rule(command="rm"), subject_of_command("echo", ["; rm x"]))


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": "git push"},
        {"command": ["git", "push"]},
        {"command": ["bash", "-lc", "git push"]},
        {"command": "git", "args": ["push"]},
        {"cmd": "git push"},
        {"commands": ["ls", "git push"]},
        {"tool": "shell", "input": [{"arguments": {"Command": "git push"}}]},
        "git push",
    ],
)
def test_a_command_is_found_in_a_tools_input(raw_input: Any) -> None:
    assert refuses(rule(command="git push"), subject_of_tool_call(call(kind="execute", raw_input=raw_input)))


def test_a_title_names_the_command_only_where_nothing_else_does() -> None:
    refused = rule("execute", command="git push")
    assert refuses(refused, subject_of_tool_call(call(kind="execute", title="git push origin")))
    assert refuses(refused, subject_of_tool_call(call(kind="execute", title="Run `git push` now")))
    told = call(kind="execute", title="git push", raw_input={"command": "git pull"})
    assert not refuses(refused, subject_of_tool_call(told))
    assert not refuses(rule(command="git push"), subject_of_tool_call(call(kind="read", title="git push")))


@pytest.mark.parametrize("before", ["", "sudo ", "cd x && ", "sh -c 'git push' "])
@pytest.mark.parametrize("count", [10, 100_000, 250_000])
def test_a_command_is_found_however_long_it_is(before: str, count: int) -> None:
    refused = rule(command="git push")
    line = f"{before}git push" + " a" * count
    assert refuses(refused, subject_of_command(line))
    assert refuses(refused, subject_of_command("git", ["push", *["a"] * count]))
    assert refuses(refused, subject_of_tool_call(call(raw_input={"command": ["git", "push", *["a"] * count]})))


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": "true; " * 9_000 + "git push"},
        {"command": "cat <<E\n" + "some words of a text\n" * 4_000 + "E\n/usr/bin/git  push --force"},
        {"commands": ["true; true"] * 4_000 + ["git push"]},
        {"calls": [{"command": "true; " * 9_000}, {"command": ["git", "push"]}]},
    ],
    ids=["commands", "a text", "lines", "words"],
)
def test_a_command_is_found_behind_much_else(raw_input: Any) -> None:
    subject = subject_of_tool_call(call(raw_input=raw_input))
    assert refuses(rule(command="git push"), subject)
    assert not refuses(rule(command="git pull"), subject)
    assert not refuses(rule(command="it push"), subject)


def test_what_is_too_long_to_be_read_is_asked_about() -> None:
    line = "true; " * 40_000 + "git push"
    assert stops(rule(command="git push"), subject_of_command(line))
    assert stops(rule(path="x"), subject_of_command("ls " + " ".join(f"a{n}" for n in range(3_000)) + " x", (), "/p"))
    blanks = [rule(path="a b c d e f")]
    subject = resolved(
        blanks, subject_of_command("ls " + " ".join(f"a{n}" for n in range(600)), (), "/p"), [Path("/p")]
    )
    assert doubtful(blanks, subject) == (blanks[0], "its length")


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": ["a b c"] * 20_000},
        {"command": [f"ls{n} a" for n in range(20_000)]},
        [{"command": ["a b"] * 1_000}] * 500,
        {"paths": [f"a/{n}" for n in range(20_000)]},
        [[[{"a": 1}]]] * 20_000,
        {"command": "x" * 5_000_000},
    ],
    ids=["words", "lines", "fields", "paths", "objects", "a word"],
)
def test_little_of_a_request_is_looked_at(raw_input: Any) -> None:
    subject = subject_of_tool_call(call(raw_input=raw_input))
    assert len(subject.line) <= MAX_LINE + 1
    assert len(subject.paths) <= 1_000
    assert len(names_in(subject.line).names) <= MAX_NAMES
