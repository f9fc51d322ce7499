"""The settings of a target, the guard against production, and the launcher of the embedded sandbox."""
