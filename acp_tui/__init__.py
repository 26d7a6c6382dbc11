"""acp-tui: a terminal client for coding agents that speak the Agent Client Protocol."""

__version__ = "0.9.0"
