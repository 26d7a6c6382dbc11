"""Agents as commands and as processes: which ones are known, how one is started, drained and ended.

Begin with `command` (what is run), then `catalogue` (all that names agents) and `process` (one that runs).
"""
