"""The settings while acp-tui runs: following, showing, and changing them."""
