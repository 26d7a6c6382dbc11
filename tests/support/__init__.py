"""Helpers that several folders of tests share, without tests of their own. README.md is the map."""
