"""The plugin in a pytest of its own: what it loads, what it reports, and how pictures are accepted."""

import os
import subprocess
import sys
from pathlib import Path

from acp_tui import testing

AGENT = Path(__file__).with_name("example_agent.py")
HEAVY = (
    "textual",
    "rich",
    "pydantic",
    "anyio",
    "asyncio",
    "acp_tui.client",
    "acp_tui.rpc",
    "acp_tui.conversation",
)
PICTURE = f"""
from pathlib import Path

def test_it(acp_agent, acp_snapshot):
    agent = acp_agent(Path({str(AGENT)!r}), files={{"notes.md": "Buy milk.\\n"}})
    agent.on_permission("ANSWER")
    agent.prompt("Give my notes a heading")
    failures = []
    for form in ("svg", "txt"):
        try:
            assert acp_snapshot(agent, form=form)
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\\n".join(failures)
"""


def run_pytest(folder: Path, *options: str) -> str:
    """Run pytest there with the plugins that the kit knows of and no others; gives what it prints."""
    plugins = ("acp_tui.testing.plugin", "syrupy", "pytest_textual_snapshot")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *(f"-p{name}" for name in plugins),
            "-p",
            "no:cacheprovider",
            *options,
        ],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout + ran.stderr


def write_test(folder: Path, text: str) -> None:
    """The one test file of the folder."""
    (folder / "test_agent.py").write_text(text)


def test_the_plugin_loads_nothing_before_a_fixture_is_used(tmp_path: Path) -> None:
    write_test(tmp_path, "def test_it(acp_agent):\n    pass\n")
    code = (
        "import pytest, sys; status = pytest.main(['-q', '--collect-only', '-p', 'acp_tui.testing.plugin']);"
        f"print('loaded', [name for name in {HEAVY} if name in sys.modules], int(status))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "loaded [] 0" in ran.stdout, ran.stdout + ran.stderr


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in testing.__all__ if not hasattr(testing, name)] == []


def test_below_an_assertion_of_the_authors_own_stands_what_was_seen(tmp_path: Path) -> None:
    write_test(
        tmp_path,
        "from pathlib import Path\n"
        "def test_it(acp_agent):\n"
        f"    agent = acp_agent(Path({str(AGENT)!r}), files={{'notes.md': ''}})\n"
        "    agent.permissions.expect('notes').reject()\n"
        "    agent.permissions.expect('another').reject()\n"
        "    agent.new_session()\n"
        "    assert agent.session.title == 'Heading'\n",
    )

    printed = run_pytest(tmp_path)

    assert "agent heading" in printed
    assert '-> {"id":2,"method":"session/new"' in printed
    assert "acp-tui replay /" in printed
    assert "1 failed" in printed
    assert "error" not in printed.splitlines()[-1]


def test_an_expectation_that_no_turn_has_met_fails_the_test_in_the_end(tmp_path: Path) -> None:
    write_test(
        tmp_path,
        "from pathlib import Path\n"
        "def test_it(acp_agent):\n"
        f"    agent = acp_agent(Path({str(AGENT)!r}))\n"
        "    agent.permissions.expect('notes').reject()\n",
    )

    assert "heading did not ask for the permission 'notes', which the test expects" in run_pytest(tmp_path)


def test_pictures_are_accepted_compared_and_shown_where_they_differ(tmp_path: Path) -> None:
    write_test(tmp_path, PICTURE.replace("ANSWER", "allow_once"))
    assert "2 snapshots generated" in run_pytest(tmp_path, "--snapshot-update")
    accepted = [file for file in (tmp_path / "__snapshots__").rglob("*") if file.is_file()]
    assert sorted(file.suffix for file in accepted) == [".svg", ".txt"]
    assert not any(str(tmp_path) in file.read_text() for file in accepted)

    assert "2 snapshots passed" in run_pytest(tmp_path)

    write_test(tmp_path, PICTURE.replace("ANSWER", "reject_once"))
    printed = run_pytest(tmp_path)
    assert "the picture of the conversation is not the one that was accepted" in printed
    assert "I left it alone." in printed
    assert (tmp_path / "snapshot_report.html").exists()
