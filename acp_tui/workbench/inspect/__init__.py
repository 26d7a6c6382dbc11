"""What passed between acp-tui and an agent: indexed, searched and checked when somebody looks. Draws nothing."""
