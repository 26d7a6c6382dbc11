"""Replays a recording on the screen: the session as it was seen, at its own pace. No agent, process, or file."""
