"""Draws Markdown, plain text, and diffs as lines of cells. Doesn't depend on any app, widget, or session."""
