"""Judges the traffic of any client, whoever sent it: one exchange after another, live or from an archive."""
