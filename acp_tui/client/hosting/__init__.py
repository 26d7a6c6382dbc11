"""Sessions that outlive the terminal: a host owns an agent, and terminals attach to its sessions.

Begin with `host`. This folder's README.md describes what it sends beyond ACP.
"""
