"""The agent's access to the user's files: text inside a session's directories, and nothing else."""

from acp_tui.client.workspace.containment import ContainedPath
from acp_tui.client.workspace.workspace import PlaceState, Workspace

__all__ = ["ContainedPath", "PlaceState", "Workspace"]
