"""Work by hand: one request, a settings file, and whether a target is ready for a run."""
