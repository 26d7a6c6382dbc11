"""ACP version 1: its messages as models, and the adapters between them and a conversation.

Start with `connection` (the client's calls and the agent's). Modules of models are named after their subject.
`inbound*` reads the models; `outbound` writes them.
"""
