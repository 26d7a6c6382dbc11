"""The processes that we start, and how they end even if we are killed. Begin with `guard`."""
