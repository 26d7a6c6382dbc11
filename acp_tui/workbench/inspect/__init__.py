"""The traffic between acp-tui and an agent, indexed, searched, and checked on demand. Draws nothing."""
