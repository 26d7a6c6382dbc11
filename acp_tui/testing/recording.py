"""What was recorded of a test's agents, to be kept and to be read again; how, is `client.transcript`'s matter."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Final

from acp_tui.client.transcript.events import Exited, Resized
from acp_tui.client.transcript.reader import open_recording
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.conversation import Conversation
from acp_tui.testing.agent import AcpAgent
from acp_tui.testing.bench import Bench

WRITTEN_S: Final = 10.0
POLL_S: Final = 0.01
"""The writer is a thread that tells nobody how far it is."""


class AcpRecording:
    """The fixture `acp_recording`: the recording of the agent that was started last, or of any other."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @property
    def path(self) -> Path:
        """The file, which is still being written while the agent runs."""
        return self._agent.recording

    @property
    def _agent(self) -> AcpAgent:
        if not self._bench.agents:
            raise ValueError("nothing is recorded yet: start an agent by acp_agent before")
        return self._bench.agents[-1]

    def save(self, path: str | Path) -> Path:
        """Copy all that has happened so far; gives the path."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(whole(self._agent), target))

    def conversations(self, source: str | Path | None = None) -> dict[str, Conversation]:
        """What a replay of this file, or of this test so far, gives: the conversations by session id."""
        return {str(key): each for key, each in replayed(self._file(source)).items()}

    def conversation(self, source: str | Path | None = None) -> Conversation:
        """The last of them."""
        return list(self.conversations(source).values())[-1]

    def _file(self, source: str | Path | None) -> Path:
        return whole(self._agent) if source is None else Path(source)


def whole(agent: AcpAgent) -> Path:
    """The agent's recording, once all that has happened until now is in it."""
    marks = agent.mark_recording()
    limit = time.monotonic() + WRITTEN_S
    with open_recording(agent.recording) as recording:
        while time.monotonic() < limit:
            for event in recording:
                marks -= isinstance(event, Resized)
                if not marks or isinstance(event, Exited):
                    return agent.recording
            time.sleep(POLL_S)
    raise TimeoutError(f"{agent.recording} has not been written within {WRITTEN_S:g} s: is the disk full?")
