"""A scripted ACP agent in a process of its own: it plays a scenario; it owns no model, no network, no client code."""
