"""Agents as commands and as processes: which ones are known, and how to start, drain, and end one.

Begin with `command` (what to run). Then read `catalogue` (everything that names agents) and `process` (a running one).
"""
