"""Joins everything a session needs: the agent's connection, its permissions, its files and its terminals."""
