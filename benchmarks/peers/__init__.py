"""Other tools beside ours, on the same sandbox, the same description and the same defects."""
