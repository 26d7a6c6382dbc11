"""The processes that we start: who belongs to them, and how they end, also where we are killed ourselves."""
