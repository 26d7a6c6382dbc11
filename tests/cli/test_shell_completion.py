"""Completion in real shells. Shells that aren't installed are skipped."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import acp_tui
from acp_tui.cli import completion
from acp_tui.cli.commands import COMMANDS
from acp_tui.cli.completion import SCRIPTS
from acp_tui.cli.main import main
from support.waiting import LIMIT_S

ACP_TUI = f"""\
#!{sys.executable}
import sys
from acp_tui.cli import completion, main
names = {{"agent": ["claude", "gemini"], "scenario": ["coding", "long"]}}
names |= {{"session": ["0199a", "02b"], "hosted": ["work"]}}
completion.names_of = lambda kind: dict.fromkeys(names[kind.value], "its: title")
sys.exit(main.main())
"""
"""The real completion, except for names, which depend on the machine."""
CASES = [
    ("acp-tui ex", {"exec"}),
    ("acp-tui c", {"check", "claude", "completion"}),
    ("acp-tui run c", {"claude"}),
    ("acp-tui run claude g", set()),
    ("acp-tui --cwd proj", {"project/"}),
    ("acp-tui exec --record READ", {"README.md"}),
    ("acp-tui exec --cwd project g", {"gemini"}),
    ("acp-tui exec --prom", {"--prompt"}),
    ("acp-tui exec --format ", {"text", "ndjson"}),
    ("acp-tui exec gemini --format nd", {"ndjson"}),
    ("acp-tui exec --prompt c", set()),
    ("acp-tui demo co", {"coding"}),
    ("acp-tui --plain demo co", {"coding"}),
    ("acp-tui help secu", {"security"}),
    ("acp-tui doctor --format js", {"json"}),
    ("acp-tui completion f", {"fish"}),
    ("acp-tui claude --resume 01", {"0199a"}),
    ("acp-tui render 0", {"0199a", "02b"}),
    ("acp-tui attach w", {"work"}),
    ("acp-tui replay 0", {"0199a", "02b"}),
    ("acp-tui inspect RE", {"README.md"}),
    ("acp-tui schema se", {"sessions", "settings"}),
    ("acp-tui exec -- zz-a", {"zz-agent"}),
    ("acp-tui exec -- prog READ", {"README.md"}),
    ("acp-tui run -- check --for", set()),
    ("acp-tui demo --speed 2 co", {"coding"}),
    ("acp-tui doctor --nosuch co", set()),
]
"""What is typed, and what is offered."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder to complete in, with the programs to complete."""
    (tmp_path / "project").mkdir()
    (tmp_path / "README.md").touch()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("acp-tui", ACP_TUI), ("zz-agent", "#!/bin/sh\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    for shell, script in SCRIPTS.items():
        (tmp_path / f"completion.{shell}").write_text(script + "\n")
    return tmp_path


def run_in(place: Path, shell: str, *args: str) -> list[str]:
    """The lines a shell prints."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} isn't installed")
    environ = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(place)}
    done = subprocess.run(
        [program, *args], cwd=place, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def in_bash(place: Path, line: str) -> set[str]:
    words = shlex.join(line.split()) + (" ''" if line.endswith(" ") else "")
    lines = run_in(
        place,
        "bash",
        "--norc",
        "-c",
        f"source completion.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _acp_tui;"
        ' printf "%s\\n" "${COMPREPLY[@]}"',
    )
    # The line editor adds a folder's slash.
    return {f"{each}/" if (place / each).is_dir() else each for each in lines if each}


BETWEEN = "-- next --"


def after_each(lines: list[str]) -> list[list[str]]:
    """What was printed for one line after the other."""
    return [part.splitlines() for part in "\n".join([*lines, ""]).split(f"{BETWEEN}\n")[:-1]]


def in_fish(place: Path, lines: Sequence[str]) -> list[set[str]]:
    """What one fish offers for each line."""
    asks = (f"complete -C {shlex.quote(line)}; echo '{BETWEEN}'" for line in lines)
    printed = run_in(place, "fish", "--no-config", "-c", "; ".join(["source completion.fish", *asks]))
    return [{each.partition("\t")[0] for each in part} for part in after_each(printed)]


CAPTURE = r"""
zmodload zsh/zpty
zpty z zsh -d -i
zpty -w z 'PROMPT=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source completion.zsh
compadd() {
    local -a hits
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
    builtin compadd -A hits "$@"
    (( $#hits )) && print -rl -- "" "<"${^hits}">"
}
capture() { _main_complete; print -r -- "" "DO""NE" }
zle -C capture complete-word capture; bindkey "^I" capture; print "REA""DY"'
zpty -r z shown '*READY*'
for line; do
    zpty -w -n z $'\C-u'"$line"$'\t'
    zpty -r z shown '*DONE*'
    print -rl -- $shown "" "-- next --"
done
"""
"""Completion works only inside zsh's line editor: this types each line into one, and prints what it would add."""


def in_zsh(place: Path, lines: Sequence[str]) -> list[set[str]]:
    """What one zsh offers for each line."""
    (place / "capture.zsh").write_text(CAPTURE)
    printed = [each.strip() for each in run_in(place, "zsh", "-d", "capture.zsh", *lines)]
    found = ({each[1:-1] for each in part if each.startswith("<")} for part in after_each(printed))
    return [{f"{each}/" if (place / each).is_dir() else each for each in names} for names in found]


@pytest.mark.parametrize(("line", "offered"), CASES)
def test_bash_offers_what_fits(place: Path, line: str, offered: set[str]):
    assert in_bash(place, line) == offered


@pytest.mark.parametrize("offers", [in_fish, in_zsh])
def test_fish_and_zsh_offer_what_fits(place: Path, offers: Callable[[Path, Sequence[str]], list[set[str]]]):
    lines = [line for line, _ in CASES]
    assert dict(zip(lines, offers(place, lines), strict=True)) == dict(CASES)


def test_every_command_and_option_is_offered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(completion, "names_of", lambda _: {})
    named = [command for command in COMMANDS if command.name]
    for shell in SCRIPTS:
        assert [offer.value for offer in completion.offers(shell, [""])] == [each.name for each in named]
        for command in named:
            offered = {offer.value for offer in completion.offers(shell, [command.name, "-"])}
            assert offered >= {flag for option in command.options for flag in option.flags}


def test_what_a_shell_waits_for_loads_neither_a_parser_nor_a_screen(place: Path):
    script = (
        "import sys; from acp_tui.cli.main import main; status = main(sys.argv[1:]);"
        "print(*[name for name in ('argparse', 'pathlib', 'dataclasses', 'anyio', 'textual', 'pydantic')"
        " if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, "completion", "bash", "--", "exec", "--fo"],
        env={**os.environ, "PYTHONPATH": str(Path(acp_tui.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    *offered, loaded = done.stdout.splitlines()
    assert "--format" in offered
    assert loaded == ""


def test_names_that_a_shell_would_expand_are_not_offered(monkeypatch: pytest.MonkeyPatch, capsys):
    names = dict.fromkeys(["claude", "$(reboot)", "a b", "-x", "my.agent-2"], "")
    monkeypatch.setattr(completion, "names_of", lambda _: names)
    assert main(["completion", "bash", "--", "run", ""]) == 0
    assert capsys.readouterr().out.split() == ["claude", "my.agent-2"]


def test_a_shell_has_to_be_named(capsys: pytest.CaptureFixture[str]):
    assert main(["completion"]) == 2
    assert main(["completion", "tcsh"]) == 2
    assert "no completion for tcsh: choose bash, zsh, or fish\n" in capsys.readouterr().err
