"""Proving the suite itself: runs against sandboxes that were altered on purpose."""
