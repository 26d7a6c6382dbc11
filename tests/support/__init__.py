"""What tests of several packages share; it holds no tests of its own."""
