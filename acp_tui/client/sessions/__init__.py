"""Joins everything a session needs: the agent's connection, its permissions, its files and its terminals.

Begin with `hub` (starts agents) and `driver` (what every front end does with one), then `agent` (one process, its
connection and what can be asked of it), `session` (one conversation), and `machine` and `access` (what an agent gets of
this machine, and who is asked before).
"""
