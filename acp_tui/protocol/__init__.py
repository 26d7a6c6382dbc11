"""ACP on the wire, version by version, turned into a conversation's values and back; no screen, no transport.

Begin with `handler` (what a client does for an agent), then `v1.connection` and `v1.inbound`. `wire` has what the
models of every version share; `conformance` judges whether an agent keeps to the protocol.
"""
