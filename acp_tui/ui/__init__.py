"""The Textual app: draws conversations, turns keys into calls on the client; it holds no process and no wire type."""
