"""Removes what runs left behind that could not clean up after themselves (design 5)."""
