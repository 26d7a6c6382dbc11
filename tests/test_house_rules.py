"""What is true of the whole repository: lint, types, layers, and what a wheel holds."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "acp_tui",
    "styles",
    "tests",
    "screenshots",
    "CHANGELOG.md",
    "LICENSE",
}


def run(*command: str | Path, **options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


@pytest.mark.parametrize(
    "command",
    [
        (BIN / "ruff", "check", "."),
        (BIN / "ruff", "format", "--check", "."),
        (BIN / "mypy",),
        (BIN / "lint-imports",),
    ],
    ids=["lint", "format", "types", "layers"],
)
def test_the_code_passes(command: tuple[str | Path, ...]) -> None:
    checked = run(*command)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_headless_part_loads_no_screen() -> None:
    modules = (
        "acp_tui.cli.exec, acp_tui.client.sessions.agent, acp_tui.client.terminals, acp_tui.client.workspace"
    )
    code = f"import sys, {modules}; print([name for name in ('textual', 'rich') if name in sys.modules])"

    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_a_wheel_holds_everything_that_is_needed_at_run_time(tmp_path: Path) -> None:
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())

    tracked = run("git", "ls-files", "acp_tui", "styles").stdout.splitlines()
    expected = {name if name.startswith("acp_tui/") else f"acp_tui/{name}" for name in tracked}
    assert expected - names == set()
    assert any(name.endswith(".tcss") for name in expected)
    assert not any(name.startswith(("tests/", "screenshots/")) for name in names)


def test_the_top_level_holds_no_more_than_it_should() -> None:
    tracked = {name.split("/")[0] for name in run("git", "ls-files").stdout.splitlines()}

    assert {name for name in tracked if not name.startswith(".")} - TOP_LEVEL == set()


def test_every_run_time_dependency_has_its_reason_in_the_readme() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [requirement.split(";")[0].split(">")[0].strip() for requirement in project["dependencies"]]
    section = (ROOT / "README.md").read_text().split("## What it depends on")[1].split("\n## ")[0]

    assert [name for name in names if f"| {name} |" not in section] == []


def test_ci_calls_the_test_command_of_the_readme() -> None:
    command = "python3 -m venv .venv && .venv/bin/pip install --quiet --editable '.[dev]' && .venv/bin/pytest"

    assert command in (ROOT / ".ci/run").read_text()
    assert command in (ROOT / "README.md").read_text()
