"""Manual work with a target: single requests, settings files, and the readiness check."""
