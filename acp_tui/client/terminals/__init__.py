"""Real terminals for an agent's commands, each on its own PTY. Plain values in and out, independent of the wire."""

from acp_tui.client.terminals.terminals import Terminals

__all__ = ["Terminals"]
