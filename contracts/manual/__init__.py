"""Work by hand: one request, a replay, recorded traffic, and the proxy."""
