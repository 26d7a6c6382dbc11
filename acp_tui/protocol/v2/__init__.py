"""ACP version 2, as drafted: what differs from version 1, from which it imports the rest.

It is loaded for agents that speak it.

Begin with `connection` (both ways), then `inbound` (the agent's messages as updates). `models` has the wire types,
`patches` what a git patch says of each file.
"""
