"""The client role of ACP without a screen: agents, sessions, permissions, workspace, terminals and what is recorded.

Begin with `sessions`, which joins the other packages: they do not know each other. `settings` is at the bottom, and
`errors` has all that a user can be told to have gone wrong.
"""
