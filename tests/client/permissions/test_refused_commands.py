"""first_match: which commands a rule covers, anywhere in a line or a request."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.client.permissions.command_search import MAX_WORK
from acp_tui.client.permissions.rules import (
    subject_of_command,
    subject_of_tool_call,
)
from support.refusing import call, refuses, rule


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
    assert refuses(rule(command=command), subject_of_command(line))
    assert refuses(rule(command=command), subject_of_command("sh", ["-c", line]))
    assert refuses(rule(command=command), subject_of_tool_call(call(raw_input={"command": line})))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rm", "rmdir x"),
        ("rm", "echo rm"),
        ("rm", "echo 'a; rm x'"),
        ("rm", 'echo "a; rm x"'),
        ("rm", "git rm x"),
        ("git push", "git pull"),
        ("git push", "git commit -m push"),
        ("git push", "git log push"),
        ("git push", "git"),
        ("/bin/rm", "rm x"),
        ("rm", ""),
        ("rm", "ls > rm"),
        ("rm -rf", "rm -r f"),
        ("rm -rf", "rm --rf"),
        ("git push --force", "git push --force-with-lease"),
        ("git push --force", "git commit --force"),
        ("find -delete", "find . -maxdepth 2 -type f -ls"),
        ("uv sync", "uv run sync"),
    ],
)
def test_another_command_is_left_alone(command: str, line: str) -> None:
    assert not refuses(rule(command=command), subject_of_command(line))


def test_words_of_a_command_are_not_read_as_a_line() -> None:
    assert not refuses(rule(command="rm"), subject_of_command("echo", ["; rm x"]))


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
def test_a_command_beyond_what_is_read_in_time_is_found_where_one_may_begin(raw_input: Any) -> None:
    subject = subject_of_tool_call(call(raw_input=raw_input))
    assert refuses(rule(command="git push"), subject)
    assert not refuses(rule(command="git pull"), subject)
    assert not refuses(rule(command="it push"), subject)


def test_words_in_a_text_that_there_is_no_time_to_read_are_no_command() -> None:
    text = "cat <<E\n" + "some words of a text to make\n" * 4_000 + "E"
    assert not refuses(rule(command="make"), subject_of_command(text))


NESTED = "xargs " + "-a xargs " * 20


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": NESTED},
        {"command": [NESTED] * 20},
        [{"command": NESTED}] * 20,
        {"command": [f"ls{n} a" for n in range(20_000)]},
        {"command": ["sh", *["-c"] * 20_000]},
        [{"command": ["a b"] * 1_000}] * 500,
        {"paths": [f"a/{n}" for n in range(20_000)]},
        [[[{"a": 1}]]] * 20_000,
    ],
    ids=["nested", "nested words", "nested fields", "lines", "options", "words", "paths", "objects"],
)
def test_little_of_a_request_is_looked_at(raw_input: Any) -> None:
    subject = subject_of_tool_call(call(raw_input=raw_input))
    assert sum(1 + len(words) // 8 for words in subject.commands) <= MAX_WORK + 100
    assert len(subject.paths) <= 1_000
    assert len(subject.unread) <= 110_000
