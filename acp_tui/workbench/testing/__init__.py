"""The kit for authors of agents: fixtures that run an agent under a real client, and words to say what it has to do.

Users import all of it from `acp_tui.testing`. Nothing is loaded before it is used. The fixtures are `plugin`'s; the
client, the files and the terminals are the ones that users have.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from acp_tui.client.settings.mcp import HttpServer, StdioServer
    from acp_tui.conversation.content import Audio, BlobResource, Image, ResourceLink, Text, TextResource
    from acp_tui.conversation.facts import Plan, PlanStep
    from acp_tui.conversation.tool_calls import TextDiff, ToolCall
    from acp_tui.protocol.roles import ClientOffer
    from acp_tui.workbench.conformance import Finding, Frame, Severity
    from acp_tui.workbench.testing.agent import AcpAgent
    from acp_tui.workbench.testing.bench import AcpRecording, StartAgent
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
    from acp_tui.workbench.testing.picture import AcpSnapshot, PictureForm
    from acp_tui.workbench.testing.session import AcpSession, RunningTurn
    from acp_tui.workbench.testing.turn import (
        AskedElicitation,
        AskedPermission,
        ElicitationAnswers,
        PermissionAnswers,
        RunCommand,
        Turn,
    )

__all__ = [
    "AcpAgent",
    "AcpRecording",
    "AcpSession",
    "AcpSnapshot",
    "AgentFailure",
    "AgentGone",
    "AgentNotStarted",
    "AskedElicitation",
    "AskedPermission",
    "Audio",
    "BlobResource",
    "ClientOffer",
    "ElicitationAnswers",
    "Finding",
    "Frame",
    "HttpServer",
    "Image",
    "LoginNeeded",
    "NotAsked",
    "NotOffered",
    "PermissionAnswers",
    "PictureForm",
    "Plan",
    "PlanStep",
    "RequestRefused",
    "ResourceLink",
    "RunCommand",
    "RunningTurn",
    "Severity",
    "StartAgent",
    "StdioServer",
    "Text",
    "TextDiff",
    "TextResource",
    "TimedOut",
    "ToolCall",
    "Turn",
    "Unanswered",
]

_HOMES: Final = {
    "acp_tui.client.settings.mcp": ("HttpServer", "StdioServer"),
    "acp_tui.conversation.content": ("Audio", "BlobResource", "Image", "ResourceLink", "Text", "TextResource"),
    "acp_tui.conversation.facts": ("Plan", "PlanStep"),
    "acp_tui.conversation.tool_calls": ("TextDiff", "ToolCall"),
    "acp_tui.workbench.conformance": ("Finding", "Frame", "Severity"),
    "acp_tui.protocol.roles": ("ClientOffer",),
    "acp_tui.workbench.testing.agent": ("AcpAgent",),
    "acp_tui.workbench.testing.bench": ("AcpRecording", "StartAgent"),
    "acp_tui.workbench.testing.failures": (
        "AgentFailure",
        "AgentGone",
        "AgentNotStarted",
        "LoginNeeded",
        "NotAsked",
        "NotOffered",
        "RequestRefused",
        "TimedOut",
        "Unanswered",
    ),
    "acp_tui.workbench.testing.picture": ("AcpSnapshot", "PictureForm"),
    "acp_tui.workbench.testing.session": ("AcpSession", "RunningTurn"),
    "acp_tui.workbench.testing.turn": (
        "AskedElicitation",
        "AskedPermission",
        "ElicitationAnswers",
        "PermissionAnswers",
        "RunCommand",
        "Turn",
    ),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
