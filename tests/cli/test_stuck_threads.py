"""The process ends although one of its threads waits for a file that never answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.waiting import LIMIT_S

STUCK = """
import sys, threading
from acp_tui.__main__ import main
threading.Thread(target=open, args=[sys.argv.pop(1)]).start()
sys.exit(main())
"""


@pytest.mark.parametrize(("words", "status", "output"), [(["help", "keys"], 0, "F5"), (["--nonsense"], 2, "")])
def test_a_thread_that_waits_forever_keeps_no_process(
    tmp_path: Path, words: list[str], status: int, output: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    done = subprocess.run(
        [sys.executable, "-c", STUCK, str(pipe), *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )

    assert done.returncode == status
    assert output in done.stdout
    assert bool(done.stderr) == (status != 0)
