"""What a session says, as plain values and one reducer; no I/O, no wire types, no screen.

Begin with `updates` (all that can happen), then `conversation` and `entries` (the state it makes), then `reducer`.
"""
