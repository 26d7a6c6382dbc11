"""The changes in a workspace: followed, listed, reviewed, and reverted."""
