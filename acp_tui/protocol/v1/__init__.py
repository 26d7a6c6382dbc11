"""ACP version 1: its messages as models, and the adapters between them and a conversation; imports nothing itself.

Begin with `methods` (the names), then `connection` (the client's calls) and `inbound_requests` (the agent's). Models
are in the modules that are called after their matter; `inbound*` reads them, `outbound` writes them.
"""
