"""Real terminals for an agent's commands, each on its own PTY. Plain values in and out, independent of the wire."""
