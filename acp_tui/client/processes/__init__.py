"""The processes that we start: who belongs to them, and how they end, also where we are killed ourselves.

Begin with `guard`, our side of the `guardian`, which is a process of its own.
"""
