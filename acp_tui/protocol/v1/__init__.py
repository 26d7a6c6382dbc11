"""ACP version 1: its messages as models, and the adapters between them and a conversation; imports nothing itself."""
