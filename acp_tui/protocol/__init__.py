"""ACP on the wire, version by version, turned into a conversation's values and back; no screen, no transport."""
