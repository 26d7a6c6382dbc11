"""Exports a conversation as Markdown or as JSON Lines. The caller provides facts."""
