"""The page of the proxy."""
