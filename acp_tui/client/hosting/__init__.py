"""Sessions that outlive the terminal: a host owns an agent, and terminals attach to its sessions.

Begin with `host`; what it says beyond ACP is in this folder's README.md.
"""
