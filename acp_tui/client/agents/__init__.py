"""Agents as commands and as processes: which ones are known, how one is started, drained and ended."""
