"""Drives an agent through what a client does, and says which rules of the protocol it broke on the way."""
