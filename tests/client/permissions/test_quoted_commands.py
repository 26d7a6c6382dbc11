"""Quoting gets no command past its rule: it's refused, or asked about if it's more than quotes and backslashes.

`ACP_TUI_HOSTILE_COMMANDS=10000` tries that many lines.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.client.permissions.rules import subject_of_command
from support.settings import refuses, rule, stops

COUNT = int(os.environ.get("ACP_TUI_HOSTILE_COMMANDS", "300"))


def in_ansi(choice: random.Random, char: str) -> str:
    """One of the ways to write `char` inside `$'...'`."""
    code = ord(char)
    ways = [f"\\u{code:04x}", f"\\U{code:08x}", "".join(f"\\x{byte:02X}" for byte in char.encode())]
    if code < 128:
        ways += [f"\\{code:03o}"]
    if char not in "\\'":
        ways += [char]
    if code in (9, 10):
        ways += ["\\t" if code == 9 else "\\n", "\\ci" if code == 9 else "\\cJ"]
    if char in "\\'\"?":
        ways += [f"\\{char}"]
    return choice.choice(ways)


def quoted(choice: random.Random, text: str) -> str:
    """`text` for bash, each piece in some kind of quotes, with nothing between them or something empty."""
    written = ""
    while text:
        size = choice.randint(1, len(text))
        piece, text = text[:size], text[size:]
        ways = [
            "$'" + "".join(in_ansi(choice, char) for char in piece) + "'",
            choice.choice(["", "$"]) + '"' + "".join(f"\\{char}" if char in '$`"\\' else char for char in piece) + '"',
        ]
        if "'" not in piece:
            ways.append(f"'{piece}'")
        if "\n" not in piece:
            ways.append("".join(f"\\{char}" for char in piece))
        if piece.isascii() and piece.isalnum():
            ways += [piece, piece, "\\\n".join(piece)]
        written += choice.choice(ways) + choice.choice(["", "", "''", '""', "$''", "\\\n", "$@"])
    return written


def line_of(choice: random.Random, words: list[str]) -> str:
    """The words as one line."""
    between = [" ", "\t ", " \\\n", "${IFS}"]
    line = ""
    for word in words:
        # A backslash-newline or `$IFS` directly after another isn't a separate blank.
        line += (choice.choice(between) if line else "") + quoted(choice, word)
    return line


def test_no_quoting_takes_a_command_out_of_its_rule() -> None:
    choice = random.Random(11)
    refused = rule(command="git push")
    for _ in range(COUNT):
        line = choice.choice(["", "cd x; ", "sudo ", "X=1 ", "true | "]) + line_of(choice, ["git", "push", "origin"])
        assert stops(refused, subject_of_command(line)), line
        assert stops(refused, subject_of_command("bash", ["-c", line])), line


@given(st.lists(st.sampled_from(["", "'", '"', "''", "\\", "\\\n", '"\\\n"']), min_size=5, max_size=5))
def test_quotes_and_backslashes_alone_are_seen_through(between: list[str]) -> None:
    word = "".join(f"{quote}{letter}" for quote, letter in zip(between, "curl ", strict=True))
    assert refuses(rule(command="curl"), subject_of_command(f"true; {word}-s"))


@pytest.mark.parametrize(
    "line",
    [
        "cat <<'E'\nx'\nE\ngit push",
        "cat <<E\nit's\nE\ngit push",
        'cat <<-\\E\n\t"\n\tE\ngit push',
        'cat <<"E F"\nit\'s\nE F\ngit push',
        "cat <<A <<B\nB\nA\nit's\nB\ngit push",
        "cat >E <<F\nE\nit's\nF\ngit push",
        "cat <<E\nit's $(git push)\nE",
        "cat <<E\nit's `git push`\nE",
        "x=$(cat <<E\nit's\nE\n); git push",
        "".join(f"cat <<E{n}\nit's\nE{n}\n" for n in range(15)) + "git push",
    ],
)
def test_quotes_in_a_here_document_quote_nothing_behind_it(line: str) -> None:
    assert refuses(rule(command="git push"), subject_of_command(line))
    assert not refuses(rule(command="git push"), subject_of_command(line.replace("push", "pull")))


@pytest.mark.parametrize(
    "line",
    [
        "git submodule --quiet foreach --recursive git push",
        "git submodule foreach 'git push'",
        "git bisect run git push",
        "git rebase -x 'git push' main",
        "git rebase --exec='git push' main",
        "git filter-branch --tree-filter 'git push' main",
        "git difftool -x 'git push'",
        "git grep -O'git push' x",
        "git fetch --upload-pack 'git push' x",
        "git -c core.pager='git push' log",
        "git config core.sshCommand 'git push'",
        "git for-each-repo --config=a push",
    ],
)
def test_what_git_starts_for_others_is_found(line: str) -> None:
    assert refuses(rule(command="git push"), subject_of_command(line))
