"""The client role of ACP without a screen: agents, sessions, permissions, workspace, terminals, and recordings.

Begin with `sessions`, which joins the other packages; they don't know each other. `settings` is at the bottom, and
`errors` contains all errors that users see.
"""
