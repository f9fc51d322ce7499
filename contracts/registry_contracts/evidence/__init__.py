"""The evidence of a run: journals, the record that is read from them, and its verdicts."""
