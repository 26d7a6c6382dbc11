"""A session that is read again from its recordings: one of which the agent is gone, as after a crash.

So all that is done with such a session is done with it too: it is read, searched, exported, and goes on in an agent.
"""

from __future__ import annotations

from datetime import datetime
from typing import NoReturn

from acp_tui.client.agents.quirks import Quirks
from acp_tui.client.sessions.session import Session
from acp_tui.client.transcript.index import RecordedSession, SessionIndex
from acp_tui.client.transcript.reader import RecordingUnreadable
from acp_tui.client.transcript.replayed_sessions import ReplayedSessions
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.updates import Disconnected
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import ClientOffer
from acp_tui.protocol.v1.connection import Connection
from acp_tui.rpc import RpcError


class RereadSession(Session):
    """What was said in a session; until it goes on in another, nothing can be said in it."""

    def __init__(self, recorded: RecordedSession, conversation: Conversation, why: str = "") -> None:
        """`why` tells the user why its agent has not opened it, where that was tried."""
        # A connection that leads to nobody: whatever would use it asks first whether the agent is there.
        unconnected = Connection(ReplayedSessions({}), ClientOffer())
        super().__init__(recorded.session_id, recorded.cwd, unconnected, Quirks(), _explain)
        self.recorded = recorded
        self.conversation = conversation
        last = datetime.fromtimestamp(recorded.last_at)
        told = f"Re-read from its recording, which ends {last:%Y-%m-%d %H:%M}"
        self.apply(Disconnected(f"{why}\n{told}" if why else told))


def reread(index: SessionIndex, recorded: RecordedSession, why: str = "") -> RereadSession:
    """Read a session again; it blocks. Raises RecordingUnreadable."""
    if not recorded.cwd.is_absolute() or "\0" in str(recorded.cwd):
        raise RecordingUnreadable(f"the recording names no folder that the session worked in: {recorded.cwd}")
    return RereadSession(recorded, index.reread(recorded), why)


async def _explain(error: RpcError | MalformedMessage) -> NoReturn:
    raise error
