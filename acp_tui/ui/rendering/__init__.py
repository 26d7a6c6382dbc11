"""Draws Markdown, plain text and diffs as lines of cells; knows no app, no widget and no session."""
