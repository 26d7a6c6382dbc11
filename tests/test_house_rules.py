"""What holds for the whole repository: lint, types, layers, and a wheel's contents."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from itertools import chain
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


NAMED_SO_BY_OTHERS = {
    "_background_screens",
    "_closed",
    "_closing",
    "_context",
    "_disconnected",
    "_display",
    "_driver",
    "_exit",
    "_ready",
    "_run",
    "_size",
    "_text",
}
"""Private to Textual, asyncio, and the SDK, which tests have to look into; ours have some of the same names."""


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
        (BIN / "zizmor", "--offline", "--no-progress", "."),
    ],
    ids=["lint", "format", "types", "layers", "workflows"],
)
def test_the_code_passes(command: tuple[str | Path, ...]) -> None:
    checked = run(*command)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_headless_part_loads_no_screen() -> None:
    modules = "acp_tui.cli.exec, acp_tui.client.sessions.agent, acp_tui.client.terminals, acp_tui.client.workspace"
    code = f"import sys, {modules}; print([name for name in ('textual', 'rich') if name in sys.modules])"

    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_dataclasses_are_made_by_our_own_decorator() -> None:
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)
    files = [file for file in (ROOT / "acp_tui").rglob("*.py") if standard.search(file.read_text("utf-8"))]

    assert files == [], "use `from acp_tui.values import dataclass`: the start waits for each of these classes"


def test_the_focus_moves_at_once() -> None:
    """Textual's `Widget.focus` moves it later, and takes it from what the user went to meanwhile."""
    found = (
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in (ROOT / "acp_tui").rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"(?<!view)(?<!self)\.focus\(", line)  # a `ConversationView` moves it at once
    )

    assert list(found) == []


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


def test_every_run_time_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["terminal"]]
    names = [requirement.split(";")[0].split(">")[0].strip() for requirement in wanted]
    section = (ROOT / ".github/CONTRIBUTING.md").read_text().split("## Dependencies")[1]

    assert [name for name in names if f"| {name} |" not in section] == []


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    importing = re.compile(r"""^\s*(?:from|import) ([A-Za-z_]\w*)|import_module\("(\w+)""", re.MULTILINE)
    found = {
        name
        for file in (ROOT / "acp_tui").rglob("*.py")
        for names in importing.findall(file.read_text())
        for name in filter(None, names)
    }
    installed = packages_distributions()
    packages = {each.lower().replace("_", "-") for name in found for each in installed.get(name, ())} - {"acp-tui"}

    assert packages == {re.split("[<>=]", each)[0] for each in wanted}


def test_ci_and_the_docs_have_the_same_test_command() -> None:
    pip = ".venv/bin/pip install --quiet"
    command = (
        f"python3 -m venv .venv && {pip} --requirement .ci/requirements.txt"
        f" && {pip} --no-deps --no-build-isolation --editable . && .venv/bin/pytest"
    )

    for file in (".ci/run", "README.md", ".github/CONTRIBUTING.md"):
        assert command in (ROOT / file).read_text(), file


def test_names_of_tests_are_sentences_under_80_characters() -> None:
    names = (
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    )

    assert [name for name in names if len(name) >= 80] == []


def test_the_map_of_the_helpers_names_each_module() -> None:
    support = ROOT / "tests/support"
    named = set(re.findall(r"`(\w+)[.\w]*`", (support / "README.md").read_text("utf-8")))
    assert {path.stem for path in support.glob("[!_]*.py")} - named == set()


def test_tests_touch_no_private_attribute_of_ours() -> None:
    own = re.compile(r"\b(?:self\.|cls\.|def |class |^)(_[A-Za-z]\w*)", re.MULTILINE)
    names = {name for file in (ROOT / "acp_tui").rglob("*.py") for name in own.findall(file.read_text("utf-8"))}
    touched = re.compile(r"(?<!self)(?<!cls)\.(_[A-Za-z]\w*)|setattr\([^()]+, \"(_[A-Za-z]\w*)\"")
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / "tests").rglob("*.py")
        for names_of in touched.findall(file.read_text("utf-8"))
        for name in filter(None, names_of)
        if name in names - NAMED_SO_BY_OTHERS
    ]

    assert found == []


def test_every_snapshot_is_read_by_a_test(request: pytest.FixtureRequest) -> None:
    """Of the files that were collected whole, which for all of them is a run of everything."""
    if request.config.option.keyword or any("::" in each for each in request.config.args):
        pytest.skip("not all tests of a file were collected")
    names_in: dict[Path, set[str]] = {}
    for item in request.session.items:
        names_in.setdefault(item.path, set()).add(item.name)
    folders = [folder for folder in (ROOT / "tests").rglob("__snapshots__/*") if folder.is_dir()]
    unread = [
        str(snapshot.relative_to(ROOT))
        for folder in folders
        for names in [names_in.get(folder.parents[1] / f"{folder.name}.py")]
        for snapshot in folder.iterdir()
        if names is not None and snapshot.stem not in names
    ]

    assert unread == []
    assert [folder.name for folder in folders if not (folder.parents[1] / f"{folder.name}.py").exists()] == []
