"""The pytest fixtures for agent authors, and the objects that they hand out. `acp_tui.testing` is the public path."""
