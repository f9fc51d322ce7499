"""Judges exchanges that no case has sent: by hand, replayed, recorded somewhere else (design 1, check)."""
