"""With the home folder as its workspace, an agent can't write anything there that would run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from acp_tui.client.agents.configured_agents import config_file
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.trust import trust_file
from support.agents import scripted_argv
from support.waiting import LIMIT_S

WRITES_ALL = """
prompt = open_session()
told = []
for number, path in enumerate({paths!r}):
    send(id=number, method="fs/write_text_file", params={{"sessionId": "s1", "path": path, "content": "evil"}})
    while True:
        message = read()
        if message.get("id") == number and "method" not in message:
            break
    told.append(message.get("error", {{}}).get("message", "written"))
say(json.dumps(told))
end(prompt)
serve_until_closed()
"""


def test_an_agent_writes_a_file_of_the_project_and_nothing_that_runs(home: Path) -> None:
    """Without a terminal, whatever would be asked is refused; our own folders aren't even asked about."""
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("appearance.ascii = true\n")
    ours = [settings_file(), config_file(), trust_file()]
    later = [home / name for name in (".git/config", ".bashrc", ".ssh/authorized_keys", "project/.envrc")]
    written = [str(path) for path in (*ours, *later, home / "project/main.py")]
    script = WRITES_ALL.format(paths=written)

    done = subprocess.run(
        [sys.executable, "-m", "acp_tui", "exec", "-p", "go", "--allow-unasked", "write", "--", *scripted_argv(script)],
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        start_new_session=True,  # without a terminal to ask on
    )

    told = json.loads(done.stdout)
    assert ["belongs to acp-tui itself" in each for each in told[:3]] == [True] * 3
    assert [each == "written" for each in told[3:]] == [False] * 4 + [True]
    assert settings_file().read_text() == "appearance.ascii = true\n"
    assert [path for path in (*ours[1:], *later) if path.exists()] == []
    assert done.stderr.count("rejected, since there is no terminal to ask on") == 4
