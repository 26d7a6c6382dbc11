"""The room for authors of agents: tools that use the client, which works without them. README.md has the map."""
