"""Judging: claims, tolerant readers, universal checks and confirmation; functions from exchanges to findings."""
