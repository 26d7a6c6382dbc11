"""Recordings of what an agent and acp-tui said to each other: written, read, replayed, stored, searched.

It knows no session, agent or terminal of the client; `client.sessions` joins them. README.md describes the format.
"""
