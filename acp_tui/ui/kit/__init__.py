"""Widgets and tools that don't depend on sessions or agents."""
