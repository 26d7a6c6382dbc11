"""The tools for authors of agents, one room per tool. They stand on the client, which imports none of them.

Recordings are written and read in `client.transcript`; the rules of `check` are in `protocol.conformance`.
"""
