"""Everything a session needs: the agent's connection, its permissions, its files, and its terminals.

Begin with `hub` (starts agents) and `driver` (what every front end does with one). Then read `agent` (one process, its
connection, and its calls), `session` (one conversation), and `client_tools`, `consent`, and `apply_rules` (what an
agent gets of this machine, when to ask first, and what to refuse).
"""
