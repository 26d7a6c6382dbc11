"""Recordings of what an agent and acp-tui said: written, read, replayed, stored, searched.

README.md describes the format.
"""
