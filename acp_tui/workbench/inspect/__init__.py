"""What passed between acp-tui and an agent, to be looked at: indexed, searched, checked. It draws nothing.

Nothing here costs anything before somebody looks. `client.transcript.frame_log` keeps the last lines of each agent.
"""
