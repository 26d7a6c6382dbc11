"""What passed between acp-tui and an agent, to be looked at: kept, indexed, searched, checked. It draws nothing.

Nothing here costs anything before somebody looks, but for `frame_log`, which keeps the last lines of each agent.
"""
