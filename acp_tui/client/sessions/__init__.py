"""Joins everything a session needs: the agent's connection, its permissions, its files and its terminals.

Begin with `hub` (starts agents), then `agent` (one process and its connection; what can be wanted of it is in `calls`
and `session_calls`), then `session` (one conversation), and `machine` and `access` (what an agent gets of this machine,
and who is asked before).
"""
