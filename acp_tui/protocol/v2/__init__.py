"""ACP version 2, a draft: the differences from version 1. It imports the rest from there.

It's only loaded for agents that speak it. Start with `connection` (both directions), then read `inbound` (the agent's
messages as updates). `models` has the wire types. `patches` reads git patches.
"""
