"""The agent's access to the user's files: text inside a session's directories, and nothing else."""

from acp_tui.client.workspace.containment import Location
from acp_tui.client.workspace.workspace import FileState, Workspace

__all__ = ["FileState", "Location", "Workspace"]
