"""The base class of our apps."""
