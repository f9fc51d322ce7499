"""Drift: what was observed at silent points, compared with what people accepted before.

Works on plain data: the content of `observations.json` on one side, a baseline file on the other. Knows neither
journals nor requests.
"""
