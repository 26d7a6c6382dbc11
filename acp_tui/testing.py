"""The kit for authors of agents: fixtures that run an agent under a real client, and words to say what it has to do.

It goes with the room, `acp_tui.workbench`, where its parts are. The fixtures are `plugin`'s; the client, the files and
the terminals are the ones that users have.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from acp_tui.conversation.content import Audio, BlobResource, Image, ResourceLink, Text, TextResource
from acp_tui.conversation.facts import HttpServer, Plan, PlanStep, StdioServer
from acp_tui.conversation.tool_calls import TextDiff, ToolCall
from acp_tui.protocol.roles import ClientOffer
from acp_tui.workbench.conformance import Finding, Frame, Severity
from acp_tui.workbench.testing.agent import AcpAgent
from acp_tui.workbench.testing.bench import StartAgent
from acp_tui.workbench.testing.failures import (
    AgentFailure,
    AgentGone,
    AgentNotStarted,
    LoginNeeded,
    NotAsked,
    NotOffered,
    RequestRefused,
    TimedOut,
    Unanswered,
)
from acp_tui.workbench.testing.session import AcpSession, RunningTurn
from acp_tui.workbench.testing.turn import (
    AskedElicitation,
    AskedPermission,
    ElicitationAnswers,
    PermissionAnswers,
    RunCommand,
    Turn,
)

if TYPE_CHECKING:
    from acp_tui.workbench.testing.picture import AcpSnapshot

__all__ = ["AcpAgent", "AcpSession", "AcpSnapshot", "AgentFailure", "AgentGone", "AgentNotStarted"]
__all__ += ["AskedElicitation", "AskedPermission", "Audio", "BlobResource", "ClientOffer", "ElicitationAnswers"]
__all__ += ["Finding", "Frame", "HttpServer", "Image", "LoginNeeded", "NotAsked", "NotOffered", "PermissionAnswers"]
__all__ += ["Plan", "PlanStep", "RequestRefused", "ResourceLink", "RunCommand", "RunningTurn", "Severity"]
__all__ += ["StartAgent", "StdioServer", "Text", "TextDiff", "TextResource", "TimedOut", "ToolCall", "Turn"]
__all__ += ["Unanswered"]


def __getattr__(name: str) -> Any:
    """Pictures need Textual and another package, so they are loaded for those who ask for them."""
    if name == "AcpSnapshot":
        return getattr(import_module("acp_tui.workbench.testing.picture"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
