"""The Textual app. Begin with `shell.app`, then `tab.screen` and `session.panel`; imports run downward only."""
