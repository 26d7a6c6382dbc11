"""What has changed in a workspace: followed, listed, reviewed, reverted."""
