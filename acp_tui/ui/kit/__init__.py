"""Widgets and tools that know neither sessions nor agents."""
