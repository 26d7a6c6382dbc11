"""What a session says, as plain values and one reducer; no I/O, no wire types, no screen."""
