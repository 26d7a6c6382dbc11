"""Checks one agent: starts it, uses it like a client, applies the rules to every frame, and ends it."""
