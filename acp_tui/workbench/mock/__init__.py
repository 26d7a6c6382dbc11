"""A recording played as an agent, for any ACP client: README.md of `client.transcript` says what a recording holds.

It shares the wire with the client and reads its recordings; it knows no session, no screen and no scenario.
"""
