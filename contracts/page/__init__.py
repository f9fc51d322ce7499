"""The workbench page: what passes through a proxy as it happens, and one request at a time by hand, in a browser."""
