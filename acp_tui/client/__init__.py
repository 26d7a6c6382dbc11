"""The client role of ACP without a screen: agents, sessions, permissions, workspace and terminals."""
