"""What was recorded of a test's agents, to be kept and to be read again; how, is `client.transcript`'s matter."""

from __future__ import annotations

import shutil
from pathlib import Path

from acp_tui.client.files import make_private, replacing
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.conversation import Conversation
from acp_tui.workbench.testing.agent import AcpAgent
from acp_tui.workbench.testing.bench import Bench


class AcpRecording:
    """The fixture `acp_recording`: the recording of the agent that was started last, or any other."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @property
    def path(self) -> Path:
        """The file, with all that has happened so far in it."""
        return self._agent.recording

    @property
    def _agent(self) -> AcpAgent:
        if not self._bench.agents:
            raise ValueError("nothing is recorded yet: start an agent by acp_agent before")
        return self._bench.agents[-1]

    def save(self, path: str | Path) -> Path:
        """Copy all that has happened so far; gives the path."""
        target = Path(path)
        make_private(target.parent)
        with self.path.open("rb") as recording, replacing(target) as copy:
            shutil.copyfileobj(recording, copy)
        return target

    def conversations(self, source: str | Path | None = None) -> dict[str, Conversation]:
        """The conversations by session id, replayed from this file, or from what has happened so far.

        Raises RecordingUnreadable.
        """
        file = self.path if source is None else Path(source)
        return {str(session_id): each for session_id, each in replayed(file).items()}
