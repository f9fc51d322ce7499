"""Work by hand: one request, recorded traffic, and the proxy."""
