"""Replays a recording on the screen: the session as it was seen, by its own clock; no agent, no process, no file."""
