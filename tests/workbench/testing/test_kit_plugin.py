"""The plugin in a separate pytest run: what it loads, what it reports, and how pictures are accepted."""

import os
import subprocess
import sys
from pathlib import Path

from acp_tui import testing
from support.processes import run_pytest

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
    assert acp_snapshot(agent)
"""


def write_test(folder: Path, text: str) -> None:
    """The one test file of the folder."""
    (folder / "test_agent.py").write_text(text)


def test_the_plugin_loads_nothing_before_a_fixture_is_used(tmp_path: Path) -> None:
    write_test(tmp_path, "def test_it(acp_agent):\n    pass\n")
    code = (
        "import pdb, pytest, sys; before = set(sys.modules);"  # pytest loads pdb, which loads asyncio since Python 3.14
        "status = pytest.main(['-q', '--collect-only', '-p', 'acp_tui.workbench.testing.plugin']);"
        f"print('loaded', [name for name in {HEAVY} if name in sys.modules and name not in before], int(status))"
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


def test_a_failure_tells_what_was_seen_or_what_was_expected_in_vain(tmp_path: Path) -> None:
    write_test(
        tmp_path,
        "from pathlib import Path\n"
        "def test_of_the_author(acp_agent):\n"
        f"    agent = acp_agent(Path({str(AGENT)!r}), files={{'notes.md': ''}})\n"
        "    agent.permissions.expect('notes').reject()\n"
        "    agent.permissions.expect('another').reject()\n"
        "    agent.new_session()\n"
        "    assert agent.session.title == 'Heading'\n"
        "def test_met_by_no_turn(acp_agent):\n"
        f"    agent = acp_agent(Path({str(AGENT)!r}))\n"
        "    agent.permissions.expect('notes').reject()\n",
    )

    printed = run_pytest(tmp_path)

    assert "agent heading" in printed
    assert '-> {"id":2,"method":"session/new"' in printed
    assert "acp-tui replay /" in printed
    assert "heading didn't ask for the permission 'notes', which the test expects" in printed
    assert "1 failed, 1 passed, 1 error" in printed, "the author's own assertion is a failure"


def test_pictures_are_accepted_compared_and_shown_where_they_differ(tmp_path: Path) -> None:
    write_test(tmp_path, picture("test_other"))
    assert "1 snapshot generated" in run_pytest(tmp_path, "--snapshot-update")
    (accepted,) = (file for file in (tmp_path / "__snapshots__").rglob("*") if file.is_file())
    assert accepted.suffix == ".txt"
    assert str(tmp_path) not in accepted.read_text()
    assert "1 passed" in run_pytest(tmp_path)

    write_test(tmp_path, picture("test_other", "reject_once") + picture("test_new"))
    printed = run_pytest(tmp_path)
    assert f"the text of the conversation differs from {tmp_path}/__snapshots__" in printed
    assert "I left it alone." in printed
    assert "no text of the conversation has been accepted yet" in printed
    assert "2 failed" in printed


def picture(name: str, answer: str = "allow_once") -> str:
    return PICTURE.replace("test_it", name).replace("ANSWER", answer)
