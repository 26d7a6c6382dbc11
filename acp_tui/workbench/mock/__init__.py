"""A recording played as an agent, for any ACP client. `client.transcript`'s README.md has the format."""
