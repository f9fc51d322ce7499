"""History: what runs said of each clause and realm, one line a run, in a file that is kept and merged.

Works on plain data; a run's entry is made in `contracts.evidence`.
"""
