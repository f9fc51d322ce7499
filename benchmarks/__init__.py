"""Benchmarks: speed as ratios measured in one run. No test asserts a time."""
