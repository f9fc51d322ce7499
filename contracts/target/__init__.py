"""The target of a run: its settings, the guard against production, and the embedded sandbox's launcher."""
