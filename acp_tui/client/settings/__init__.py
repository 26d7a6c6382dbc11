"""The user's settings, and the MCP servers of projects. The bottom layer of the client."""
