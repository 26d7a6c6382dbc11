"""Helpers shared by several packages' tests. It contains no tests."""
