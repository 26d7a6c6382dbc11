"""`acp-tui mock`: a demo scenario as an agent on stdio."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from acp_tui.cli.main import main


@pytest.mark.parametrize("source", ["coding", "demo:coding", "own.toml"])
def test_a_scenario_is_played_by_its_name_or_file(source: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('description = "d"\n[[prompt]]\n[[prompt.step]]\nsay = "Hello"\n')
    argv = [sys.executable, "-m", "acp_tui", "mock", str(own) if source == own.name else source, "--speed", "0"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
        agent.stdin.flush()
        assert json.loads(agent.stdout.readline())["result"]["protocolVersion"] == 1


def test_a_negative_speed_is_a_wrong_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mock", "coding", "--speed", "-1"]) == 2
    assert "-1 isn't a number of 0 or more" in capfd.readouterr().err
