"""What the user has set, and the MCP servers that projects bring. The bottom layer of the client."""
