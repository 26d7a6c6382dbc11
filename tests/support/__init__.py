"""Helpers shared by several packages' tests. It contains no tests.

An agent of one's own, from the cheapest to the most real. Take the first that can show what you test:

- `agents.in_memory`: the test plays the agent, as a `peers.Counterpart` that says any message; no process
- `recordings.play` with `recordings.demo`: a scenario of the demo agent, whose user answers everything
- `agents.scripted`: a process that runs a few lines of Python, with the words of `scripted_agent`

Others, for what only they can show: `hosted` and `host_process` (a host, in memory and as a process), `served`,
`http_served`, `remembering_agent` and `cutting` (over a network that breaks), `sdk_agent`
(the official SDK), `real_agents` and `delegating` (beside the
repository), `proxied` (agents behind proxies, also of another conductor than ours).

What shows it: `screens` (a session, without an agent), `desks` (the whole app), `dialogs`, `on_terminal` and
`terminal_process` (a process on a terminal, whose screen or output is read), `chromium` (in a browser). Wait by
`waiting` and `settling`, never by the clock. `folding` has short names for updates; `golden` and `schema` say what is
valid.
"""
