"""Documents, and the module that writes their tables."""
