"""The kit's manual: its example runs as written, and everything it names exists."""

import re
import shutil
from pathlib import Path

import pytest

import acp_tui.workbench.testing
from acp_tui.testing import AcpAgent, AcpSession, RunningTurn, Turn
from acp_tui.workbench.testing.turn import ExpectedElicitation, ExpectedPermission
from support.processes import run_pytest

MANUAL = Path(acp_tui.workbench.testing.__file__).with_name("README.md").read_text()
AGENT = Path(__file__).with_name("example_agent.py")


def test_the_example_passes(tmp_path: Path) -> None:
    shutil.copyfile(AGENT, tmp_path / "my_agent.py")
    (example,) = re.findall(r"```python\n(.*?)```", MANUAL, re.DOTALL)
    (tmp_path / "test_agent.py").write_text(example)

    printed = run_pytest(tmp_path, "-p", "anyio", "-o", "anyio_mode=auto", "--snapshot-update")

    assert "1 snapshot generated" in printed, printed
    assert "5 passed" in printed, printed


@pytest.mark.parametrize("public", [AcpAgent, AcpSession, Turn, RunningTurn])
def test_every_public_word_of_agents_and_turns_is_in_it(public: type) -> None:
    words = {name for name in (*dir(public), *public.__annotations__) if not name.startswith("_")}
    left_to_their_docstrings = {"prompt", "session_id", "workspace", "identity", "auth_methods", "turn"}
    assert {name for name in words if name not in MANUAL} <= left_to_their_docstrings


@pytest.mark.parametrize("answer", [ExpectedPermission, ExpectedElicitation])
def test_every_answer_is_in_it(answer: type) -> None:
    assert all(f".{name}(" in MANUAL for name in dir(answer) if not name.startswith("_"))
