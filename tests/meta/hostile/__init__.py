"""Probes with service, files, machine and clients as adversaries: `python -m tests.meta.hostile`."""
